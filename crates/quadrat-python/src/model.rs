//! Models: a prior and what was observed.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Inference, Mean, Model as Prior, Setting, Varying,
};
use quadrat::parameter::{PriorDensity, Transform};

use crate::buffers::Numbers;
use crate::errors::{Failure, Outcome};
use crate::likelihood::Likelihood;
use crate::observations::observations;
use crate::posterior::Posterior;
use crate::support::Support;
use crate::work::{self, Control};

/// A prior and the tables observed; methods give new ones.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Model {
    prior: Prior,
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
        made().map(|prior| Self { prior }).map_err(|e| e.raise(py))
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
        let made = observations(support, likelihood, times, output, share_noise);
        let table = made.map_err(|failure| failure.raise(py))?;
        let prior = self.prior.clone().observe(table);
        Ok(Self { prior })
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
        let prior = self.prior.clone().set(name, setting);
        Ok(Self { prior })
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
        made().map(|prior| Self { prior }).map_err(|e| e.raise(py))
    }

    /// With a function that is not negative where it matters.
    fn non_negative(&self, py: Python<'_>) -> PyResult<Self> {
        let prior = self.prior.clone();
        let prior = work::run(py, move || Ok(prior.non_negative()?))?;
        Ok(Self { prior })
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
    #[pyo3(signature = (method, hyperparameters, seed, starts=None, threads=None,
        inducing=None, inducing_at=None, move_inducing=false, progress=None))]
    fn fit(
        &self,
        py: Python<'_>,
        method: &str,
        hyperparameters: &str,
        seed: u64,
        starts: Option<usize>,
        threads: Option<usize>,
        inducing: Option<usize>,
        inducing_at: Option<&Support>,
        move_inducing: bool,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Posterior> {
        let control = Arc::new(Control::default());
        let mut options = FitOptions::default().with_seed(seed);
        if let Some(starts) = starts {
            options = options.with_starts(starts);
        }
        if let Some(threads) = threads {
            options = options.with_threads(threads);
        }
        if let Some(at) = inducing_at {
            options = options.with_inducing(Inducing::At(Box::new(at.functionals.clone())));
        } else if let Some(number) = inducing {
            options = options.with_inducing(Inducing::Number(number));
        }
        if move_inducing {
            options = options.with_moved_inducing();
        }
        let ways = inference_of(method).and_then(|m| Ok((m, integration_of(hyperparameters)?)));
        let (inference, hyperparameters) = ways.map_err(|failure| failure.raise(py))?;
        let options = options
            .with_inference(inference)
            .with_hyperparameters(hyperparameters)
            .with_progress(Arc::clone(&control) as _)
            .with_keeper(Arc::clone(&control) as _);
        let prior = self.prior.clone();
        let heard = Arc::clone(&control);
        let fitted = work::watched(py, &control, progress.as_ref(), move || {
            let posterior = prior.fit(&options)?;
            let summary = posterior.summary();
            if !summary.converged && !heard.was_stopped() {
                let reason = summary.warnings.join("; ");
                return Err(Failure::NotConverged(format!(
                    "the fit did not converge ({reason}); give starts or bounds of hyperparameters, or simplify the kernel"
                )));
            }
            Ok(posterior)
        })?;
        Ok(Posterior::new(fitted, control.was_stopped()))
    }
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
