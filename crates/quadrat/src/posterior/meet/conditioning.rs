//! Normal rows given the sums of groups of them.

use super::given::{GroupTotals, TotalGroup, digits};
use crate::error::FitError;
use crate::linalg::{Cholesky, Mat, dot};

/// Rows and their sums at one value of the hyperparameters, before the totals.
pub(super) struct RowsAndSums {
    pub weight: f64,
    pub mean: Vec<f64>,
    /// Not negative, shape `[m]`.
    pub variance: Vec<f64>,
    /// Under the prior, shape `[m]`.
    pub prior: Vec<f64>,
    /// Covariance of rows and sums, `V A'`, shape `[m, groups]`.
    pub cross: Mat<f64>,
    /// Of sums, with the variances of the totals: `A V A' + R`.
    pub of_sums: Mat<f64>,
    /// What rounding leaves of a variance, as a share of that under the prior.
    pub rounding: f64,
}

impl RowsAndSums {
    /// # Arguments
    /// * `mean`, `covariance` - of the rows, `m` and `V`
    /// * `variance` - of the rows, where it is known better than the diagonal of `V`
    /// * `prior` - of the rows before any was observed
    pub fn new(
        (weight, rounding): (f64, f64),
        (mean, covariance): (Vec<f64>, &Mat<f64>),
        (variance, prior): (Vec<f64>, Vec<f64>),
        totals: &GroupTotals,
    ) -> Self {
        let (m, groups) = (mean.len(), &totals.groups);
        let cross = Mat::from_fn(m, groups.len(), |i, g| {
            groups[g].sum(covariance.col_as_slice(i))
        });
        let of_sums = Mat::from_fn(groups.len(), groups.len(), |g, h| {
            let own = match g == h {
                true => groups[g].variance,
                false => 0.0,
            };
            // Symmetric to the last digit.
            let (a, b) = (g.max(h), g.min(h));
            groups[a].sum(cross.col_as_slice(b)) + own
        });
        Self {
            weight,
            mean,
            variance,
            prior,
            cross,
            of_sums,
            rounding,
        }
    }

