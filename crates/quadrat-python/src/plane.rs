//! Densities of two columns, and of one column given another.

mod asked;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use quadrat::density::{
    Answer, AnyEstimate, ConditionalEstimate, Curve, Estimate2d, Saved, SavedEstimate, Warning,
};
use quadrat::linalg::Mat;

use self::asked::{Asked2d, AskedGiven};
use crate::buffers::{Numbers, bytes};
use crate::density::model_bytes;
use crate::errors::{Failure, few_enough};
use crate::ungroup::Told;
use crate::work;

/// Estimates a density of two columns.
#[pyfunction]
#[pyo3(signature = (asked, progress=None))]
pub fn density2d(
    py: Python<'_>,
    asked: Asked2d,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PlaneEstimate> {
    let found = work::tracked(py, progress.as_ref(), move |control| asked.found(control))?;
    Ok(PlaneEstimate {
        found: Arc::new(found),
    })
}

/// Estimates densities of one column given another.
#[pyfunction]
#[pyo3(signature = (asked, progress=None))]
pub fn density_given(
    py: Python<'_>,
    asked: AskedGiven,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<GivenEstimate> {
    let found = work::tracked(py, progress.as_ref(), move |control| asked.found(control))?;
    Ok(GivenEstimate {
        found: Arc::new(found),
    })
}

/// What both kinds answer alike.
trait Cells: Send + Sync + 'static {
    fn saved(&self) -> SavedEstimate;
    fn lines(&self, axis: usize) -> (Vec<f64>, Vec<f64>);
    fn heights(&self) -> [&[f64]; 4];
    fn whole(&self) -> (Vec<f64>, Vec<f64>);
    fn told(&self) -> &[Warning];
    fn at(&self, x: f64, y: f64) -> f64;
    fn drawn(&self, count: usize, seed: u64) -> Mat<f64>;
    fn is_logarithmic(&self) -> (bool, bool);
}

macro_rules! cells {
    ($($kind:ident),+) => {
        $(impl Cells for $kind {
            fn saved(&self) -> SavedEstimate {
                self.into()
            }

            fn lines(&self, axis: usize) -> (Vec<f64>, Vec<f64>) {
                (self.edges(axis).to_vec(), self.places(axis))
            }

            fn heights(&self) -> [&[f64]; 4] {
                [self.density(), self.lower(), self.upper(), self.sd()]
            }

            fn whole(&self) -> (Vec<f64>, Vec<f64>) {
                self.simultaneous()
            }

            fn is_logarithmic(&self) -> (bool, bool) {
                (self.is_log(0), self.is_log(1))
            }

            fn told(&self) -> &[Warning] {
                self.warnings()
            }

            fn at(&self, x: f64, y: f64) -> f64 {
                self.density_at(x, y)
            }

            fn drawn(&self, count: usize, seed: u64) -> Mat<f64> {
                self.draws(count, seed)
            }
        })+
    };
}

cells!(Estimate2d, ConditionalEstimate);

fn to_bytes<'py>(py: Python<'py>, found: &impl Cells) -> Bound<'py, PyBytes> {
    let saved = Saved::default().with("density", found.saved());
    PyBytes::new(py, &saved.to_bytes())
}

fn to_model<'py>(
    py: Python<'py>,
    found: &impl Cells,
    names: &[String],
    is_given: bool,
) -> Bound<'py, PyBytes> {
    model_bytes(py, found.saved(), names, is_given, &warnings(found))
}

/// Edges and places of both axes, then density, band and standard deviation of the cells.
fn columns<'py>(py: Python<'py>, found: &impl Cells) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (axis, names) in [["x_edges", "x"], ["y_edges", "y"]].into_iter().enumerate() {
        let (edges, places) = found.lines(axis);
        all.set_item(names[0], bytes(py, &edges)?)?;
        all.set_item(names[1], bytes(py, &places)?)?;
    }
    let names = ["density", "lower", "upper", "sd"];
    for (name, heights) in names.into_iter().zip(found.heights()) {
        all.set_item(name, bytes(py, heights)?)?;
    }
    Ok(all)
}

fn evaluated<'py>(
    py: Python<'py>,
    found: &impl Cells,
    (Numbers(x), Numbers(y)): (Numbers, Numbers),
) -> PyResult<Bound<'py, PyByteArray>> {
    let all = x.iter().zip(&y).map(|(x, y)| found.at(*x, *y));
    bytes(py, &all.collect::<Vec<f64>>())
}

type Ends<'py> = (Bound<'py, PyByteArray>, Bound<'py, PyByteArray>);

