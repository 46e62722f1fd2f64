//! Random points.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Urn;
use crate::quadrature::Nodes;
use crate::support::Region;

/// `n` uniform points, spread over the simplices by volume per share of the volume, of equal
/// weight: Algorithm 1.
///
/// A simplex of share `v` gets `n v` points, rounded up or down at random such that there are `n`
/// in all and the average is unbiased; the printed loop rounds up always, which favours small
/// simplices.
///
/// # Numerics
/// Relative error of a covariance about `n^-1/2`; the seed fixes the points.
/// # Source
/// Smith, Alvarez & Lawrence, *Gaussian process regression for binned data*, Algorithm 1.
#[must_use]
pub fn random(region: &Region, n: usize, seed: u64) -> Nodes {
    let urn = Urn::new(region);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut nodes = Nodes::new(urn.dim);
    let start: f64 = rng.random();
    for k in 0..n {
        // Systematic sampling: equally spaced over the cumulated volume, from a random start.
        let simplex = urn.simplex((k as f64 + start) / n as f64);
        let cube: Vec<f64> = (0..urn.dim).map(|_| rng.random()).collect();
        nodes.push(urn.image(simplex, |d| cube[d]), 1.0 / n as f64);
    }
    nodes
}
