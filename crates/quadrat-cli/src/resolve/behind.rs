//! `rows` in `[[predict]]`: which rows of which tables, and how they are added up.

use std::collections::HashMap;

use super::files::Files;
use super::read::find;
use super::{Asked, Observed, no_column_twice};
use crate::engine::Chances;
use crate::places::{Labels, Places};
use crate::study::fields::Spanned;
use crate::study::likelihood::Reports;
use crate::study::{Predict, Study};
use crate::table::Table;

/// Rows of an observed table that a prediction asks for.
#[derive(Debug, Clone)]
pub struct RowsAsked {
    /// Which table of the study; none where all of its rows were left out.
    pub table: Option<usize>,
    /// Each row by its place in that table; of one that was left out, since it follows from others,
    /// its value.
    pub at: Vec<Result<usize, f64>>,
    /// The rows of every sum, as positions in `at`; none where they are asked for one by one.
    pub groups: Option<Vec<Vec<usize>>>,
}

impl RowsAsked {
    /// The same after rows of a table were left out.
    ///
    /// # Arguments
    /// * `to` - where the table is now, if it is left
    /// * `place` - where a row of it is now, or its value
    pub fn moved(&mut self, to: Option<usize>, place: impl Fn(usize) -> Result<usize, f64>) {
        self.table = to;
        for at in &mut self.at {
            *at = at.and_then(&place);
        }
    }
}

/// A prediction of rows of a table, one part for each of its outputs.
pub(super) fn asked(
    files: &Files<'_>,
    (study, of, predict): (&Study, usize, &Predict),
    (name, by): (&Spanned<String>, Option<&[Spanned<String>]>),
    tables: &[Observed],
) -> Vec<Asked> {
    let Some(observe) = which(files, study, name) else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    let wanted = predict.output.as_ref();
    for (table, observed) in tables.iter().enumerate() {
        let output = observed.places.output.as_ref();
        if observed.of != observe || wanted.is_some_and(|wanted| Some(&wanted.value) != output) {
            continue;
        }
        if !can_be_asked(files, name, observed) {
            return Vec::new();
        }
        let Some((places, groups)) = places(files, predict, observed, by) else {
            return Vec::new();
        };
        let chances = Chances {
            above: predict.above.clone(),
            ranks: 0,
            draws: predict.draws.as_ref().map_or(0, |draws| draws.value),
        };
        no_column_twice(files.check, predict, &places, &chances);
        parts.push(Asked {
            name: predict.name.value.clone(),
            id: predict.name.value.clone(),
            places,
            scale: predict.scale,
            level: predict.level,
            of,
            non_negative: study.is_truncated(predict),
            chances,
            table: Some(table),
            like: None,
            limits: None,
            rows: Some(RowsAsked {
                table: Some(table),
                at: (0..observed.places.len()).map(Ok).collect(),
                groups,
            }),
        });
    }
    if let (true, Some(wanted)) = (parts.is_empty(), wanted) {
        let message = format!(
            "`{}` has no rows of the output `{}`",
            name.value, wanted.value
        );
        files.check.refuse(
            &wanted.span,
            message,
            "name an output of that table, or none",
        );
    }
    parts
}

/// Which `[[observe]]` is meant.
fn which(files: &Files<'_>, study: &Study, name: &Spanned<String>) -> Option<usize> {
    let all = || study.observe.iter().enumerate();
    let found: Vec<usize> = all()
        .filter(|(_, observe)| observe.shown_name() == name.value)
        .map(|(of, _)| of)
        .collect();
    let of_file = || all().filter(|(_, observe)| observe.file.value == name.value);
    match (found.as_slice(), of_file().count()) {
        ([only], _) => Some(*only),
        ([], 1) => of_file().next().map(|(of, _)| of),
        ([], 0) => {
            let known: Vec<String> = all().map(|(_, o)| o.shown_name().to_owned()).collect();
            let near = crate::suggest::nearest(&name.value, known.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            files.check.refuse(
                &name.span,
                format!("no [[observe]] reads `{}`{hint}", name.value),
                format!("`rows` is {}", crate::suggest::list(&known)),
            );
            None
        }
        _ => {
            files.check.refuse(
                &name.span,
                format!(
                    "several [[observe]] read `{}`, and which is meant is not said",
                    name.value
                ),
                "give each a `name`, and say that",
            );
            None
        }
    }
}

/// Refuses tables whose rows have no value of their own behind them.
fn can_be_asked(files: &Files<'_>, name: &Spanned<String>, observed: &Observed) -> bool {
    let refuse = |message: &str, remedy: &str| {
        files.check.refuse(&name.span, message.to_owned(), remedy);
        false
    };
    if matches!(observed.says.reports, Reports::Positive { .. }) {
        return refuse(
            "rows that only say that the function is positive have no value behind them",
            "ask for a table that reports something",
        );
    }
    let is_student = matches!(observed.says.reports, Reports::StudentT { .. });
    let has_two = observed
        .likelihood
        .noise()
        .is_some_and(|noise| noise.is_learned() && noise.known().is_some());
    if is_student && has_two {
        return refuse(
            "the noise of these rows is partly known and partly learned, so that it cannot be told what of it belongs to the value",
            "let it be known or learned, or predict the response",
        );
    }
    let is_repeated = |times: &Vec<f64>| times.iter().any(|n| *n != 1.0);
    if observed.times.as_ref().is_some_and(is_repeated) {
        return refuse(
            "rows of this table were seen several times (`times`), and each time has a value of its own behind it",
            "write out every row once for each time it was seen, without `times`",
        );
    }
    true
}

/// Where the rows or sums stand in the answer, and the rows of every sum.
fn places(
    files: &Files<'_>,
    predict: &Predict,
    observed: &Observed,
    by: Option<&[Spanned<String>]>,
) -> Option<(Places, Option<Vec<Vec<usize>>>)> {
    let Some(by) = by else {
        let mut places = observed.places.clone();
        places.labels = labels(files, &observed.table, &predict.beside.keep, &observed.kept)?;
        return Some((places, None));
    };
    let columns = labels(files, &observed.table, by, &observed.kept)?;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<Vec<&str>, usize> = HashMap::new();
    for row in 0..observed.places.len() {
        let key: Vec<&str> = columns.iter().map(|c| c.cells[row].as_str()).collect();
        let group = *known.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(row);
    }
    let first = |labels: &Labels| Labels {
        header: labels.header.clone(),
        cells: groups
            .iter()
            .map(|rows| labels.cells[rows[0]].clone())
            .collect(),
    };
    let labels = columns.iter().map(first).collect();
    let mut places = Places::named(groups.len(), labels);
    places.output.clone_from(&observed.places.output);
    Some((places, Some(groups)))
}

/// Columns of a table, at the rows that are kept of it.
fn labels(
    files: &Files<'_>,
    table: &Table,
    names: &[Spanned<String>],
    kept: &[usize],
) -> Option<Vec<Labels>> {
    let wanted: Vec<&Spanned<String>> = names.iter().collect();
    let mut labels = Vec::with_capacity(names.len());
    for (name, at) in names.iter().zip(find(files.check, table, &wanted)?) {
        let texts = table
            .texts(at)
            .map_err(|problems| files.check.extend(problems))
            .ok()?;
        let cells = match kept.is_empty() {
            true => texts,
            false => kept.iter().map(|&row| texts[row].clone()).collect(),
        };
        labels.push(Labels {
            header: name.value.clone(),
            cells,
        });
    }
    Some(labels)
}
