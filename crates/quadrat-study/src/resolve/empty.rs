//! Rows that look at nothing: bags without weight, regions without a geometry.

use quadrat::likelihood::{Interval, Likelihood as Reported};

use super::Observed;
use super::files::Files;
use super::rows::SHOWN_ROWS;
use crate::diagnostic::{Problem, Problems, shown};
use crate::numbers::count;
use crate::places::Places;
use crate::shapes::Shapes;
use crate::study::Observe;
use crate::study::fields::Check;
use crate::study::support::Aggregate;

/// The rows that look at something, the others told; refused where none does, and where one says
/// something of nobody.
///
/// # Arguments
/// * `column` - the first column of what was reported
pub(super) fn of_some_size(
    check: &Check<'_>,
    observe: &Observe,
    (part, column): (Observed, usize),
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) -> Option<Observed> {
    let Some(rows) = part.places.of_some_size() else {
        return Some(part);
    };
    let shapes = part.places.shapes.as_ref()?;
    if rows.is_empty() {
        let (message, remedy) = match shapes.regions().is_some() {
            true => (
                "no region of these rows has a geometry",
                "mend the map, or the keys",
            ),
            false => (
                "no bag of these rows has any weight",
                "mend the weights of the points, or the keys",
            ),
        };
        check.refuse(&observe.file.span, message, remedy);
        return None;
    }
    // Where a region without a geometry lies is not known, so that it may report anything.
    if shapes.regions().is_none() {
        refuse_answers(&part, shapes, column, problems);
    }
    warnings.push(format!(
        "{}: {} left out, the first at {}: their {}",
        part.table.name(),
        count(part.places.len() - rows.len(), "row"),
        part.address(first_left_out(&rows)),
        shapes.why_empty(),
    ));
    part.keeping(rows).ok()
}

/// Refuses rows of bags without weight that say more than nothing.
fn refuse_answers(part: &Observed, shapes: &Shapes, column: usize, problems: &mut Problems) {
    let is_sum = part.places.aggregate == Some(Aggregate::Sum);
    let is_seen = |row: usize| part.times.as_ref().is_none_or(|times| times[row] > 0.0);
    let speaks = |row: &usize| {
        shapes.is_empty(*row) && is_seen(*row) && !says_nothing(&part.likelihood, *row, is_sum)
    };
    for row in (0..part.places.len()).filter(speaks).take(SHOWN_ROWS) {
        let key = shapes.keys.get(row).map_or("", String::as_str);
        let fact = match is_sum {
            true => "so that its sum is 0 for sure, and the row reports another",
            false => "so that it has no average, and the row reports one",
        };
        let of = part.kept.get(row).copied().unwrap_or(row);
        problems.push(
            Problem::new(format!(
                "the weights of the bag `{}` are all zero, {fact}",
                shown(key)
            ))
            .at(part.table.place(of, column))
            .remedy("give a point of the bag a positive weight, or take the row out"),
        );
    }
}

/// Whether a row over nobody says what is so for sure: a sum of 0, or an average of no one.
fn says_nothing(likelihood: &Reported, row: usize, is_sum: bool) -> bool {
    let value = |values: &[f64]| is_sum && values[row] == 0.0;
    let between = |x: &Interval| {
        let (lower, upper) = (x.lower()[row], x.upper()[row]);
        let is_open = lower == f64::NEG_INFINITY && upper == f64::INFINITY;
        is_open || (is_sum && lower <= 0.0 && upper >= 0.0)
    };
    let counted = |lower: &[f64], upper: &[f64], exposure: &[f64]| {
        let is_open = upper[row] == f64::INFINITY;
        lower[row] == 0.0 && (is_sum || exposure[row] == 0.0 || is_open)
    };
    match likelihood {
        Reported::Gaussian(x) => value(x.values()),
        Reported::Laplace(x) => value(x.values()),
        Reported::StudentT(x) => value(x.values()),
        Reported::Truncated(x) => value(x.values()),
        Reported::Interval(x) => between(x),
        Reported::Censored(x) => between(x.readings()),
        Reported::Binomial(x) => x.trials()[row] == 0.0,
        Reported::Poisson(x) => counted(x.lower(), x.upper(), x.exposure()),
        Reported::NegativeBinomial(x) => counted(x.lower(), x.upper(), x.exposure()),
        _ => false,
    }
}

/// The first of the numbers from 0 on that is not among ascending ones.
fn first_left_out(rows: &[usize]) -> usize {
    rows.iter()
        .zip(0..)
        .take_while(|(row, at)| **row == *at)
        .count()
}

/// Places to be predicted without those of no size, which is told.
pub(super) fn sized(files: &Files<'_>, mut places: Places) -> Places {
    if let Some(rows) = places.of_some_size() {
        files.warn(format!(
            "{} of {} not predicted: the {}",
            count(places.len() - rows.len(), "row"),
            places.shapes.as_ref().map_or("", Shapes::file),
            places.shapes.as_ref().map_or("", Shapes::why_empty),
        ));
        places.keep(&rows);
    }
    places
}
