//! What is given of a network.

use crate::baseline::features::check_lengthscales;
use crate::error::InputError;

/// Units beyond which a layer is refused: a table of 10^6 points then needs 8 GB in one batch.
const MOST_UNITS: usize = 1000;

/// What is given of a [`Network`](super::Network).
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkSettings {
    /// Hidden units, from 1 to 1,000.
    pub units: usize,
    /// Length of a step, positive: .01 is usual.
    pub rate: f64,
    /// Of the squared exponential kernel of both Laplacians, one for every input, positive.
    pub lengthscales: Vec<f64>,
    /// Strength of the graph Laplacian over points, at least zero.
    pub manifold: f64,
    /// Strength of the graph Laplacian over rows, at least zero.
    pub bags: f64,
    /// Of the first weights, and of the order of rows.
    pub seed: u64,
}

impl NetworkSettings {
    pub(super) fn check(&self, dims: usize) -> Result<(), InputError> {
        check_lengthscales(&self.lengthscales, dims)?;
        let wrong = |name: &str, reason: &str| {
            Err(InputError::Parameter {
                name: name.into(),
                reason: reason.into(),
            })
        };
        if !(1..=MOST_UNITS).contains(&self.units) {
            return wrong("units", "give a number from 1 to 1,000");
        }
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return wrong("rate", "give a positive number");
        }
        for (name, strength) in [("manifold", self.manifold), ("bags", self.bags)] {
            if !(strength >= 0.0 && strength.is_finite()) {
                return wrong(name, "give a number of at least zero");
            }
        }
        Ok(())
    }
}
