//! Rows of a table joined to bags of weighted points.

use std::collections::HashMap;
use std::sync::Arc;

use super::columns::{find, names, read_labels};
use super::files::Files;
use super::fill::fill;
use super::join::{Joined, canonical, join, unused};
use super::rows::no_giants;
use crate::diagnostic::{Problem, Problems, shown};
use crate::geographic::{Geographic, check_degrees};
use crate::shapes::{Bags, Kind, Points, Shapes};
use crate::study::fields::Spanned;
use crate::study::shape::BagKeys;
use crate::table::{BadCell, BadCells, Reading, Table};

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
    let (names, of_bags) = read(files, &points, keys, observed)?;
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
            points: of_bags,
        })),
    })
}

/// All bags of a table of points, in order of first appearance.
fn read(
    files: &Files<'_>,
    points: &Table,
    keys: &BagKeys,
    observed: bool,
) -> Option<(Vec<String>, Points)> {
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
    let is_label = |i: usize| {
        let dim = keys.dims.get(i);
        dim.is_some_and(|dim| files.codes.borrow().holds(&dim.value))
    };
    // Places on the globe, labels and weights have no mean to be taken as.
    let may_miss = |i: usize| {
        let is_place = pair.is_some_and(|(_, lon, lat)| i == lon || i == lat);
        keys.fills && i < keys.dims.len() && !is_place && !is_label(i)
    };
    let numbers: Vec<usize> = (0..found.len()).filter(|&i| !is_label(i)).collect();
    let own: Vec<usize> = numbers.iter().map(|&i| found[i]).collect();
    let read = columns(points, &own, |k| may_miss(numbers[k]));
    let refuse = |problems: Problems| match own.iter().find_map(|&at| names(points, at)) {
        Some(problem) => check.add(problem),
        None => check.extend(problems),
    };
    let mut read = read.map_err(refuse).ok()?.into_iter();
    let each = (0..found.len()).map(|i| match is_label(i) {
        true => read_labels(files.reader(), points, found[i]),
        false => read.next(),
    });
    let mut columns = each.collect::<Option<Vec<_>>>()?;
    let of_point = of_point.ok()?;
    let mut problems = Problems::default();
    no_giants(points, &found, &columns, &mut problems);
    let weights = match keys.weight {
        Some(_) => columns.pop().unwrap_or_default(),
        None => vec![1.0; of_point.len()],
    };
    let weight_column = found.last().copied().unwrap_or(0);
    no_negatives(points, weight_column, &weights, &mut problems);
    if let Some((geographic, lon, lat)) = pair {
        project(
            points,
            geographic,
            (&found, [lon, lat]),
            &mut columns,
            &mut problems,
        );
    }
    let Grouped {
        names,
        first_rows,
        points: mut bags,
    } = Grouped::by_key(of_point, columns, weights);
    let is_empty = |bag: usize| bags.total(bag) == 0.0;
    for (bag, (name, &row)) in names.iter().zip(&first_rows).enumerate() {
        if is_empty(bag) && !keys.skips && problems.0.len() < LISTED {
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
    if keys.skips && observed && !(0..names.len()).any(is_empty) {
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

/// Turns longitudes and latitudes, in two of the columns, into coordinates of the map.
fn project(
    points: &Table,
    geographic: &Geographic,
    (found, [lon, lat]): (&[usize], [usize; 2]),
    columns: &mut [Vec<f64>],
    problems: &mut Problems,
) {
    for row in 0..columns[lon].len() {
        let (east, north) = (columns[lon][row], columns[lat][row]);
        let place = check_degrees(east, north).and_then(|()| {
            let place = geographic.point(east, north);
            place.map_err(|error| (error.to_string(), 0))
        });
        match place {
            Ok([x, y]) => (columns[lon][row], columns[lat][row]) = (x, y),
            Err((fact, which)) if problems.0.len() < LISTED => {
                let column = found[if which == 0 { lon } else { lat }];
                let remedy =
                    "regions of this study are in longitude and latitude, so its bags must be too";
                let problem = Problem::new(fact).at(points.place(row, column));
                problems.push(problem.remedy(remedy));
            }
            Err(_) => {}
        }
    }
}

/// Lists the rows whose weight is negative.
fn no_negatives(points: &Table, column: usize, weights: &[f64], problems: &mut Problems) {
    let mut bad = BadCells::default();
    for (row, weight) in weights.iter().enumerate().filter(|(_, w)| **w < 0.0) {
        let cell = BadCell {
            fact: format!("the weight is {weight}; it cannot be negative"),
            remedy: "mend it, or delete the row if the point does not count",
        };
        bad.add(Some(column), cell, || points.place(row, column));
    }
    if let Err(found) = bad.or(points.name(), points.headers(), ()) {
        problems.0.extend(found.0);
    }
}

/// Points of a table, one bag after the other.
struct Grouped {
    /// Of the bags, in order of first appearance.
    names: Vec<String>,
    /// The row where each bag appears first.
    first_rows: Vec<usize>,
    points: Points,
}

impl Grouped {
    /// Points that have a key in common together, in the order of the file; columns of a file in
    /// the order of its bags are taken as they are.
    fn by_key(keys: Vec<String>, mut coordinates: Vec<Vec<f64>>, mut weights: Vec<f64>) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let (mut names, mut first_rows, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut of_row: Vec<usize> = Vec::with_capacity(keys.len());
        for (row, name) in keys.into_iter().enumerate() {
            let bag = match known.get(canonical(&name)) {
                Some(&bag) => bag,
                None => {
                    known.insert(canonical(&name).to_owned(), names.len());
                    names.push(name);
                    first_rows.push(row);
                    counts.push(0);
                    names.len() - 1
                }
            };
            counts[bag] += 1;
            of_row.push(bag);
        }
        let ends = counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        let offsets: Vec<usize> = [0].into_iter().chain(ends).collect();
        if !of_row.is_sorted() {
            let mut next = offsets.clone();
            let mut place = |bag: usize| {
                next[bag] += 1;
                next[bag] - 1
            };
            let to: Vec<usize> = of_row.into_iter().map(&mut place).collect();
            for column in coordinates.iter_mut().chain([&mut weights]) {
                let mut sorted = vec![0.0; column.len()];
                to.iter().zip(&*column).for_each(|(&to, x)| sorted[to] = *x);
                *column = sorted;
            }
        }
        Self {
            names,
            first_rows,
            points: Points {
                coordinates,
                weights,
                offsets,
            },
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_key_stand_together_in_the_order_of_the_file() {
        let group = |keys: [&str; 5]| {
            let keys = keys.map(str::to_owned).to_vec();
            let xs = vec![vec![0.0, 1.0, 2.0, 3.0, 4.0]];
            Grouped::by_key(keys, xs, vec![5.0, 6.0, 7.0, 8.0, 9.0])
        };
        let mixed = group(["b", "a", "b", "c", "a"]);
        assert_eq!(mixed.names, ["b", "a", "c"]);
        assert_eq!(mixed.first_rows, [0, 1, 3]);
        assert_eq!(mixed.points.offsets, [0, 2, 4, 5]);
        assert_eq!(mixed.points.coordinates, [[0.0, 2.0, 1.0, 4.0, 3.0]]);
        assert_eq!(mixed.points.weights, [5.0, 7.0, 6.0, 9.0, 8.0]);
        let sorted = group(["b", "b", "a", "c", "c"]);
        assert_eq!(sorted.points.offsets, [0, 2, 3, 5]);
        assert_eq!(sorted.points.coordinates, [[0.0, 1.0, 2.0, 3.0, 4.0]]);
    }
}
