//! Counts and rates in bands, told in steps.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use quadrat::progress::Progress;
use quadrat::ungroup::{
    Answer, Estimate, Exposure, Population, Rates, Ungroup, UngroupError, Warning, Year,
};
use quadrat_study::random_stream;

use crate::buffers::{Numbers, bytes};
use crate::errors::{Failure, Outcome, few_enough, named};
use crate::work;

/// Counts or rates in steps.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Ungrouped {
    found: Arc<Found>,
}

enum Found {
    Counts(Estimate),
    Rates(Rates),
}

impl Found {
    fn edges(&self) -> &[(f64, f64)] {
        match self {
            Self::Counts(found) => found.edges(),
            Self::Rates(found) => found.edges(),
        }
    }
}

/// What is asked, with columns of its own.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    lower: Numbers,
    upper: Numbers,
    count: Numbers,
    exposure: Option<Numbers>,
    first: Option<f64>,
    last: Option<f64>,
    tail: Option<String>,
    log: bool,
    step: Option<f64>,
    edges: Option<Numbers>,
    sampled: Option<f64>,
    expected: bool,
    level: f64,
    draws: usize,
    seed: u64,
    /// The cells that name a population among others, on which its random numbers depend.
    name: Vec<String>,
}

impl Asked {
    /// The builder that was asked for.
    fn builder(&self) -> Outcome<Ungroup<'_>> {
        let mut asked = Ungroup::new(&self.lower.0, &self.upper.0)
            .log(self.log)
            .level(self.level)
            .draws(self.draws)
            .seed(self.seed);
        if let Some(first) = self.first {
            asked = asked.first(first);
        }
        if let Some(last) = self.last {
            asked = asked.last(last);
        }
        if let Some(tail) = &self.tail {
            let known = |told| Failure::Data(format!("tail is \"{tail}\"; {told}"));
            asked = asked.tail(quadrat_study::study::ungroup::tail(tail).map_err(known)?);
        }
        if let Some(step) = self.step {
            asked = asked.step(step);
        }
        if let Some(edges) = &self.edges {
            asked = asked.edges(&edges.0);
        }
        if let Some(sampled) = self.sampled {
            asked = asked.sampled(sampled);
        }
        if self.expected {
            asked = asked.expected();
        }
        Ok(asked)
    }

    /// Years of which each has some of the rows, ungrouped together.
    fn along(&self, years: &[Of], progress: &dyn Progress) -> Outcome<Vec<Found>> {
        let rows = |all: &Numbers, own: &[usize]| -> Vec<f64> {
            own.iter()
                .filter_map(|&row| all.0.get(row).copied())
                .collect()
        };
        let columns = years
            .iter()
            .map(|(_, own)| [&self.lower, &self.upper, &self.count].map(|all| rows(all, own)));
        let columns: Vec<[Vec<f64>; 3]> = columns.collect();
        let each = years.iter().zip(&columns);
        let each = each.map(|((at, _), [lower, upper, counts])| Year {
            at: *at,
            counts,
            bands: Some((lower, upper)),
        });
        let each: Vec<Year<'_>> = each.collect();
        let found = self
            .builder()?
            .progress(progress)
            .estimate_along(&each, random_stream(&self.name));
        let found = found.map_err(|error| refused(&error))?;
        Ok(found.into_iter().map(Found::Counts).collect())
    }

    fn found(&self) -> Outcome<Found> {
        let asked = self.builder()?;
        let stream = random_stream(&self.name);
        let found = match &self.exposure {
            Some(Numbers(exposure)) => {
                let of = Population {
                    counts: exposure,
                    stream,
                };
                let rates = asked.rates_of(&self.count.0, Exposure { of, bands: None });
                rates.map(Found::Rates)
            }
            None => {
                let of = Population {
                    counts: &self.count.0,
                    stream,
                };
                let mut found = Err(UngroupError::Nothing);
                let done = asked.estimate_each(&[of], |_, one| found = one);
                done.and(found).map(Found::Counts)
            }
        };
        found.map_err(|error| refused(&error))
    }
}

/// A refusal of the library, after the name of the argument that it is about.
fn refused(error: &UngroupError) -> Failure {
    match argument(error) {
        Some(argument) => named(argument, &error.to_string()),
        None => Failure::Data(error.to_string()),
    }
}

