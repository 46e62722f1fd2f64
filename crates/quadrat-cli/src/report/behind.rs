//! Values behind observed rows as a list: those that were not reported, where all are too many.

use quadrat_plot::{Axis, Figure, ForestFigure, ForestRow, Heading, Limit};

/// What is drawn, and how it is told.
pub struct Shown<'a> {
    /// Its name among the figures, and that for people.
    pub id: &'a str,
    pub title: String,
    /// What the table holds, in words.
    pub note: String,
    /// What the values are.
    pub value: String,
    pub level: f64,
    /// Limits, and their labels, that are lines.
    pub limits: Vec<Limit>,
    /// The label of every row.
    pub labels: Vec<String>,
    pub mean: &'a [f64],
    pub sd: &'a [f64],
    pub lower: &'a [f64],
    pub upper: &'a [f64],
    /// The most rows of a list.
    pub most: usize,
}

/// The figure; or why there is none.
pub fn figure(shown: Shown<'_>) -> Result<Figure, String> {
    let all = shown.labels.len();
    let is_hidden = |row: &usize| shown.sd[*row] > 0.0;
    let rows: Vec<usize> = match all <= shown.most {
        true => (0..all).collect(),
        false => (0..all).filter(is_hidden).collect(),
    };
    let left_out = match all - rows.len() {
        0 => String::new(),
        n => format!(" {n} rows are known, and left out."),
    };
    if rows.is_empty() {
        return Err("every row is known".to_owned());
    }
    if rows.len() > shown.most {
        return Err(format!(
            "a list shows at most {} rows, and {} are not known",
            shown.most,
            rows.len()
        ));
    }
    let row = |row: usize| ForestRow {
        label: match shown.labels[row].as_str() {
            "" => "all rows".to_owned(),
            label => label.to_owned(),
        },
        mean: shown.mean[row],
        lower: shown.lower[row],
        upper: shown.upper[row],
        observed: None,
        reference: None,
    };
    Ok(Figure::Forest(ForestFigure {
        heading: Heading::new(shown.id, shown.title)
            .with_caption(format!("{}.{left_out}", shown.note)),
        value: Axis::new(shown.value),
        rows: rows.into_iter().map(row).collect(),
        level: shown.level,
        limits: shown.limits,
        ..ForestFigure::default()
    }))
}
