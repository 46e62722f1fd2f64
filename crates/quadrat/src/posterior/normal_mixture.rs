//! Mixtures of normal densities, one for every row.

use std::borrow::Cow;

use crate::linalg::dot;
use crate::special::scalar::{log_cdf_difference, log_sum_exp, normal_pdf, normal_quantile};
use crate::special::{exp_into, normal_cdf_into};

/// A variance of which rounding may have left less than nothing; what is no number stays so.
pub(crate) fn not_negative(variance: f64) -> f64 {
    if variance < 0.0 { 0.0 } else { variance }
}

/// One mixture for every row, all with the same shares: one density for every node of the
/// hyperparameter integration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowMixtures {
    /// Share of every node; sums to one.
    pub weights: Vec<f64>,
    /// `means[row * nodes + k]`.
    pub means: Vec<f64>,
    /// `sds[row * nodes + k]`, each >= 0.
    pub sds: Vec<f64>,
}

impl RowMixtures {
    /// From node-major moments: `moments[k]` holds the means and variances of all rows.
    pub fn from_moments(weights: Vec<f64>, moments: &[(Vec<f64>, Vec<f64>)]) -> Self {
        let rows = moments.first().map_or(0, |m| m.0.len());
        let mut means = Vec::with_capacity(rows * weights.len());
        let mut sds = Vec::with_capacity(rows * weights.len());
        for row in 0..rows {
            for (mean, variance) in moments {
                means.push(mean[row]);
                sds.push(not_negative(variance[row]).sqrt());
            }
        }
        Self {
            weights,
            means,
            sds,
        }
    }

    /// That of a row.
    pub fn row(&self, row: usize) -> Mixture<'_> {
        let range = row * self.weights.len()..(row + 1) * self.weights.len();
        Mixture {
            weights: &self.weights,
            means: Cow::Borrowed(&self.means[range.clone()]),
            sds: Cow::Borrowed(&self.sds[range]),
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
