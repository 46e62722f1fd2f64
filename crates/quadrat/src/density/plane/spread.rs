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
//! with `v` the variances of the logarithm of what each cell is expected to hold.

use super::super::error::DensityError;
use super::functions::Functions;
use super::grid::Grid;
use super::hyper::Component;
use super::newton::{Problem, look};

/// Rounds between variances and modes at the most probable setting; the others take its variances.
const ROUNDS: usize = 8;
/// Newton's decrement: proposals need not be exact.
const TOLERANCE: f64 = 0.1;
/// The largest half variance that is added in the first round; each round doubles it, so that modes
/// are never far from where they are looked for.
const MOST: f64 = 10.0;

/// The settings with the variational normals in place of Laplace's; their weights and what draws
/// are compared with stay.
pub(super) fn spread(
    grid: &Grid,
    functions: &Functions,
    components: &[Component],
) -> Result<Vec<Component>, DensityError> {
    let seen = Problem { grid, functions };
    let mut shifted = grid.clone();
    let mut half: Option<Vec<f64>> = None;
    let mut theta: Option<Vec<f64>> = None;
    let mut out = Vec::with_capacity(components.len());
    for component in components {
        let mut next = component.clone();
        let rounds = if half.is_none() { ROUNDS } else { 1 };
        for round in 0..rounds {
            if rounds > 1 {
                let inverse = next.mode.factor.inverse();
                let v = seen.variances(&next.mode.mass, &inverse);
                let most = MOST * f64::from(1 << round.min(20));
                half = Some(v.iter().map(|v| (0.5 * v).clamp(0.0, most)).collect());
            }
            let pairs = grid.log_measure.iter().zip(half.iter().flatten());
            shifted.log_measure = pairs.map(|(w, v)| w + v).collect();
            let problem = Problem {
                grid: &shifted,
                functions,
            };
            let start = theta.as_ref().unwrap_or(&component.mode.theta);
            next.mode = problem.mode(&component.prior, start, TOLERANCE)?;
            theta = Some(next.mode.theta.clone());
        }
        // As seen without what was added.
        (next.mode.value, next.mode.mass) = look(grid, &next.mode.eta);
        next.reference = component.reference - 0.5 * component.mode.factor.log_det()
            + 0.5 * next.mode.factor.log_det();
        out.push(next);
    }
    Ok(out)
}
