//! `q` with the hyperparameters at which it was found, and the start that it gives at others.

use serde::{Deserialize, Serialize};

use super::inducing_factor::inducing_factor;
use super::{Normal, SparseProblem};
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::linalg::{Cholesky, Mat, gemm, lower_transpose_times_into, matvec, mirror_lower};

/// The best `q` at one value of the hyperparameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VariationalPosterior {
    /// Every hyperparameter, natural units.
    pub theta: Vec<f64>,
    /// The normal distribution of the whitened inducing values.
    pub normal: Normal,
    /// The bound there, in nats.
    pub bound: f64,
    /// Estimate of what its search left to gain, in nats; zero where it converged.
    #[serde(skip)]
    pub left: f64,
    /// Whether its search ended at a thousandth of a nat: it is then a start for others, not an
    /// answer.
    #[serde(skip)]
    pub(in crate::inference) is_rough: bool,
    /// Rate of convergence of the last search that took a full step: the largest ratio of the
    /// squared residual after such a step to that before it; 1 where steps had to be cut or mixed
    /// more than once.
    #[serde(skip)]
    pub(in crate::inference) rate: Option<f64>,
}

impl VariationalPosterior {
    /// The `q` of a warm start, whose last value is `bound`; the prior where there is none.
    pub(super) fn left(
        warm_start: &WarmStart,
        problem: &dyn SparseProblem,
        theta: &[f64],
        bound: f64,
    ) -> Result<Self, FitError> {
        let normal = match warm_start.found() {
            Some(found) => found.normal.clone(),
            None => Normal::isotropic(problem.prior().inducing(), 1.0)?,
        };
        Ok(Self {
            theta: theta.to_vec(),
            normal,
            bound,
            left: warm_start.found().map_or(0.0, |found| found.left),
            is_rough: false,
            rate: None,
        })
    }

    /// A start for `q` at other hyperparameters: the prior there times the sites of the rows, which
    /// are kept as functions of the inducing values `u`.
    ///
    /// The sites are `exp(nu'u - u'T u / 2)` of `u = L v`; with the factor `L~` of the other `K_uu`
    /// the distribution of `v` is
    ///
    /// $$ \tilde P = I + D'(P - I) D, \qquad \tilde P \tilde\mu = D' P \mu, \qquad D = L^{-1}
    /// \tilde L $$
    ///
    /// It is the best one where every point is an inducing point and rows are normal; elsewhere the
    /// sites change a little with the hyperparameters. To keep `q(v)` as it is would change the
    /// function, since `u = L v`.
    ///
    /// # Arguments
    /// * `factor` - `L~`
    /// # Returns
    /// None where the precision is not positive definite: sites of rows that are not log-concave
    /// may have negative precisions.
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
        let mut turn = factor.lower().to_owned();
        own.half_solve_in_place(turn.as_mut());
        let size = self.normal.size();
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

impl WarmStart {
    /// The `q` to begin with, where there is one.
    pub(in crate::inference) fn found(&self) -> Option<&VariationalPosterior> {
        self.memory()
    }

    pub(in crate::inference) fn leave_found(&mut self, found: VariationalPosterior) {
        self.keep(found);
    }

    /// Forgets the rate of convergence: the next search for `q` finds its own.
    pub(super) fn forget_rate(&mut self) {
        if let Some(found) = self.found().filter(|found| found.rate.is_some()).cloned() {
            self.keep(VariationalPosterior {
                rate: None,
                ..found
            });
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::testing::{Toy, place};
    use super::super::{SparseOptions, Within, bound, converge_sparse};
    use super::*;
    use crate::inference::sparse::LogSum;
    use crate::likelihood::local::Local;
    use crate::likelihood::{Gaussian, Noise, Poisson};
    use crate::link::Link;
    use crate::support::Functionals;

    const COUNT: usize = 7;

    /// Single points, each of which is an inducing point.
    fn toy(table: Box<dyn Local>, link: Link) -> Toy {
        let mut all = Functionals::new(vec!["x".into(), "y".into()]);
        (0..COUNT).for_each(|i| all.push_point(&place(i)).unwrap());
        let tables = vec![(table, link, vec![1; COUNT])];
        Toy::new(tables, Within::default(), 3, Some(all), 1e-10)
    }

    /// Half the variance, other lengthscales; what follows is of the likelihood.
    fn elsewhere(theta: &[f64]) -> Vec<f64> {
        let pairs = theta.iter().zip([0.5, 1.4, 0.8, 2.0, 0.9, 1.0]);
        pairs.map(|(t, by)| t * by).collect()
    }

    fn found(toy: &Toy, theta: &[f64]) -> VariationalPosterior {
        let options = SparseOptions {
            tolerance: 1e-10,
            ..SparseOptions::default()
        };
        let (normal, bound, _) = converge_sparse(toy, theta, &options, None).unwrap();
        VariationalPosterior {
            theta: theta.to_vec(),
            normal,
            bound,
            left: 0.0,
            is_rough: false,
            rate: None,
        }
    }

    fn value(toy: &Toy, theta: &[f64], q: &Normal) -> f64 {
        bound(toy, theta, q, LogSum::Matched, false).unwrap().value
    }

    #[test]
    fn normal_rows_at_inducing_points_say_the_same_everywhere() {
        let values = (0..COUNT).map(|i| (1.3 * i as f64).sin()).collect();
        let rows = Gaussian::new(values, Noise::Known(vec![0.1; COUNT])).unwrap();
        let toy = toy(Box::new(rows), Link::Identity);
        let (here, there) = (toy.theta(), elsewhere(&toy.theta()));
        let known = found(&toy, &here);
        let (factor, _) = inducing_factor(&toy, &there).unwrap();
        let carried = known.at(&toy, &there, &factor).unwrap();
        let best = found(&toy, &there);
        // Jitter stands between points and inducing points: 1e-10 of the variance over the noise,
        // times digits of the misfit.
        assert!((value(&toy, &there, &carried) - best.bound).abs() < 1e-6);
        assert!(value(&toy, &there, &known.normal) < best.bound - 0.1);
        let (same, _) = inducing_factor(&toy, &here).unwrap();
        let kept = known.at(&toy, &here, &same).unwrap();
        assert_eq!(kept.mean(), known.normal.mean());
    }

    #[test]
    fn what_rows_said_of_counts_is_near_the_best_elsewhere() {
        let counts = (0..COUNT).map(|i| (3 * i * i) as f64).collect();
        let rows = Poisson::new(counts, vec![1.0; COUNT], Link::Exp).unwrap();
        let toy = toy(Box::new(rows), Link::Exp);
        let (here, there) = (toy.theta(), elsewhere(&toy.theta()));
        let known = found(&toy, &here);
        let (factor, _) = inducing_factor(&toy, &there).unwrap();
        let carried = known.at(&toy, &there, &factor).unwrap();
        let best = found(&toy, &there).bound;
        let [said, kept] = [&carried, &known.normal].map(|q| best - value(&toy, &there, q));
        // What counts say is nearly, not exactly, normal: what is lost is of second order in how
        // far the belief moves. A belief that is not carried along loses fifty times as much.
        assert!(said > 0.0 && said < 0.02 * kept, "{said} {kept}");
    }
}
