//! Rows in shards: a part of them in each process, asked by whoever fits them all.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quadrat::model;

use crate::errors::Failure;
use crate::model::Model;
use crate::work;

/// A part of the rows, ready for passes.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Shard {
    shard: Arc<model::Shard>,
}

#[pymethods]
impl Shard {
    /// Of the rows of a model, and what the fit of all began with.
    #[new]
    fn new(py: Python<'_>, model: &Model, outline: &[u8], before: usize) -> PyResult<Self> {
        let made = model::Shard::new(model.prior(), outline, before);
        let shard = made.map_err(|error| Failure::from(error).raise(py))?;
        Ok(Self {
            shard: Arc::new(shard),
        })
    }

    /// Its sums of one pass.
    fn sums<'py>(&self, py: Python<'py>, pass_: Vec<u8>) -> PyResult<Bound<'py, PyBytes>> {
        let shard = Arc::clone(&self.shard);
        let ask = move || Ok(shard.sums(&pass_)?);
        // Asked by a fit of this process, on one of its threads, which may be the only one.
        let sums = match rayon::current_thread_index().is_some() {
            true => py.detach(ask).map_err(|failure: Failure| failure.raise(py)),
            false => work::run(py, ask),
        };
        Ok(PyBytes::new(py, &sums?))
    }
}

/// Adds sums of shards, in this order.
#[pyfunction]
pub fn add_sums<'py>(py: Python<'py>, sums: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let total = py.detach(|| model::add_sums(&sums));
    let total = total.map_err(|error| Failure::from(error).raise(py))?;
    Ok(PyBytes::new(py, &total))
}

/// Functions of Python that bring bytes to the shards and back.
pub struct Asked {
    begin: Py<PyAny>,
    sums: Py<PyAny>,
    points: usize,
    is_thinned: bool,
    /// What one of them raised.
    raised: Mutex<Option<PyErr>>,
}

impl Asked {
    pub fn new(begin: Py<PyAny>, sums: Py<PyAny>, points: usize, is_thinned: bool) -> Self {
        Self {
            begin,
            sums,
            points,
            is_thinned,
            raised: Mutex::default(),
        }
    }

    /// The exception that ended the fit, if one did.
    pub fn raised(&self) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }

    fn kept<T>(&self, answer: PyResult<T>) -> Result<T, String> {
        answer.map_err(|error| {
            let told = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    }
}

impl model::Shards for Asked {
    fn begin(&self, outline: &[u8]) -> Result<(), String> {
        let answer = Python::attach(|py| {
            self.begin.call1(py, (PyBytes::new(py, outline),))?;
            Ok(())
        });
        self.kept(answer)
    }

    fn sums(&self, outline: &[u8], pass: &[u8]) -> Result<Vec<u8>, String> {
        let answer = Python::attach(|py| {
            let given = (PyBytes::new(py, outline), PyBytes::new(py, pass));
            self.sums.call1(py, given)?.extract(py)
        });
        self.kept(answer)
    }

    fn points(&self) -> usize {
        self.points
    }

    fn is_thinned(&self) -> bool {
        self.is_thinned
    }
}
