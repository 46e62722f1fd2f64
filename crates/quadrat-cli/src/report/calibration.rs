//! How the left-out rows were predicted.

use quadrat_plot::{Axis, CalibrationFigure, Coverage, Heading, LeftOut};

use crate::outcome::Outcome;

/// Levels whose coverage is told.
const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// The figure, when more than one row could be left out.
pub fn figure(outcome: &Outcome) -> Option<CalibrationFigure> {
    let rows = outcome.posterior.leave_one_out();
    if rows.len() < 2 {
        return None;
    }
    let inside = |level: f64| {
        let tail = (1.0 - level) / 2.0;
        rows.iter()
            .filter(|row| (tail..=1.0 - tail).contains(&row.pit))
            .count()
    };
    let coverage = |level: f64| Coverage {
        nominal: level,
        held: inside(level),
        total: rows.len(),
    };
    let addresses = outcome.resolved.tables.iter().flat_map(|table| {
        // Finding a row's line reads the table again; beyond a few the number of the row will do.
        let near = table.places.len() <= 200;
        (0..table.places.len()).map(move |row| {
            if near {
                table.address(row)
            } else {
                format!("row {}", row + 1)
            }
        })
    });
    Some(CalibrationFigure {
        heading: Heading::new("calibration", "Each row predicted from the others"),
        value: Axis::new(crate::words::value_names(outcome)),
        coverage: LEVELS.into_iter().map(coverage).collect(),
        pit: rows.iter().map(|row| row.pit).collect(),
        rows: rows
            .iter()
            .zip(addresses)
            .map(|(row, label)| LeftOut {
                label,
                observed: row.value,
                mean: row.mean,
                lower: row.lower,
                upper: row.upper,
            })
            .collect(),
        level: 0.95,
    })
}
