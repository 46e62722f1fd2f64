//! Marginal predictive distributions.

use std::borrow::Cow;

use rayon::prelude::*;

use super::limits::Limits;
use super::predictive::{Normal, Predictive};
use super::summary::COVERED;
use super::varying_noise::VaryingNoise;
use crate::linalg::dot;
#[cfg(feature = "mcmc")]
use crate::special::scalar::normal_cdf;
use crate::special::scalar::{log_cdf_difference, log_sum_exp, normal_pdf, normal_quantile};
use crate::special::{exp_into, normal_cdf_into};

/// A variance of which rounding may have left less than nothing; what is no number stays so.
pub(crate) fn not_negative(variance: f64) -> f64 {
    if variance < 0.0 { 0.0 } else { variance }
}

/// One marginal predictive distribution per row: a mixture of normal densities, one for every
/// node of the hyperparameter integration (one in all for MAP).
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Share of every node; sums to one.
    weights: Vec<f64>,
    /// `means[row * nodes + k]`.
    means: Vec<f64>,
    /// `sds[row * nodes + k]`, each >= 0.
    sds: Vec<f64>,
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
}

impl Prediction {
    /// From node-major moments: `moments[k]` holds the means and variances of all rows.
    pub(crate) fn from_moments(weights: Vec<f64>, moments: &[(Vec<f64>, Vec<f64>)]) -> Self {
        let rows = moments.first().map_or(0, |m| m.0.len());
        let nodes = weights.len();
        let mut out = Self {
            weights,
            means: Vec::with_capacity(rows * nodes),
            sds: Vec::with_capacity(rows * nodes),
            mean: Vec::with_capacity(rows),
            sd: Vec::with_capacity(rows),
            predictive: None,
            noise: None,
            unresolved: Vec::new(),
            is_truncated: false,
            limits: None,
        };
        for row in 0..rows {
            let mean: f64 = out
                .weights
                .iter()
                .zip(moments)
                .map(|(w, m)| w * m.0[row])
                .sum();
            let mut variance = 0.0;
            for (w, (m, v)) in out.weights.iter().zip(moments) {
                let own = not_negative(v[row]);
                variance += w * (own + (m[row] - mean).powi(2));
                out.means.push(m[row]);
                out.sds.push(own.sqrt());
            }
            out.mean.push(mean);
            out.sd.push(variance.sqrt());
        }
        out
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
        for (sd, noise) in self.sds.iter_mut().zip(noise.iter().cycle()) {
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
        for row in 0..self.len() {
            let (mean, sd) = self.row(row).moments();
            self.mean[row] = mean;
            self.sd[row] = sd;
        }
        self
    }

    /// Mean and sd of the size of a row's latent value, whatever its sign: of a folded normal
    /// distribution at every node,
    ///
    /// $$ E|z| = s \sqrt{2 / \pi} \, e^{-m^2 / 2 s^2} + m (1 - 2 \Phi(-m / s)), \qquad E|z|^2 =
    /// m^2 + s^2 $$
    #[cfg(feature = "mcmc")]
    pub(crate) fn size_of(&self, row: usize) -> (f64, f64) {
        let at = row * self.weights.len();
        let (mut first, mut second) = (0.0, 0.0);
        for (node, weight) in self.weights.iter().enumerate() {
            let (m, s) = (self.means[at + node], self.sds[at + node]);
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
        &self.weights
    }

    /// The components of a row that matter, as a predictive distribution sees them: they hold
    /// [`COVERED`] of the weight.
    pub(super) fn normals(&self, predictive: &Predictive, row: usize) -> Vec<Normal> {
        let mut held = 0.0;
        let at = row * self.weights.len();
        let mut out = Vec::new();
        for (node, &weight) in self.weights.iter().enumerate() {
            if held >= COVERED {
                break;
            }
            held += weight;
            out.push(Normal {
                row,
                node,
                weight,
                mean: self.means[at + node],
                sd: self.sds[at + node],
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
        let range = row * self.weights.len()..(row + 1) * self.weights.len();
        let latent = Mixture {
            weights: &self.weights,
            means: Cow::Borrowed(&self.means[range.clone()]),
            sds: Cow::Borrowed(&self.sds[range]),
        };
        match &self.noise {
            None => latent,
            Some(noise) => noise.added_to(&latent, row),
        }
    }
}

/// A mixture of normal densities; a component of zero sd is a point mass.
pub(crate) struct Mixture<'a> {
    pub weights: &'a [f64],
    pub means: Cow<'a, [f64]>,
    pub sds: Cow<'a, [f64]>,
}

impl Mixture<'_> {
    pub fn components(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.weights
            .iter()
            .zip(self.means.iter())
            .zip(self.sds.iter())
            .map(|((&w, &m), &s)| (w, m, s))
    }

    /// Values beyond which nothing of the mixture lies.
    pub fn range(&self) -> (f64, f64) {
        let reach = self
            .components()
            .map(|(_, m, s)| (m - 12.0 * s, m + 12.0 * s));
        let (low, high) = reach.fold((f64::INFINITY, f64::NEG_INFINITY), |r, (a, b)| {
            (r.0.min(a), r.1.max(b))
        });
        let most = low.abs().max(high.abs());
        (low.min(-most), high.max(most))
    }

    /// Mean and standard deviation.
    pub fn moments(&self) -> (f64, f64) {
        let mean: f64 = self.components().map(|(w, m, _)| w * m).sum();
        let variance: f64 = self
            .components()
            .map(|(w, m, s)| w * (s * s + (m - mean).powi(2)))
            .sum();
        (mean, variance.sqrt())
    }

    pub fn cdf(&self, y: f64, work: &mut Work) -> f64 {
        work.standardise(self, y);
        normal_cdf_into(&work.z, &mut work.value);
        dot(self.weights, &work.value)
    }

    pub fn log_density(&self, y: f64) -> f64 {
        let logs: Vec<f64> = self
            .components()
            .map(|(w, m, s)| w.ln() + log_normal_density(y, m, s * s))
            .collect();
        log_sum_exp(&logs)
    }

    /// Log of the probability of more than `lower` and at most `upper`, which is larger.
    ///
    /// # Numerics
    /// A sum of positive terms, each right in its far tails.
    pub fn log_between(&self, lower: f64, upper: f64) -> f64 {
        let logs = self.components().map(|(w, m, s)| match s > 0.0 {
            true => w.ln() + log_cdf_difference((lower - m) / s, (upper - m) / s),
            false if lower < m && m <= upper => w.ln(),
            false => f64::NEG_INFINITY,
        });
        log_sum_exp(&logs.collect::<Vec<f64>>())
    }

    /// Distribution function, density and its slope; point masses have no density.
    fn cdf_and_density(&self, y: f64, work: &mut Work) -> [f64; 3] {
        let cdf = self.cdf(y, work);
        // Steps need fewer digits of the density than the distribution function has.
        work.exponent.clear();
        work.exponent.extend(work.z.iter().map(|z| -0.5 * z * z));
        exp_into(&work.exponent, &mut work.value);
        let highest = normal_pdf(0.0);
        let (mut density, mut slope) = (0.0, 0.0);
        for ((w, _, s), (z, value)) in self.components().zip(work.z.iter().zip(&work.value)) {
            if s > 0.0 {
                let own = highest * w * value / s;
                density += own;
                slope -= own * z / s;
            }
        }
        [cdf, density, slope]
    }

    /// The `p`-quantile.
    ///
    /// # Numerics
    /// Halley's method on the normal score of the distribution function: errors are cubed, two or
    /// three values of it do for components that are alike.
    pub fn quantile(&self, p: f64, work: &mut Work) -> f64 {
        let z = normal_quantile(p);
        // The mixture's quantile lies between those of its components: steps are taken inside that
        // bracket, which is halved whenever one would leave it or shrinks it too slowly. The normal
        // score is a straight line for a single component and nearly one for a mixture of similar
        // ones, tails included.
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut centre, mut widest) = (0.0, 0.0_f64);
        for (w, m, s) in self.components() {
            let q = m + s * z;
            (lo, hi) = (lo.min(q), hi.max(q));
            centre += w * q;
            widest = widest.max(s);
        }
        if lo > hi {
            // No component is a number.
            return f64::NAN;
        }
        let tolerance = 1e-13 * widest + f64::EPSILON * lo.abs().max(hi.abs());
        let mut y = centre.clamp(lo, hi);
        let mut last = hi - lo;
        // The length of the step before, where it was one of Halley's.
        let mut before = 0.0;
        for _ in 0..200 {
            if hi - lo <= tolerance {
                break;
            }
            let [cdf, density, slope] = self.cdf_and_density(y, work);
            if cdf < p {
                lo = y;
            } else {
                hi = y;
            }
            let score = normal_quantile(cdf);
            // First and second derivative of the score.
            let rate = density / normal_pdf(score);
            let bend = slope / normal_pdf(score) + score * rate * rate;
            let newton = (score - z) / rate;
            let shrink = 1.0 - 0.5 * newton * bend / rate;
            let is_near = (0.5..2.0).contains(&shrink);
            let step = if is_near { newton / shrink } else { newton };
            let to = y - step;
            let usable = to > lo && to < hi && step.abs() < 0.5 * last;
            let next = if usable { to } else { 0.5 * (lo + hi) };
            last = (next - y).abs();
            y = next;
            // The next step would be as much shorter than this as this is than the last, cubed.
            let ahead = last * (last / before).powi(3);
            if usable && (last <= tolerance || last < 0.1 * before && ahead <= tolerance) {
                break;
            }
            before = if usable && is_near { last } else { 0.0 };
        }
        y
    }
}

/// Buffers of one thread, one entry per component.
#[derive(Default)]
pub(crate) struct Work {
    z: Vec<f64>,
    exponent: Vec<f64>,
    value: Vec<f64>,
}

impl Work {
    /// `z = (y - mean) / sd`; infinite for a point mass.
    fn standardise(&mut self, mixture: &Mixture<'_>, y: f64) {
        self.value.resize(mixture.weights.len(), 0.0);
        self.z.clear();
        self.z.extend(mixture.components().map(|(_, m, s)| {
            if s > 0.0 {
                (y - m) / s
            } else if y >= m {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            }
        }));
    }
}

/// `log N(y | mean, variance)`.
pub(crate) fn log_normal_density(y: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + (y - mean).powi(2) / variance)
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
