//! How far the fit is, on a terminal only.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quadrat::progress::{Event, Progress};

/// A bar on standard error, or nothing when it is no terminal or quiet was asked.
pub struct Bar {
    bar: ProgressBar,
    pace: Mutex<Option<Pace>>,
}

/// How fast one search steps: from its first step on, since what comes before is no step of it.
#[derive(Debug, Clone, Copy)]
struct Pace {
    first: (usize, Instant),
    last: usize,
    is_part: bool,
}

impl Pace {
    /// The pace after a step; another search counts its steps anew.
    fn after(before: Option<Self>, done: usize, is_part: bool, now: Instant) -> Self {
        let first = match before {
            Some(pace) if pace.is_part == is_part && pace.last < done => pace.first,
            _ => (done, now),
        };
        Self {
            first,
            last: done,
            is_part,
        }
    }

    /// Seconds of a step, once there were two.
    fn seconds(&self, now: Instant) -> Option<f64> {
        let steps = self.last - self.first.0;
        let taken = now.duration_since(self.first.1).as_secs_f64();
        (steps > 0).then(|| taken / steps as f64)
    }
}

impl Bar {
    /// A bar that shows at once.
    pub fn new(quiet: bool) -> Arc<Self> {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let template = "{spinner} {prefix}{msg} {wide_bar} {pos}/{len} {elapsed}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message("fitting");
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Arc::new(Self {
            bar,
            pace: Mutex::new(None),
        })
    }

    /// Says what comes next.
    pub fn say(&self, message: &'static str) {
        self.bar.set_message(message);
    }

    /// Says which of several fits comes next.
    pub fn fold(&self, fold: usize, folds: usize) {
        self.bar.set_prefix(format!("fold {fold} of {folds}: "));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, message: &'static str, done: usize, total: usize) {
        self.bar.set_message(message);
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Progress for Bar {
    fn report(&self, event: Event) {
        match event {
            Event::Start { done, total, .. } => {
                self.show("optimising hyperparameters", done, total)
            }
            Event::Node { done, total } => self.show("integrating hyperparameters", done, total),
            Event::Choice { done, total } => self.show("choosing measurements", done, total),
            Event::Draw { done, total } => self.show("sampling", done, total),
            Event::Step {
                done,
                best,
                gain,
                left,
                is_part,
            } => {
                let now = Instant::now();
                let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
                let after = Pace::after(*pace, done, is_part, now);
                let seconds = after.seconds(now);
                *pace = Some(after);
                drop(pace);
                let left = left.zip(seconds).map(|(steps, each)| steps * each);
                let left = left.map_or(String::new(), |left| {
                    format!(", about {:.0} s left", left.max(1.0))
                });
                let of = if is_part { "part of the data, " } else { "" };
                self.bar.set_message(format!(
                    "{of}step {done}: objective {best:.2} nats, gained {gain:.2}{left}"
                ));
                self.bar.set_position(done as u64);
            }
            _ => {}
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_that_of_one_search() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut pace = None;
        let mut step = |done, is_part, seconds| {
            let now = at(seconds);
            pace.insert(Pace::after(pace, done, is_part, now))
                .seconds(now)
        };
        assert_eq!(step(1, true, 100), None);
        assert_eq!(step(3, true, 104), Some(2.0));
        // The next part, and then all: what came before does not count.
        assert_eq!(step(1, true, 200), None);
        assert_eq!(step(2, true, 203), Some(3.0));
        assert_eq!(step(5, false, 500), None);
        assert_eq!(step(6, false, 510), Some(10.0));
    }
}