/// The argument to mend.
fn argument(error: &UngroupError) -> Option<&'static str> {
    Some(match error {
        UngroupError::TooFew { .. }
        | UngroupError::TooMany { .. }
        | UngroupError::Edge { .. }
        | UngroupError::Band { .. }
        | UngroupError::Narrow { .. }
        | UngroupError::OpenWithin { .. }
        | UngroupError::Gap { .. }
        | UngroupError::Overlap { .. }
        | UngroupError::NoLogarithm { .. } => "lower, upper",
        UngroupError::Count { .. }
        | UngroupError::Events { .. }
        | UngroupError::Nothing
        | UngroupError::Size { .. }
        | UngroupError::NoCurve { .. } => "count",
        UngroupError::NotExposure { .. }
        | UngroupError::Nobody
        | UngroupError::NoExposure { .. }
        | UngroupError::Exposure(_)
        | UngroupError::Uncovered { .. } => "exposure",
        UngroupError::NoYear { .. }
        | UngroupError::YearTwice { .. }
        | UngroupError::TooManyYears { .. } => "along",
        UngroupError::InYear { error, .. } => return argument(error),
        UngroupError::Open { .. } | UngroupError::ParetoAxis => "tail",
        UngroupError::OpenBelow { .. } => "first",
        UngroupError::TooFine { .. } => "step, edges",
        UngroupError::Setting { what, .. } => match *what {
            "the beginning of the first band" => "first",
            "the end of the last band" => "last",
            "the step" => "step",
            "an edge that is asked for" => "edges",
            "the level" => "level",
            "the number of draws" => "draws",
            "how many were asked per one counted" => "sampled",
            // Its slope, or the edge that it begins at.
            _ => "tail",
        },
        _ => return None,
    })
}

/// Ungroups one population.
#[pyfunction]
pub fn ungroup(py: Python<'_>, asked: Asked) -> PyResult<Ungrouped> {
    let found = work::run(py, move || asked.found())?;
    Ok(Ungrouped {
        found: Arc::new(found),
    })
}

/// A year and its rows.
type Of = (f64, Vec<usize>);

/// Ungroups years of one population together.
#[pyfunction]
#[pyo3(signature = (asked, years, progress=None))]
pub fn ungroup_along(
    py: Python<'_>,
    asked: Asked,
    years: Vec<Of>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<Ungrouped>> {
    let progress = progress.as_ref();
    let found = work::tracked(py, progress, move |control| asked.along(&years, control))?;
    let each = found.into_iter().map(|found| Ungrouped {
        found: Arc::new(found),
    });
    Ok(each.collect())
}

/// A value and the ends of its interval.
pub type Told = (f64, f64, f64);

fn told(answer: Answer) -> Told {
    (answer.value, answer.lower, answer.upper)
}

#[pymethods]
impl Ungrouped {
    /// Edges of the steps, and what is told of each, column by column.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let edges = self.found.edges();
        let columns = match self.found.as_ref() {
            Found::Counts(f) => [f.mean(), f.sd(), f.lower(), f.median(), f.upper()],
            Found::Rates(f) => [f.mean(), f.sd(), f.lower(), f.median(), f.upper()],
        };
        let all = PyDict::new(py);
        let (from, to): (Vec<f64>, Vec<f64>) = edges.iter().copied().unzip();
        all.set_item("from", bytes(py, &from)?)?;
        all.set_item("to", bytes(py, &to)?)?;
        for (name, column) in ["mean", "sd", "lower", "median", "upper"]
            .iter()
            .zip(columns)
        {
            all.set_item(name, bytes(py, &column)?)?;
        }
        Ok(all)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        let all = match self.found.as_ref() {
            Found::Counts(found) => found.warnings(),
            Found::Rates(found) => found.warnings(),
        };
        all.iter().map(Warning::to_string).collect()
    }

    /// Draws of all steps, one after the other.
    fn draws<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyByteArray>> {
        let found = Arc::clone(&self.found);
        let drawn = work::run(py, move || {
            few_enough(count, found.edges().len())?;
            let drawn = match found.as_ref() {
                Found::Counts(found) => found.draws(count),
                Found::Rates(found) => found.draws(count),
            };
            let columns = (0..drawn.ncols()).map(|draw| drawn.col_as_slice(draw).to_vec());
            Ok(columns.flatten().collect::<Vec<f64>>())
        })?;
        bytes(py, &drawn)
    }

    /// Where a share of all lies below; `None` for rates.
    fn quantile(&self, share: f64) -> Option<Told> {
        self.counts().map(|found| told(found.quantile(share)))
    }

    /// The average place; `None` for rates.
    fn mean_value(&self) -> Option<Told> {
        self.counts().map(|found| told(found.mean_value()))
    }

    /// How many are between two places; `None` for rates.
    fn between(&self, start: f64, end: f64) -> Option<Told> {
        self.counts().map(|found| told(found.between(start, end)))
    }

    /// The Gini coefficient, where places are amounts.
    fn gini(&self) -> Option<Told> {
        self.counts().and_then(Estimate::gini).map(told)
    }
}

impl Ungrouped {
    fn counts(&self) -> Option<&Estimate> {
        match self.found.as_ref() {
            Found::Counts(found) => Some(found),
            Found::Rates(_) => None,
        }
    }
}
