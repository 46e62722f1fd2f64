//! How far years that are ungrouped together are.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::progress::{Event, Progress};

/// Who is told.
#[derive(Clone, Copy)]
pub(in crate::ungroup) struct Watcher<'a>(pub &'a dyn Progress);

impl fmt::Debug for Watcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

/// Settings that were looked at, of how many.
#[derive(Debug)]
pub(super) struct Watched<'a> {
    watcher: Watcher<'a>,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl<'a> Watched<'a> {
    /// Nothing done yet of so many.
    pub fn new(watcher: Watcher<'a>, total: usize) -> Self {
        Self {
            watcher,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(total),
        }
    }

    /// Tells that one more was looked at.
    pub fn one(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed).max(done);
        self.watcher.0.report(Event::Node { done, total });
    }

    /// So many are left, as is known by now.
    pub fn left(&self, left: usize) {
        let done = self.done.load(Ordering::Relaxed);
        self.total.store(done + left, Ordering::Relaxed);
    }
}
