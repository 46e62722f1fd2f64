//! Values behind observed rows as a list: those that were not reported, where all are too many.

use quadrat_plot::{Axis, Figure, ForestFigure, ForestRow, Heading};

use super::{chances, forest, note};
use crate::engine::Answer;
use crate::numbers::count;
use crate::outcome::Outcome;
use crate::resolve::Asked;

/// The figure; or why there is none.
pub fn figure(outcome: &Outcome, asked: &Asked, answer: &Answer) -> Result<Figure, String> {
    let all: Vec<usize> = (0..asked.places.len()).collect();
    let hidden: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&row| answer.sd[row] > 0.0)
        .collect();
    let (rows, left_out) = match all.len() <= forest::MOST {
        true => (all, String::new()),
        false => {
            let reported = asked.places.len() - hidden.len();
            let told = format!(
                " {} told as they are, and left out.",
                count(reported, "row")
            );
            (hidden, told)
        }
    };
    if rows.len() > forest::MOST || rows.is_empty() {
        return Err(format!(
            "a list shows at most {} rows, and {} are not known",
            forest::MOST,
            rows.len()
        ));
    }
    let row = |row: usize| ForestRow {
        label: match forest::label(asked, row) {
            label if label.is_empty() => "all rows".to_owned(),
            label => label,
        },
        mean: answer.mean[row],
        lower: answer.lower[row],
        upper: answer.upper[row],
        observed: None,
        reference: None,
    };
    let table = asked
        .table
        .and_then(|table| outcome.resolved.tables.get(table));
    let value = table.map_or_else(String::new, |table| table.says.value_name());
    Ok(Figure::Forest(ForestFigure {
        heading: Heading::new(asked.id.as_str(), asked.title())
            .with_caption(format!("{}.{left_out}", note(asked))),
        value: Axis::new(value),
        rows: rows.into_iter().map(row).collect(),
        level: asked.level,
        limits: chances::limits(asked, false),
        ..ForestFigure::default()
    }))
}
