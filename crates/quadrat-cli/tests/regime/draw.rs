//! Choices from a seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of choices that is the same wherever it is used.
pub struct Draw(ChaCha8Rng);

impl Draw {
    pub fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A whole number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// A number from `low` on, below `high`, with three digits after the point.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        (self.0.random_range(low..high) * 1e3).round() / 1e3
    }

    /// Yes, this many times of a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of several.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of several texts.
    pub fn word(&mut self, items: &[&'static str]) -> &'static str {
        self.of::<&str>(items)
    }
}
