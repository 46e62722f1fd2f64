//! What users build: observations + prior -> posterior.

mod amounts;
mod beside;
mod bounds;
mod centred;
mod certificate;
mod checks;
mod component;
mod correlation;
mod crossvalidation;
mod cycles;
mod defaults;
mod draws;
mod extent;
mod fine_noise;
mod finer;
mod fit;
mod fit_sparse;
mod inputs;
mod lens;
mod levels;
mod lifted;
mod line;
mod lost_digits;
mod marginals;
#[cfg(feature = "mcmc")]
mod mcmc;
mod mean;
mod mean_lines;
mod mean_settings;
mod mean_words;
mod misfit;
mod non_negative;
mod observations;
mod outputs;
mod overlap;
mod parts;
mod pooled;
mod posterior;
pub(crate) mod prediction;
mod probabilities;
mod problem;
mod redundant;
mod rehearsal;
mod reporting;
mod response_draws;
mod rms;
mod rounding;
mod row_sums;
mod save;
mod scale;
mod second;
mod seconds;
mod settings;
mod slopes;
mod sparse;
mod sparse_starts;
mod steady;
mod streamed;
mod summary;
mod sums;
mod totals;
mod trend;
mod truncation;
mod unions;
mod update;
mod varying;
mod varying_noise;
mod within;