fn simultaneous<'py>(py: Python<'py>, found: &Arc<impl Cells>) -> PyResult<Ends<'py>> {
    let found = Arc::clone(found);
    let (lower, upper) = work::run(py, move || Ok(found.whole()))?;
    Ok((bytes(py, &lower)?, bytes(py, &upper)?))
}

fn draws<'py>(
    py: Python<'py>,
    found: &Arc<impl Cells>,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyByteArray>> {
    let found = Arc::clone(found);
    let drawn = work::run(py, move || {
        few_enough(count, found.heights()[0].len())?;
        let drawn = found.drawn(count, seed);
        let columns = (0..drawn.ncols()).map(|draw| drawn.col_as_slice(draw).to_vec());
        Ok(columns.flatten().collect::<Vec<f64>>())
    })?;
    bytes(py, &drawn)
}

fn warnings(found: &impl Cells) -> Vec<String> {
    found.told().iter().map(Warning::to_string).collect()
}

fn read(py: Python<'_>, data: &[u8]) -> PyResult<AnyEstimate> {
    let data = data.to_vec();
    work::run(py, move || Ok(Saved::from_bytes(&data)?.estimate(0)?))
}

fn other(py: Python<'_>) -> PyErr {
    Failure::Data("these are the bytes of a density of another kind".to_owned()).raise(py)
}

fn told(answer: Answer) -> Told {
    (answer.value, answer.lower, answer.upper)
}

/// A density of two columns with its band.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct PlaneEstimate {
    pub found: Arc<Estimate2d>,
}

#[pymethods]
impl PlaneEstimate {
    /// What [`Self::to_bytes`] wrote, again.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        match read(py, data)? {
            AnyEstimate::Plane(found) => Ok(Self {
                found: Arc::from(found),
            }),
            _ => Err(other(py)),
        }
    }

    /// What [`Self::from_bytes`] reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        to_bytes(py, &*self.found)
    }

    /// The model file that the program reads too.
    fn to_model<'py>(&self, py: Python<'py>, names: Vec<String>) -> Bound<'py, PyBytes> {
        to_model(py, &*self.found, &names, false)
    }

    /// Probability of bands and intervals.
    #[getter]
    fn level(&self) -> f64 {
        self.found.level()
    }

    /// Whether the axes are logarithmic.
    #[getter]
    fn log(&self) -> (bool, bool) {
        self.found.is_logarithmic()
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &*self.found)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(&*self.found)
    }

    /// The density at places.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        x: Numbers,
        y: Numbers,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        evaluated(py, &*self.found, (x, y))
    }

    /// The band of all cells together.
    fn simultaneous<'py>(&self, py: Python<'py>) -> PyResult<Ends<'py>> {
        simultaneous(py, &self.found)
    }

    /// Draws of the density in all cells, one after the other.
    fn draws<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        draws(py, &self.found, count, seed)
    }

    /// The probability of a rectangle.
    fn probability(&self, py: Python<'_>, x: (f64, f64), y: (f64, f64)) -> PyResult<Told> {
        let found = Arc::clone(&self.found);
        work::run(py, move || Ok(told(found.probability(x, y))))
    }

    /// Places, density and band of one column.
    fn marginal<'py>(
        &self,
        py: Python<'py>,
        axis: usize,
    ) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
        let found = Arc::clone(&self.found);
        let own = work::run(py, move || match axis {
            0 | 1 => Ok(found.marginal(axis)),
            _ => Err(Failure::Data(format!("axis is {axis}; it must be 0 or 1"))),
        })?;
        let columns = [own.places, own.density, own.lower, own.upper];
        columns.iter().map(|column| bytes(py, column)).collect()
    }

    /// Means, standard deviations, covariance and correlation.
    fn moments(&self, py: Python<'_>) -> PyResult<Vec<Told>> {
        let found = Arc::clone(&self.found);
        let all = work::run(py, move || Ok(found.moments()))?;
        let [(a, b), (c, d)] = [all.mean, all.sd].map(|[x, y]| (told(x), told(y)));
        Ok(vec![
            a,
            b,
            c,
            d,
            told(all.covariance),
            told(all.correlation),
        ])
    }

    /// The smallest density within a region of highest density, its cells, and its probability.
    fn highest_density_region(
        &self,
        py: Python<'_>,
        probability: f64,
    ) -> PyResult<(f64, Vec<bool>, Told)> {
        let found = Arc::clone(&self.found);
        let own = work::run(py, move || Ok(found.highest_density_region(probability)))?;
        Ok((own.density, own.cells, told(own.probability)))
    }
}

