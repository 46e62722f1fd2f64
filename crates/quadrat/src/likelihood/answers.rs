//! What yes or no and successes among trials share: one answer is a trial.

use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::seldom;
use super::sigmoid::Sigmoid;

/// Rows of successes and failures, each with probability `sigmoid(f)`.
pub trait Answers: Sync {
    /// Number of rows.
    fn count(&self) -> usize;

    /// Successes and failures of a row.
    fn split(&self, row: usize) -> (f64, f64);

    /// From the latent value to the probability of a success.
    fn probability(&self) -> Sigmoid;

    /// Trials of a new row.
    fn trials(&self, circumstances: &Circumstances) -> u64;
}

impl<T: Answers> Local for T {
    fn rows(&self) -> usize {
        self.count()
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn seldom(&self, weights: &[f64]) -> Option<Belief> {
        let rows = weights.iter().enumerate().map(|(row, weight)| {
            let (k, m) = self.split(row);
            (weight * k, weight * (k + m))
        });
        seldom::of_trials(self.probability(), rows)
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        let (k, m) = self.split(row);
        self.probability().guess(k, m)
    }

    fn log_density(&self, _: &[f64], row: usize, f: f64) -> Jet {
        let (k, m) = self.split(row);
        self.probability().jet(k, m, f)
    }

    fn tilted(&self, _: &[f64], row: usize, cavity: Belief) -> Tilted {
        let (k, m) = self.split(row);
        self.probability().tilted(k, m, cavity)
    }

    fn expected(&self, _: &[f64], row: usize, belief: Belief) -> Expected {
        let (k, m) = self.split(row);
        self.probability().expected(k, m, belief)
    }

    fn observation(&self, _: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Binomial(distribution::Binomial {
            trials: self.trials(circumstances),
            probability: self.probability().value(f),
        })
    }
}
