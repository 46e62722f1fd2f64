//! The evidence by sites and its gradient, for a search of hyperparameters.

use super::block::LatentGaussian;
use super::options::SiteOptions;
use super::site::Site;
use super::solve::{SiteFit, converge};
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::parameter::Parameter;

/// Tolerance along a rough warm start: the evidence is stationary in the sites of EP and the
/// variational approximation, so it errs by the square of it, and where sites of EP are held by
/// what these lack of it times the tolerance.
const ROUGH: f64 = 1e-5;

/// Rows above which an evaluation is dear.
const DEAR: usize = 400;

/// The evidence of a [`LatentGaussian`] problem under one of the approximations.
pub struct SiteEvidence<'a> {
    problem: &'a dyn LatentGaussian,
    options: SiteOptions,
}

impl<'a> SiteEvidence<'a> {
    /// The evidence as a function of the hyperparameters.
    #[must_use]
    pub fn new(problem: &'a dyn LatentGaussian, options: SiteOptions) -> Self {
        Self { problem, options }
    }

    /// Finds the sites from those of the warm start, and leaves them there.
    fn converge(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<SiteFit, FitError> {
        let mut options = self.options.clone();
        if let Some([first, second]) = warm_start.sites() {
            options.start.clone_from(first);
            options.start_second.clone_from(second);
        }
        options.is_coarse = warm_start.is_coarse;
        if warm_start.is_rough {
            options.tolerance = options.tolerance.max(ROUGH);
        }
        let fit = converge(self.problem, theta, &options)?;
        warm_start.leave([fit.found.sites.clone(), fit.found.second.clone()]);
        Ok(fit)
    }
}

impl crate::inference::Evidence for SiteEvidence<'_> {
    /// An evaluation that did not converge is an error, from which the search steps back.
    fn evaluate_along(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let fit = self.converge(theta, warm_start)?;
        let log_evidence = fit.log_evidence;
        Ok((
            log_evidence,
            super::adjoint::gradient(self.problem, theta, fit)?,
        ))
    }

    fn value_along(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<f64, FitError> {
        Ok(self.converge(theta, warm_start)?.log_evidence)
    }

    fn parameters(&self) -> &[Parameter] {
        self.problem.parameters()
    }

    fn is_dear(&self) -> bool {
        self.problem.prior_mean().len() > DEAR
    }
}

impl WarmStart {
    /// Sites of the first and second latent function to begin with, where there are any.
    pub(super) fn sites(&self) -> Option<&[Vec<Site>; 2]> {
        self.memory()
    }

    pub(super) fn leave(&mut self, sites: [Vec<Site>; 2]) {
        self.keep(sites);
    }
}
