//! The distribution of the noise of a mechanism.

use super::{DiscreteGaussian, Geometric, Laplace};

/// The distribution of the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// Laplace.
    Laplace(Laplace),
    /// Two-sided geometric.
    Geometric(Geometric),
    /// Discrete Gaussian.
    DiscreteGaussian(DiscreteGaussian),
}

impl Law {
    /// `b` of Laplace and geometric noise, `sigma` of the Gaussian.
    pub(super) fn scale(&self) -> f64 {
        match self {
            Self::Laplace(noise) => noise.scale(),
            Self::Geometric(noise) => noise.scale(),
            Self::DiscreteGaussian(noise) => noise.sigma(),
        }
    }

    pub(super) fn variance(&self) -> f64 {
        match self {
            Self::Laplace(noise) => noise.variance(),
            Self::Geometric(noise) => noise.variance(),
            Self::DiscreteGaussian(noise) => noise.variance(),
        }
    }

    pub(super) fn cdf(&self, x: f64) -> f64 {
        match self {
            Self::Laplace(noise) => noise.cdf(x),
            Self::Geometric(noise) => noise.cdf(x),
            Self::DiscreteGaussian(noise) => noise.cdf(x),
        }
    }

    /// Log density, or log probability of a whole number.
    pub(super) fn ln_pdf(&self, x: f64) -> f64 {
        match self {
            Self::Laplace(noise) => noise.ln_pdf(x),
            Self::Geometric(noise) => noise.ln_pmf(x),
            Self::DiscreteGaussian(noise) => noise.ln_pmf(x),
        }
    }

    /// First and second moment of `min(max(N - start, 0), h)`, `start >= 0`.
    pub(super) fn beyond(&self, start: f64, h: f64) -> (f64, f64) {
        // Without memory: P(N >= start + k) = e^(-start / scale) P(N >= k).
        let after = |(first, second): (f64, f64)| {
            let chance = libm::exp(-start / self.scale());
            (chance * first, chance * second)
        };
        match self {
            Self::Laplace(noise) => after(noise.half_moments(h)),
            Self::Geometric(noise) => after(noise.half_moments(h)),
            Self::DiscreteGaussian(noise) => noise.beyond(start, h),
        }
    }

    pub(super) fn ln_upper(&self, x: f64) -> f64 {
        match self {
            Self::Laplace(noise) => noise.ln_upper(x),
            Self::Geometric(noise) => noise.ln_upper(x),
            Self::DiscreteGaussian(noise) => noise.ln_upper(x),
        }
    }
}
