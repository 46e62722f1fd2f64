//! Precisions that raise the variational bound most, where some rows ask for less than none.
//!
//! With `d = T + E (log p)''` the bound rises by `-(S o S) d / 2` with the precisions `T`, `S` the
//! posterior covariance and `o` the product of entries. Where every row can have `T = -E (log p)''`
//! that is zero. A likelihood that is not log-concave may ask for a negative precision `t`. To
//! raise it to zero and leave the others at what they ask is no maximum of the bound over `T >= 0`:
//! the others would make up for it. A natural-gradient step within `T >= 0` is the projection
//!
//! $$ T = \arg\min_{x \ge 0} (x - t)' (S \circ S) (x - t) $$
//!
//! Where it comes to rest the bound is stationary in all precisions that are not zero, and those
//! that are do not change with the hyperparameters. At fixed sites the bound also moves with the
//! posterior variances, which `adjoint.rs` adds.
//!
//! # Source
//! The quadratic programme by the active set method: Lawson and Hanson 1974, *Solving least squares
//! problems*, chapter 23, begun with the rows that are not zero.

use super::swept::Sweep;
use crate::linalg::{Cholesky, Mat, MatRef, matvec};

/// Weight of staying where one is, in every coordinate: directions of which the posterior hardly
/// depends do not drift. It moves no point of rest.
const STAY: f64 = 1e-8;
/// Steps of the programme at most, for every row; a tenth of one is usual.
const STEPS: usize = 10;

/// The precisions asked for, and how far from rest they are.
pub(super) struct Projected {
    /// `T`, of the rows asked about.
    pub precisions: Vec<f64>,
    /// The largest entry of the metric times the step, twice a slope of the bound, in posterior
    /// variances.
    pub residual: f64,
}

/// Projects the precisions `wanted` of some rows; `None` where the programme is not solved.
pub(super) fn project(
    k: MatRef<'_, f64>,
    sweep: &Sweep,
    rows: &[usize],
    wanted: &[f64],
    current: &[f64],
) -> Option<Projected> {
    let correlation = correlations(k, sweep, rows);
    let n = rows.len();
    let metric = Mat::from_fn(n, n, |i, j| correlation[(i, j)].powi(2));
    // In units of the posterior: the diagonal of the metric is one.
    let unit = |i: usize| sweep.variance[rows[i]];
    let scaled = |x: &[f64]| -> Vec<f64> { (0..n).map(|i| x[i] * unit(i)).collect() };
    let (wanted, current) = (scaled(wanted), scaled(current));
    let x = nearest(metric.as_ref(), &wanted, &current)?;
    if x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let step: Vec<f64> = x.iter().zip(&current).map(|(x, c)| x - c).collect();
    let slope = matvec(metric.as_ref(), &step);
    let off = |(slope, step): (&f64, &f64)| (slope + STAY * step).abs();
    let residual = slope.iter().zip(&step).map(off).fold(0.0, f64::max);
    let natural = |(i, x): (usize, &f64)| if unit(i) > 0.0 { x / unit(i) } else { 0.0 };
    Some(Projected {
        precisions: x.iter().enumerate().map(natural).collect(),
        residual,
    })
}

/// Posterior correlations of some rows.
fn correlations(k: MatRef<'_, f64>, sweep: &Sweep, rows: &[usize]) -> Mat<f64> {
    let n = rows.len();
    let covariance = sweep.resolvent.covariance_of(k, rows);
    let sd: Vec<f64> = rows.iter().map(|&row| sweep.variance[row].sqrt()).collect();
    Mat::from_fn(n, n, |i, j| {
        if i == j {
            return 1.0;
        }
        let scale = sd[i] * sd[j];
        if scale == 0.0 {
            return 0.0;
        }
        (covariance[(i, j)] / scale).clamp(-1.0, 1.0)
    })
}

