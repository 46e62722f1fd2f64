//! Rows that are sums after a link, seen at the nodes within them.

use super::super::pooled::{Pooled, is_known_exactly};
use super::super::prior::Prior;
use super::super::settings::AUTO_FREE;
use super::super::tables::Tables;
use super::interface::Engine;
use super::latents::Latents;
use super::limits::{LATTICE_ROWS, check_dense, check_sites};
use crate::error::{FitError, InputError};
use crate::inference::converged::of_another;
use crate::inference::pooled::{
    Draws, PooledEvidence, PooledOptions, condition_pooled, condition_pooled_from,
};
use crate::inference::sites::{LatentGaussian, Method};
use crate::inference::{Conditioned, Converged, Evidence};
use crate::support::Functionals;

/// Most nodes for which [`Hyperparameters::Auto`](crate::model::Hyperparameters::Auto) integrates.
const AUTO_NODES: usize = 2000;
/// Share of the hyperparameters' posterior that may be left out: variances of sums that few counts
/// do not bound are the prior's, and not to take the largest says little.
const LOST: f64 = 0.25;

/// Sums `sum_j w_rj psi(f(x_j))` over the nodes of every row.
pub(crate) struct PooledEngine {
    /// Of the nodes.
    latents: Latents,
    method: Method,
    pooled: Pooled,
}

impl PooledEngine {
    pub fn new(latents: Latents, method: Method, pooled: Pooled) -> Self {
        Self {
            latents,
            method,
            pooled,
        }
    }

    /// Rows or nodes, whichever are more.
    fn size(&self) -> usize {
        self.latents.tables.rows().max(self.latents.supports.len())
    }
}

impl Engine for PooledEngine {
    fn prior(&self) -> &Prior {
        &self.latents.prior
    }

    fn prior_mut(&mut self) -> &mut Prior {
        &mut self.latents.prior
    }

    fn tables(&self) -> &Tables {
        &self.latents.tables
    }

    fn supports(&self) -> &Functionals {
        &self.latents.supports
    }

    fn observed(&self) -> &Functionals {
        &self.pooled.observed
    }

    fn method(&self) -> Option<Method> {
        Some(self.method)
    }

    fn structure(&self) -> &'static str {
        "nodes"
    }

    fn check_size(&self) -> Result<(), InputError> {
        check_dense(self.latents.tables.rows())?;
        self.pooled.check()?;
        let is_known = self.latents.tables.likelihoods.iter().any(is_known_exactly);
        if is_known && !self.pooled.has_draws() {
            return Err(InputError::Unavailable {
                what: "so many rows, or nodes within them, that are known exactly behind a link: draws that meet them would take too long",
                remedy: "fit fewer rows at a time (some 350, and 3,000 nodes), give a longer `start` of the lengthscale, or give the rows a variance",
            });
        }
        check_sites(self.latents.tables.rows())
    }

    fn condition(&self, theta: &[f64], draws: Draws) -> Result<Conditioned, FitError> {
        let options = PooledOptions {
            draws,
            ..PooledOptions::default()
        };
        condition_pooled(&self.latents, &self.pooled.pools, theta, &options)
    }

    fn condition_converged(
        &self,
        theta: &[f64],
        converged: &Converged,
        draws: Draws,
    ) -> Result<Conditioned, FitError> {
        let Converged::Mode(known) = converged else {
            return Err(of_another());
        };
        let options = PooledOptions {
            draws,
            ..PooledOptions::default()
        };
        let pools = &self.pooled.pools;
        condition_pooled_from(&self.latents, pools, theta, &options, Some(known))
    }

    fn evidence(&self) -> Option<Box<dyn Evidence + '_>> {
        let options = PooledOptions::default();
        Some(Box::new(PooledEvidence::new(
            &self.latents,
            &self.pooled.pools,
            options,
        )))
    }

    fn latent(&self) -> Option<&dyn LatentGaussian> {
        Some(&self.latents)
    }

    fn quadrature_warning(&self, theta: &[f64]) -> Option<String> {
        self.pooled.warning(&self.latents.prior.of_kernel, theta)
    }

    fn is_integrated(&self, free: usize) -> bool {
        self.size() <= AUTO_NODES && free <= AUTO_FREE
    }

    fn has_lattice(&self) -> bool {
        // The curvature is that of fewer rows: an evaluation costs a few products with the
        // covariance.
        self.size() <= 2 * LATTICE_ROWS
    }

    fn most_lost(&self) -> f64 {
        LOST
    }

    fn why_lost(&self) -> &'static str {
        "sums after a link could not be linearised, since the function varies wildly within the boxes or regions,"
    }

    fn pooled(&self) -> Option<&Pooled> {
        Some(&self.pooled)
    }
}
