//! Probabilities `p = Phi(f)`: jets, averages, and expectations under a normal belief `N(m, v)`,
//! which are closed forms but for one smooth integral.
//!
//! With `w^2 = 1 + v` and `a = m / w`
//!
//! $$ \operatorname E p = \Phi(a), \qquad \operatorname{Var} p = \frac{1}{2 \pi}
//! \int_0^{\arcsin(v / w^2)} e^{-a^2 / (1 + \sin t)} dt $$
//!
//! # Source
//! Plackett 1954 for the variance, as the bivariate normal distribution function less the product
//! of its margins.

use std::sync::LazyLock;

use super::logit::Average;
use super::moment::Moments;
use super::scalars::log_sum;
use crate::likelihood::local::Belief;
use crate::quadrature::{Rule, gauss_legendre};
use crate::special::scalar::{log_cdf, normal_cdf, normal_pdf, normal_quantile};
use crate::special::{Hazard, elementary};

/// Nodes of the integral: right to 1e-13 where a probability above 1e-15 is expected.
const NODES: usize = 24;
static RULE: LazyLock<Rule> = LazyLock::new(|| gauss_legendre(NODES));
/// Logarithms of probabilities below which they are no numbers.
const NOTHING: f64 = -700.0;
/// Iterations of a search at most.
const STEPS: usize = 100;
/// No equivalent belief is wider.
const WIDEST: f64 = 1e6;

/// `p` and its first three derivatives.
pub(super) fn jet(f: f64) -> [f64; 4] {
    let slope = normal_pdf(f);
    [normal_cdf(f), slope, -f * slope, (f * f - 1.0) * slope]
}

/// `log p` and its first three derivatives.
pub(super) fn log_jet(f: f64) -> [f64; 4] {
    let Hazard { h, sum, rest } = Hazard::new(f);
    [log_cdf(f), h, -h * sum, h * (sum * sum - rest)]
}

/// The latent value of a probability.
pub(super) fn inverse(p: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then(|| normal_quantile(p))
}

/// The latent value of a probability below one half, from its logarithm.
fn lower(log_p: f64) -> f64 {
    if log_p > NOTHING {
        return normal_quantile(elementary::exp(log_p));
    }
    let mut x = -(-2.0 * log_p).sqrt();
    // The logarithm is all but a parabola there: a few steps of Newton's method end.
    for _ in 0..6 {
        x += (log_p - log_cdf(x)) / Hazard::new(x).h;
    }
    x
}

/// The average of probabilities, `p` and `1 - p` by logarithms so that both keep their digits.
///
/// # Arguments
/// * `shares` - which sum to one
pub(super) fn average(shares: &[f64], values: &[f64]) -> Average {
    let log = |sign: f64| {
        let each = shares.iter().zip(values);
        let logs = each.map(|(w, f)| elementary::log(*w) + log_cdf(sign * f));
        log_sum(&logs.collect::<Vec<f64>>())
    };
    let (p, q) = (log(1.0), log(-1.0));
    let z = if p < q { lower(p) } else { -lower(q) };
    // phi(f) / phi(z).
    let slopes = shares.iter().zip(values);
    let slopes: Vec<f64> = slopes
        .map(|(w, f)| w * elementary::exp(0.5 * (z - f) * (z + f)))
        .collect();
    let own = slopes.iter().zip(values).map(|(j, f)| -f * j).collect();
    (z, slopes, own, -z)
}

/// Moments and expected derivatives of `p`.
pub(super) fn moments(belief: Belief) -> Moments {
    let Belief {
        mean: m,
        variance: v,
    } = belief;
    let w = (1.0 + v).sqrt();
    let a = m / w;
    let [mean, slope, bend, third] = jet(a);
    let (slope, bend, third) = (slope / w, bend / (w * w), third / (w * w * w));
    // E p p' = E p' Phi(b), b = a / sqrt(1 + 2 v).
    let u = (1.0 + 2.0 * v).sqrt();
    let b = a / u;
    let more = normal_cdf(b) - mean;
    Moments {
        mean,
        variance: variance(a, v / (w * w)),
        slope,
        bend,
        third,
        variance_in_mean: 2.0 * slope * more,
        variance_in_variance: slope * normal_pdf(b) / (w * u) + bend * more,
    }
}

/// `Var p` by `a` and the correlation of two values that differ by their noise alone.
fn variance(a: f64, correlation: f64) -> f64 {
    let end = correlation.min(1.0).asin();
    let each = RULE.on(0.0, end);
    let sum: f64 = each
        .map(|(t, weight)| weight * elementary::exp(-a * a / (1.0 + t.sin())))
        .sum();
    0.5 * std::f64::consts::FRAC_1_PI * sum
}

/// The belief whose probability has a given mean and variance: Newton's method for the angle up to
/// which is integrated, between bounds that close in. Variances that no belief reaches are brought
/// to that of the widest.
///
/// Not a number where the mean is no probability.
pub(super) fn equivalent(mean: f64, variance_of: f64) -> Belief {
    let Some(a) = inverse(mean) else {
        return Belief {
            mean: f64::NAN,
            variance: 0.0,
        };
    };
    if !(variance_of > 0.0 && variance_of.is_finite()) {
        return Belief {
            mean: a,
            variance: 0.0,
        };
    }
    let most = (WIDEST / (1.0 + WIDEST)).asin();
    let (mut low, mut high) = (0.0, most);
    let density =
        |t: f64| 0.5 * std::f64::consts::FRAC_1_PI * elementary::exp(-a * a / (1.0 + t.sin()));
    // Convex from zero on: a first step from there ends above, where it does not end beyond.
    let mut t = (variance_of / density(0.0)).min(0.5 * most);
    for _ in 0..STEPS {
        let gap = variance_of - variance(a, t.sin());
        if gap.abs() <= 1e-14 * variance_of {
            break;
        }
        if gap > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let next = t + gap / density(t);
        let next = if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
        if next == t {
            break;
        }
        t = next;
    }
    let variance = t.sin() / (1.0 - t.sin());
    Belief {
        mean: a * (1.0 + variance).sqrt(),
        variance,
    }
}

/// The mean of the latent value of another variance whose probability has the same mean.
pub(super) fn moved(belief: Belief, variance: f64) -> f64 {
    belief.mean * ((1.0 + variance) / (1.0 + belief.variance)).sqrt()
}