/// `argmin_(x >= 0) (x - wanted)' metric (x - wanted) + STAY |x - current|^2`, from `current` or,
/// where that holds no row at zero, from what is wanted.
fn nearest(metric: MatRef<'_, f64>, wanted: &[f64], current: &[f64]) -> Option<Vec<f64>> {
    let n = wanted.len();
    let right: Vec<f64> = matvec(metric, wanted)
        .iter()
        .zip(current)
        .map(|(b, c)| b + STAY * c)
        .collect();
    let holds = |x: &[f64]| x.contains(&0.0) && x.iter().any(|x| *x > 0.0);
    let begin = if holds(current) { current } else { wanted };
    let mut x: Vec<f64> = begin.iter().map(|x| x.max(0.0)).collect();
    for _ in 0..STEPS * (n + 1) {
        let free: Vec<usize> = (0..n).filter(|&i| x[i] > 0.0).collect();
        let next = on(metric, &free, &right)?;
        // Up to where the first falls to zero.
        let part = |x: f64, next: f64| (next <= 0.0).then(|| x / (x - next));
        let parts = free.iter().filter_map(|&i| part(x[i], next[i]));
        if let Some(reached) = parts.reduce(f64::min) {
            for &i in &free {
                let falls = part(x[i], next[i]).is_some_and(|part| part <= reached);
                let moved = x[i] + reached * (next[i] - x[i]);
                x[i] = if falls { 0.0 } else { moved.max(0.0) };
            }
            continue;
        }
        x = next;
        // What would gain most from being more than zero; rounding of a product with entries of at
        // most one is no gain.
        let slope = matvec(metric, &x);
        let size: f64 = x.iter().sum();
        let gain = |i: usize| {
            let rounding = 16.0 * f64::EPSILON * (size + right[i].abs());
            (i, right[i] - slope[i] - STAY * x[i] - rounding)
        };
        let held = (0..n).filter(|&i| x[i] == 0.0).map(gain);
        match held.max_by(|a, b| a.1.total_cmp(&b.1)) {
            // Enough to be free.
            Some((most, gain)) if gain > 0.0 => x[most] = f64::MIN_POSITIVE,
            _ => return x.iter().all(|x| x.is_finite()).then_some(x),
        }
    }
    None
}

/// The minimum over the `free` coordinates, the others zero.
fn on(metric: MatRef<'_, f64>, free: &[usize], right: &[f64]) -> Option<Vec<f64>> {
    let mut x = vec![0.0; right.len()];
    if free.is_empty() {
        return Some(x);
    }
    let inner = Mat::from_fn(free.len(), free.len(), |i, j| {
        let stay = if i == j { STAY } else { 0.0 };
        metric[(free[i], free[j])] + stay
    });
    let of_free: Vec<f64> = free.iter().map(|&i| right[i]).collect();
    let solved = Cholesky::factor_owned(inner).ok()?.solve(&of_free);
    for (&i, value) in free.iter().zip(&solved) {
        x[i] = *value;
    }
    Some(x)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::linalg::symmetric_from_fn;

    /// A smooth metric, and what a row would rather have: some less than nothing.
    fn programme(n: usize, length: f64) -> (Mat<f64>, Vec<f64>, Vec<f64>) {
        let metric = symmetric_from_fn(n, |i, j| (-((i as f64 - j as f64) / length).powi(2)).exp());
        let wanted = (0..n).map(|i| (1.7 * i as f64).sin() + 0.2).collect();
        let current = (0..n).map(|i| 0.1 * (i % 3) as f64).collect();
        (metric, wanted, current)
    }

    /// The conditions of Karush, Kuhn and Tucker, which only the minimum of a convex programme
    /// meets.
    #[test]
    fn the_projection_is_the_minimum() {
        let mut held = Vec::new();
        for (n, length) in [(1, 1.0), (7, 0.5), (30, 1.0), (60, 3.0), (40, 20.0)] {
            let (metric, wanted, current) = programme(n, length);
            let x = nearest(metric.as_ref(), &wanted, &current).unwrap();
            let away: Vec<f64> = x.iter().zip(&wanted).map(|(x, t)| x - t).collect();
            let slope = matvec(metric.as_ref(), &away);
            for i in 0..n {
                let slope = slope[i] + STAY * (x[i] - current[i]);
                // Rounding of sums of n numbers of order one, and of the largest precision.
                let small = 1e-13 * (n as f64) * (1.0 + x.iter().copied().fold(0.0, f64::max));
                assert!(x[i] >= 0.0, "{n} {length}: {}", x[i]);
                if x[i] > 0.0 {
                    assert!(slope.abs() < small, "{n} {length} {i}: {slope}");
                } else {
                    assert!(slope > -small, "{n} {length} {i}: {slope}");
                }
            }
            held.push(x.iter().filter(|x| **x == 0.0).count());
        }
        assert_eq!(held, [0, 3, 16, 32, 0]);
    }

    #[test]
    fn rows_of_one_place_share_what_one_of_them_lacks() {
        let metric = Mat::from_fn(2, 2, |_, _| 1.0);
        let x = nearest(metric.as_ref(), &[3.0, -1.0], &[0.0, 0.0]).unwrap();
        // The pull to the current point is 1e-8.
        assert!((x[0] + x[1] - 2.0).abs() < 1e-7, "{x:?}");
    }
}
