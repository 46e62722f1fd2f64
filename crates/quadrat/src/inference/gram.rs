//! What exact inference asks of a model.

use super::row_factor::RowFactor;
use crate::covariance::KeptPairs;
use crate::error::FitError;
use crate::linalg::Mat;
use crate::parameter::Parameter;

/// Prior covariance of the observed functionals, in the representation its structure allows;
/// also the adjoint of such a covariance.
#[derive(Debug, Clone)]
pub enum Gram {
    /// `K`, shape `[n, n]`, both triangles.
    Dense(Mat<f64>),
    /// `K = axes[0] (x) axes[1] (x) .. + u u'`; the index of the first axis varies slowest.
    Kronecker {
        /// One symmetric matrix per axis.
        axes: Vec<Mat<f64>>,
        /// `u`, length `n`: a free mean with a wide prior. It does not depend on `theta`.
        rank_one: Option<Vec<f64>>,
    },
}

/// A linear observation of a Gaussian process with Gaussian noise: `y = L f + noise`.
pub trait LinearGaussian: Sync {
    /// Number of rows `n`.
    fn rows(&self) -> usize;

    /// `r = y - prior mean`, length `n`.
    fn residual(&self) -> &[f64];

    /// Prior covariance of the observed functionals at `theta` (all parameters, natural units),
    /// without that of [`Self::basis`].
    ///
    /// The Kronecker form requires the same noise variance on every row.
    fn gram(&self, theta: &[f64]) -> Gram;

    /// As [`Self::gram`], with what [`Self::contract_kept`] at the same `theta` can use again.
    ///
    /// # Arguments
    /// * `is_rough` - whether a few digits are enough, where they show an optimum as well
    fn gram_kept(&self, theta: &[f64], _is_rough: bool) -> (Gram, KeptPairs) {
        (self.gram(theta), KeptPairs::default())
    }

    /// Functions whose coefficients are unknown, at the rows and in prior standard deviations of
    /// the coefficients: `U`, shape `[n, r]`, which adds `U U'` to the covariance. None where there
    /// are none, or where a Kronecker form has them. [`LinearGaussian::contract`] knows of them.
    fn basis(&self, _theta: &[f64]) -> Option<Mat<f64>> {
        None
    }

    /// The log evidence in nats, and where asked for its gradient in every parameter, where rows
    /// have a structure that gives both without their covariance; none where they have none, and
    /// where rounding would decide.
    fn structured(&self, _theta: &[f64], _with_gradient: bool) -> Option<(f64, Vec<f64>)> {
        None
    }

    /// Refuses rows of which a matrix of all pairs is too large, before [`Self::gram`] is asked.
    ///
    /// # Errors
    /// [`FitError::Input`].
    fn check_matrix(&self) -> Result<(), FitError> {
        Ok(())
    }

    /// The factor of the covariance that [`Self::gram`] and the noise, of these variances, have
    /// together, where rows have a structure that gives it without the matrix; none where they have
    /// none, and where rounding would decide.
    fn factor(&self, _theta: &[f64], _noise: &[f64]) -> Option<RowFactor> {
        None
    }

    /// Writes the noise variance of every row, each >= 0, into `variances`, length `n`.
    fn noise(&self, theta: &[f64], variances: &mut [f64]);

    /// What the log evidence has beside that of the residual, in nats: of values that stand for
    /// several.
    fn constant(&self, _theta: &[f64]) -> f64 {
        0.0
    }

    /// Adds `dL/dtheta` to `gradient`, one entry per parameter, natural units; that of
    /// [`LinearGaussian::constant`] with it.
    ///
    /// # Arguments
    /// * `adjoint` - `G = dL/dK`, symmetric, in the form that [`LinearGaussian::gram`] returned, so
    ///   that `dL = <G, dK>`; for Kronecker `dL = sum_d <axes_d, dK_d>`, without `rank_one`
    /// * `noise_adjoint` - `dL / d variance` of every row, length `n`
    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]);

    /// As [`Self::contract`], with what was kept at the same `theta`.
    fn contract_kept(
        &self,
        theta: &[f64],
        _kept: &KeptPairs,
        adjoint: &Gram,
        noise_adjoint: &[f64],
        gradient: &mut [f64],
    ) {
        self.contract(theta, adjoint, noise_adjoint, gradient);
    }

    /// The kernel expression, for error messages.
    fn describe(&self) -> String;

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];
}
