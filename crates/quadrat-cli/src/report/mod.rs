//! Results as a report and figures.

mod calibration;
mod correlation;
mod curve;
mod fitted;
mod forest;
mod inducing;
mod map;
mod marks;
mod quantity;
mod raster;
mod relevance;
mod surface;
mod truth;

use std::path::Path;

use anyhow::Result;
use quadrat_plot::{Cell, Evidence, Fact, Figure, HyperRow, Report, TablePreview};

use crate::demo::Extras;
use crate::engine::Answer;
use crate::numbers::{coordinate, count, percent};
use crate::outcome::Outcome;
use crate::output::Staged;
use crate::places::Places;
use crate::resolve::Asked;
use crate::study::Scale;
use crate::study::support::Aggregate;
use crate::{prediction_csv, terminal, words};
use quantity::quantity;

/// Rows of each prediction table that the report shows.
const PREVIEW: usize = 12;
/// Pixels per unit of a figure in a PNG; sharp in print.
const PNG_SCALE: f64 = 2.0;

/// Writes `report.html`, and each figure as SVG and PNG.
pub fn stage(
    outcome: &Outcome,
    extras: Option<&Extras>,
    folder: &Path,
    staged: &mut Staged,
) -> Result<()> {
    let report = report(outcome, extras)?;
    staged.bytes(
        &folder.join("report.html"),
        quadrat_plot::html(&report).as_bytes(),
    )?;
    let calibration = report.calibration.clone().map(Figure::Calibration);
    for figure in report.figures.iter().chain(&calibration) {
        staged.bytes(
            &folder.join(format!("{}.svg", figure.id())),
            quadrat_plot::svg(figure).as_bytes(),
        )?;
        staged.bytes(
            &folder.join(format!("{}.png", figure.id())),
            &quadrat_plot::png(figure, PNG_SCALE)?,
        )?;
    }
    Ok(())
}

fn report(outcome: &Outcome, extras: Option<&Extras>) -> Result<Report> {
    let study = &outcome.resolved.study;
    Ok(Report {
        title: study.title.clone(),
        generated_by: format!("quadrat {}", crate::VERSION),
        summary: summary(outcome),
        facts: facts(outcome, extras),
        warnings: outcome.warnings.clone(),
        figures: map::observed(outcome)
            .into_iter()
            .chain(
                outcome
                    .groups()
                    .iter()
                    .flat_map(|group| figures(outcome, group, extras)),
            )
            .chain(correlation::figure(outcome))
            .chain(correlation::matrices(outcome))
            .chain(fitted::figures(outcome)?)
            .chain(relevance::figure(outcome))
            .collect(),
        calibration: calibration::figure(outcome),
        hyperparameters: hyperparameters(outcome),
        evidence: Some(evidence(outcome)),
        predictions: outcome
            .predictions()
            .map(|(asked, answer)| preview(asked, answer))
            .collect(),
        study: study.source.text.to_string(),
        notes: extras
            .map(|extras| extras.notes.iter().map(|&note| note.to_owned()).collect())
            .unwrap_or_default(),
    })
}

/// The figures of a prediction: maps of regions, else one figure.
fn figures(outcome: &Outcome, group: &[(&Asked, &Answer)], extras: Option<&Extras>) -> Vec<Figure> {
    if let Some(x) = group.first().and_then(|(asked, _)| one_dimension(asked)) {
        return curve::figure(outcome, group, x, extras)
            .into_iter()
            .collect();
    }
    let one = |(asked, answer): &(&Asked, &Answer)| {
        let maps = map::predicted(outcome, asked, answer, extras);
        if maps.is_empty() {
            return figure(outcome, asked, answer, extras).into_iter().collect();
        }
        maps
    };
    group.iter().flat_map(one).collect()
}

/// The dimension of a prediction that varies along one only.
fn one_dimension(asked: &Asked) -> Option<usize> {
    if asked.places.shapes.is_some() {
        return None;
    }
    match varying(asked).as_slice() {
        [x] => Some(*x),
        [] if asked.places.dims.len() == 1 => Some(0),
        _ => None,
    }
}

fn varying(asked: &Asked) -> Vec<usize> {
    let dims = 0..asked.places.dims.len();
    dims.filter(|&d| varies(&asked.places, d)).collect()
}

/// The figure of a prediction over two dimensions, or row by row.
fn figure(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    extras: Option<&Extras>,
) -> Option<Figure> {
    let surface = if asked.places.shapes.is_some() {
        surface::of_bags(outcome, asked, answer, extras)
    } else {
        let varying = varying(asked);
        let pair = match varying.as_slice() {
            [x, y] => Some((*x, *y)),
            several => raster::pair(&asked.places, several),
        };
        pair.and_then(|pair| surface::figure(outcome, asked, answer, pair, extras))
    };
    surface.or_else(|| forest::figure(outcome, asked, answer, extras))
}

