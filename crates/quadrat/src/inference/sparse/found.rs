//! A belief with the hyperparameters it is of, and what it is worth at others.

use serde::{Deserialize, Serialize};

use super::pass::inducing_factor;
use super::{Normal, SparseProblem};
use crate::error::FitError;
use crate::inference::Trail;
use crate::linalg::{Cholesky, Mat, gemm, lower_transpose_times_into, matvec, mirror_lower};

/// The best belief at one value of the hyperparameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// Every hyperparameter, natural units.
    pub theta: Vec<f64>,
    /// The belief about the whitened inducing values.
    pub normal: Normal,
    /// The bound there, in nats.
    pub bound: f64,
}

impl Found {
    /// What a trail leads to, whose last value is `bound`; without any, the prior.
    pub(super) fn left(
        trail: &Trail,
        problem: &dyn SparseProblem,
        theta: &[f64],
        bound: f64,
    ) -> Result<Self, FitError> {
        let normal = match trail.found() {
            Some(found) => found.normal.clone(),
            None => Normal::isotropic(problem.prior().inducing(), 1.0)?,
        };
        Ok(Self {
            theta: theta.to_vec(),
            normal,
            bound,
        })
    }

    /// The belief at other hyperparameters of someone who still knows of the inducing values what rows said of them.
    ///
    /// Rows said `exp(nu'u - u'T u / 2)` of `u = L v`; with the factor `L~` of the other `K_uu` the belief about `v` is
    ///
    /// $$ \tilde P = I + D'(P - I) D, \qquad \tilde P \tilde\mu = D' P \mu, \qquad D = L^{-1} \tilde L $$
    ///
    /// It is the best one where every point is an inducing point and rows are normal; elsewhere rows say the same of slightly other
    /// values. Kept as it is, a belief about `v` would be about another function, since `u = L v`.
    ///
    /// # Arguments
    /// * `factor` - `L~`
    /// # Returns
    /// None where that is no belief: rows that are not log-concave may say less than nothing along some direction.
    /// # Numerics
    /// `O(M^3)`.
    pub(super) fn at(
        &self,
        problem: &dyn SparseProblem,
        theta: &[f64],
        factor: &Cholesky,
    ) -> Option<Normal> {
        if self.theta == theta {
            return Some(self.normal.clone());
        }
        let (own, _) = inducing_factor(problem, &self.theta).ok()?;
        let size = self.normal.size();
        let mut turn = factor.lower().to_owned();
        own.half_solve_in_place(turn.as_mut());
        let said = Mat::from_fn(size, size, |i, j| {
            self.normal.precision()[(i, j)] - if i == j { 1.0 } else { 0.0 }
        });
        let mut precision = Mat::zeros(size, size);
        let right = gemm(said.as_ref(), turn.as_ref());
        lower_transpose_times_into(precision.as_mut(), turn.as_ref(), right.as_ref());
        mirror_lower(&mut precision);
        for i in 0..size {
            precision[(i, i)] += 1.0;
        }
        let shift = matvec(turn.transpose(), self.normal.shift());
        Normal::new(precision, shift).ok()
    }
}
