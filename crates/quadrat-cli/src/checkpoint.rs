//! What is kept of a long fit while it runs: a file beside the output, from which `--resume` goes
//! on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use quadrat::progress::Keeper;
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine;

use crate::output::{self, Staged};

/// Time between two writings.
const EVERY: Duration = Duration::from_secs(5);
/// The variable that gives another one, in seconds.
const EVERY_NAME: &str = "QUADRAT_CHECKPOINT_SECONDS";

fn every() -> Duration {
    let asked = std::env::var(EVERY_NAME).ok();
    let seconds = asked.and_then(|text| text.trim().parse::<f64>().ok());
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.unwrap_or(EVERY)
}

/// The file, and when it was written.
pub struct Checkpoint {
    path: PathBuf,
    begun: Option<Vec<u8>>,
    written: Mutex<Written>,
    /// Whether the fit was told to stop, which it is not when that is asked after its end.
    told: AtomicBool,
    every: Duration,
}

#[derive(Default)]
struct Written {
    at: Option<Instant>,
    /// Whether it was written by this fit.
    is_own: bool,
    /// Why it could not be, the last time.
    trouble: Option<String>,
}

impl Checkpoint {
    /// The one of a fit that writes to `output`.
    ///
    /// Refuses to write over that of a fit that was not finished, and to go on from one that is not
    /// there.
    pub fn beside(output: &Path, resume: bool) -> Result<Self> {
        let mut name = output.as_os_str().to_owned();
        name.push(".checkpoint");
        let path = PathBuf::from(name);
        let begun = match (path.exists(), resume) {
            (false, false) => None,
            (true, true) => {
                let bytes = std::fs::read(&path);
                output::kept_in(&path);
                Some(bytes.with_context(|| format!("cannot read `{}`", path.display()))?)
            }
            (true, false) => {
                let message = format!("`{}` is of a fit that was not finished", path.display());
                let remedy = "go on from it with --resume, or remove it to begin anew";
                return Err(Problems::from(Problem::new(message).remedy(remedy)).into());
            }
            (false, true) => {
                let message = format!("there is no `{}` to go on from", path.display());
                let remedy = "leave --resume out, or give the -o of the fit that was not finished";
                return Err(Problems::from(Problem::new(message).remedy(remedy)).into());
            }
        };
        output::stop_gently(true);
        Ok(Self {
            path,
            begun,
            written: Mutex::default(),
            told: AtomicBool::new(false),
            every: every(),
        })
    }

    /// The fit is over and its results are written: removes the file, unless the fit was stopped.
    ///
    /// Returns what people must be told, if anything.
    pub fn close(&self) -> Option<String> {
        output::stop_gently(false);
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trouble) = &written.trouble {
            return Some(format!(
                "what the fit kept of itself could not be written: {trouble}"
            ));
        }
        if self.told.load(Ordering::Relaxed) {
            let stopped = "stopped before the fit was over";
            let path = self.path.display();
            return Some(match self.path.exists() {
                true => format!("{stopped}; `{path}` holds where it stood: --resume goes on"),
                false => format!("{stopped}, and before it kept anything to go on from"),
            });
        }
        // It may never have been written.
        drop(std::fs::remove_file(&self.path));
        None
    }
}

impl engine::Checkpoint for Checkpoint {
    /// The fit failed: removes the file if it is of this fit alone, so that the study can be mended
    /// and run.
    fn forget(&self) {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = written.is_own && self.begun.is_none();
        if is_own && !self.told.load(Ordering::Relaxed) {
            drop(std::fs::remove_file(&self.path));
        }
    }

    /// Why the fit cannot go on from the file, in terms of the file.
    fn refused(&self, reason: &str) -> anyhow::Error {
        let message = format!("`{}` {reason}", self.path.display());
        let remedy =
            "remove it, and leave --resume out, to begin anew; or give the study that it is of";
        Problems::from(Problem::new(message).remedy(remedy)).into()
    }
}

impl Keeper for Checkpoint {
    fn begun(&self) -> Option<Vec<u8>> {
        self.begun.clone()
    }

    fn keep(&self, state: &dyn Fn() -> Vec<u8>) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.at.is_some_and(|at| at.elapsed() < self.every) && !output::is_stopped() {
            return;
        }
        let mut staged = Staged::new();
        let outcome = staged
            .bytes(&self.path, &state())
            .and_then(|()| staged.finish());
        if outcome.is_ok() {
            output::kept_in(&self.path);
            written.is_own = true;
        }
        written.trouble = outcome.err().map(|error| format!("{error:#}"));
        written.at = Some(Instant::now());
    }

    fn is_stopped(&self) -> bool {
        let stopped = output::is_stopped();
        if stopped {
            self.told.store(true, Ordering::Relaxed);
        }
        stopped
    }
}

#[cfg(test)]
mod tests {
    use quadrat_study::engine::Checkpoint as _;

    use super::*;

    #[test]
    fn only_a_file_that_was_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::beside(&folder.path().join("out"), false).unwrap();
        assert_eq!(checkpoint.close(), None);
        checkpoint.told.store(true, Ordering::Relaxed);
        let told = checkpoint.close().unwrap();
        assert!(!told.contains("--resume"), "{told}");
        checkpoint.keep(&|| vec![1]);
        let told = checkpoint.close().unwrap();
        assert!(told.contains("out.checkpoint") && told.contains("--resume"));
    }

    #[test]
    fn a_fit_that_failed_leaves_nothing_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let file = folder.path().join("out.checkpoint");
        std::fs::write(&file, [7]).unwrap();
        // That of an earlier fit, which this one went on from or refused.
        let checkpoint = Checkpoint::beside(&out, true).unwrap();
        checkpoint.keep(&|| vec![1]);
        checkpoint.forget();
        assert!(file.exists());
        std::fs::remove_file(&file).unwrap();
        let checkpoint = Checkpoint::beside(&out, false).unwrap();
        checkpoint.forget();
        checkpoint.keep(&|| vec![1]);
        assert!(file.exists());
        checkpoint.forget();
        assert!(!file.exists());
        let told = checkpoint.refused("is damaged").to_string();
        assert!(told.contains("out.checkpoint` is damaged"), "{told}");
    }
}
