//! A function of Python that is asked for sums over shards of the rows.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quadrat::model::Shards;

/// A function of Python that brings bytes to the shards and back.
pub struct Asked {
    sums: Py<PyAny>,
    points: usize,
    is_thinned: bool,
    /// What it raised.
    raised: Mutex<Option<PyErr>>,
}

impl Asked {
    pub fn new(sums: Py<PyAny>, points: usize, is_thinned: bool) -> Self {
        Self {
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
}

impl Shards for Asked {
    fn sums(&self, outline: &[u8], pass: &[u8]) -> Result<Vec<u8>, String> {
        let answer = Python::attach(|py| {
            let given = (PyBytes::new(py, outline), PyBytes::new(py, pass));
            self.sums.call1(py, given)?.extract(py)
        });
        answer.map_err(|error: PyErr| {
            let told = error.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    }

    fn points(&self) -> usize {
        self.points
    }

    fn is_thinned(&self) -> bool {
        self.is_thinned
    }
}
