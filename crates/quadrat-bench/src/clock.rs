//! Time on a machine that others use too.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};

/// How long something took.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Seconds on the wall clock.
    pub wall: f64,
    /// Seconds this thread ran: others' load does not count. The wall clock where the system does
    /// not tell.
    pub processor: f64,
}

impl Times {
    pub fn json(self) -> Value {
        json!({ "wall": self.wall, "processor": self.processor })
    }
}

/// Runs `work` once on this thread.
pub fn once<T>(work: impl FnOnce() -> T) -> (T, Times) {
    let (start, from) = (Instant::now(), processor_time());
    let out = black_box(work());
    let wall = start.elapsed().as_secs_f64();
    let processor = match (from, processor_time()) {
        (Some(from), Some(to)) => 1e-9 * (to - from),
        _ => wall,
    };
    (out, Times { wall, processor })
}

/// Time of one run: the least of so many averages over a twentieth of a second, by either clock.
pub fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> Times {
    let mut least = Times {
        wall: f64::INFINITY,
        processor: f64::INFINITY,
    };
    for _ in 0..rounds {
        let (runs, times) = once(|| {
            let start = Instant::now();
            let mut runs = 0.0;
            while start.elapsed().as_millis() < 50 {
                black_box(work());
                runs += 1.0;
            }
            runs
        });
        least.wall = least.wall.min(times.wall / runs);
        least.processor = least.processor.min(times.processor / runs);
    }
    least
}

/// Nanoseconds this thread has run.
fn processor_time() -> Option<f64> {
    // The system brings the account up to date when a thread gives way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
