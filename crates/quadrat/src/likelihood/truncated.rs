//! Values of which none was recorded beyond a limit.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Normal};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::noise::between;
use super::one_limit::OneLimit;
use super::{Noise, check, exact, quadrature};
use crate::error::InputError;
use crate::parameter::Parameter;
use crate::special::{TruncatedNormal, elementary, truncated_normal_of_width};

/// Values with normal noise that were recorded only where they lay between two limits, `y_i = f_i +
/// e_i` given `lower_i <= y_i <= upper_i`, `e_i ~ N(0, variance_i)`.
///
/// $$ p = \frac{N(y; f, v^2)}{\Phi((upper - f) / v) - \Phi((lower - f) / v)} $$
///
/// Of a [`Censored`](super::Censored) value beyond a limit there is a row that says so; here there
/// is none. One limit may be infinite, or both, which leaves normal noise. Own hyperparameter:
/// `noise.variance`, where it is learned.
///
/// # Numerics
/// Log-concave: with `T` the standard normal variable between the two limits, `(log p)'' = -Var T /
/// v^2`. Density and slopes keep their digits wherever `f` lies: beyond a limit the two large
/// terms, `((y - f) / v)^2 / 2` and the logarithm of the probability, are subtracted before
/// anything is rounded. `log Z`, site and `E log p` by quadrature.
/// # Source
/// Amemiya 1973, Econometrica 41, 997; the form without cancellation is our own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truncated {
    values: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    noise: Noise,
}

between!(Truncated, "limits");

impl Truncated {
    /// # Arguments
    /// * `values` - what was recorded, shape `[n]`
    /// * `lower`, `upper` - limits, shape `[n]`, infinite for none, `lower < upper`
    /// # Errors
    /// [`InputError::Shape`], [`InputError::NotFinite`]; [`InputError::Range`] for limits that are
    /// NaN or in the wrong order, a value that does not lie between its own, and a known variance
    /// of 0.
    pub fn new(
        values: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        noise: Noise,
    ) -> Result<Self, InputError> {
        let made = Self {
            values,
            lower,
            upper,
            noise,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let (values, lower, upper) = (&self.values, &self.lower, &self.upper);
        check::length("the lower limit", values.len(), lower.len())?;
        check::length("the upper limit", values.len(), upper.len())?;
        check::finite("the value", values)?;
        check::range(
            "the lower limit",
            lower,
            "a number, or -inf for no lower limit",
            |_, x| x < f64::INFINITY,
        )?;
        check::range(
            "the upper limit",
            upper,
            "above the lower limit; exchange the two limits",
            |row, x| x > lower[row],
        )?;
        check::range(
            "the value",
            values,
            "within its limits, beyond which nothing was recorded; take the row out, or mend the limit",
            |row, y| (lower[row]..=upper[row]).contains(&y),
        )?;
        self.noise.check(values.len(), |_| true)
    }

    /// The recorded values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The row, and a belief as it is seen from the value: around a large one the differences of a
    /// quadrature would be rounded to steps.
    fn row(&self, own: &[f64], row: usize) -> Row {
        let value = self.values[row];
        Row {
            below: value - self.lower[row],
            above: self.upper[row] - value,
            variance: self.noise.variance(own, row),
        }
    }

    fn seen_from_value(&self, row: usize, belief: Belief) -> Belief {
        Belief {
            mean: belief.mean - self.values[row],
            ..belief
        }
    }
}

/// Noise sds within its limits from which on a latent value is far from both.
const INSIDE: f64 = 1.0;

/// One row as a function of `u = f - y`.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// From the lower limit to the value.
    below: f64,
    /// From the value to the upper limit.
    above: f64,
    variance: f64,
}

/// The truncated standard normal variable `T` seen from a latent value, and what of the value
/// remains beside it.
struct Seen {
    t: TruncatedNormal,
    sd: f64,
    /// `log p`.
    log: f64,
    /// `(y - f) / v`.
    z: f64,
    /// `z - E T`.
    rest: f64,
}

impl Row {
    fn is_open(&self) -> bool {
        self.below == f64::INFINITY && self.above == f64::INFINITY
    }

