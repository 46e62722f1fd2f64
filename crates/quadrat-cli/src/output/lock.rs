//! One run at a time in a folder: its files belong together.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{create, unfinished};
use crate::diagnostic::{Problem, Problems};

/// The file that a run holds while it may write into the folder.
const NAME: &str = ".quadrat-lock";
/// How the temporary files of a run begin. Others are not touched: a table that `quadrat predict`
/// writes into the same folder is none of a run.
pub(super) const PREFIX: &str = ".quadrat-run-";

/// The right to write the files of one run into a folder, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Open, because the operating system frees the lock when it is closed, also of a killed program.
    _file: File,
    /// Folders that were made for it, outermost first.
    made: Vec<PathBuf>,
}

impl Lock {
    /// Takes the folder, which is made where it is missing, and removes what killed runs left
    /// there; refused while another run has it.
    pub fn of(folder: &Path) -> Result<Self> {
        let describe = || format!("cannot write into `{}`", folder.display());
        let path = folder.join(NAME);
        let mut made = Vec::new();
        let mut paths = unfinished();
        create(folder, &mut made).with_context(describe)?;
        let taken = take(&path).with_context(describe);
        let Some(file) = taken.inspect_err(|_| remove(&made))? else {
            let message = format!("another run is writing into `{}`", folder.display());
            let problem = Problem::new(message);
            let remedy = "wait until it is over, or choose another folder with -o";
            return Err(Problems::from(problem.remedy(remedy)).into());
        };
        paths.extend(made.iter().cloned());
        paths.push(path.clone());
        drop(paths);
        sweep(folder);
        Ok(Self {
            path,
            _file: file,
            made,
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is held: whoever opened the file meanwhile sees that the name has gone.
        drop(fs::remove_file(&self.path));
        remove(&self.made);
    }
}

/// The open and locked file; none while another program holds it.
fn take(path: &Path) -> std::io::Result<Option<File>> {
    loop {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network folders have no locks: there a run goes on without.
            Err(TryLockError::Error(_)) => return Ok(Some(file)),
        }
        // Its last owner may have removed the name between opening and locking.
        if path.exists() && is_same(&file, path) {
            return Ok(Some(file));
        }
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |data: fs::Metadata| (data.dev(), data.ino());
    let named = fs::metadata(path).map(place).ok();
    named.is_some() && named == file.metadata().map(place).ok()
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}

/// Removes the temporary files of runs that were killed: a run that lives holds the lock.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Removes folders that are empty, innermost first.
fn remove(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        drop(fs::remove_dir(folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_one_run_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("new/out");
        let lock = Lock::of(&folder).unwrap();
        let error = Lock::of(&folder).unwrap_err().to_string();
        assert!(error.contains("another run is writing into"), "{error}");
        drop(lock);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        drop(Lock::of(&folder).unwrap());
    }

    #[test]
    fn what_killed_runs_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        for name in [".quadrat-run-a1b2c3", ".quadrat-d4e5f6", "mine.csv"] {
            fs::write(root.path().join(name), "").unwrap();
        }
        drop(Lock::of(root.path()).unwrap());
        let entries = fs::read_dir(root.path()).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, [".quadrat-d4e5f6", "mine.csv"]);
    }
}
