//! Rows that report anything of functionals of the function: one Gaussian site each.

use std::sync::OnceLock;

use super::super::centred::Centred;
use super::super::observations::Observations;
use super::super::prior::Prior;
use super::super::repeated::repeated;
use super::super::tables::Tables;
use super::interface::Engine;
use super::limits::{check_atoms, check_dense, check_sites};
use crate::error::{FitError, InputError};
use crate::inference::pooled::Draws;
use crate::inference::sites::{
    Block, LatentGaussian, Method, Parted, SecondPrior, Site, SiteEvidence, SiteFit, SiteOptions,
    condition_sites, converge,
};
use crate::inference::{Conditioned, Evidence};
use crate::likelihood::repeated::Repeated;
use crate::linalg::{Mat, MatRef};
use crate::parameter::Parameter;
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
    prior: Prior,
    tables: Tables,
    method: Method,
    supports: Functionals,
    /// Prior means of `supports`.
    prior_mean: Vec<f64>,
    /// Where sites are sought for rows less the level of their values; with these the rows that
    /// were seen several times.
    centred: Option<(Centred, Vec<Option<Repeated>>)>,
    /// Sites at the starts of the hyperparameters, where every search for sites begins: what is
    /// found does not depend on the order of the searches.
    anchor: OnceLock<[Vec<Site>; 2]>,
}

impl SitesEngine {
    pub fn new(prior: Prior, tables: Tables, method: Method, supports: Functionals) -> Self {
        Self {
            prior_mean: prior.mean.means(&supports),
            prior,
            tables,
            method,
            supports,
            centred: None,
            anchor: OnceLock::new(),
        }
    }

    /// With the rows seen from the level of their values, where that is large.
    ///
    /// # Arguments
    /// * `tables` - of these rows
    /// * `typical` - of every row a value that is plausible there
    pub fn centred(self, tables: &[Observations], typical: &[f64]) -> Self {
        let centred = Centred::new(&self.tables.likelihoods, &self.prior_mean, typical);
        let centred = centred.map(|centred| {
            let repeated = repeated(tables, &centred.likelihoods);
            (centred, repeated)
        });
        Self { centred, ..self }
    }

    /// Settings of a search for sites, begun at the anchor.
    fn options(&self) -> SiteOptions {
        let anchor = self.anchor.get_or_init(|| {
            let start: Vec<f64> = self.prior.parameters.iter().map(|p| p.start).collect();
            let fit = converge(self, &start, &SiteOptions::new(self.method));
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
        let fit = condition_sites(self, theta, &options)?;
        let is_good = fit.found.converged && !fit.is_adrift(self);
        // Few nodes cut off what noise near zero would cost: that is no bound.
        options.is_coarse = false;
        options.method = Method::Variational;
        options.sweeps = BOUND_SWEEPS;
        (options.start, options.start_second) = match is_good {
            true => (fit.found.sites, fit.found.second),
            false => Default::default(),
        };
        let fit = condition_sites(self, theta, &options)?;
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
        &self.prior
    }

    fn prior_mut(&mut self) -> &mut Prior {
        self.anchor = OnceLock::new();
        &mut self.prior
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn supports(&self) -> &Functionals {
        &self.supports
    }

    fn method(&self) -> Option<Method> {
        Some(self.method)
    }

    fn structure(&self) -> &'static str {
        "dense"
    }

    fn check_size(&self) -> Result<(), InputError> {
        let rows = self.tables.rows();
        check_dense(rows)?;
        check_sites(rows)?;
        check_atoms(&self.supports, rows)
    }

    fn condition(&self, theta: &[f64], _: Draws) -> Result<Conditioned, FitError> {
        converge(self, theta, &self.options()).and_then(SiteFit::into_conditioned)
    }

    fn evidence(&self) -> Option<Box<dyn Evidence + '_>> {
        Some(Box::new(SiteEvidence::new(self, self.options())))
    }

    fn latent(&self) -> Option<&dyn LatentGaussian> {
        Some(self)
    }

    fn converges(&self) -> bool {
        !self.options().start.is_empty()
    }

    fn may_fall_back(&self) -> bool {
        self.method == Method::Ep
    }

    fn certificate(&self, theta: &[f64]) -> Option<Result<f64, FitError>> {
        self.tables.seconds.prior()?;
        self.may_fall_back().then(|| self.bound(theta))
    }

    fn thinned(&self) -> Option<(usize, usize)> {
        Some(THINNED)
    }
}

impl LatentGaussian for SitesEngine {
    fn prior_mean(&self) -> &[f64] {
        match &self.centred {
            Some((centred, _)) => &centred.prior_mean,
            None => &self.prior_mean,
        }
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.prior.covariance(theta, &self.supports)
    }

    fn parted(&self, theta: &[f64]) -> Parted {
        self.prior.parted(theta, &self.supports)
    }

    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        let covariance = &self.prior.of_kernel;
        covariance.contract(theta, &self.supports, adjoint, gradient);
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        match &self.centred {
            Some((centred, repeated)) => self.tables.blocks_of(&centred.likelihoods, repeated),
            None => self.tables.blocks(),
        }
    }

    fn parameters(&self) -> &[Parameter] {
        &self.prior.parameters
    }

    fn describe(&self) -> String {
        self.prior.kernel.to_string()
    }

    fn second(&self) -> Option<&dyn SecondPrior> {
        self.tables.seconds.prior()
    }

    fn mirrored(&self) -> Vec<Vec<usize>> {
        self.tables.mirrored(&self.prior)
    }
}
