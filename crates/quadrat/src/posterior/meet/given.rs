//! Groups of predicted rows, and the totals that they are to meet.

use crate::error::{FitError, InputError};

/// Totals of groups of predicted rows: see
/// [`Posterior::meet`](crate::model::Posterior::meet).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupTotals {
    pub(super) groups: Vec<TotalGroup>,
}

/// One group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TotalGroup {
    pub name: String,
    /// Rows, and how often each counts.
    pub rows: Vec<(usize, f64)>,
    pub total: f64,
    /// Of the error of the total; 0 where it is exact.
    pub variance: f64,
}

impl TotalGroup {
    /// The weighted sum of the rows.
    pub fn sum(&self, values: &[f64]) -> f64 {
        self.rows.iter().map(|(row, w)| w * values[*row]).sum()
    }

    /// Why the total cannot be met.
    pub fn refused(&self, reason: impl Into<String>) -> FitError {
        FitError::Total {
            group: self.name.clone(),
            total: self.total,
            reason: reason.into(),
        }
    }
}

impl GroupTotals {
    /// No group yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a group whose rows meet `sum_i w_i z_i = total`.
    ///
    /// # Arguments
    /// * `name` - by which errors speak of it
    /// * `rows` - rows of the prediction with their weights, in the unit of the total over that of
    ///   the rows: 1 for amounts, a population for rates
    /// * `total` - what they add up to
    /// * `variance` - of the error of the total, in its unit squared; 0 for a total that is met
    ///   exactly
    ///
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::Range`] for numbers that cannot be, and for a group
    /// without a row of some weight.
    pub fn add(
        mut self,
        name: impl Into<String>,
        rows: Vec<(usize, f64)>,
        (total, variance): (f64, f64),
    ) -> Result<Self, InputError> {
        let number = self.groups.len();
        let name = name.into();
        for (what, value) in [("total", total), ("variance of the total", variance)] {
            if !value.is_finite() {
                return Err(InputError::NotFinite {
                    what: format!("the {what} of `{name}`"),
                    row: number,
                    value,
                });
            }
        }
        let range = |what: String, row, value, requirement| InputError::Range {
            what,
            row,
            value,
            requirement,
        };
        if variance < 0.0 {
            let what = format!("the variance of the total of `{name}`");
            return Err(range(what, number, variance, "zero or more"));
        }
        let is_weight = |w: f64| w >= 0.0 && w.is_finite();
        if let Some((row, w)) = rows.iter().find(|(_, w)| !is_weight(*w)) {
            let what = format!("the weight in `{name}`");
            return Err(range(what, *row, *w, "finite, and zero or more"));
        }
        if rows.iter().all(|(_, w)| *w == 0.0) {
            let what = format!("the sum of weights of `{name}`");
            return Err(range(
                what,
                number,
                0.0,
                "above zero: no row can meet a total",
            ));
        }
        self.groups.push(TotalGroup {
            name,
            rows,
            total,
            variance,
        });
        Ok(self)
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Refuses rows that are not among those predicted, and rows of two groups.
    pub(super) fn suit(&self, rows: usize) -> Result<(), InputError> {
        let mut seen = vec![false; rows];
        for group in &self.groups {
            for (row, _) in &group.rows {
                let requirement = match seen.get_mut(*row) {
                    None => "a row of the prediction",
                    Some(true) => "in one group only, and once",
                    Some(other) => {
                        *other = true;
                        continue;
                    }
                };
                return Err(InputError::Range {
                    what: format!("a row of `{}`", group.name),
                    row: *row,
                    value: *row as f64,
                    requirement,
                });
            }
        }
        Ok(())
    }
}

/// A number to ten digits.
pub(super) fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 | 1e-5..1e15 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}
