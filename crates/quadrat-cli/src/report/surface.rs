//! A prediction over two dimensions, as maps.

use quadrat_plot::{Area, Axis, Figure, Heading, SurfaceFigure};

use super::raster::{self, Raster};
use super::{inducing, marks, note, quantity, truth};
use crate::demo::Extras;
use crate::engine::Answer;
use crate::numbers::human;
use crate::outcome::Outcome;
use crate::places::{Along, Places};
use crate::resolve::{Asked, Observed};

/// How many half-widths of the mark of a point fit along an axis.
const DOTS: f64 = 80.0;

/// The figure, when the rows are cells or the points of a complete grid.
pub fn figure(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    (x, y): (usize, usize),
    extras: Option<&Extras>,
) -> Option<Figure> {
    let (across, up) = (&asked.places.dims[x], &asked.places.dims[y]);
    // More dimensions vary where a lattice in two was found.
    let varying = super::varying(asked).len();
    let scattered = varying == 2
        && across.second.is_none()
        && up.second.is_none()
        && !asked.places.is_complete_grid();
    if scattered || asked.places.len() == 0 {
        return None;
    }
    let (columns, rows) = (sides(across), sides(up));
    let pixel = |row: usize| {
        let ((x0, x1), (y0, y1)) = (columns[row], rows[row]);
        raster::pixel(&asked.places, answer, row, [x0, x1, y0, y1])
    };
    let dims = [across.name.as_str(), up.name.as_str()];
    let of_place = |row: usize, value: f64| {
        let ((x0, x1), (y0, y1)) = (columns[row], rows[row]);
        Area {
            x0,
            x1,
            y0,
            y1,
            value,
            label: String::new(),
        }
    };
    let reference = truth::of(asked, extras).map_or_else(Vec::new, |truth| {
        let known = truth::rows(asked, truth).into_iter();
        known
            .map(|(row, value)| of_place(row, value / asked.places.volume(row)))
            .collect()
    });
    // Degrees are nearer to alike than whatever stretches them over the page.
    let map = outcome.resolved.geographic.as_ref();
    let is_map = map.is_some_and(|map| dims.iter().all(|dim| map.dims.iter().any(|d| d == dim)));
    Some(finished(
        outcome,
        asked,
        dims,
        SurfaceFigure {
            predicted: (0..asked.places.len()).map(pixel).collect(),
            reference,
            equal_scale: is_map,
            ..SurfaceFigure::default()
        },
        extras,
    ))
}

/// The figure of a prediction over bags whose points lie on a lattice in two dimensions, such as pixels.
pub fn of_bags(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    extras: Option<&Extras>,
) -> Option<Figure> {
    let places = &asked.places;
    let raster = Raster::of(places, None)?;
    let known = truth::of(asked, extras).map(|truth| truth::by_row(asked, truth));
    let reference = known.map_or_else(Vec::new, |known| {
        raster.areas(|row| {
            let value = known[row]?;
            let name = quantity::of_rows(outcome, asked);
            Some((
                value / places.volume(row),
                format!("{name} {}", human(value)),
            ))
        })
    });
    let [x, y] = &raster.dims;
    Some(finished(
        outcome,
        asked,
        [x, y],
        SurfaceFigure {
            predicted: raster.pixels(places, answer),
            reference,
            equal_scale: raster.equal_scale,
            ..SurfaceFigure::default()
        },
        extras,
    ))
}

/// A figure with its words, what was observed, and the inducing points.
fn finished(
    outcome: &Outcome,
    asked: &Asked,
    dims: [&str; 2],
    figure: SurfaceFigure,
    extras: Option<&Extras>,
) -> Figure {
    let tables = outcome.resolved.tables.iter();
    let tables = tables.filter(|table| marks::is_on_scale(outcome, asked, table));
    let observed = tables.flat_map(|table| {
        let alone = asked.places.shapes.is_none() && asked.places.dims.len() == 2;
        let areas = match table.places.shapes {
            None if alone => areas(table, dims[0], dims[1]),
            None => Vec::new(),
            Some(_) => raster::observed(table, dims),
        };
        areas.into_iter()
    });
    let marked = inducing::along(outcome, asked.places.output.as_deref(), &dims);
    let marked: Vec<[f64; 2]> = marked.iter().map(|place| [place[0], place[1]]).collect();
    Figure::Surface(SurfaceFigure {
        heading: Heading::new(asked.id.as_str(), asked.title())
            .with_caption(format!("{}.", note(asked))),
        x: Axis::new(dims[0]),
        y: Axis::new(dims[1]),
        value: Axis::new(quantity(outcome, asked)),
        observed: observed.collect(),
        level: asked.level,
        reference_label: truth::of(asked, extras)
            .map_or("", |truth| truth.label)
            .to_owned(),
        marked_label: inducing::label(marked.len()),
        marked,
        ..figure
    })
}

/// Both sides of every row's cell; a point gets the halves of the gaps to its neighbours.
fn sides(dim: &Along) -> Vec<(f64, f64)> {
    if dim.second.is_some() {
        return (0..dim.first.len()).map(|row| dim.ends(row)).collect();
    }
    let mut places = dim.first.clone();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let side = |x: &f64| {
        let at = places.partition_point(|place| place < x);
        let below = at.checked_sub(1).map(|i| x - places[i]);
        let above = places.get(at + 1).map(|next| next - x);
        let (Some(low), Some(high)) = (below.or(above), above.or(below)) else {
            return (x - 0.5, x + 0.5);
        };
        (x - low / 2.0, x + high / 2.0)
    };
    dim.first.iter().map(side).collect()
}

/// Both sides of a mark of one size for every row.
fn dots(dim: &Along) -> Vec<(f64, f64)> {
    let ends = dim
        .first
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
            (low.min(x), high.max(x))
        });
    let half = ((ends.1 - ends.0) / DOTS).max(f64::MIN_POSITIVE);
    dim.first.iter().map(|x| (x - half, x + half)).collect()
}

/// The rows of a table as rectangles.
fn areas(table: &Observed, across: &str, up: &str) -> Vec<Area> {
    let places: &Places = &table.places;
    let (Some(across), Some(up)) = (places.dim(across), places.dim(up)) else {
        return Vec::new();
    };
    let (mut columns, mut rows) = (sides(across), sides(up));
    let is_scattered = across.second.is_none() && up.second.is_none();
    if is_scattered && !places.is_complete_grid() {
        // Their gaps along one axis say nothing about how far apart they are.
        (columns, rows) = (dots(across), dots(up));
    }
    let name = table.says.value_name();
    let area = |row: usize| {
        let ((x0, x1), (y0, y1)) = (columns[row], rows[row]);
        let value = table.height(row)?;
        Some(Area {
            x0,
            x1,
            y0,
            y1,
            value,
            label: format!("{name} {}", human(value * places.volume(row))),
        })
    };
    (0..places.len()).filter_map(area).collect()
}
