//! How the curve falls off in an open last band: one more linear term of the prior.
//!
//! The log density has the mean `-a h(x)` with `a ~ N(a0, s^2)`: `-a0 h`, and `s^2 h h'` in its
//! covariance. Bands cannot tell the shape `h` of a tail, and a flat one is wrong by years of mean
//! age and by as much as the mean income: it is not offered.
//!
//! | tail | `h` | `a` |
//! |---|---|---|
//! | Gompertz | `(e^{g (x - 85)} - e^{g (60 - 85)}) / g` above 60, `g = 0.1` | `N(0.12, 0.05^2)`: loss per year at 85 |
//! | Pareto | `(u - log(0.75 edge + c))+` on `u = log(x + c)` | `N(3, 0.7^2)`: the index |
//! | exponential | `(x - edge)+` | `N(r, (r / 3)^2)`: the slope |

use super::axis::Axis;

/// Growth of the force of mortality with age, per year.
const GROWTH: f64 = 0.1;
/// Mortality bends the curve from here on, and its loss is told at that age.
const AGES: (f64, f64) = (60.0, 85.0);
/// Loss per year at 85, and its sd.
const LOSS: (f64, f64) = (0.12, 0.05);
/// Index of a Pareto tail, and its sd.
const INDEX: (f64, f64) = (3.0, 0.7);
/// Such a tail begins at this part of the edge.
const SHOULDER: f64 = 0.75;
/// The sd of a slope, relative to it.
const SLOPE_SD: f64 = 1.0 / 3.0;
/// An exponential tail ends where it has fallen by this, in nats.
pub(super) const FAR: f64 = 8.0;

/// How the curve falls off in an open last band.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Tail {
    /// As ages in years do: mortality grows by a tenth per year of age.
    Gompertz,
    /// As incomes do, on a logarithmic axis: a power of the amount.
    Pareto,
    /// By a slope per unit, known within a third.
    Exponential {
        /// The slope.
        rate: f64,
    },
}

/// A tail of a band that begins at an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fall {
    pub tail: Tail,
    pub edge: f64,
}

impl Fall {
    /// `h` at a place.
    pub fn shape(self, axis: Axis, x: f64) -> f64 {
        match self.tail {
            Tail::Gompertz => {
                let grown = |x: f64| (GROWTH * (x - AGES.1)).exp() / GROWTH;
                match x > AGES.0 {
                    true => grown(x) - grown(AGES.0),
                    false => 0.0,
                }
            }
            Tail::Pareto => {
                let from = axis.forward(SHOULDER * self.edge);
                (axis.forward(x) - from).max(0.0)
            }
            Tail::Exponential { .. } => (x - self.edge).max(0.0),
        }
    }

    /// `a0`, and its sd.
    pub fn slope(self) -> (f64, f64) {
        match self.tail {
            Tail::Gompertz => LOSS,
            Tail::Pareto => INDEX,
            Tail::Exponential { rate } => (rate, SLOPE_SD * rate),
        }
    }
}
