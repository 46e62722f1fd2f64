//! The posterior: summary, predictions, draws, conditioning, bytes.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use quadrat::model::{FitSummary, Posterior as Fitted};
use quadrat::support::Functionals;
use quadrat_study::geographic::SAVED_AS;

use crate::buffers::{Numbers, bytes};
use crate::errors::{Failure, Outcome};
use crate::geometry::GeographicMap;
use crate::likelihood::Likelihood;
use crate::observations::observations;
use crate::prediction::{Asked, Prediction, scale_of};
use crate::rows::{AskedRows, Rows, kept};
use crate::support::Support;
use crate::work;

/// The posterior over the latent function.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Posterior {
    pub fitted: Arc<Fitted>,
    /// Whether the fit was stopped by the user, with the best so far.
    was_stopped: bool,
}

/// Note of models whose rows are elsewhere, in shards: the rows that they know stand in for these.
pub const IN_SHARDS: &str = "in_shards";
/// Note of models made by the program, which says that inputs are labels.
const LABELS: &str = "labels";

impl Posterior {
    pub fn new(fitted: Fitted, was_stopped: bool) -> Self {
        Self {
            fitted: Arc::new(fitted),
            was_stopped,
        }
    }

    /// Refuses a model whose inputs are not the numbers that people have.
    fn check_inputs(&self) -> Outcome<()> {
        match self.fitted.note(LABELS) {
            None => Ok(()),
            Some(_) => Err(Failure::Data(
                "this model was fitted to labels by a study: predict in the study, or with `quadrat predict`".to_owned(),
            )),
        }
    }

    /// Refuses a model of longitudes and latitudes.
    pub fn check_planar(&self) -> Outcome<()> {
        match self.fitted.note(SAVED_AS) {
            None => Ok(()),
            Some(_) => Err(Failure::Data(
                "the inputs of this model are longitudes and latitudes; of these the program chooses measurements (`quadrat next`), or give a model of projected geometries".to_owned(),
            )),
        }
    }

    /// Another one that came of it.
    pub fn followed_by(&self, fitted: Fitted) -> Self {
        Self::new(fitted, self.was_stopped)
    }

    /// Supports as this posterior takes them.
    pub fn place(&self, at: &Support, output: Option<&str>) -> Outcome<Arc<Functionals>> {
        self.check_inputs()?;
        let own = match at.functionals.dims() == self.fitted.dims() {
            true => Arc::clone(&at.functionals),
            false => Arc::new(at.functionals.select(self.fitted.dims())?),
        };
        Ok(match output {
            Some(output) => Arc::new(self.fitted.at_output(&own, output)?),
            None => own,
        })
    }
}

