//! Values known to lie in an interval.

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Normal};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::noise::between;
use super::window::Window;
use super::{Noise, check};
use crate::error::InputError;
use crate::parameter::Parameter;

/// Noisy values of which only an interval was reported, `lower_i <= f_i + e_i <= upper_i`, `e_i ~
/// N(0, variance_i)`.
///
/// $$ p = \Phi((upper - f) / v) - \Phi((lower - f) / v) $$
///
/// Ends may be infinite; equal ends are an exact reading, with the density of a normal value. Own
/// hyperparameter: `noise.variance`, where it is learned.
///
/// # Numerics
/// `log Z` and site in closed form, to about 1e-13 wherever the cavity lies; `E log p` by
/// quadrature.
/// # Source
/// Moments: `special::truncated_normal`; the site's cancellation-free form is our own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    lower: Vec<f64>,
    upper: Vec<f64>,
    noise: Noise,
}

between!(Interval, "ends");

impl Interval {
    /// # Arguments
    /// * `lower`, `upper` - ends, shape `[n]`, `lower <= upper`
    /// # Errors
    /// [`InputError::Shape`] for columns of different lengths; [`InputError::Range`] for an end
    /// that is NaN, a lower end of `inf`, ends in the wrong order, and a known variance of 0 where
    /// the ends differ.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>, noise: Noise) -> Result<Self, InputError> {
        let made = Self {
            lower,
            upper,
            noise,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether every row has one end only, and all of them the same one: the lower end, or not.
    pub(crate) fn only_end(&self) -> Option<bool> {
        let has_lower = self.lower.first()?.is_finite();
        let mut ends = self.lower.iter().zip(&self.upper);
        let is_alike = |(lower, upper): (&f64, &f64)| {
            lower.is_finite() == has_lower && upper.is_finite() != has_lower
        };
        ends.all(is_alike).then_some(has_lower)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let (lower, upper) = (&self.lower, &self.upper);
        check::length("the upper end", lower.len(), upper.len())?;
        check::range(
            "the lower end",
            lower,
            "a number below inf, or -inf for no lower end",
            |_, x| x < f64::INFINITY,
        )?;
        check::range(
            "the upper end",
            upper,
            "a number above -inf, or inf for no upper end",
            |_, x| x > f64::NEG_INFINITY,
        )?;
        check::range(
            "the upper end",
            upper,
            "not below the lower end; exchange the two ends",
            |row, x| x >= lower[row],
        )?;
        self.noise.check(lower.len(), |row| lower[row] < upper[row])
    }

    fn window(&self, own: &[f64], row: usize) -> Window {
        Window {
            lower: self.lower[row],
            upper: self.upper[row],
            variance: self.noise.variance(own, row),
        }
    }
}

impl Local for Interval {
    fn rows(&self) -> usize {
        self.lower.len()
    }

    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        self.noise.parameters(spread)
    }

    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        self.window(own, row).gaussian()
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, own: &[f64], row: usize) -> f64 {
        self.window(own, row).guess()
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.window(own, row).jet(f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(out) = out.first_mut() {
            *out = self.window(own, row).jet_slopes(f).variance;
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        self.window(own, row).tilted(cavity)
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            *out = self.window(own, row).tilted_slopes(cavity).variance;
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        self.window(own, row).expected(belief)
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            *out = self.window(own, row).expected_slopes(belief).variance;
        }
    }

    /// The noisy value itself, before only its interval is told.
    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Normal(Normal {
            mean: f,
            sd: self.noise.variance_of_new(own, circumstances).sqrt(),
        })
    }
}
