//! How the left-out rows were predicted.

use quadrat_plot::{Axis, CalibrationFigure, Compared, Coverage, Heading, LeftOut};
use quadrat_study::outcome::Outcome;

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
    let scales = scales(outcome);
    let value = match scales.is_empty() {
        true => quadrat_study::words::value_names(outcome),
        false => "values in standard deviations of their output".to_owned(),
    };
    Some(CalibrationFigure {
        heading: Heading::new("calibration", "Each row predicted from the others"),
        value: Axis::new(value),
        coverage: LEVELS.into_iter().map(coverage).collect(),
        pit: rows.iter().map(|row| row.pit).collect(),
        rows: rows
            .iter()
            .zip(addresses)
            .enumerate()
            .map(|(at, (row, label))| {
                let (centre, spread) = scales.get(at).copied().unwrap_or((0.0, 1.0));
                let shown = |value: f64| (value - centre) / spread;
                LeftOut {
                    label,
                    observed: shown(row.value),
                    mean: shown(row.mean),
                    lower: shown(row.lower),
                    upper: shown(row.upper),
                }
            })
            .collect(),
        level: 0.95,
        compared: Compared::LeftOut,
    })
}

/// Mean and standard deviation of the values of its output, for every row: outputs in other units
/// share the figure. Empty where there is one output.
fn scales(outcome: &Outcome) -> Vec<(f64, f64)> {
    let resolved = &outcome.resolved;
    let names = resolved.tables.iter().flat_map(|table| {
        let name = table.places.output.as_deref();
        std::iter::repeat_n(name, table.places.len())
    });
    let names: Vec<Option<&str>> = names.collect();
    let rows = outcome.posterior.leave_one_out();
    if resolved.outputs.is_empty() || names.len() != rows.len() {
        return Vec::new();
    }
    let scale = |output: &String| {
        let own = names.iter().zip(rows);
        let own = own.filter(|(name, _)| **name == Some(output.as_str()));
        let values: Vec<f64> = own.map(|(_, row)| row.value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
    };
    let all: Vec<(f64, f64)> = resolved.outputs.iter().map(scale).collect();
    let place = |name: &Option<&str>| {
        resolved
            .outputs
            .iter()
            .position(|o| Some(o.as_str()) == *name)
    };
    let of_row = |name| place(name).map_or((0.0, 1.0), |at| all[at]);
    names.iter().map(of_row).collect()
}
