//! Observed rows that are bags beside what the fit says of them.

use anyhow::Result;
use quadrat_plot::{Axis, CalibrationFigure, Compared, Coverage, Figure, Heading, LeftOut};
use quadrat_study::fitted::{self, Fitted, LEVELS};
use quadrat_study::numbers::count;
use quadrat_study::outcome::Outcome;
use quadrat_study::resolve::Observed;

use super::quantity;

/// One figure for every table whose rows can be predicted.
pub fn figures(outcome: &Outcome) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for table in &outcome.resolved.tables {
        if let Some(rows) = fitted::rows(outcome, table)? {
            figures.push(Figure::Calibration(figure(outcome, table, &rows)));
        }
    }
    Ok(figures)
}

fn figure(outcome: &Outcome, table: &Observed, rows: &[Fitted]) -> CalibrationFigure {
    let coverage = |(at, (level, _)): (usize, (f64, f64))| {
        let inside = |row: &&Fitted| (row.bands[at].0..=row.bands[at].1).contains(&row.observed);
        Coverage {
            nominal: level,
            held: rows.iter().filter(inside).count(),
            total: rows.len(),
        }
    };
    let shapes = table.places.shapes.as_ref();
    let label = |row: usize| match shapes {
        Some(shapes) => format!("{} {}", shapes.header, shapes.keys[row]),
        None => table.address(row),
    };
    let shown = |row: &Fitted| LeftOut {
        label: label(row.row),
        observed: row.observed / row.unit,
        mean: row.mean / row.unit,
        lower: row.bands[2].0 / row.unit,
        upper: row.bands[2].1 / row.unit,
    };
    let value = quantity::of_rates(outcome, table);
    let mut caption = format!(
        "Every bag: what it reported ({value}) against the mean of what is predicted of a new report of the same bag, with 95 % intervals. Left: the tick is the share of rows an interval promises to hold, the dot the share it held; rows that were fitted are held more often than new ones would be. Rows outside their interval are orange."
    );
    if outcome.posterior.inducing().is_some() {
        caption.push_str(
            " Fewer than promised: the fit cannot follow them, as with too few inducing points.",
        );
    }
    let left = table.places.len() - rows.len();
    if left > 0 {
        caption.push_str(&format!(
            " {} of {} not shown: they report no single number, or are more than fit.",
            left,
            count(table.places.len(), "row")
        ));
    }
    let (id, title) = match &table.places.output {
        Some(output) => (
            format!("fitted-rows-{output}"),
            format!("Observed and predicted rows: {output}"),
        ),
        None => (
            "fitted-rows".to_owned(),
            "Observed and predicted rows".to_owned(),
        ),
    };
    CalibrationFigure {
        heading: Heading::new(id, title).with_caption(caption),
        value: Axis::new(value),
        coverage: LEVELS.into_iter().enumerate().map(coverage).collect(),
        pit: Vec::new(),
        rows: rows.iter().map(shown).collect(),
        level: 0.95,
        compared: Compared::Fitted,
    }
}
