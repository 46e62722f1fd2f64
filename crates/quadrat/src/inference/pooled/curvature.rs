//! The curvature of the posterior of the nodes, and systems with it.
//!
//! Vectors over nodes come in pairs `x = K q`, so that `K^-1 x = q` needs no inverse.

use super::pools::{Pools, Slopes};
use crate::error::LinalgError;
use crate::inference::sites::Site;
use crate::inference::sites::resolvent::Scaled;
use crate::inference::sites::site::Term;
use crate::inference::sites::swept::Sweep;
use crate::likelihood::local::Jet;
use crate::linalg::{Mat, MatRef, dot, matvec, symmetric_times};
use crate::link::QuasiMean;

/// Iterations of conjugate gradients at most.
const ITERATIONS: usize = 500;

/// `K^-1 + J' W J`, through `R = (C + W^-1)^-1` of the size of the rows.
pub(super) struct Curvature<'a> {
    pools: &'a Pools,
    k: &'a Mat<f64>,
    slopes: &'a Slopes,
    /// `K J'`.
    columns: Mat<f64>,
    /// Whether each row is known exactly.
    known: Vec<bool>,
    /// Factor of `B` and `D`, with `R = D B^-1 D`; posterior variances of `z`; `log det(I + W C)`.
    pub sweep: Sweep<Scaled>,
}

/// The solution of a system, or a direction towards it.
pub(super) struct Solution {
    /// `x = K q`.
    pub q: Vec<f64>,
    pub x: Vec<f64>,
    /// Whether it solves the system: no direction was met along which the curvature is not
    /// positive.
    pub is_whole: bool,
}

impl<'a> Curvature<'a> {
    /// With the site precisions `W` of the rows, infinite where these are known exactly.
    pub fn new(
        pools: &'a Pools,
        k: &'a Mat<f64>,
        slopes: &'a Slopes,
        precisions: &[f64],
        jitter: f64,
    ) -> Result<Self, LinalgError> {
        let columns = slopes.columns(pools, k.as_ref());
        let c = slopes.rows(pools, columns.as_ref());
        let term = |&precision: &f64| match precision.is_finite() {
            true => Term::Chosen(Site {
                precision,
                shift: 0.0,
            }),
            false => Term::Gaussian {
                value: 0.0,
                variance: 0.0,
            },
        };
        let terms: Vec<Term> = precisions.iter().map(term).collect();
        let zero = vec![0.0; terms.len()];
        let sweep = Sweep::new(c.as_ref(), &zero, &terms, jitter)?;
        Ok(Self {
            pools,
            k,
            slopes,
            columns,
            known: precisions.iter().map(|w| w.is_infinite()).collect(),
            sweep,
        })
    }

    /// The residual that rounding leaves: it grows with the largest precision in units of the
    /// prior.
    pub fn rounding(&self, precisions: &[f64]) -> f64 {
        // For a large T c it follows from D^2 = T / (1 + T c).
        let strongest = precisions
            .iter()
            .zip(&self.sweep.resolvent.scale)
            .filter(|(t, d)| t.is_finite() && **d > 0.0)
            .map(|(t, d)| t / (d * d))
            .fold(0.0, f64::max);
        64.0 * f64::EPSILON * strongest
    }

