//! A checked study with its tables read: everything that can be refused without computing is refused here.

use std::collections::HashMap;

use crate::diagnostic::{Problem, Problems};
use crate::places::{Places, retain};
use crate::study::fields::{Check, Spanned};
use crate::study::support::{Aggregate, Extent, Support};
use crate::study::{Observe, Predict, Scale, Study, Variance, Where};
use crate::suggest;
use crate::table::Table;

/// The most rows exact inference on a dense matrix takes: 20,000 rows are 3.2 GB for each matrix.
pub const DENSE_ROWS: usize = 20_000;

/// A study whose tables were read and agree with it.
#[derive(Debug)]
pub struct Resolved {
    /// The study.
    pub study: Study,
    /// The tables, in order.
    pub tables: Vec<Observed>,
    /// The predictions, in order.
    pub predictions: Vec<Asked>,
    /// What people should know.
    pub warnings: Vec<String>,
}

/// One table of observations.
#[derive(Debug)]
pub struct Observed {
    /// The table, for finding rows again.
    pub table: Table,
    /// Where its rows looked.
    pub places: Places,
    /// What they reported.
    pub values: Vec<f64>,
    /// Known variances.
    pub known: Option<Vec<f64>>,
    /// Whether a variance is learned.
    pub learned: bool,
    /// Whether the learned one is that of the first table.
    pub share_noise: bool,
    /// The header of the values.
    pub value_name: String,
    /// Row of the table for each row kept; empty when all were.
    pub kept: Vec<usize>,
}

/// One prediction to make.
#[derive(Debug)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Where.
    pub places: Places,
    /// What for.
    pub scale: Scale,
    /// Probability of the interval.
    pub level: f64,
}

impl Observed {
    /// Where a kept row stands: "ages.csv:7".
    pub fn address(&self, row: usize) -> String {
        self.table
            .row_address(self.kept.get(row).copied().unwrap_or(row))
    }
}

/// Reads the tables of a study and checks everything against everything.
pub fn resolve(study: Study) -> Result<Resolved, Problems> {
    let check = Check::new(&study.source);
    let (dims, all_known) = dims(&study, &check);
    let inputs = Inputs {
        dims: &dims,
        all_known,
    };
    let mut warnings = Vec::new();
    let mut tables = Vec::new();
    for observe in &study.observe {
        usable(&check, &inputs, &observe.support, &mut warnings);
        if let Some(table) = observed(&check, &study, observe, &mut warnings) {
            tables.push(table);
        }
    }
    let predictions = study
        .predict
        .iter()
        .filter_map(|p| asked(&check, &study, &inputs, p, &mut warnings))
        .collect();
    if tables.len() == study.observe.len() {
        too_many_rows(&check, &study, &tables);
        new_rows_have_noise(&check, &study, &tables);
    }
    let problems = check.finish();
    problems.or(())?;
    for table in &mut tables {
        keep_dims(&mut table.places, &dims);
    }
    warnings.dedup();
    Ok(Resolved {
        study,
        tables,
        predictions,
        warnings,
    })
}

/// The inputs of the model, and whether the tables give all that the kernel uses.
struct Inputs<'a> {
    dims: &'a [String],
    all_known: bool,
}

/// The inputs of the model; unknown ones are noted once, at the kernel.
fn dims(study: &Study, check: &Check<'_>) -> (Vec<String>, bool) {
    let given: Vec<&str> = study
        .observe
        .iter()
        .flat_map(|o| o.support.dims.iter().map(|d| d.name.value.as_str()))
        .collect();
    if study.latent.columns.is_empty() {
        let first = study
            .observe
            .first()
            .map(|o| o.support.dims.as_slice())
            .unwrap_or_default();
        return (first.iter().map(|d| d.name.value.clone()).collect(), true);
    }
    let (known, unknown): (Vec<String>, Vec<String>) = study
        .latent
        .columns
        .iter()
        .cloned()
        .partition(|column| given.contains(&column.as_str()));
    let all_known = unknown.is_empty();
    for column in unknown {
        let mut message = format!("the kernel uses `{column}`, which no [[observe]] gives");
        if let Some(near) = suggest::nearest(&column, given.iter().copied()) {
            message.push_str(&format!("; did you mean `{near}`?"));
        }
        let mut all: Vec<&str> = given.clone();
        all.sort_unstable();
        all.dedup();
        let remedy = format!("the supports give {}", suggest::list(&all));
        check.refuse(&word_in(study, &column), message, remedy);
    }
    (known, all_known)
}

