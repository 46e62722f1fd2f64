//! A problem with inducing points, as sparse inference sees it.

use super::assembly::Problem;
use super::sparse::Sparse;
use crate::covariance::Induced;
use crate::inference::sites::{Block, LatentGaussian};
use crate::inference::sparse::{Bags, SparseProblem, UnknownMean};
use crate::parameter::Parameter;

/// A problem that has inducing points, as inference sees it.
pub(crate) struct Streamed<'a> {
    pub problem: &'a Problem,
    pub sparse: &'a Sparse,
}

impl SparseProblem for Streamed<'_> {
    fn induced(&self) -> &Induced {
        &self.sparse.induced
    }

    fn unknown_mean(&self) -> Option<&dyn UnknownMean> {
        let mean = &self.problem.mean;
        mean.is_unknown().then_some(mean as _)
    }

    fn bags(&self) -> &Bags {
        &self.sparse.bags
    }

    fn prior_mean(&self, chunk: usize) -> &[f64] {
        &self.sparse.means[chunk]
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        LatentGaussian::blocks(self.problem)
    }

    fn parameters(&self) -> &[Parameter] {
        &self.problem.parameters
    }

    fn describe(&self) -> String {
        self.problem.kernel.to_string()
    }
}
impl Problem {
    /// As sparse inference sees it, where it is sparse.
    pub fn streamed(&self) -> Option<Streamed<'_>> {
        let sparse = self.sparse.as_ref()?;
        Some(Streamed {
            problem: self,
            sparse,
        })
    }
}
