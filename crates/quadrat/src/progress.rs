//! A progress callback: the library reports, the caller shows.

use std::fmt;
use std::sync::{Mutex, PoisonError};

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
        /// Nodes known so far: more while a grid is explored, fewer once a search knows its end.
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
    /// A measurement of a batch was chosen.
    Choice {
        /// Measurements chosen.
        done: usize,
        /// How many there are at most.
        total: usize,
    },
    /// A sampler drew, warm-up included, or draws were looked at.
    Draw {
        /// Draws so far, over all chains and looks.
        done: usize,
        /// Draws in all.
        total: usize,
    },
}

/// Receives [`Event`]s; called from several threads.
pub trait Progress: Sync {
    /// Called on every event, sometimes under a lock: must return quickly, and neither compute in
    /// parallel nor wait for what does.
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

/// Whom a builder tells.
#[derive(Clone, Copy)]
pub(crate) struct Watcher<'a>(pub &'a dyn Progress);

impl fmt::Debug for Watcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

/// What was done, of how much: the share never falls.
#[derive(Debug)]
pub(crate) struct Watched<'a> {
    watcher: Watcher<'a>,
    event: fn(usize, usize) -> Event,
    /// How many are done, and how many there are as far as is known.
    counts: Mutex<(usize, usize)>,
}

impl<'a> Watched<'a> {
    /// No setting of the hyperparameters looked at yet, of at most so many.
    pub fn new(watcher: Watcher<'a>, total: usize) -> Self {
        Self {
            watcher,
            event: |done, total| Event::Node { done, total },
            counts: Mutex::new((0, total)),
        }
    }

    /// No draw made yet, of so many.
    pub fn of_draws(watcher: Watcher<'a>, total: usize) -> Self {
        Self {
            event: |done, total| Event::Draw { done, total },
            ..Self::new(watcher, total)
        }
    }

    /// Tells that one more was looked at.
    pub fn one(&self) {
        self.searched(0);
    }

    /// Tells that a search, whose end is not known, looked at one more; the last `after` are left
    /// to what follows it.
    pub fn searched(&self, after: usize) {
        self.some(1, after);
    }

    /// Tells of some more; the last `after` are left to what follows.
    pub fn some(&self, more: usize, after: usize) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.0 = (counts.0 + more).min(counts.1.saturating_sub(after));
        let (done, total) = *counts;
        // Still held: events of several threads come in order.
        self.watcher.0.report((self.event)(done, total));
    }

    /// No more than so many are left, as is known by now.
    pub fn left(&self, left: usize) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.1 = counts.1.min(counts.0 + left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps all events.
    #[derive(Default)]
    struct Kept(Mutex<Vec<Event>>);

    impl Progress for Kept {
        fn report(&self, event: Event) {
            self.0.lock().unwrap().push(event);
        }
    }

    #[test]
    fn the_share_that_is_done_never_falls() {
        let kept = Kept::default();
        let watched = Watched::new(Watcher(&kept), 10);
        (0..9).for_each(|_| watched.searched(4));
        watched.left(20);
        watched.one();
        watched.left(1);
        (0..3).for_each(|_| watched.one());
        let told: Vec<(usize, usize)> = kept
            .0
            .into_inner()
            .unwrap()
            .iter()
            .map(|event| match event {
                Event::Node { done, total } => (*done, *total),
                other => panic!("{other:?}"),
            })
            .collect();
        let search = [1, 2, 3, 4, 5, 6, 6, 6, 6].map(|done| (done, 10));
        assert_eq!(told[..9], search);
        assert_eq!(told[9..], [(7, 10), (8, 8), (8, 8), (8, 8)]);
    }
}
