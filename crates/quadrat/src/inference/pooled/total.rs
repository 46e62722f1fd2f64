//! Mean and variance of a weighted sum after a link.

use crate::likelihood::local::Belief;
use crate::linalg::dot;
use crate::link::{CLIP, Link, Linked, Moments};

/// Above this, squares of means and variances after `exp` overflow.
const LARGE: f64 = 200.0;

/// Moments of `sum_i w_i psi(f_i)` for jointly normal `f`.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The normal belief about a latent value whose linked value has the same mean and variance.
    pub belief: Belief,
    /// `w_i E psi'(f_i) / E psi'(z)`, with `z` of that belief.
    pub slopes: Vec<f64>,
    /// Mean of the sum.
    pub mean: f64,
    /// Variance of the sum.
    pub variance: f64,
}

/// Mean and variance of `sum_i w_i psi(f_i)`, and the normal latent value they amount to.
///
/// # Arguments
/// * `weights` - `w`, each above zero, shape `[n]`
/// * `at` - mean and variance of every `f_i`
/// * `covariance` - of `f_i` and `f_j`, asked for `i > j`
/// # Numerics
/// `O(n^2)`; closed forms, but for `softplus`: see [`Linked::covariances`].
/// # Examples
/// ```
/// use quadrat::{inference::pooled::total, likelihood::local::Belief, link::Link};
/// let at = [Belief { mean: 0.0, variance: 0.5 }; 2];
/// // Independent: means add up, and so do variances.
/// let seen = total(Link::Exp, &[1.0, 1.0], &at, |_, _| 0.0);
/// let e = 0.25f64.exp();
/// assert!((seen.mean - 2.0 * e).abs() < 1e-14);
/// assert!((seen.variance - 2.0 * e * e * 0.5f64.exp_m1()).abs() < 1e-14);
/// ```
#[must_use]
pub fn total(
    link: Link,
    weights: &[f64],
    at: &[Belief],
    covariance: impl Fn(usize, usize) -> f64,
) -> Total {
    if let ([w], [one]) = (weights, at)
        && *w == 1.0
    {
        let Moments { mean, variance, .. } = link.moments(*one);
        return Total {
            belief: *one,
            slopes: vec![1.0],
            mean,
            variance,
        };
    }
    let is_large = |b: &Belief| b.variance > LARGE || b.mean + 0.5 * b.variance > LARGE;
    if link == Link::Exp && at.iter().any(is_large) {
        return large(weights, at, covariance);
    }
    let values = Linked::new(link, at);
    let seen = values.moments();
    let (mut mean, mut variance) = (0.0, 0.0);
    let mut linked = vec![0.0; at.len()];
    for (i, (&w, own)) in weights.iter().zip(seen).enumerate() {
        mean += w * own.mean;
        let latent: Vec<f64> = (0..i).map(|j| covariance(i, j)).collect();
        values.covariances(i, &latent, &mut linked[..i]);
        variance += w * (w * own.variance + 2.0 * dot(&weights[..i], &linked[..i]));
    }
    let variance = variance.max(0.0);
    let belief = link.equivalent(mean, variance);
    let unit = link.moments(belief).slope;
    let slopes = weights.iter().zip(seen);
    let slopes = slopes.map(|(w, s)| w * s.slope / unit);
    Total {
        belief,
        slopes: slopes.collect(),
        mean,
        variance,
    }
}

/// As [`total`] for `exp`, by logarithms: the latent value is right also where mean and variance
/// overflow.
fn large(weights: &[f64], at: &[Belief], covariance: impl Fn(usize, usize) -> f64) -> Total {
    let logs: Vec<f64> = weights
        .iter()
        .zip(at)
        .map(|(w, b)| w.ln() + b.mean + 0.5 * b.variance)
        .collect();
    let mut squares = Vec::with_capacity(at.len() * (at.len() + 1) / 2);
    for (i, b) in at.iter().enumerate() {
        squares.push(2.0 * logs[i] + b.variance);
        for j in 0..i {
            squares.push(std::f64::consts::LN_2 + logs[i] + logs[j] + covariance(i, j));
        }
    }
    let (first, second) = (log_sum(&logs), log_sum(&squares));
    let variance = (second - 2.0 * first).max(0.0);
    Total {
        belief: Belief {
            mean: first - 0.5 * variance,
            variance,
        },
        slopes: logs.iter().map(|log| (log - first).exp()).collect(),
        mean: first.min(CLIP).exp(),
        // E Z^2 - (E Z)^2, with v = log E Z^2 - 2 log E Z.
        variance: -second.min(CLIP).exp() * (-variance).exp_m1(),
    }
}

/// `log sum exp`.
fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logs.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_tell_the_same_and_do_not_overflow() {
        let weights = [0.5, 2.0, 1.0];
        let at = |shift: f64, spread: f64| {
            [(0.1, 0.9), (-0.4, 1.3), (0.7, 0.8)].map(|(m, v)| Belief {
                mean: m + shift,
                variance: v + spread,
            })
        };
        // A common shift and a common spread of all values are those of the sum.
        let plain = total(Link::Exp, &weights, &at(0.0, 0.0), |_, _| 0.3);
        let same = large(&weights, &at(0.0, 0.0), |_, _| 0.3);
        let huge = total(Link::Exp, &weights, &at(-700.0, 1500.0), |_, _| 1500.3);
        for (got, shift, spread) in [(&same, 0.0, 0.0), (&huge, -700.0, 1500.0)] {
            let (a, b) = (got.belief, plain.belief);
            // Cancellation of logarithms of some thousands.
            assert!((a.mean - b.mean - shift).abs() < 1e-11, "{a:?} {b:?}");
            assert!(
                (a.variance - b.variance - spread).abs() < 1e-11,
                "{a:?} {b:?}"
            );
            for (x, y) in got.slopes.iter().zip(&plain.slopes) {
                assert!((x - y).abs() < 1e-11);
            }
        }
        // Rounding of exponents of order one.
        assert!((same.mean / plain.mean - 1.0).abs() < 1e-13);
        assert!(huge.mean.is_finite() && huge.variance.is_finite());
    }
}
