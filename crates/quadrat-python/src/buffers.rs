//! Columns of numbers between Python and the library: one copy each way, whatever the strides.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Numbers of any object with a buffer of doubles, in C order.
pub struct Numbers(pub Vec<f64>);

impl<'a, 'py> FromPyObject<'a, 'py> for Numbers {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<f64>::get(&object)
            .map_err(|error| PyTypeError::new_err(format!("a buffer of doubles: {error}")))?;
        Ok(Self(buffer.to_vec(object.py())?))
    }
}

/// The columns of a list of buffers.
pub fn columns(all: Vec<Numbers>) -> Vec<Vec<f64>> {
    all.into_iter().map(|Numbers(column)| column).collect()
}

/// Doubles as bytes of their own, in the order of the machine: what `numpy.frombuffer` reads.
pub fn bytes<'py>(py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyByteArray>> {
    Ok(PyByteArray::new(py, bytemuck::cast_slice(numbers)))
}
