//! Functions of Python that are asked for sums over shards of the rows.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quadrat::model::Shards;

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

impl Shards for Asked {
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