    /// Beyond a limit `b` the probability is `phi((b - f) / v)` over the density of `T` there, so
    /// that the squares of `y - f` and `b - f` meet as `(y - b) (y + b - 2 f)`.
    fn seen(&self, u: f64) -> Seen {
        let sd = self.variance.sqrt();
        let (below, above) = (self.below / sd, self.above / sd);
        let (from, to) = ((-self.below - u) / sd, (self.above - u) / sd);
        let t = truncated_normal_of_width(from, to, below + above);
        let z = -u / sd;
        let (log, rest) = if from.max(-to) <= -INSIDE {
            let root = 0.5 * elementary::log(2.0 * PI * self.variance);
            (-0.5 * z * z - root - t.log_z, z - t.mean)
        } else if from >= -to {
            let squares = 0.5 * below * (below - 2.0 * z);
            (
                elementary::log(t.at_lower / sd) + squares,
                below - t.above_lower,
            )
        } else {
            let squares = 0.5 * above * (above + 2.0 * z);
            (
                elementary::log(t.at_upper / sd) + squares,
                t.below_upper - above,
            )
        };
        Seen {
            t,
            sd,
            log,
            z,
            rest,
        }
    }

    fn jet(&self, u: f64) -> Jet {
        if self.is_open() {
            return exact::jet(0.0, self.variance, u);
        }
        let Seen {
            t, sd, log, rest, ..
        } = self.seen(u);
        Jet {
            value: log,
            first: rest / sd,
            second: -t.variance / self.variance,
            third: -t.third / (sd * self.variance),
        }
    }

    fn one_limit(&self) -> Option<OneLimit> {
        let variance = self.variance;
        match (self.below < f64::INFINITY, self.above < f64::INFINITY) {
            (true, false) => Some(OneLimit::new(self.below, 1.0, variance)),
            (false, true) => Some(OneLimit::new(self.above, -1.0, variance)),
            _ => None,
        }
    }

    fn tilted(&self, cavity: Belief) -> Tilted {
        match self.one_limit() {
            Some(limit) => quadrature::tilted(cavity, 0.0, |u| limit.jet(u)),
            None => quadrature::tilted(cavity, 0.0, |u| self.jet(u)),
        }
    }

    /// Derivatives of value, first and second of [`Self::jet`] in the variance, by the heat
    /// equation.
    fn in_variance(&self, u: f64) -> [f64; 3] {
        if self.is_open() {
            return exact::slopes(0.0, self.variance, u);
        }
        let Seen { t, sd, z, rest, .. } = self.seen(u);
        [
            0.5 * (rest * (z + t.mean) - t.variance) / self.variance,
            -(rest + t.mean * t.variance + 0.5 * t.third) / (sd * self.variance),
            (t.variance * (1.0 + t.lost) - 0.5 * t.fourth - t.mean * t.third)
                / (self.variance * self.variance),
        ]
    }

    /// The limits, where `log p` bends as the logarithm of the probability between them does.
    fn second_order(&self) -> [(f64, f64); 2] {
        let width = 2.0 * self.variance.sqrt();
        [(-self.below, width), (self.above, width)]
    }
}

