//! The values behind rows, one by one.

use rayon::prelude::*;

use super::beliefs::Beliefs;
use super::law::Law;
use super::table::Behind;
use super::told::{Reported, told};
use crate::error::{FitError, InputError};

/// What is known of the value behind each of some rows: see [`Behind::values`].
#[derive(Debug, Clone, PartialEq)]
pub struct RowValues {
    laws: Vec<Law>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

impl Behind<'_> {
    /// The values behind rows, one by one, by their places in the table.
    ///
    /// # Arguments
    /// * `rows` - places from 0 on, in any order
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that does not exist, and those of
    /// [`Posterior::predict`](super::super::Posterior::predict).
    ///
    /// # Numerics
    /// Counts: their probabilities one by one, over at least 21 values of the function; beyond
    /// 2,048 counts in cells of some permille. What the fit made of the row is taken away from its
    /// belief, and the row's own likelihood put in its place: a normal belief of both together has
    /// not its tails. The belief of the fit stays as it is for counts of totals after a link, for
    /// noise or dispersion that is a function unless inference is expectation propagation, and
    /// where no belief without the row is found. Values between ends are normal ones between the
    /// ends, in closed form where a belief without the row is known.
    /// Cost: some microseconds to a millisecond for each row that is not known.
    pub fn values(&self, rows: &[usize]) -> Result<RowValues, FitError> {
        let hidden = self.hidden(rows)?;
        let found: Vec<Law> = match hidden.is_empty() {
            true => Vec::new(),
            false => {
                let beliefs = Beliefs::new(self, &hidden)?;
                let all = (0..hidden.len()).into_par_iter();
                all.map(|i| beliefs.law(i)).collect()
            }
        };
        let mut found = found.into_iter();
        let laws = rows.iter().map(|&row| match self.told(row) {
            Reported::Value(value) => Law::Value(value),
            _ => found.next().unwrap_or(Law::Value(f64::NAN)),
        });
        Ok(RowValues::new(laws.collect()))
    }

    /// What a row told.
    pub(super) fn told(&self, row: usize) -> Reported {
        told(self.posterior.tables[self.table].likelihood(), row)
    }

    /// # Errors
    /// [`InputError::Range`] for a row that does not exist.
    pub(super) fn check(&self, rows: &[usize]) -> Result<(), InputError> {
        let count = self.posterior.tables[self.table].likelihood().rows();
        match rows.iter().position(|row| *row >= count) {
            None => Ok(()),
            Some(position) => Err(InputError::Range {
                what: "the number of a row".into(),
                row: position,
                value: rows[position] as f64,
                requirement: "below the number of rows of the table",
            }),
        }
    }

    /// Those of some rows whose values are not known, in their order.
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that does not exist.
    pub fn hidden(&self, rows: &[usize]) -> Result<Vec<usize>, InputError> {
        self.check(rows)?;
        let is_hidden = |row: &usize| !matches!(self.told(*row), Reported::Value(_));
        Ok(rows.iter().copied().filter(is_hidden).collect())
    }
}

impl RowValues {
    pub(super) fn new(laws: Vec<Law>) -> Self {
        let (mean, sd) = laws.iter().map(Law::moments).unzip();
        Self { laws, mean, sd }
    }

    /// One of the rows.
    pub(super) fn one(&self, row: usize) -> Self {
        Self::new(vec![self.laws[row].clone()])
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.laws.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.laws.is_empty()
    }

    /// Means.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Standard deviations; 0 where the value was reported.
    #[must_use]
    pub fn sd(&self) -> &[f64] {
        &self.sd
    }

    /// The smallest value that a share `p` of each row lies at or below, `0 < p < 1`; NaN outside.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Vec<f64> {
        if !(p > 0.0 && p < 1.0) {
            return vec![f64::NAN; self.len()];
        }
        self.laws.par_iter().map(|law| law.quantile(p)).collect()
    }

    /// The probability that each row's value is at most `y`.
    #[must_use]
    pub fn cdf(&self, y: f64) -> Vec<f64> {
        self.laws.par_iter().map(|law| law.cdf(y)).collect()
    }

    /// The probability that each row's value is more than a limit.
    #[must_use]
    pub fn exceedance(&self, limit: f64) -> Vec<f64> {
        let above = |below: f64| (1.0 - below).clamp(0.0, 1.0);
        self.cdf(limit).into_iter().map(above).collect()
    }
}
