//! A prediction along one dimension, with what was observed and perhaps the truth.

use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places as At, Predicted, Reference};
use quadrat_study::answer::Answer;
use quadrat_study::outcome::Outcome;
use quadrat_study::prediction_csv;
use quadrat_study::resolve::Asked;

use super::captions::{self, note};
use super::slices::{self, Slices};
use super::view::Shared;
use super::{chances, inducing, marks, quantity, truth};
use crate::demo::{Extras, Truth};

/// The figure, one panel per output; totals are drawn per unit of their boxes.
pub fn figure(
    outcome: &Outcome,
    group: &[(&Asked, &Answer)],
    x: usize,
    extras: Option<&Extras>,
) -> Option<Figure> {
    let (asked, _) = group.first()?;
    let dim = &asked.places.dims[x];
    let panels = group.iter().flat_map(|(asked, answer)| {
        let main = panel(outcome, asked, answer, x, extras);
        let chances = chances::panel(asked, answer, &at(asked, x));
        [main].into_iter().chain(chances)
    });
    let others = (0..asked.places.dims.len()).filter(|&d| d != x);
    let (covariates, fixed): (Vec<usize>, Vec<usize>) =
        others.partition(|&d| slices::varies(&asked.places, d));
    let mut caption = format!("{}.", note(asked));
    if !fixed.is_empty() {
        let fixed = fixed.iter().map(|&d| &asked.places.dims[d]);
        let fixed = fixed.map(|dim| format!("{} = {}", dim.name, dim.told(0)));
        caption.push_str(&format!(" At {}.", fixed.collect::<Vec<_>>().join(", ")));
    }
    caption.push_str(&captions::covariates(asked, &covariates));
    Some(Figure::Curve(CurveFigure {
        heading: Heading::new(asked.name.clone(), asked.name.clone()).with_caption(caption),
        x: Axis::new(dim.name.clone()),
        panels: panels.collect(),
    }))
}

/// A figure for each of some labels.
pub fn of_each(
    outcome: &Outcome,
    group: &[(&Asked, &Answer)],
    (x, slices): (usize, &Slices),
    extras: Option<&Extras>,
) -> Vec<Figure> {
    let one = |(i, rows): (usize, &Vec<usize>)| {
        let part = |(asked, answer): &(&Asked, &Answer)| {
            let mut own = (*asked).clone();
            own.places.keep(rows);
            let at = slices::words(&own.places, &slices.dims, 0);
            (own.name, own.id) = (
                format!("{}: {at}", asked.name),
                format!("{}-{}", asked.id, i + 1),
            );
            (own, answer.rows(rows))
        };
        let parts: Vec<(Asked, Answer)> = group.iter().map(part).collect();
        let parts: Vec<(&Asked, &Answer)> = parts.iter().map(|(a, b)| (a, b)).collect();
        let mut figure = figure(outcome, &parts, x, extras)?;
        if let (Figure::Curve(curve), Some((first, _))) = (&mut figure, parts.first()) {
            curve.heading.id.clone_from(&first.id);
        }
        Some(figure)
    };
    let each = slices.rows.iter().enumerate();
    each.filter_map(one).collect()
}

fn panel(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    x: usize,
    extras: Option<&Extras>,
) -> Panel {
    let dim = &asked.places.dims[x];
    let at = at(asked, x);
    let scaled = |values: &[f64]| -> Vec<f64> {
        values
            .iter()
            .enumerate()
            .map(|(row, value)| value / asked.places.volume(row))
            .collect()
    };
    let band = |label: &str, answer: &Answer| Predicted {
        label: label.to_owned(),
        at: at.clone(),
        mean: scaled(&answer.mean),
        lower: scaled(&answer.lower),
        upper: scaled(&answer.upper),
        level: asked.level,
    };
    // Their bands, where they have some, would hide ours.
    let simple = answer.simple.iter().map(|(simple, means)| Predicted {
        label: simple.name().to_owned(),
        at: at.clone(),
        mean: scaled(means),
        level: asked.level,
        ..Predicted::default()
    });
    let rows: Vec<usize> = (0..asked.places.len()).collect();
    let shared = Shared::of(&asked.places, &rows, &[x]);
    let output = asked.places.output.as_deref();
    let marked = inducing::along(outcome, output, &[&dim.name]).concat();
    Panel {
        title: asked.places.output.clone().unwrap_or_default(),
        y: Axis::new(quantity(outcome, asked)),
        observed: marks::of(outcome, asked, &dim.name, &shared),
        observed_label: String::new(),
        marks: marks::otherwise(outcome, asked, &dim.name, &shared),
        predicted: answer
            .noisy
            .as_deref()
            .map(|noisy| band(&new_observations(asked), noisy))
            .into_iter()
            .chain([band("", answer)])
            .chain(simple)
            .collect(),
        reference: truth::of(asked, extras).and_then(|truth| reference(asked, truth)),
        marked_label: inducing::label(marked.len()),
        marked,
        limits: chances::limits(asked, true),
        domain: None,
    }
}

/// The rows along a dimension.
fn at(asked: &Asked, x: usize) -> At {
    let dim = &asked.places.dims[x];
    match dim.second {
        None => At::Points(dim.first.clone()),
        Some(_) => At::Cells((0..asked.places.len()).map(|row| dim.ends(row)).collect()),
    }
}

/// What the band of new observations is called, with the table where they differ.
fn new_observations(asked: &Asked) -> String {
    match &asked.like {
        Some(table) => format!("New observations of {table}"),
        None => "New observations".to_owned(),
    }
}

/// The truth along the dimension, that of the output where the truth names several.
fn reference(asked: &Asked, truth: &Truth) -> Option<Reference> {
    let scale = |x: f64| truth::row_at(asked, x).map_or(1.0, |row| asked.places.volume(row));
    let output = truth.on.iter().position(|on| *on == prediction_csv::OUTPUT);
    let own =
        |at: &[&str]| output.is_none_or(|o| at.get(o).copied() == asked.places.output.as_deref());
    let (x, y): (Vec<f64>, Vec<f64>) = truth
        .rows()
        .into_iter()
        .filter(|(at, _)| own(at))
        .filter_map(|(at, value)| Some((at.first()?.parse().ok()?, value)))
        .map(|(x, value): (f64, f64)| (x, value / scale(x)))
        .unzip();
    (!x.is_empty()).then(|| Reference {
        label: truth.label.to_owned(),
        x,
        y,
    })
}