    /// The sd that a sum can have under the prior at most.
    pub fn scale(&self, group: &TotalGroup) -> f64 {
        let each = group
            .rows
            .iter()
            .map(|(row, w)| w * self.prior[*row].sqrt());
        each.sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Conditions on the totals of some groups.
    ///
    /// # Arguments
    /// * `kept` - groups whose totals are new
    pub fn given(
        &self,
        totals: &GroupTotals,
        kept: &[usize],
    ) -> Result<ConditionedTotals, FitError> {
        let size = kept.len();
        let mut matrix = Mat::from_fn(size, size, |i, j| self.of_sums[(kept[i], kept[j])]);
        let mut misfit: Vec<f64> = kept
            .iter()
            .map(|&g| self.misfit(&totals.groups[g]))
            .collect();
        if size == 0 {
            return Ok(ConditionedTotals {
                half: Mat::zeros(0, self.mean.len()),
                factor: None,
                misfit,
                log_density: 0.0,
            });
        }
        let factor = match Cholesky::factor(matrix.as_ref()) {
            Ok(factor) => factor,
            // Sums that differ at other hyperparameters may be one to rounding at these.
            Err(_) => {
                for (i, &g) in kept.iter().enumerate() {
                    matrix[(i, i)] += self.rounding * self.scale(&totals.groups[g]).powi(2);
                }
                Cholesky::factor_owned(matrix)?
            }
        };
        let mut half = Mat::from_fn(size, self.mean.len(), |i, row| self.cross[(row, kept[i])]);
        factor.half_solve_in_place(half.as_mut());
        misfit = factor.half_solve(&misfit);
        let constant = size as f64 * std::f64::consts::TAU.ln();
        let log_density = -0.5 * (dot(&misfit, &misfit) + factor.log_det() + constant);
        Ok(ConditionedTotals {
            half,
            factor: Some(factor),
            misfit,
            log_density,
        })
    }

    /// By how much the mean of a sum misses its total.
    pub fn misfit(&self, group: &TotalGroup) -> f64 {
        group.total - group.sum(&self.mean)
    }

    /// Refuses totals that differ from what rows and the other totals determine.
    pub fn agrees(
        &self,
        totals: &GroupTotals,
        (given, kept): (&ConditionedTotals, &[usize]),
        determined: &[usize],
    ) -> Result<(), FitError> {
        for &at in determined {
            let group = &totals.groups[at];
            let mut others: Vec<f64> = kept.iter().map(|&g| self.of_sums[(g, at)]).collect();
            if let Some(factor) = &given.factor {
                others = factor.half_solve(&others);
            }
            let left = self.misfit(group) - dot(&others, &given.misfit);
            let most = 2.0 * self.rounding.sqrt() * self.scale(group)
                + EXACT * group.total.abs()
                + FAR * group.variance.sqrt();
            if left.abs() > most {
                let says = digits(group.total - left);
                let who = match dot(&others, &others) > self.rounding * self.scale(group).powi(2) {
                    true => "rows that are known exactly and the other totals determine it",
                    false => "rows that are known exactly determine it",
                };
                return Err(group.refused(format!("{who}: {says}")));
            }
        }
        Ok(())
    }

    /// Shares out what rounding leaves between a sum and its total, among rows that are open.
    pub fn meet(&self, totals: &GroupTotals, values: &mut [f64]) {
        for group in totals.groups.iter().filter(|group| group.variance == 0.0) {
            let weigh = |of: &[f64]| -> f64 {
                let each = group.rows.iter().map(|(row, w)| w * w * of[*row]);
                each.sum()
            };
            let open = match weigh(&self.variance) > 0.0 {
                true => &self.variance,
                false => &self.prior,
            };
            let whole = weigh(open);
            // The second time what the first left by its own rounding.
            for _ in 0..2 {
                let left = group.total - group.sum(values);
                if whole > 0.0 {
                    for (row, w) in &group.rows {
                        values[*row] += w * open[*row] / whole * left;
                    }
                }
            }
        }
    }
}

/// Totals agree with what is determined to this share of them besides rounding.
const EXACT: f64 = 1e-9;
/// Sds of its error that a total may be from what is determined.
const FAR: f64 = 6.0;

/// What totals add at one value of the hyperparameters.
pub(super) struct ConditionedTotals {
    /// `L^-1 A V` with `L L' = A V A' + R`, shape `[groups kept, m]`.
    half: Mat<f64>,
    factor: Option<Cholesky>,
    /// `L^-1 (t - A m)`.
    misfit: Vec<f64>,
    /// Of the totals, in nats.
    pub log_density: f64,
}

impl ConditionedTotals {
    /// Means and variances of rows given the totals.
    pub fn moments(&self, joint: &RowsAndSums, totals: &GroupTotals) -> (Vec<f64>, Vec<f64>) {
        let mut mean = joint.mean.clone();
        let mut variance = joint.variance.clone();
        for row in 0..mean.len() {
            let half = self.half.col_as_slice(row);
            mean[row] += dot(half, &self.misfit);
            let left = variance[row] - dot(half, half);
            // Below that nothing is left but rounding.
            variance[row] = match left > joint.rounding * joint.prior[row] {
                true => left,
                false => 0.0_f64.max(left),
            };
        }
        // A total of one row is the row.
        for group in &totals.groups {
            let mut rows = group.rows.iter().filter(|(_, w)| *w > 0.0);
            if let (Some((row, _)), None, true) = (rows.next(), rows.next(), group.variance == 0.0)
            {
                variance[*row] = 0.0;
            }
        }
        joint.meet(totals, &mut mean);
        (mean, variance)
    }

    /// Takes a draw of the rows to one that meets the totals with these errors.
    pub fn carry(
        &self,
        joint: &RowsAndSums,
        (totals, kept): (&GroupTotals, &[usize]),
        errors: &[f64],
        values: &mut [f64],
    ) {
        let Some(factor) = &self.factor else {
            joint.meet(totals, values);
            return;
        };
        let misfit = kept.iter().zip(errors).map(|(&g, error)| {
            let group = &totals.groups[g];
            group.total + error - group.sum(values)
        });
        let misfit = factor.half_solve(&misfit.collect::<Vec<f64>>());
        for (row, value) in values.iter_mut().enumerate() {
            *value += dot(self.half.col_as_slice(row), &misfit);
        }
        joint.meet(totals, values);
    }
}
