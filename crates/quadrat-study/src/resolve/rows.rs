//! What the rows of a table must keep to.

use std::collections::HashMap;

use quadrat::likelihood::{Gaussian, Noise};
use quadrat::model::Inference;

use super::asked::Asked;
use super::behind::{RowsAsked, columns, groups, which};
use super::clashes::no_column_twice;
use super::files::Files;
use super::observed::Observed;
use crate::answer::Chances;
use crate::diagnostic::{Problem, Problems};
use crate::geographic::check_degrees;
use crate::numbers::{LARGEST, count, human};
use crate::places::{Labels, Places};
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::Reports;
use crate::study::support::Aggregate;
use crate::study::{Predict, Study};
use crate::table::Table;

/// The most rows exact inference on a dense matrix takes: 20,000 rows are 3.2 GB for each matrix.
pub const DENSE_ROWS: usize = 20_000;

/// Rows that are named, each with its fault.
pub(super) const SHOWN_ROWS: usize = 20;

pub(super) fn no_giants(
    table: &Table,
    found: &[usize],
    columns: &[Vec<f64>],
    problems: &mut Problems,
) {
    for (&at, column) in found.iter().zip(columns) {
        let giant = |value: f64| value.is_finite() && value.abs() > LARGEST;
        let giants = column.iter().enumerate().filter(|(_, v)| giant(**v));
        for (row, value) in giants.take(SHOWN_ROWS) {
            problems.push(
                Problem::new(format!("{value:e} is too large: its square is no number"))
                    .at(table.place(row, at))
                    .remedy("change the units of this column"),
            );
        }
    }
}

pub(super) fn no_zero_width(
    table: &Table,
    found: &[usize],
    places: &Places,
    problems: &mut Problems,
) {
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
                        .remedy("mend the edges (a band of the one age 0 reaches from 0 to 1, where the next begins), or use `aggregate = \"mean\"` or a point"),
                );
            }
        }
        column += dim.headers.len();
    }
}

/// Longitudes and latitudes must be some.
pub(super) fn only_degrees(
    table: &Table,
    found: &[usize],
    places: &Places,
    problems: &mut Problems,
) {
    let (Some((lon, lat)), Some(geographic)) = (places.pair(), &places.geographic) else {
        return;
    };
    let fits = |lon: f64, lat: f64| {
        check_degrees(lon, lat)?;
        let place = geographic.point(lon, lat);
        place.map_err(|error| (error.to_string(), 0)).map(|_| ())
    };
    let column = |dim: usize| -> usize { places.dims[..dim].iter().map(|d| d.headers.len()).sum() };
    let mut shown = 0;
    for row in 0..places.len() {
        let ((west, east), (south, north)) =
            (places.dims[lon].ends(row), places.dims[lat].ends(row));
        let wrong = fits(west, south).and_then(|()| fits(east, north));
        if let Err((fact, which)) = wrong
            && shown < SHOWN_ROWS
        {
            shown += 1;
            let at = found[column(if which == 0 { lon } else { lat })];
            problems.push(
                Problem::new(fact)
                    .at(table.place(row, at))
                    .remedy("regions of this study are in longitude and latitude, so its points and boxes must be too"),
            );
        }
    }
}

/// Two exact values of one place that differ by less than this part of the spread of all are one
/// value that was cut off.
const CUT_OFF: f64 = 1e-4;
/// Repeats that are named in the warning.
const NAMED_REPEATS: usize = 3;

/// Rows that report an exact value for the same place: repeats are left out, contradictions
/// refused. The rows to keep, when any are left out.
pub(super) fn repeated_exact(
    part: &Observed,
    gaussian: &Gaussian,
    column: usize,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) -> Option<Vec<bool>> {
    let Noise::Known(known) = gaussian.noise() else {
        return None;
    };
    let (table, places) = (&part.table, &part.places);
    let in_table = |row: usize| part.kept.get(row).copied().unwrap_or(row);
    let values = gaussian.values();
    let mut first: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut keep = vec![true; known.len()];
    let ends = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (v.min(low), v.max(high))
        });
    let mut off: f64 = 0.0;
    for row in (0..known.len()).filter(|&row| known[row] == 0.0) {
        let earlier = *first.entry(places.key(row)).or_insert(row);
        if earlier == row {
            continue;
        }
        keep[row] = false;
        let by = (values[earlier] - values[row]).abs();
        if by <= CUT_OFF * (ends.1 - ends.0) {
            off = off.max(by);
        } else if problems.0.len() < SHOWN_ROWS {
            problems.push(
                Problem::new(format!(
                    "this row says exactly {}, but {} says exactly {} for the same place",
                    values[row],
                    part.address(earlier),
                    values[earlier]
                ))
                .at(table.place(in_table(row), column))
                .remedy("keep one of them, or give them a noise variance above 0"),
            );
        }
    }
    let repeats = keep.iter().filter(|kept| !**kept).count();
    if repeats == 0 || !problems.0.is_empty() {
        return None;
    }
    let but = match off {
        0.0 => String::new(),
        by => format!("; values differ by up to {}", human(by)),
    };
    let mut named: Vec<String> = (0..known.len())
        .filter(|&row| !keep[row])
        .take(NAMED_REPEATS)
        .map(|row| {
            let of = first.get(&places.key(row)).map(|&of| part.address(of));
            format!("{} that of {}", part.address(row), of.unwrap_or_default())
        })
        .collect();
    if repeats > named.len() {
        named.push("..".to_owned());
    }
    warnings.push(format!(
        "{}: {} an earlier exact row and {} left out: {}{but}",
        table.name(),
        match repeats {
            1 => "1 row repeats".to_owned(),
            n => format!("{n} rows repeat"),
        },
        if repeats == 1 { "was" } else { "were" },
        named.join("; ")
    ));
    Some(keep)
}

