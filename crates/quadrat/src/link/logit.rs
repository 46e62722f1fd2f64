//! Probabilities `p = 1 / (1 + e^-f)`: jets, averages, and expectations under a normal belief `N(m,
//! v)`.
//!
//! As `p' = p (1 - p)`, the square needs no integral of its own:
//!
//! $$ \operatorname E p^2 = F - F', \qquad F(m, v) = \operatorname E p, \quad F' = \partial F /
//! \partial m = \operatorname E p' $$
//!
//! Narrow beliefs take the trapezoid rule, by deviations from the middle so that variances do not
//! cancel. For wide ones `p` is little more than a step, which is first blurred by a normal value
//! of standard deviation `b`: `E Phi(f / b) = Phi(m / w)`, `w^2 = v + b^2`; the rest vanishes as
//! `e^-|f|` and is tabulated once. Far below zero
//!
//! $$ F(m) = e^{m + v / 2} F(-m - v) $$
//!
//! takes out `e^f`, and `F(-m) = 1 - F(m)` does for what is far above.

use std::sync::LazyLock;

use super::moment::{Deviations, Moments};
use super::scalars::{log_sum, logistic, softplus};
use super::table::{REACH, STEP, Table};
use crate::likelihood::local::Belief;
use crate::special::elementary;
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Steps in standard deviations. The worst case is a belief as wide as the singularities are far.
const NARROW_STEP: f64 = 0.65;
/// Beliefs are wide from this standard deviation on.
const WIDE: f64 = 1.2;
/// The blur `b`: the step then has nearly the slope of the sigmoid.
const BLUR: f64 = 1.7;
/// Below this nothing but `e^f` is left of a probability.
const FAR: f64 = -37.0;

/// `p` and its first three derivatives.
pub(super) fn jet(f: f64) -> [f64; 4] {
    let (p, q) = (logistic(f), logistic(-f));
    let slope = p * q;
    [
        p,
        slope,
        slope * (q - p),
        slope * ((q - p) * (q - p) - 2.0 * slope),
    ]
}

/// `log p` and its first three derivatives.
pub(super) fn log_jet(f: f64) -> [f64; 4] {
    let (p, q) = (logistic(f), logistic(-f));
    [-softplus(-f), q, -p * q, -p * q * (q - p)]
}

/// The latent value of a probability.
pub(super) fn inverse(p: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then(|| elementary::log(p) - elementary::log1p(-p))
}

/// The latent value of an average, its slopes in the values, and `d` and `c` of
/// [`QuasiMean`](super::QuasiMean).
pub(super) type Average = (f64, Vec<f64>, Vec<f64>, f64);

/// The average of probabilities, `p` and `1 - p` by logarithms so that both keep their digits.
///
/// # Arguments
/// * `shares` - which sum to one
pub(super) fn average(shares: &[f64], values: &[f64]) -> Average {
    let logs = |sign: f64| -> Vec<f64> {
        let each = shares.iter().zip(values);
        each.map(|(w, f)| elementary::log(*w) - softplus(-sign * f))
            .collect()
    };
    let successes = logs(1.0);
    let (p, q) = (log_sum(&successes), log_sum(&logs(-1.0)));
    let z = p - q;
    let tilt = |f: f64| logistic(-f) - logistic(f);
    let slopes = successes.iter().zip(values);
    let slopes: Vec<f64> = slopes
        .map(|(log, f)| elementary::exp(log - softplus(*f) - p - q))
        .collect();
    let own = slopes.iter().zip(values).map(|(j, f)| j * tilt(*f));
    let own = own.collect();
    (z, slopes, own, tilt(z))
}

/// Moments and expected derivatives of `p`.
pub(super) fn moments(belief: Belief) -> Moments {
    let Belief {
        mean: m,
        variance: v,
    } = belief;
    if v == 0.0 {
        let [mean, slope, bend, third] = jet(m);
        return Moments {
            mean,
            variance: 0.0,
            slope,
            bend,
            third,
            variance_in_mean: 0.0,
            variance_in_variance: slope * slope,
        };
    }
    if m > 0.0 {
        let other = moments(Belief {
            mean: -m,
            variance: v,
        });
        return Moments {
            mean: 1.0 - other.mean,
            bend: -other.bend,
            variance_in_mean: -other.variance_in_mean,
            ..other
        };
    }
    let sd = v.sqrt();
    if m + 2.0 * v + 10.0 * sd < FAR {
        far(m, v)
    } else if sd <= WIDE {
        narrow(m, sd)
    } else {
        wide(m, v)
    }
}

