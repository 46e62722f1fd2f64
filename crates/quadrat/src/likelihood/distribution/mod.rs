//! Distributions of an observation at a known latent value.

mod binomial;
mod exponential;
mod gamma;
mod laplace;
mod lognormal;
mod negative_binomial;
mod normal;
mod panjer;
mod poisson;
mod ranks;
mod student_t;

pub use binomial::Binomial;
pub(crate) use binomial::log_binomial;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use laplace::Laplace;
pub use lognormal::LogNormal;
pub use negative_binomial::NegativeBinomial;
pub use normal::Normal;
pub(crate) use panjer::{MOST_TERMS, PanjerMixture};
pub use poisson::Poisson;
pub use ranks::Ranks;
pub use student_t::StudentT;

use rand::Rng;

/// What would be observed, were the latent value known.
///
/// Parameters that no distribution has (a negative scale) give NaN. Observations that are
/// impossible have density or probability 0.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Distribution {
    /// Normal.
    Normal(Normal),
    /// Double exponential.
    Laplace(Laplace),
    /// Student's t.
    StudentT(StudentT),
    /// Exponential, by its mean.
    Exponential(Exponential),
    /// Gamma, by its mean and shape.
    Gamma(Gamma),
    /// Log-normal, by its mean and the sd of its logarithm.
    LogNormal(LogNormal),
    /// Successes among trials.
    Binomial(Binomial),
    /// Counts.
    Poisson(Poisson),
    /// Overdispersed counts.
    NegativeBinomial(NegativeBinomial),
    /// Ranks 1, 2, ..
    Ranks(Ranks),
}

/// Calls the same method of whichever distribution it is.
macro_rules! each {
    ($self:ident, $inner:ident => $call:expr) => {
        match $self {
            Distribution::Normal($inner) => $call,
            Distribution::Laplace($inner) => $call,
            Distribution::StudentT($inner) => $call,
            Distribution::Exponential($inner) => $call,
            Distribution::Gamma($inner) => $call,
            Distribution::LogNormal($inner) => $call,
            Distribution::Binomial($inner) => $call,
            Distribution::Poisson($inner) => $call,
            Distribution::NegativeBinomial($inner) => $call,
            Distribution::Ranks($inner) => $call,
        }
    };
}

impl Distribution {
    /// Mean of the observation; NaN where it has none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        each!(self, inner => inner.mean())
    }

    /// Variance of the observation; infinite or NaN where it has none.
    #[must_use]
    pub fn variance(&self) -> f64 {
        each!(self, inner => inner.variance())
    }

    /// `P(Y <= y)`.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        each!(self, inner => inner.cdf(y))
    }

    /// Log density at `y`, or log probability of `y` where [`Distribution::is_discrete`]; nats.
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        each!(self, inner => inner.log_density(y))
    }

    /// Whether the observation is one value for certain, of those that vary continuously.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Self::Normal(normal) if normal.sd == 0.0)
    }

    /// Whether only whole numbers are observed.
    #[must_use]
    pub fn is_discrete(&self) -> bool {
        matches!(
            self,
            Self::Binomial(_) | Self::Poisson(_) | Self::NegativeBinomial(_) | Self::Ranks(_)
        )
    }

    /// One draw.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        each!(self, inner => inner.sample(rng))
    }
}
