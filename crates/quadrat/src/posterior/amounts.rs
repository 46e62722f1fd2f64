//! At which exposures, among how many trials, or with which known noise new rows are predicted.

use crate::error::InputError;
use crate::likelihood::{Likelihood, Noise, Outcomes};
use crate::problem::scale::Scale;

/// Larger exposures are refused: squares of expected counts would not fit.
const MOST_EXPOSURE: f64 = 1e100;

/// Why there is no new observation where every row has a known noise variance of its own.
pub(super) const NOISE_OF_ROWS: InputError = InputError::Unavailable {
    what: "the observation scale",
    remedy: "the noise variances were given row by row, so that of a new row is not known; predict the response and add the variance of the new row",
};

/// Exposures and trials of every row; empty: one. Known parts of the noise variance of every row;
/// empty: that of the table, where it is one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Amounts {
    pub exposure: Vec<f64>,
    pub trials: Vec<u64>,
    pub variance: Vec<f64>,
}

impl Amounts {
    /// Refuses other numbers of them than there are rows, and such as no row has.
    pub fn check(&self, rows: usize, scale: Scale) -> Result<(), InputError> {
        if scale == Scale::Latent {
            return Err(InputError::Unavailable {
                what: "an exposure at the scale of the function",
                remedy: "predict the response or an observation: the function is per unit of exposure",
            });
        }
        let got = self.exposure.len().max(self.trials.len());
        if got != rows {
            return Err(InputError::Shape {
                what: "the exposures or trials",
                expected: rows,
                got,
            });
        }
        let usable = |e: &f64| *e > 0.0 && *e <= MOST_EXPOSURE;
        if let Some(row) = self.exposure.iter().position(|e| !usable(e)) {
            return Err(InputError::Range {
                what: "the exposure of a prediction".into(),
                row,
                value: self.exposure[row],
                requirement: "above zero and at most 1e100",
            });
        }
        if let Some(row) = self.trials.iter().position(|n| *n == 0) {
            return Err(InputError::Range {
                what: "the number of trials of a prediction".into(),
                row,
                value: 0.0,
                requirement: "at least 1",
            });
        }
        Ok(())
    }

    /// The known part of the noise variance of new observations: one for each row, or one in all,
    /// which must be so where observations are asked for.
    pub fn known_noise(
        &self,
        likelihood: &Likelihood,
        is_observation: bool,
    ) -> Result<Vec<f64>, InputError> {
        if !self.variance.is_empty() {
            return Ok(self.variance.clone());
        }
        let known = likelihood.noise().and_then(Noise::known).unwrap_or(&[0.0]);
        match is_observation && known.iter().any(|v| *v != known[0]) {
            true => Err(NOISE_OF_ROWS),
            false => Ok(vec![known[0]]),
        }
    }

    /// Refuses exposures of what is no count, and trials of what is no success among them.
    pub fn suit(&self, likelihood: &Likelihood) -> Result<(), InputError> {
        if !self.exposure.is_empty() && likelihood.counts().is_none() {
            return Err(InputError::Unavailable {
                what: "an exposure of what is no count",
                remedy: "exposures are of `poisson` and `negative_binomial` rows; leave it out",
            });
        }
        let successes = matches!(likelihood.outcomes(), Outcomes::Successes { .. });
        if !self.trials.is_empty() && !successes {
            return Err(InputError::Unavailable {
                what: "trials of what is no success among them",
                remedy: "trials are of `binomial` rows; leave them out",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Bernoulli, Binomial, Poisson, Sigmoid};
    use crate::link::Link;

    /// Exposures are of counts, trials of successes among them, and nothing suits all.
    #[test]
    fn exposures_and_trials_have_their_likelihoods() -> Result<(), InputError> {
        let counts: Likelihood = Poisson::new(vec![1.0], vec![1.0], Link::Exp)?.into();
        let successes: Likelihood = Binomial::new(vec![1.0], vec![2.0], Sigmoid::Logit)?.into();
        let answers: Likelihood = Bernoulli::new(vec![true], Sigmoid::Logit).into();
        let exposure = Amounts {
            exposure: vec![2.0],
            ..Amounts::default()
        };
        let trials = Amounts {
            trials: vec![2],
            ..Amounts::default()
        };
        let suits = |likelihood: &Likelihood| {
            [&exposure, &trials, &Amounts::default()].map(|a| a.suit(likelihood).is_ok())
        };
        assert_eq!(suits(&counts), [true, false, true]);
        assert_eq!(suits(&successes), [false, true, true]);
        assert_eq!(suits(&answers), [false, false, true]);
        Ok(())
    }
}
