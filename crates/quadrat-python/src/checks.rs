//! Fits and estimates beside draws from their posterior.

use std::sync::Arc;

use pyo3::prelude::*;
use quadrat::inference::mcmc::McmcOptions;
use quadrat_study::engine::sampling;

use crate::density::DensityEstimate;
use crate::errors::{Failure, Outcome};
use crate::plane::{GivenEstimate, PlaneEstimate};
use crate::posterior::Posterior;
use crate::work::{self, Control};

/// What is checked.
#[derive(FromPyObject)]
pub enum Checked<'py> {
    Fit(Bound<'py, Posterior>),
    Line(Bound<'py, DensityEstimate>),
    Plane(Bound<'py, PlaneEstimate>),
    Given(Bound<'py, GivenEstimate>),
}

/// What was found, as the program writes it in JSON, and what a careful reader should know.
type Told = (String, Vec<String>);

/// What the program calls its flags and files, and what they are called here.
const WORDS: [(&str, &str); 2] = [
    ("(`--draws`)", "(`draws`)"),
    (
        "see `mcmc` in fit.json for which rows these are",
        "see `mean_difference` and `sd_ratio` for which rows these are",
    ),
];

/// Samples the posterior by the no-U-turn sampler, and sets the fit or the estimate beside it.
#[pyfunction]
#[pyo3(signature = (of, draws, seed, progress=None))]
pub fn check_by_mcmc(
    py: Python<'_>,
    of: Checked<'_>,
    draws: u32,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Told> {
    let options = sampling(seed, draws);
    work::tracked(py, progress.as_ref(), work_of(of, options))
}

type Work = Box<dyn FnOnce(&Control) -> Outcome<Told> + Send>;

/// The check as work that holds nothing of Python.
fn work_of(of: Checked<'_>, options: McmcOptions) -> Work {
    macro_rules! estimate {
        ($bound:expr) => {{
            let found = Arc::clone(&$bound.get().found);
            Box::new(move |control| {
                let check = found.check_by_mcmc(&options, control);
                let check = check.map_err(|error| Failure::Data(error.to_string()))?;
                Ok((json(serde_json::to_string(&check))?, check.warnings()))
            })
        }};
    }
    match of {
        Checked::Fit(fit) => {
            let fitted = Arc::clone(&fit.get().fitted);
            Box::new(move |control| {
                let check = fitted.check_by_mcmc(&options, control)?;
                let told = check.warnings().into_iter().map(reworded);
                Ok((json(serde_json::to_string(&check))?, told.collect()))
            })
        }
        Checked::Line(bound) => estimate!(bound),
        Checked::Plane(bound) => estimate!(bound),
        Checked::Given(bound) => estimate!(bound),
    }
}

fn json(written: serde_json::Result<String>) -> Outcome<String> {
    written.map_err(|error| Failure::Data(format!("the check cannot be told: {error}")))
}

fn reworded(warning: String) -> String {
    WORDS.iter().fold(warning, |told, (flag, argument)| {
        told.replace(flag, argument)
    })
}
