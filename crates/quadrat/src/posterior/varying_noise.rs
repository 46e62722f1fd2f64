//! Normal noise whose variance is a function that is only known in distribution.

use std::borrow::Cow;

use super::normal_mixture::{Mixture, RowMixtures};
use crate::inference::sites::pair::scale;
use crate::link::Link;
use crate::special::scalar::normal_pdf;

/// Standard deviations of the function that are integrated over, and steps to either side: half a
/// standard deviation each, exact to 1e-6.
const REACH: f64 = 5.0;
const STEPS: i64 = 10;

/// Noise of the variance `known + link(g)` with `g` normal at every node: a mixture of normal
/// noises, one for every abscissa of `g`. A row's mixture is made when it is asked for: those of
/// all rows are 21 times as large as `g`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VaryingNoise {
    g: RowMixtures,
    link: Link,
    /// Of each row, or one of all.
    known: Vec<f64>,
    /// Of every node, that of every abscissa; sums to one.
    weights: Vec<f64>,
}

impl VaryingNoise {
    /// `g` has the nodes of the values that the noise is added to, and its rows.
    pub fn new(g: RowMixtures, link: Link, known: Vec<f64>) -> Self {
        let shares: Vec<f64> = abscissae().map(normal_pdf).collect();
        let total: f64 = shares.iter().sum();
        let weights = g
            .weights
            .iter()
            .flat_map(|weight| shares.iter().map(move |share| weight * share / total))
            .collect();
        Self {
            g,
            link,
            known,
            weights,
        }
    }

    /// The values of a row with the noise added.
    pub fn added_to<'a>(&'a self, values: &Mixture<'_>, row: usize) -> Mixture<'a> {
        let g = self.g.row(row);
        let known = self.known[row.min(self.known.len() - 1)];
        let (mut means, mut sds) = (Vec::new(), Vec::new());
        for ((_, mean, sd), (_, centre, spread)) in values.components().zip(g.components()) {
            for z in abscissae() {
                let noise = known + scale(self.link, centre + z * spread);
                means.push(mean);
                sds.push((sd * sd + noise).sqrt());
            }
        }
        Mixture {
            weights: &self.weights,
            means: Cow::Owned(means),
            sds: Cow::Owned(sds),
        }
    }
}

/// Standard normal values, evenly spaced.
fn abscissae() -> impl Iterator<Item = f64> {
    (-STEPS..=STEPS).map(|i| REACH * i as f64 / STEPS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::prediction::Prediction;

    /// Two nodes, two rows.
    fn noisy() -> Prediction {
        let weights = || vec![0.25, 0.75];
        let values = [
            (vec![0.0, 2.0], vec![1.0, 0.5]),
            (vec![4.0, 3.0], vec![2.0, 0.0]),
        ];
        let g = [
            (vec![-1.0, 0.5], vec![0.3, 0.0]),
            (vec![0.2, -2.0], vec![0.1, 0.4]),
        ];
        let g = RowMixtures::from_moments(weights(), &g);
        let noise = VaryingNoise::new(g, Link::Exp, vec![0.125]);
        Prediction::from_moments(weights(), &values).with_varying_noise(noise)
    }

    #[test]
    fn moments_are_those_of_log_normal_variances() {
        let p = noisy();
        // E exp(g) = exp(m + s / 2) at every node; E[v] + Var[m] over the nodes.
        let first = 0.25 * (1.0 + (-0.85_f64).exp()) + 0.75 * (2.0 + 0.25_f64.exp());
        let first = first + 0.125 + 0.25 * 9.0 + 0.75;
        let second = 0.25 * (0.5 + 0.5_f64.exp()) + 0.75 * (-1.8_f64).exp();
        let second = second + 0.125 + 0.25 * 0.75;
        for (row, (mean, variance)) in [(3.0, first), (2.75, second)].into_iter().enumerate() {
            assert!((p.mean()[row] - mean).abs() < 1e-12);
            // The abscissae end at five standard deviations: a share of 6e-7 is left out.
            assert!((p.sd()[row].powi(2) / variance - 1.0).abs() < 2e-6, "{row}");
        }
    }

    #[test]
    fn quantiles_density_and_distribution_function_are_of_one_distribution() {
        let p = noisy();
        for level in [0.001, 0.3, 0.5, 0.975] {
            let q = p.quantile(level);
            let h = 1e-4;
            let shifted = |by: f64| p.cdf(&q.iter().map(|q| q + by).collect::<Vec<_>>());
            let (above, below, at) = (shifted(h), shifted(-h), p.cdf(&q));
            let density = p.log_density(&q);
            for row in 0..2 {
                // The search for a quantile ends at rounding: found is 3e-15.
                assert!((at[row] - level).abs() < 1e-11);
                // A central difference: its error is of the order of h^2.
                let slope = (above[row] - below[row]) / (2.0 * h);
                assert!((slope - density[row].exp()).abs() < 1e-7, "{level}");
            }
        }
        let positive = p.non_negative();
        for level in [0.01, 0.6] {
            let back = positive.cdf(&positive.quantile(level));
            assert!(back.iter().all(|b| (b - level).abs() < 1e-11));
        }
    }
}
