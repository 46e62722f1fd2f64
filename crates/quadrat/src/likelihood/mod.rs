//! Likelihoods: what the instrument reported about a linear functional of the latent function.

mod adaptive;
mod bernoulli;
mod binomial;
mod censored;
mod check;
mod count_rows;
mod counting;
pub mod distribution;
mod exact;
mod exponential;
mod gaussian;
mod interval;
mod laplace;
pub mod local;
mod log_square;
mod negative_binomial;
mod noise;
mod ordinal;
mod poisson;
mod positive;
mod quadrature;
#[cfg(test)]
mod quadrature_tests;
mod sigmoid;
mod student_t;
mod window;

pub use bernoulli::Bernoulli;
pub use binomial::Binomial;
pub use censored::{Censored, Side};
pub use exponential::Exponential;
pub use gaussian::Gaussian;
pub use interval::Interval;
pub use laplace::Laplace;
pub use negative_binomial::{Dispersion, NegativeBinomial};
pub use noise::Noise;
pub use ordinal::{Ordinal, Thresholds};
pub use poisson::Poisson;
pub use positive::Positive;
pub use sigmoid::Sigmoid;
pub use student_t::{Degrees, StudentT};

use serde::{Deserialize, Serialize};

/// The likelihoods. A new one is a file of its own plus one line here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Likelihood {
    /// Normal noise of known or learned variance.
    Gaussian(Gaussian),
}

impl From<Gaussian> for Likelihood {
    fn from(gaussian: Gaussian) -> Self {
        Self::Gaussian(gaussian)
    }
}

impl Likelihood {
    /// Number of rows it has something to say about.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Gaussian(gaussian) => gaussian.values().len(),
        }
    }
}