/// Tells of rows that leave everything open; refuses a study of nothing else.
pub(super) fn open_rows(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    warnings: &mut Vec<String>,
) {
    let mut says = tables.is_empty();
    for table in tables {
        let rows = table.places.len();
        let open: Vec<usize> = (0..rows).filter(|row| table.says_nothing(*row)).collect();
        says |= open.len() < rows;
        if let Some(first) = open.first() {
            warnings.push(format!(
                "{}: {} of {rows} rows say nothing, the first at {}: they have no exposure or trials, or ends that leave everything open",
                table.table.name(),
                open.len(),
                table.address(*first)
            ));
        }
    }
    if !says {
        check.refuse(
            &study.observe[0].file.span,
            "no row says anything: all have no exposure or trials, or ends that leave everything open",
            "give exposures above 0, trials, or an end to the intervals",
        );
    }
}

pub(super) fn too_many_rows(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    let rows: usize = tables.iter().map(|t| t.places.len()).sum();
    if rows <= DENSE_ROWS
        || study.inference.method == Inference::Sparse
        || (tables.len() == 1
            && study.is_exact()
            && tables[0].places.dims.len() > 1
            && tables[0].places.pair().is_none()
            && tables[0].places.is_complete_grid())
    {
        return;
    }
    let mut keys: Vec<Vec<u64>> = tables
        .iter()
        .flat_map(|t| (0..t.places.len()).map(|row| t.places.key(row)))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    // Values of one place are better averaged; else inducing points take over.
    let are_averaged = study.is_exact() && keys.len() <= DENSE_ROWS;
    if study.inference.method == Inference::Auto && !are_averaged {
        return;
    }
    let message = format!(
        "{rows} rows are more than exact inference can hold in memory (at most {DENSE_ROWS})"
    );
    let remedy = if keys.len() <= DENSE_ROWS {
        format!(
            "they look at only {}: average the rows of each place and give the mean's variance (variance / count)",
            count(keys.len(), "different place")
        )
    } else {
        "use sparse inference (`method = \"sparse\"` in [inference]), or fewer or coarser bins"
            .to_owned()
    };
    let span = study
        .observe
        .first()
        .map_or(0..0, |observe| observe.file.span.clone());
    check.refuse(&span, message, remedy);
}

/// A prediction of rows of a table, one part for each of its outputs.
pub(super) fn asked(
    files: &Files<'_>,
    (study, of, predict): (&Study, usize, &Predict),
    (name, by): (&Spanned<String>, Option<&[Spanned<String>]>),
    tables: &[Observed],
) -> Vec<Asked> {
    let known: Vec<(&str, &str)> = study
        .observe
        .iter()
        .map(|observe| (observe.shown_name(), observe.file.value.as_str()))
        .collect();
    let Some(observe) = which(files.check, &known, name) else {
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
        let Some((places, groups)) = asked_places(files, predict, observed, by) else {
            return Vec::new();
        };
        let chances = Chances {
            above: predict.above.clone(),
            draws: predict.draws.as_ref().map_or(0, |draws| draws.value),
            ..Chances::default()
        };
        no_column_twice(files.check, predict, &places, &chances);
        parts.push(Asked {
            table: Some(table),
            rows: Some(RowsAsked {
                table: Some(table),
                at: (0..observed.places.len()).map(Ok).collect(),
                groups,
            }),
            ..Asked::of((study, of, predict), places, chances)
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
fn asked_places(
    files: &Files<'_>,
    predict: &Predict,
    observed: &Observed,
    by: Option<&[Spanned<String>]>,
) -> Option<(Places, Option<Vec<Vec<usize>>>)> {
    let keep = &predict.beside.keep;
    let names = by.unwrap_or(keep);
    let cells = columns(files.check, &observed.table, names, &observed.kept)?;
    let labels = |cells: Vec<Vec<String>>| -> Vec<Labels> {
        let headers = names.iter().map(|name| name.value.clone());
        headers
            .zip(cells)
            .map(|(header, cells)| Labels { header, cells })
            .collect()
    };
    if by.is_none() {
        let mut places = observed.places.clone();
        places.labels = labels(cells);
        return Some((places, None));
    }
    let groups = groups(&cells, observed.places.len());
    let first = |column: &Vec<String>| -> Vec<String> {
        groups.iter().map(|rows| column[rows[0]].clone()).collect()
    };
    let firsts = cells.iter().map(first).collect();
    let mut places = Places::named(groups.len(), labels(firsts));
    places.output.clone_from(&observed.places.output);
    Some((places, Some(groups)))
}
