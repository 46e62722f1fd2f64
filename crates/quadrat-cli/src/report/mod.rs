//! Results as a report and figures.

mod behind;
mod calibration;
mod captions;
mod cells;
mod chances;
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
mod slices;
mod surface;
mod truth;
mod view;

use std::path::Path;

use anyhow::Result;
use quadrat_plot::{Cell, Evidence, Fact, Figure, HyperRow, Report, TablePreview};
use quadrat_study::answer::Answer;
use quadrat_study::numbers::{coordinate, count, percent};
use quadrat_study::outcome::Outcome;
use quadrat_study::resolve::Asked;
use quadrat_study::{prediction_csv, words};

use crate::demo::Extras;
use crate::output::Staged;
use crate::summary::model;
use captions::note;
use quantity::quantity;
use view::{Knowledge, View};

/// Rows of each prediction table that the report shows.
const PREVIEW: usize = 12;
/// Pixels per unit of a figure in a PNG; sharp in print.
const PNG_SCALE: f64 = 2.0;

/// Figures, and words about those that are left out.
#[derive(Default)]
struct Drawn {
    figures: Vec<Figure>,
    left_out: Vec<String>,
}

/// Writes `report.html`, and each figure as SVG and PNG. Gives what is told of figures that are
/// left out.
pub fn stage(
    outcome: &Outcome,
    extras: Option<&Extras>,
    folder: &Path,
    staged: &mut Staged,
) -> Result<Vec<String>> {
    let Drawn { figures, left_out } = drawn(outcome, extras)?;
    write(&report(outcome, extras, figures, &left_out), folder, staged)?;
    Ok(left_out)
}

