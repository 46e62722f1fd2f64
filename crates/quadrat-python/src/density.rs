//! Densities of one column.

mod refused;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use quadrat::density::{Answer, AnyEstimate, Density, Estimate, Saved, SavedEstimate, Warning};
use quadrat::progress::Progress;
use quadrat_study::density::asked::Named;
use quadrat_study::density::model::noted;

use crate::buffers::{Numbers, bytes};
use crate::errors::{Failure, Outcome, few_enough};
use crate::ungroup::Told;
use crate::work;

pub use refused::Names;

/// A density with its band.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct DensityEstimate {
    pub found: Arc<Estimate>,
}

/// What is asked: values, or intervals of rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    values: Option<Numbers>,
    lower: Option<Numbers>,
    upper: Option<Numbers>,
    weights: Option<Numbers>,
    bounds: (f64, f64),
    range: Option<(f64, f64)>,
    cells: usize,
    log: bool,
    level: f64,
    draws: usize,
    seed: u64,
}

impl Asked {
    fn found(&self, progress: &dyn Progress) -> Outcome<Estimate> {
        let mut asked = match (&self.values, &self.lower, &self.upper) {
            (Some(values), ..) => Density::new(&values.0),
            (None, Some(lower), Some(upper)) => Density::from_intervals(&lower.0, &upper.0),
            _ => return Err(Failure::Data("give values, or lower and upper".to_owned())),
        };
        if let Some(weights) = &self.weights {
            asked = asked.weights(&weights.0);
        }
        if let Some((lower, upper)) = self.range {
            asked = asked.range(lower, upper);
        }
        let asked = asked.bounds(self.bounds.0, self.bounds.1).cells(self.cells);
        let asked = asked.log(self.log).level(self.level).progress(progress);
        let found = asked.draws(self.draws).seed(self.seed).estimate();
        let names = match self.values {
            Some(_) => Names {
                values: &["x"],
                weights: "weights",
                polygons: "inside",
                ranges: &["range"],
            },
            // Of bins weights are counts.
            None => Names {
                values: &["lower, upper"],
                weights: "weights, count",
                polygons: "inside",
                ranges: &["range"],
            },
        };
        found.map_err(|error| names.refused(&error))
    }
}

/// Estimates a density.
#[pyfunction]
#[pyo3(signature = (asked, progress=None))]
pub fn density(
    py: Python<'_>,
    asked: Asked,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<DensityEstimate> {
    let found = work::tracked(py, progress.as_ref(), move |control| asked.found(control))?;
    Ok(DensityEstimate {
        found: Arc::new(found),
    })
}

/// The model file of one density.
///
/// # Arguments
/// * `names` - of its columns; a given one first
pub fn model_bytes<'py>(
    py: Python<'py>,
    estimate: SavedEstimate,
    names: &[String],
    is_given: bool,
    warnings: &[String],
) -> Bound<'py, PyBytes> {
    let named = Named {
        names,
        is_given,
        group: None,
    };
    let saved = Saved::default().with("", estimate);
    PyBytes::new(py, &noted(saved, named, warnings).to_bytes())
}

fn told(answer: Answer) -> Told {
    (answer.value, answer.lower, answer.upper)
}

impl DensityEstimate {
    /// A number of the density, which takes a look at all its draws.
    fn asked(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&Estimate) -> Answer + Send + 'static,
    ) -> PyResult<Told> {
        let found = Arc::clone(&self.found);
        work::run(py, move || Ok(told(of(&found))))
    }
}

#[pymethods]
impl DensityEstimate {
    /// What [`Self::to_bytes`] wrote, again.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let data = data.to_vec();
        let found = work::run(py, move || match Saved::from_bytes(&data)?.estimate(0)? {
            AnyEstimate::Line(found) => Ok(*found),
            _ => Err(Failure::Data("this density is of two columns".to_owned())),
        })?;
        Ok(Self {
            found: Arc::new(found),
        })
    }

    /// What [`Self::from_bytes`] reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let saved = Saved::default().with("density", self.found.as_ref());
        PyBytes::new(py, &saved.to_bytes())
    }

    /// The model file that the program reads too.
    fn to_model<'py>(&self, py: Python<'py>, names: Vec<String>) -> Bound<'py, PyBytes> {
        let saved = SavedEstimate::from(&*self.found);
        model_bytes(py, saved, &names, false, &self.warnings())
    }

    /// Probability of bands and intervals.
    #[getter]
    fn level(&self) -> f64 {
        self.found.level()
    }

    /// Edges, places, density and bands, column by column.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = &self.found;
        let (low, high) = found.simultaneous();
        let all = PyDict::new(py);
        all.set_item("edges", bytes(py, found.edges())?)?;
        all.set_item("x", bytes(py, &found.places())?)?;
        all.set_item("density", bytes(py, found.density())?)?;
        all.set_item("lower", bytes(py, found.lower())?)?;
        all.set_item("upper", bytes(py, found.upper())?)?;
        all.set_item("simultaneous_lower", bytes(py, low)?)?;
        all.set_item("simultaneous_upper", bytes(py, high)?)?;
        Ok(all)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.found
            .warnings()
            .iter()
            .map(Warning::to_string)
            .collect()
    }

    /// The density at places.
    fn evaluate<'py>(&self, py: Python<'py>, x: Numbers) -> PyResult<Bound<'py, PyByteArray>> {
        let found: Vec<f64> = x.0.iter().map(|x| self.found.density_at(*x)).collect();
        bytes(py, &found)
    }

    fn cdf(&self, py: Python<'_>, x: f64) -> PyResult<Told> {
        self.asked(py, move |found| found.cdf(x))
    }

    fn quantile(&self, py: Python<'_>, p: f64) -> PyResult<Told> {
        self.asked(py, move |found| found.quantile(p))
    }

    fn probability(&self, py: Python<'_>, start: f64, end: f64) -> PyResult<Told> {
        self.asked(py, move |found| found.probability(start, end))
    }

    fn mean(&self, py: Python<'_>) -> PyResult<Told> {
        self.asked(py, Estimate::mean)
    }

    fn sd(&self, py: Python<'_>) -> PyResult<Told> {
        self.asked(py, Estimate::sd)
    }

    /// Place, density and probability of every maximum.
    fn modes(&self, py: Python<'_>) -> PyResult<Vec<Told>> {
        let found = Arc::clone(&self.found);
        let modes = work::run(py, move || Ok(found.modes()))?;
        let all = modes
            .iter()
            .map(|mode| (mode.place, mode.density, mode.probability));
        Ok(all.collect())
    }

    /// The smallest intervals that hold a probability.
    fn highest_density_region(&self, probability: f64) -> Vec<(f64, f64)> {
        self.found.highest_density_region(probability)
    }

    /// Draws of the density in all cells, one after the other.
    fn draws<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let found = Arc::clone(&self.found);
        let drawn = work::run(py, move || {
            few_enough(count, found.density().len())?;
            let drawn = found.draws(count, seed);
            let columns = (0..drawn.ncols()).map(|draw| drawn.col_as_slice(draw).to_vec());
            Ok(columns.flatten().collect::<Vec<f64>>())
        })?;
        bytes(py, &drawn)
    }

    /// New values, drawn from the density that is told.
    fn new_values<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let found = Arc::clone(&self.found);
        let drawn = work::run(py, move || {
            few_enough(count, 1)?;
            Ok(found.new_values(count, seed))
        })?;
        bytes(py, &drawn)
    }
}
