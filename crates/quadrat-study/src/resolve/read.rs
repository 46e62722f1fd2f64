//! Tables read into the columns that the study names.

use std::sync::Arc;

use quadrat::likelihood::Likelihood as Reported;
use quadrat::link::Link;

use super::Observed;
use super::bags::bags;
use super::columns::{find, read_cells};
use super::cumulative;
use super::empty::{of_some_size, sized};
use super::files::Files;
use super::join::{canonical, repeated};
use super::regions::regions;
use super::remarks::among_noisy;
use super::reports::{Cells, Column, ignored, reported, uncensored};
use super::rows::{no_giants, no_zero_width, only_degrees, repeated_exact};
use super::slots::Slots;
use crate::diagnostic::Problems;
use crate::numbers::count;
use crate::places::Places;
use crate::shapes::Shapes;
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::Given;
use crate::study::observe::MOST_TIMES;
use crate::study::shape::Shape;
use crate::study::support::Support;
use crate::study::{Observe, Output};
use crate::table::{Reading, Table};

/// The most outputs of a table.
const MOST_OUTPUTS: usize = 32;

/// The regions or bags of the rows of a table (which has a name in the study), or all of them when
/// there is no table.
pub fn shapes(
    files: &Files<'_>,
    support: &Support,
    table: Option<(&Table, &Spanned<String>)>,
    observed: bool,
) -> Option<Option<Shapes>> {
    match &support.shape {
        None => Some(None),
        Some(Shape::Region(keys)) => regions(files, keys, table, observed).map(Some),
        Some(Shape::Bag(keys)) => {
            bags(files, keys, table.map(|(table, _)| table), observed).map(Some)
        }
    }
}

/// Refuses rows of which no column says anything.
fn no_column(check: &Check<'_>, support: &Support) {
    let message = "no column says where these rows look: all edges of the `box` are numbers";
    let remedy = "name a column, or predict one box by `grid = { x = { from = 0, to = 10, step = 10, cells = true } }`";
    check.refuse(&support.span, message, remedy);
}

/// A table of observations, one part per output.
pub(super) fn observed(
    files: &Files<'_>,
    (of, observe): (usize, &Observe),
    link: Link,
    warnings: &mut Vec<String>,
) -> Option<Vec<Observed>> {
    let check = files.check;
    let table = files.table(&observe.file)?;
    let shapes = shapes(files, &observe.support, Some((&table, &observe.file)), true);
    let slots = Slots::of(&observe.support, &files.codes.borrow());
    let along = slots.columns();
    let is_once = along.is_empty() && observe.output.column().is_none();
    if let (Some(Some(shapes)), true) = (&shapes, is_once) {
        once_each(files, observe, shapes, &table);
    }
    let mut told = observe.likelihood.columns();
    let often = observe.times.as_ref().and_then(Given::column);
    told.extend(often.map(|column| (column, Reading::Number)));
    if along.is_empty() && told.is_empty() && observe.support.shape.is_none() {
        no_column(check, &observe.support);
        return None;
    }
    let all = || along.iter().chain(&told);
    let wanted: Vec<&Spanned<String>> = all().map(|(name, _)| *name).collect();
    let found = find(check, &table, &wanted)?;
    let readings = all().map(|(_, reading)| *reading);
    let mut read = read_cells(files.reader(), (&table, along.len()), &found, readings)?;
    let mut problems = no_giant_cells(&table, &found, &read);
    let mut told_cells = read.split_off(along.len());
    let number = |column: Vec<(f64, f64)>| column.into_iter().map(|(x, _)| x).collect();
    let rows = told_cells.first().or(read.first()).map_or(0, Vec::len);
    let mut coordinates = slots.filled(read.into_iter().map(number).collect(), rows);
    let shown_in = slots.shown_in(&found[..along.len()]);
    let shapes = shapes?;
    let increments = match &observe.cumulative {
        None => None,
        Some(says) => {
            let named = told.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            let totals = cumulative::Totals {
                table: &table,
                support: &observe.support,
                likelihood: &observe.likelihood,
                output: observe.output.column(),
                coordinates: &mut coordinates,
                regions: shapes.as_ref().map(|shapes| shapes.of_row.as_slice()),
                variances: cumulative::variances(&observe.likelihood, &named, &told_cells),
                values: (told_cells.first_mut()?, found[along.len()]),
            };
            let apart = cumulative::apart(check, says, totals, &mut problems, warnings);
            Some(apart?)
        }
    };
    let geographic = files.geographic.clone();
    let mut places = Places::from_columns(&observe.support, coordinates, shapes, geographic);
    places.name_labels(&files.codes.borrow());
    cumulative::headers(observe.cumulative.as_ref(), &mut places);
    only_degrees(&table, &shown_in, &places, &mut problems);
    no_zero_width(&table, &shown_in, &places, &mut problems);
    let columns = told.iter().zip(&found[along.len()..]).zip(told_cells);
    let columns = columns.map(|(((name, _), &at), cells)| Column {
        named: name.span.clone(),
        at,
        cells,
    });
    let cells = Cells::new(check, &table, places.len(), columns.collect());
    let likelihood = reported(&cells, &observe.likelihood, link, &mut problems);
    if let Some(likelihood) = &likelihood {
        let tells = |row: usize| increments.as_ref().is_none_or(|i| i.are_some[row]);
        warnings.extend(remarks((&cells, &table), observe, likelihood, tells));
    }
    let times = times(&cells, observe, &mut problems);
    let outputs = rows_of_outputs(check, &table, &observe.output, places.len())?;
    let column = found.get(along.len()).copied().unwrap_or(0);
    let whole = Whole {
        table: Arc::new(table),
        places,
        likelihood,
        times,
        increments,
        column,
    };
    let parts = parts(
        check,
        (of, observe),
        &whole,
        outputs,
        &mut problems,
        warnings,
    )?;
    if problems.0.is_empty() {
        if let (Some(given), true) = (&observe.times, parts.is_empty()) {
            let message = "no row was seen: `times` is 0 in all of them";
            let remedy = "give how often each row was seen, or leave `times` out";
            check.refuse(given.span(), message, remedy);
        }
        return (!parts.is_empty()).then_some(parts);
    }
    check.extend(problems);
    None
}

