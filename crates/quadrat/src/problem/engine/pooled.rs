//! Rows that are sums after a link, seen at the nodes within them.

use super::super::pooled::Pooled;
use super::super::prior::Prior;
use super::super::settings::AUTO_FREE;
use super::super::tables::Tables;
use super::interface::Engine;
use super::limits::{LATTICE_ROWS, check_dense, check_sites};
use crate::error::{FitError, InputError};
use crate::inference::pooled::{Draws, PooledEvidence, PooledOptions, condition_pooled};
use crate::inference::sites::{Block, LatentGaussian, Method, Parted, SecondPrior};
use crate::inference::{Conditioned, Evidence};
use crate::linalg::{Mat, MatRef};
use crate::parameter::Parameter;
use crate::support::Functionals;

/// Most nodes for which [`Hyperparameters::Auto`](crate::model::Hyperparameters::Auto) integrates.
const AUTO_NODES: usize = 2000;
/// Share of the hyperparameters' posterior that may be left out: variances of sums that few counts
/// do not bound are the prior's, and not to take the largest says little.
const LOST: f64 = 0.25;

/// Sums `sum_j w_rj psi(f(x_j))` over the nodes of every row.
pub(crate) struct PooledEngine {
    prior: Prior,
    tables: Tables,
    method: Method,
    pooled: Pooled,
    nodes: Functionals,
    /// Prior means of the nodes.
    prior_mean: Vec<f64>,
}

impl PooledEngine {
    pub fn new(
        prior: Prior,
        tables: Tables,
        method: Method,
        (pooled, nodes): (Pooled, Functionals),
    ) -> Self {
        Self {
            prior_mean: prior.mean.means(&nodes),
            prior,
            tables,
            method,
            pooled,
            nodes,
        }
    }

    /// Rows or nodes, whichever are more.
    fn size(&self) -> usize {
        self.tables.rows().max(self.nodes.len())
    }
}

impl Engine for PooledEngine {
    fn prior(&self) -> &Prior {
        &self.prior
    }

    fn prior_mut(&mut self) -> &mut Prior {
        &mut self.prior
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn supports(&self) -> &Functionals {
        &self.nodes
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
        check_dense(self.tables.rows())?;
        self.pooled.check()?;
        check_sites(self.tables.rows())
    }

    fn condition(&self, theta: &[f64], draws: Draws) -> Result<Conditioned, FitError> {
        let options = PooledOptions {
            draws,
            ..PooledOptions::default()
        };
        condition_pooled(self, &self.pooled.pools, theta, &options)
    }

    fn evidence(&self) -> Option<Box<dyn Evidence + '_>> {
        let options = PooledOptions::default();
        Some(Box::new(PooledEvidence::new(
            self,
            &self.pooled.pools,
            options,
        )))
    }

    fn latent(&self) -> Option<&dyn LatentGaussian> {
        Some(self)
    }

    fn quadrature_warning(&self, theta: &[f64]) -> Option<String> {
        self.pooled.warning(&self.prior.of_kernel, theta)
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

impl LatentGaussian for PooledEngine {
    fn prior_mean(&self) -> &[f64] {
        &self.prior_mean
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.prior.covariance(theta, &self.nodes)
    }

    fn parted(&self, theta: &[f64]) -> Parted {
        self.prior.parted(theta, &self.nodes)
    }

    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        let covariance = &self.prior.of_kernel;
        covariance.contract(theta, &self.nodes, adjoint, gradient);
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        self.tables.blocks()
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
