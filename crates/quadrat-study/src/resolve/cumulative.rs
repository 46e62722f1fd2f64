//! Running totals of a table, taken apart into what was added between consecutive rows.

mod steps;

use std::collections::HashMap;

use super::Observed;
use super::behind::columns;
use crate::diagnostic::{Problem, Problems};
use crate::numbers::count;
use crate::places::{Along, Places};
use crate::study::cumulative::{Cumulative, Falls, reading_errors};
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::{Given, Likelihood, Reports};
use crate::study::support::{Extent, Support};
use crate::table::Table;
use steps::{Steps, Taken};

/// How many rows of one problem are listed.
const SHOWN_ROWS: usize = 20;

/// What was read of a table whose rows tell running totals; it becomes that of the increments.
pub(super) struct Totals<'a> {
    pub table: &'a Table,
    /// Where its rows looked, and what they reported.
    pub support: &'a Support,
    pub likelihood: &'a Likelihood,
    /// The column that names the output of each row, where there is one.
    pub output: Option<&'a Spanned<String>>,
    /// Points and edges of all dimensions, in order.
    pub coordinates: &'a mut [Vec<f64>],
    /// The region of each row, where there are some.
    pub regions: Option<&'a [usize]>,
    /// The totals, lower and upper ends, and the column in which they stand.
    pub values: (&'a mut Vec<(f64, f64)>, usize),
    /// Known variances of the readings, row by row; none where they are exact.
    pub variances: Option<Vec<f64>>,
}

/// The position of the first edge of a dimension among the points and edges of all.
fn first_edge(support: &Support, along: &str) -> usize {
    let before = support
        .dims
        .iter()
        .take_while(|dim| dim.name.value != along);
    before
        .map(|dim| match dim.extent {
            Extent::Point => 1,
            Extent::Edges(..) => 2,
        })
        .sum()
}

/// The known variances of readings, from the columns of the likelihood or the same for all.
pub(super) fn variances(
    likelihood: &Likelihood,
    named: &[&Spanned<String>],
    cells: &[Vec<(f64, f64)>],
) -> Option<Vec<f64>> {
    let rows = cells.first()?.len();
    match reading_errors(likelihood)? {
        Given::Number(number) => Some(vec![number.value; rows]),
        Given::Column(name) => {
            let at = named.iter().position(|known| known.span == name.span)?;
            Some(cells.get(at)?.iter().map(|(value, _)| *value).collect())
        }
    }
}

/// Names the two ends of the time between readings, which stand in one column.
pub(super) fn headers(says: Option<&Cumulative>, places: &mut Places) {
    let Some(says) = says.filter(|says| says.are_readings) else {
        return;
    };
    let dims = places.dims.iter_mut();
    for dim in dims.filter(|dim| dim.name == says.along) {
        dim.headers = ["lower", "upper"]
            .map(|side| format!("{}_{side}", dim.name))
            .to_vec();
    }
}

/// The increments among the rows of a table, or all rows; nothing inside where none is left, or
/// outside where they say too little.
pub(super) fn kept(part: Observed, increments: Option<&Increments>) -> Option<Option<Observed>> {
    let Some(increments) = increments else {
        return Some(Some(part));
    };
    let increments = &increments.are_some;
    let in_table = |row: usize| part.kept.get(row).copied().unwrap_or(row);
    let rows: Vec<usize> = (0..part.places.len())
        .filter(|&row| increments.get(in_table(row)) == Some(&true))
        .collect();
    match rows.len() {
        0 => Some(None),
        all if all == part.places.len() => Some(Some(part)),
        _ => part.keeping(rows).ok().map(Some),
    }
}

/// What running totals became.
pub(super) struct Increments {
    /// Which rows tell one.
    pub are_some: Vec<bool>,
    /// Which running total each row is of, where columns tell them apart: what they count are
    /// different events, also of one place.
    pub of: Option<Along>,
}

/// Makes increments of running totals. Nothing where that was refused.
pub(super) fn apart(
    check: &Check<'_>,
    says: &Cumulative,
    totals: Totals<'_>,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) -> Option<Increments> {
    let table = totals.table;
    let at = first_edge(totals.support, &says.along);
    // Readings whose errors are all zero are exact.
    let has_errors = |variances: &Vec<f64>| variances.iter().any(|v| *v != 0.0);
    let variances = totals.variances.clone().filter(has_errors);
    if variances.is_some() && says.falls != Falls::Refused {
        return readings_fall(check, &says.span);
    }
    exact_counts(&totals, problems);
    let groups = groups(check, says, &totals, at)?;
    let (before, own) = totals.coordinates.split_at_mut(at);
    let [first, second, ..] = own else {
        return None;
    };
    debug_assert!(before.len() == at);
    let mut steps = Steps {
        table,
        says,
        lower: ends(first, second, f64::min),
        upper: ends(first, second, f64::max),
        values: totals.values.0.iter().map(|(value, _)| *value).collect(),
        column: totals.values.1,
        variances,
        is_from_start: false,
    };
    let is_common = |rows: &Vec<usize>| steps.common_start(rows).is_some();
    steps.is_from_start = !says.are_readings && groups.iter().all(is_common);
    let mut taken = Taken::of(first.len());
    let mut of = vec![0.0; taken.is_kept.len()];
    for (rows, group) in groups.into_iter().zip(0..) {
        rows.iter().for_each(|&row| of[row] = f64::from(group));
        steps.take(rows, &mut taken, problems);
    }
    if !problems.0.is_empty() {
        check.extend(std::mem::take(problems));
        return None;
    }
    if !taken.is_kept.contains(&true) {
        let message =
            "no row has another one before it, so that nothing is known of what was added";
        let remedy = match says.by.is_empty() {
            true => "give the readings of one meter, region or class in several rows",
            false => {
                "see whether `by` names what tells running totals apart, not what each row has for itself"
            }
        };
        check.refuse(&says.span, message, remedy);
        return None;
    }
    warnings.extend(told(table, says, &taken));
    *first = taken.boxes.iter().map(|ends| ends.0).collect();
    *second = taken.boxes.iter().map(|ends| ends.1).collect();
    *totals.values.0 = taken.values.iter().map(|value| (*value, *value)).collect();
    let apart = || Along {
        name: " of running totals".to_owned(),
        headers: vec![String::new()],
        first: of,
        second: None,
        labels: None,
    };
    Some(Increments {
        are_some: taken.is_kept,
        of: (!says.by.is_empty()).then(apart),
    })
}

