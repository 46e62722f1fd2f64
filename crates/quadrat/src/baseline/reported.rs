//! What rows report, as simple methods take it.

use crate::error::InputError;
use crate::likelihood::Outcomes;
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
        match table.likelihood().outcomes() {
            Outcomes::Values(values) => once(values),
            Outcomes::Answers(answers) => {
                let values = answers.iter().map(|&yes| f64::from(u8::from(yes)));
                once(&values.collect::<Vec<f64>>())
            }
            Outcomes::Successes { successes, trials } => Some(Self {
                values: successes.to_vec(),
                amounts: trials.to_vec(),
            }),
            Outcomes::Counts(x) => (x.lower == x.upper).then(|| Self {
                values: x.lower.to_vec(),
                amounts: x.exposure.to_vec(),
            }),
            Outcomes::Intervals(_) | Outcomes::Ranks(_) | Outcomes::Bounds => None,
        }
    }

    /// The same for methods of counts: successes are no counts of events, whose rates have no upper
    /// limit.
    pub fn of_counts(table: &Observations) -> Option<Self> {
        match table.likelihood().outcomes() {
            Outcomes::Answers(_) | Outcomes::Successes { .. } => None,
            Outcomes::Values(_)
            | Outcomes::Intervals(_)
            | Outcomes::Counts(_)
            | Outcomes::Ranks(_)
            | Outcomes::Bounds => Self::of(table),
        }
    }

    /// What a row reports per unit of its support and exposure: the response where it looked, if
    /// that were the same everywhere there. NaN without exposure or trials, which tell nothing.
    pub fn rate(&self, row: usize, supports: &Functionals) -> f64 {
        self.values[row] / (supports.size(row) * self.amounts[row])
    }
}
