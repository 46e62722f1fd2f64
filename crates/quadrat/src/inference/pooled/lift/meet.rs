//! Moves a draw so that the latent values of its rows are given targets.

use faer::linalg::solvers::{PartialPivLu, Solve};

use crate::inference::pooled::pools::{Averages, Pools, rows_of};
use crate::linalg::{Mat, MatRef, dot};
use crate::link::Link;

/// Rows see their targets within this, in the units of the latent function.
const TOLERANCE: f64 = 1e-9;
/// Or within this part of them, some fifty roundings: behind `softplus` a target may be a thousand
/// million.
const ROUNDING: f64 = 1e-14;
/// Steps of Newton's method at most; two to seven are usual.
const STEPS: usize = 60;
/// No row is moved farther than this in one step behind `exp`: beyond, sums are far from linear.
/// Behind `softplus` they are linear where they are large, and a draw may have to go from a
/// thousand to zero.
const LONGEST: f64 = 1.5;
/// How often a step that leads away is halved.
const HALVINGS: usize = 10;
/// After so many steps of which no part came nearer, the draw cannot be moved to its targets.
const IDLE: usize = 3;

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
        let (mut here, mut there) = (At::default(), At::default());
        self.look(&by, target, &mut here);
        let mut idle = 0;
        for _ in 0..STEPS {
            let jacobian = rows_of(&here.seen.slopes, self.pools, self.gain);
            let mut left = here.left.iter().zip(target);
            let is_met = left.all(|(x, t)| x.abs() <= TOLERANCE.max(ROUNDING * t.abs()));
            if here.left.iter().any(|x| x.is_nan()) {
                return None;
            }
            let solver = PartialPivLu::new(jacobian.as_ref());
            if is_met {
                return Some((by, log_det(&solver)));
            }
            let right = Mat::from_fn(here.left.len(), 1, |i, _| here.left[i]);
            let step = solver.solve(&right);
            let step = step.col_as_slice(0);
            let size = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            if !size.is_finite() {
                return None;
            }
            let mut part = (self.longest() / size).min(1.0);
            for halvings in 0.. {
                let next: Vec<f64> = by.iter().zip(step).map(|(b, s)| b + part * s).collect();
                self.look(&next, target, &mut there);
                // Newton's step leads downhill: some part of it is nearer.
                let is_nearer = dot(&there.left, &there.left) < dot(&here.left, &here.left);
                if is_nearer || halvings >= HALVINGS {
                    idle += usize::from(!is_nearer);
                    by = next;
                    std::mem::swap(&mut here, &mut there);
                    break;
                }
                part *= 0.5;
            }
            if idle > IDLE {
                return None;
            }
        }
        None
    }

    /// Goes nearer to the targets where slopes are about those at the mode, `J(f) G = I`: steps
    /// that cost no factorisation, for as long as each halves what is missing.
    pub fn nearer(&self, target: &[f64], start: Vec<f64>) -> Vec<f64> {
        let mut by = start;
        let (mut here, mut there) = (At::default(), At::default());
        self.look(&by, target, &mut here);
        for _ in 0..STEPS {
            let next: Vec<f64> = by.iter().zip(&here.left).map(|(b, x)| b + x).collect();
            self.look(&next, target, &mut there);
            let is_nearer = dot(&there.left, &there.left) < 0.25 * dot(&here.left, &here.left);
            if !is_nearer {
                break;
            }
            by = next;
            std::mem::swap(&mut here, &mut there);
        }
        by
    }

    /// The rows' latent values at `g + G b`, and their differences from the targets.
    fn look(&self, by: &[f64], target: &[f64], at: &mut At) {
        self.move_to(by, &mut at.values);
        self.pools.average(&at.values, &mut at.seen);
        at.left.clear();
        let missing = at.seen.z.iter().zip(target).map(|(z, t)| t - z);
        at.left.extend(missing);
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
        let mut out = Vec::new();
        self.move_to(by, &mut out);
        out
    }

    fn move_to(&self, by: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.from);
        for (row, b) in by.iter().enumerate() {
            let along = self.gain.col(row);
            match along.try_as_col_major() {
                Some(along) => {
                    let each = out.iter_mut().zip(along.as_slice());
                    each.for_each(|(x, g)| *x += b * g);
                }
                None => {
                    let each = out.iter_mut().zip(along.iter());
                    each.for_each(|(x, g)| *x += b * g);
                }
            }
        }
    }
}

/// A place of the search.
#[derive(Default)]
struct At {
    values: Vec<f64>,
    seen: Averages,
    /// Targets minus latent values.
    left: Vec<f64>,
}

fn log_det(solver: &PartialPivLu<f64>) -> f64 {
    let u = solver.U();
    (0..u.nrows()).map(|i| u[(i, i)].abs().ln()).sum()
}