/// Refuses regions or bags that stand in several rows.
fn once_each(files: &Files<'_>, observe: &Observe, shapes: &Shapes, table: &Table) {
    let noun = match observe.support.shape {
        Some(Shape::Bag(_)) => "bag",
        _ => "region",
    };
    repeated(files, &shapes.keys, &shapes.of_row, noun, table.name());
}

/// Refuses cells that are too large to calculate with.
fn no_giant_cells(table: &Table, found: &[usize], read: &[Vec<(f64, f64)>]) -> Problems {
    let mut problems = Problems::default();
    for (&at, column) in found.iter().zip(read) {
        let (lower, upper): (Vec<f64>, Vec<f64>) = column.iter().copied().unzip();
        no_giants(table, &[at], &[lower], &mut problems);
        if problems.0.is_empty() {
            no_giants(table, &[at], &[upper], &mut problems);
        }
    }
    problems
}

/// A table whose rows of all outputs were read.
struct Whole {
    table: Arc<Table>,
    places: Places,
    likelihood: Option<Reported>,
    times: Option<Vec<f64>>,
    increments: Option<cumulative::Increments>,
    /// The first column of what was reported.
    column: usize,
}

/// The rows of every output; nothing where some were refused.
fn parts(
    check: &Check<'_>,
    (of, observe): (usize, &Observe),
    whole: &Whole,
    outputs: Vec<RowsOf>,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) -> Option<Vec<Observed>> {
    let mut parts = Vec::with_capacity(outputs.len());
    for (output, rows) in outputs {
        let Some(likelihood) = &whole.likelihood else {
            break;
        };
        let increments = whole.increments.as_ref();
        let part = Observed {
            table: Arc::clone(&whole.table),
            places: whole.places.clone(),
            likelihood: likelihood.clone(),
            says: observe.likelihood.clone(),
            share_noise: observe.share_noise.is_some(),
            kept: Vec::new(),
            times: whole.times.clone(),
            are_increments: increments.is_some(),
            of,
            spare: increments
                .and_then(|all| all.of.clone())
                .into_iter()
                .collect(),
            once: None,
        };
        let part = of_output(check, observe, part, (output, rows))?;
        let Some(part) = cumulative::kept(part, increments)? else {
            continue;
        };
        let part = of_some_size(check, observe, (part, whole.column), problems, warnings)?;
        let Some(part) = seen(part)? else {
            continue;
        };
        parts.push(distinct(part, whole.column, problems, warnings)?);
    }
    Some(parts)
}

/// What to say of the rows of a table.
///
/// # Arguments
/// * `tells` - whether a row tells something
fn remarks(
    (cells, table): (&Cells<'_>, &Table),
    observe: &Observe,
    likelihood: &Reported,
    tells: impl Fn(usize) -> bool,
) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(among_noisy(likelihood, table, tells));
    let (file, says) = (&observe.file.value, &observe.likelihood);
    out.extend(uncensored(cells, says).map(|said| format!("{file}: {said}")));
    let taken = ignored(cells, says);
    if let (Some(preset), 1..) = (says.ignores_limits, taken) {
        out.push(format!(
            "`{preset}` ignores that {} of {file} {} censored: what was recorded is taken for exact, and pulls the function towards it",
            count(taken, "row"),
            if taken == 1 { "is" } else { "are" },
        ));
    }
    out
}

/// The rows of an output, or all; refused where they say too little without the others.
fn of_output(
    check: &Check<'_>,
    observe: &Observe,
    part: Observed,
    (output, rows): RowsOf,
) -> Option<Observed> {
    let kept = match rows {
        Some(rows) => part.keeping(rows),
        None => Ok(part),
    };
    let mut part = match kept {
        Ok(part) => part,
        Err(error) => {
            let name = output.as_deref().unwrap_or_default();
            let message = format!("the rows of the output `{name}`: {error}");
            let remedy =
                "mend these rows, or give each output a table with a likelihood of its own";
            check.refuse(&observe.likelihood.name.span, message, remedy);
            return None;
        }
    };
    part.places.output = output;
    Some(part)
}

