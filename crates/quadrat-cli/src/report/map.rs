//! Regions as choropleth maps.

use std::sync::Arc;

use quadrat_plot::{
    Axis, Figure, Heading, MapError, MapFigure, MapPanel, MapPrediction, MapRegion,
};
use quadrat_study::answer::Answer;
use quadrat_study::geo_file::key_text;
use quadrat_study::geographic::parts_of;
use quadrat_study::outcome::Outcome;
use quadrat_study::places::Places;
use quadrat_study::resolve::{Asked, Observed};
use quadrat_study::shapes::{Regions, Shapes};

use super::slices::{self, MOST, Slices};
use super::{captions, chances, quantity, truth};
use crate::demo::Extras;

/// Maps of a prediction over regions: observed, predicted, sd; one figure for each place along the
/// other dimensions where regions occur more than once. Or the words why there are none.
pub fn predicted(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    (shapes, regions): (&Shapes, &Arc<Regions>),
    extras: Option<&Extras>,
) -> Result<Vec<Figure>, String> {
    let slices = slices(&asked.places, shapes);
    if slices.rows.len() > MOST {
        return Err(slices::too_many(slices.rows.len()));
    }
    let truth = truth::of(asked, extras);
    let known = truth.map(|truth| (truth.label, truth::by_row(asked, truth)));
    let figure = |(i, rows): (usize, &Vec<usize>)| {
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
        let others = (0..asked.places.dims.len()).filter(|d| !slices.dims.contains(d));
        let covariates: Vec<usize> = others
            .filter(|&d| slices::varies(&asked.places, d))
            .collect();
        let words = captions::covariates(asked, &covariates) + on_map(outcome, shapes);
        let mut figure = MapFigure::prediction(
            captions::heading(asked, &slices, i, &words),
            &Axis::new(quantity(outcome, asked)),
            rows.iter()
                .map(|&row| region(shapes, regions, row))
                .collect(),
            &rows.iter().map(seen).collect::<Vec<_>>(),
            &rows.iter().map(guess).collect::<Vec<_>>(),
            asked.level,
        )?;
        if let Some((label, values)) = &known {
            let value = |&row: &usize| Some(values[row]? / asked.places.volume(row));
            figure = figure.with_reference(label, rows.iter().map(value).collect())?;
        }
        for (title, (_, column)) in chances::titles(asked).iter().zip(&answer.chances) {
            let values = rows.iter().map(|&row| Some(column[row]));
            figure = figure.with_chances(title, values.collect())?;
        }
        finished(outcome, shapes, figure)
    };
    let figures = slices.rows.iter().enumerate().map(figure);
    let figures: Result<Vec<Figure>, MapError> = figures.collect();
    figures.map_err(|error| format!("its regions make no map: {error}"))
}

/// A map of the first table over regions, when no prediction shows it. Or the words why there is
/// none.
pub fn observed(outcome: &Outcome) -> Option<Result<Figure, String>> {
    let shown = outcome
        .resolved
        .predictions
        .iter()
        .any(|asked| of(&asked.places).is_some());
    let mut tables = outcome.resolved.tables.iter().filter(|_| !shown);
    let (table, (shapes, regions)) = tables.find_map(|table| Some((table, of(&table.places)?)))?;
    let slices = slices(&table.places, shapes);
    let rows = slices.rows.first()?;
    let mut title = format!("Observed {}", table.says.value_name());
    if let (true, Some(&row)) = (slices.rows.len() > 1, rows.first()) {
        let at = slices::words(&table.places, &slices.dims, row);
        title.push_str(&format!(": {at}"));
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
    let figure = figure.and_then(|figure| finished(outcome, shapes, figure));
    Some(figure.map_err(|error| format!("its regions make no map: {error}")))
}

/// The regions of places.
pub fn of(places: &Places) -> Option<(&Shapes, &Arc<Regions>)> {
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

/// The map in degrees, where its coordinates are; else with a bar in their own unit.
fn finished(outcome: &Outcome, shapes: &Shapes, figure: MapFigure) -> Result<Figure, MapError> {
    if is_geographic(outcome, shapes) {
        return figure.geographic().map(Figure::Map);
    }
    let unit = format!("units of {}", shapes.dims.join(", "));
    Ok(Figure::Map(figure.with_unit(unit)))
}

fn slices(places: &Places, shapes: &Shapes) -> Slices {
    let keys: Vec<Vec<u64>> = shapes.of_row.iter().map(|&at| vec![at as u64]).collect();
    let others: Vec<usize> = (0..places.dims.len()).collect();
    slices::of(&keys, places, &others)
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
    let dims = |places: &Places| (0..places.dims.len()).collect::<Vec<_>>();
    let key = slices::key(places, &dims(places), row);
    let own = dims(&table.places);
    let is_there =
        |&at: &usize| shapes.of_row[at] == wanted && slices::key(&table.places, &own, at) == key;
    let found = (0..table.places.len()).find(is_there)?;
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
        regions.given[feature]
            .as_ref()
            .map_or_else(Vec::new, parts_of),
    )
}
