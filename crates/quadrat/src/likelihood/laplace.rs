//! Double-exponential noise of known scale, as differential privacy adds.

use crate::special::elementary;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

use serde::{Deserialize, Serialize};

use super::check;
use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use crate::error::InputError;
use crate::special::scalar::{erf, erfcx, log_cdf, normal_pdf};
use crate::special::truncated_normal;

/// ln sqrt(2 pi).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Values observed with double-exponential noise of known scale.
///
/// $$ \log p(y \mid f) = -|y - f| / b - \log 2 b $$
///
/// Everything is in closed form. `log p` has a kink at `f = y`: the second derivative is 0
/// elsewhere, and that of an expectation is not the expectation of it; sites by curvature
/// (Laplace's method) learn nothing from such rows. No hyperparameters of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Laplace {
    values: Vec<f64>,
    scale: Vec<f64>,
}

/// A cavity times a double exponential, `z = (f - mean) / sd`: two truncated normals that meet at
/// `z = d`.
struct Halves {
    /// Weights below and above the value.
    below: f64,
    above: f64,
    /// Mean distances from the value, both positive.
    gap_below: f64,
    gap_above: f64,
    /// Variance of the whole.
    variance: f64,
    log_z: f64,
}

impl Laplace {
    /// # Arguments
    /// * `values`, `scale` - shape `[n]`; `scale` is `b`, the mean absolute error, in the unit of
    ///   the values
    /// # Errors
    /// [`InputError::Shape`], [`InputError::NotFinite`]; [`InputError::Range`] for a scale that is
    /// not positive.
    pub fn new(values: Vec<f64>, scale: Vec<f64>) -> Result<Self, InputError> {
        let made = Self { values, scale };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        check::finite("the value", &self.values)?;
        check::length("the scale", self.values.len(), self.scale.len())?;
        check::range(
            "the scale",
            &self.scale,
            "a finite number above zero; exact values belong to a Gaussian likelihood",
            |_, b| b > 0.0 && b.is_finite(),
        )
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The scale of every row.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    fn halves(&self, row: usize, cavity: Belief) -> Halves {
        let sd = cavity.variance.sqrt();
        let d = (self.values[row] - cavity.mean) / sd;
        let rate = sd / self.scale[row];
        // Below the value the density is a normal one moved by +rate, above by -rate: seen from the
        // value, both are tails of a standard normal beyond these ends.
        let (end_below, end_above) = (rate - d, rate + d);
        let (tail_below, tail_above) = (
            truncated_normal(end_below, f64::INFINITY),
            truncated_normal(end_above, f64::INFINITY),
        );
        // The nearer end has the larger tail: the weights follow from the ratio of Mills' ratios.
        let (near, far) = (end_below.min(end_above), end_below.max(end_above));
        let ratio = elementary::exp(log_mills(far) - log_mills(near));
        let (more, less) = (1.0 / (1.0 + ratio), ratio / (1.0 + ratio));
        let (below, above) = if d >= 0.0 { (more, less) } else { (less, more) };
        // phi(d) Mills(near), written so that far ends do not cancel.
        let log_more = if near > 0.0 {
            -0.5 * d * d - LN_SQRT_2PI + log_mills(near)
        } else {
            rate * (0.5 * rate - d.abs()) + log_cdf(-near)
        };
        let (gap_below, gap_above) = (tail_below.above_lower, tail_above.above_lower);
        let between = gap_below + gap_above;
        Halves {
            below,
            above,
            gap_below,
            gap_above,
            variance: below * tail_below.variance
                + above * tail_above.variance
                + below * above * between * between,
            log_z: log_more + elementary::log1p(ratio) - elementary::log(2.0 * self.scale[row]),
        }
    }
}

/// Log of Mills' ratio, `log(Phi(-x) / phi(x))`.
fn log_mills(x: f64) -> f64 {
    if x > -1.0 {
        elementary::log((0.5 * PI).sqrt() * erfcx(x * FRAC_1_SQRT_2))
    } else {
        log_cdf(-x) + 0.5 * x * x + LN_SQRT_2PI
    }
}

impl Local for Laplace {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _own: &[f64], row: usize) -> f64 {
        self.values[row]
    }

    fn log_density(&self, _own: &[f64], row: usize, f: f64) -> Jet {
        let (away, scale) = (self.values[row] - f, self.scale[row]);
        let sign = if away == 0.0 { 0.0 } else { away.signum() };
        Jet {
            value: -away.abs() / scale - elementary::log(2.0 * scale),
            first: sign / scale,
            second: 0.0,
            third: 0.0,
        }
    }

    /// The site's slope is the regression of `(log p)' = +-1 / b` on `f`: nothing cancels,
    /// whichever of noise and cavity is wider.
    fn tilted(&self, _own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let halves = self.halves(row, cavity);
        let (sd, scale) = (cavity.variance.sqrt(), self.scale[row]);
        let Halves { below, above, .. } = halves;
        let between = halves.gap_below + halves.gap_above;
        let precision = 2.0 * below * above * between / (scale * sd * halves.variance);
        let moved = above * halves.gap_above - below * halves.gap_below;
        let mean = self.values[row] + sd * moved;
        Tilted {
            log_z: halves.log_z,
            precision,
            shift: (below - above) / scale + precision * mean,
        }
    }

    fn expected(&self, _own: &[f64], row: usize, belief: Belief) -> Expected {
        let (sd, scale) = (belief.variance.sqrt(), self.scale[row]);
        let d = (self.values[row] - belief.mean) / sd;
        let (density, sign) = (normal_pdf(d), erf(d * FRAC_1_SQRT_2));
        Expected {
            value: -(2.0 * density + d * sign) * (sd / scale) - elementary::log(2.0 * scale),
            first: sign / scale,
            second: -2.0 * density / (scale * sd),
        }
    }

    /// The scale is `sqrt(variance / 2)`; where no variance is told, the mean scale of the rows.
    fn observation(&self, _own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        let scale = if circumstances.variance > 0.0 {
            (0.5 * circumstances.variance).sqrt()
        } else {
            self.scale.iter().sum::<f64>() / self.scale.len() as f64
        };
        Distribution::Laplace(distribution::Laplace {
            location: f,
            scale,
            blur: 0.0,
        })
    }
}
