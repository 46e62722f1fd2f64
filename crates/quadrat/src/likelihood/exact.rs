//! A value with normal noise: everything in closed form. Also the exact rows of intervals and
//! censored values.

use crate::special::elementary;
use std::f64::consts::PI;

use super::local::{Belief, Expected, Jet, Tilted};

/// `log N(value; f, variance)`.
pub(super) fn jet(value: f64, variance: f64, f: f64) -> Jet {
    let away = value - f;
    Jet {
        value: -0.5 * (away * (away / variance) + elementary::log(2.0 * PI * variance)),
        first: away / variance,
        second: -1.0 / variance,
        third: 0.0,
    }
}

/// Derivatives of value, first and second in the variance.
pub(super) fn slopes(value: f64, variance: f64, f: f64) -> [f64; 3] {
    let z = (value - f) / variance;
    let precision = 1.0 / variance;
    [
        0.5 * (z * z - precision),
        -z * precision,
        precision * precision,
    ]
}

pub(super) fn tilted(value: f64, variance: f64, cavity: Belief) -> Tilted {
    Tilted {
        log_z: jet(value, variance + cavity.variance, cavity.mean).value,
        precision: 1.0 / variance,
        shift: value / variance,
    }
}

pub(super) fn tilted_slope(value: f64, variance: f64, cavity: Belief) -> f64 {
    slopes(value, variance + cavity.variance, cavity.mean)[0]
}

pub(super) fn expected(value: f64, variance: f64, belief: Belief) -> Expected {
    let at = jet(value, variance, belief.mean);
    Expected {
        value: at.value - 0.5 * belief.variance / variance,
        first: at.first,
        second: at.second,
    }
}

pub(super) fn expected_slope(value: f64, variance: f64, belief: Belief) -> f64 {
    slopes(value, variance, belief.mean)[0] + 0.5 * belief.variance / (variance * variance)
}
