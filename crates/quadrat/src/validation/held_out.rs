//! What held-out rows reported.

use crate::likelihood::{Interval, Outcomes};
use crate::model::Observations;

/// What a row reported of the value that is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeldOut {
    /// The value itself: a number, a count, a rank, or an answer as 0 or 1.
    Value(f64),
    /// That a value lies between two ends, which may be infinite: `lower < y <= upper`.
    Between(f64, f64),
    /// That a count is one of `lower, .., upper`.
    Counts(f64, f64),
}

impl HeldOut {
    /// The value, where it was reported.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Value(y) => Some(y),
            Self::Between(..) | Self::Counts(..) => None,
        }
    }
}

/// What every row of a table reported. `None` for rows that only bound the function (`positive`).
#[must_use]
pub fn held_out(table: &Observations) -> Option<Vec<HeldOut>> {
    let values = |values: &[f64]| Some(values.iter().map(|y| HeldOut::Value(*y)).collect());
    let between = |x: &Interval| {
        let ends = x.lower().iter().zip(x.upper());
        let one = |(&lower, &upper): (&f64, &f64)| match lower == upper {
            true => HeldOut::Value(lower),
            false => HeldOut::Between(lower, upper),
        };
        Some(ends.map(one).collect())
    };
    let counts = |lower: &[f64], upper: &[f64]| {
        let one = |(&lower, &upper): (&f64, &f64)| match lower == upper {
            true => HeldOut::Value(lower),
            false => HeldOut::Counts(lower, upper),
        };
        Some(lower.iter().zip(upper).map(one).collect())
    };
    match table.likelihood().outcomes() {
        Outcomes::Values(x) => values(x),
        Outcomes::Successes { successes, .. } => values(successes),
        Outcomes::Counts(x) => counts(x.lower, x.upper),
        Outcomes::Intervals(x) => between(x),
        Outcomes::Answers(answers) => {
            let answers = answers.iter().map(|&yes| f64::from(u8::from(yes)));
            Some(answers.map(HeldOut::Value).collect())
        }
        Outcomes::Ranks(x) => {
            let ranks = x.ranks().iter().map(|&rank| rank as f64);
            Some(ranks.map(HeldOut::Value).collect())
        }
        Outcomes::Bounds => None,
    }
}