/// As `e^f`, of which it is next to nothing.
fn far(m: f64, v: f64) -> Moments {
    let mean = elementary::exp(m + 0.5 * v);
    let square = elementary::exp(2.0 * (m + v));
    let variance = mean * mean * elementary::expm1(v);
    Moments {
        mean,
        variance,
        slope: mean,
        bend: mean,
        third: mean,
        variance_in_mean: 2.0 * variance,
        variance_in_variance: variance + square,
    }
}

/// By deviations from the probability at `m <= 0`.
fn narrow(m: f64, sd: f64) -> Moments {
    let step = STEP.min(NARROW_STEP * sd);
    let (p, q) = (logistic(m), logistic(-m));
    // Far below zero the square is e^(2 f), which moves the weight up by twice the variance.
    let up = REACH * sd + (2.0 * sd * sd).min(-m);
    let first = -(REACH * sd / step).ceil() as i64;
    let last = (up / step).ceil() as i64;
    let mut sums = Deviations::default();
    for i in first..=last {
        let d = step * i as f64;
        let z = d / sd;
        let weight = elementary::exp(-0.5 * z * z);
        // p(m + d) - p(m) = p q (e^d - 1) / (q + p e^d).
        let growth = elementary::expm1(d);
        let whole = q + p * (1.0 + growth);
        let change = p * q * growth / whole;
        let (success, failure) = (p * (1.0 + growth) / whole, q / whole);
        let slope = success * failure;
        let tilt = failure - success;
        let bend = slope * tilt;
        let third = slope * (tilt * tilt - 2.0 * slope);
        sums.add(weight, [change, slope, bend, third]);
    }
    sums.moments(p, step / sd * normal_pdf(0.0))
}

/// What `p` and its first three derivatives differ by from those of the blurred step.
static REST: LazyLock<Table<4>> = LazyLock::new(|| {
    Table::new(-76, 76, |f| {
        let [value, slope, bend, third] = jet(f);
        let step = blurred(f, BLUR);
        // Above, one less what is left of both.
        let gap = if f > 0.0 {
            normal_cdf(-f / BLUR) - logistic(-f)
        } else {
            value - step[0]
        };
        [gap, slope - step[1], bend - step[2], third - step[3]]
    })
});

/// `Phi(m / w)` and its first three derivatives.
fn blurred(m: f64, w: f64) -> [f64; 4] {
    let a = m / w;
    let slope = normal_pdf(a) / w;
    [
        normal_cdf(a),
        slope,
        -a / w * slope,
        (a * a - 1.0) / (w * w) * slope,
    ]
}

/// `F` and its first three derivatives in the mean, of a wide belief.
fn derivatives(m: f64, v: f64) -> [f64; 4] {
    if m > 0.5 * v {
        let [mean, slope, bend, third] = derivatives(-m, v);
        return [1.0 - mean, slope, -bend, third];
    }
    if m >= -0.5 * v {
        let rest = REST.average(m, v.sqrt(), 0.0);
        let step = blurred(m, (v + BLUR * BLUR).sqrt());
        return std::array::from_fn(|k| step[k] + rest[k]);
    }
    let grown = elementary::exp(m + 0.5 * v);
    if -m - v > 0.5 * v && -m - v - 2.0 * v - 10.0 * v.sqrt() > -FAR {
        // Failures beside e^f are all but sure there.
        return [grown; 4];
    }
    let [a, b, c, d] = derivatives(-m - v, v);
    [a, a - b, a - 2.0 * b + c, a - 3.0 * (b - c) - d].map(|x| grown * x)
}

