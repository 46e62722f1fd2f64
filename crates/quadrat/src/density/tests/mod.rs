//! Against brute force, against sampling, and on samples that nobody would wish for.

mod brute;
mod lifted;
pub(super) mod samples;
mod saved;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub(super) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(super) fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    (0..n).map(|_| StandardNormal.sample(&mut random)).collect()
}
