//! Expected log-densities of counts behind `exp`, of many dispersions on one grid of latent values.
//!
//! With `mu = exposure e^f`, `o = mu / (1 + alpha mu)` and `a = 1 / alpha`,
//!
//! $$ \log p = c + y \log \mu - (y + a) \log(1 + \alpha \mu), \quad (\log p)' = y - (1 + \alpha y)
//! o, \quad (\log p)'' = -\frac{(1 + \alpha y) o}{1 + \alpha \mu} $$
//!
//! whose expectations are those of three functions of `alpha mu` under the belief.
//!
//! # Numerics
//! The trapezoid rule, in steps of at most 0.6 standard deviations and of 0.35: the three functions
//! are analytic up to `pi i`, and the normal density falls as fast as it grows towards there. Below
//! 1e-12 of the values for counts up to a thousand and dispersions from 1e-17 to 1e13. All nodes
//! are taken in searches too: there are few.

use pulp::{Arch, Simd, WithSimd};

use super::count_grid::{MOST, log_coefficient, log1p_simd, nodes};
use super::count_rows::CountRows;
use super::local::{Belief, Expected};
use crate::link::{CLIP, Link};
use crate::special::elementary;

/// Standard deviations to either side; further by the standard deviation itself, for the mean of
/// `e^f` is that far from the centre.
const REACH: f64 = 9.0;
/// Longest step in standard deviations, and in `f` itself.
const STEP: (f64, f64) = (0.6, 0.35);

/// Weights of latent values, and means of the count there.
struct Weights {
    weight: Vec<f64>,
    mean: Vec<f64>,
}

impl Weights {
    /// `None` where there would be many, or where means are clipped.
    fn new(log_exposure: f64, belief: Belief) -> Option<Self> {
        let sd = belief.variance.sqrt();
        if !(sd > 0.0 && belief.mean.is_finite()) {
            return None;
        }
        let reach = (REACH + sd) * sd;
        if belief.mean + log_exposure + reach > CLIP {
            return None;
        }
        let step = (STEP.0 * sd).min(STEP.1);
        let away = nodes(-reach, reach, step)?;
        let share = elementary::log(step / (2.0 * std::f64::consts::PI * belief.variance).sqrt());
        let density = |u: &f64| share - 0.5 * u * u / belief.variance;
        let mut weight: Vec<f64> = away.iter().map(density).collect();
        let log = |u: &f64| belief.mean + log_exposure + u;
        let mut mean: Vec<f64> = away.iter().map(log).collect();
        crate::special::exp(&mut weight);
        crate::special::exp(&mut mean);
        Some(Self { weight, mean })
    }
}

impl CountRows {
    /// [`super::local::Local::expected_over`] of dispersions.
    pub(super) fn expected_over(
        &self,
        row: usize,
        dispersions: &[f64],
        belief: Belief,
        out: &mut [Expected],
    ) {
        let suits = self.link == Link::Exp && self.is_exact(row) && !self.is_void(row);
        let suits = suits && self.lower[row] <= MOST;
        let log_exposure = elementary::log(self.exposure[row]);
        let weights = match suits {
            true => Weights::new(log_exposure, belief),
            false => None,
        };
        let y = self.lower[row];
        for (&dispersion, out) in dispersions.iter().zip(out) {
            *out = match &weights {
                Some(nodes) if dispersion > 0.0 => {
                    let [stretch, odds, bend] = Arch::new().dispatch(Means { nodes, dispersion });
                    let growth = 1.0 + dispersion * y;
                    Expected {
                        value: log_coefficient(y, dispersion) + y * (log_exposure + belief.mean)
                            - growth / dispersion * stretch,
                        first: y - growth * odds,
                        second: -growth * bend,
                    }
                }
                _ => self.expected(row, dispersion, belief),
            };
        }
    }
}

/// Means of `log(1 + alpha mu)`, `o` and `o / (1 + alpha mu)`.
struct Means<'a> {
    nodes: &'a Weights,
    dispersion: f64,
}

impl WithSimd for Means<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> Self::Output {
        // There are a multiple of every number of lanes.
        let (mean, _) = S::as_simd_f64s(&self.nodes.mean);
        let (weight, _) = S::as_simd_f64s(&self.nodes.weight);
        let (one, dispersion) = (s.splat_f64s(1.0), s.splat_f64s(self.dispersion));
        let mut sums = [s.splat_f64s(0.0); 3];
        for (mean, weight) in mean.iter().zip(weight) {
            let spread = s.mul_f64s(dispersion, *mean);
            let share = s.div_f64s(one, s.add_f64s(one, spread));
            let odds = s.mul_f64s(*mean, share);
            let terms = [log1p_simd(s, spread), odds, s.mul_f64s(odds, share)];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum = s.mul_add_f64s(*weight, term, *sum);
            }
        }
        sums.map(|sum| s.reduce_sum_f64s(sum))
    }
}
