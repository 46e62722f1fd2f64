//! Where a draw must be moved to, so that its rows see what they shall.

use faer::linalg::solvers::{PartialPivLu, Solve};

use crate::inference::pooled::pools::Pools;
use crate::linalg::{Mat, MatRef, dot};
use crate::link::{Link, QuasiMean};

/// Rows see their targets within this, in the units of the latent function.
const TOLERANCE: f64 = 1e-9;
/// Steps of Newton's method at most; two to seven are usual.
const STEPS: usize = 60;
/// No row is moved farther than this in one step behind `exp`: beyond, sums are far from linear.
/// Behind `softplus` they are linear where they are large, and a draw may have to go from a
/// thousand to zero.
const LONGEST: f64 = 1.5;
/// How often a step that leads away is halved.
const HALVINGS: usize = 10;

/// A draw of the prior, and the directions `G` along which it is moved.
pub(in crate::inference::pooled) struct Meeting<'a> {
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
        let (mut means, mut left) = self.left(&by, target);
        for _ in 0..STEPS {
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
            let mut part = (self.longest() / size).min(1.0);
            for halvings in 0.. {
                let next: Vec<f64> = (0..by.len()).map(|i| by[i] + part * step[(i, 0)]).collect();
                let (there, still) = self.left(&next, target);
                // Newton's step leads downhill: some part of it is nearer.
                if dot(&still, &still) < dot(&left, &left) || halvings >= HALVINGS {
                    (by, means, left) = (next, there, still);
                    break;
                }
                part *= 0.5;
            }
        }
        None
    }

    /// What rows see at `g + G b`, and what is missing of their targets.
    fn left(&self, by: &[f64], target: &[f64]) -> (Vec<QuasiMean>, Vec<f64>) {
        let means = self.pools.means(&self.moved(by));
        let left = means.iter().zip(target).map(|(z, t)| t - z.value).collect();
        (means, left)
    }

    /// The longest step, in the units of the latent function.
    fn longest(&self) -> f64 {
        let mut links = (0..self.pools.rows()).map(|row| self.pools.link(row));
        match links.any(|link| link == Link::Exp) {
            true => LONGEST,
            false => f64::INFINITY,
        }
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