/// Refuses to say what falls of readings with errors mean.
fn readings_fall(check: &Check<'_>, span: &std::ops::Range<usize>) -> Option<Increments> {
    check.refuse(
        span,
        "readings with an error may fall by it, and `falls` says what a fall means",
        "leave `falls` out, or `variance` where readings are exact",
    );
    None
}

/// One end of every row.
fn ends(first: &[f64], second: &[f64], pick: fn(f64, f64) -> f64) -> Vec<f64> {
    let pairs = first.iter().zip(second);
    pairs.map(|(a, b)| pick(*a, *b)).collect()
}

/// Refuses counts that are no whole numbers, or told as ranges: differences would hide it.
fn exact_counts(totals: &Totals<'_>, problems: &mut Problems) {
    if !matches!(totals.likelihood.reports, Reports::Counts { .. }) {
        return;
    }
    let (cells, at) = (&totals.values.0, totals.values.1);
    let wrong = |(low, high): (f64, f64)| match low {
        _ if low != high => Some((
            "the running total is told as a range".to_owned(),
            "give the number, or delete the row: the next one then counts from the one before",
        )),
        _ if low < 0.0 => Some((
            format!("the running total is {low}; it cannot be negative"),
            "mend it, or delete the row",
        )),
        _ if low.fract() != 0.0 => Some((
            format!("the running total is {low}; it must be a whole number"),
            "give what was counted, not a rate",
        )),
        _ => None,
    };
    let found = cells.iter().enumerate();
    let found = found.filter_map(|(row, cell)| Some((row, wrong(*cell)?)));
    for (row, (fact, remedy)) in found.take(SHOWN_ROWS) {
        let place = totals.table.place(row, at);
        problems.push(Problem::new(fact).at(place).remedy(remedy));
    }
}

/// The rows of every running total: those alike in all that the support has besides, in the output
/// and in the columns of `by`.
fn groups(
    check: &Check<'_>,
    says: &Cumulative,
    totals: &Totals<'_>,
    at: usize,
) -> Option<Vec<Vec<usize>>> {
    let mut names = says.by.clone();
    names.extend(totals.output.cloned());
    let texts = columns(check, totals.table, &names, &[])?;
    let others = || {
        let all = totals.coordinates.iter().enumerate();
        all.filter(|(column, _)| *column != at && *column != at + 1)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<(Vec<u64>, Vec<&str>), usize> = HashMap::new();
    for row in 0..totals.values.0.len() {
        let place = others().map(|(_, column)| (column[row] + 0.0).to_bits());
        let region = totals.regions.map(|of_row| of_row[row] as u64);
        let told = texts.iter().map(|column| column[row].as_str());
        let key = (place.chain(region).collect(), told.collect());
        let group = *known.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(row);
    }
    Some(groups)
}

/// What became of the rows that are no increments, in words.
fn told(table: &Table, says: &Cumulative, taken: &Taken) -> Vec<String> {
    let name = table.name();
    let some = |rows: &[usize], words: &dyn Fn(String, String) -> String| {
        let first = rows.iter().min()?;
        let rows = count(rows.len(), "row");
        Some(words(rows, table.row_address(*first)))
    };
    let all = [
        some(&taken.started, &|rows, first| {
            format!(
                "{name}: {rows}, the first at {first}, only say where a running total stood when it was first told, and are left out"
            )
        }),
        some(&taken.repeated, &|rows, first| {
            format!(
                "{name}: {rows}, the first at {first}, tell the running total of another row again, and are left out"
            )
        }),
        some(&taken.fell, &|rows, first| match says.falls {
            Falls::Zero => format!(
                "{name}: the running total falls at {rows}, the first at {first}, and is taken to have begun anew at zero: what was added before it did is not counted"
            ),
            Falls::Beyond(at) => format!(
                "{name}: the running total falls at {rows}, the first at {first}, and is taken to have begun anew at {at}"
            ),
            Falls::Negative => format!(
                "{name}: the running total falls at {rows}, the first at {first}: less than nothing was added"
            ),
            _ => format!(
                "{name}: the running total falls at {rows}, the first at {first}: how much was added since the rows before is not known, and they are left out"
            ),
        }),
    ];
    all.into_iter().flatten().collect()
}
