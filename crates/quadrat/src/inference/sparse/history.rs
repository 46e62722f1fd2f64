//! Anderson mixing of the natural-gradient steps of a search for `q`.
//!
//! Natural-gradient steps are fixed-point iterations `x <- G(x)` of the natural parameters. Along a
//! direction in which steps are too long they alternate, where they are too short they converge
//! slowly. From the last few iterates `x_i`, with residuals `r_i = G(x_i) - x_i`, the next one is
//!
//! $$ \sum_i \alpha_i G(x_i), \qquad \alpha = \arg\min_{\sum \alpha_i = 1} \Big\| \sum_i \alpha_i
//! r_i \Big\| $$
//!
//! in the Fisher norm of `q = N(mu, S)`, in which a change `(dP, ds)` of `P` and `P mu` has the
//! square
//!
//! $$ a' S a + \tfrac12 \operatorname{tr} (S\, dP\, S\, dP), \qquad a = ds - dP \mu $$
//!
//! The square of a residual is what a full step would gain, in nats, were the bound linear.
//!
//! # Source
//! Anderson 1965; Walker and Ni 2011 for the form.

use std::collections::VecDeque;

use super::Normal;
use crate::linalg::{Cholesky, Mat, dot, matvec};

/// Iterates that are mixed, at most.
const MOST: usize = 5;
/// Relative ridge of the least-squares problem, so that nearly dependent differences of residuals
/// do no harm.
const RIDGE: f64 = 1e-10;

/// Iterates are mixed while the squares of one residual in the Fisher norms at two of them differ
/// by no more than this factor.
const ALIKE: f64 = 2.0;

/// Natural parameters `P` and `P mu`.
pub(super) type Natural = (Mat<f64>, Vec<f64>);

/// The last iterates: their images `G(x_i)` and residuals.
#[derive(Default)]
pub(super) struct History {
    /// Factor of the precision, and mean, of the iterate whose Fisher norm measures all residuals.
    metric: Option<(Cholesky, Vec<f64>)>,
    /// `G(x_i)`, and the residual in coordinates in which that norm is Euclidean.
    steps: VecDeque<(Natural, Vec<f64>)>,
}

impl History {
    /// Forgets all iterates.
    pub fn clear(&mut self) {
        self.metric = None;
        self.steps.clear();
    }

    /// Forgets all iterates but the last.
    pub fn keep_last(&mut self) {
        self.steps.drain(..self.steps.len().saturating_sub(1));
    }

    /// Adds an iterate and its image, after forgetting the others if the Fisher norm at `q` differs
    /// too much from theirs.
    ///
    /// # Returns
    /// The square of its residual in its own Fisher norm.
    /// # Numerics
    /// `4 M^3` flops.
    pub fn note(&mut self, q: &Normal, aim: Natural) -> f64 {
        let mut unit = residual(q, &aim, q.factor(), q.mean());
        let square = dot(&unit, &unit);
        if let Some((factor, mean)) = &self.metric {
            let shared = residual(q, &aim, factor, mean);
            let ratio = dot(&shared, &shared) / square;
            if (1.0 / ALIKE..ALIKE).contains(&ratio) {
                unit = shared;
            } else {
                self.clear();
            }
        }
        if self.metric.is_none() {
            self.metric = Some((q.factor().clone(), q.mean().to_vec()));
        }
        self.steps.push_back((aim, unit));
        if self.steps.len() > MOST {
            self.steps.pop_front();
        }
        square
    }

    /// The image of the last iterate.
    pub fn last(&self) -> Option<&Natural> {
        self.steps.back().map(|(aim, _)| aim)
    }

    /// The mixture; none of fewer than two iterates.
    pub fn mixed(&self) -> Option<Natural> {
        let (last, before) = (self.steps.back()?, self.steps.len() - 1);
        if before == 0 {
            return None;
        }
        // last - sum_i g_i (last - step_i), as short as can be.
        let away = |i: usize| -> Vec<f64> {
            let pairs = last.1.iter().zip(&self.steps[i].1);
            pairs.map(|(a, b)| a - b).collect()
        };
        let away: Vec<Vec<f64>> = (0..before).map(away).collect();
        let lengths: Vec<f64> = away.iter().map(|d| dot(d, d).sqrt()).collect();
        let gram = Mat::from_fn(before, before, |i, j| {
            let ridge = if i == j { RIDGE } else { 0.0 };
            dot(&away[i], &away[j]) / (lengths[i] * lengths[j]) + ridge
        });
        let along: Vec<f64> = (0..before)
            .map(|i| dot(&away[i], &last.1) / lengths[i])
            .collect();
        let weights = Cholesky::factor_owned(gram).ok()?.solve(&along);
        let weights: Vec<f64> = weights.iter().zip(&lengths).map(|(g, l)| g / l).collect();
        let (mut precision, mut shift) = last.0.clone();
        for (i, &g) in weights.iter().enumerate() {
            let (aim, _) = &self.steps[i];
            let pairs = shift.iter_mut().zip(last.0.1.iter().zip(&aim.1));
            pairs.for_each(|(s, (a, b))| *s -= g * (a - b));
            for j in 0..precision.ncols() {
                let out = precision.col_as_slice_mut(j).iter_mut();
                let (a, b) = (last.0.0.col_as_slice(j), aim.0.col_as_slice(j));
                out.zip(a.iter().zip(b))
                    .for_each(|(p, (a, b))| *p -= g * (a - b));
            }
        }
        Some((precision, shift))
    }
}