#[pymethods]
impl Posterior {
    /// A saved posterior again.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let data = data.to_vec();
        let fitted = work::run(py, move || Ok(Fitted::from_bytes(&data)?))?;
        Ok(Self::new(fitted, false))
    }

    /// What [`Self::from_bytes`] reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let fitted = Arc::clone(&self.fitted);
        let data = work::run(py, move || Ok(fitted.to_bytes()))?;
        Ok(PyBytes::new(py, &data))
    }

    #[getter]
    fn was_stopped(&self) -> bool {
        self.was_stopped
    }

    /// Whether the rows are those that were observed.
    #[getter]
    fn is_whole(&self) -> bool {
        self.fitted.note(IN_SHARDS).is_none()
    }

    /// The inputs that a prediction needs.
    #[getter]
    fn dims(&self) -> Vec<String> {
        self.fitted.dims().to_vec()
    }

    /// Where longitudes and latitudes lie, of a model of such.
    #[getter]
    fn map(&self, py: Python<'_>) -> PyResult<Option<GeographicMap>> {
        let map = self.fitted.note(SAVED_AS).map(GeographicMap::of_note);
        map.transpose().map_err(|failure| failure.raise(py))
    }

    /// The names of the outputs; empty where there is one.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.fitted.outputs().to_vec()
    }

    /// The kernel expression.
    #[getter]
    fn kernel(&self) -> String {
        self.fitted.kernel().to_string()
    }

    /// What the fit reports about itself.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let summary = self.fitted.summary();
        let told = PyDict::new(py);
        told.set_item("inference", &summary.inference)?;
        told.set_item("structure", &summary.structure)?;
        told.set_item("converged", summary.converged)?;
        told.set_item("log_evidence", summary.log_evidence)?;
        told.set_item("log_posterior", summary.log_posterior)?;
        told.set_item("evidence", &summary.evidence)?;
        told.set_item("integrated", summary.integrated)?;
        told.set_item("nodes", summary.nodes)?;
        told.set_item("rows", summary.rows)?;
        told.set_item("iterations", summary.iterations)?;
        told.set_item("evaluations", summary.evaluations)?;
        told.set_item("seconds", summary.seconds)?;
        told.set_item("jitter", summary.jitter)?;
        told.set_item("warnings", &summary.warnings)?;
        told.set_item("hyperparameters", hypers(summary))?;
        Ok(told)
    }

    /// Every row predicted from all others, column by column.
    fn leave_one_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fitted = Arc::clone(&self.fitted);
        let rows = work::run(py, move || Ok(fitted.leave_one_out().to_vec()))?;
        let told = PyDict::new(py);
        let column = |name: &str, of: fn(&quadrat::model::LeaveOneOut) -> f64| {
            let numbers: Vec<f64> = rows.iter().map(of).collect();
            told.set_item(name, bytes(py, &numbers)?)
        };
        column("value", |row| row.value)?;
        column("mean", |row| row.mean)?;
        column("sd", |row| row.sd)?;
        column("lower", |row| row.lower)?;
        column("upper", |row| row.upper)?;
        column("log_density", |row| row.log_density)?;
        column("pit", |row| row.pit)?;
        Ok(told)
    }

    /// Marginal predictions.
    #[pyo3(signature = (at, scale, level, table=None, output=None, exposure=None, trials=None,
        non_negative=false))]
    fn predict(
        &self,
        py: Python<'_>,
        at: &Support,
        scale: &str,
        level: f64,
        table: Option<usize>,
        output: Option<String>,
        exposure: Option<Numbers>,
        trials: Option<Numbers>,
        non_negative: bool,
    ) -> PyResult<Prediction> {
        let ready = || Ok((scale_of(scale)?, self.place(at, output.as_deref())?));
        let aggregate = at.aggregate;
        let (scale, at) = ready().map_err(|failure: Failure| failure.raise(py))?;
        let asked = Asked {
            at,
            aggregate,
            output,
            scale,
            table,
            exposure: exposure.map(|Numbers(exposure)| exposure),
            trials: trials.map(|Numbers(trials)| trials),
            non_negative,
        };
        let fitted = Arc::clone(&self.fitted);
        work::run(py, move || Prediction::of(fitted, asked, level))
    }

    /// The values behind the rows of a table, or sums of them.
    ///
    /// # Arguments
    /// * `given` - what the tables that were fitted report; none where they are not known
    #[pyo3(signature = (table, given, groups=None, non_negative=false, seed=0))]
    fn rows(
        &self,
        py: Python<'_>,
        table: usize,
        given: Vec<Py<Likelihood>>,
        groups: Option<Vec<Vec<usize>>>,
        non_negative: bool,
        seed: u64,
    ) -> PyResult<Rows> {
        let given: Vec<_> = given.iter().map(|own| own.get().reported.clone()).collect();
        let fitted = Arc::clone(&self.fitted);
        work::run(py, move || {
            let table = kept(&fitted, &given, table)?;
            let asked = AskedRows {
                table,
                non_negative,
                groups,
                seed,
            };
            Rows::of(fitted, asked)
        })
    }

    /// How many rows each table has.
    #[getter]
    fn table_rows(&self) -> Vec<usize> {
        let tables = self.fitted.observations().iter();
        tables.map(|table| table.likelihood().rows()).collect()
    }

    /// With more rows, the hyperparameters as they are.
    #[pyo3(signature = (support, likelihood, times=None, output=None))]
    fn condition(
        &self,
        py: Python<'_>,
        support: &Support,
        likelihood: &Likelihood,
        times: Option<Numbers>,
        output: Option<String>,
    ) -> PyResult<Self> {
        let more = self
            .check_inputs()
            .and_then(|()| observations(support, likelihood, times, output, false));
        let more = more.map_err(|failure| failure.raise(py))?;
        let fitted = Arc::clone(&self.fitted);
        let fitted = work::run(py, move || Ok(fitted.condition(more)?))?;
        Ok(self.followed_by(fitted))
    }
}

/// Name, value, median, ends of the interval, whether it is fixed, meaning.
type Told = (String, f64, f64, f64, f64, bool, String);

fn hypers(summary: &FitSummary) -> Vec<Told> {
    let all = summary.hyperparameters.iter().map(|hyper| {
        (
            hyper.name.clone(),
            hyper.value,
            hyper.median,
            hyper.lower,
            hyper.upper,
            hyper.fixed,
            hyper.meaning.clone(),
        )
    });
    all.collect()
}
