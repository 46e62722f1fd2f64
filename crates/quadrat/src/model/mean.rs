//! The prior mean: one constant per output, known or with a normal prior.

use std::ops::Range;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::outputs::output_of;
use crate::kernel::Kernel;
use crate::support::Functionals;

/// Prior of a constant mean: `m ~ N(mean, sd^2)`, or fixed when `sd` is zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct MeanPrior {
    pub mean: f64,
    pub sd: f64,
}

/// Prior means of functionals: `L m_d = m_d size(L)` where the functional is of output `d`.
///
/// An unknown constant is part of the covariance, `cov(L, L') = sd_d^2 size(L) size(L')` where both
/// are of output `d`, and so integrated with the function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Means {
    /// One per output.
    priors: Vec<MeanPrior>,
    /// The column of the outputs.
    column: Option<usize>,
}

impl Means {
    /// `priors` has one entry per output of the kernel.
    pub fn new(kernel: &Kernel, priors: Vec<MeanPrior>) -> Self {
        Self {
            priors,
            column: kernel.output_column(),
        }
    }

    pub fn priors(&self) -> &[MeanPrior] {
        &self.priors
    }

    /// Whether it belongs to a kernel; deserialised parts are not trusted.
    pub fn fits(&self, kernel: &Kernel) -> bool {
        let good = |p: &MeanPrior| p.mean.is_finite() && p.sd.is_finite() && p.sd >= 0.0;
        self.column == kernel.output_column()
            && self.priors.len() == kernel.outputs().len().max(1)
            && self.priors.iter().all(good)
    }

    /// The output of a functional, by its level.
    pub fn output(&self, set: &Functionals, row: usize) -> usize {
        output_of(self.column, set, row).min(self.priors.len() - 1)
    }

    /// Prior mean of a functional.
    pub fn mean(&self, set: &Functionals, row: usize) -> f64 {
        self.priors[self.output(set, row)].mean * set.size(row)
    }

    /// The known means of all rows.
    pub fn means(&self, set: &Functionals) -> Vec<f64> {
        (0..set.len()).map(|row| self.mean(set, row)).collect()
    }

    /// Prior variance of a functional that comes from the unknown constants.
    pub fn variance(&self, set: &Functionals, row: usize) -> f64 {
        self.scale(set, row).powi(2)
    }

    /// Whether some constant is unknown, or known and not zero.
    pub fn is_any(&self) -> bool {
        self.priors.iter().any(|p| p.sd > 0.0 || p.mean != 0.0)
    }

    /// Whether some constant is unknown.
    pub fn is_unknown(&self) -> bool {
        self.priors.iter().any(|p| p.sd > 0.0)
    }

    /// `sd size` of every functional.
    pub fn scales(&self, set: &Functionals) -> Vec<f64> {
        (0..set.len()).map(|row| self.scale(set, row)).collect()
    }

    /// `sd size` of every functional for each unknown constant, zero where it is of another output;
    /// shape `[set.len(), unknown constants]`.
    pub fn columns(&self, set: &Functionals) -> Mat<f64> {
        let outputs = 0..self.priors.len();
        let unknown: Vec<usize> = outputs.filter(|&d| self.priors[d].sd > 0.0).collect();
        Mat::from_fn(set.len(), unknown.len(), |row, constant| {
            match self.output(set, row) == unknown[constant] {
                true => self.scale(set, row),
                false => 0.0,
            }
        })
    }

    fn scale(&self, set: &Functionals, row: usize) -> f64 {
        self.priors[self.output(set, row)].sd * set.size(row)
    }

    /// Adds the covariance that comes from the unknown constants to `k`, shape `[a.len(),
    /// b.len()]`.
    pub fn add_covariance(&self, k: &mut Mat<f64>, a: &Functionals, b: &Functionals) {
        self.add_columns(k, a, b, 0..b.len());
    }

    /// The same for a range of `b`, whose columns alone are those of `k`.
    pub fn add_columns(
        &self,
        k: &mut Mat<f64>,
        a: &Functionals,
        b: &Functionals,
        range: Range<usize>,
    ) {
        if !self.is_unknown() {
            return;
        }
        let left = self.scales(a);
        let one = self.column.is_none();
        let all = if one { 0 } else { a.len() };
        let own: Vec<usize> = (0..all).map(|row| self.output(a, row)).collect();
        for (j, row) in range.enumerate() {
            let (r, other) = (self.scale(b, row), self.output(b, row));
            let column = k.col_as_slice_mut(j).iter_mut().zip(&left);
            if one {
                column.for_each(|(k, l)| *k += l * r);
                continue;
            }
            for ((k, l), output) in column.zip(&own) {
                if *output == other {
                    *k += l * r;
                }
            }
        }
    }
}
