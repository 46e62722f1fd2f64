//! Densities of model files, of this package or of the program.

use std::sync::Arc;

use pyo3::prelude::*;
use quadrat::density::{AnyEstimate, Saved};
use quadrat::error::LoadError;
use quadrat_study::density::model::Model;

use crate::density::DensityEstimate;
use crate::errors::Failure;
use crate::plane::{GivenEstimate, PlaneEstimate};
use crate::work;

/// Whether the bytes of a file are those of densities.
#[pyfunction]
pub fn is_density(data: &[u8]) -> bool {
    Saved::is_saved(data)
}

/// The densities of a model file with the names of their groups; the names of the columns, the
/// group's where there is one, and warnings.
type Loaded<'py> = (
    Vec<(String, Bound<'py, PyAny>)>,
    Vec<String>,
    Option<String>,
    Vec<String>,
);

/// Reads a model file of densities.
#[pyfunction]
pub fn load_densities<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Loaded<'py>> {
    let data = data.to_vec();
    let (model, found) = work::run(py, move || {
        let model = Model::of(Saved::from_bytes(&data)?).map_err(|error| LoadError::Damaged {
            detail: format!("{error:#}"),
        })?;
        let found = model.estimates()?;
        Ok((model, found))
    })?;
    let all = found.into_iter().map(|(name, one)| {
        let own = match one {
            AnyEstimate::Line(found) => {
                let found = Arc::from(found);
                Bound::new(py, DensityEstimate { found })?.into_any()
            }
            AnyEstimate::Plane(found) => {
                let found = Arc::from(found);
                Bound::new(py, PlaneEstimate { found })?.into_any()
            }
            AnyEstimate::Conditional(found) => {
                let found = Arc::from(found);
                Bound::new(py, GivenEstimate { found })?.into_any()
            }
            _ => return Err(Failure::Data("this is no density that is known".into()).raise(py)),
        };
        Ok((name, own))
    });
    let all = all.collect::<PyResult<_>>()?;
    let named = model.named();
    let group = named.group.map(str::to_owned);
    Ok((all, named.names.to_vec(), group, model.warnings.clone()))
}
