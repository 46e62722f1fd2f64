//! A prediction over two dimensions, as maps.

use quadrat_plot::{Area, Axis, Figure, Heading, Pixel, SurfaceFigure};

use super::{marks, note, quantity};
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
) -> Option<Figure> {
    let (across, up) = (&asked.places.dims[x], &asked.places.dims[y]);
    let scattered =
        across.second.is_none() && up.second.is_none() && !asked.places.is_complete_grid();
    if scattered || asked.places.len() == 0 {
        return None;
    }
    let (columns, rows) = (sides(across), sides(up));
    let pixel = |row: usize| {
        let scale = asked.places.volume(row);
        let ((x0, x1), (y0, y1)) = (columns[row], rows[row]);
        Pixel {
            x0,
            x1,
            y0,
            y1,
            mean: answer.mean[row] / scale,
            sd: answer.sd[row] / scale,
            lower: answer.lower[row] / scale,
            upper: answer.upper[row] / scale,
        }
    };
    let alone = asked.places.dims.len() == 2;
    let observed = if alone {
        outcome
            .resolved
            .tables
            .iter()
            .filter(|table| marks::is_on_scale(outcome, asked, table))
            .flat_map(|table| areas(table, &across.name, &up.name))
            .collect()
    } else {
        Vec::new()
    };
    // Degrees are nearer to alike than whatever stretches them over the page.
    let map = outcome
        .resolved
        .geographic
        .as_ref()
        .is_some_and(|map| map.dims.contains(&across.name) && map.dims.contains(&up.name));
    Some(Figure::Surface(SurfaceFigure {
        heading: Heading::new(asked.id.as_str(), asked.title())
            .with_caption(format!("{}.", note(asked))),
        x: Axis::new(across.name.clone()),
        y: Axis::new(up.name.clone()),
        value: Axis::new(quantity(outcome, asked)),
        observed,
        predicted: (0..asked.places.len()).map(pixel).collect(),
        level: asked.level,
        equal_scale: map,
    }))
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
