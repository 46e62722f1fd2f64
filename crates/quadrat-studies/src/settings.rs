//! What all studies are told.

use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How to run a study.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Few repeats: well under a minute.
    pub quick: bool,
    /// Everything random comes from it.
    pub seed: u64,
    /// Repeats in place of the study's own number.
    pub repeats: Option<usize>,
    /// Only the parts of a study whose names contain one of these, where it has parts; empty: all.
    pub only: Vec<String>,
    /// Width of the bins, where a study has bins of one width.
    pub width: usize,
    /// Folder of the public data sets.
    pub data: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            quick: false,
            seed: 1,
            repeats: None,
            only: Vec::new(),
            width: 10,
            data: beside_the_workspace(),
        }
    }
}

/// `../shared/data`, seen from the root of the workspace.
pub(super) fn beside_the_workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    root.unwrap_or(Path::new("..")).join("shared/data")
}

impl Settings {
    /// Repeats: as asked, else `quick` or `full`.
    #[must_use]
    pub fn repeats(&self, quick: usize, full: usize) -> usize {
        let own = if self.quick { quick } else { full };
        self.repeats.unwrap_or(own).max(1)
    }

    /// Whether a part whose name may be found by any of its words is asked for.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let is_in = |text: &String| name.contains(&text.to_lowercase());
        self.only.is_empty() || self.only.iter().any(is_in)
    }

    /// A stream of random numbers of its own for every `stream`, whatever runs in parallel.
    #[must_use]
    pub fn random(&self, stream: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(stream);
        random
    }
}
