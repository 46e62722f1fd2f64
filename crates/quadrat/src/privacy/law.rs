//! The distribution of the noise of a mechanism.

use super::{Geometric, Laplace};

/// The distribution of the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// Laplace.
    Laplace(Laplace),
    /// Two-sided geometric.
    Geometric(Geometric),
}

impl Law {
    pub(super) fn scale(&self) -> f64 {
        match self {
            Self::Laplace(noise) => noise.scale(),
            Self::Geometric(noise) => noise.scale(),
        }
    }

    pub(super) fn half_moments(&self, h: f64) -> (f64, f64) {
        match self {
            Self::Laplace(noise) => noise.half_moments(h),
            Self::Geometric(noise) => noise.half_moments(h),
        }
    }

    pub(super) fn ln_upper(&self, x: f64) -> f64 {
        match self {
            Self::Laplace(noise) => noise.ln_upper(x),
            Self::Geometric(noise) => noise.ln_upper(x),
        }
    }
}
