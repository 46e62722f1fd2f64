//! Regions as choropleth maps.

use std::sync::Arc;

use quadrat_plot::{Axis, Figure, Heading, MapFigure, MapPanel, MapPrediction, MapRegion};

use super::{note, quantity, truth};
use crate::demo::Extras;
use crate::engine::Answer;
use crate::geo_file::key_text;
use crate::geographic::parts_of;
use crate::numbers::human;
use crate::outcome::Outcome;
use crate::places::Places;
use crate::resolve::{Asked, Observed};
use crate::shapes::{Regions, Shapes};

/// The most maps of one prediction: one per place along the other dimensions.
const MOST: usize = 6;

/// Maps of a prediction over regions: observed, predicted, sd; one figure for each place along the
/// other dimensions, when these are few.
pub fn predicted(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    extras: Option<&Extras>,
) -> Vec<Figure> {
    let Some((shapes, regions)) = of(&asked.places) else {
        return Vec::new();
    };
    let slices = slices(&asked.places);
    if slices.len() > MOST {
        return Vec::new();
    }
    let several = slices.len() > 1;
    let truth = truth::of(asked, extras);
    let known = truth.map(|truth| (truth.label, truth::by_row(asked, truth)));
    let figure = |(i, rows): (usize, &Vec<usize>)| {
        let mut heading = Heading::new(asked.id.as_str(), asked.title());
        if let (true, Some(&row)) = (several, rows.first()) {
            let at = words(&asked.places, row);
            heading = Heading::new(
                format!("{}-{}", asked.id, i + 1),
                format!("{}: {at}", asked.title()),
            );
        }
        let seen = |&row: &usize| {
            let output = asked.places.output.as_deref();
            let mut tables = outcome.resolved.tables_of(output);
            tables.find_map(|table| observed_at(table, regions, &asked.places, row))
        };
        let guess = |&row: &usize| {
            let scale = asked.places.volume(row);
            Some(MapPrediction {
                mean: answer.mean[row] / scale,
                sd: answer.sd[row] / scale,
                lower: answer.lower[row] / scale,
                upper: answer.upper[row] / scale,
            })
        };
        let figure = MapFigure::prediction(
            heading.with_caption(format!("{}.{}", note(asked), on_map(outcome, shapes))),
            &Axis::new(quantity(outcome, asked)),
            rows.iter()
                .map(|&row| region(shapes, regions, row))
                .collect(),
            &rows.iter().map(seen).collect::<Vec<_>>(),
            &rows.iter().map(guess).collect::<Vec<_>>(),
            asked.level,
        );
        let figure = match &known {
            Some((label, values)) => {
                let value = |&row: &usize| Some(values[row]? / asked.places.volume(row));
                figure.and_then(|map| map.with_reference(label, rows.iter().map(value).collect()))
            }
            None => figure,
        };
        finished(outcome, shapes, figure)
    };
    slices.iter().enumerate().filter_map(figure).collect()
}

/// A map of the first table over regions, when no prediction shows it.
pub fn observed(outcome: &Outcome) -> Option<Figure> {
    let shown = outcome
        .resolved
        .predictions
        .iter()
        .any(|asked| of(&asked.places).is_some());
    let mut tables = outcome.resolved.tables.iter().filter(|_| !shown);
    let (table, (shapes, regions)) = tables.find_map(|table| Some((table, of(&table.places)?)))?;
    let rows = slices(&table.places).into_iter().next()?;
    let mut title = format!("Observed {}", table.says.value_name());
    if !table.places.dims.is_empty() {
        title.push_str(&format!(": {}", words(&table.places, *rows.first()?)));
    }
    let figure = MapFigure::new(
        Heading::new("observed-regions", title)
            .with_caption(on_map(outcome, shapes).trim_start().to_owned()),
        rows.iter()
            .map(|&row| region(shapes, regions, row))
            .collect(),
        vec![MapPanel {
            title: "Observed".to_owned(),
            value: Axis::new(quantity::of_values(outcome, table.places.output.as_deref())),
            values: rows.iter().map(|&row| table.height(row)).collect(),
            ..MapPanel::default()
        }],
    );
    finished(outcome, shapes, figure)
}

