//! Free hyperparameters on the whole line: bounds become infinitely far.

use crate::parameter::Parameter;

/// The coordinate `u` in which one free hyperparameter is sampled.
///
/// With `phi` the free coordinate of [`Parameter::to_free`], `c` its unit and `s` the logistic
/// function:
///
/// | bounds of `phi` | `phi` |
/// |---|---|
/// | none | `c u` |
/// | lower `a` | `a + c exp(u)` |
/// | upper `b` | `b - c exp(u)` |
/// | both | `a + (b - a) s(k u)`, `k = 4 c / (b - a)`, so that `d phi / d u = c` in the middle |
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coordinate {
    unit: f64,
    lower: f64,
    upper: f64,
}

/// `phi` at some `u`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transformed {
    pub phi: f64,
    /// `d phi / d u`.
    pub slope: f64,
    /// `log |d phi / d u|`.
    pub log_slope: f64,
    /// Derivative of `log_slope` in `u`.
    pub log_slope_slope: f64,
}

impl Coordinate {
    pub fn new(parameter: &Parameter) -> Self {
        let (lower, upper) = parameter.free_bounds();
        Self {
            unit: parameter.free_unit(),
            lower,
            upper,
        }
    }

    pub fn place(&self, u: f64) -> Transformed {
        let &Self { unit, lower, upper } = self;
        match (lower.is_finite(), upper.is_finite()) {
            (false, false) => Transformed {
                phi: unit * u,
                slope: unit,
                log_slope: unit.ln(),
                log_slope_slope: 0.0,
            },
            (true, false) | (false, true) => {
                let away = unit * u.exp();
                let (phi, slope) = if lower.is_finite() {
                    (lower + away, away)
                } else {
                    (upper - away, -away)
                };
                Transformed {
                    phi,
                    slope,
                    log_slope: unit.ln() + u,
                    log_slope_slope: 1.0,
                }
            }
            (true, true) => {
                let width = upper - lower;
                let k = 4.0 * unit / width;
                let (below, above) = (logistic(k * u), logistic(-k * u));
                Transformed {
                    phi: lower + width * below,
                    slope: 4.0 * unit * below * above,
                    log_slope: (4.0 * unit).ln() + below.ln() + above.ln(),
                    log_slope_slope: k * (above - below),
                }
            }
        }
    }

    /// The coordinate of `phi`, moved inside where it lies on a bound.
    pub fn find(&self, phi: f64) -> f64 {
        let &Self { unit, lower, upper } = self;
        match (lower.is_finite(), upper.is_finite()) {
            (false, false) => phi / unit,
            (true, false) => (phi - lower).max(1e-3 * unit).ln() - unit.ln(),
            (false, true) => (upper - phi).max(1e-3 * unit).ln() - unit.ln(),
            (true, true) => {
                let width = upper - lower;
                let share = ((phi - lower) / width).clamp(1e-3, 1.0 - 1e-3);
                (share / (1.0 - share)).ln() * width / (4.0 * unit)
            }
        }
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives_and_finding_is_the_inverse() {
        let (a, b, inf) = (-1.5, 2.5, f64::INFINITY);
        for (lower, upper) in [(-inf, inf), (a, inf), (-inf, b), (a, b)] {
            let coordinate = Coordinate {
                unit: 0.7,
                lower,
                upper,
            };
            for u in [-2.0, 0.0, 0.4, 1.1] {
                let at = coordinate.place(u);
                // A few roundings of numbers up to four; of differences, truncation h^2 / 6 times
                // slopes up to three and rounding 4 eps / h: below 2e-10.
                assert!((coordinate.find(at.phi) - u).abs() < 1e-12);
                let h = 1e-5;
                let (plus, minus) = (coordinate.place(u + h), coordinate.place(u - h));
                let slope = (plus.phi - minus.phi) / (2.0 * h);
                assert!((slope - at.slope).abs() < 1e-8);
                assert!((at.slope.abs().ln() - at.log_slope).abs() < 1e-12);
                let second = (plus.log_slope - minus.log_slope) / (2.0 * h);
                assert!((second - at.log_slope_slope).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn a_start_on_a_bound_is_moved_inside() {
        let coordinate = Coordinate {
            unit: 1.0,
            lower: 0.0,
            upper: 2.0,
        };
        for phi in [0.0, 2.0] {
            let u = coordinate.find(phi);
            // By a thousandth of the width of two, to a few roundings.
            let inside = (coordinate.place(u).phi - phi).abs();
            assert!(u.is_finite() && (inside - 0.002).abs() < 1e-12);
        }
    }
}
