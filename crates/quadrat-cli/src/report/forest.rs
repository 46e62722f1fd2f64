//! A prediction without an axis: a dot and an interval for each row.

use quadrat_plot::{Axis, Figure, ForestFigure, ForestRow, Heading};

use super::{note, quantity, truth};
use crate::demo::Extras;
use crate::engine::Answer;
use crate::numbers::human;
use crate::outcome::Outcome;
use crate::resolve::Asked;

/// More rows than this make no readable figure.
const MOST: usize = 60;

/// The figure, when the rows are few enough to read.
pub fn figure(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    extras: Option<&Extras>,
) -> Option<Figure> {
    if asked.places.len() > MOST {
        return None;
    }
    let label = |row: usize| {
        let part = |dim: &crate::places::Along| match dim.ends(row) {
            (lower, upper) if lower == upper => format!("{} {}", dim.name, human(lower)),
            (lower, upper) => format!("{} {} to {}", dim.name, human(lower), human(upper)),
        };
        let key = asked.places.shapes.iter();
        let key = key.map(|shapes| format!("{} {}", shapes.header, shapes.keys[row]));
        let parts = key.chain(asked.places.dims.iter().map(part));
        parts.collect::<Vec<_>>().join(", ")
    };
    let truth = truth::of(asked, extras);
    let known = truth.map(|truth| truth::by_row(asked, truth));
    let row = |row: usize| ForestRow {
        label: label(row),
        mean: answer.mean[row],
        lower: answer.lower[row],
        upper: answer.upper[row],
        observed: None,
        reference: known.as_ref().and_then(|known| known[row]),
    };
    Some(Figure::Forest(ForestFigure {
        heading: Heading::new(asked.id.as_str(), asked.title())
            .with_caption(format!("{}.", note(asked))),
        value: Axis::new(quantity::of_rows(outcome, asked)),
        rows: (0..asked.places.len()).map(row).collect(),
        level: asked.level,
        reference: truth.map_or_else(String::new, |truth| truth.label.to_owned()),
        ..ForestFigure::default()
    }))
}