/// Whether the rows differ along a dimension.
fn varies(places: &Places, dim: usize) -> bool {
    let dim = &places.dims[dim];
    (1..places.len()).any(|row| dim.ends(row) != dim.ends(0))
}

/// What a prediction table holds, in words.
fn note(asked: &Asked) -> String {
    let over = match &asked.places.shapes {
        Some(shapes) => format!("{}s", shapes.noun()),
        None => "boxes".to_owned(),
    };
    let what = match asked.places.aggregate {
        None => "Values at points".to_owned(),
        Some(Aggregate::Sum) => format!("Totals over {over}"),
        Some(Aggregate::Mean) => format!("Averages over {over}"),
    };
    let what = match (&asked.like, asked.scale) {
        (Some(table), Scale::Observation) => format!("New observations of {table}. {what}"),
        _ => what,
    };
    format!(
        "{what}, {} scale, {} intervals{}",
        asked.scale.word(),
        percent(asked.level),
        if asked.non_negative {
            ", truncated at zero"
        } else {
            ""
        }
    )
}

fn summary(outcome: &Outcome) -> Vec<String> {
    let tables = outcome.resolved.tables.iter();
    let mut sentences: Vec<String> = tables
        .map(|table| format!("Observed: {}.", words::observed(table)))
        .collect();
    sentences.push(format!("Model: {}.", terminal::model(outcome)));
    // A figure shows them all.
    let pairs = words::correlations(outcome.summary());
    if let [pair] = pairs.as_slice() {
        sentences.push(format!("Outputs {pair}."));
    }
    let thresholds = words::thresholds(outcome).into_iter();
    sentences.extend(thresholds.map(|words| format!("Thresholds {words}.")));
    if let Some(geographic) = &outcome.resolved.geographic {
        sentences.push(format!("Map: {}.", geographic.words()));
    }
    // Backticks are for terminals.
    sentences
        .into_iter()
        .map(|sentence| sentence.replace('`', ""))
        .collect()
}

fn facts(outcome: &Outcome, extras: Option<&Extras>) -> Vec<Fact> {
    let fact = |label: &str, value: String, detail: String| Fact {
        label: label.into(),
        value,
        detail,
    };
    let rows = outcome.summary().rows;
    let mut facts = vec![fact("Observed rows", count(rows, "row"), String::new())];
    let (inside, of) = outcome.coverage();
    if of > 1 {
        let detail = "left out one at a time and predicted from the others".to_owned();
        facts.push(fact(
            "Inside their 95 % interval",
            format!("{inside} of {of}"),
            detail,
        ));
    }
    for (asked, answer) in outcome.predictions() {
        if let Some((inside, of)) = truth::inside(asked, answer, extras) {
            let detail = format!(
                "inside the {} interval of {}",
                percent(asked.level),
                asked.title()
            );
            facts.push(fact(
                "True values, never seen by the model",
                format!("{inside} of {of}"),
                detail,
            ));
        }
    }
    facts.push(fact(
        "Time",
        format!("{:.2} s", outcome.summary().seconds),
        String::new(),
    ));
    facts
}

fn hyperparameters(outcome: &Outcome) -> Vec<HyperRow> {
    let row = |hyper: &crate::engine::Hyper| HyperRow {
        name: hyper.name.clone(),
        value: hyper.value,
        lower: (!hyper.fixed && hyper.lower.is_finite()).then_some(hyper.lower),
        upper: (!hyper.fixed && hyper.upper.is_finite()).then_some(hyper.upper),
        fixed: hyper.fixed,
        // Backticks are for terminals.
        meaning: hyper.meaning.replace('`', ""),
    };
    outcome.summary().hyperparameters.iter().map(row).collect()
}

fn evidence(outcome: &Outcome) -> Evidence {
    let summary = outcome.summary();
    Evidence {
        log_evidence: summary.log_evidence,
        kind: words::evidence(summary),
        bound: summary.variational_bound,
        inference: words::inference(summary),
        rows: summary.rows,
        integrated: summary.integrated,
        nodes: summary.nodes,
        iterations: summary.iterations,
        seconds: summary.seconds,
        converged: summary.converged,
    }
}

fn preview(asked: &Asked, answer: &Answer) -> TablePreview {
    let rows = 0..asked.places.len().min(PREVIEW);
    let shown = |cell| match cell {
        prediction_csv::Cell::Text(text) => Cell::Text(text),
        prediction_csv::Cell::Coordinate(value) => Cell::Text(coordinate(value)),
        prediction_csv::Cell::Number(value) => Cell::Number(value),
    };
    let cells = |row| {
        let row = prediction_csv::row(&asked.places, answer, row);
        row.into_iter().map(shown).collect()
    };
    TablePreview {
        name: asked.title(),
        file: format!("{}.csv", asked.name),
        note: note(asked),
        columns: prediction_csv::header(&asked.places, prediction_csv::chances(answer)),
        rows: rows.map(cells).collect(),
        total_rows: asked.places.len(),
    }
}
