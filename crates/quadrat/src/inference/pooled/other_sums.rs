//! Variances of predicted sums, given pooled rows.

use super::pools::Pools;
use super::second_order::{SecondOrder, SecondOrderPart, excess};
use super::total::Total;
use crate::inference::Factor;
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, MatRef, dot, gemm, matvec};
use crate::link::{Link, QuasiMean};

/// What rows say about a sum that is predicted beyond what they say about the function: their
/// second-order parts are correlated with that of the sum (see [`SecondOrder`]).
///
/// The latent value of a sum is `z + j'(f - m) + e`, and `y` is what the rows report of theirs,
/// with `R = (C + Q + T^-1)^-1`:
///
/// $$ \operatorname{Var}(z \mid y) = v - 2 c' R\, q - q' R\, q, \qquad c = J K j, \quad q_r =
/// \operatorname{Cov}(e_r, e) $$
///
/// with `v` the variance that the moments of the sum match under the posterior of the function. So
/// a sum that was observed is known at least as well as its row says. For one that was not observed
/// the result may be a little above `v`.
pub(crate) struct OtherSums<'a> {
    pools: &'a Pools,
    second_order: &'a SecondOrder,
    factor: &'a Cholesky,
    scale: &'a [f64],
    /// `L^-1 D J K`, shape `[rows, nodes]`.
    reduced: Mat<f64>,
}

/// The nodes of a sum that is predicted.
pub(crate) struct SumNodes<'a> {
    pub link: Link,
    pub weights: &'a [f64],
    pub mean: &'a [f64],
    /// Covariance of the rows' nodes with those of the sum.
    pub cross: MatRef<'a, f64>,
    /// Those of the sum, as [`Factor::whiten`] makes them, shape `[rows, n]`.
    pub reduced: MatRef<'a, f64>,
}

impl<'a> OtherSums<'a> {
    /// None where no row has a second-order part.
    ///
    /// # Arguments
    /// * `covariance` - the prior's, of the rows' nodes; asked for at most once
    pub fn new(factor: &'a Factor, covariance: impl FnOnce() -> Mat<f64>) -> Option<Self> {
        let Factor::Pooled {
            pools,
            factor: inner,
            scale,
            second_order,
            ..
        } = factor
        else {
            return None;
        };
        (!second_order.is_none()).then(|| Self {
            pools,
            second_order,
            factor: inner,
            scale,
            reduced: factor.whiten(covariance()),
        })
    }

    /// The posterior covariance of the rows' nodes with other places, from the prior's and what
    /// [`Factor::whiten`] makes of it.
    pub fn cross(&self, prior: &Mat<f64>, whitened: &Mat<f64>) -> Mat<f64> {
        prior - gemm(self.reduced.transpose(), whitened.as_ref())
    }

    /// The belief about the latent value of a sum, from that of its moments.
    pub fn belief(
        &self,
        total: &Total,
        sum: &SumNodes<'_>,
        covariance: impl Fn(usize, usize) -> f64,
    ) -> Belief {
        let belief = total.belief;
        let excess = excess(sum.link, total, &covariance);
        let mean = QuasiMean::new(sum.link, sum.weights, sum.mean);
        let bend = SecondOrderPart::new(mean, excess, covariance);
        if bend.scale == 0.0 {
            return belief;
        }
        let mut own = self.second_order.against(self.pools, &bend, sum.cross);
        own.iter_mut().zip(self.scale).for_each(|(q, d)| *q *= d);
        let own = self.factor.half_solve(&own);
        let along = matvec(sum.reduced, &total.slopes);
        let variance = belief.variance - 2.0 * dot(&along, &own) - dot(&own, &own);
        if variance.is_finite() {
            sum.link.with_variance(belief, variance.max(0.0))
        } else {
            belief
        }
    }
}
