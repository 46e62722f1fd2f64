//! What is sampled of a density, of one column or two.

use std::ops::Range;

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, matvec};

/// The likelihood at some coefficients.
pub(in super::super) struct Look {
    /// Log likelihood.
    pub value: f64,
    /// Its slope in the coefficients.
    pub slope: Vec<f64>,
    /// Probability of every cell.
    pub mass: Vec<f64>,
}

/// A posterior of coefficients and hyperparameters: polynomials, then functions of a covariance.
pub(in super::super) trait Posterior: Sync {
    /// How many coefficients come first that no hyperparameter changes, and their prior variance.
    fn polynomials(&self) -> (usize, f64);
    /// Lengthscales that all are longer than.
    fn least_lengths(&self) -> Vec<f64>;
    /// The prior of the other coefficients.
    fn blocks(&self, lengths: &[f64]) -> Result<Vec<Block>, LinalgError>;
    /// Log prior density of the logarithms of standard deviation and lengthscales, and its slopes.
    fn log_prior(&self, at: &[f64]) -> (f64, Vec<f64>);
    /// Looks at coefficients.
    fn look(&self, theta: &[f64]) -> Look;
}

/// The prior of coefficients that it parts from all others, at a standard deviation of one.
pub(in super::super) struct Block {
    /// Which coefficients: from a first one on, every so many.
    pub range: Range<usize>,
    pub every: usize,
    pub factor: Cholesky,
    /// Slopes of the covariance in the logarithms of the lengthscales.
    pub slopes: Vec<Mat<f64>>,
}

impl Block {
    /// Numbers of its coefficients.
    pub fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        self.range.clone().step_by(self.every)
    }

    /// Its part of all coefficients.
    pub fn part(&self, x: &[f64]) -> Vec<f64> {
        self.indices().map(|i| x[i]).collect()
    }

    /// Writes its part of all coefficients.
    pub fn put(&self, part: &[f64], x: &mut [f64]) {
        self.indices().zip(part).for_each(|(i, p)| x[i] = *p);
    }

    /// Writes `by` times the factor times its part of `v`.
    pub fn spread(&self, by: f64, v: &[f64], out: &mut [f64]) {
        let mut part = self.factor.multiply(&self.part(v));
        part.iter_mut().for_each(|x| *x *= by);
        self.put(&part, out);
    }

    /// Writes `by` times the transposed factor times its part of a slope.
    pub fn pull(&self, by: f64, slope: &[f64], out: &mut [f64]) {
        let part = matvec(self.factor.lower().transpose(), &self.part(slope));
        self.indices().zip(part).for_each(|(i, p)| out[i] = by * p);
    }
}