/// How often each row was seen; what is no number of times is refused.
fn times(cells: &Cells<'_>, observe: &Observe, problems: &mut Problems) -> Option<Vec<f64>> {
    let times = cells.given(observe.times.as_ref()?)?;
    cells.refuse(problems, &times, |row| {
        let n = times.lower[row];
        let is_one = n.fract() == 0.0 && (0.0..=MOST_TIMES).contains(&n);
        (!is_one).then(|| {
            let fact = format!("the row was seen {n} times; it must be a whole number up to 1e15");
            (fact, "give how often the row was seen, 0 to leave it out")
        })
    });
    Some(times.lower)
}

/// The rows that were seen at all; nothing where none was.
fn seen(part: Observed) -> Option<Option<Observed>> {
    let Some(times) = &part.times else {
        return Some(Some(part));
    };
    let rows: Vec<usize> = (0..times.len()).filter(|&row| times[row] > 0.0).collect();
    if rows.is_empty() {
        return Some(None);
    }
    match rows.len() == times.len() {
        true => Some(Some(part)),
        false => part.keeping(rows).ok().map(Some),
    }
}

/// An output and its rows; none said: all.
type RowsOf = (Option<String>, Option<Vec<usize>>);

/// The outputs of a table in order of appearance, each with its rows.
fn rows_of_outputs(
    check: &Check<'_>,
    table: &Table,
    output: &Output,
    rows: usize,
) -> Option<Vec<RowsOf>> {
    match output {
        Output::Only => Some(vec![(None, None)]),
        Output::Named(name) => Some(vec![(Some(name.value.clone()), None)]),
        Output::Column(name) => {
            let at = find(check, table, &[name])?[0];
            let keys = table
                .keys(at)
                .map_err(|problems| check.extend(problems))
                .ok()?;
            let mut outputs: Vec<RowsOf> = Vec::new();
            for (row, key) in keys.into_iter().enumerate().take(rows) {
                let key = canonical(&key).to_owned();
                let known = outputs
                    .iter()
                    .position(|(name, _)| name.as_ref() == Some(&key));
                match known {
                    Some(at) => outputs[at].1.get_or_insert_default().push(row),
                    None if outputs.len() < MOST_OUTPUTS => {
                        outputs.push((Some(key), Some(vec![row])));
                    }
                    None => {
                        let message = format!(
                            "`{}` has more than {MOST_OUTPUTS} different values; every one would be an output",
                            name.value
                        );
                        check.refuse(
                            &name.span,
                            message,
                            "name a column that tells a few outputs apart",
                        );
                        return None;
                    }
                }
            }
            Some(outputs)
        }
    }
}

/// The rows without repeats of exact ones.
fn distinct(
    part: Observed,
    column: usize,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) -> Option<Observed> {
    let Reported::Gaussian(gaussian) = &part.likelihood else {
        return Some(part);
    };
    let Some(keep) = repeated_exact(&part, gaussian, column, problems, warnings) else {
        return Some(part);
    };
    let rows = (0..keep.len()).filter(|&row| keep[row]).collect();
    part.keeping(rows).ok()
}

/// The places of a support read from a table, which has a name in the study; `add` gives them what
/// else is asked of rows.
pub fn read_places(
    files: &Files<'_>,
    (table, file): (&Table, &Spanned<String>),
    support: &Support,
    add: impl FnOnce(&mut Places) -> Option<()>,
) -> Option<Places> {
    let check = files.check;
    let shapes = shapes(files, support, Some((table, file)), false);
    let slots = Slots::of(support, &files.codes.borrow());
    let along = slots.columns();
    if along.is_empty() && support.shape.is_none() {
        no_column(check, support);
        return None;
    }
    let wanted: Vec<&Spanned<String>> = along.iter().map(|(name, _)| *name).collect();
    let found = find(check, table, &wanted)?;
    let cells = read_cells(
        files.reader(),
        (table, found.len()),
        &found,
        along.iter().map(|(_, reading)| *reading),
    )?;
    let number = |column: Vec<(f64, f64)>| column.into_iter().map(|(x, _)| x).collect();
    let columns: Vec<Vec<f64>> = cells.into_iter().map(number).collect();
    let mut problems = Problems::default();
    no_giants(table, &found, &columns, &mut problems);
    let shapes = shapes?;
    let rows = shapes.as_ref().map(|shapes| shapes.of_row.len());
    let rows = rows.or(columns.first().map(Vec::len)).unwrap_or(0);
    let columns = slots.filled(columns, rows);
    let shown_in = slots.shown_in(&found);
    let mut places = Places::from_columns(support, columns, shapes, files.geographic.clone());
    places.name_labels(&files.codes.borrow());
    add(&mut places)?;
    only_degrees(table, &shown_in, &places, &mut problems);
    no_zero_width(table, &shown_in, &places, &mut problems);
    let fine = problems.0.is_empty();
    check.extend(problems);
    fine.then(|| sized(files, places))
}
