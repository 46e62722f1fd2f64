//! Positive values with an exponential distribution.

use crate::special::elementary;
use serde::{Deserialize, Serialize};

use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, SumTerms, Tilted};
use super::positive_rows::PositiveRows;
use super::quadrature::{self, climb};
use crate::error::InputError;
use crate::link::{CLIP, Form, Link};

/// Positive values, `p(y | f) = e^(-y / mu) / mu`, `mu = link(f)`.
///
/// # Links
/// `exp` (the default; log-concave, expectations in closed form) and `softplus` (not log-concave:
/// for large `f` the density falls only as `1 / f`). `square` is refused because the expectation of
/// `1 / f^2` diverges, `identity` because a mean must be positive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exponential {
    rows: PositiveRows,
    link: Link,
}

impl Exponential {
    /// # Arguments
    /// * `values` - observed values, > 0, shape `[n]`
    /// * `link` - from the latent value to the mean: `exp` or `softplus`
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::Range`]; [`InputError::Unavailable`] for another
    /// link.
    pub fn new(values: Vec<f64>, link: Link) -> Result<Self, InputError> {
        let made = Self {
            rows: PositiveRows::new(values),
            link,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let refuse = |what, remedy| Err(InputError::Unavailable { what, remedy });
        match self.link.form() {
            Form::Square => refuse(
                "the square link for exponential values",
                "the expected 1/f^2 of a normal f is infinite: use link exp",
            ),
            Form::Line => refuse(
                "the identity link for exponential values",
                "a mean must be positive: use link exp or softplus",
            ),
            // Of probabilities there too.
            Form::Exponential | Form::Smooth => self.rows.check(),
        }
    }

    /// The same values where every mean is that many times as large.
    pub(super) fn per_unit(&self, sizes: &[f64]) -> Self {
        Self {
            rows: self.rows.per_unit(sizes),
            link: self.link,
        }
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.rows.values
    }

    /// The link.
    #[must_use]
    pub fn link(&self) -> Link {
        self.link
    }
}

impl Local for Exponential {
    fn rows(&self) -> usize {
        self.rows.values.len()
    }

    fn is_log_concave(&self) -> bool {
        self.link == Link::Exp
    }

    fn guess(&self, _: &[f64], row: usize) -> f64 {
        self.link.inverse(self.rows.values[row]).unwrap_or(0.0)
    }

    fn log_density(&self, _: &[f64], row: usize, f: f64) -> Jet {
        let [u, u1, u2, u3] = self.link.log_jet(f);
        let ratio = elementary::exp((self.rows.log_value(row) - u).min(CLIP));
        Jet {
            value: -u - ratio - self.rows.log_size(row),
            first: u1 * (ratio - 1.0),
            second: ratio * (u2 - u1 * u1) - u2,
            third: ratio * (u3 - 3.0 * u1 * u2 + u1 * u1 * u1) - u3,
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let jet = |f: f64| self.log_density(own, row, f);
        let guess = self.guess(own, row);
        if self.link == Link::Exp {
            // The guess is log y.
            let jet = |f: f64| {
                let ratio = elementary::exp((guess - f).min(CLIP));
                Jet {
                    value: -f - ratio - self.rows.log_size(row),
                    first: ratio - 1.0,
                    second: -ratio,
                    third: ratio,
                }
            };
            return quadrature::tilted(cavity, guess, jet);
        }
        let everywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let first = climb(cavity, guess, everywhere, jet);
        let second = climb(cavity, cavity.mean, everywhere, jet);
        let near = 0.1
            * (1.0 / cavity.variance + jet(first).second.abs())
                .sqrt()
                .recip();
        if (first - second).abs() > near {
            quadrature::tilted_at(cavity, &[first, second], false, jet)
        } else {
            quadrature::tilted_at(cavity, &[first], false, jet)
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        if self.link == Link::Exp {
            // E e^-f = e^(v/2 - m).
            let half = 0.5 * belief.variance;
            let ratio = elementary::exp((self.rows.log_value(row) - belief.mean + half).min(CLIP));
            return Expected {
                value: -belief.mean - ratio - self.rows.log_size(row),
                first: ratio - 1.0,
                second: -ratio,
            };
        }
        quadrature::expected(belief, &[(0.0, 1.0)], |f| self.log_density(own, row, f))
    }

    fn sum_terms(&self, row: usize) -> Option<SumTerms> {
        Some(SumTerms {
            constant: -self.rows.log_size(row),
            log: -1.0,
            linear: 0.0,
            inverse: -self.rows.values[row],
        })
    }

    fn observation(&self, _: &[f64], _: &Circumstances, f: f64) -> Distribution {
        Distribution::Exponential(distribution::Exponential {
            mean: self.link.value(f),
        })
    }
}
