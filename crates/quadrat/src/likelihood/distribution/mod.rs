//! Distributions of an observation at a known latent value.

mod binomial;
mod negative_binomial;
mod poisson;

pub use binomial::Binomial;
pub(crate) use binomial::log_binomial;
pub use negative_binomial::NegativeBinomial;
pub use poisson::Poisson;

use rand::Rng;
use serde::{Deserialize, Serialize};

/// What would be observed, were the latent value known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Distribution {
    /// Successes among trials.
    Binomial(Binomial),
    /// Counts.
    Poisson(Poisson),
    /// Overdispersed counts.
    NegativeBinomial(NegativeBinomial),
}

impl Distribution {
    /// Mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Binomial(d) => d.mean(),
            Self::Poisson(d) => d.mean(),
            Self::NegativeBinomial(d) => d.mean(),
        }
    }

    /// Variance.
    #[must_use]
    pub fn variance(&self) -> f64 {
        match self {
            Self::Binomial(d) => d.variance(),
            Self::Poisson(d) => d.variance(),
            Self::NegativeBinomial(d) => d.variance(),
        }
    }

    /// `P(Y <= y)`.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        match self {
            Self::Binomial(d) => d.cdf(y),
            Self::Poisson(d) => d.cdf(y),
            Self::NegativeBinomial(d) => d.cdf(y),
        }
    }

    /// Log-density at `y` in nats; log-probability of a discrete one.
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        match self {
            Self::Binomial(d) => d.log_density(y),
            Self::Poisson(d) => d.log_density(y),
            Self::NegativeBinomial(d) => d.log_density(y),
        }
    }

    /// Whether values are whole numbers.
    #[must_use]
    pub fn is_discrete(&self) -> bool {
        match self {
            Self::Binomial(_) | Self::Poisson(_) | Self::NegativeBinomial(_) => true,
        }
    }

    /// One draw.
    pub fn sample(&self, rng: &mut impl Rng) -> f64 {
        match self {
            Self::Binomial(d) => d.sample(rng),
            Self::Poisson(d) => d.sample(rng),
            Self::NegativeBinomial(d) => d.sample(rng),
        }
    }
}
