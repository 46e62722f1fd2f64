//! Rows in shards: a part of them in each process, asked by whoever fits them all.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quadrat::model;

use crate::errors::Failure;
use crate::model::Model;
use crate::work;

/// A part of the rows, ready for passes.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Shard {
    shard: model::Shard,
}

#[pymethods]
impl Shard {
    /// Of the rows of a model, and what the fit of all began with.
    #[new]
    fn new(py: Python<'_>, model: &Model, outline: &[u8], before: usize) -> PyResult<Self> {
        // A partition takes a while, in which a worker must be heard of.
        let made = py.detach(|| model::Shard::new(model.prior(), outline, before));
        let shard = made.map_err(|error| Failure::from(error).raise(py))?;
        Ok(Self { shard })
    }

    /// Its sums of one pass.
    fn sums<'py>(&self, py: Python<'py>, pass_: Vec<u8>) -> PyResult<Bound<'py, PyBytes>> {
        let sums = work::of_shard(py, || Ok(self.shard.sums(&pass_)?))?;
        Ok(PyBytes::new(py, &sums))
    }
}

/// Adds sums of shards, in this order.
#[pyfunction]
pub fn add_sums<'py>(py: Python<'py>, sums: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let total = py.detach(|| model::add_sums(&sums));
    let total = total.map_err(|error| Failure::from(error).raise(py))?;
    Ok(PyBytes::new(py, &total))
}
