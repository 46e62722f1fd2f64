//! What densities of one and two columns have in common.

use super::error::DensityError;

/// Draws unless another number is asked for.
pub(super) const DRAWS: usize = 8000;
/// Probability of intervals and bands unless another is asked for.
pub(super) const LEVEL: f64 = 0.95;

/// How draws of the Laplace approximation are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Correction {
    /// Split normal proposals with Pareto-smoothed importance weights.
    #[default]
    ImportanceSampling,
    /// None: draws are those of the Laplace approximation, the curve is the average of the modes.
    None,
}

/// What is done with hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Integration {
    /// An average over them: of one column over a grid, of two over a central composite design.
    #[default]
    Auto,
    /// The most probable values alone.
    Map,
    /// An average over a central composite design about the most probable values (Rue, Martino &
    /// Chopin 2009).
    Ccd,
}

/// Checks what is said of an axis.
pub(super) fn check_axis(
    bounds: (f64, f64),
    range: Option<(f64, f64)>,
    log: bool,
) -> Result<(), DensityError> {
    let setting = |what, value, requirement| {
        Err(DensityError::Setting {
            what,
            value,
            requirement,
        })
    };
    let (lower, upper) = bounds;
    if lower.is_nan()
        || upper.is_nan()
        || lower >= upper
        || lower == f64::INFINITY
        || upper == f64::NEG_INFINITY
    {
        return setting("the upper bound", upper, "above the lower one");
    }
    if log && upper <= 0.0 {
        return setting("the upper bound", upper, "positive on a logarithmic axis");
    }
    // Squares of such lengths are no doubles, and so no moments.
    let is_short = |from: f64, to: f64| to.abs().max(from.abs()) < 1e150;
    if (lower.is_finite() && lower.abs() >= 1e150) || (upper.is_finite() && upper.abs() >= 1e150) {
        return setting(
            "a bound",
            upper,
            "below 1e150: divide the values by a constant",
        );
    }
    if let Some((from, to)) = range {
        if !(from < to && from.is_finite() && to.is_finite() && is_short(from, to)) {
            return setting(
                "the end of the range",
                to,
                "finite, above its beginning and below 1e150",
            );
        }
        if log && from <= 0.0 {
            return setting(
                "the beginning of the range",
                from,
                "positive on a logarithmic axis",
            );
        }
    }
    Ok(())
}
