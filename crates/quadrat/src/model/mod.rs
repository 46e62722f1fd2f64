//! What users build: observations and a prior make a posterior.
//!
//! | what | files |
//! |---|---|
//! | the calls of a fit, in this order | `overlap`, `redundant`, `steady`, `fit` or `fit_sparse`, `many_counts` between them |
//! | from what was said to a problem | `specify`, `cycles`, `sparse_starts`, `coarse_to_fine` |
//! | the search for hyperparameters | `fit`, `fit_sparse`, `averages`, `relearn` |
//! | integration over them | `conclude`, `integrate_sparse` |
//! | the posterior about what it found | `conclude`, `bounds`, `certificate` |
//! | draws beside inducing points | `drawn_sums` |
//! | constraints | `non_negative` |
//! | rows added; files; sampling as a check | `update`, `save`, `mcmc` |
//! | rows in other processes | `shards` |
//! | priors of the mean made narrower; a warning of lines | `wide_means`, `far_lines` |
//!
//! What a model becomes is in `problem`, what a fit gives in `posterior`.

mod averages;
mod bounds;
mod certificate;
mod coarse_to_fine;
mod conclude;
mod cycles;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod defaults_tests;
mod drawn_sums;
mod far_lines;
mod fit;
mod fit_sparse;
mod integrate_sparse;
mod larger_parts;
mod many_counts;
#[cfg(feature = "mcmc")]
mod mcmc;
mod non_negative;
mod overlap;
mod redundant;
mod relearn;
mod save;
#[cfg(test)]
mod seconds_tests;
mod shards;
mod sparse_starts;
mod specify;
mod steady;
mod update;
mod wide_means;

pub use crate::posterior::behind::{Behind, RowTotals, RowValues};
pub use crate::posterior::correlation::Coregionalization;
pub use crate::posterior::crossvalidation::LeftOutFold;
pub use crate::posterior::finer::Finer;
pub use crate::posterior::limits::Limits;
pub use crate::posterior::marginal::Marginal;
pub use crate::posterior::meet::{GroupTotals, Met};
pub use crate::posterior::mixture::Posterior;
pub use crate::posterior::parts::Part;
pub use crate::posterior::prediction::Prediction;
pub use crate::posterior::reporting::{Instrument, instruments};
pub use crate::posterior::shape::{Breach, Shape, Shaped};
pub use crate::posterior::slopes::Slope;
pub use crate::posterior::summary::OutputCorrelation;
pub use crate::posterior::summary::{FitSummary, Hyper, LeaveOneOut};
pub use crate::posterior::tabulate::Tabulated;
use crate::problem::assembly::Problem;
pub use crate::problem::observations::Observations;
pub use crate::problem::scale::Scale;
pub use crate::problem::settings::{
    AUTO_FREE, AUTO_ROWS, FitOptions, Hyperparameters, Inducing, Inference, Mean, Setting,
};
use crate::problem::sparse::{Sparse, SparseChoice};
pub use crate::problem::varying::Varying;
#[cfg(feature = "mcmc")]
pub use mcmc::{HyperCheck, McmcReport, RowCheck, Spread};
pub use overlap::{CountedOnce, Overlap, Treatment, WhyKept, counted_once};
pub use redundant::RedundantRow;
pub use save::FORMAT;
pub use shards::{Shard, Shards, add_sums};

use crate::error::InputError;
use crate::kernel::Kernel;
pub use crate::likelihood::Noise;
use crate::link::Link;
use crate::parameter::Parameter;

/// A Gaussian-process prior and the tables observed on it.
///
/// # Examples
/// A histogram of ten-year bands, and the curve beneath it by single years:
/// ```
/// use quadrat::kernel::Kernel;
/// use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
/// use quadrat::support::{Aggregate, Functionals};
///
/// let bands = [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0), (30.0, 40.0), (40.0, 50.0)];
/// let people = vec![120.0, 180.0, 260.0, 210.0, 130.0];
/// let supports = Functionals::intervals("age", &bands, Aggregate::Sum)?;
/// let posterior = Model::new(Kernel::se(["age"]))
///     .observe(Observations::gaussian(supports, people, Noise::Known(vec![1.0; 5]))?)
///     .fit(&FitOptions::default())?;
/// let years: Vec<_> = (0..50).map(|a| (a as f64, a as f64 + 1.0)).collect();
/// let by_year = Functionals::intervals("age", &years, Aggregate::Sum)?;
/// let p = posterior.predict(&by_year, Scale::Response)?;
/// let (lower, upper) = (p.quantile(0.025), p.quantile(0.975));
/// assert!(lower[25] < p.mean()[25] && p.mean()[25] < upper[25]);
/// // The years of a band add up to the band.
/// assert!((p.mean()[20..30].iter().sum::<f64>() - 260.0).abs() < 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    kernel: Kernel,
    mean: Mean,
    tables: Vec<Observations>,
    settings: Vec<(String, Setting)>,
    /// One of each kind at most, in the order of the kinds.
    seconds: Vec<(Varying, Kernel, Link)>,
    /// Whether constraints are to be placed where the function is likeliest to be negative, which
    /// takes a fit without them.
    scattered: bool,
    /// Whether overlapping rows of counts are taken as they are.
    keeps_overlaps: bool,
}

