//! Marginal predictive distributions.

use rayon::prelude::*;

use super::limits::Limits;
use super::normal_mixture::{Mixture, RowMixtures};
use super::predictive::{LatentComponent, Predictive};
use super::stretch::Stretch;
use super::summary::COVERED;
use super::varying_noise::VaryingNoise;
#[cfg(feature = "mcmc")]
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Moments of so many rows are one task.
const TOGETHER: usize = 256;

/// One marginal predictive distribution per row: a mixture of normal densities, one for every
/// node of the hyperparameter integration (one in all for MAP).
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Of the latent values, with the noise of observations where that is normal.
    latent: RowMixtures,
    pub(crate) mean: Vec<f64>,
    pub(crate) sd: Vec<f64>,
    /// What is predicted of the latent values; `None`: they themselves.
    pub(crate) predictive: Option<Predictive>,
    /// Noise on the latent values that is not one variance for a node.
    pub(crate) noise: Option<VaryingNoise>,
    /// Rows whose sds are not known, see [`Self::unresolved`].
    unresolved: Vec<usize>,
    /// Whether the marginals are those given that they are not negative.
    pub(crate) is_truncated: bool,
    /// Between which numbers the instrument reports, where that is asked.
    pub(crate) limits: Option<Limits>,
    /// Stretches of a line along which the mixtures are analytic.
    pub(super) stretches: Vec<Stretch>,
}

impl Prediction {
    /// From node-major moments: `moments[k]` holds the means and variances of all rows.
    pub(crate) fn from_moments(weights: Vec<f64>, moments: &[(Vec<f64>, Vec<f64>)]) -> Self {
        let rows = moments.first().map_or(0, |m| m.0.len());
        let out = Self {
            latent: RowMixtures::from_moments(weights, moments),
            mean: vec![0.0; rows],
            sd: vec![0.0; rows],
            predictive: None,
            noise: None,
            unresolved: Vec::new(),
            is_truncated: false,
            limits: None,
            stretches: Vec::new(),
        };
        out.with_moments_of_rows()
    }

    /// The same, of rows along a line.
    pub(super) fn along(mut self, stretches: Vec<Stretch>) -> Self {
        self.stretches = stretches;
        self
    }

    /// The same, of which some rows' sds are not known.
    pub(crate) fn leaving(mut self, unresolved: Vec<usize>) -> Self {
        self.unresolved = unresolved;
        self
    }

    /// Rows whose sds are smaller than arithmetic can tell, while the noise of observations is
    /// small enough for that to matter: where values vary by 1e8 and are known to 1, the variances
    /// of places that were not observed are differences of numbers of 1e16, known to some units.
    /// The sds that stand there are the rounding of these differences, not less than the sds.
    #[must_use]
    pub fn unresolved(&self) -> &[usize] {
        &self.unresolved
    }

    /// What the latent values mean for observations.
    pub(crate) fn through(mut self, predictive: Predictive) -> Self {
        if let Some(noise) = predictive.normal_noise() {
            return self.with_noise(&noise);
        }
        let moments: Vec<(f64, f64)> = (0..self.len())
            .into_par_iter()
            .map(|row| predictive.moments(&self.normals(&predictive, row)))
            .collect();
        for (row, (mean, sd)) in moments.into_iter().enumerate() {
            self.mean[row] = mean;
            self.sd[row] = sd;
        }
        self.predictive = Some(predictive);
        self
    }

    /// The same with normal noise added, one variance for every node, of each row or of all.
    fn with_noise(mut self, noise: &[f64]) -> Self {
        for (sd, noise) in self.latent.sds.iter_mut().zip(noise.iter().cycle()) {
            *sd = (*sd * *sd + noise).sqrt();
        }
        self.with_moments_of_rows()
    }

    /// The same with normal noise added whose variance is uncertain and differs from row to row.
    pub(crate) fn with_varying_noise(mut self, noise: VaryingNoise) -> Self {
        self.noise = Some(noise);
        self.with_moments_of_rows()
    }

    fn with_moments_of_rows(mut self) -> Self {
        let rows = (0..self.len()).into_par_iter().with_min_len(TOGETHER);
        let moments: Vec<(f64, f64)> = rows.map(|row| self.row(row).moments()).collect();
        (self.mean, self.sd) = moments.into_iter().unzip();
        self
    }

