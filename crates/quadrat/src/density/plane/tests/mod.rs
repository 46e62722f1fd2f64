//! Densities over a plane against brute force, each other, and on samples nobody would wish for.

mod areas;
mod boxes;
mod brute;
mod conditional;
mod nasty;
mod samples;
mod towns;

use super::super::tests::random;
use rand_distr::{Distribution, StandardNormal};

/// Pairs of normal numbers with a correlation.
pub(super) fn normals(n: usize, correlation: f64, seed: u64) -> [Vec<f64>; 2] {
    let mut random = random(seed);
    let rest = (1.0 - correlation * correlation).sqrt();
    let pairs = (0..n).map(|_| {
        let (a, b): (f64, f64) = (
            StandardNormal.sample(&mut random),
            StandardNormal.sample(&mut random),
        );
        (a, correlation * a + rest * b)
    });
    let (x, y) = pairs.unzip();
    [x, y]
}