pub use correlation::Coregionalization;
pub use crossvalidation::LeftOutFold;
use cycles::Place;
use defaults::{Output, Scales, plausible};
pub use finer::Finer;
#[cfg(feature = "mcmc")]
pub use mcmc::{HyperCheck, McmcReport, RowCheck, Spread};
use mean::{MeanPrior, Means};
use mean_settings::MeanSettings;
pub use observations::Observations;
pub use overlap::{CountedOnce, Overlap, Treatment, WhyKept, counted_once};
pub use parts::Part;
pub use posterior::Posterior;
pub use prediction::Prediction;
use problem::Problem;
pub use redundant::RedundantRow;
pub use reporting::{Instrument, instruments};
pub use save::FORMAT;
pub use scale::Scale;
use second::SecondSpec;
use seconds::Seconds;
pub use settings::{
    AUTO_FREE, AUTO_ROWS, FitOptions, Hyperparameters, Inducing, Inference, Mean, Setting,
};
pub use slopes::Slope;
use sparse::{Sparse, SparseChoice};
pub use summary::OutputCorrelation;
pub use summary::{FitSummary, Hyper, LeaveOneOut};
pub use varying::Varying;

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
        Ok(self.problem(Inference::Auto, None)?.parameters)
    }

    /// Checks the input and assembles the problem; with inducing points where `sparse` says how.
    fn problem(
        &self,
        inference: Inference,
        sparse: Option<&SparseChoice>,
    ) -> Result<Problem, InputError> {
        checks::links(&self.tables)?;
        self.kernel.check().map_err(|e| InputError::Kernel {
            reason: e.to_string(),
        })?;
        let tables = outputs::restrict(&self.kernel, &self.tables)?;
        outputs::all_observed(&self.kernel, &tables)?;
        let method = checks::method(inference, &tables, !self.seconds.is_empty())?;
        let own_means = MeanSettings::new(&self.settings, None, self.kernel.outputs());
        let means = self.effective_means(&own_means)?;
        let lines = mean_lines::Columns::new(&self.kernel, &self.mean, &tables)?;
        let scales = Scales::new(&self.kernel, &tables, &means, lines.places());
        let kernel = match self.has_usual_means(&own_means, &means)? {
            true => scales.near_the_rows(&self.kernel),
            false => self.kernel.clone(),
        };
        let mut parameters = scales.kernel_parameters(&kernel);
        let varying: Vec<Varying> = self.seconds.iter().map(|s| s.0).collect();
        let own = checks::own_parameters(&tables, &scales, &varying, &mut parameters);
        let specs = self.seconds.iter().cloned();
        let specs = specs
            .map(|second| SecondSpec::new(second, &self.tables, &self.settings, &mut parameters))
            .collect::<Result<Vec<SecondSpec>, InputError>>()?;
        let of_seconds = self.seconds.iter().map(|(varying, kernel, _)| {
            MeanSettings::new(&self.settings, Some(*varying), kernel.outputs())
        });
        let of_lines = self.mean.columns().iter();
        let of_lines =
            of_lines.map(|c| MeanSettings::of_line(&self.settings, c, self.kernel.outputs()));
        let of_lines: Vec<MeanSettings<'_>> = of_lines.collect();
        let slopes = lines.with_priors(&of_lines, &scales)?;
        lines.can_be_told_apart(&self.kernel, &tables, &of_lines)?;
        let families = std::iter::once(own_means).chain(of_lines);
        let families: Vec<MeanSettings<'_>> = families.chain(of_seconds).collect();
        mean_settings::all_used(&self.settings, &families)?;
        let priors = means.iter().enumerate().map(|(output, mean)| {
            Ok(match *mean {
                Mean::Zero => MeanPrior { mean: 0.0, sd: 0.0 },
                Mean::Fixed(mean) => MeanPrior { mean, sd: 0.0 },
                Mean::Constant | Mean::Linear(_) => {
                    families[0].prior(output)?.unwrap_or_else(|| {
                        let (mean, sd) = scales.mean_prior(&kernel, output);
                        MeanPrior { mean, sd }
                    })
                }
            })
        });
        let mean = Means::new(&kernel, priors.collect::<Result<_, InputError>>()?);
        let mean = mean.with_lines(slopes);
        let usual: Vec<f64> = parameters.iter().map(|p| p.start).collect();
        let near = scales.of_neighbours(&kernel, &parameters);
        checks::apply_settings(&mut parameters, &self.settings)?;
        checks::learnable(&tables, &parameters)?;
        let besides = starts_besides(&parameters, usual, near);
        let along = |column: usize| places(&self.kernel, &tables, &scales, column);
        let cycles = cycles::starts(&self.kernel, &parameters, along);
        let cycles = cycles.into_iter().map(|theta| allowed(&parameters, theta));
        let cycles = cycles.collect();
        let sparse = sparse
            .map(|choice| Sparse::new(&kernel, &mean, &parameters, &tables, choice))
            .transpose()?;
        let mut problem = Problem::new(
            kernel,
            &tables,
            &own,
            mean,
            parameters,
            method,
            sparse,
            Seconds::new(specs, &self.tables)?,
        );
        problem.besides = besides;
        problem.cycles = cycles;
        Ok(problem)
    }

    /// Whether the mean of every output is unknown, with the prior that the data suggest.
    fn has_usual_means(
        &self,
        settings: &MeanSettings<'_>,
        means: &[Mean],
    ) -> Result<bool, InputError> {
        for (output, mean) in means.iter().enumerate() {
            if *mean != Mean::Constant || settings.prior(output)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The mean of every output without its lines, after settings that fix it.
    fn effective_means(&self, settings: &MeanSettings<'_>) -> Result<Vec<Mean>, InputError> {
        let one = |output| {
            let own = match &self.mean {
                // Their slopes are told of elsewhere.
                Mean::Linear(_) => Mean::Constant,
                other => other.clone(),
            };
            let Some(prior) = settings.prior(output)? else {
                return Ok(own);
            };
            match (own, prior) {
                (Mean::Constant, MeanPrior { sd: 0.0, .. }) if !self.mean.columns().is_empty() => {
                    Err(settings.not_fixed(output))
                }
                (Mean::Constant, MeanPrior { mean, sd: 0.0 }) => Ok(Mean::Fixed(mean)),
                (Mean::Constant, _) => Ok(Mean::Constant),
                _ => Err(settings.not_learned(output)),
            }
        };
        (0..self.kernel.outputs().len().max(1)).map(one).collect()
    }
}

/// What the rows of the bulk report along a column, in the middles of their supports: values per
/// unit of size, those of every output around its level and in its spread.
fn places(kernel: &Kernel, tables: &[Observations], scales: &Scales, column: usize) -> Vec<Place> {
    let mut places = Vec::new();
    for table in tables {
        let set = table.supports();
        for (row, y) in plausible(table).into_iter().enumerate() {
            let (from, to) = set.extent(row, column);
            if !scales.extents[column].holds((from, to)) {
                continue;
            }
            let output = outputs::output_of(kernel.output_column(), set, row);
            let Output { level, spread, .. } = scales.outputs[output];
            places.push(Place {
                at: 0.5 * from + 0.5 * to,
                value: (y / set.size(row) - level) / spread,
                times: table.times(row),
            });
        }
    }
    places
}

/// The nearest start within the bounds, with what is fixed as it is.
fn allowed(parameters: &[Parameter], theta: Vec<f64>) -> Vec<f64> {
    let each = theta.into_iter().zip(parameters);
    each.map(|(value, p)| match p.fixed {
        true => p.start,
        false => value.max(p.lower).min(p.upper),
    })
    .collect()
}

/// Where a search begins besides the starts of the parameters: where the user chose some of these,
/// at what the data suggest, `usual`; and, where the distances between neighbouring rows are of
/// another order than the extent of all, at lengthscales `near` these.
fn starts_besides(
    parameters: &[Parameter],
    usual: Vec<f64>,
    near: Option<Vec<f64>>,
) -> Vec<Vec<f64>> {
    let starts: Vec<f64> = parameters.iter().map(|p| p.start).collect();
    let near = near.map(|mut near| {
        // Only lengthscales are near; all else begins where it does.
        for ((value, usual), start) in near.iter_mut().zip(&usual).zip(&starts) {
            if value == usual {
                *value = *start;
            }
        }
        near.extend_from_slice(&starts[near.len()..]);
        near
    });
    let mut besides: Vec<Vec<f64>> = Vec::new();
    for theta in [Some(usual), near].into_iter().flatten() {
        let theta = allowed(parameters, theta);
        if theta != starts && !besides.contains(&theta) {
            besides.push(theta);
        }
    }
    besides
}