/// `G(x) - x` in coordinates in which the Fisher norm is Euclidean: the norm at the normal
/// distribution with this factor of the precision and this mean.
fn residual(q: &Normal, aim: &Natural, factor: &Cholesky, mean: &[f64]) -> Vec<f64> {
    let n = q.size();
    let mut change = Mat::from_fn(n, n, |i, j| aim.0[(i, j)] - q.precision()[(i, j)]);
    let pull = matvec(change.as_ref(), mean);
    let shifts = aim.1.iter().zip(q.shift()).zip(&pull);
    let a: Vec<f64> = shifts.map(|((to, from), p)| to - from - p).collect();
    let mut unit = factor.half_solve(&a);
    // C^-1 dP C^-T, whose entries off the diagonal stand for two.
    factor.half_solve_in_place(change.as_mut());
    let mut change = change.transpose().to_owned();
    factor.half_solve_in_place(change.as_mut());
    let half = 0.5_f64.sqrt();
    for j in 0..n {
        let column = change.col_as_slice(j);
        unit.push(half * column[j]);
        unit.extend_from_slice(&column[j + 1..]);
    }
    unit
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SIZE: usize = 3;

    /// A belief, moved along two directions.
    fn belief(a: f64, b: f64) -> Natural {
        let at = |i: usize, j: usize| {
            let (p, q) = ((i + 2 * j + 1) as f64, (2 * i + j + 1) as f64);
            let base = if i == j { 4.0 + i as f64 } else { 0.3 };
            base + 0.1 * (a * (p.sin() + q.sin()) + b * (p.cos() + q.cos()))
        };
        let shift = (0..SIZE).map(|i| 1.0 - i as f64 + a * 0.2 - b * 0.1 * i as f64);
        (Mat::from_fn(SIZE, SIZE, at), shift.collect())
    }

    fn normal((precision, shift): &Natural) -> Normal {
        Normal::new(precision.clone(), shift.clone()).unwrap()
    }

    /// A step that goes on from a place, and is measured by twice its divergence to second order.
    #[test]
    fn residuals_are_measured_by_the_divergence() {
        let (here, h) = (belief(0.3, -0.2), 1e-3);
        let there = belief(0.3 + h, -0.2 + 2.0 * h);
        let square = History::default().note(&normal(&here), there.clone());
        let (p, q) = (normal(&here), normal(&there));
        // KL(p || q) of two normals.
        let product = crate::linalg::gemm(q.precision(), p.covariance().as_ref());
        let trace: f64 = (0..SIZE).map(|i| product[(i, i)]).sum();
        let gap: Vec<f64> = p.mean().iter().zip(q.mean()).map(|(a, b)| a - b).collect();
        let bent = matvec(q.precision(), &gap);
        let logs = p.factor().log_det() - q.factor().log_det();
        let divergence = 0.5 * (trace - SIZE as f64 + dot(&gap, &bent) + logs);
        // Third order terms are a relative h; 1e-16 of rounding over h^2.
        assert!(
            (square / (2.0 * divergence) - 1.0).abs() < 5.0 * h,
            "{square}"
        );
    }

    /// A linear map that overshoots along one direction and creeps along another: three beliefs
    /// tell where it ends.
    #[test]
    fn mixtures_end_where_a_linear_map_does() {
        let (over, creeping) = (-0.95, 0.9);
        let mut history = History::default();
        let mut at = (1.0, -0.7);
        assert!(history.mixed().is_none());
        for _ in 0..3 {
            let next = (over * at.0, creeping * at.1);
            history.note(&normal(&belief(at.0, at.1)), belief(next.0, next.1));
            at = next;
        }
        let (got, want) = (history.mixed().unwrap(), belief(0.0, 0.0));
        let off = (0..SIZE * SIZE).map(|k| {
            let (i, j) = (k / SIZE, k % SIZE);
            (got.0[(i, j)] - want.0[(i, j)]).abs()
        });
        // The ridge of the weights, 1e-10, over the square of the angle between two differences.
        assert!(off.fold(0.0, f64::max) < 1e-7);
        let pairs = got.1.iter().zip(&want.1);
        assert!(pairs.map(|(g, w)| (g - w).abs()).fold(0.0, f64::max) < 1e-7);
        // Each belief by itself is far from there.
        history.keep_last();
        assert!(history.mixed().is_none());
        assert!((history.last().unwrap().1[0] - want.1[0]).abs() > 1e-2);
        history.clear();
        assert!(history.last().is_none());
    }

    /// A narrow belief would find the residual of a wide one small.
    #[test]
    fn residuals_are_measured_by_their_own_belief() {
        let scaled = |by: f64| -> Natural {
            let (precision, shift) = belief(0.0, 0.0);
            (
                Mat::from_fn(SIZE, SIZE, |i, j| by * precision[(i, j)]),
                shift,
            )
        };
        let alone = History::default().note(&normal(&scaled(1.0)), scaled(1.1));
        let mut history = History::default();
        history.note(&normal(&scaled(1000.0)), scaled(900.0));
        let after = history.note(&normal(&scaled(1.0)), scaled(1.1));
        assert_eq!(after, alone);
        assert!(history.mixed().is_none());
    }

    #[test]
    fn the_same_belief_twice_does_no_harm() {
        let mut history = History::default();
        for _ in 0..2 {
            history.note(&normal(&belief(0.2, 0.1)), belief(0.1, 0.1));
        }
        // Nothing to be divided by: no mixture, or where both led.
        let wanted = belief(0.1, 0.1);
        assert!(history.mixed().is_none_or(|(p, _)| p == wanted.0));
    }
}
