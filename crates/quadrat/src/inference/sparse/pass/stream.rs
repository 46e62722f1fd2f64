//! The rows at one value of the hyperparameters.

use rayon::prelude::*;

use crate::covariance::Shift;
use crate::error::FitError;
use crate::inference::sites::rows::Rows;
use crate::inference::sparse::features::ChunkFeatures;
use crate::inference::sparse::inducing_factor::inducing_factor;
use crate::inference::sparse::sums::Depth;
use crate::inference::sparse::{LogSum, Normal, SparseProblem};
use crate::linalg::{Cholesky, Mat};

/// The rows at one value of the hyperparameters.
pub(in crate::inference::sparse) struct Stream<'a> {
    pub(super) problem: &'a dyn SparseProblem,
    pub(super) theta: &'a [f64],
    pub(super) form: LogSum,
    /// Factor of the covariance of the inducing points.
    pub factor: Cholesky,
    /// Jitter of `K_uu` besides that of the prior.
    pub(super) jitter: f64,
    /// `L^-1`.
    pub(super) whitener: Mat<f64>,
    pub(super) rows: Rows<'a>,
    /// Features of all chunks, where they fit into memory.
    pub(super) kept: Option<Vec<ChunkFeatures>>,
    /// The columns along which inducing points are shifted, for derivatives.
    pub(super) shifts: Vec<Shift>,
}

/// What every chunk needs of `q`.
pub(super) struct PreparedNormal<'a> {
    pub q: &'a Normal,
    /// `C^-1` with `P = C C'`.
    pub spread: Mat<f64>,
    /// `L^-T mu`.
    pub dual: Vec<f64>,
    /// `2 L^-T (S - I)`.
    pub turn: Mat<f64>,
    pub depth: Depth,
}

impl<'a> Stream<'a> {
    /// Features are kept where they take no more than `memory` bytes.
    pub fn new(
        problem: &'a dyn SparseProblem,
        theta: &'a [f64],
        form: LogSum,
        memory: usize,
    ) -> Result<Self, FitError> {
        let (factor, jitter) = inducing_factor(problem, theta)?;
        let bags = problem.bags();
        let rows = Rows::of_blocks(problem.blocks(), theta, bags.rows());
        if form != LogSum::Matched {
            for row in (0..bags.rows()).filter(|&row| !bags.is_single(row)) {
                let (likelihood, _, at) = rows.at(row);
                form.check(bags.link(row), likelihood, at)?;
            }
        }
        let whitener = factor.inverse_factor();
        let is_small = ChunkFeatures::demand(problem).saturating_mul(8) <= memory;
        let is_small = is_small && problem.shards().is_none();
        let kept = is_small.then(|| {
            let chunks = 0..bags.chunks();
            chunks
                .into_par_iter()
                .map(|chunk| ChunkFeatures::new(problem, theta, whitener.as_ref(), chunk))
                .collect()
        });
        Ok(Self {
            problem,
            theta,
            form,
            factor,
            jitter,
            whitener,
            rows,
            kept,
            shifts: Vec::new(),
        })
    }

    /// Takes the derivatives in the hyperparameters with those along the columns in which inducing
    /// points were shifted.
    pub fn moving(self, shifts: Vec<Shift>) -> Self {
        Self { shifts, ..self }
    }

    /// Every hyperparameter, natural units.
    pub fn theta(&self) -> &[f64] {
        self.theta
    }

    /// The rows at these hyperparameters.
    pub fn rows(&self) -> &Rows<'a> {
        &self.rows
    }
}
