//! Places as the library's linear functionals, longitude and latitude projected.

use std::ops::Range;
use std::sync::Arc;

use quadrat::error::InputError;
use quadrat::support::{Aggregate as LibraryAggregate, Functional, Functionals, Region, Side};

use crate::places::Places;
use crate::shapes::{Bag, Kind};
use crate::study::support::Aggregate;

/// Some rows of places as functionals, over [`Places::inputs`].
pub fn functionals(places: &Places, rows: Range<usize>) -> Result<Functionals, InputError> {
    let mut functionals = Functionals::new(places.inputs());
    let aggregate = match places.aggregate {
        Some(Aggregate::Sum) => LibraryAggregate::Sum,
        _ => LibraryAggregate::Mean,
    };
    let order = places.order();
    for row in rows {
        let (mut sides, cell) = sides(places, &order, row)?;
        match places.shapes.as_ref().map(|shapes| (&shapes.kind, shapes)) {
            Some((Kind::Regions(regions), shapes)) => {
                let region = regions.regions[shapes.of_row[row]].clone();
                let region = region.ok_or(InputError::Unavailable {
                    what: "a row of a region without a geometry",
                    remedy: "give it one, or leave out the row",
                })?;
                let sides: Vec<Option<Side>> = [None, None].into_iter().chain(sides).collect();
                functionals.push_product(region, &sides, aggregate)?;
            }
            Some((Kind::Bags(bags), shapes)) => {
                let bag = &bags.bags[shapes.of_row[row]];
                let (points, weights) = nodes(bag, &beside(&sides), aggregate);
                functionals.push_nodes(&points, &weights)?;
            }
            None => match cell {
                Some(cell) => functionals.push_product(cell, &sides, aggregate)?,
                None if places.aggregate.is_none() => {
                    let at = sides.drain(..).flatten().map(|side| match side {
                        Side::Point(x) | Side::Interval(x, _) => x,
                    });
                    functionals.push_point(&at.collect::<Vec<f64>>())?;
                }
                None => functionals.push(&Functional::Box {
                    sides: sides.into_iter().flatten().collect(),
                    aggregate,
                })?,
            },
        }
    }
    Ok(functionals)
}

/// Every row by itself, bags as their points.
pub fn apart(places: &Places) -> Result<Functionals, InputError> {
    let Some((Kind::Bags(bags), shapes)) = places.shapes.as_ref().map(|s| (&s.kind, s)) else {
        return functionals(places, 0..places.len());
    };
    let mut functionals = Functionals::new(places.inputs());
    let order = places.order();
    for row in 0..places.len() {
        let (sides, _) = sides(places, &order, row)?;
        let bag = &bags.bags[shapes.of_row[row]];
        let (points, _) = nodes(bag, &beside(&sides), LibraryAggregate::Sum);
        for point in points {
            functionals.push_point(&point)?;
        }
    }
    Ok(functionals)
}

/// Rows that are bags, their weights times a factor for each.
pub fn scaled_bags(places: &Places, rows: &[(usize, f64)]) -> Result<Functionals, InputError> {
    let mut functionals = Functionals::new(places.inputs());
    let order = places.order();
    let aggregate = match places.aggregate {
        Some(Aggregate::Sum) => LibraryAggregate::Sum,
        _ => LibraryAggregate::Mean,
    };
    for &(row, factor) in rows {
        let Some((Kind::Bags(bags), shapes)) = places.shapes.as_ref().map(|s| (&s.kind, s)) else {
            continue;
        };
        let (sides, _) = sides(places, &order, row)?;
        let bag = &bags.bags[shapes.of_row[row]];
        let (points, mut weights) = nodes(bag, &beside(&sides), aggregate);
        weights.iter_mut().for_each(|weight| *weight *= factor);
        functionals.push_nodes(&points, &weights)?;
    }
    Ok(functionals)
}

/// Sides, and a box of longitude and latitude.
type Sides = (Vec<Option<Side>>, Option<Arc<Region>>);

/// The sides of a row along the given dimensions; a box of longitude and latitude comes apart, as
/// the region that it is on the map, and has no sides.
fn sides(places: &Places, order: &[usize], row: usize) -> Result<Sides, InputError> {
    let side = |&d: &usize| {
        let dim = &places.dims[d];
        Some(match dim.ends(row) {
            (x, _) if dim.second.is_none() => Side::Point(x),
            (from, to) => Side::Interval(from, to),
        })
    };
    let mut sides: Vec<Option<Side>> = order.iter().map(side).collect();
    let (Some(geographic), Some(_)) = (&places.geographic, places.pair()) else {
        return Ok((sides, None));
    };
    match (sides[0], sides[1]) {
        (Some(Side::Interval(west, east)), Some(Side::Interval(south, north))) => {
            let cell =
                geographic
                    .cell((west, east), (south, north))
                    .map_err(|_| InputError::Range {
                        what: "the area of the box in longitude and latitude".into(),
                        row,
                        value: 0.0,
                        requirement: "positive; give it a width in both",
                    })?;
            sides[0] = None;
            sides[1] = None;
            Ok((sides, Some(Arc::new(cell.into()))))
        }
        (Some(Side::Point(lon)), Some(Side::Point(lat))) => {
            let [x, y] = geographic.point(lon, lat).map_err(|_| InputError::Range {
                what: "the longitude".into(),
                row,
                value: lon,
                requirement: "within 90 degrees of the centre of the map",
            })?;
            sides[0] = Some(Side::Point(x));
            sides[1] = Some(Side::Point(y));
            Ok((sides, None))
        }
        // One of each is refused with the study.
        _ => Ok((sides, None)),
    }
}

/// The further coordinates of a bag.
fn beside(sides: &[Option<Side>]) -> Vec<f64> {
    let at = sides.iter().map(|side| match side {
        Some(Side::Point(x)) => *x,
        // A box beside a bag is refused with the study.
        _ => f64::NAN,
    });
    at.collect()
}

/// The points of a bag, each followed by the same further coordinates, and their weights, which
/// add to one for an average.
fn nodes(bag: &Bag, at: &[f64], aggregate: LibraryAggregate) -> (Vec<Vec<f64>>, Vec<f64>) {
    let points = bag.points.iter();
    let points = points.map(|point| [point.as_slice(), at].concat());
    let scale = match aggregate {
        LibraryAggregate::Sum => 1.0,
        LibraryAggregate::Mean => bag.total(),
    };
    let weights = bag.weights.iter().map(|weight| weight / scale);
    (points.collect(), weights.collect())
}
