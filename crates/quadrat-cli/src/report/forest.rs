//! A prediction without an axis: a dot and an interval for each row.

use quadrat_plot::{Axis, Figure, ForestFigure, ForestRow, Heading};

use super::{note, value_name};
use crate::engine::Answer;
use crate::numbers::human;
use crate::outcome::Outcome;
use crate::resolve::Asked;

/// More rows than this make no readable figure.
const MOST: usize = 60;

/// The figure, when the rows are few enough to read.
pub fn figure(outcome: &Outcome, asked: &Asked, answer: &Answer) -> Option<Figure> {
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
    let row = |row: usize| ForestRow {
        label: label(row),
        mean: answer.mean[row],
        lower: answer.lower[row],
        upper: answer.upper[row],
        observed: None,
    };
    Some(Figure::Forest(ForestFigure {
        heading: Heading::new(asked.name.clone(), asked.name.clone())
            .with_caption(format!("{}.", note(asked))),
        value: Axis::new(value_name(outcome)),
        rows: (0..asked.places.len()).map(row).collect(),
        level: asked.level,
    }))
}
