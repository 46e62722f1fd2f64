//! The peer: the same pass by GPyTorch and PyTorch.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::map::Map;

/// The script, from the sources that this was built from.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/bags.py");
/// Pixels that it takes at a time, about: as many as its derivatives are fastest with on one
/// thread.
const CHUNK: usize = 1024;
/// Bytes up to which the allocator of the GNU system keeps what was freed, the most that it takes:
/// arrays that are mapped anew every time take the peer up to twice as long.
const KEPT: &str = "33554432";
/// Bytes that it keeps in all.
const KEPT_IN_ALL: &str = "4294967296";

/// An interpreter that has the peer, and a folder for what it reads.
pub struct Peer {
    python: PathBuf,
    folder: PathBuf,
    /// Which versions it has.
    pub versions: String,
}

/// What passes of the peer came to: by the processor on one thread, on the wall clock on more.
pub struct Theirs {
    pub bound: f64,
    pub value: f64,
    pub gradient: f64,
}

/// Relative difference of both bounds: sums of many terms in other orders, through a factor of a
/// matrix of condition 1e6.
const SAME: f64 = 1e-8;

impl Theirs {
    /// Refuses a bound that is not ours.
    pub fn agrees(&self, own: f64) -> Result<()> {
        let apart = (self.bound - own).abs() / own.abs();
        ensure!(
            apart < SAME,
            "the bounds differ by {apart:.1e} of themselves"
        );
        Ok(())
    }
}

impl Peer {
    /// None, and says so, where it is not installed.
    pub fn find(python: &Path) -> Result<Option<Self>> {
        let Some(versions) = crate::chained_peer::versions(python) else {
            return Ok(None);
        };
        let folder = std::env::temp_dir().join(format!("quadrat-bags-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let python = python.to_owned();
        Ok(Some(Self {
            python,
            folder,
            versions,
        }))
    }

    /// The least seconds of `runs` passes.
    pub fn pass(&self, map: &Map, threads: usize, runs: usize) -> Result<Theirs> {
        for (name, bytes) in map.arrays() {
            let file = self.folder.join(name);
            std::fs::write(&file, bytes)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        let mut setting = map.setting();
        for (key, value) in [("threads", threads), ("runs", runs), ("chunk", CHUNK)] {
            setting[key] = value.into();
        }
        std::fs::write(self.folder.join("problem.json"), setting.to_string())
            .context("cannot write the problem")?;
        let output = Command::new(&self.python)
            .args(["-W", "ignore", SCRIPT])
            .arg(&self.folder)
            .env("OMP_NUM_THREADS", threads.to_string())
            .env("MALLOC_MMAP_THRESHOLD_", KEPT)
            .env("MALLOC_TRIM_THRESHOLD_", KEPT_IN_ALL)
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot run {}", self.python.display()))?;
        ensure!(
            output.status.success(),
            "the peer did not pass over the pixels"
        );
        let found: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let number = |key: &str| found[key].as_f64().with_context(|| format!("no `{key}`"));
        Ok(Theirs {
            bound: number("bound")?,
            value: number("value")?,
            gradient: number("gradient")?,
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
