//! What users build: observations + prior -> posterior.

mod checks;
mod crossvalidation;
mod defaults;
mod draws;
mod fit;
mod lens;
#[cfg(feature = "mcmc")]
mod mcmc;
mod non_negative;
mod observations;
mod pooled;
mod posterior;
pub(crate) mod prediction;
mod problem;
mod save;
mod settings;
mod summary;
mod totals;
mod truncation;
mod update;

pub use crate::likelihood::Noise;
pub use crossvalidation::LeftOutFold;
#[cfg(feature = "mcmc")]
pub use mcmc::{HyperCheck, McmcReport, RowCheck, Spread};
pub use observations::Observations;
pub use posterior::{Posterior, Scale};
pub use prediction::Prediction;
pub use save::FORMAT;
pub use settings::{AUTO_FREE, AUTO_ROWS, FitOptions, Hyperparameters, Inference, Mean, Setting};
pub use summary::{FitSummary, Hyper, LeaveOneOut};

use crate::error::InputError;
use crate::kernel::Kernel;
use crate::parameter::{Parameter, PriorDensity};
use defaults::Scales;
use problem::{MeanPrior, Problem};

/// Name of the unknown constant mean among the hyperparameters.
const MEAN_NAME: &str = "mean.constant";

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
        }
    }

    /// Chooses the prior mean.
    #[must_use]
    pub fn mean(mut self, mean: Mean) -> Self {
        self.mean = mean;
        self
    }

    /// Adds a table of observations of the same latent function.
    #[must_use]
    pub fn observe(mut self, table: Observations) -> Self {
        self.tables.push(table);
        self
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
        Ok(self.problem(Inference::Auto)?.parameters)
    }

    /// Checks the input and assembles the problem.
    fn problem(&self, inference: Inference) -> Result<Problem, InputError> {
        checks::links(&self.tables)?;
        self.kernel.check().map_err(|e| InputError::Kernel {
            reason: e.to_string(),
        })?;
        let tables = checks::restrict(&self.kernel, &self.tables)?;
        let method = checks::method(inference, &tables)?;
        let mean = self.effective_mean()?;
        let scales = Scales::new(&tables, mean);
        let mut parameters = scales.kernel_parameters(&self.kernel);
        let own = checks::own_parameters(&tables, &scales, &mut parameters);
        let mean = match mean {
            Mean::Zero => MeanPrior { mean: 0.0, sd: 0.0 },
            Mean::Fixed(mean) => MeanPrior { mean, sd: 0.0 },
            Mean::Constant => {
                let (mean, sd) = self
                    .mean_setting()?
                    .unwrap_or_else(|| scales.mean_prior(&self.kernel));
                MeanPrior { mean, sd }
            }
        };
        checks::apply_settings(&mut parameters, &self.settings)?;
        checks::learnable(&tables, &parameters)?;
        Ok(Problem::new(
            self.kernel.clone(),
            &tables,
            &own,
            mean,
            parameters,
            method,
        ))
    }

    /// The mean, after a setting that fixes it.
    fn effective_mean(&self) -> Result<Mean, InputError> {
        let Some((_, setting)) = self.settings.iter().rev().find(|(n, _)| n == MEAN_NAME) else {
            return Ok(self.mean);
        };
        let refuse = |reason: &str| InputError::Parameter {
            name: MEAN_NAME.into(),
            reason: reason.into(),
        };
        if self.mean != Mean::Constant {
            return Err(refuse(
                "the mean is not learned here; use mean = \"constant\"",
            ));
        }
        match (setting.fixed, setting.value) {
            (true, Some(value)) if value.is_finite() => Ok(Mean::Fixed(value)),
            (true, _) => Err(refuse("`fixed` needs a finite `value`")),
            (false, _) => Ok(Mean::Constant),
        }
    }

    /// The prior of the unknown mean that the user gave.
    fn mean_setting(&self) -> Result<Option<(f64, f64)>, InputError> {
        let Some((_, setting)) = self.settings.iter().rev().find(|(n, _)| n == MEAN_NAME) else {
            return Ok(None);
        };
        match setting.prior {
            Some(PriorDensity::Normal { mean, sd })
                if mean.is_finite() && sd.is_finite() && sd > 0.0 =>
            {
                Ok(Some((mean, sd)))
            }
            None if setting.start.is_none() && setting.value.is_none() => Ok(None),
            _ => Err(InputError::Parameter {
                name: MEAN_NAME.into(),
                reason: "the mean is integrated, not optimised: give prior = \"normal(mean, sd)\" or { value = .., fixed = true }".into(),
            }),
        }
    }
}
