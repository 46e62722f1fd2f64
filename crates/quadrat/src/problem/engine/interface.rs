//! What is asked of a way of inference.

use super::super::normal_rows::NormalRows;
use super::super::pooled::Pooled;
use super::super::prior::Prior;
use super::super::settings::{AUTO_FREE, AUTO_ROWS};
use super::super::sparse::Sparse;
use super::super::tables::Tables;
use super::limits::LATTICE_ROWS;
use crate::covariance::Chain;
use crate::error::{FitError, InputError};
use crate::inference::pooled::Draws;
use crate::inference::sites::{LatentGaussian, Method};
use crate::inference::sparse::SparseProblem;
use crate::inference::{Conditioned, Converged, Evidence};
use crate::support::Functionals;

/// Share of the hyperparameters' posterior that may be left out where an approximation does not
/// converge.
const LOST: f64 = 0.05;

/// One way of inference, with its prior and its rows.
pub(crate) trait Engine: Send + Sync {
    fn prior(&self) -> &Prior;

    /// For other starts of the hyperparameters: what was found from the old ones is forgotten.
    fn prior_mut(&mut self) -> &mut Prior;

    fn tables(&self) -> &Tables;

    /// What the prior covariance is of: rows; nodes within them; inducing points.
    fn supports(&self) -> &Functionals;

    /// Where the rows looked, whatever stands for them.
    fn observed(&self) -> &Functionals {
        self.supports()
    }

    /// How rows that are not normal are treated; `None` where all are.
    fn method(&self) -> Option<Method>;

    /// The inference in a word.
    fn name(&self) -> &'static str {
        self.method().map_or("exact", Method::name)
    }

    /// What stands for the evidence, in a word.
    fn evidence_name(&self) -> &'static str {
        self.method().map_or("exact", Method::evidence)
    }

    /// How the covariance is represented, in a word.
    fn structure(&self) -> &'static str;

    /// Refuses what would need more memory than a dense covariance may.
    fn check_size(&self) -> Result<(), InputError>;

    /// Conditions at one value of the hyperparameters.
    ///
    /// # Arguments
    /// * `draws` - those that are to meet what rows report of their sums after a link, where there
    ///   are such rows
    fn condition(&self, theta: &[f64], draws: Draws) -> Result<Conditioned, FitError>;

    /// As [`Self::condition`], where its iterations are known to have ended: without them.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where they are of another engine or of other rows.
    fn condition_converged(
        &self,
        theta: &[f64],
        converged: &Converged,
        draws: Draws,
    ) -> Result<Conditioned, FitError>;

    /// As [`Self::condition`], where the first rows are those of another engine, conditioned at the
    /// same hyperparameters: at less cost. None where there is no way, or it lost digits.
    fn condition_after(
        &self,
        _theta: &[f64],
        _first: &dyn Engine,
        _conditioned: &Conditioned,
    ) -> Option<Conditioned> {
        None
    }

    /// The evidence as a function of the hyperparameters; none where a search of its own learns
    /// them.
    fn evidence(&self) -> Option<Box<dyn Evidence + '_>>;

    /// The rows as dense approximate inference and samplers see them, where they are.
    fn latent(&self) -> Option<&dyn LatentGaussian> {
        None
    }

    /// What to say when supports were integrated more coarsely than the kernel needs.
    fn quadrature_warning(&self, theta: &[f64]) -> Option<String> {
        self.prior().quadrature_warning(theta, self.supports())
    }

    /// Whether sites converge at the starts of the hyperparameters, where another method could take
    /// their place.
    fn converges(&self) -> bool {
        true
    }

    /// Whether another approximation can take the place of expectation propagation.
    fn may_fall_back(&self) -> bool {
        false
    }

    /// The variational lower bound of the evidence, from the sites of expectation propagation on;
    /// `None` where there is no second latent function, or where the evidence is that bound itself.
    fn certificate(&self, _theta: &[f64]) -> Option<Result<f64, FitError>> {
        None
    }

    /// Whether hyperparameters are integrated where nobody says so.
    ///
    /// # Arguments
    /// * `free` - how many are learned
    fn is_integrated(&self, free: usize) -> bool {
        self.tables().rows() <= AUTO_ROWS && free <= AUTO_FREE
    }

    /// Whether hyperparameters are integrated over a lattice rather than a design.
    fn has_lattice(&self) -> bool {
        self.tables().rows().max(self.supports().len()) <= LATTICE_ROWS
    }

    /// From how many rows on starts are first compared on a subset of the rows, and its size;
    /// `None` where they never are.
    fn thinned(&self) -> Option<(usize, usize)> {
        None
    }

    /// The lengthscale of periodic leaves that are kept apart from the covariance at which their
    /// search ends; none where they are part of it.
    fn least_periodic(&self) -> Option<f64> {
        None
    }

    /// The share of the hyperparameters' posterior that may be left out where the approximation
    /// does not converge.
    fn most_lost(&self) -> f64 {
        LOST
    }

    /// Why it does not converge.
    fn why_lost(&self) -> &'static str {
        "the approximation did not converge"
    }

    /// Rows along a line with what is asked after them, where the kernel has a chain along both.
    fn chain_beside(&self, _asked: &Functionals) -> Option<Chain> {
        None
    }

    /// The values and noise of rows, where all noise is normal and inference is exact.
    fn normal(&self) -> Option<&NormalRows> {
        None
    }

    /// What rows see of nodes, where they are sums after a link in dense inference.
    fn pooled(&self) -> Option<&Pooled> {
        None
    }

    /// Points of the rows and inducing points, where inference is sparse.
    fn sparse(&self) -> Option<&Sparse> {
        None
    }

    /// The rows as sparse inference sees them, where it is.
    fn streamed(&self) -> Option<&dyn SparseProblem> {
        None
    }

    fn sparse_mut(&mut self) -> Option<&mut Sparse> {
        None
    }
}
