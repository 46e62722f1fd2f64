//! Between which numbers an instrument reports.

use crate::error::InputError;
use crate::likelihood::Likelihood;
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Between which numbers an instrument reports; infinite where there is no limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    lower: f64,
    upper: f64,
}

/// Why there is no report in numbers.
const INTERVALS: InputError = InputError::Unavailable {
    what: "the report of an instrument that reports intervals or ranges",
    remedy: "predict a new observation, and the probability that it exceeds each edge",
};
const MIXED: InputError = InputError::Unavailable {
    what: "the report of an instrument whose limits differ from row to row",
    remedy: "put the rows of one instrument into a table of their own, or predict a new observation",
};
const TRUNCATED: InputError = InputError::Unavailable {
    what: "the report of an instrument that records nothing beyond its limits",
    remedy: "predict a new observation, recorded or not",
};

impl Limits {
    /// # Errors
    /// [`InputError::Range`] where the lower limit is not below the upper one.
    pub fn new(lower: f64, upper: f64) -> Result<Self, InputError> {
        if lower < upper {
            return Ok(Self { lower, upper });
        }
        Err(InputError::Range {
            what: "the lower limit of an instrument".into(),
            row: 0,
            value: lower,
            requirement: "below the upper limit",
        })
    }

    /// No limits: what is observed is reported.
    #[must_use]
    pub fn none() -> Self {
        Self {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }

    /// The lower limit.
    #[must_use]
    pub fn lower(&self) -> f64 {
        self.lower
    }

    /// The upper limit.
    #[must_use]
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// Whether there are any.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::none()
    }

    /// The limits that rows show: a value below a limit was reported as the limit, a count that was
    /// hidden as `<5` is taken for a report of 4, and one of `15+` for 15. Where no row shows one,
    /// there is none.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where limits differ from row to row, where values or counts
    /// were reported as ranges with two ends, and for values of which none was recorded beyond a
    /// limit.
    pub fn shown(likelihood: &Likelihood) -> Result<Self, InputError> {
        match likelihood {
            Likelihood::Censored(x) => {
                let ends = x.readings();
                Self::of_ends(ends.lower(), ends.upper(), f64::NEG_INFINITY)
            }
            Likelihood::Poisson(x) => Self::of_ends(x.lower(), x.upper(), 0.0),
            Likelihood::NegativeBinomial(x) => Self::of_ends(x.lower(), x.upper(), 0.0),
            Likelihood::Interval(x) => {
                let mut ends = x.lower().iter().zip(x.upper());
                match ends.all(|(lower, upper)| lower == upper) {
                    true => Ok(Self::none()),
                    false => Err(INTERVALS),
                }
            }
            Likelihood::Truncated(_) => Err(TRUNCATED),
            Likelihood::Gaussian(_)
            | Likelihood::Laplace(_)
            | Likelihood::StudentT(_)
            | Likelihood::Ordinal(_)
            | Likelihood::Positive(_)
            | Likelihood::Bernoulli(_)
            | Likelihood::Binomial(_)
            | Likelihood::Exponential(_)
            | Likelihood::Gamma(_)
            | Likelihood::LogNormal(_) => Ok(Self::none()),
        }
    }

    /// From the ends of rows, of values that are never below `least`.
    fn of_ends(lower: &[f64], upper: &[f64], least: f64) -> Result<Self, InputError> {
        let mut limits = Self::none();
        for (&from, &to) in lower.iter().zip(upper) {
            let (own, limit) = match (from <= least, to == f64::INFINITY) {
                _ if from == to => continue,
                (true, true) => continue,
                (true, false) => (to, &mut limits.lower),
                (false, true) => (from, &mut limits.upper),
                (false, false) => return Err(INTERVALS),
            };
            if limit.is_finite() && *limit != own {
                return Err(MIXED);
            }
            *limit = own;
        }
        // An exact value beyond a limit was reported by another instrument.
        let mut exact = lower.iter().zip(upper).filter(|(from, to)| from == to);
        let is_beyond = exact.any(|(value, _)| *value < limits.lower || *value > limits.upper);
        match is_beyond || limits.lower >= limits.upper {
            true => Err(MIXED),
            false => Ok(limits),
        }
    }

    pub(crate) fn clip(&self, value: f64) -> f64 {
        // NaN stays so.
        if value < self.lower {
            self.lower
        } else if value > self.upper {
            self.upper
        } else {
            value
        }
    }

    /// First and second moment, about a centre, of a normal value that is reported between the
    /// limits,
    ///
    /// $$ E = l \Phi(\alpha) + u \Phi(-\beta) + m (\Phi(\beta) - \Phi(\alpha)) + s (\phi(\alpha) -
    ///    \phi(\beta)) $$
    ///
    /// with `alpha` and `beta` the limits in standard deviations from the mean; here about zero.
    pub(crate) fn normal_moments(&self, (mean, sd): (f64, f64), centre: f64) -> (f64, f64) {
        let at = mean - centre;
        if sd == 0.0 {
            let value = self.clip(mean) - centre;
            return (value, value * value);
        }
        let (low, high) = ((self.lower - mean) / sd, (self.upper - mean) / sd);
        let (below, above) = (normal_cdf(low), normal_cdf(-high));
        let inside = (1.0 - below - above).max(0.0);
        // Densities, and the same times their place; zero at infinity.
        let edge = |z: f64| match z.is_finite() {
            true => [normal_pdf(z), z * normal_pdf(z)],
            false => [0.0, 0.0],
        };
        let ([a, za], [b, zb]) = (edge(low), edge(high));
        let heap = |limit: f64, share: f64| match limit.is_finite() {
            true => [share * (limit - centre), share * (limit - centre).powi(2)],
            false => [0.0, 0.0],
        };
        let (lower, upper) = (heap(self.lower, below), heap(self.upper, above));
        let first = lower[0] + upper[0] + at * inside + sd * (a - b);
        let square = at * at * inside + 2.0 * at * sd * (a - b) + sd * sd * (inside + za - zb);
        (first, lower[1] + upper[1] + square)
    }
}