/// Densities of one column given another, with their bands.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct GivenEstimate {
    pub found: Arc<ConditionalEstimate>,
}

impl GivenEstimate {
    /// Numbers at every place of the given column.
    fn curve<'py>(
        &self,
        py: Python<'py>,
        of: impl FnOnce(&ConditionalEstimate) -> Curve + Send + 'static,
    ) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
        let found = Arc::clone(&self.found);
        let own = work::run(py, move || Ok(of(&found)))?;
        let columns = [own.places, own.value, own.lower, own.upper];
        columns.iter().map(|column| bytes(py, column)).collect()
    }

    /// A number at one place of the given column.
    fn one(
        &self,
        py: Python<'_>,
        given: f64,
        of: impl FnOnce(&ConditionalEstimate) -> Option<Answer> + Send + 'static,
    ) -> PyResult<Told> {
        let found = Arc::clone(&self.found);
        work::run(py, move || {
            let edges = found.edges(0);
            let ends = (edges.first().copied(), edges.last().copied());
            of(&found).map(told).ok_or_else(|| {
                Failure::Data(format!(
                    "given is {given}, outside of the slices from {} to {}; widen them by given_range",
                    ends.0.unwrap_or(f64::NAN),
                    ends.1.unwrap_or(f64::NAN)
                ))
            })
        })
    }
}

#[pymethods]
impl GivenEstimate {
    /// What [`Self::to_bytes`] wrote, again.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        match read(py, data)? {
            AnyEstimate::Conditional(found) => Ok(Self {
                found: Arc::from(found),
            }),
            _ => Err(other(py)),
        }
    }

    /// What [`Self::from_bytes`] reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        to_bytes(py, &*self.found)
    }

    /// The model file that the program reads too.
    fn to_model<'py>(&self, py: Python<'py>, names: Vec<String>) -> Bound<'py, PyBytes> {
        to_model(py, &*self.found, &names, true)
    }

    /// Probability of bands and intervals.
    #[getter]
    fn level(&self) -> f64 {
        self.found.level()
    }

    /// Whether the axes are logarithmic.
    #[getter]
    fn log(&self) -> (bool, bool) {
        self.found.is_logarithmic()
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = columns(py, &*self.found)?;
        all.set_item("totals", bytes(py, self.found.slice_totals())?)?;
        Ok(all)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        warnings(&*self.found)
    }

    /// The densities at places.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        x: Numbers,
        y: Numbers,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        evaluated(py, &*self.found, (x, y))
    }

    /// The band of all cells together.
    fn simultaneous<'py>(&self, py: Python<'py>) -> PyResult<Ends<'py>> {
        simultaneous(py, &self.found)
    }

    /// Draws of the densities in all cells, one after the other.
    fn draws<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        draws(py, &self.found, count, seed)
    }

    fn quantile(&self, py: Python<'_>, given: f64, p: f64) -> PyResult<Told> {
        self.one(py, given, move |found| found.quantile(given, p))
    }

    fn mean(&self, py: Python<'_>, given: f64) -> PyResult<Told> {
        self.one(py, given, move |found| {
            found.moments(given).map(|[mean, _]| mean)
        })
    }

    fn sd(&self, py: Python<'_>, given: f64) -> PyResult<Told> {
        self.one(py, given, move |found| {
            found.moments(given).map(|[_, sd]| sd)
        })
    }

    fn probability(&self, py: Python<'_>, given: f64, within: (f64, f64)) -> PyResult<Told> {
        self.one(py, given, move |found| found.probability(given, within))
    }

    fn quantile_curve<'py>(
        &self,
        py: Python<'py>,
        p: f64,
    ) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
        self.curve(py, move |found| {
            let [curve] = found.quantile_curves([p]);
            curve
        })
    }

    fn mean_curve<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
        self.curve(py, |found| {
            let [mean, _] = found.moment_curves();
            mean
        })
    }

    fn sd_curve<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
        self.curve(py, |found| {
            let [_, sd] = found.moment_curves();
            sd
        })
    }

    fn probability_curve<'py>(
        &self,
        py: Python<'py>,
        within: (f64, f64),
    ) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
        self.curve(py, move |found| found.probability_curve(within))
    }

    /// The smallest intervals that hold a probability at a place; none outside of the slices.
    fn highest_density_region(&self, given: f64, probability: f64) -> Option<Vec<(f64, f64)>> {
        self.found.highest_density_region(given, probability)
    }
}
