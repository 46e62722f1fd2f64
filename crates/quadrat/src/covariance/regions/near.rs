//! Rows so far apart that a kernel between them is nothing.

use std::ops::Range;

use super::edges::reach_of;
use super::planar::Planar;
use crate::covariance::factor::Sides;
use crate::support::Functionals;

/// Bounding boxes of the rows of both sides, in lengthscales, and how far the kernel reaches.
pub(in crate::covariance) struct Near {
    a: Vec<Frame>,
    b: Vec<Frame>,
    reach: f64,
}

/// Lower and upper ends along two columns.
type Frame = [[f64; 2]; 2];

impl Near {
    pub fn new(planar: Planar, lengthscales: [f64; 2], sides: Sides<'_>) -> Self {
        let frames = |set: &Functionals| -> Vec<Frame> {
            let along = |row: usize, k: usize| {
                let (low, high) = set.extent(row, planar.dims[k]);
                [low / lengthscales[k], high / lengthscales[k]]
            };
            (0..set.len())
                .map(|row| [along(row, 0), along(row, 1)])
                .collect()
        };
        let a = frames(sides.a);
        let b = if std::ptr::eq(sides.a, sides.b) {
            a.clone()
        } else {
            frames(sides.b)
        };
        Self {
            a,
            b,
            reach: reach_of(planar.family),
        }
    }

    /// Whether a row of the first side feels one of these of the second.
    pub fn feels(&self, row: usize, columns: Range<usize>) -> bool {
        let own = &self.a[row];
        self.b[columns].iter().any(|other| {
            let gap = |k: usize| {
                (other[k][0] - own[k][1])
                    .max(own[k][0] - other[k][1])
                    .max(0.0)
            };
            gap(0).hypot(gap(1)) <= self.reach
        })
    }
}
