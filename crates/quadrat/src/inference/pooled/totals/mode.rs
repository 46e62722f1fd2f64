//! The mode of nodes whose sums are known.

use super::prior::NodePrior;
use crate::error::LinalgError;
use crate::inference::pooled::pools::{Averages, Pools, Slopes};
use crate::linalg::{Cholesky, Mat, dot};

/// Steps at most; 3 to 15 are usual, some 50 where totals fall steeply.
const STEPS: usize = 200;
/// No node moves farther than this in one step: beyond, sums are far from linear.
const LONGEST: f64 = 2.0;
/// After so many steps they are shortened by this factor, so that a search that alternates ends.
const PATIENCE: (usize, f64) = (30, 0.6);
/// Steps end when no node moves by more than this. What is left of the evidence is of second order,
/// and weights of draws are exact whatever place they are linearised at and proposed by.
const SETTLED: f64 = 1e-3;

/// Nodes at their mode given their sums, and what draws need of it.
#[derive(Debug, Clone)]
pub(crate) struct ConditionalMode {
    /// `f`.
    pub values: Vec<f64>,
    /// `log N(J (f - m); 0, S)` in nats, the constants of a normal density included.
    pub log_evidence: f64,
    /// `J` there.
    pub(super) slopes: Slopes,
    /// `K J'`, shape `[nodes, rows]`.
    pub(super) columns: Mat<f64>,
    /// Of `S`.
    pub(super) seen: Cholesky,
}

impl ConditionalMode {
    /// # Arguments
    /// * `pools` - rows behind `exp`, of which none follows from the others
    /// * `targets` - `t`, length `rows`
    /// * `start` - where the search begins, length `nodes`
    ///
    /// # Returns
    /// None where the search did not end.
    ///
    /// # Errors
    /// As [`Cholesky::factor`], of `S`.
    ///
    /// # Numerics
    /// A step costs `O(nodes^2 + nodes rows + rows^3)`; nothing needs the inverse of `K`.
    pub fn find(
        pools: &Pools,
        targets: &[f64],
        prior: &NodePrior,
        start: &[f64],
    ) -> Result<Option<Self>, LinalgError> {
        let mut values = start.to_vec();
        let mut damping = 1.0;
        let mut seen_here = Averages::default();
        for step in 0..STEPS {
            pools.average(&values, &mut seen_here);
            let slopes = Slopes(seen_here.slopes.clone());
            let columns = slopes.columns(pools, prior.covariance.as_ref());
            let seen = Cholesky::factor_owned(slopes.rows(pools, columns.as_ref()))?;
            let away: Vec<f64> = values.iter().zip(&prior.mean).map(|(f, m)| f - m).collect();
            let mut right = slopes.gather(pools, &away);
            for ((x, z), t) in right.iter_mut().zip(&seen_here.z).zip(targets) {
                *x += t - z;
            }
            let dual = seen.solve(&right);
            let mut next = prior.mean.clone();
            for (row, a) in dual.iter().enumerate() {
                let along = columns.col_as_slice(row);
                next.iter_mut().zip(along).for_each(|(f, k)| *f += a * k);
            }
            let moves = next.iter().zip(&values).map(|(new, old)| new - old);
            let most = moves.fold(0.0, |most: f64, d| most.max(d.abs()));
            if !most.is_finite() {
                return Ok(None);
            }
            if most <= SETTLED {
                let constants = right.len() as f64 * std::f64::consts::TAU.ln() + seen.log_det();
                return Ok(Some(Self {
                    values,
                    log_evidence: -0.5 * (dot(&right, &dual) + constants),
                    slopes,
                    columns,
                    seen,
                }));
            }
            if step >= PATIENCE.0 {
                damping *= PATIENCE.1;
            }
            let part = (LONGEST / most).min(1.0).min(damping.max(0.05));
            for (old, new) in values.iter_mut().zip(&next) {
                *old += part * (new - *old);
            }
        }
        Ok(None)
    }
}
