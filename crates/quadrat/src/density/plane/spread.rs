//! Normal proposals that keep to where rows let them: the variational ones.
//!
//! Where no row lies a density is as uncertain as its prior, but not upwards: were it large, rows
//! would lie there. Laplace's normal knows the curvature at the mode alone, which is nothing there,
//! and its draws put mass where none can be, the more the more places there are. The normal nearest
//! to the posterior, `min KL(q | p)` over means and covariances, has the curvature that it expects:
//! of a Poisson model with a free intercept for each part,
//!
//! $$ A = P + \Phi' (\mathrm{diag} \lambda - \lambda \lambda' / n) \Phi, \qquad \lambda = n\,
//! \mathrm{softmax}(\Phi m + \log w + v / 2), \qquad \Phi' (y - \lambda) = P m $$
//!
//! with `v` the variances of the logarithm of what each cell is expected to hold. It is found by
//! steps along the natural gradient (Khan & Lin 2017): a precision and a linear term of each cell
//! move towards what the normal of the last step expects.

use crate::linalg::Cholesky;

use super::super::error::DensityError;
use super::functions::Functions;
use super::grid::CellGrid;
use super::hyper::Component;
use super::newton::CellProblem;
use super::prior::CoefficientPrior;

/// Most steps; they end where less than this share of the rows lies in other cells than expected.
const ROUNDS: usize = 40;
const SETTLED: f64 = 0.005;
/// Step length of the first steps; step `k` has the second number over `k` where that is less: the
/// expected mass of an empty cell is an exponential, which converges only on average.
const STEPS: (f64, f64) = (0.5, 4.0);
/// Cap of half a variance in the first step, and the factor by which it grows in each later step.
const BELIEVED: (f64, f64) = (5.0, 1.5);

/// What rows are taken to say of each cell: a precision and a linear term.
struct Sites {
    precision: Vec<f64>,
    linear: Vec<f64>,
}

/// A normal.
struct Normal {
    theta: Vec<f64>,
    eta: Vec<f64>,
    /// The intercept of each part.
    intercepts: Vec<f64>,
    factor: Cholesky,
}

impl Sites {
    /// The normal that they make with a prior.
    fn normal(
        &self,
        problem: CellProblem<'_>,
        prior: &CoefficientPrior,
    ) -> Result<Normal, DensityError> {
        let CellProblem { grid, functions } = problem;
        let size = grid.part();
        let parts = || {
            self.precision
                .chunks_exact(size)
                .zip(self.linear.chunks_exact(size))
        };
        let (mut mass, mut right) = (Vec::new(), Vec::new());
        let mut means = Vec::new();
        for ((precision, linear), n) in parts().zip(&grid.totals) {
            // Of a part without rows nothing is said.
            let by = if *n > 0.0 { 1.0 / n } else { 0.0 };
            let mean = by * linear.iter().sum::<f64>();
            mass.extend(precision.iter().map(|p| by * p));
            right.extend(precision.iter().zip(linear).map(|(p, l)| l - p * mean));
            means.push(mean);
        }
        let factor = problem.precision(&mass, &self.precision, prior)?;
        let theta = factor.solve(&functions.project(&right));
        let eta = functions.eta(&theta);
        let held = mass
            .chunks_exact(size)
            .zip(eta.chunks_exact(size))
            .zip(means);
        let intercepts = held.map(|((u, e), mean)| mean - crate::linalg::dot(u, e));
        Ok(Normal {
            intercepts: intercepts.collect(),
            theta,
            eta,
            factor,
        })
    }

    /// Moves towards what a normal expects; returns the share of the rows that it moves, and
    /// whether all half variances are below what may be believed.
    fn step(
        &mut self,
        problem: CellProblem<'_>,
        at: &Normal,
        most: f64,
        share: f64,
    ) -> (f64, bool) {
        let grid = problem.grid;
        let size = grid.part();
        let totals = |cell: usize| grid.totals[cell / size];
        let mass: Vec<f64> = (0..self.precision.len())
            .map(|cell| self.precision[cell] / totals(cell).max(f64::MIN_POSITIVE))
            .collect();
        let v = problem.variances(&mass, &at.factor.inverse());
        let mut expected: Vec<f64> = (0..v.len())
            .map(|i| at.eta[i] + grid.log_measure[i] + (0.5 * v[i]).clamp(0.0, most))
            .collect();
        grid.look(&mut expected);
        let mut moved = 0.0;
        for (cell, u) in expected.iter().enumerate() {
            let lambda = totals(cell) * u;
            moved += 0.5 * (lambda - self.precision[cell]).abs();
            let function = at.eta[cell] + at.intercepts[cell / size];
            let linear = grid.counts[cell] - lambda + lambda * function;
            self.precision[cell] += share * (lambda - self.precision[cell]);
            self.linear[cell] += share * (linear - self.linear[cell]);
        }
        (moved / grid.total, v.iter().all(|v| 0.5 * v <= most))
    }
}

/// The settings with the variational normals in place of Laplace's; what draws are compared with is
/// moved along. The most probable one is settled, the others take over what rows say there.
///
/// # Errors
/// Where a precision is not positive.
pub(super) fn spread(
    grid: &CellGrid,
    functions: &Functions,
    components: &[Component],
) -> Result<Vec<Component>, DensityError> {
    let problem = CellProblem { grid, functions };
    let Some(first) = components.first() else {
        return Ok(Vec::new());
    };
    let size = grid.part();
    let precision: Vec<f64> = (first.mode.mass.iter().enumerate())
        .map(|(cell, u)| grid.totals[cell / size] * u)
        .collect();
    let pairs = precision.iter().zip(&first.mode.eta).zip(&grid.counts);
    let linear = pairs.map(|((p, e), y)| y - p + p * e).collect();
    let mut sites = Sites { precision, linear };
    let mut believed = BELIEVED.0;
    for round in 0..ROUNDS {
        let at = sites.normal(problem, &first.prior)?;
        let share = STEPS.0.min(STEPS.1 / (round + 1) as f64);
        let (moved, is_all) = sites.step(problem, &at, believed, share);
        believed *= BELIEVED.1;
        if moved < SETTLED && is_all {
            break;
        }
    }
    let of = |component: &Component| {
        let Normal {
            theta, eta, factor, ..
        } = sites.normal(problem, &component.prior)?;
        let mut next = component.clone();
        next.reference += 0.5 * (factor.log_det() - component.mode.factor.log_det());
        next.mode.square = crate::linalg::dot(&theta, &next.prior.pull(&theta));
        (next.mode.theta, next.mode.eta, next.mode.factor) = (theta, eta, factor);
        Ok(next)
    };
    components.iter().map(of).collect()
}