    /// Mean and sd of the size of a row's latent value, whatever its sign: of a folded normal
    /// distribution at every node,
    ///
    /// $$ E|z| = s \sqrt{2 / \pi} \, e^{-m^2 / 2 s^2} + m (1 - 2 \Phi(-m / s)), \qquad E|z|^2 =
    /// m^2 + s^2 $$
    #[cfg(feature = "mcmc")]
    pub(crate) fn size_of(&self, row: usize) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, m, s) in self.latent.row(row).components() {
            let mean = match s > 0.0 {
                true => 2.0 * s * normal_pdf(m / s) + m * (1.0 - 2.0 * normal_cdf(-m / s)),
                false => m.abs(),
            };
            first += weight * mean;
            second += weight * (m * m + s * s);
        }
        (first, (second - first * first).max(0.0).sqrt())
    }

    /// Shares of the nodes.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.latent.weights
    }

    /// The mixtures of the rows.
    pub(super) fn latent(&self) -> &RowMixtures {
        &self.latent
    }

    /// The mixtures of the rows alone.
    pub(crate) fn into_latent(self) -> RowMixtures {
        self.latent
    }

    /// The components of a row that matter, as a predictive distribution sees them: they hold
    /// [`COVERED`] of the weight.
    pub(super) fn normals(&self, predictive: &Predictive, row: usize) -> Vec<LatentComponent> {
        let mut held = 0.0;
        let latent = self.latent.row(row);
        let mut out = Vec::new();
        for (node, (weight, mean, sd)) in latent.components().enumerate() {
            if held >= COVERED {
                break;
            }
            held += weight;
            out.push(LatentComponent {
                row,
                node,
                weight,
                mean,
                sd,
                spread: None,
            });
        }
        predictive.spread_out(row, out)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mean.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// Means.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviations.
    #[must_use]
    pub fn sd(&self) -> &[f64] {
        &self.sd
    }

    pub(crate) fn row(&self, row: usize) -> Mixture<'_> {
        let latent = self.latent.row(row);
        match &self.noise {
            None => latent,
            Some(noise) => noise.added_to(&latent, row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_and_cdf_invert_each_other() {
        let moments = vec![
            (vec![0.0, 1e6], vec![1.0, 4.0]),
            (vec![3.0, 1e6 + 1.0], vec![0.01, 0.0]),
            (vec![-40.0, 1e6], vec![25.0, 1e-12]),
        ];
        let prediction = Prediction::from_moments(vec![0.5, 0.3, 0.2], &moments);
        for p in [1e-6, 0.025, 0.4, 0.5, 0.62, 0.975, 1.0 - 1e-6] {
            let q = prediction.quantile(p);
            let back = prediction.cdf(&q)[0];
            // Quantiles are right to 1e-12 of the sd, 17, under densities of at most one.
            assert!((back - p).abs() < 1e-11, "{p} {back}");
        }
        // A point mass of 0.3 at 1e6 + 1: every level it covers has it as quantile.
        assert!((prediction.quantile(0.75)[1] - (1e6 + 1.0)).abs() < 1e-9);
    }

    #[test]
    fn moments_of_a_mixture() {
        let p = Prediction::from_moments(
            vec![0.25, 0.75],
            &[(vec![0.0], vec![1.0]), (vec![4.0], vec![2.0])],
        );
        // Numbers of few bits, and the ulp of a root.
        assert!((p.mean()[0] - 3.0).abs() < 1e-15);
        // E[v] + Var[m] = 1.75 + 0.25 * 9 + 0.75 * 1
        assert!((p.sd()[0] - 4.75_f64.sqrt()).abs() < 1e-15);
        let single = Prediction::from_moments(vec![1.0], &[(vec![2.0], vec![9.0])]);
        assert!((single.quantile(0.975)[0] - (2.0 + 3.0 * 1.959_963_984_540_054)).abs() < 1e-12);
        assert!((single.log_density(&[5.0])[0] + 2.517_550_821_872_782_6).abs() < 1e-14);
    }
}
