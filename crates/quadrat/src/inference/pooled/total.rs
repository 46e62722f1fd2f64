//! Mean and variance of a weighted sum after a link.

use crate::likelihood::local::Belief;
use crate::link::Link;

/// What is believed of `sum_i w_i psi(f_i)` for jointly normal `f`.
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
/// `O(n^2)`; closed forms, but for the covariances of `softplus`: see [`Link::covariance`].
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
        let (mean, variance) = link.mean_variance(*one);
        return Total {
            belief: *one,
            slopes: vec![1.0],
            mean,
            variance,
        };
    }
    let slopes: Vec<(f64, f64)> = at.iter().map(|b| link.expected_slopes(*b)).collect();
    let (mut mean, mut variance) = (0.0, 0.0);
    for (i, (&w, &b)) in weights.iter().zip(at).enumerate() {
        let (own, spread) = link.mean_variance(b);
        mean += w * own;
        variance += w * w * spread;
        for j in 0..i {
            let c = link.covariance(b, at[j], [slopes[i], slopes[j]], covariance(i, j));
            variance += 2.0 * w * weights[j] * c;
        }
    }
    let variance = variance.max(0.0);
    let belief = link.equivalent(mean, variance);
    let (unit, _) = link.expected_slopes(belief);
    let slopes = weights.iter().zip(&slopes).map(|(w, s)| w * s.0 / unit);
    Total {
        belief,
        slopes: slopes.collect(),
        mean,
        variance,
    }
}
