//! Values of which some are only known to lie beyond a limit.

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::{Interval, Noise, check};
use crate::error::InputError;
use crate::parameter::Parameter;

/// On which side of the reported number the noisy value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The number is the value itself.
    None,
    /// The value is at most the number: below a detection limit.
    Left,
    /// The value is at least the number: capped.
    Right,
}

/// Values with normal noise, some censored: `y_i` or `f_i + e_i <= y_i` or `f_i + e_i >= y_i`,
/// `e_i ~ N(0, variance_i)`.
///
/// An exact value is a normal density, a censored one the probability of an [`Interval`] with an
/// infinite end. Own hyperparameter: `noise.variance`, where it is learned.
///
/// # Source
/// Tobin 1958, Econometrica 26, 24.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Censored {
    readings: Interval,
}

impl Censored {
    /// Values, and the side on which each is censored.
    ///
    /// # Errors
    /// [`InputError::Shape`], [`InputError::NotFinite`], and [`InputError::Range`] for a known
    /// variance that is negative, or 0 on a censored row.
    pub fn new(values: Vec<f64>, sides: &[Side], noise: Noise) -> Result<Self, InputError> {
        check::length("the side", values.len(), sides.len())?;
        check::finite("the value", &values)?;
        let ends = |open: Side, beyond: f64| -> Vec<f64> {
            let end = |(&value, &side): (&f64, &Side)| if side == open { beyond } else { value };
            values.iter().zip(sides).map(end).collect()
        };
        let lower = ends(Side::Left, f64::NEG_INFINITY);
        let upper = ends(Side::Right, f64::INFINITY);
        Self::between(lower, upper, noise)
    }

    /// Whether [`Self::between`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        self.readings.check()
    }

    /// What is known of the noise.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        self.readings.noise()
    }

    pub(super) fn noise_mut(&mut self) -> &mut Noise {
        self.readings.noise_mut()
    }

    /// Values between limits, equal ones for an exact value, infinite ones for none, as
    /// [`Interval::new`].
    ///
    /// # Errors
    /// Those of [`Interval::new`].
    pub fn between(lower: Vec<f64>, upper: Vec<f64>, noise: Noise) -> Result<Self, InputError> {
        let readings = Interval::new(lower, upper, noise)?;
        Ok(Self { readings })
    }

    /// Values reported by an instrument with limits: at or below the lower limit the value is
    /// censored from the left, at or above the upper one from the right.
    ///
    /// # Arguments
    /// * `lower`, `upper` - limits, shape `[n]`, infinite for none, `lower < upper`
    /// # Errors
    /// Those of [`Censored::new`], and [`InputError::Range`] for limits that are NaN or in the
    /// wrong order.
    pub fn clipped(
        values: &[f64],
        lower: &[f64],
        upper: &[f64],
        noise: Noise,
    ) -> Result<Self, InputError> {
        check::length("the lower limit", values.len(), lower.len())?;
        check::length("the upper limit", values.len(), upper.len())?;
        check::range(
            "the upper limit",
            upper,
            "above the lower limit; exchange the two limits",
            |row, x| x > lower[row],
        )?;
        let mut sides = vec![Side::None; values.len()];
        // The limit is reported, whatever the column holds beyond it.
        let mut reported = values.to_vec();
        for (row, side) in sides.iter_mut().enumerate() {
            if values[row] <= lower[row] {
                (*side, reported[row]) = (Side::Left, lower[row]);
            } else if values[row] >= upper[row] {
                (*side, reported[row]) = (Side::Right, upper[row]);
            }
        }
        Self::new(reported, &sides, noise)
    }

    /// The rows as intervals: equal ends where the value is exact.
    #[must_use]
    pub fn readings(&self) -> &Interval {
        &self.readings
    }
}

impl Local for Censored {
    fn rows(&self) -> usize {
        self.readings.rows()
    }

    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        self.readings.parameters(spread)
    }

    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        self.readings.gaussian(own, row)
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, own: &[f64], row: usize) -> f64 {
        self.readings.guess(own, row)
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.readings.log_density(own, row, f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        self.readings.log_density_slopes(own, row, f, out);
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        self.readings.tilted(own, row, cavity)
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        self.readings.tilted_slopes(own, row, cavity, out);
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        self.readings.expected(own, row, belief)
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        self.readings.expected_slopes(own, row, belief, out);
    }

    /// The noisy value itself, before any limit.
    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        self.readings.observation(own, circumstances, f)
    }
}