/// Where a column's name stands inside the kernel expression.
fn word_in(study: &Study, column: &str) -> std::ops::Range<usize> {
    let kernel = &study.latent.kernel;
    let written = study.source.text.get(kernel.span.clone()).unwrap_or("");
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let found = written.match_indices(column).find(|(at, _)| {
        let before = written[..*at].chars().next_back();
        let after = written[at + column.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(|c| is_name(c) || c == '(')
    });
    match found {
        Some((at, _)) => kernel.span.start + at..kernel.span.start + at + column.len(),
        None => kernel.span.clone(),
    }
}

/// Whether a support gives every input, and what happens to those it gives in excess.
fn usable(check: &Check<'_>, inputs: &Inputs<'_>, support: &Support, warnings: &mut Vec<String>) {
    let dims = inputs.dims;
    let given: Vec<&str> = support.dims.iter().map(|d| d.name.value.as_str()).collect();
    let lacking: Vec<&String> = dims
        .iter()
        .filter(|dim| !given.contains(&dim.as_str()))
        .collect();
    if !lacking.is_empty() {
        let message = format!(
            "this support lacks {}, which the kernel uses",
            suggest::list(&lacking)
        );
        check.refuse(
            &support.span,
            message,
            "name its columns under `point` or `box`",
        );
    }
    for dim in &support.dims {
        if dims.contains(&dim.name.value) || !inputs.all_known {
            continue;
        }
        let name = &dim.name.value;
        if dim.extent != Extent::Point && support.aggregate == Some(Aggregate::Sum) {
            let message = format!(
                "the box has edges along `{name}`, which the kernel does not use, so its width would change the sum for no reason"
            );
            check.refuse(
                &dim.name.span,
                message,
                format!(
                    "leave `{name}` out of the box, or add it to the kernel, such as `* se({name})`"
                ),
            );
        } else {
            warnings.push(format!("the dimension `{name}` is given but the kernel does not use it: rows that differ only there are alike"));
        }
    }
}

fn open(check: &Check<'_>, study: &Study, file: &Spanned<String>) -> Option<Table> {
    match Table::open(
        &study.folder.join(&file.value),
        &study.shown.join(&file.value),
    ) {
        Ok(table) => Some(table),
        Err(mut problem) => {
            // A file that cannot be opened is the study's fault; a broken one is its own.
            if problem.place.is_none() {
                problem.place = Some(check.source.place(&file.span));
            }
            check.add(problem);
            None
        }
    }
}

/// Positions of a support's columns, dimension by dimension.
fn find(check: &Check<'_>, table: &Table, names: &[&Spanned<String>]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for name in names {
        match table.find(&name.value) {
            Ok(at) => found.push(at),
            Err(problem) => check.add(problem.at(check.source.place(&name.span))),
        }
    }
    (found.len() == names.len()).then_some(found)
}

fn names(support: &Support) -> Vec<&Spanned<String>> {
    let columns = |dim: &'_ crate::study::support::Dim| match &dim.extent {
        Extent::Point => 1,
        Extent::Edges(..) => 2,
    };
    let mut names = Vec::with_capacity(support.dims.iter().map(columns).sum());
    for dim in &support.dims {
        match &dim.extent {
            Extent::Point => names.push(&dim.name),
            Extent::Edges(a, b) => names.extend([a, b]),
        }
    }
    names
}

