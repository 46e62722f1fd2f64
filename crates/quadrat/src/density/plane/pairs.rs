//! The rows of a density over a plane, checked and cleaned.

use super::super::error::{DensityError, Warning};
use super::super::rows::{Clean, check_length, check_weights};

/// Rows that can be used.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Pairs {
    /// The values of both columns.
    pub values: [Vec<f64>; 2],
    /// Their weights; empty where all are one.
    pub weights: Vec<f64>,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

impl Pairs {
    /// The weight of a row.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.values[0].len()
    }

    /// One column, on the axis that it is estimated on.
    pub fn column(&self, axis: usize, log: bool) -> Clean {
        let values = self.values[axis].iter();
        Clean {
            values: match log {
                true => values.map(|x| x.ln()).collect(),
                false => values.copied().collect(),
            },
            weights: self.weights.clone(),
            used: self.len(),
            ..Clean::default()
        }
    }
}

/// Checks both columns against each other and the bounds, and leaves out rows of which a value is
/// not finite or that weigh nothing.
///
/// # Errors
/// Rows outside of the bounds, weights that are none, no row left.
pub(in super::super) fn clean(
    columns: [&[f64]; 2],
    weights: Option<&[f64]>,
    bounds: [(f64, f64); 2],
    log: [bool; 2],
) -> Result<Pairs, DensityError> {
    let n = columns[0].len();
    check_length("second values", n, columns[1].len())?;
    if let Some(weights) = weights {
        check_length("weights", n, weights.len())?;
        check_weights(weights)?;
    }
    let mut out = Pairs::default();
    out.values.iter_mut().for_each(|v| v.reserve(n));
    let (mut left_out, mut first) = (0, 0);
    for i in 0..n {
        let row = [columns[0][i], columns[1][i]];
        if row.iter().any(|x| !x.is_finite()) {
            first = if left_out == 0 { i } else { first };
            left_out += 1;
            continue;
        }
        for axis in [0, 1] {
            within(i, row[axis], bounds[axis], log[axis]).map_err(|e| e.of_column(axis))?;
        }
        let weight = weights.map_or(1.0, |w| w[i]);
        if weight > 0.0 {
            out.values[0].push(row[0]);
            out.values[1].push(row[1]);
            if weights.is_some() {
                out.weights.push(weight);
            }
        }
    }
    if left_out > 0 {
        out.warnings.push(Warning::NotFinite {
            count: left_out,
            rows: n,
            first,
        });
    }
    if out.len() == 0 || n < 2 {
        return Err(DensityError::TooFew {
            rows: n,
            usable: out.len(),
        });
    }
    Ok(out)
}

fn within(row: usize, value: f64, bounds: (f64, f64), log: bool) -> Result<(), DensityError> {
    if log && value <= 0.0 {
        return Err(DensityError::NoLogarithm { row, value });
    }
    if value < bounds.0 || value > bounds.1 {
        return Err(DensityError::Outside {
            row,
            value,
            lower: bounds.0,
            upper: bounds.1,
        });
    }
    Ok(())
}
