//! A progress callback: the library reports, the caller shows.

/// What a long computation is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// An optimiser start finished: `done` of `total`, best objective so far (nats).
    Start {
        /// Starts finished.
        done: usize,
        /// Starts in all.
        total: usize,
        /// Best log posterior density so far.
        best: f64,
    },
    /// A node of the hyperparameter integration finished.
    Node {
        /// Nodes finished.
        done: usize,
        /// Nodes known so far (grows while the grid is explored).
        total: usize,
    },
    /// A sampler drew once, warm-up included.
    Draw {
        /// Draws so far, over all chains.
        done: usize,
        /// Draws in all.
        total: usize,
    },
}

/// Receives [`Event`]s; called from several threads.
pub trait Progress: Sync {
    /// Called on every event; must return quickly.
    fn report(&self, event: Event);
}

/// Ignores every event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _event: Event) {}
}
