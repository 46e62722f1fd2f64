//! Estimates of two columns.

use super::super::error::DensityError;
use super::super::shared::{answers, answers_of_two};
use super::builder::{Conditional, Density2d};
use super::fit::{Fit, Setting2d};

/// A density over a plane with what is known of its error.
///
/// Arrays are over the cells, those of the second column running fastest: cell `(i, j)` is number
/// `i n + j`, with `n` cells along the second axis. Everything with an interval comes from draws of
/// whole densities.
#[derive(Debug, Clone)]
pub struct Estimate2d {
    pub(super) fit: Fit,
}

/// Densities of one column given another, with what is known of their error.
///
/// Arrays are over the cells, those of the values running fastest: cell `(i, j)` is number `i n +
/// j`, with `n` cells of the values; slice `i` holds those of one place of the given column, and
/// the density there is per unit of the values. Everything with an interval comes from draws of
/// whole densities.
#[derive(Debug, Clone)]
pub struct ConditionalEstimate {
    pub(super) fit: Fit,
}

answers_of_two!(Estimate2d);
answers_of_two!(ConditionalEstimate);

impl Density2d<'_> {
    /// Estimates the density.
    ///
    /// # Errors
    /// Rows, weights and settings that cannot be used, constant columns, and values that double
    /// precision cannot tell apart.
    ///
    /// # Numerics
    /// `O(n)` in the rows, but for `O(n log n)` to look for ties; then about `100 r^3` operations
    /// for the hyperparameters, with `r = 200` functions up to a thousand rows and 600 from nine
    /// thousand on, and about `100 cells` for every draw. Densities of draws are never held
    /// together: memory is that of their coefficients.
    pub fn estimate(&self) -> Result<Estimate2d, DensityError> {
        Ok(Estimate2d { fit: self.0.fit()? })
    }
}

impl Conditional<'_> {
    /// Estimates the densities.
    ///
    /// # Errors
    /// As of [`Density2d::estimate`], and rows that all lie at one place of the given column.
    ///
    /// # Numerics
    /// As of [`Density2d::estimate`].
    pub fn estimate(&self) -> Result<ConditionalEstimate, DensityError> {
        Ok(ConditionalEstimate { fit: self.0.fit()? })
    }
}
