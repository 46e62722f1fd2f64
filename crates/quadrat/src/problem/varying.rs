//! Which number of a likelihood is a function: its noise variance or its dispersion.

use serde::{Deserialize, Serialize};

use crate::likelihood::{Dispersion, Likelihood, Noise, Outcomes};

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
        match self {
            Self::Noise => {
                let is_value = match likelihood.outcomes() {
                    Outcomes::Values(_) | Outcomes::Intervals(_) => true,
                    Outcomes::Counts(_)
                    | Outcomes::Answers(_)
                    | Outcomes::Successes { .. }
                    | Outcomes::Ranks(_)
                    | Outcomes::Bounds => false,
                };
                let learns = likelihood.noise().is_some_and(Noise::is_learned);
                is_value && likelihood.is_linear() && learns
            }
            Self::Dispersion => likelihood.dispersion() == Some(Dispersion::Learned),
        }
    }
}
