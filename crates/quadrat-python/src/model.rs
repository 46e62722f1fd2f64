//! Models: a prior and what was observed.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadrat::error::FitError;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Inference, Mean, Model as Prior, Posterior as Fitted,
    Setting, Varying,
};
use quadrat::parameter::{PriorDensity, Transform};
use quadrat_study::new_row::{self, NewRow};

use crate::asked::Asked;
use crate::buffers::Numbers;
use crate::errors::{Failure, Outcome};
use crate::geometry::GeographicMap;
use crate::likelihood::Likelihood;
use crate::noises::Noises;
use crate::observations::observations;
use crate::posterior::{IN_SHARDS, Posterior};

use crate::support::Support;
use crate::work::{self, Control};

/// A prior and the tables observed; methods give new ones.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Model {
    prior: Prior,
    /// What a new row of each table is.
    new_rows: Vec<NewRow>,
    noises: Noises,
}

/// Start, value, whether it is fixed, prior, lower and upper bound of a hyperparameter.
type Said = (
    Option<f64>,
    Option<f64>,
    bool,
    Option<String>,
    Option<f64>,
    Option<f64>,
);

#[pymethods]
impl Model {
    #[new]
    fn new(py: Python<'_>, kernel: &str, mean: &str) -> PyResult<Self> {
        let made = || -> Outcome<Prior> {
            let mean: Mean = mean
                .parse()
                .map_err(|message| Failure::Data(format!("mean: {message}")))?;
            Ok(Prior::new(parsed(kernel)?).mean(mean))
        };
        let prior = made().map_err(|e| e.raise(py))?;
        Ok(Self {
            prior,
            new_rows: Vec::new(),
            noises: Noises::default(),
        })
    }

    /// With a table of observations.
    fn observe(
        &self,
        py: Python<'_>,
        support: &Support,
        likelihood: &Likelihood,
        times: Option<Numbers>,
        output: Option<String>,
        share_noise: bool,
    ) -> PyResult<Self> {
        let mut noises = self.noises.clone();
        noises.observe(&likelihood.reported, output.as_deref(), share_noise);
        let made = observations(support, likelihood, times, output, share_noise);
        let table = made.map_err(|failure| failure.raise(py))?;
        let mut new_rows = self.new_rows.clone();
        new_rows.push(likelihood.new_row.clone());
        Ok(Self {
            prior: self.prior.clone().observe(table),
            new_rows,
            noises,
        })
    }

    /// With something said about a hyperparameter.
    fn set(&self, py: Python<'_>, name: &str, said: Said) -> PyResult<Self> {
        let (start, value, fixed, prior, lower, upper) = said;
        let prior: Option<Result<PriorDensity, String>> = prior.map(|text| text.parse());
        let setting = Setting {
            start,
            value,
            fixed,
            prior: prior
                .transpose()
                .map_err(|e| Failure::Data(format!("prior of `{name}`: {e}")).raise(py))?,
            lower,
            upper,
        };
        Ok(self.with(self.prior.clone().set(name, setting)))
    }

    /// With a noise variance or a dispersion that is a function.
    fn vary(&self, py: Python<'_>, what: &str, kernel: &str, link: &str) -> PyResult<Self> {
        let made = || -> Outcome<Prior> {
            let varying = match what {
                "noise" => Varying::Noise,
                "dispersion" => Varying::Dispersion,
                other => {
                    return Err(Failure::Data(format!(
                        "\"{other}\" cannot vary; there are \"noise\" and \"dispersion\""
                    )));
                }
            };
            let link: Link = link.parse().map_err(Failure::Input)?;
            Ok(self.prior.clone().vary(varying, parsed(kernel)?, link))
        };
        let mut varied = made()
            .map(|prior| self.with(prior))
            .map_err(|e| e.raise(py))?;
        varied.noises.vary(what);
        Ok(varied)
    }

    /// With a function that is not negative where it matters.
    fn non_negative(&self, py: Python<'_>) -> PyResult<Self> {
        let prior = self.prior.clone();
        let prior = work::run(py, move || Ok(prior.non_negative()?))?;
        Ok(self.with(prior))
    }

