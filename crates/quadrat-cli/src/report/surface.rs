//! A prediction over two dimensions, as maps.

use quadrat_plot::{Area, Axis, Figure, Ring, SurfaceFigure};
use quadrat_study::answer::Answer;
use quadrat_study::geographic::parts_of;
use quadrat_study::numbers::human;
use quadrat_study::outcome::Outcome;
use quadrat_study::places::Places;
use quadrat_study::resolve::{Asked, Observed};

use super::cells::{self, Cell};
use super::raster::{self, Raster};
use super::slices::{self, Slices};
use super::view::{Over, Shared};
use super::{captions, chances, inducing, marks, quantity, truth};
use crate::demo::Extras;

/// The figures, one for each slice.
pub fn figures(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    over: &Over,
    extras: Option<&Extras>,
) -> Vec<Figure> {
    let slices = over.slices.rows.iter().zip(&over.cells).enumerate();
    let figure = |(i, (rows, cells)): (usize, (&Vec<usize>, &Vec<Cell>))| {
        slice(outcome, asked, answer, (over, i), (rows, cells), extras)
    };
    slices.map(figure).collect()
}

/// The figure of a slice.
fn slice(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    (over, i): (&Over, usize),
    (rows, cells): (&[usize], &[Cell]),
    extras: Option<&Extras>,
) -> Figure {
    let places = &asked.places;
    let axes = [over.pair.0, over.pair.1];
    let dims = axes.map(|d| places.dims[d].name.as_str());
    let pixel = |(&row, &cell): (&usize, &Cell)| raster::pixel(places, answer, row, cell);
    let known = truth::of(asked, extras).map(|truth| truth::by_row(asked, truth));
    let reference = known.map_or_else(Vec::new, |known| {
        let both = rows.iter().zip(cells);
        both.filter_map(|(&row, &cell)| {
            let value = known[row]? / places.volume(row);
            Some(raster::area(cell, value, String::new()))
        })
        .collect()
    });
    let shared = Shared::of(places, rows, &axes);
    let tables = outcome.resolved.tables.iter();
    let tables = tables.filter(|table| marks::is_on_scale(outcome, asked, table));
    let observed = tables.flat_map(|table| match table.places.shapes {
        None => areas(table, dims, &shared, over.equal_scale),
        Some(_) => raster::observed(table, dims),
    });
    let others = (0..places.dims.len()).filter(|d| !axes.contains(d));
    let covariates = others.filter(|d| !over.slices.dims.contains(d));
    let covariates: Vec<usize> = covariates.filter(|&d| slices::varies(places, d)).collect();
    let figure = SurfaceFigure {
        heading: captions::heading(
            asked,
            &over.slices,
            i,
            &captions::covariates(asked, &covariates),
        ),
        observed: observed.collect(),
        predicted: rows.iter().zip(cells).map(pixel).collect(),
        reference,
        equal_scale: over.equal_scale,
        ..SurfaceFigure::default()
    };
    finished(outcome, asked, dims, figure, extras)
}

/// The figure of a prediction over bags whose points lie on a lattice in two dimensions, such as
/// pixels.
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
    let tables = outcome.resolved.tables.iter();
    let tables = tables.filter(|table| marks::is_on_scale(outcome, asked, table));
    let bags = tables.filter(|table| table.places.shapes.is_some());
    let observed = bags.flat_map(|table| raster::observed(table, [x, y]));
    Some(finished(
        outcome,
        asked,
        [x, y],
        SurfaceFigure {
            heading: captions::heading(asked, &Slices::one(places), 0, ""),
            observed: observed.collect(),
            predicted: raster.pixels(places, answer),
            reference,
            equal_scale: raster.equal_scale,
            ..SurfaceFigure::default()
        },
        extras,
    ))
}

/// A figure with its words and the inducing points.
fn finished(
    outcome: &Outcome,
    asked: &Asked,
    dims: [&str; 2],
    figure: SurfaceFigure,
    extras: Option<&Extras>,
) -> Figure {
    let map = outcome.resolved.geographic.as_ref();
    let marked = inducing::along(outcome, asked.places.output.as_deref(), &dims);
    let marked: Vec<[f64; 2]> = marked.iter().map(|place| [place[0], place[1]]).collect();
    Figure::Surface(SurfaceFigure {
        x: Axis::new(dims[0]),
        y: Axis::new(dims[1]),
        value: Axis::new(quantity(outcome, asked)),
        chances: chances::titles(asked),
        degrees: map.is_some_and(|map| map.dims == dims),
        borders: borders(outcome, dims),
        level: asked.level,
        reference_label: truth::of(asked, extras)
            .map_or("", |truth| truth.label)
            .to_owned(),
        marked_label: inducing::label(marked.len()),
        marked,
        ..figure
    })
}

/// The outlines of observed regions over two dimensions, in the coordinates of the files.
fn borders(outcome: &Outcome, dims: [&str; 2]) -> Vec<Ring> {
    let tables = outcome.resolved.tables.iter();
    let mut shapes = tables.filter_map(|table| table.places.shapes.as_ref());
    let regions = shapes.find_map(|shapes| shapes.regions().filter(|_| shapes.dims == dims));
    let polygons = regions
        .into_iter()
        .flat_map(|regions| regions.given.iter().flatten());
    polygons.flat_map(parts_of).flatten().collect()
}

/// The rows of a table that belong to a figure, as rectangles.
fn areas(table: &Observed, dims: [&str; 2], shared: &Shared<'_>, equal_scale: bool) -> Vec<Area> {
    let places: &Places = &table.places;
    let find = |name: &str| places.dims.iter().position(|dim| dim.name == name);
    let Some(pair) = find(dims[0]).zip(find(dims[1])) else {
        return Vec::new();
    };
    let rows = (0..places.len()).filter(|&row| shared.holds(table, row));
    let rows: Vec<usize> = rows.collect();
    // Rows over each other are drawn as they are: the list of them is the table itself.
    let cells =
        cells::of(places, &rows, pair).or_else(|| cells::dots(places, &rows, pair, equal_scale));
    let cells = cells.unwrap_or_else(|| cells::extents(places, &rows, pair));
    let name = table.says.value_name();
    let one = |(&row, cell): (&usize, Cell)| {
        let value = table.height(row)?;
        let label = format!("{name} {}", human(value * places.volume(row)));
        Some(raster::area(cell, value, label))
    };
    rows.iter().zip(cells).filter_map(one).collect()
}
