//! Gradients of the evidence in the hyperparameters, by adjoint.
//!
//! At a fixed mode `G = (b b' - J' R J) / 2`. The mode moves: with `v_r` the posterior variance of
//! `z_r`,
//!
//! $$ s = \tfrac12 \sum_r v_r\, (\log p)'''_r\, j_r - \sum_r \frac{\partial^2 z_r}{\partial f^2} K
//! J' R_{\cdot r} $$
//!
//! is the slope of `-log det(I + W C) / 2` in `f`, and with `(K^-1 + H) K q = s`, `H` the whole
//! curvature of the rows, it adds `(q b' + b q') / 2` to `G`, and `v_r d(log p)'' / 2 + (J K q)_r
//! d(log p)'` to the derivative in an own hyperparameter. Where a precision was raised to zero its
//! derivatives are zero.

use super::curvature::Curvature;
use super::mode::Mode;
use super::pools::Pools;
use crate::inference::sites::LatentGaussian;
use crate::inference::sites::rows::Rows;
use crate::linalg::{gemm, mirror_lower};

/// `d log Z / d theta`, natural units, every parameter.
///
/// # Arguments
/// * `tolerance` - relative residual of the system for how the mode moves
pub(super) fn gradient(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    mode: &Mode,
    tolerance: f64,
) -> Vec<f64> {
    let mut gradient = vec![0.0; theta.len()];
    let mut rows = Rows::new(problem, theta);
    rows.count = pools.rows();
    let precisions = mode.precisions();
    let Ok(curvature) = Curvature::new(
        pools,
        &mode.covariance,
        &mode.slopes,
        &precisions,
        mode.jitter,
    ) else {
        // The mode was found with this factor: it exists.
        return vec![f64::NAN; theta.len()];
    };
    let sweep = &curvature.sweep;
    // R, and K J' R.
    let mut r = sweep.resolvent.clone().into_lower();
    mirror_lower(&mut r);
    let through = gemm(curvature.columns(), r.as_ref());

    let is_kept = |row: usize| precisions[row] > 0.0;
    let mut moving = vec![0.0; pools.nodes()];
    for (row, z) in mode.means.iter().enumerate() {
        let (nodes, _) = pools.row(row);
        let seen: f64 = nodes
            .iter()
            .zip(&z.slopes)
            .map(|(&i, j)| j * through[(i, row)])
            .sum();
        let third = if is_kept(row) {
            0.5 * sweep.variance[row] * mode.jets[row].third
        } else {
            0.0
        };
        for ((&i, j), d) in nodes.iter().zip(&z.slopes).zip(&z.own) {
            moving[i] += (third + z.shared * seen) * j - d * through[(i, row)];
        }
    }
    let solved = curvature.solve_all(&moving, &mode.means, &mode.jets, tolerance);
    let (q, x) = match solved.filter(|found| found.is_whole) {
        Some(found) => (found.q, found.x),
        None => curvature.solve(&moving),
    };
    let seen = mode.slopes.gather(pools, &x);

    for (block, own) in &rows.blocks {
        let mut slopes = vec![[0.0; 3]; own.len()];
        if own.is_empty() {
            continue;
        }
        for at in 0..block.likelihood.rows() {
            let row = block.first + at;
            slopes.fill([0.0; 3]);
            let z = mode.means[row].value;
            block.likelihood.log_density_slopes(own, at, z, &mut slopes);
            for (&index, [value, first, second]) in block.own.iter().zip(&slopes) {
                let bend = if is_kept(row) {
                    0.5 * sweep.variance[row] * second
                } else {
                    0.0
                };
                gradient[index] += value + bend + seen[row] * first;
            }
        }
    }

    let inner = mode.slopes.spread(pools, r.as_ref());
    // J' R J = (J' (J' R)')', as R is symmetric; the adjoint takes its place.
    let mut adjoint = mode.slopes.spread(pools, inner.transpose());
    let b = &mode.dual;
    for j in 0..pools.nodes() {
        let (bj, qj) = (b[j], q[j]);
        let rows = adjoint.col_as_slice_mut(j).iter_mut().zip(b.iter().zip(&q));
        rows.for_each(|(g, (bi, qi))| *g = 0.5 * (bi * bj - *g + qi * bj + bi * qj));
    }
    problem.contract_covariance(theta, adjoint.as_ref(), &mut gradient);
    gradient
}
