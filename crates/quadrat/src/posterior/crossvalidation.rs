//! Rows predicted from the others, in closed form, hyperparameters reweighted.
//!
//! Leaving out rows `S` changes the weight of a node to `w_k / p(y_S | y_-S, theta_k)`, up to a
//! constant: the posterior of the hyperparameters without those rows, on the nodes of the full
//! one (Gelfand, Dey and Chang 1992). A row that alone moves the hyperparameters far is judged a
//! little too kindly: the nodes lie around the posterior that has seen it.

use rayon::prelude::*;

use super::mixture::Posterior;
use super::normal_mixture::{Mixture, Work, log_normal_density};
use super::prediction::Prediction;
use super::summary::LeaveOneOut;
use crate::error::{FitError, InputError};
use crate::inference::{Conditioned, crossvalidate};
use crate::problem::assembly::Problem;
use crate::special::scalar::log_sum_exp;

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
    /// Empty, which is no error, unless inference is exact: [`Self::leave_out`] says why.
    ///
    /// With integrated hyperparameters the weights of the nodes are those without the row,
    /// `w_k / p(y_i | y_-i, theta_k)` up to a constant.
    ///
    /// # Source
    /// Rasmussen and Williams 2006, eq. 5.12; Gelfand, Dey and Chang 1992 for the weights.
    #[must_use]
    pub fn leave_one_out(&self) -> &[LeaveOneOut] {
        self.loo.get_or_init(|| self.leave_every_row_out())
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
        let problem = &self.problem;
        let Some(rows) = problem.engine().normal() else {
            return Err(InputError::Unavailable {
                what: "leaving rows out in closed form",
                remedy: "it needs exact inference; fit again without the rows",
            }
            .into());
        };
        let place = places(problem);
        let in_order = folds
            .iter()
            .map(|rows| {
                let found = rows.iter().enumerate().map(|(position, &row)| {
                    place.get(row).copied().ok_or_else(|| InputError::Range {
                        what: "the row number in a fold".into(),
                        row: position,
                        value: row as f64,
                        requirement: "below the number of rows",
                    })
                });
                found.collect::<Result<Vec<usize>, _>>()
            })
            .collect::<Result<Vec<Vec<usize>>, _>>()?;
        let per_node = self.at_every_node(|conditioned| {
            crossvalidate::leave_out(&rows.residual, conditioned, &in_order)
        })?;
        let fold = |f: usize| {
            let own = per_node.iter().map(|(weight, folds)| (weight, &folds[f]));
            let logs: Vec<f64> = own.clone().map(|(w, o)| w.ln() - o.log_density).collect();
            let total = log_sum_exp(&logs);
            let moments: Vec<(Vec<f64>, Vec<f64>)> = own
                .map(|(_, left_out)| {
                    let prior_mean = |at: &usize| rows.values[*at] - rows.residual[*at];
                    let means = left_out.mean.iter().zip(&in_order[f]);
                    let variances = (0..in_order[f].len()).map(|i| left_out.covariance[(i, i)]);
                    (
                        means.map(|(m, at)| m + prior_mean(at)).collect(),
                        variances.collect(),
                    )
                })
                .collect();
            let weights = logs.iter().map(|l| (l - total).exp()).collect();
            LeftOutFold {
                rows: folds[f].clone(),
                prediction: Prediction::from_moments(weights, &moments),
                log_density: -total,
            }
        };
        Ok((0..folds.len()).map(fold).collect())
    }

    /// Something of the conditioned rows at every node, with the node's weight. The light nodes,
    /// which keep no factor, are conditioned again: an influential row makes them heavy.
    fn at_every_node<T: Send>(
        &self,
        f: impl Fn(&Conditioned) -> Result<T, FitError> + Sync,
    ) -> Result<Vec<(f64, T)>, FitError> {
        self.nodes
            .par_iter()
            .enumerate()
            .map(|(k, node)| {
                let own = match self.components.get(k) {
                    Some(component) => f(&component.conditioned),
                    None => f(&self.problem.condition(&node.theta)?),
                };
                Ok((node.weight, own?))
            })
            .collect()
    }

    fn leave_every_row_out(&self) -> Vec<LeaveOneOut> {
        let problem = &self.problem;
        let Some(rows) = problem.engine().normal() else {
            return Vec::new();
        };
        let residual = rows.residual.as_slice();
        let once = |conditioned: &Conditioned| {
            let (mut means, mut variances) = crossvalidate::leave_one_out(residual, conditioned);
            for (row, &n) in rows.times.iter().enumerate().filter(|(_, n)| **n > 1.0) {
                let moments = (means[row], variances[row]);
                let noise = conditioned.noise[row];
                (means[row], variances[row]) = but_once(moments, (residual[row], noise), n);
            }
            Ok((means, variances))
        };
        let moments = self
            .at_every_node(once)
            // Every node was conditioned before, when it was weighed.
            .unwrap_or_default();
        let one = |work: &mut Work, place: usize| {
            let y = residual[place];
            let means: Vec<f64> = moments.iter().map(|m| m.1.0[place]).collect();
            let sds: Vec<f64> = moments.iter().map(|m| m.1.1[place].sqrt()).collect();
            let logs: Vec<f64> = moments
                .iter()
                .zip(means.iter().zip(&sds))
                .map(|((weight, _), (m, s))| weight.ln() - log_normal_density(y, *m, s * s))
                .collect();
            let total = log_sum_exp(&logs);
            let weights: Vec<f64> = logs.iter().map(|l| (l - total).exp()).collect();
            let mixture = Mixture {
                weights: &weights,
                means: means.into(),
                sds: sds.into(),
            };
            let (mean, sd) = mixture.moments();
            let prior_mean = rows.values[place] - y;
            LeaveOneOut {
                value: rows.values[place],
                mean: mean + prior_mean,
                sd,
                lower: mixture.quantile(0.025, work) + prior_mean,
                upper: mixture.quantile(0.975, work) + prior_mean,
                log_density: -total,
                pit: mixture.cdf(y, work),
            }
        };
        let places = places(problem).into_par_iter();
        places.map_init(Work::default, one).collect()
    }
}

/// A value that was seen `n` times, predicted from the other rows and from the other times it was
/// seen.
///
/// # Arguments
/// * `moments` - mean and variance of all `n` together, from the other rows: of a value with an
///   `n`th of the noise
/// * `value`, `noise` - what was seen, and that `n`th
fn but_once(moments: (f64, f64), (value, noise): (f64, f64), n: f64) -> (f64, f64) {
    let (mean, variance) = moments;
    let each = n * noise;
    let latent = (variance - noise).max(f64::MIN_POSITIVE);
    let precision = latent.recip() + (n - 1.0) / each;
    let seen = (mean / latent + (n - 1.0) * value / each) / precision;
    (seen, precision.recip() + each)
}

/// The place of every row of the user in working order.
fn places(problem: &Problem) -> Vec<usize> {
    let mut place = vec![0; problem.rows()];
    for (at, &row) in problem.order.iter().enumerate() {
        place[row] = at;
    }
    place
}
