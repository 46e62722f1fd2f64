//! Rows predicted from the others, in closed form, hyperparameters reweighted.
//!
//! Leaving out rows `S` changes the weight of a node to `w_k / p(y_S | y_-S, theta_k)`, up to a
//! constant: the posterior of the hyperparameters without those rows, on the nodes of the full
//! one (Gelfand, Dey and Chang 1992).

use rayon::prelude::*;

use super::posterior::{Component, Posterior};
use super::prediction::{Mixture, Prediction, Work, log_normal_density, log_sum_exp};
use super::problem::Problem;
use super::summary::LeaveOneOut;
use crate::error::{FitError, InputError};
use crate::inference::{LinearGaussian, crossvalidate};

/// The prediction of a fold from all rows outside it.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOutFold {
    /// The rows of the fold, as given.
    pub rows: Vec<usize>,
    /// Marginal predictions of their observations, noise included.
    pub prediction: Prediction,
    /// Joint log predictive density of the observed values, nats.
    pub log_density: f64,
}

impl Posterior {
    /// Every row predicted from all others, in the order of the tables.
    ///
    /// With integrated hyperparameters the weights of the nodes are those without the row,
    /// `w_k / p(y_i | y_-i, theta_k)` up to a constant.
    ///
    /// # Source
    /// Rasmussen and Williams 2006, eq. 5.12; Gelfand, Dey and Chang 1992 for the weights.
    #[must_use]
    pub fn leave_one_out(&self) -> &[LeaveOneOut] {
        self.loo
            .get_or_init(|| leave_one_out(&self.problem, &self.components))
    }

    /// Predicts every fold of rows from all rows outside it, noise included.
    ///
    /// # Arguments
    /// * `folds` - row numbers in the order of the tables, counted from 0; rows may be in no fold
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that does not exist or stands twice in its fold;
    /// [`FitError::Linalg`] when the rows of a fold determine each other without noise.
    ///
    /// # Source
    /// Rasmussen and Williams 2006, section 5.4.2, by blocks.
    pub fn leave_out(&self, folds: &[Vec<usize>]) -> Result<Vec<LeftOutFold>, FitError> {
        folds
            .par_iter()
            .map(|rows| self.leave_fold_out(rows))
            .collect()
    }

    fn leave_fold_out(&self, rows: &[usize]) -> Result<LeftOutFold, FitError> {
        let mut place = vec![0; self.problem.rows()];
        for (at, &row) in self.problem.order.iter().enumerate() {
            place[row] = at;
        }
        let places = rows
            .iter()
            .enumerate()
            .map(|(position, &row)| {
                place.get(row).copied().ok_or_else(|| InputError::Range {
                    what: "the row number in a fold".into(),
                    row: position,
                    value: row as f64,
                    requirement: "below the number of rows",
                })
            })
            .collect::<Result<Vec<usize>, _>>()?;
        let residual = self.problem.residual();
        let fold = [places.clone()];
        let mut logs = Vec::with_capacity(self.components.len());
        let mut moments = Vec::with_capacity(self.components.len());
        for component in &self.components {
            let left_out = crossvalidate::leave_out(residual, &component.conditioned, &fold)?;
            for own in left_out {
                logs.push(component.weight.ln() - own.log_density);
                let prior_mean = |at: usize| self.problem.values()[at] - residual[at];
                let means = own
                    .mean
                    .iter()
                    .zip(&places)
                    .map(|(m, &at)| m + prior_mean(at));
                let variances = (0..rows.len()).map(|i| own.covariance[(i, i)]);
                moments.push((means.collect::<Vec<f64>>(), variances.collect::<Vec<f64>>()));
            }
        }
        let total = log_sum_exp(&logs);
        let weights = logs.iter().map(|l| (l - total).exp()).collect();
        Ok(LeftOutFold {
            rows: rows.to_vec(),
            prediction: Prediction::from_moments(weights, &moments),
            log_density: -total,
        })
    }
}

/// See [`Posterior::leave_one_out`].
fn leave_one_out(problem: &Problem, components: &[Component]) -> Vec<LeaveOneOut> {
    let moments: Vec<(Vec<f64>, Vec<f64>)> = components
        .par_iter()
        .map(|c| crossvalidate::leave_one_out(problem.residual(), &c.conditioned))
        .collect();
    let mut place = vec![0; problem.rows()];
    for (at, &row) in problem.order.iter().enumerate() {
        place[row] = at;
    }
    let one = |work: &mut Work, place: usize| {
        let y = problem.residual()[place];
        let means: Vec<f64> = moments.iter().map(|m| m.0[place]).collect();
        let variances: Vec<f64> = moments.iter().map(|m| m.1[place]).collect();
        let logs: Vec<f64> = components
            .iter()
            .zip(means.iter().zip(&variances))
            .map(|(c, (m, v))| c.weight.ln() - log_normal_density(y, *m, *v))
            .collect();
        let total = log_sum_exp(&logs);
        let weights: Vec<f64> = logs.iter().map(|l| (l - total).exp()).collect();
        let mean: f64 = weights.iter().zip(&means).map(|(w, m)| w * m).sum();
        let variance: f64 = weights
            .iter()
            .zip(means.iter().zip(&variances))
            .map(|(w, (m, v))| w * (v + (m - mean).powi(2)))
            .sum();
        let sds: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
        let mixture = Mixture {
            weights: &weights,
            means: &means,
            sds: &sds,
        };
        let value = problem.values()[place];
        let prior_mean = value - y;
        LeaveOneOut {
            value,
            mean: mean + prior_mean,
            sd: variance.sqrt(),
            lower: mixture.quantile(0.025, work) + prior_mean,
            upper: mixture.quantile(0.975, work) + prior_mean,
            log_density: -total,
            pit: mixture.cdf(y, work),
        }
    };
    place.into_par_iter().map_init(Work::default, one).collect()
}
