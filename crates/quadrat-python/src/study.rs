//! Study files, by `quadrat-study`.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use quadrat_study::{AnyOutcome, Column, Found, Options, Running, Source, Table, refused, run};

use crate::buffers::bytes;
use crate::errors::Failure;
use crate::posterior::Posterior;
use crate::work::{self, Control};

/// Runs a study in a file.
#[pyfunction]
#[pyo3(signature = (path, progress=None))]
pub fn run_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    watched(py, progress.as_ref(), move |running| {
        run(Source::File(&path), &Options::default(), running)
    })
}

/// Runs a study in a text, whose paths are relative to a folder.
#[pyfunction]
#[pyo3(signature = (text, folder, progress=None))]
pub fn run_text<'py>(
    py: Python<'py>,
    text: String,
    folder: PathBuf,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    watched(py, progress.as_ref(), move |running| {
        run(Source::Text(&text, &folder), &Options::default(), running)
    })
}

fn watched<'py>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    work: impl FnOnce(&Running) -> anyhow::Result<AnyOutcome> + Send + 'static,
) -> PyResult<Bound<'py, PyDict>> {
    let control = Arc::new(Control::default());
    let running = Running {
        progress: Some(Arc::clone(&control) as _),
        stopper: Some(Arc::clone(&control) as _),
        keeper: None,
    };
    let found = work::watched(py, &control, progress, move || {
        let found = work(&running).and_then(Found::of);
        found.map_err(|error| Failure::from(refused(&error)))
    })?;
    let told = PyDict::new(py);
    told.set_item("title", &found.title)?;
    told.set_item("json", &found.json)?;
    told.set_item("warnings", &found.warnings)?;
    let tables = found.tables.iter().map(|table| columns(py, table));
    told.set_item(
        "tables",
        PyList::new(py, tables.collect::<PyResult<Vec<_>>>()?)?,
    )?;
    told.set_item("maps", &found.maps)?;
    told.set_item("model", PyBytes::new(py, &found.model))?;
    let stopped = control.was_stopped();
    let posterior = found.posterior;
    let posterior = posterior.map(|posterior| Posterior::new(posterior, stopped));
    told.set_item("posterior", posterior)?;
    Ok(told)
}

/// The name of a table, and its columns: bytes of numbers, or lists of texts.
fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<(String, Bound<'py, PyList>)> {
    let all = PyList::empty(py);
    for (name, column) in &table.columns {
        match column {
            Column::Numbers(numbers) => all.append((name, bytes(py, numbers)?))?,
            Column::Texts(texts) => all.append((name, texts))?,
        }
    }
    Ok((table.name.clone(), all))
}
