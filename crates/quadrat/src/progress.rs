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
    /// A search that streams rows took a step that made it better.
    Step {
        /// Steps so far.
        done: usize,
        /// The best log posterior density so far: the bound of the evidence and the log prior
        /// density of the hyperparameters.
        best: f64,
        /// What the step gained, in nats.
        gain: f64,
        /// Steps that are left if gains go on shrinking as they do; `None` while that cannot be
        /// told.
        left: Option<f64>,
        /// Whether only a part of the data is looked at, for a start near the optimum of all.
        is_part: bool,
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

/// Keeps where a long search stands, so that nothing is lost, and may end it between two passes
/// over the rows.
///
/// # Examples
/// One that stops at once keeps the start:
/// ```
/// use quadrat::progress::Keeper;
///
/// struct Impatient;
///
/// impl Keeper for Impatient {
///     fn begun(&self) -> Option<Vec<u8>> {
///         None
///     }
///     fn keep(&self, _state: &dyn Fn() -> Vec<u8>) {}
///     fn is_stopped(&self) -> bool {
///         true
///     }
/// }
/// ```
pub trait Keeper: Sync {
    /// What was kept of an earlier search for the same fit, to go on from.
    fn begun(&self) -> Option<Vec<u8>>;

    /// Called where a search begins and after every step that made it better; `state` makes the
    /// bytes, which costs about as much as writing them.
    fn keep(&self, state: &dyn Fn() -> Vec<u8>);

    /// Called where a search that keeps nothing has a first answer: from then on a stop leaves one.
    fn can_stop(&self) {}

    /// Whether to stop here, with the best found so far. Asked often: must return quickly.
    fn is_stopped(&self) -> bool;
}

/// Ignores every event.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _event: Event) {}
}
