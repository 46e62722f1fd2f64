//! Gaussian approximations of rows that choose the steps of a chain.

use super::joint::JointApproximation;
use crate::inference::sites::Site;
use crate::linalg::{Mat, MatRef, gemm, matvec};
use std::sync::Arc;

/// A Gaussian approximation for a row, at one value of the hyperparameters.
pub(super) type Approximation = Site;

/// What chooses the coordinates of the first function.
#[derive(Clone)]
pub(super) enum FirstApproximation {
    /// Sites of the rows; `None` for a row that is Gaussian (given its second latent value, if it
    /// has one), whose approximation is its own density.
    Each(Vec<Option<Approximation>>),
    /// One Gaussian for rows that see several values.
    Joint(Arc<JointApproximation>),
}

impl FirstApproximation {
    /// Whether the approximation of a row is its own density, and moves with its noise; never where
    /// rows see several values.
    pub fn follows(&self, row: usize) -> bool {
        matches!(self, Self::Each(sites) if sites[row].is_none())
    }

    /// Whether any does.
    pub fn moves(&self) -> bool {
        matches!(self, Self::Each(sites) if sites.iter().any(Option::is_none))
    }
}

/// What stands in for the rows at one position.
#[derive(Clone)]
pub(super) enum RowsApproximation {
    /// One approximation per latent value.
    Each(Vec<Approximation>),
    /// One for all of them, which moves with nothing.
    Joint(Arc<JointApproximation>),
}

impl RowsApproximation {
    /// Whether these are the same approximations.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Each(a), Self::Each(b)) => a == b,
            (Self::Joint(a), Self::Joint(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// `T X`.
    pub fn times(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Self::Each(approximations) => Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
                approximations[i].precision * x[(i, j)]
            }),
            Self::Joint(joint) => gemm(joint.precision.as_ref(), x),
        }
    }

    /// `c = nu - T m`.
    pub fn pull(&self, prior_mean: &[f64]) -> Vec<f64> {
        match self {
            Self::Each(approximations) => {
                let each = approximations.iter().zip(prior_mean);
                each.map(|(g, m)| g.shift - g.precision * m).collect()
            }
            Self::Joint(joint) => {
                let moved = matvec(joint.precision.as_ref(), prior_mean);
                joint.shift.iter().zip(moved).map(|(s, x)| s - x).collect()
            }
        }
    }
}
