//! How chains are run, and what they tell of themselves.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::progress::{Event, Progress};

/// How to sample.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McmcOptions {
    /// Chains, at least 1; two or more tell whether they agree. They run side by side on the
    /// threads of the current rayon pool.
    pub chains: usize,
    /// Draws of every chain that only tune the sampler.
    pub warm_up: usize,
    /// Draws of every chain that are kept, at least 20.
    pub draws: usize,
    /// Seed; with it the draws are fixed, whatever the number of threads.
    pub seed: u64,
}

impl Default for McmcOptions {
    fn default() -> Self {
        Self {
            chains: 4,
            warm_up: 500,
            draws: 1000,
            seed: 1,
        }
    }
}

impl McmcOptions {
    /// Sets the number of chains.
    #[must_use]
    pub fn with_chains(mut self, chains: usize) -> Self {
        self.chains = chains;
        self
    }

    /// Sets the draws per chain that tune the sampler, and those that are kept.
    #[must_use]
    pub fn with_draws(mut self, warm_up: usize, draws: usize) -> Self {
        self.warm_up = warm_up;
        self.draws = draws;
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// Counts draws over all chains.
pub(super) struct Tally<'a> {
    pub(super) done: AtomicUsize,
    pub(super) total: usize,
    pub(super) progress: &'a dyn Progress,
}

impl Tally<'_> {
    pub(super) fn drawn(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.report(Event::Draw {
            done,
            total: self.total,
        });
    }
}
