//! The values behind rows, one by one.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::beliefs::Beliefs;
use super::draws::EDGE;
use super::table::Behind;
use super::told::{ReportedValue, told};
use super::value_distribution::ValueDistribution;
use crate::error::{FitError, InputError};

/// What is known of the value behind each of some rows: see [`Behind::values`].
#[derive(Debug, Clone, PartialEq)]
pub struct RowValues {
    laws: Vec<ValueDistribution>,
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
    /// [`Posterior::predict`](crate::model::Posterior::predict).
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
        let found: Vec<ValueDistribution> = match hidden.is_empty() {
            true => Vec::new(),
            false => {
                let beliefs = Beliefs::new(self, &hidden)?;
                let all = (0..hidden.len()).into_par_iter();
                all.map(|i| beliefs.law(i)).collect()
            }
        };
        let mut found = found.into_iter();
        let laws = rows.iter().map(|&row| match self.told(row) {
            ReportedValue::Value(value) => ValueDistribution::Value(value),
            _ => found.next().unwrap_or(ValueDistribution::Value(f64::NAN)),
        });
        Ok(RowValues::new(laws.collect()))
    }

    /// Number of rows of the table.
    pub(super) fn rows(&self) -> usize {
        self.posterior.tables[self.table].likelihood().rows()
    }

    /// What a row told.
    pub(super) fn told(&self, row: usize) -> ReportedValue {
        told(self.posterior.tables[self.table].likelihood(), row)
    }

    /// # Errors
    /// [`InputError::Range`] for a row that does not exist.
    pub(super) fn check(&self, rows: &[usize]) -> Result<(), InputError> {
        let count = self.rows();
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
        let is_hidden = |row: &usize| !matches!(self.told(*row), ReportedValue::Value(_));
        Ok(rows.iter().copied().filter(is_hidden).collect())
    }
}

impl RowValues {
    pub(super) fn new(laws: Vec<ValueDistribution>) -> Self {
        let (mean, sd) = laws.iter().map(ValueDistribution::moments).unzip();
        Self { laws, mean, sd }
    }

    /// One of the rows.
    pub(super) fn one(&self, row: usize) -> Self {
        Self::new(vec![self.laws[row].clone()])
    }

    /// Draws of the first row by itself, reproducible for a seed and its place in the table.
    pub(super) fn draws(&self, count: usize, seed: u64, place: usize) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1 + place as u64);
        let level = |_| random.random::<f64>().clamp(EDGE, 1.0 - EDGE);
        let levels: Vec<f64> = (0..count).map(level).collect();
        levels
            .into_iter()
            .map(|p| self.laws[0].quantile(p))
            .collect()
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

    /// The probability that each row's value is more than a limit of its own, shape `[rows]`; none
    /// where limits have another number.
    #[must_use]
    pub fn exceedance_of_each(&self, limits: &[f64]) -> Option<Vec<f64>> {
        if limits.len() != self.len() {
            return None;
        }
        let each = self.laws.par_iter().zip(limits);
        let above = each.map(|(law, limit)| (1.0 - law.cdf(*limit)).clamp(0.0, 1.0));
        Some(above.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::behind::cells::CountDistribution;

    /// Limits of each row have the probabilities of limits of all.
    #[test]
    fn limits_of_each_are_limits_of_all() {
        let law = |mean| CountDistribution {
            weight: 1.0,
            mean,
            dispersion: 0.0,
        };
        let rows = [1.0, 3.0].map(|mean| ValueDistribution::counts(0.0, 4.0, &[law(mean)]));
        let values = RowValues::new(rows.to_vec());
        let each = values.exceedance_of_each(&[0.0, 2.0]);
        let expected = vec![values.exceedance(0.0)[0], values.exceedance(2.0)[1]];
        assert_eq!(each, Some(expected));
        assert_eq!(values.exceedance_of_each(&[0.0]), None);
    }

    /// Draws of a row by itself have its distribution, and are the same for the same seed and row.
    #[test]
    fn draws_of_a_row_have_its_law() {
        let law = CountDistribution {
            weight: 1.0,
            mean: 3.0,
            dispersion: 0.0,
        };
        let values = RowValues::new(vec![ValueDistribution::counts(0.0, 4.0, &[law])]);
        let drawn = values.draws(10_000, 5, 2);
        for y in 0..5 {
            let y = f64::from(y);
            let below = drawn.iter().filter(|d| **d <= y).count() as f64 / 1e4;
            // Three standard errors of a share of 10,000.
            assert!((below - values.cdf(y)[0]).abs() < 0.015, "{y} {below}");
        }
        assert_eq!(values.draws(10, 5, 2), drawn[..10]);
        assert_ne!(values.draws(10_000, 5, 3), drawn);
    }
}