/// Writes a report, and each of its figures as SVG and PNG.
pub fn write(report: &Report, folder: &Path, staged: &mut Staged) -> Result<()> {
    staged.bytes(
        &folder.join("report.html"),
        quadrat_plot::html(report).as_bytes(),
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

/// All figures but the leave-one-out check.
fn drawn(outcome: &Outcome, extras: Option<&Extras>) -> Result<Drawn> {
    let mut drawn = Drawn::default();
    match map::observed(outcome) {
        Some(Ok(figure)) => drawn.figures.push(figure),
        Some(Err(why)) => drawn
            .left_out
            .push(format!("no map of what was observed: {why}")),
        None => {}
    }
    for group in outcome.groups() {
        predicted(outcome, &group, extras, &mut drawn);
    }
    drawn.figures.extend(correlation::figure(outcome));
    drawn.figures.extend(correlation::matrices(outcome));
    drawn.figures.extend(fitted::figures(outcome)?);
    drawn.figures.extend(relevance::figure(outcome));
    Ok(drawn)
}

fn report(
    outcome: &Outcome,
    extras: Option<&Extras>,
    figures: Vec<Figure>,
    left_out: &[String],
) -> Report {
    let study = &outcome.resolved.study;
    Report {
        title: study.title.clone(),
        generated_by: format!("quadrat {}", quadrat_study::version::VERSION),
        summary: summary(outcome),
        facts: facts(outcome, extras),
        warnings: outcome.warnings.clone(),
        figures,
        // Backticks are for terminals.
        left_out: left_out
            .iter()
            .map(|words| words.replace('`', ""))
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
    }
}

/// The figures of a prediction, one or several for each output.
fn predicted(
    outcome: &Outcome,
    group: &[(&Asked, &Answer)],
    extras: Option<&Extras>,
    drawn: &mut Drawn,
) {
    let Some((first, _)) = group.first() else {
        return;
    };
    if first.rows.is_some() {
        for (asked, answer) in group {
            let tables = &outcome.resolved.tables;
            let table = asked.table.and_then(|table| tables.get(table));
            let shown = behind::Shown {
                id: &asked.id,
                title: asked.title(),
                note: note(asked),
                value: table.map_or_else(String::new, |table| table.says.value_name()),
                level: asked.level,
                limits: chances::limits(asked, false),
                labels: (0..asked.places.len())
                    .map(|row| captions::row(asked, row))
                    .collect(),
                mean: &answer.mean,
                sd: &answer.sd,
                lower: &answer.lower,
                upper: &answer.upper,
                most: forest::MOST,
            };
            match behind::figure(shown) {
                Ok(figure) => drawn.figures.push(figure),
                Err(why) => drawn
                    .left_out
                    .push(format!("no figure of `{}`: {why}", asked.title())),
            }
        }
        return;
    }
    let view = match &first.places.shapes {
        None => Some(view::of(&first.places, &Knowledge::of(outcome))),
        Some(_) => None,
    };
    if let Some(View::Along(x)) = view {
        drawn
            .figures
            .extend(curve::figure(outcome, group, x, extras));
        return;
    }
    if let Some(View::Each(x, slices)) = &view {
        let curves = curve::of_each(outcome, group, (*x, slices), extras);
        drawn.figures.extend(curves);
        return;
    }
    for &(asked, answer) in group {
        let maps = match (&view, map::of(&asked.places)) {
            (Some(View::Over(over)), _) => {
                Ok(surface::figures(outcome, asked, answer, over, extras))
            }
            (Some(View::Rows(Some(maps))), _) => Err(slices::too_many(*maps)),
            (Some(_), _) => {
                Err("its rows lie neither along one input nor on a map of two".to_owned())
            }
            (None, Some(regions)) => map::predicted(outcome, asked, answer, regions, extras),
            (None, None) => match surface::of_bags(outcome, asked, answer, extras) {
                Some(figure) => Ok(vec![figure]),
                None => Err("the points of its bags lie on no lattice in two inputs".to_owned()),
            },
        };
        let is_map = !matches!(view, Some(View::Rows(None)));
        match maps {
            Ok(maps) => drawn.figures.extend(maps),
            Err(why) => list(outcome, (asked, answer), extras, (&why, is_map), drawn),
        }
    }
}

/// The rows of a prediction as a list, where they are few, because there is no map of them. Where
/// one is expected, the reason is told in any case.
fn list(
    outcome: &Outcome,
    (asked, answer): (&Asked, &Answer),
    extras: Option<&Extras>,
    (why, is_map): (&str, bool),
    drawn: &mut Drawn,
) {
    let (title, rows) = (asked.title(), asked.places.len());
    if rows > forest::MOST {
        let most = forest::MOST;
        drawn.left_out.push(format!(
            "no figure of `{title}`: {why}, and a list shows at most {most} rows of its {}",
            count(rows, "").trim_end()
        ));
        return;
    }
    if is_map {
        let told = format!("no map of `{title}`: {why}; its rows are a list");
        drawn.left_out.push(told);
    }
    let figure = forest::figure(outcome, asked, answer, extras);
    drawn.figures.push(figure);
    drawn.figures.extend(chances::lists(asked, answer));
}

fn summary(outcome: &Outcome) -> Vec<String> {
    let tables = outcome.resolved.tables.iter();
    let mut sentences: Vec<String> = tables
        .map(|table| format!("Observed: {}.", words::observed(table)))
        .collect();
    sentences.push(format!("Model: {}.", model(outcome)));
    let slopes = words::slopes(outcome).into_iter();
    sentences.extend(slopes.map(|words| format!("Slope {words}.")));
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
    facts.push(fact(
        "Run",
        outcome.resolved.run.clone(),
        "the same in fit.json and in the model, where files are of one run".to_owned(),
    ));
    facts
}

fn hyperparameters(outcome: &Outcome) -> Vec<HyperRow> {
    let row = |hyper: &quadrat_study::engine::Hyper| HyperRow {
        name: hyper.name.clone(),
        value: hyper.median,
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
    let rows = prediction_csv::shown(asked.rows.is_some(), answer, PREVIEW).into_iter();
    let shown = |cell| match cell {
        prediction_csv::Cell::Text(text) => Cell::Text(text),
        prediction_csv::Cell::Coordinate(value) => Cell::Text(coordinate(value)),
        prediction_csv::Cell::Value(value, sd) => Cell::Estimate([value, sd]),
        prediction_csv::Cell::Deviation(value, _) | prediction_csv::Cell::Number(value) => {
            Cell::Number(value)
        }
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
