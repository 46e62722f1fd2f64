//! Coordinates in which the posterior is nearly standard normal.
//!
//! Coefficients are `theta = C^(1/2) v`, `v` standard normal a priori whatever the hyperparameters,
//! so that these and `v` are nearly independent where the rows say little. At one setting with mode
//! and precision `A` the coordinates are
//!
//! $$ v = \hat C^{-1/2} (\hat\theta + A^{-T/2} w) $$
//!
//! with `w` standard normal there by Laplace's method. The density is exact in any coordinates.

use super::posterior::{Block, Posterior};
use crate::error::LinalgError;
use crate::linalg::{Cholesky, MatMut};

/// How far from the centre chains begin, in logarithms of hyperparameters.
const SPREAD: f64 = 0.5;

/// A column of a matrix.
fn column(x: &mut [f64]) -> MatMut<'_, f64> {
    let n = x.len();
    MatMut::from_column_major_slice_mut(x, n, 1)
}

/// The setting about which coordinates are chosen.
pub(in super::super) struct Frame {
    pub sd: f64,
    pub lengths: Vec<f64>,
    /// `C^-1/2` times the mode.
    centre: Vec<f64>,
    /// Polynomials, and the root of their prior variance.
    flat: (usize, f64),
    prior: Vec<Block>,
    /// Of the precision of the coefficients.
    factor: Cholesky,
}

impl Frame {
    /// About a setting with its mode and the factor of the precision there.
    ///
    /// # Errors
    /// A prior that is not positive.
    pub fn new(
        posterior: &impl Posterior,
        (sd, lengths): (f64, Vec<f64>),
        theta: &[f64],
        factor: Cholesky,
    ) -> Result<Self, LinalgError> {
        let (q, variance) = posterior.polynomials();
        let mut out = Self {
            prior: posterior.blocks(&lengths)?,
            sd,
            lengths,
            centre: Vec::new(),
            flat: (q, variance.sqrt()),
            factor,
        };
        out.centre = out.whitened(theta);
        Ok(out)
    }

    /// Centre and spread of the starts of all coordinates.
    pub fn starts(&self, posterior: &impl Posterior) -> Vec<(f64, f64)> {
        let mut out = vec![(0.0, 1.0); self.centre.len()];
        out.push((self.sd.ln(), SPREAD));
        let least = posterior.least_lengths();
        let lengths = self.lengths.iter().zip(least);
        // A setting at the least lengthscale itself is not where a chain can be.
        out.extend(lengths.map(|(l, least)| ((l - least).max(1e-3 * l).ln(), SPREAD)));
        out
    }

    /// `C^-1/2 x`.
    fn whitened(&self, x: &[f64]) -> Vec<f64> {
        let (q, root) = self.flat;
        let mut out = x.to_vec();
        out[..q].iter_mut().for_each(|x| *x /= root);
        for block in &self.prior {
            let mut part = block.part(x);
            block.factor.half_solve_in_place(column(&mut part));
            part.iter_mut().for_each(|x| *x /= self.sd);
            block.put(&part, &mut out);
        }
        out
    }

    /// `v` at a position.
    pub fn place(&self, w: &[f64]) -> Vec<f64> {
        let mut step = w.to_vec();
        self.factor.half_solve_transpose_in_place(column(&mut step));
        let mut v = self.whitened(&step);
        v.iter_mut().zip(&self.centre).for_each(|(v, c)| *v += c);
        v
    }

    /// The slope in `w` from that in `v`.
    pub fn pull(&self, slope: &[f64], out: &mut [f64]) {
        let (q, root) = self.flat;
        out.copy_from_slice(slope);
        out[..q].iter_mut().for_each(|x| *x /= root);
        for block in &self.prior {
            let mut part = block.part(slope);
            block
                .factor
                .half_solve_transpose_in_place(column(&mut part));
            part.iter_mut().for_each(|x| *x /= self.sd);
            block.put(&part, out);
        }
        self.factor.half_solve_in_place(column(out));
    }
}