fn observed(
    check: &Check<'_>,
    study: &Study,
    observe: &Observe,
    warnings: &mut Vec<String>,
) -> Option<Observed> {
    let table = open(check, study, &observe.file)?;
    let mut wanted = names(&observe.support);
    wanted.push(&observe.value);
    if let Some(Variance::Column(column)) = &observe.variance {
        wanted.push(column);
    }
    let found = find(check, &table, &wanted)?;
    let mut columns = table
        .numbers(&found)
        .map_err(|problems| check.extend(problems))
        .ok()?;
    let mut variance = None;
    if let Some(Variance::Column(_)) = &observe.variance {
        variance = columns.pop();
    }
    let values = columns.pop()?;
    let places = Places::from_columns(&observe.support, columns);
    let mut problems = Problems::default();
    no_negative(
        &table,
        found.last().copied().unwrap_or(0),
        variance.as_deref(),
        &mut problems,
    );
    no_zero_width(&table, &found, &places, &mut problems);
    if let Some(Variance::Number(number)) = &observe.variance {
        variance = Some(vec![number.value; values.len()]);
    }
    let mut read = Observed {
        table,
        places,
        values,
        known: variance,
        learned: observe.learned,
        share_noise: observe.share_noise,
        value_name: observe.value.value.clone(),
        kept: Vec::new(),
    };
    if problems.0.is_empty() {
        merge_exact(
            &mut read,
            found
                .get(wanted_value(&found, &observe.variance))
                .copied()
                .unwrap_or(0),
            &mut problems,
            warnings,
        );
    }
    if problems.0.is_empty() {
        return Some(read);
    }
    check.extend(problems);
    None
}

fn wanted_value(found: &[usize], variance: &Option<Variance>) -> usize {
    let behind = if matches!(variance, Some(Variance::Column(_))) {
        2
    } else {
        1
    };
    found.len().saturating_sub(behind)
}

const SHOWN_ROWS: usize = 20;

fn no_negative(table: &Table, column: usize, variance: Option<&[f64]>, problems: &mut Problems) {
    let bad = variance
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter(|(_, v)| **v < 0.0);
    for (row, value) in bad.take(SHOWN_ROWS) {
        problems.push(
            Problem::new(format!("the variance is {value}; it cannot be negative"))
                .at(table.place(row, column))
                .remedy("give the square of the standard deviation"),
        );
    }
}

fn no_zero_width(table: &Table, found: &[usize], places: &Places, problems: &mut Problems) {
    if places.aggregate != Some(Aggregate::Sum) {
        return;
    }
    let mut column = 0;
    for dim in &places.dims {
        let flat = |row: &usize| dim.ends(*row).0 == dim.ends(*row).1;
        if dim.second.is_some() {
            for row in (0..places.len()).filter(flat).take(SHOWN_ROWS) {
                let (edge, _) = dim.ends(row);
                problems.push(
                    Problem::new(format!("the box has zero width along `{}`: both edges are {edge}, so its sum is zero", dim.name))
                        .at(table.place(row, found[column]))
                        .remedy("mend the edges, or use `aggregate = \"mean\"` or a point"),
                );
            }
        }
        column += dim.headers.len();
    }
}

/// Rows that report an exact value for the same place: repeats are left out, contradictions refused.
fn merge_exact(
    read: &mut Observed,
    value_column: usize,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) {
    let Some(known) = read
        .known
        .clone()
        .filter(|known| !read.learned && known.contains(&0.0))
    else {
        return;
    };
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut keep = vec![true; known.len()];
    for row in (0..known.len()).filter(|&row| known[row] == 0.0) {
        let earlier = *first.entry(read.places.key(row)).or_insert(row);
        if earlier == row {
            continue;
        }
        keep[row] = false;
        if read.values[earlier] != read.values[row] && problems.0.len() < SHOWN_ROWS {
            problems.push(
                Problem::new(format!(
                    "this row says exactly {}, but {} says exactly {} for the same place",
                    read.values[row],
                    read.table.row_address(earlier),
                    read.values[earlier]
                ))
                .at(read.table.place(row, value_column))
                .remedy("keep one of them, or give them a noise variance above 0"),
            );
        }
    }
    let repeats = keep.iter().filter(|kept| !**kept).count();
    if repeats > 0 && problems.0.is_empty() {
        warnings.push(format!(
            "{}: {repeats} rows repeat an earlier exact row and were left out",
            read.table.name()
        ));
        read.kept = (0..keep.len()).filter(|&row| keep[row]).collect();
        read.places.retain(&keep);
        retain(&mut read.values, &keep);
        if let Some(known) = &mut read.known {
            retain(known, &keep);
        }
    }
}

