//! Predictions: the distribution of every row, and what is asked of it.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quadrat::error::InputError;
use quadrat::model::{Posterior as Fitted, Prediction as Told, Scale};
use quadrat::support::{Aggregate, Functionals};
use quadrat_study::answer::Answer;
use quadrat_study::numbers::count;
use quadrat_study::outcome::{Where, heavy, warnings};
use quadrat_study::refused;
use quadrat_study::study::support::Aggregate as Words;

use crate::buffers::{Numbers, bytes};
use crate::errors::{Failure, Outcome, few_enough};
use crate::work;

/// What is asked of a posterior.
pub struct Asked {
    /// Where.
    pub at: Arc<Functionals>,
    /// Totals or averages; `None` of points.
    pub aggregate: Option<Aggregate>,
    /// Which of several outputs.
    pub output: Option<String>,
    /// On which scale.
    pub scale: Scale,
    /// What table it is about, where tables differ.
    pub table: Option<usize>,
    /// What rates are multiplied by, row by row.
    pub exposure: Option<Vec<f64>>,
    /// Among how many trials, row by row.
    pub trials: Option<Vec<f64>>,
    /// Whether marginals are those given that they are not negative.
    pub non_negative: bool,
}

impl Where for Asked {
    fn rows(&self) -> usize {
        self.at.len()
    }

    fn called(&self, row: usize) -> String {
        // As Python counts.
        format!("row {row}")
    }

    fn output(&self) -> Option<&str> {
        self.output.as_deref()
    }

    fn aggregate(&self) -> Option<Words> {
        self.aggregate.map(|aggregate| match aggregate {
            Aggregate::Sum => Words::Sum,
            Aggregate::Mean => Words::Mean,
        })
    }

    fn functionals(&self, _: &Fitted) -> Result<Functionals, InputError> {
        Ok((*self.at).clone())
    }
}

/// Marginal distributions at some supports.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Prediction {
    fitted: Arc<Fitted>,
    asked: Arc<Asked>,
    told: Arc<Told>,
    far: Vec<usize>,
    warnings: Vec<String>,
}

/// Columns of numbers as Python reads them.
type Ends<'py> = (
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Option<String>,
);

impl Prediction {
    /// The answer.
    ///
    /// # Arguments
    /// * `level` - of the intervals that warnings speak of
    pub fn of(fitted: Arc<Fitted>, asked: Asked, level: f64) -> Outcome<Self> {
        let Asked {
            at, scale, table, ..
        } = &asked;
        if asked.trials.is_some() && (asked.exposure.is_some() || *scale != Scale::Observation) {
            let message = "trials: successes among them are observations; ask with \
                           scale=\"observation\", and without an exposure";
            return Err(Failure::Data(message.to_owned()));
        }
        let tables = fitted.observations().len();
        if let Some(table) = table.filter(|table| *table >= tables) {
            let message = format!(
                "table is {table}, and the model has {}, counted from 0",
                count(tables, "table")
            );
            return Err(Failure::Data(message));
        }
        let told = match (&asked.exposure, &asked.trials) {
            (Some(exposure), _) => {
                fitted.predict_at_exposure(at, *scale, *table, exposure.clone())?
            }
            (None, Some(trials)) => fitted.predict_trials(at, *table, whole(trials)?)?,
            (None, None) => fitted.predict_as(at, *scale, *table)?,
        };
        let (told, uncut) = match asked.non_negative {
            true => {
                let uncut = told.mean().to_vec();
                (told.non_negative(), uncut)
            }
            false => (told, Vec::new()),
        };
        let mut answer = Answer {
            mean: told.mean().to_vec(),
            uncut,
            far: fitted.extrapolation(at)?,
            new_labels: fitted.new_labels(at)?,
            finer: fitted.finer_than_rows(at)?,
            unresolved: told.unresolved().to_vec(),
            ..Answer::default()
        };
        let mut warnings = noticed(&fitted, &asked, &answer, level)?;
        if !warnings.is_empty() && answer.mean.iter().any(|mean| *mean < 0.0) {
            // What is said of means below zero tells how many intervals reach there. Other ends
            // are made when somebody asks for them.
            answer.lower = told.quantile(0.5 * (1.0 - level));
            warnings = noticed(&fitted, &asked, &answer, level)?;
        }
        Ok(Self {
            far: answer.far,
            warnings,
            told: Arc::new(told),
            asked: Arc::new(asked),
            fitted,
        })
    }

    /// Something of every row.
    fn column<'py>(
        &self,
        py: Python<'py>,
        of: impl FnOnce(&Told) -> Vec<f64> + Send + 'static,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let told = Arc::clone(&self.told);
        let column = work::run(py, move || Ok(of(&told)))?;
        bytes(py, &column)
    }

    fn check_rows(&self, py: Python<'_>, rows: usize) -> PyResult<()> {
        let expected = self.told.len();
        match rows == expected {
            true => Ok(()),
            false => {
                let message = format!("{rows} values for {expected} rows; give one for each");
                Err(Failure::Data(message).raise(py))
            }
        }
    }
}

#[pymethods]
impl Prediction {
    fn __len__(&self) -> usize {
        self.told.len()
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        bytes(py, self.told.mean())
    }

