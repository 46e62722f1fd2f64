//! Places as the library's linear functionals, longitude and latitude projected.

use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;

use quadrat::error::InputError;
use quadrat::support::{
    Aggregate as LibraryAggregate, Columns, Functional, Functionals, Region, Side,
};

use crate::places::Places;
use crate::shapes::{Kind, Points, Shapes};
use crate::study::support::Aggregate;

/// Some rows of places as functionals, over [`Places::inputs`].
pub fn functionals(places: &Places, rows: Range<usize>) -> Result<Functionals, InputError> {
    if let Some((bags, shapes)) = bags(places) {
        return weighted(places, bags, shapes, rows.map(|row| (row, 1.0)));
    }
    let mut functionals = Functionals::new(places.inputs());
    let aggregate = aggregate(places);
    let order = places.order();
    for row in rows {
        let (mut sides, cell) = sides(places, &order, row)?;
        match places.shapes.as_ref().and_then(|s| Some((s.regions()?, s))) {
            Some((regions, shapes)) => {
                let region = regions.regions[shapes.of_row[row]].clone();
                let region = region.ok_or(InputError::Unavailable {
                    what: "a row of a region without a geometry",
                    remedy: "give it one, or leave out the row",
                })?;
                let sides: Vec<Option<Side>> = [None, None].into_iter().chain(sides).collect();
                functionals.push_product(region, &sides, aggregate)?;
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
    let Some((bags, shapes)) = bags(places) else {
        return functionals(places, 0..places.len());
    };
    let mut columns = Columns::default();
    let order = places.order();
    for row in 0..places.len() {
        let (sides, _) = sides(places, &order, row)?;
        gather(
            bags,
            bags.of(shapes.of_row[row]),
            &beside(&sides),
            &mut columns,
        );
    }
    together(places, columns)
}

/// Rows that are bags, their weights times a factor for each.
pub fn scaled_bags(places: &Places, rows: &[(usize, f64)]) -> Result<Functionals, InputError> {
    match bags(places) {
        Some((bags, shapes)) => weighted(places, bags, shapes, rows.iter().copied()),
        None => Ok(Functionals::new(places.inputs())),
    }
}

/// Rows that are bags, as the weighted points of each; weights add to one for an average.
fn weighted(
    places: &Places,
    bags: &Points,
    shapes: &Shapes,
    rows: impl Iterator<Item = (usize, f64)>,
) -> Result<Functionals, InputError> {
    let mut columns = Columns {
        offsets: vec![0],
        ..Columns::default()
    };
    let order = places.order();
    let aggregate = aggregate(places);
    for (row, factor) in rows {
        let (sides, _) = sides(places, &order, row)?;
        let bag = shapes.of_row[row];
        gather(bags, bags.of(bag), &beside(&sides), &mut columns);
        let scale = match aggregate {
            LibraryAggregate::Sum => 1.0,
            LibraryAggregate::Mean => bags.total(bag),
        };
        let weights = bags.weights[bags.of(bag)].iter();
        let scaled = weights.map(|weight| weight / scale * factor);
        columns.weight.extend(scaled);
        columns.offsets.push(columns.weight.len());
    }
    together(places, columns)
}

/// Functionals by columns, of which there is one for every input also where there are no rows.
fn together(places: &Places, mut columns: Columns) -> Result<Functionals, InputError> {
    let inputs = places.inputs();
    columns.lower.resize_with(inputs.len(), Vec::new);
    Functionals::from_columns(inputs, columns)
}

/// Adds the coordinates of points to columns, each point followed by the same further ones.
fn gather(bags: &Points, points: Range<usize>, at: &[f64], columns: &mut Columns) {
    let inputs = bags.coordinates.len() + at.len();
    columns.lower.resize_with(inputs, Vec::new);
    let (own, further) = columns.lower.split_at_mut(bags.coordinates.len());
    for (column, coordinate) in own.iter_mut().zip(&bags.coordinates) {
        column.extend_from_slice(&coordinate[points.clone()]);
    }
    for (column, x) in further.iter_mut().zip(at) {
        column.extend(repeat_n(*x, points.len()));
    }
}

/// The bags that rows look at, where they do.
fn bags(places: &Places) -> Option<(&Points, &Shapes)> {
    let shapes = places.shapes.as_ref()?;
    match &shapes.kind {
        Kind::Bags(bags) => Some((&bags.points, shapes)),
        Kind::Regions(_) => None,
    }
}

fn aggregate(places: &Places) -> LibraryAggregate {
    match places.aggregate {
        Some(Aggregate::Sum) => LibraryAggregate::Sum,
        _ => LibraryAggregate::Mean,
    }
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
