//! One latent function at a position of the sampler.

use super::approximation::RowsApproximation;
use super::frame::{Frame, FrameAdjoint};
use super::prior::ProcessPrior;
use crate::error::LinalgError;
use crate::linalg::dot;

/// A latent function, with the factors at the last hyperparameters and Gaussian approximation for
/// the rows.
pub(super) struct SampledProcess<'a> {
    pub prior: ProcessPrior<'a>,
    kept: Option<Kept>,
}

struct Kept {
    theta: Vec<f64>,
    frame: Frame,
}

/// A latent function at one position.
pub(super) struct ProcessValues<'p, 'a> {
    prior: &'p ProcessPrior<'a>,
    frame: &'p Frame,
    /// Whitened latents.
    v: Vec<f64>,
    /// Latent values.
    pub z: Vec<f64>,
}

/// What a slope in the latent values becomes.
pub(super) struct Pulled {
    /// Adjoint of `v`, its prior included.
    v: Vec<f64>,
    /// Adjoint of `w`: the gradient.
    pub w: Vec<f64>,
}

impl<'a> SampledProcess<'a> {
    pub fn new(prior: ProcessPrior<'a>) -> Self {
        Self { prior, kept: None }
    }

    /// The function at `w`; factors are made anew where hyperparameters or the Gaussian
    /// approximation moved.
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`].
    pub fn place(
        &mut self,
        theta: &[f64],
        rows: RowsApproximation,
        w: &[f64],
    ) -> Result<ProcessValues<'_, 'a>, LinalgError> {
        let Self { prior, kept } = self;
        let fresh = match kept.take() {
            Some(kept) if kept.theta == theta && kept.frame.rows.is(&rows) => kept,
            _ => Kept {
                frame: Frame::new(prior.covariance(theta), &prior.floor, prior.mean(), rows)?,
                theta: theta.to_vec(),
            },
        };
        let frame = &kept.insert(fresh).frame;
        let v = frame.whitened(w);
        let mut z = frame.latent(&v);
        z.iter_mut().zip(prior.mean()).for_each(|(z, m)| *z += m);
        Ok(ProcessValues { prior, frame, v, z })
    }
}

impl ProcessValues<'_, '_> {
    /// `log N(v; 0, I) + log |dv / dw|`.
    pub fn log_prior(&self) -> f64 {
        let constant = self.v.len() as f64 * (2.0 * std::f64::consts::PI).ln();
        self.frame.log_volume() - 0.5 * (dot(&self.v, &self.v) + constant)
    }

    /// From the slope of the log density of the rows in `z`.
    pub fn pull(&self, slope: &[f64]) -> Pulled {
        let mut v = self.frame.pull_back(slope);
        v.iter_mut().zip(&self.v).for_each(|(b, v)| *b -= v);
        let w = self.frame.to_position(&v);
        Pulled { v, w }
    }

    /// The adjoints of what moves with hyperparameters and approximations.
    pub fn adjoint(&self, slope: &[f64], pulled: &Pulled) -> FrameAdjoint {
        self.frame.adjoint(&self.v, slope, &pulled.v, &pulled.w)
    }

    /// Adds the derivatives in the hyperparameters of the kernel.
    pub fn contract(&self, theta: &[f64], adjoint: &FrameAdjoint, d_theta: &mut [f64]) {
        let covariance = self.frame.covariance_adjoint(adjoint);
        self.prior.contract(theta, covariance.as_ref(), d_theta);
    }
}