    /// `K J'`.
    pub fn columns(&self) -> MatRef<'_, f64> {
        self.columns.as_ref()
    }

    /// `R y` for a vector over the rows.
    fn reduce(&self, y: &[f64]) -> Vec<f64> {
        self.sweep.resolvent.times(y)
    }

    /// `-R J K right`, over the rows.
    pub fn pulled(&self, right: &[f64]) -> Vec<f64> {
        let seen = matvec(self.columns.as_ref().transpose(), right);
        self.reduce(&seen).iter().map(|a| -a).collect()
    }

    /// `(q, x)` with `(K^-1 + J' W J) x = right`, `x = K q`.
    pub fn solve(&self, right: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let back = self.slopes.scatter(self.pools, &self.pulled(right));
        let q: Vec<f64> = right.iter().zip(&back).map(|(r, b)| r + b).collect();
        let x = symmetric_times(self.k, &q);
        (q, x)
    }

    /// As `solve`, after subtracting from `right` its part along rows that are known exactly. That
    /// part moves nothing, and beside a large one the digits of the rest would be lost.
    fn solve_rest(&self, right: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
        let mut along = self.pulled(right);
        let back = self.slopes.scatter(self.pools, &along);
        let q: Vec<f64> = right.iter().zip(&back).map(|(r, b)| r + b).collect();
        let x = symmetric_times(self.k, &q);
        if self.known.contains(&true) {
            let open = along
                .iter_mut()
                .zip(&self.known)
                .filter(|(_, known)| !**known);
            open.for_each(|(a, _)| *a = 0.0);
            let known = self.slopes.scatter(self.pools, &along);
            right.iter_mut().zip(&known).for_each(|(r, a)| *r += a);
        }
        (q, x)
    }

    /// The same with all second derivatives, `K^-1 - d^2 sum log p(y_r | z_r(f)) / df^2`.
    ///
    /// # Numerics
    /// Conjugate gradients, preconditioned by [`Self::solve`]: `O(nodes^2)` each. They end at the
    /// first direction along which the curvature is not positive, with what was found before it:
    /// that leads uphill all the same.
    /// # Source
    /// Nocedal and Wright 2006, algorithm 7.1 (line search Newton-CG).
    pub fn solve_all(
        &self,
        right: &[f64],
        means: &[QuasiMean],
        jets: &[Jet],
        tolerance: f64,
    ) -> Option<Solution> {
        let n = right.len();
        // -d^2 log p = J' (c l' - l'') J - diag(sum_r l' d).
        let along: Vec<f64> = means
            .iter()
            .zip(jets)
            .map(|(z, jet)| {
                // A step does not change the values of rows that are known exactly.
                let own = if jet.second.is_finite() {
                    jet.second
                } else {
                    0.0
                };
                z.shared * jet.first - own
            })
            .collect();
        let own = Slopes(means.iter().flat_map(|z| z.own.iter().copied()).collect());
        let first: Vec<f64> = jets.iter().map(|jet| jet.first).collect();
        let diagonal = own.scatter(self.pools, &first);
        let bend = |x: &[f64]| -> Vec<f64> {
            let mut seen = self.slopes.gather(self.pools, x);
            seen.iter_mut().zip(&along).for_each(|(s, a)| *s *= a);
            let mut out = self.slopes.scatter(self.pools, &seen);
            for (o, (x, d)) in out.iter_mut().zip(x.iter().zip(&diagonal)) {
                *o -= d * x;
            }
            out
        };
        let mut residual = right.to_vec();
        let (mut q, mut x) = (vec![0.0; n], vec![0.0; n]);
        let (mut step_q, mut step_x) = self.solve_rest(&mut residual);
        let mut size = dot(&residual, &step_x);
        let enough = tolerance * tolerance * size;
        let mut is_whole = true;
        for iteration in 0..ITERATIONS {
            if size <= enough || size <= 0.0 {
                break;
            }
            let mut image = bend(&step_x);
            image.iter_mut().zip(&step_q).for_each(|(i, s)| *i += s);
            let curve = dot(&step_x, &image);
            if curve.is_nan() || curve <= 0.0 {
                is_whole = false;
                if iteration == 0 {
                    (q, x) = (step_q, step_x);
                }
                break;
            }
            let length = size / curve;
            for i in 0..n {
                q[i] += length * step_q[i];
                x[i] += length * step_x[i];
                residual[i] -= length * image[i];
            }
            let (next_q, next_x) = self.solve_rest(&mut residual);
            let next = dot(&residual, &next_x);
            let keep = next / size;
            for i in 0..n {
                step_q[i] = next_q[i] + keep * step_q[i];
                step_x[i] = next_x[i] + keep * step_x[i];
            }
            size = next;
        }
        let is_finite = x.iter().all(|x| x.is_finite());
        is_finite.then_some(Solution { q, x, is_whole })
    }
}
