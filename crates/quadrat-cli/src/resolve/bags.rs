//! Rows of a table joined to bags of weighted points.

use std::collections::HashMap;
use std::sync::Arc;

use super::degrees::degrees;
use super::files::Files;
use super::fill::fill;
use super::join::{Joined, canonical, join, unused};
use super::read::find;
use super::rows::no_giants;
use crate::diagnostic::{Problem, Problems, shown};
use crate::shapes::{Bag, Bags, Kind, Shapes};
use crate::study::fields::Spanned;
use crate::study::shape::BagKeys;
use crate::table::{BadCells, Reading, Table};

/// How many problems of one kind are listed.
const LISTED: usize = 20;

/// The bags of the rows of a table, or every bag when there is no table.
pub fn bags(
    files: &Files<'_>,
    keys: &BagKeys,
    table: Option<&Table>,
    observed: bool,
) -> Option<Shapes> {
    let points = files.table(&keys.file)?;
    let (names, bags) = read(files, &points, keys, observed)?;
    let (rows, of_row) = match table {
        None => (names.clone(), (0..names.len()).collect()),
        Some(table) => {
            let joined = join(files, table, &keys.key, &names, "bag", points.name())?;
            if observed {
                unused(
                    files,
                    &names,
                    &joined.of_row,
                    "bag",
                    points.name(),
                    table.name(),
                );
            }
            let Joined { rows, of_row } = joined;
            (rows, of_row)
        }
    };
    Some(Shapes {
        dims: keys.dims.iter().map(|dim| dim.value.clone()).collect(),
        header: keys.key.value.clone(),
        keys: rows,
        of_row,
        kind: Kind::Bags(Arc::new(Bags {
            name: points.name().to_owned(),
            weight: keys.weight.as_ref().map(|weight| weight.value.clone()),
            bags,
        })),
    })
}

/// All bags of a table of points, in order of first appearance.
fn read(
    files: &Files<'_>,
    points: &Table,
    keys: &BagKeys,
    observed: bool,
) -> Option<(Vec<String>, Vec<Bag>)> {
    let check = files.check;
    let wanted: Vec<&Spanned<String>> = keys.dims.iter().chain(&keys.weight).collect();
    let found = find(check, points, &wanted);
    let key = find(check, points, &[&keys.key]);
    let (found, key) = (found?, key?[0]);
    let of_point = points.keys(key).map_err(|problems| check.extend(problems));
    let pair = files.geographic.as_ref().and_then(|geographic| {
        let at = |name: &String| keys.dims.iter().position(|dim| &dim.value == name);
        Some((
            geographic,
            at(&geographic.dims[0])?,
            at(&geographic.dims[1])?,
        ))
    });
    // Places on the globe and weights have no mean to be taken as.
    let may_miss = |i: usize| {
        let is_place = pair.is_some_and(|(_, lon, lat)| i == lon || i == lat);
        keys.fills && i < keys.dims.len() && !is_place
    };
    let columns = columns(points, &found, may_miss)
        .map_err(|problems| check.extend(problems))
        .ok()?;
    let of_point = of_point.ok()?;
    let mut problems = Problems::default();
    no_giants(points, &found, &columns, &mut problems);
    let (coordinates, weights) = columns.split_at(keys.dims.len());
    let weight = |row: usize| weights.first().map_or(1.0, |weights| weights[row]);
    let weight_column = found.last().copied().unwrap_or(0);
    let mut bad = BadCells::default();
    for row in (0..of_point.len()).filter(|&row| weight(row) < 0.0) {
        let problem = Problem::new(format!(
            "the weight is {}; it cannot be negative",
            weight(row)
        ))
        .remedy("mend it, or delete the row if the point does not count");
        bad.add(Some(weight_column), problem, || {
            points.place(row, weight_column)
        });
    }
    if let Err(found) = bad.or(points.name(), points.headers(), ()) {
        problems.0.extend(found.0);
    }
    let mut names: Vec<String> = Vec::new();
    let mut bags: Vec<Bag> = Vec::new();
    let mut first_rows = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (row, name) in of_point.into_iter().enumerate() {
        let mut point: Vec<f64> = coordinates.iter().map(|column| column[row]).collect();
        if let Some((geographic, lon, lat)) = pair {
            let place = degrees(point[lon], point[lat]).and_then(|()| {
                let place = geographic.point(point[lon], point[lat]);
                place.map_err(|error| (error.to_string(), 0))
            });
            if let Err((fact, which)) = &place {
                if problems.0.len() < LISTED {
                    let column = found[if *which == 0 { lon } else { lat }];
                    problems.push(
                        Problem::new(fact.clone())
                            .at(points.place(row, column))
                            .remedy("regions of this study are in longitude and latitude, so its bags must be too"),
                    );
                }
                continue;
            }
            if let Ok([x, y]) = place {
                (point[lon], point[lat]) = (x, y);
            }
        }
        let bag = *known.entry(canonical(&name).to_owned()).or_insert_with(|| {
            names.push(name);
            bags.push(Bag::default());
            first_rows.push(row);
            bags.len() - 1
        });
        bags[bag].points.push(point);
        bags[bag].weights.push(weight(row));
    }
    for ((bag, name), &row) in bags.iter().zip(&names).zip(&first_rows) {
        if bag.total() == 0.0 && !keys.skips && problems.0.len() < LISTED {
            problems.push(
                Problem::new(format!(
                    "the weights of the bag `{}` are all zero",
                    shown(name)
                ))
                .at(points.place(row, weight_column))
                .remedy(
                    "give a point of the bag a positive weight, or let `empty = \"skip\"` in `bag` leave out such bags and their rows",
                ),
            );
        }
    }
    if keys.skips && observed && bags.iter().all(|bag| bag.total() != 0.0) {
        files.warn(format!(
            "{}: no bag is without weight, so that `empty` leaves none out",
            points.name()
        ));
    }
    if keys.fills {
        let dims: Vec<&str> = keys.dims.iter().map(|dim| dim.value.as_str()).collect();
        match fill(&mut bags, &dims, &names, points.name()) {
            Ok(told) => told.into_iter().for_each(|sentence| files.warn(sentence)),
            Err(problem) => problems.push(problem.at(check.source.place(&keys.span))),
        }
    }
    problems
        .or((names, bags))
        .map_err(|problems| check.extend(problems))
        .ok()
}

/// The columns of coordinates and weights, as numbers; NaN for those that are missing where they
/// may be.
fn columns(
    points: &Table,
    found: &[usize],
    may_miss: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<f64>>, Problems> {
    if !(0..found.len()).any(&may_miss) {
        return points.numbers(found);
    }
    let reading = |i: usize| match may_miss(i) {
        true => Reading::NumberOrMissing,
        false => Reading::Number,
    };
    let wanted: Vec<(usize, Reading)> = found
        .iter()
        .enumerate()
        .map(|(i, &at)| (at, reading(i)))
        .collect();
    let columns = points.cells(&wanted)?;
    let lower = |cells: Vec<(f64, f64)>| cells.into_iter().map(|(lower, _)| lower).collect();
    Ok(columns.into_iter().map(lower).collect())
}
