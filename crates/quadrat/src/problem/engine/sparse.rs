//! Rows of any number of points, seen through inducing points.

use super::super::prior::Prior;
use super::super::settings::AUTO_FREE;
use super::super::sparse::Sparse;
use super::super::tables::Tables;
use super::interface::Engine;
use crate::covariance::Induced;
use crate::error::{FitError, InputError};
use crate::inference::converged::of_another;
use crate::inference::pooled::Draws;
use crate::inference::sites::{Block, Method};
use crate::inference::sparse::{
    Bags, Shards, SparseProblem, UnknownMean, VariationalPosterior, condition_sparse,
};
use crate::inference::{Conditioned, Converged, Evidence};
use crate::parameter::Parameter;
use crate::support::Functionals;

/// Tolerance of conditioning in nats. A millionth decides nothing, but what is loaded again should
/// be what was saved.
const TOLERANCE: f64 = 1e-7;

/// Points times squared inducing points up to which hyperparameters are integrated unless told
/// otherwise, and up to which a lattice of up to a thousand settings is: each takes some five
/// passes.
const INTEGRATED: f64 = 4e6;

/// Rows in chunks, and inducing points.
pub(crate) struct SparseEngine {
    prior: Prior,
    tables: Tables,
    sparse: Sparse,
}

impl SparseEngine {
    pub fn new(prior: Prior, tables: Tables, sparse: Sparse) -> Self {
        Self {
            prior,
            tables,
            sparse,
        }
    }
}

impl Engine for SparseEngine {
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
        self.sparse.inducing()
    }

    fn observed(&self) -> &Functionals {
        &self.sparse.observed
    }

    fn method(&self) -> Option<Method> {
        Some(Method::Variational)
    }

    fn name(&self) -> &'static str {
        "sparse"
    }

    fn structure(&self) -> &'static str {
        "inducing points"
    }

    fn check_size(&self) -> Result<(), InputError> {
        Ok(())
    }

    fn condition(&self, theta: &[f64], _: Draws) -> Result<Conditioned, FitError> {
        let mut options = self.sparse.options;
        options.tolerance = TOLERANCE;
        condition_sparse(self, theta, &options, self.sparse.start(theta))
    }

    fn condition_converged(
        &self,
        theta: &[f64],
        converged: &Converged,
        _: Draws,
    ) -> Result<Conditioned, FitError> {
        let is_of_these = |found: &VariationalPosterior| {
            found.normal.size() == self.sparse.inducing().len() && found.theta == theta
        };
        match converged {
            Converged::Belief(found) if is_of_these(found) => {
                condition_sparse(self, theta, &self.sparse.options, Some(found))
            }
            _ => Err(of_another()),
        }
    }

    fn evidence(&self) -> Option<Box<dyn Evidence + '_>> {
        None
    }

    fn is_integrated(&self, free: usize) -> bool {
        free <= AUTO_FREE && self.has_lattice()
    }

    fn has_lattice(&self) -> bool {
        self.sparse.flops() <= INTEGRATED
    }

    fn quadrature_warning(&self, _: &[f64]) -> Option<String> {
        None
    }

    fn streamed(&self) -> Option<&dyn SparseProblem> {
        Some(self)
    }

    fn sparse(&self) -> Option<&Sparse> {
        Some(&self.sparse)
    }

    fn sparse_mut(&mut self) -> Option<&mut Sparse> {
        Some(&mut self.sparse)
    }
}

impl SparseProblem for SparseEngine {
    fn induced(&self) -> &Induced {
        &self.sparse.induced
    }

    fn unknown_mean(&self) -> Option<&dyn UnknownMean> {
        let mean = &self.prior.mean;
        mean.is_unknown().then_some(mean as _)
    }

    fn bags(&self) -> &Bags {
        &self.sparse.bags
    }

    fn prior_mean(&self, chunk: usize) -> &[f64] {
        &self.sparse.means[chunk]
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        self.tables.blocks()
    }

    fn parameters(&self) -> &[Parameter] {
        &self.prior.parameters
    }

    fn shards(&self) -> Option<&dyn Shards> {
        self.sparse.shards.as_deref()
    }

    fn describe(&self) -> String {
        self.prior.kernel.to_string()
    }
}
