//! What the rows of a table must keep to.

use std::collections::HashMap;

use super::degrees::degrees;
use super::{DENSE_ROWS, Observed};
use crate::diagnostic::{Problem, Problems};
use crate::numbers::count;
use crate::places::{Places, retain};
use crate::study::fields::Check;
use crate::study::support::Aggregate;
use crate::study::{Scale, Study};
use crate::table::Table;

const SHOWN_ROWS: usize = 20;

pub(super) fn no_negative(
    table: &Table,
    column: usize,
    variance: Option<&[f64]>,
    problems: &mut Problems,
) {
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

/// Numbers beyond this are refused: their squares, which every variance needs, do not fit.
const LARGEST: f64 = 1e150;

pub(super) fn no_giants(
    table: &Table,
    found: &[usize],
    columns: &[Vec<f64>],
    problems: &mut Problems,
) {
    for (&at, column) in found.iter().zip(columns) {
        let giants = column.iter().enumerate().filter(|(_, v)| v.abs() > LARGEST);
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
                        .remedy("mend the edges, or use `aggregate = \"mean\"` or a point"),
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
        degrees(lon, lat)?;
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

/// Rows that report an exact value for the same place: repeats are left out, contradictions refused.
pub(super) fn merge_exact(
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

/// A prediction of new observations needs one noise variance that holds for them.
pub(super) fn new_rows_have_noise(check: &Check<'_>, study: &Study, tables: &[Observed]) {
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

pub(super) fn too_many_rows(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    let rows: usize = tables.iter().map(|t| t.values.len()).sum();
    if rows <= DENSE_ROWS
        || (tables.len() == 1
            && tables[0].places.dims.len() > 1
            && tables[0].places.pair().is_none()
            && tables[0].places.is_complete_grid())
    {
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
            "they look at only {}: average the rows of each place and give the mean's variance (variance / count)",
            count(keys.len(), "different place")
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