fn asked(
    check: &Check<'_>,
    study: &Study,
    inputs: &Inputs<'_>,
    predict: &Predict,
    warnings: &mut Vec<String>,
) -> Option<Asked> {
    let places = match &predict.place {
        Where::Grid { axes, aggregate } => {
            let support = Support {
                dims: axes
                    .iter()
                    .map(|(name, axis)| crate::study::support::Dim {
                        name: name.clone(),
                        extent: if axis.cells {
                            Extent::Edges(name.clone(), name.clone())
                        } else {
                            Extent::Point
                        },
                    })
                    .collect(),
                aggregate: *aggregate,
                span: axes
                    .first()
                    .map_or(predict.name.span.clone(), |(name, _)| name.span.clone()),
            };
            usable(check, inputs, &support, warnings);
            Places::grid(axes, *aggregate)
        }
        Where::File { file, support } => {
            usable(check, inputs, support, warnings);
            let table = open(check, study, file)?;
            read_places(check, &table, support)?
        }
    };
    Some(Asked {
        name: predict.name.value.clone(),
        places,
        scale: predict.scale,
        level: predict.level,
    })
}

/// The places of a support read from a table.
pub fn read_places(check: &Check<'_>, table: &Table, support: &Support) -> Option<Places> {
    let found = find(check, table, &names(support))?;
    let columns = table
        .numbers(&found)
        .map_err(|problems| check.extend(problems))
        .ok()?;
    let places = Places::from_columns(support, columns);
    let mut problems = Problems::default();
    no_zero_width(table, &found, &places, &mut problems);
    let fine = problems.0.is_empty();
    check.extend(problems);
    fine.then_some(places)
}

/// Drops dimensions that the model does not use.
fn keep_dims(places: &mut Places, dims: &[String]) {
    places.dims.retain(|dim| dims.contains(&dim.name));
}

/// A prediction of new observations needs one noise variance that holds for them.
fn new_rows_have_noise(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    let known = |table: &Observed, row: usize| table.known.as_ref().map_or(0.0, |known| known[row]);
    let first = tables.first().map_or(0.0, |table| known(table, 0));
    let same = tables
        .iter()
        .all(|table| (0..table.values.len()).all(|row| known(table, row) == first));
    let learned = tables.iter().any(|table| table.learned);
    let own = tables
        .iter()
        .any(|table| table.learned && (0..table.values.len()).any(|row| known(table, row) > 0.0));
    if same || (learned && !own) {
        return;
    }
    for predict in study
        .predict
        .iter()
        .filter(|predict| predict.scale == Scale::Observation)
    {
        let message =
            "the noise variances differ from row to row, so that of a new observation is not known";
        let remedy = "predict `scale = \"response\"` and add the variance of the new row";
        check.refuse(&predict.scale_span, message, remedy);
    }
}

fn too_many_rows(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    let rows: usize = tables.iter().map(|t| t.values.len()).sum();
    if rows <= DENSE_ROWS || (tables.len() == 1 && tables[0].places.is_complete_grid()) {
        return;
    }
    let mut keys: Vec<Vec<u64>> = tables
        .iter()
        .flat_map(|t| (0..t.values.len()).map(|row| t.places.key(row)))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let message = format!(
        "{rows} rows are more than exact inference can hold in memory (at most {DENSE_ROWS})"
    );
    let remedy = if keys.len() <= DENSE_ROWS {
        format!(
            "they look at only {} different places: average the rows of each place and give the mean's variance (variance / count)",
            keys.len()
        )
    } else {
        "use fewer or coarser bins; sparse inference is not available in this version".to_owned()
    };
    let span = study
        .observe
        .first()
        .map_or(0..0, |observe| observe.file.span.clone());
    check.refuse(&span, message, remedy);
}
