//! Rows that report anything of functionals of the function: one Gaussian site each.

use std::sync::OnceLock;

use super::super::prior::Prior;
use super::super::tables::Tables;
use super::interface::Engine;
use super::latents::Latents;
use super::limits::{check_atoms, check_dense, check_sites};
use crate::error::{FitError, InputError};
use crate::inference::converged::of_another;
use crate::inference::pooled::Draws;
use crate::inference::sites::{
    LatentGaussian, Method, Site, SiteEvidence, SiteFit, SiteOptions, condition_converged,
    condition_sites, converge,
};
use crate::inference::{Conditioned, Converged, Evidence};
use crate::support::Functionals;

/// From how many rows on starts are first compared on a subset of the rows, and its size:
/// evaluations cost several times as much as those of exact inference.
const THINNED: (usize, usize) = (500, 250);
/// Tolerance of the sites behind the variational bound, in posterior standard deviations. It is a
/// bound at any sites: so far from the best ones it loses about the square of this for every row,
/// and a little more where negative precisions are cut at zero.
const CERTAIN: f64 = 1e-3;
/// Sweeps towards the best bound at most, and how far from rest they may end.
const BOUND_SWEEPS: usize = 40;
const NEAR_REST: f64 = 0.05;

/// Rows under Laplace's approximation, expectation propagation or the variational approximation.
pub(crate) struct SitesEngine {
    latents: Latents,
    method: Method,
    /// Sites at the starts of the hyperparameters, where every search for sites begins: what is
    /// found does not depend on the order of the searches.
    anchor: OnceLock<[Vec<Site>; 2]>,
}

impl SitesEngine {
    pub fn new(latents: Latents, method: Method) -> Self {
        Self {
            latents,
            method,
            anchor: OnceLock::new(),
        }
    }

    /// Settings of a search for sites, begun at the anchor.
    fn options(&self) -> SiteOptions {
        let anchor = self.anchor.get_or_init(|| {
            let start: Vec<f64> = self
                .latents
                .prior
                .parameters
                .iter()
                .map(|p| p.start)
                .collect();
            let fit = converge(&self.latents, &start, &SiteOptions::new(self.method));
            fit.map(|fit| [fit.found.sites, fit.found.second])
                .unwrap_or_default()
        });
        let mut options = SiteOptions::new(self.method);
        let [first, second] = anchor;
        options.start.clone_from(first);
        options.start_second.clone_from(second);
        options
    }

    /// # Errors
    /// [`FitError::NotConverged`] where the sites are far from rest: it is a bound at any, but then
    /// says little; those of [`condition_sites`].
    fn bound(&self, theta: &[f64]) -> Result<f64, FitError> {
        let mut options = self.options();
        options.tolerance = CERTAIN;
        options.is_coarse = true;
        let fit = condition_sites(&self.latents, theta, &options)?;
        let is_good = fit.found.converged && !fit.is_adrift(&self.latents);
        // Few nodes cut off what noise near zero would cost: that is no bound.
        options.is_coarse = false;
        options.method = Method::Variational;
        options.sweeps = BOUND_SWEEPS;
        (options.start, options.start_second) = match is_good {
            true => (fit.found.sites, fit.found.second),
            false => Default::default(),
        };
        let fit = condition_sites(&self.latents, theta, &options)?;
        let (sweeps, residual) = (fit.found.sweeps, fit.found.residual);
        if residual <= NEAR_REST && fit.log_evidence.is_finite() {
            return Ok(fit.log_evidence);
        }
        Err(FitError::NotConverged {
            method: Method::Variational.name(),
            sweeps,
            residual,
        })
    }
}

impl Engine for SitesEngine {
    fn prior(&self) -> &Prior {
        &self.latents.prior
    }

    fn prior_mut(&mut self) -> &mut Prior {
        self.anchor = OnceLock::new();
        &mut self.latents.prior
    }

    fn tables(&self) -> &Tables {
        &self.latents.tables
    }

    fn supports(&self) -> &Functionals {
        &self.latents.supports
    }

    fn method(&self) -> Option<Method> {
        Some(self.method)
    }

    fn structure(&self) -> &'static str {
        "dense"
    }

    fn check_size(&self) -> Result<(), InputError> {
        let rows = self.latents.tables.rows();
        check_dense(rows)?;
        check_sites(rows)?;
        check_atoms(&self.latents.supports, rows)
    }

    fn condition(&self, theta: &[f64], _: Draws) -> Result<Conditioned, FitError> {
        converge(&self.latents, theta, &self.options()).and_then(SiteFit::into_conditioned)
    }

    fn condition_converged(
        &self,
        theta: &[f64],
        converged: &Converged,
        _: Draws,
    ) -> Result<Conditioned, FitError> {
        match converged {
            Converged::Sites(found) => condition_converged(&self.latents, theta, found),
            _ => Err(of_another()),
        }
    }

    fn evidence(&self) -> Option<Box<dyn Evidence + '_>> {
        Some(Box::new(SiteEvidence::new(&self.latents, self.options())))
    }

    fn latent(&self) -> Option<&dyn LatentGaussian> {
        Some(&self.latents)
    }

    fn converges(&self) -> bool {
        !self.options().start.is_empty()
    }

    fn may_fall_back(&self) -> bool {
        self.method == Method::Ep
    }

    fn certificate(&self, theta: &[f64]) -> Option<Result<f64, FitError>> {
        self.latents.tables.seconds.prior()?;
        self.may_fall_back().then(|| self.bound(theta))
    }

    fn thinned(&self) -> Option<(usize, usize)> {
        Some(THINNED)
    }
}