/// `E p^2` and its first two derivatives in the mean, of a wide belief.
fn squares(m: f64, v: f64, [mean, slope, bend, third]: [f64; 4]) -> [f64; 3] {
    if m >= -0.5 * v {
        return [mean - slope, slope - bend, bend - third];
    }
    // F - F' = e^(m + v / 2) F'(-m - v), where nothing cancels.
    let grown = elementary::exp(m + 0.5 * v);
    let [_, b, c, d] = derivatives(-m - v, v);
    [b, b - c, b - 2.0 * c + d].map(|x| grown * x)
}

fn wide(m: f64, v: f64) -> Moments {
    let all = derivatives(m, v);
    let [square, first, second] = squares(m, v, all);
    let [mean, slope, bend, third] = all;
    Moments {
        mean,
        variance: (square - mean * mean).max(0.0),
        slope,
        bend,
        third,
        variance_in_mean: first - 2.0 * mean * slope,
        variance_in_variance: 0.5 * second - mean * bend,
    }
}

/// Iterations of a search at most.
const STEPS: usize = 100;
/// No equivalent belief is wider: its probabilities are zero or one but for one in a thousand.
const WIDEST: f64 = 1e6;

/// The belief whose probability has a given mean and variance: Newton's method for the variance in
/// logarithms, between bounds that close in. Variances that no belief reaches are brought to that
/// of the widest.
///
/// Not a number where the mean is no probability.
pub(super) fn equivalent(mean: f64, variance: f64) -> Belief {
    let mut at = Belief {
        mean: inverse(mean).unwrap_or(f64::NAN),
        variance: 0.0,
    };
    if at.mean.is_nan() || !(variance > 0.0 && variance.is_finite()) {
        return at;
    }
    let whole = mean * (1.0 - mean);
    let part = variance / whole;
    // Of a narrow belief `v (p q)^2`; as it widens the part tends to one.
    at.variance = (part / whole / (1.0 - part).max(1e-2).powi(2)).clamp(f64::MIN_POSITIVE, WIDEST);
    let (mut low, mut high) = (0.0, WIDEST);
    for _ in 0..STEPS {
        at.mean = mean_of(mean, at.variance, at.mean);
        let seen = moments(at);
        let short = elementary::log(variance / seen.variance);
        if short.abs() < 1e-12 || short.is_nan() {
            break;
        }
        if short > 0.0 {
            low = at.variance;
        } else {
            high = at.variance;
        }
        if low >= WIDEST {
            break;
        }
        // How the variance grows with that of the belief while the mean stays.
        let along =
            seen.variance_in_variance - 0.5 * seen.variance_in_mean * seen.bend / seen.slope;
        let growth = along * at.variance / seen.variance;
        let next =
            at.variance * elementary::exp((short / growth.clamp(1e-2, 10.0)).clamp(-9.0, 9.0));
        let next = if next > low && next < high {
            next
        } else if low > 0.0 {
            (low * high).sqrt()
        } else {
            0.1 * at.variance
        };
        if next == at.variance {
            break;
        }
        at.variance = next;
    }
    at
}

/// The mean of the latent value of a given variance whose probability has the mean `want`, by
/// Newton's method in the logarithm of the odds, between bounds that close in.
pub(super) fn mean_of(want: f64, variance: f64, start: f64) -> f64 {
    let Some(odds) = inverse(want) else {
        return f64::NAN;
    };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut m = if start.is_finite() { start } else { odds };
    for _ in 0..STEPS {
        let at = Belief { mean: m, variance };
        let Moments { mean, slope, .. } = moments(at);
        let (gap, rate) = match inverse(mean) {
            Some(here) => (odds - here, mean * (1.0 - mean) / slope),
            // Nothing is left of it: back towards zero.
            None => (-0.5 * m, 1.0),
        };
        if gap.abs() < 1e-13 * (1.0 + odds.abs()) || gap.is_nan() {
            break;
        }
        if gap > 0.0 {
            low = m;
        } else {
            high = m;
        }
        let next = m + gap * rate;
        let inside = next > low && next < high;
        let next = if inside || low.is_infinite() || high.is_infinite() {
            next
        } else {
            0.5 * (low + high)
        };
        if next == m {
            break;
        }
        m = next;
    }
    m
}