    /// The hyperparameters: name, start, prior, bounds, whether it is fixed.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let prior = self.prior.clone();
        let all = work::run(py, move || Ok(prior.parameters()?))?;
        let told = all.iter().map(|parameter| {
            let told = PyDict::new(py);
            told.set_item("name", &parameter.name)?;
            told.set_item("start", parameter.start)?;
            told.set_item("fixed", parameter.fixed)?;
            told.set_item("prior", parameter.prior.to_string())?;
            told.set_item("positive", parameter.transform == Transform::Log)?;
            Ok(told)
        });
        told.collect()
    }

    /// The posterior.
    #[pyo3(signature = (how, inducing_at=None, progress=None, map=None))]
    fn fit(
        &self,
        py: Python<'_>,
        how: How,
        inducing_at: Option<&Support>,
        progress: Option<Bound<'_, PyAny>>,
        map: Option<&GeographicMap>,
    ) -> PyResult<Posterior> {
        self.noises.check().map_err(|failure| failure.raise(py))?;
        let prior = self.prior.clone();
        let new_rows = self.new_rows.clone();
        let note = map.map(GeographicMap::note).transpose();
        let note = note.map_err(|failure| failure.raise(py))?;
        let fit = move |options: &FitOptions| {
            let mut posterior = prior.fit(options)?;
            // Only instruments with limits have anything that their rows do not show.
            if new_rows.iter().any(|row| *row != NewRow::default()) {
                new_row::keep(&mut posterior, &new_rows);
            }
            if let Some((name, text)) = &note {
                posterior.set_note(*name, text.as_str());
            }
            Ok(posterior)
        };
        fitted(py, (how, inducing_at), progress.as_ref(), fit)
    }

    /// The posterior, where the rows are elsewhere and those of this model stand for them: `sums`
    /// is asked for the sums of every pass.
    #[pyo3(signature = (how, sums, points, is_thinned, inducing_at=None, progress=None))]
    fn fit_in_shards(
        &self,
        py: Python<'_>,
        how: How,
        sums: Py<PyAny>,
        points: usize,
        is_thinned: bool,
        inducing_at: Option<&Support>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Posterior> {
        let prior = self.prior.clone();
        let asked = Arc::new(Asked::new(sums, points, is_thinned));
        let shards = Arc::clone(&asked);
        let fit = move |options: &FitOptions| {
            let mut fitted = prior.fit_in_shards(shards, options)?;
            fitted.set_note(IN_SHARDS, "true");
            Ok(fitted)
        };
        let found = fitted(py, (how, inducing_at), progress.as_ref(), fit);
        found.map_err(|error| asked.raised().unwrap_or(error))
    }
}

impl Model {
    /// The same tables under another prior.
    fn with(&self, prior: Prior) -> Self {
        Self {
            prior,
            new_rows: self.new_rows.clone(),
            noises: self.noises.clone(),
        }
    }

    pub(crate) fn prior(&self) -> &Prior {
        &self.prior
    }
}

/// How a model is fitted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct How {
    method: String,
    hyperparameters: String,
    seed: u64,
    starts: Option<usize>,
    threads: Option<usize>,
    inducing: Option<usize>,
    move_inducing: bool,
}

impl How {
    fn options(self, inducing_at: Option<&Support>) -> Outcome<FitOptions> {
        let mut options = FitOptions::default()
            .with_seed(self.seed)
            .with_inference(inference_of(&self.method)?)
            .with_hyperparameters(integration_of(&self.hyperparameters)?);
        if let Some(starts) = self.starts {
            options = options.with_starts(starts);
        }
        if let Some(threads) = self.threads {
            options = options.with_threads(threads);
        }
        if let Some(at) = inducing_at {
            options = options.with_inducing(Inducing::At(Box::new((*at.functionals).clone())));
        } else if let Some(number) = self.inducing {
            options = options.with_inducing(Inducing::Number(number));
        }
        if self.move_inducing {
            options = options.with_moved_inducing();
        }
        Ok(options)
    }
}

/// What a fit finds, while signals are looked after.
fn fitted(
    py: Python<'_>,
    (how, inducing_at): (How, Option<&Support>),
    progress: Option<&Bound<'_, PyAny>>,
    fit: impl FnOnce(&FitOptions) -> Result<Fitted, FitError> + Send + 'static,
) -> PyResult<Posterior> {
    let control = Arc::new(Control::default());
    let options = how.options(inducing_at);
    let options = options
        .map_err(|failure| failure.raise(py))?
        .with_progress(Arc::clone(&control) as _)
        .with_keeper(Arc::clone(&control) as _);
    let heard = Arc::clone(&control);
    let found = work::watched(py, &control, progress, move || {
        let posterior = fit(&options)?;
        let summary = posterior.summary();
        if !summary.converged && !heard.was_stopped() {
            let reason = summary.warnings.join("; ");
            return Err(Failure::NotConverged(format!(
                "the fit did not converge ({reason}); give starts or bounds of hyperparameters, or simplify the kernel"
            )));
        }
        Ok(posterior)
    })?;
    Ok(Posterior::new(found, control.was_stopped()))
}

fn parsed(kernel: &str) -> Outcome<Kernel> {
    Kernel::parse(kernel).map_err(|error| {
        let caret = " ".repeat(
            kernel
                .get(..error.at)
                .map_or(0, |head| head.chars().count()),
        );
        Failure::Data(format!("kernel: {}\n  {kernel}\n  {caret}^", error.message))
    })
}

fn inference_of(method: &str) -> Outcome<Inference> {
    Ok(match method {
        "auto" => Inference::Auto,
        "exact" => Inference::Exact,
        "laplace" => Inference::Sites(Method::Laplace),
        "ep" => Inference::Sites(Method::Ep),
        "variational" => Inference::Sites(Method::Variational),
        "sparse" => Inference::Sparse,
        other => {
            return Err(Failure::Data(format!(
                "method is \"{other}\"; there are auto, exact, laplace, ep, variational and sparse"
            )));
        }
    })
}

fn integration_of(word: &str) -> Outcome<Hyperparameters> {
    Ok(match word {
        "auto" => Hyperparameters::Auto,
        "map" => Hyperparameters::Map,
        "integrate" => Hyperparameters::Integrate,
        other => {
            return Err(Failure::Data(format!(
                "hyperparameters is \"{other}\"; there are auto, map and integrate"
            )));
        }
    })
}