impl Model {
    /// A model without observations: an unknown constant plus a function with this kernel.
    #[must_use]
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            mean: Mean::Constant,
            tables: Vec::new(),
            settings: Vec::new(),
            seconds: Vec::new(),
            scattered: false,
            keeps_overlaps: false,
        }
    }

    /// Chooses the prior mean.
    #[must_use]
    pub fn mean(mut self, mean: Mean) -> Self {
        self.kernel = self.kernel.with_spare(mean.columns());
        self.mean = mean;
        self
    }

    /// Adds a table of observations of the same latent function.
    #[must_use]
    pub fn observe(mut self, table: Observations) -> Self {
        self.tables.push(table);
        self
    }

    /// Lets the noise variance or the dispersion that tables learn be a function of its own,
    /// $v(x) = \\psi(g(x))$ with $g \\sim GP$ under this kernel and an unknown constant mean.
    ///
    /// Where values have a common step $\\delta$, such as whole numbers, and no known variance, the
    /// noise variance is $\\delta^2 / 12 + \\psi(g(x))$, the first the variance of their rounding
    /// (at most 4 % of that of the values): it would vanish where many rows report the same. For
    /// Student-t rows, $v$ and what is added to it are the square of the scale.
    ///
    /// Tables that learn none keep what they have. A model may have one function of each kind,
    /// independent of each other: values have the noise of the one, counts the dispersion of the
    /// other; a second call of the same kind replaces the first. They are taken to be independent
    /// of the latent function after the data too (mean field); inference is expectation
    /// propagation, or variational.
    ///
    /// # Arguments
    /// * `varying` - what the function is of
    /// * `kernel` - its kernel; over several outputs with a coregionalisation of its own, or one
    ///   for all outputs
    /// * `link` - `exp`, so that `g` is the log of it, or `softplus`
    ///
    /// # Source
    /// Saul, Hensman, Vehtari and Lawrence 2016, *Chained Gaussian processes*.
    #[must_use]
    pub fn vary(mut self, varying: Varying, kernel: Kernel, link: Link) -> Self {
        self.seconds.retain(|(other, ..)| *other != varying);
        self.seconds.push((varying, kernel, link));
        self.seconds.sort_by_key(|(varying, ..)| *varying);
        self
    }

    /// The same with one number for every table in place of noise variances and dispersions that
    /// are functions; `None` where there is no such function.
    fn with_constant_scale(&self) -> Option<Self> {
        if self.seconds.is_empty() {
            return None;
        }
        let mut model = self.clone();
        for (varying, ..) in model.seconds.drain(..) {
            let of_function = format!("{}.", varying.name());
            model
                .settings
                .retain(|(name, _)| !name.starts_with(&of_function));
        }
        Some(model)
    }

    /// Says something about one hyperparameter, by its name (see [`Self::parameters`]).
    #[must_use]
    pub fn set(mut self, name: &str, setting: Setting) -> Self {
        self.settings.push((name.to_owned(), setting));
        self
    }

    /// The hyperparameters in the order of `theta`, with starts and priors: what
    /// [`Self::fit`] would use. The unknown mean is not among them: it is integrated.
    ///
    /// # Errors
    /// Everything that can be wrong with the input, see [`InputError`].
    pub fn parameters(&self) -> Result<Vec<Parameter>, InputError> {
        Ok(self.specified(Inference::Auto, false)?.parameters)
    }

    /// The problem that inference solves; with inducing points where `sparse` says how.
    fn problem(
        &self,
        inference: Inference,
        sparse: Option<&SparseChoice>,
    ) -> Result<Problem, InputError> {
        let specified = self.specified(inference, sparse.is_some())?;
        let sparse = sparse.map(|choice| Sparse::new(&specified, choice));
        let sparse = sparse.transpose()?;
        Ok(Problem::new(specified, sparse))
    }

    /// The same without sparse inference, where periodic leaves may have any number of harmonics.
    fn problem_with_sharp_cycles(&self, inference: Inference) -> Result<Problem, InputError> {
        let mut specified = self.specified(inference, false)?;
        specified.may_be_sharp = true;
        Ok(Problem::new(specified, None))
    }
}
