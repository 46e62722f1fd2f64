//! Supports: where observations and predictions look.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use quadrat::support::{Aggregate, Columns, Functional, Functionals, Region, Side};

use crate::buffers::{Numbers, bytes, columns};
use crate::errors::{Failure, Outcome};
use crate::geometry::{GeographicMap, polygon, read};
use crate::work;

/// Rows of linear functionals over named inputs.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Support {
    pub functionals: Arc<Functionals>,
    /// Totals or averages; `None` of points.
    pub aggregate: Option<Aggregate>,
}

#[pymethods]
impl Support {
    /// Values at points.
    #[staticmethod]
    #[pyo3(signature = (dims, at, map=None))]
    fn points(
        py: Python<'_>,
        dims: Vec<String>,
        at: Vec<Numbers>,
        map: Option<Py<GeographicMap>>,
    ) -> PyResult<Self> {
        let mut lower = columns(at);
        made(py, None, move || {
            if let Some(map) = &map {
                map.get().points(&dims, &mut lower)?;
            }
            let columns = Columns {
                lower,
                ..Columns::default()
            };
            Ok(Functionals::from_columns(dims, columns)?)
        })
    }

    /// Integrals (`sum`) or averages (`mean`) over boxes; an input without other edges is a point.
    #[staticmethod]
    #[pyo3(signature = (dims, first, second, aggregate, map=None))]
    fn boxes(
        py: Python<'_>,
        dims: Vec<String>,
        first: Vec<Numbers>,
        second: Vec<Option<Numbers>>,
        aggregate: &str,
        map: Option<Py<GeographicMap>>,
    ) -> PyResult<Self> {
        let aggregate = aggregate_of(aggregate).map_err(|e| e.raise(py))?;
        let (mut first, mut second, mut dims) = (columns(first), sides(second), dims);
        made(py, Some(aggregate), move || {
            let map = map.as_ref().map(Py::get);
            let mut pair = map.map_or(Ok(None), |map| map.pair(&dims))?;
            if let Some([lon, lat]) = pair.filter(|[lon, lat]| lon > lat) {
                // The region of a box has longitude first.
                dims.swap(lon, lat);
                first.swap(lon, lat);
                second.swap(lon, lat);
                pair = Some([lat, lon]);
            }
            let mut set = Functionals::new(dims);
            for row in 0..first.first().map_or(0, Vec::len) {
                let ends = first.iter().zip(&second);
                let sides = ends.map(|(a, b)| side(a[row], b.as_ref().map(|b| b[row])));
                let mut sides: Vec<Option<Side>> = sides.map(Some).collect();
                let cell = match map.zip(pair) {
                    Some((map, pair)) => map.sides(row, pair, &mut sides)?,
                    None => None,
                };
                match cell {
                    Some(cell) => set.push_product(Arc::new(cell), &sides, aggregate)?,
                    None => set.push(&Functional::Box {
                        sides: sides.into_iter().flatten().collect(),
                        aggregate,
                    })?,
                }
            }
            Ok(set)
        })
    }

    /// Weighted points; row `i` has those from `offsets[i]` to `offsets[i + 1]`.
    #[staticmethod]
    #[pyo3(signature = (dims, at, weight, offsets, aggregate, map=None))]
    fn bags(
        py: Python<'_>,
        dims: Vec<String>,
        at: Vec<Numbers>,
        weight: Numbers,
        offsets: Vec<usize>,
        aggregate: &str,
        map: Option<Py<GeographicMap>>,
    ) -> PyResult<Self> {
        let aggregate = aggregate_of(aggregate).map_err(|e| e.raise(py))?;
        let (mut lower, Numbers(mut weight)) = (columns(at), weight);
        made(py, Some(aggregate), move || {
            if let Some(map) = &map {
                map.get().points(&dims, &mut lower)?;
            }
            if aggregate == Aggregate::Mean {
                for ends in offsets.windows(2) {
                    // Offsets that do not fit are refused below.
                    let own = weight.get_mut(ends[0]..ends[1]).unwrap_or_default();
                    let total: f64 = own.iter().sum();
                    own.iter_mut().for_each(|w| *w /= total);
                }
            }
            let columns = Columns {
                lower,
                weight,
                offsets,
                ..Columns::default()
            };
            Ok(Functionals::from_columns(dims, columns)?)
        })
    }

    /// Integrals or averages over regions (WKB) in the first two inputs, and sides along the
    /// others. With a map of these two inputs the regions are in degrees.
    #[staticmethod]
    #[pyo3(signature = (dims, regions, first, second, aggregate, map=None))]
    fn regions(
        py: Python<'_>,
        dims: Vec<String>,
        regions: Vec<PyBackedBytes>,
        first: Vec<Numbers>,
        second: Vec<Option<Numbers>>,
        aggregate: &str,
        map: Option<Py<GeographicMap>>,
    ) -> PyResult<Self> {
        let aggregate = aggregate_of(aggregate).map_err(|e| e.raise(py))?;
        let (first, second) = (columns(first), sides(second));
        made(py, Some(aggregate), move || {
            let map = map.as_ref().map(Py::get);
            let pair = map.map_or(Ok(None), |map| map.pair(&dims))?;
            let mut set = Functionals::new(dims);
            for (row, parts) in read(&regions)?.into_iter().enumerate() {
                let ends = first.iter().zip(&second);
                let further = ends.map(|(a, b)| Some(side(a[row], b.as_ref().map(|b| b[row]))));
                let mut sides: Vec<Option<Side>> =
                    [None, None].into_iter().chain(further).collect();
                let region = match map.zip(pair) {
                    Some((map, [0, 1])) => map.region(row, parts)?,
                    Some((map, pair)) => {
                        if map.sides(row, pair, &mut sides)?.is_some() {
                            let message = "boxes of longitude and latitude beside other regions are not available; give points";
                            return Err(Failure::Data(message.to_owned()));
                        }
                        Region::from(polygon(row, parts)?)
                    }
                    None => Region::from(polygon(row, parts)?),
                };
                set.push_product(Arc::new(region), &sides, aggregate)?;
            }
            Ok(set)
        })
    }

    fn __len__(&self) -> usize {
        self.functionals.len()
    }

    /// The names of the inputs.
    #[getter]
    fn dims(&self) -> Vec<String> {
        self.functionals.dims().to_vec()
    }

    /// Lengths, areas, volumes or total weights of sums; one for averages and points.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyByteArray>> {
        let rows = 0..self.functionals.len();
        let sizes: Vec<f64> = rows.map(|row| self.functionals.size(row)).collect();
        bytes(py, &sizes)
    }
}

fn made(
    py: Python<'_>,
    aggregate: Option<Aggregate>,
    work: impl FnOnce() -> Outcome<Functionals> + Send + 'static,
) -> PyResult<Support> {
    let functionals = work::run(py, work)?;
    Ok(Support {
        functionals: Arc::new(functionals),
        aggregate,
    })
}

fn sides(second: Vec<Option<Numbers>>) -> Vec<Option<Vec<f64>>> {
    let all = second.into_iter();
    all.map(|column| column.map(|Numbers(column)| column))
        .collect()
}

fn side(first: f64, second: Option<f64>) -> Side {
    match second {
        Some(second) => Side::Interval(first, second),
        None => Side::Point(first),
    }
}

fn aggregate_of(word: &str) -> Outcome<Aggregate> {
    match word {
        "sum" => Ok(Aggregate::Sum),
        "mean" => Ok(Aggregate::Mean),
        other => Err(Failure::Data(format!(
            "aggregate is \"{other}\"; it must be \"sum\" or \"mean\""
        ))),
    }
}
