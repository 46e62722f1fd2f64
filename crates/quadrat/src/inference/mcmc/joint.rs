//! One Gaussian for all values that rows see together.

use crate::inference::pooled::{Mode, Pools};
use crate::linalg::{Mat, matvec};

/// A Gaussian approximation `exp(nu'f - f'T f / 2)` for all rows together.
#[derive(Debug)]
pub(super) struct JointApproximation {
    /// `T`, symmetric.
    pub precision: Mat<f64>,
    /// `nu`.
    pub shift: Vec<f64>,
}

impl JointApproximation {
    /// One that says nothing about any of `n` values.
    pub fn none(n: usize) -> Self {
        Self {
            precision: Mat::zeros(n, n),
            shift: vec![0.0; n],
        }
    }

    /// That of Laplace's method: `T = J'W J` and `nu = T f + J'(log p)'` at the mode, `W = -(log
    /// p)''`.
    pub fn at(mode: &Mode, pools: &Pools) -> Self {
        let n = pools.nodes();
        let (mut precision, mut pull) = (Mat::zeros(n, n), vec![0.0; n]);
        for (row, (z, jet)) in mode.means.iter().zip(&mode.jets).enumerate() {
            let (nodes, _) = pools.row(row);
            let w = (-jet.second).max(0.0);
            for (&a, j) in nodes.iter().zip(&z.slopes) {
                pull[a] += j * jet.first;
                for (&b, k) in nodes.iter().zip(&z.slopes) {
                    precision[(a, b)] += w * j * k;
                }
            }
        }
        let mut shift = matvec(precision.as_ref(), &mode.values);
        shift.iter_mut().zip(&pull).for_each(|(s, p)| *s += p);
        Self { precision, shift }
    }
}
