//! What rows report, as simple methods take it.

use crate::error::InputError;
use crate::likelihood::Likelihood;
use crate::model::Observations;
use crate::support::Functionals;

/// Why a method cannot use a table.
pub(super) const NO_NUMBER: InputError = InputError::Unavailable {
    what: "a simple method for these rows",
    remedy: "it needs rows that report one number each, such as values, counts or answers; use the posterior for intervals, ranks and limits",
};

/// A value of every row, and how many times the response it is of: the exposure of counts, the
/// number of trials, one of all else.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reported {
    pub values: Vec<f64>,
    pub amounts: Vec<f64>,
}

impl Reported {
    /// `None` where rows report no single number: intervals, ranks, limits, counts that are only
    /// bounded.
    pub fn of(table: &Observations) -> Option<Self> {
        let once = |values: &[f64]| {
            Some(Self {
                amounts: vec![1.0; values.len()],
                values: values.to_vec(),
            })
        };
        let counts = |lower: &[f64], upper: &[f64], exposure: &[f64]| {
            (lower == upper).then(|| Self {
                values: lower.to_vec(),
                amounts: exposure.to_vec(),
            })
        };
        match table.likelihood() {
            Likelihood::Gaussian(x) => once(x.values()),
            Likelihood::Laplace(x) => once(x.values()),
            Likelihood::StudentT(x) => once(x.values()),
            Likelihood::Truncated(x) => once(x.values()),
            Likelihood::Exponential(x) => once(x.values()),
            Likelihood::Gamma(x) => once(x.values()),
            Likelihood::LogNormal(x) => once(x.values()),
            Likelihood::Bernoulli(x) => {
                let values = x.values().iter().map(|&yes| f64::from(u8::from(yes)));
                once(&values.collect::<Vec<f64>>())
            }
            Likelihood::Binomial(x) => Some(Self {
                values: x.successes().to_vec(),
                amounts: x.trials().to_vec(),
            }),
            Likelihood::Poisson(x) => counts(x.lower(), x.upper(), x.exposure()),
            Likelihood::NegativeBinomial(x) => counts(x.lower(), x.upper(), x.exposure()),
            _ => None,
        }
    }

    /// The same for methods of counts: successes are no counts of events, whose rates have no upper
    /// limit.
    pub fn of_counts(table: &Observations) -> Option<Self> {
        match table.likelihood() {
            Likelihood::Bernoulli(_) | Likelihood::Binomial(_) => None,
            _ => Self::of(table),
        }
    }

    /// What a row reports per unit of its support and exposure: the response where it looked, if
    /// that were the same everywhere there. NaN without exposure or trials, which tell nothing.
    pub fn rate(&self, row: usize, supports: &Functionals) -> f64 {
        self.values[row] / (supports.size(row) * self.amounts[row])
    }
}
