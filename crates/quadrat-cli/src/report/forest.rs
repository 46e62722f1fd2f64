//! A prediction without an axis: a dot and an interval for each row.

use quadrat_plot::{Axis, Figure, ForestFigure, ForestRow, Heading};
use quadrat_study::answer::Answer;
use quadrat_study::outcome::Outcome;
use quadrat_study::resolve::Asked;

use super::captions::{self, note};
use super::{chances, quantity, truth};
use crate::demo::Extras;

/// More rows than this make no readable figure.
pub const MOST: usize = 60;

/// The figure.
pub fn figure(
    outcome: &Outcome,
    asked: &Asked,
    answer: &Answer,
    extras: Option<&Extras>,
) -> Figure {
    let truth = truth::of(asked, extras);
    let known = truth.map(|truth| truth::by_row(asked, truth));
    let row = |row: usize| ForestRow {
        label: captions::row(asked, row),
        mean: answer.mean[row],
        lower: answer.lower[row],
        upper: answer.upper[row],
        observed: None,
        reference: known.as_ref().and_then(|known| known[row]),
    };
    Figure::Forest(ForestFigure {
        heading: Heading::new(asked.id.as_str(), asked.title())
            .with_caption(format!("{}.", note(asked))),
        value: Axis::new(quantity::of_rows(outcome, asked)),
        rows: (0..asked.places.len()).map(row).collect(),
        level: asked.level,
        reference: truth.map_or_else(String::new, |truth| truth.label.to_owned()),
        limits: chances::limits(asked, false),
        ..ForestFigure::default()
    })
}