fn of(places: &Places) -> Option<(&Shapes, &Arc<Regions>)> {
    let shapes = places.shapes.as_ref()?;
    Some((shapes, shapes.regions()?))
}

fn is_geographic(outcome: &Outcome, shapes: &Shapes) -> bool {
    let geographic = outcome.resolved.geographic.as_ref();
    geographic.is_some_and(|geographic| geographic.dims[..] == shapes.dims)
}

fn on_map(outcome: &Outcome, shapes: &Shapes) -> &'static str {
    if is_geographic(outcome, shapes) {
        " Drawn in longitude and latitude, degrees of longitude shortened by the cosine of the middle latitude."
    } else {
        " Drawn in the coordinates of the file."
    }
}

/// Maps that cannot be drawn are left out: the tables hold everything.
fn finished<E>(outcome: &Outcome, shapes: &Shapes, figure: Result<MapFigure, E>) -> Option<Figure> {
    let figure = figure.ok()?;
    if is_geographic(outcome, shapes) {
        return figure.geographic().ok().map(Figure::Map);
    }
    Some(Figure::Map(figure))
}

/// Rows that agree along all other dimensions, in order of first appearance.
fn slices(places: &Places) -> Vec<Vec<usize>> {
    let mut keys: Vec<Vec<(u64, u64)>> = Vec::new();
    let mut slices: Vec<Vec<usize>> = Vec::new();
    for row in 0..places.len() {
        let key = along(places, row);
        match keys.iter().position(|known| *known == key) {
            Some(at) => slices[at].push(row),
            None if keys.len() > MOST => {}
            None => {
                keys.push(key);
                slices.push(vec![row]);
            }
        }
    }
    slices
}

fn along(places: &Places, row: usize) -> Vec<(u64, u64)> {
    let bits = |(lower, upper): (f64, f64)| ((lower + 0.0).to_bits(), (upper + 0.0).to_bits());
    places.dims.iter().map(|dim| bits(dim.ends(row))).collect()
}

/// The place of a row along the other dimensions, in words.
fn words(places: &Places, row: usize) -> String {
    let part = |dim: &crate::places::Along| match dim.ends(row) {
        (lower, upper) if lower == upper => format!("{} {}", dim.name, human(lower)),
        (lower, upper) => format!("{} {} to {}", dim.name, human(lower), human(upper)),
    };
    let parts: Vec<String> = places.dims.iter().map(part).collect();
    parts.join(", ")
}

/// What a table says, per unit of volume for totals, of the region and place of a predicted row.
fn observed_at(
    table: &Observed,
    regions: &Arc<Regions>,
    places: &Places,
    row: usize,
) -> Option<f64> {
    let (shapes, known) = of(&table.places)?;
    let wanted = places.shapes.as_ref()?.of_row[row];
    if !Arc::ptr_eq(&known.file, &regions.file) {
        return None;
    }
    let key = along(places, row);
    let found = (0..table.places.len())
        .find(|&at| shapes.of_row[at] == wanted && along(&table.places, at) == key)?;
    table.height(found)
}

/// A region in the coordinates of the file, with the name that people know it by.
fn region(shapes: &Shapes, regions: &Regions, row: usize) -> MapRegion {
    let feature = shapes.of_row[row];
    let names = regions.file.properties.iter();
    let name = names
        .filter(|name| name.to_lowercase().ends_with("name"))
        .find_map(|name| regions.file.property(feature, name));
    let label = name.map_or_else(String::new, |name| key_text(&name));
    MapRegion::new(
        shapes.keys[row].clone(),
        label,
        parts_of(&regions.given[feature]),
    )
}
