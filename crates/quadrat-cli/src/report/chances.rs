//! Probabilities that were asked for, as parts of figures: of exceeding limits, and of ranks.

use quadrat_plot::{
    Axis, Figure, ForestFigure, ForestRow, Heading, Limit, Panel, Places as At, Predicted,
};
use quadrat_study::answer::Answer;
use quadrat_study::numbers::human;
use quadrat_study::resolve::Asked;

use super::captions::{self, note};

/// What every column of [`Answer::chances`] tells: "P(risk > 1.2)".
pub fn titles(asked: &Asked) -> Vec<String> {
    let name = &asked.name;
    let above = asked.chances.above.iter();
    let above = above.map(|&limit| format!("P({name} > {})", human(limit)));
    let ranks = (1..=asked.chances.ranks).map(|rank| format!("P(rank {rank})"));
    above.chain(ranks).collect()
}

/// The limits as they stand on an axis of rows, or of rows per unit of what totals are over.
pub fn limits(asked: &Asked, per_unit: bool) -> Vec<Limit> {
    let volume = |row: usize| match per_unit {
        true => asked.places.volume(row),
        false => 1.0,
    };
    let mut volumes = (0..asked.places.len()).map(volume);
    let Some(one) = volumes.next() else {
        return Vec::new();
    };
    // Limits of totals over different widths have no one height.
    if volumes.any(|other| (other - one).abs() > 1e-9 * one) {
        return Vec::new();
    }
    let limit = |&limit: &f64| Limit {
        value: limit / one,
        label: format!("Limit {}", human(limit)),
    };
    asked.chances.above.iter().map(limit).collect()
}

/// A panel below a curve, with a line from 0 to 1 for each.
pub fn panel(asked: &Asked, answer: &Answer, at: &At) -> Option<Panel> {
    let titles = titles(asked);
    let line = |(title, (_, column)): (&String, &(String, Vec<f64>))| Predicted {
        label: title.clone(),
        at: at.clone(),
        mean: column.clone(),
        ..Predicted::default()
    };
    let predicted: Vec<Predicted> = titles.iter().zip(&answer.chances).map(line).collect();
    (!predicted.is_empty()).then(|| Panel {
        title: asked.places.output.clone().unwrap_or_default(),
        y: Axis::new("probability"),
        predicted,
        domain: Some((0.0, 1.0)),
        ..Panel::default()
    })
}

/// Lists of the rows beside that of their values, one for each.
pub fn lists(asked: &Asked, answer: &Answer) -> Vec<Figure> {
    let list = |(title, (column, values)): (&String, &(String, Vec<f64>))| {
        let row = |(row, &value): (usize, &f64)| ForestRow {
            label: captions::row(asked, row),
            mean: value,
            lower: value,
            upper: value,
            ..ForestRow::default()
        };
        let heading = Heading::new(
            format!("{}-{column}", asked.id),
            format!("{}: {title}", asked.title()),
        );
        Figure::Forest(ForestFigure {
            heading: heading.with_caption(format!("{}.", note(asked))),
            value: Axis::new(title.clone()),
            rows: values.iter().enumerate().map(row).collect(),
            label: "Probability".to_owned(),
            domain: Some((0.0, 1.0)),
            ..ForestFigure::default()
        })
    };
    titles(asked)
        .iter()
        .zip(&answer.chances)
        .map(list)
        .collect()
}
