//! Which number of a likelihood is a function: its noise variance or its dispersion.

use serde::{Deserialize, Serialize};

use crate::likelihood::{Dispersion, Likelihood};

/// What a second latent function is about.
///
/// A model may have one of each ([`Model::vary`](crate::model::Model::vary)), in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Varying {
    /// The noise variance that tables learn.
    Noise,
    /// The dispersion that tables of overdispersed counts learn.
    Dispersion,
}

impl Varying {
    /// The word before the names of its hyperparameters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::Dispersion => "dispersion",
        }
    }

    /// The same in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Noise => "noise variance",
            Self::Dispersion => "dispersion",
        }
    }

    /// Whether rows of a likelihood learn it.
    #[must_use]
    pub fn is_of(self, likelihood: &Likelihood) -> bool {
        match (self, likelihood) {
            (Self::Noise, Likelihood::Gaussian(x)) => x.is_linear() && x.noise().is_learned(),
            (
                Self::Noise,
                Likelihood::StudentT(_)
                | Likelihood::Interval(_)
                | Likelihood::Censored(_)
                | Likelihood::Truncated(_),
            ) => likelihood
                .noise()
                .is_some_and(crate::likelihood::Noise::is_learned),
            (Self::Dispersion, Likelihood::NegativeBinomial(x)) => {
                x.dispersion() == Dispersion::Learned
            }
            _ => false,
        }
    }
}