    #[getter]
    fn sd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        bytes(py, self.told.sd())
    }

    /// Rows far outside the data.
    #[getter]
    fn far(&self) -> Vec<usize> {
        self.far.clone()
    }

    /// Rows whose standard deviations are not known, but that they are not larger.
    #[getter]
    fn unresolved(&self) -> Vec<usize> {
        self.told.unresolved().to_vec()
    }

    /// What people should know.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Lower end, median and upper end of the interval of a level, and a warning where means lie
    /// above it.
    fn interval<'py>(&self, py: Python<'py>, level: f64) -> PyResult<Ends<'py>> {
        let told = Arc::clone(&self.told);
        let (lower, median, upper, warning) = work::run(py, move || {
            let tail = (1.0 - level) / 2.0;
            let median = told.quantile(0.5);
            // Quantiles of close levels can differ by less than they are solved to.
            let ordered = |p: f64, pick: fn(f64, f64) -> f64| -> Vec<f64> {
                let ends = told.quantile(p).into_iter().zip(&median);
                ends.map(|(end, middle)| pick(end, *middle)).collect()
            };
            let (lower, upper) = (ordered(tail, f64::min), ordered(1.0 - tail, f64::max));
            let mut ends = told.mean().iter().zip(&upper);
            // Copied where there may be anything to say.
            if ends.all(|(mean, end)| mean <= end) {
                return Ok((lower, median, upper, None));
            }
            let answer = Answer {
                mean: told.mean().to_vec(),
                upper,
                ..Answer::default()
            };
            let warning = heavy(&answer, level);
            Ok((lower, median, answer.upper, warning))
        })?;
        Ok((
            bytes(py, &lower)?,
            bytes(py, &median)?,
            bytes(py, &upper)?,
            warning,
        ))
    }

    /// The quantile of every row.
    fn quantile<'py>(&self, py: Python<'py>, p: f64) -> PyResult<Bound<'py, PyByteArray>> {
        self.column(py, move |told| told.quantile(p))
    }

    /// The probability of more than a limit, which every row has its own of.
    fn exceedance<'py>(
        &self,
        py: Python<'py>,
        limits: Numbers,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let Numbers(limits) = limits;
        self.check_rows(py, limits.len())?;
        self.column(py, move |told| told.exceedance_of_each(&limits))
    }

    /// The log of the probability of more than a lower end and at most an upper one, which every
    /// row has its own of.
    fn log_between<'py>(
        &self,
        py: Python<'py>,
        lower: Numbers,
        upper: Numbers,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let (Numbers(lower), Numbers(upper)) = (lower, upper);
        self.check_rows(py, lower.len())?;
        self.check_rows(py, upper.len())?;
        self.column(py, move |told| told.log_between(&lower, &upper))
    }

    /// The probability of at most a value, which every row has its own of.
    fn cdf<'py>(&self, py: Python<'py>, y: Numbers) -> PyResult<Bound<'py, PyByteArray>> {
        let Numbers(y) = y;
        self.check_rows(py, y.len())?;
        self.column(py, move |told| told.cdf(&y))
    }

    /// The log predictive density of a value of every row.
    fn log_density<'py>(&self, py: Python<'py>, y: Numbers) -> PyResult<Bound<'py, PyByteArray>> {
        let Numbers(y) = y;
        self.check_rows(py, y.len())?;
        self.column(py, move |told| told.log_density(&y))
    }

    /// Joint draws of all rows, one after the other.
    fn draws<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let (fitted, asked) = (Arc::clone(&self.fitted), Arc::clone(&self.asked));
        let drawn = work::run(py, move || {
            few_enough(count, asked.at.len())?;
            let drawn = match asked.scale {
                Scale::Latent => fitted.sample(&asked.at, count, seed)?,
                Scale::Response => fitted.sample_responses(&asked.at, count, seed)?,
                Scale::Observation => {
                    let message = "joint draws of new observations are not available; draw on the scale \"response\", whose noise is independent";
                    return Err(Failure::Data(message.to_owned()));
                }
            };
            let value = |draw: usize, row: usize| {
                let exposure = asked.exposure.as_ref().map_or(1.0, |all| all[row]);
                drawn[(row, draw)] * exposure
            };
            let rows = 0..drawn.nrows();
            let all = (0..count).flat_map(|draw| rows.clone().map(move |row| (draw, row)));
            Ok(all
                .map(|(draw, row)| value(draw, row))
                .collect::<Vec<f64>>())
        })?;
        bytes(py, &drawn)
    }

    /// The joint covariance of the latent values.
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let (fitted, asked) = (Arc::clone(&self.fitted), Arc::clone(&self.asked));
        let all = work::run(py, move || {
            let covariance = fitted.covariance(&asked.at)?;
            let m = covariance.nrows();
            let places = (0..m).flat_map(|i| (0..m).map(move |j| (i, j)));
            Ok(places.map(|at| covariance[at]).collect::<Vec<f64>>())
        })?;
        bytes(py, &all)
    }
}

/// What people should know of predictions, rows and tables counted as Python does.
fn noticed(fitted: &Fitted, asked: &Asked, answer: &Answer, level: f64) -> Outcome<Vec<String>> {
    let address = |table: usize, row: usize| format!("row {row} of table {table}");
    let told = warnings(fitted, asked, answer, level, address);
    told.map_err(|error| Failure::Study(refused(&error)))
}

/// Numbers of trials.
fn whole(trials: &[f64]) -> Outcome<Vec<u64>> {
    let is_whole = |n: &f64| n.fract() == 0.0 && (1.0..=1e15).contains(n);
    match trials.iter().position(|n| !is_whole(n)) {
        Some(row) => Err(Failure::Data(format!(
            "the number of trials of row {row} is {}; it must be a whole number from 1 on",
            trials[row]
        ))),
        None => Ok(trials.iter().map(|n| *n as u64).collect()),
    }
}

/// A scale by its name.
pub fn scale_of(word: &str) -> Outcome<Scale> {
    match word {
        "latent" => Ok(Scale::Latent),
        "response" => Ok(Scale::Response),
        "observation" => Ok(Scale::Observation),
        other => Err(Failure::Data(format!(
            "scale is \"{other}\"; it must be \"latent\", \"response\" or \"observation\""
        ))),
    }
}