impl Local for Truncated {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        self.noise.parameters(spread)
    }

    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        let at = self.row(own, row);
        at.is_open().then(|| (self.values[row], at.variance))
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _own: &[f64], row: usize) -> f64 {
        self.values[row]
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.row(own, row).jet(f - self.values[row])
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(out) = out.first_mut() {
            *out = self.row(own, row).in_variance(f - self.values[row]);
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let (at, value) = (self.row(own, row), self.values[row]);
        if at.is_open() {
            return exact::tilted(value, at.variance, cavity);
        }
        let cavity = self.seen_from_value(row, cavity);
        let tilted = at.tilted(cavity);
        Tilted {
            shift: tilted.shift + tilted.precision * value,
            ..tilted
        }
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        let Some(out) = out.first_mut() else {
            return;
        };
        let at = self.row(own, row);
        if at.is_open() {
            *out = exact::tilted_slope(self.values[row], at.variance, cavity);
            return;
        }
        let cavity = self.seen_from_value(row, cavity);
        let jet = |u: f64| at.jet(u);
        let peak = quadrature::mode(cavity, 0.0, jet);
        let (_, _, [_, slope]) =
            quadrature::tilted_averages(cavity, &[peak, 0.0], true, jet, |u, _, _| {
                [1.0, at.in_variance(u)[0]]
            });
        *out = slope;
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        let at = self.row(own, row);
        if at.is_open() {
            return exact::expected(self.values[row], at.variance, belief);
        }
        let belief = self.seen_from_value(row, belief);
        quadrature::expected(belief, &at.second_order(), |u| at.jet(u))
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        let Some(out) = out.first_mut() else {
            return;
        };
        let at = self.row(own, row);
        if at.is_open() {
            *out = exact::expected_slope(self.values[row], at.variance, belief);
            return;
        }
        let belief = self.seen_from_value(row, belief);
        let averages = quadrature::averages(belief, &at.second_order(), |u| [at.in_variance(u)[0]]);
        *out = averages.value[0];
    }

    /// The noisy value itself, recorded or not.
    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Normal(Normal {
            mean: f,
            sd: self.noise.variance_of_new(own, circumstances).sqrt(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn above_zero(value: f64, variance: f64) -> Truncated {
        let (lower, upper) = (vec![0.0], vec![f64::INFINITY]);
        Truncated::new(vec![value], lower, upper, Noise::Known(vec![variance])).unwrap()
    }

    /// Far below its limit a value is exponential above it, with the rate `(lower - f) / v^2`.
    #[test]
    fn far_beyond_the_limit_a_value_is_exponential() {
        for (value, f) in [(0.5, -1e4), (3.0, -1e6), (0.01, -1e9)] {
            let rate = -f / 4.0;
            let jet = above_zero(value, 4.0).log_density(&[], 0, f);
            // The next term is v^2 / f^2, and value^2 / v^2 beside value * rate.
            let small = 4.0 / (f * f) + value * value / 8.0;
            let want = f64::ln(rate) - value * rate;
            assert!(
                (jet.value - want).abs() <= small + 1e-14 * want.abs(),
                "{jet:?} {want}"
            );
            let first = value / 4.0 + 1.0 / f;
            assert!((jet.first / first - 1.0).abs() < 1e-6, "{jet:?} {first}");
            assert!((jet.second * f * f + 1.0).abs() < 1e-6, "{jet:?}");
        }
    }

    /// Far within its limits nothing is left of them.
    #[test]
    fn far_within_the_limits_a_value_is_normal() {
        let (lower, upper) = (vec![-100.0, f64::NEG_INFINITY], vec![100.0, f64::INFINITY]);
        let noise = || Noise::Known(vec![0.25; 2]);
        let cut = Truncated::new(vec![1.5, 1.5], lower, upper, noise()).unwrap();
        for row in 0..2 {
            for f in [-3.0, 1.5, 2.0] {
                assert_eq!(cut.log_density(&[], row, f), exact::jet(1.5, 0.25, f));
            }
        }
        assert_eq!(cut.gaussian(&[], 0), None);
        assert_eq!(cut.gaussian(&[], 1), Some((1.5, 0.25)));
    }

    /// Between limits that are narrow beside the noise every value is alike, whatever the function
    /// is nearby.
    #[test]
    fn between_narrow_limits_values_are_uniform() {
        let noise = Noise::Known(vec![1.0]);
        let cut = Truncated::new(vec![0.3], vec![0.0], vec![1e-3 + 0.3], noise).unwrap();
        let narrow =
            Truncated::new(vec![0.3e-3], vec![0.0], vec![1e-3], Noise::Known(vec![1.0])).unwrap();
        // The density changes by value * width / v^2 across them.
        assert!((narrow.log_density(&[], 0, 0.1).value - 1e3_f64.ln()).abs() < 1e-3);
        assert!(cut.log_density(&[], 0, 0.1).value < 1e3_f64.ln());
    }

    #[test]
    fn any_latent_value_gives_numbers() {
        for f in [-1e300, -1e150, -1e9, -1.0, 0.0, 1.0, 40.0, 1e5] {
            for value in [0.0, 1e-12, 1.0] {
                let cut = above_zero(value, 1.0);
                let jet = cut.log_density(&[], 0, f);
                let numbers = [jet.value, jet.first, jet.second, jet.third];
                assert!(numbers.iter().all(|x| x.is_finite()), "{f} {value} {jet:?}");
                assert!(jet.second <= 0.0);
            }
        }
    }
}
