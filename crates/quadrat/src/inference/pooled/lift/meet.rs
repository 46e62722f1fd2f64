//! Where a draw must be moved to, so that its rows see what they shall.

use faer::linalg::solvers::{PartialPivLu, Solve};

use crate::inference::pooled::pools::Pools;
use crate::linalg::{Mat, MatRef};

/// Rows see their targets within this, in the units of the latent function.
const TOLERANCE: f64 = 1e-9;
/// Steps of Newton's method at most; two to seven are usual.
const STEPS: usize = 60;
/// No row is moved farther than this in one step: beyond, sums after a link are far from linear.
const LONGEST: f64 = 1.5;

/// A draw of the prior, and the directions `G` along which it is moved.
pub(super) struct Meeting<'a> {
    pub pools: &'a Pools,
    /// `G`, shape `[nodes, rows]`.
    pub gain: MatRef<'a, f64>,
    /// `g`, of all nodes.
    pub from: &'a [f64],
}

impl Meeting<'_> {
    /// Solves `z(g + G b) = t` for `b` by Newton's method, with `J(f) G` as its slopes.
    ///
    /// # Returns
    /// `b`, and `log |det J(f) G|` there; none where no `b` was found.
    pub fn solve(&self, target: &[f64], start: Vec<f64>) -> Option<(Vec<f64>, f64)> {
        let mut by = start;
        for _ in 0..STEPS {
            let values = self.moved(&by);
            let means = self.pools.means(&values);
            let left: Vec<f64> = means.iter().zip(target).map(|(z, t)| t - z.value).collect();
            let slopes = self.pools.slopes(&means);
            let jacobian = slopes.rows(self.pools, self.gain);
            let most = left.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            if most.is_nan() {
                return None;
            }
            let solver = PartialPivLu::new(jacobian.as_ref());
            if most <= TOLERANCE {
                return Some((by, log_det(&solver)));
            }
            let right = Mat::from_fn(left.len(), 1, |i, _| left[i]);
            let step = solver.solve(&right);
            let size = (0..left.len()).fold(0.0, |most: f64, i| most.max(step[(i, 0)].abs()));
            if !size.is_finite() {
                return None;
            }
            let part = (LONGEST / size).min(1.0);
            by.iter_mut()
                .enumerate()
                .for_each(|(i, b)| *b += part * step[(i, 0)]);
        }
        None
    }

    /// `g + G b`.
    pub fn moved(&self, by: &[f64]) -> Vec<f64> {
        let mut out = self.from.to_vec();
        for (row, b) in by.iter().enumerate() {
            let along = self.gain.col(row);
            for (x, g) in out.iter_mut().zip(along.iter()) {
                *x += b * g;
            }
        }
        out
    }
}

fn log_det(solver: &PartialPivLu<f64>) -> f64 {
    let u = solver.U();
    (0..u.nrows()).map(|i| u[(i, i)].abs().ln()).sum()
}
