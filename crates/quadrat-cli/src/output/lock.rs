//! One run at a time in a folder: its files belong together.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use quadrat_study::diagnostic::{Problem, Problems};

/// How the temporary files of a run begin. Others are not touched: a table that `quadrat predict`
/// writes into the same folder is none of a run.
pub(super) const PREFIX: &str = ".quadrat-run-";

/// The right to write the files of one run into a folder, until it is dropped.
///
/// It is an advisory lock of the folder itself, which the operating system frees when the program
/// ends, however it ends. Where folders cannot be locked (some network folders), runs go on
/// without.
#[derive(Debug)]
pub struct Lock {
    /// The folder, open while it is held.
    _folder: Option<File>,
}

impl Lock {
    /// Takes a folder, which is there, before a run begins.
    ///
    /// # Errors
    /// While another run has it.
    pub fn take(folder: &Path) -> Result<Self, Problems> {
        let Ok(file) = File::open(folder) else {
            return Ok(Self { _folder: None });
        };
        match file.try_lock() {
            Ok(()) => Ok(Self::held(folder, file)),
            Err(TryLockError::Error(_)) => Ok(Self { _folder: None }),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another run is writing into `{}`", folder.display());
                let remedy = "wait until it is over, or choose another folder with -o";
                Err(Problem::new(message).remedy(remedy).into())
            }
        }
    }

    fn held(folder: &Path, file: File) -> Self {
        sweep(folder);
        Self {
            _folder: Some(file),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_one_run_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let lock = Lock::take(root.path()).unwrap();
        let error = Lock::take(root.path()).unwrap_err().to_string();
        assert!(error.contains("another run is writing into"), "{error}");
        drop(lock);
        assert!(Lock::take(root.path()).is_ok());
    }

    #[test]
    fn what_killed_runs_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        for name in [".quadrat-run-a1b2c3", ".quadrat-d4e5f6", "mine.csv"] {
            fs::write(root.path().join(name), "").unwrap();
        }
        drop(Lock::take(root.path()).unwrap());
        let entries = fs::read_dir(root.path()).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, [".quadrat-d4e5f6", "mine.csv"]);
    }
}
