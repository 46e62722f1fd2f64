//! How far a long study is, on standard error.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shortest time between two lines.
const PAUSE: Duration = Duration::from_secs(20);

/// Counts the fits of a part of a study, over all threads.
pub struct Steps {
    part: String,
    total: usize,
    state: Mutex<State>,
}

struct State {
    done: usize,
    begun: Instant,
    told: Instant,
}

impl Steps {
    /// None done yet, of `total`.
    #[must_use]
    pub fn new(part: impl Into<String>, total: usize) -> Self {
        let now = Instant::now();
        let state = State {
            done: 0,
            begun: now,
            told: now,
        };
        Self {
            part: part.into(),
            total,
            state: Mutex::new(state),
        }
    }

    /// Counts one, and says so where the last line was a while ago; hands on what it took.
    pub fn after<T>(&self, outcome: T) -> T {
        if let Some(line) = self.count(Instant::now()) {
            eprintln!("{line}");
        }
        outcome
    }

    fn count(&self, now: Instant) -> Option<String> {
        let mut state = self.state.lock().ok()?;
        state.done += 1;
        if now.duration_since(state.told) < PAUSE {
            return None;
        }
        state.told = now;
        let (done, total, part) = (state.done, self.total, &self.part);
        let seconds = now.duration_since(state.begun).as_secs_f64();
        let left = seconds * total.saturating_sub(done) as f64 / done as f64;
        Some(format!(
            "{part}: {done} of {total} in {seconds:.0} s, about {left:.0} s left"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_follows_the_last_after_a_pause() {
        let steps = Steps::new("fits", 4);
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(steps.count(at(1)), None);
        let line = steps.count(at(30)).unwrap();
        assert!(
            line.starts_with("fits: 2 of 4 in ") && line.contains("left"),
            "{line}"
        );
        assert_eq!(steps.count(at(31)), None);
        assert!(steps.count(at(60)).unwrap().starts_with("fits: 4 of 4"));
    }
}
