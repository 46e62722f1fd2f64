//! Counts with a Poisson distribution.

use serde::{Deserialize, Serialize};

use super::count_rows::{CountRows, columns};
use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, SumTerms, Tilted};
use super::seldom;
use crate::error::InputError;
use crate::link::Link;

/// Counts, `y_i ~ Poisson(exposure_i link(f_i))`, seen exactly or only as a range.
///
/// `log p = y log mu - mu - log y!` for a count, `log (P(Y <= upper) - P(Y < lower))` for a range:
/// fewer than 5 is (0, 4), suppressed because small (1, 4), at least 100 (100, inf).
///
/// # Links
/// `exp` (log-concave; expectations of counts in closed form), `softplus` (log-concave), `square`:
/// not log-concave, and symmetric in `f`, so that cavity times likelihood may have two peaks. The
/// moments are those of both; a Gaussian site that reproduces them may have negative precision, and
/// inference may follow either sign. Start it from means away from 0. `identity` is refused.
///
/// # Numerics
/// Counts to 1e6, exposures 1e-6 to 1e6: log-probabilities in saddle point form, tails by
/// integration over the log of the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Poisson {
    rows: CountRows,
}

impl Poisson {
    /// Counts.
    ///
    /// # Arguments
    /// * `counts` - whole numbers >= 0, shape `[n]`
    /// * `exposure` - what the rate is multiplied by, > 0 (population, time); 0 is allowed with a
    ///   count of 0, and says nothing; shape `[n]`
    /// * `link` - from the latent value to the rate
    /// # Errors
    /// [`InputError::Shape`], [`InputError::Range`]; [`InputError::Unavailable`] for the identity
    /// link.
    pub fn new(counts: Vec<f64>, exposure: Vec<f64>, link: Link) -> Result<Self, InputError> {
        Self::ranges(counts.clone(), counts, exposure, link)
    }

    /// Ranges of counts, both ends included; equal ends are a count, an upper end may be infinite.
    ///
    /// # Errors
    /// As [`Poisson::new`], and [`InputError::Range`] for an upper end below its lower.
    pub fn ranges(
        lower: Vec<f64>,
        upper: Vec<f64>,
        exposure: Vec<f64>,
        link: Link,
    ) -> Result<Self, InputError> {
        let rows = CountRows::new(lower, upper, exposure, link)?;
        Ok(Self { rows })
    }

    /// Whether [`Self::ranges`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        self.rows.check()
    }

    /// The same counts where every mean is that many times as large.
    pub(super) fn per_unit(&self, sizes: &[f64]) -> Self {
        let rows = self.rows.per_unit(sizes);
        Self { rows }
    }
}

columns!(Poisson);

impl Local for Poisson {
    fn rows(&self) -> usize {
        self.rows.lower.len()
    }

    fn is_log_concave(&self) -> bool {
        self.rows.is_log_concave(false)
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        self.rows.guess(row)
    }

    fn seldom(&self, weights: &[f64]) -> Option<Belief> {
        seldom::of_counts(&self.rows, weights)
    }

    fn log_density(&self, _: &[f64], row: usize, f: f64) -> Jet {
        self.rows.jet(row, 0.0, f)
    }

    fn tilted(&self, _: &[f64], row: usize, cavity: Belief) -> Tilted {
        self.rows.tilted(row, 0.0, cavity)
    }

    fn expected(&self, _: &[f64], row: usize, belief: Belief) -> Expected {
        self.rows.expected(row, 0.0, belief)
    }

    fn sum_terms(&self, row: usize) -> Option<SumTerms> {
        let (count, exposure) = (self.rows.lower[row], self.rows.exposure[row]);
        if count != self.rows.upper[row] {
            return None;
        }
        // Where Z is one its logarithm is zero.
        let one = self.rows.link.inverse(1.0)?;
        Some(SumTerms {
            constant: self.log_density(&[], row, one).value + exposure,
            log: count,
            linear: -exposure,
            inverse: 0.0,
        })
    }

    fn observation(&self, _: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        let mean = self.rows.new_mean(circumstances.exposure, f);
        Distribution::Poisson(distribution::Poisson { mean })
    }
}
