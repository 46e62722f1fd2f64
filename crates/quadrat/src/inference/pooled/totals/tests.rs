//! Draws that meet exact sums against brute force.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::inference::pooled::Pools;
use crate::linalg::{Cholesky, Mat, dot};
use crate::link::Link;

/// Two rows of three nodes, with uneven weights.
fn table() -> (Pools, [f64; 2], NodePrior) {
    let mut pools = Pools::new(6);
    pools.push(Link::Exp, [(0, 1.0), (1, 2.0), (2, 1.0)]);
    pools.push(Link::Exp, [(3, 0.5), (4, 1.0), (5, 1.0)]);
    let k = |i: usize, j: usize| 1.3 * (-(i.abs_diff(j) as f64) / 2.5).exp() + 0.4;
    let prior = NodePrior {
        mean: vec![0.1, 0.0, -0.1, -0.2, -0.3, -0.4],
        covariance: Mat::from_fn(6, 6, k),
    };
    (pools, [0.9, -1.1], prior)
}

/// Node 0 and node 3 from the others of their rows, and the Jacobian of the log averages in them;
/// none where the others are too much.
fn completed(pools: &Pools, targets: &[f64], free: &[f64; 4]) -> Option<([f64; 6], f64)> {
    let mut f = [0.0, free[0], free[1], 0.0, free[2], free[3]];
    let mut log_slope = 0.0;
    for row in 0..2 {
        let (nodes, shares) = pools.row(row);
        let rest: f64 = (1..3).map(|i| shares[i] * f[nodes[i]].exp()).sum();
        let left = targets[row].exp() - rest;
        if left <= 0.0 {
            return None;
        }
        f[nodes[0]] = (left / shares[0]).ln();
        // dz / df_0 = p_0 e^{f_0} / e^z.
        log_slope += left.ln() - targets[row];
    }
    Some((f, log_slope))
}

/// Mean and sd of every node, and the log evidence of the log averages, by the midpoint rule over
/// the four nodes that are left free.
fn brute(pools: &Pools, targets: &[f64], prior: &NodePrior) -> (Vec<(f64, f64)>, f64) {
    let factor = Cholesky::factor(prior.covariance.as_ref()).unwrap();
    let n = 56;
    // No node of a row exceeds its total.
    let top = |row: usize, i: usize| targets[row] - pools.row(row).1[i].ln();
    let tops = [top(0, 1), top(0, 2), top(1, 1), top(1, 2)];
    let depth = 9.0;
    let step = depth / f64::from(n);
    let at = |k: u32, top: f64| top - (f64::from(k) + 0.5) * step;
    let (mut total, mut first, mut second) = (0.0, [0.0; 6], [0.0; 6]);
    for code in 0..(n as u64).pow(4) {
        let mut rest = code;
        let free = std::array::from_fn(|d| {
            let k = (rest % u64::from(n as u32)) as u32;
            rest /= u64::from(n as u32);
            at(k, tops[d])
        });
        let Some((f, log_slope)) = completed(pools, targets, &free) else {
            continue;
        };
        let away: Vec<f64> = f.iter().zip(&prior.mean).map(|(f, m)| f - m).collect();
        let white = factor.half_solve(&away);
        let log =
            -0.5 * (dot(&white, &white) + factor.log_det() + 6.0 * std::f64::consts::TAU.ln());
        let w = (log - log_slope).exp();
        total += w;
        for i in 0..6 {
            first[i] += w * f[i];
            second[i] += w * f[i] * f[i];
        }
    }
    let moments = (0..6).map(|i| {
        let mean = first[i] / total;
        (mean, (second[i] / total - mean * mean).sqrt())
    });
    (moments.collect(), (total * step.powi(4)).ln())
}

#[test]
fn draws_agree_with_brute_force() {
    let (pools, targets, prior) = table();
    let (want, evidence) = brute(&pools, &targets, &prior);
    let known = ConditionalMode::find(&pools, &targets, &prior, &prior.mean);
    let known = known.unwrap().unwrap();
    let count = 40_000;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let normals = Mat::from_fn(6, count, |_, _| StandardNormal.sample(&mut random));
    let root = prior.root().unwrap();
    let drawn = known.draws(&pools, &targets, &prior, root.as_ref(), normals.as_ref());
    let drawn: Vec<ConditionalDraw> = drawn.into_iter().map(Option::unwrap).collect();
    let logs: Vec<f64> = drawn.iter().map(|d| d.log_weight).collect();
    let (weights, effective) = evened(&logs).unwrap();
    assert!(effective > 0.7, "{effective}");
    for (node, (mean, sd)) in want.into_iter().enumerate() {
        let each = || weights.iter().zip(&drawn);
        let got: f64 = each().map(|(w, d)| w * d.values[node]).sum();
        let square: f64 = each()
            .map(|(w, d)| w * (d.values[node] - got).powi(2))
            .sum();
        // Standard errors of 30,000 draws are .006 sd of a mean and half a percent of an sd; the
        // midpoint rule errs by less than its step's square.
        assert!((got - mean).abs() < 0.03 * sd, "{node}: {got} {mean}");
        assert!((square.sqrt() / sd - 1.0).abs() < 0.03, "{node}");
    }
    let mean = logs.iter().map(|l| l.exp()).sum::<f64>() / count as f64;
    let got = known.log_evidence + mean.ln();
    // The standard error of the mean of weights whose variance is below a half.
    assert!((got - evidence).abs() < 0.02, "{got} {evidence}");
    for d in drawn.iter().step_by(100) {
        for (z, t) in pools.means(&d.values).iter().zip(&targets) {
            // What the search of a draw leaves at most.
            assert!((z.value - t).abs() <= 1e-9);
        }
    }
}
