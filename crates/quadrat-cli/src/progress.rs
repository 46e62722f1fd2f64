//! How far the fit is, on a terminal only.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use quadrat::progress::{Event, Progress};

/// A bar on standard error, or nothing when it is no terminal or quiet was asked.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar that shows at once.
    pub fn new(quiet: bool) -> Arc<Self> {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let template = "{spinner} {msg} {wide_bar} {pos}/{len} {elapsed}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message("fitting");
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Arc::new(Self(bar))
    }

    /// Says what comes next.
    pub fn say(&self, message: &'static str) {
        self.0.set_message(message);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }

    fn show(&self, message: &'static str, done: usize, total: usize) {
        self.0.set_message(message);
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
    }
}

impl Progress for Bar {
    fn report(&self, event: Event) {
        match event {
            Event::Start { done, total, .. } => {
                self.show("optimising hyperparameters", done, total)
            }
            Event::Node { done, total } => self.show("integrating hyperparameters", done, total),
            Event::Draw { done, total } => self.show("sampling", done, total),
            Event::Step {
                done,
                best,
                gain,
                left,
                is_part,
            } => {
                let elapsed = self.0.elapsed().as_secs_f64() / done.max(1) as f64;
                let left = left.map_or(String::new(), |steps| {
                    format!(", about {:.0} s left", (steps * elapsed).max(1.0))
                });
                let of = if is_part { "part of the data, " } else { "" };
                self.0.set_message(format!(
                    "{of}step {done}: objective {best:.2} nats, gained {gain:.2}{left}"
                ));
                self.0.set_position(done as u64);
            }
            _ => {}
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
