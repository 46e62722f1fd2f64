//! Functions of one number that links are made of.

use crate::special::elementary;

/// `1 / (1 + e^-f)`, to the last digits in both tails.
pub(crate) fn logistic(f: f64) -> f64 {
    if f >= 0.0 {
        1.0 / (1.0 + elementary::exp(-f))
    } else {
        let x = elementary::exp(f);
        x / (1.0 + x)
    }
}

/// `log(1 + e^f)`.
pub(crate) fn softplus(f: f64) -> f64 {
    if f > 0.0 {
        f + elementary::log1p(elementary::exp(-f))
    } else {
        elementary::log1p(elementary::exp(f))
    }
}

/// `log sum exp`.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let each = logs.iter().map(|log| elementary::exp(log - most));
    most + elementary::log(each.sum())
}
