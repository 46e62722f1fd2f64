//! Writing several files so that either all of them appear or none.

mod lock;
mod seal;

use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use quadrat_study::diagnostic::{Problem, Problems};
use tempfile::{NamedTempFile, TempPath};

use crate::terminal::tell;

use lock::Lock;
pub use seal::left_over;

/// Temporary files and new folders that an interruption must remove.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a long fit runs that can stop between its steps, and whether it was asked to.
static GENTLE: AtomicBool = AtomicBool::new(false);
static STOPPED: AtomicBool = AtomicBool::new(false);

/// What was kept of the fit that runs.
static KEPT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Notes where a fit was kept that can be gone on from.
pub fn kept_in(path: &Path) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
}

/// From now on the first Ctrl-C only asks a fit to stop; or no longer.
pub fn stop_gently(on: bool) {
    GENTLE.store(on, Ordering::SeqCst);
}

/// Whether a fit was asked to stop.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::SeqCst)
}

/// On Ctrl-C or termination: removes what is unfinished and exits with 130; a fit that can stop is
/// asked to first.
pub fn clean_up_when_interrupted() -> Result<()> {
    ctrlc::set_handler(|| {
        if GENTLE.load(Ordering::SeqCst) && !STOPPED.swap(true, Ordering::SeqCst) {
            tell("\nstopping after this step, with the best so far (once more: at once)\n");
            return;
        }
        if GENTLE.load(Ordering::SeqCst) {
            let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
            let told = match kept.as_ref().filter(|path| path.exists()) {
                Some(path) => format!(
                    "; `{}` holds where the fit stood: --resume goes on",
                    path.display()
                ),
                None => String::new(),
            };
            tell(&format!(
                "\nstopped at once, and nothing was written{told}\n"
            ));
        }
        // Held until the exit, so that no renaming starts or is cut in the middle.
        let paths = unfinished();
        for path in paths.iter().rev() {
            if fs::remove_file(path).is_err() {
                // Only a folder that is empty is removed.
                drop(fs::remove_dir(path));
            }
        }
        std::process::exit(130);
    })
    .context("cannot watch for Ctrl-C")
}

/// Refuses places that cannot be written to, before anything is computed for them.
pub fn writable(paths: &[PathBuf]) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for path in paths {
        if let Some(problem) = in_the_way(path) {
            problems.push(problem);
        }
    }
    let mut folders: Vec<&Path> = paths.iter().map(|path| parent(path)).collect();
    folders.dedup();
    for folder in folders {
        let there = folder
            .ancestors()
            .find(|p| !p.as_os_str().is_empty() && p.symlink_metadata().is_ok())
            .unwrap_or(Path::new("."));
        let name = there.display();
        let reason = if there.is_dir() {
            let _held = unfinished();
            match NamedTempFile::with_prefix_in(".quadrat-", there) {
                Ok(_) => continue,
                Err(error) => format!(
                    "cannot write into the folder `{name}`: {}",
                    plain(error.kind())
                ),
            }
        } else {
            format!("cannot write into `{name}`: it is not a folder")
        };
        problems.push(Problem::new(reason).remedy("choose another place with -o"));
    }
    problems.or(())
}

/// Refuses one file for two outputs, whichever way their names lead there.
pub fn apart(paths: &[PathBuf]) -> Result<(), Problems> {
    let place = |path: &PathBuf| -> PathBuf {
        let in_folder = || Some(parent(path).canonicalize().ok()?.join(path.file_name()?));
        let plain = || {
            let parts = path.components();
            parts.filter(|part| *part != Component::CurDir).collect()
        };
        let there = path.canonicalize().ok();
        there.or_else(in_folder).unwrap_or_else(plain)
    };
    let places: Vec<PathBuf> = paths.iter().map(place).collect();
    let mut problems = Problems::default();
    for (at, path) in paths.iter().enumerate() {
        if places[..at].contains(&places[at]) {
            let message = format!("`{}` would be written twice", path.display());
            problems.push(Problem::new(message).remedy("give each output a file of its own"));
        }
    }
    problems.or(())
}

fn plain(kind: std::io::ErrorKind) -> String {
    match kind {
        std::io::ErrorKind::PermissionDenied => "you may not write there".to_owned(),
        other => other.to_string(),
    }
}

/// What stands at the place of a file and is none: a rename would replace it. A link to a file is
/// written through.
fn in_the_way(path: &Path) -> Option<Problem> {
    if path == Path::new("-") {
        let problem = Problem::new("`-` is no name of a file");
        let remedy = "write the name of a file; what can be printed is, where no file is named";
        return Some(problem.remedy(remedy));
    }
    let there = fs::metadata(path).ok()?;
    let what = match there.is_dir() {
        true => "is a folder, not a file",
        false if there.is_file() => return None,
        false => "is a device or pipe, not a file",
    };
    let problem = Problem::new(format!("`{}` {what}", path.display()));
    Some(problem.remedy("choose another name for the file"))
}

/// The file that a path means: a link is written through, not replaced.
fn linked(path: &Path) -> PathBuf {
    match fs::read_link(path) {
        Ok(to) => path
            .canonicalize()
            .unwrap_or_else(|_| parent(path).join(to)),
        Err(_) => path.to_owned(),
    }
}

/// Makes a folder and those above it that are missing, which are noted.
fn create(folder: &Path, made: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|p| !p.as_os_str().is_empty() && !p.exists())
        .collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            Ok(()) => made.push(folder.to_owned()),
            // Another run was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The folder of a file.
fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Files written under temporary names beside their places.
#[derive(Debug)]
pub struct Staged {
    /// Where each file is now, and its name as it was asked.
    files: Vec<(TempPath, PathBuf)>,
    folders: Vec<PathBuf>,
    prefix: &'static str,
    /// The file that is away while others get their names.
    seal: Option<PathBuf>,
    done: bool,
    /// The right to write into the folder of a run. Let go of last, when folders that nothing was
    /// written into are gone.
    lock: Option<Lock>,
}

impl Staged {
    /// Nothing staged.
    pub fn new() -> Self {
        Self::with_prefix(".quadrat-")
    }

    /// Nothing staged, of a run into a folder, which is made where it is missing and belongs to the
    /// run until this is finished or dropped. Temporary files of a run that was killed are removed
    /// by the next.
    ///
    /// # Errors
    /// While another run has the folder; where it cannot be made.
    pub fn of_run(folder: &Path) -> Result<Self> {
        let mut staged = Self::with_prefix(lock::PREFIX);
        staged.make(folder)?;
        match Lock::take(folder) {
            Ok(lock) => staged.lock = Some(lock),
            Err(problems) => {
                // Another run has it, and what it needs of it is not ours to remove.
                staged.folders.clear();
                return Err(problems.into());
            }
        }
        Ok(staged)
    }

    /// Makes a folder where it is missing; it goes again if nothing is finished.
    pub fn make(&mut self, folder: &Path) -> Result<()> {
        let mut paths = unfinished();
        let made = self.folders.len();
        let created = create(folder, &mut self.folders);
        paths.extend_from_slice(&self.folders[made..]);
        created.with_context(|| format!("cannot write into `{}`", folder.display()))
    }

    fn with_prefix(prefix: &'static str) -> Self {
        Self {
            files: Vec::new(),
            folders: Vec::new(),
            prefix,
            seal: None,
            done: false,
            lock: None,
        }
    }

    /// Writes a file under a temporary name; `write` gets a buffered writer.
    pub fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        let describe = || format!("cannot write `{}`", path.display());
        if let Some(problem) = in_the_way(path) {
            return Err(Problems::from(problem).into());
        }
        let real = linked(path);
        let folder = parent(&real);
        self.make(folder)?;
        let mut paths = unfinished();
        let file = temporary(folder, self.prefix).with_context(describe)?;
        paths.push(file.path().to_owned());
        drop(paths);
        let (file, temporary) = file.into_parts();
        self.files.push((temporary, path.to_owned()));
        let mut buffered = std::io::BufWriter::new(&file);
        write(&mut buffered).with_context(describe)?;
        buffered.flush().with_context(describe)?;
        drop(buffered);
        file.sync_all().with_context(describe)
    }

    /// Writes a file from bytes.
    pub fn bytes(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.write(path, |out| Ok(out.write_all(bytes)?))
    }

    /// Gives every file its name; returns the names in the order of writing.
    pub fn finish(mut self) -> Result<Vec<PathBuf>> {
        let mut paths = unfinished();
        let named = |(temporary, path): (TempPath, PathBuf), real: &Path| {
            let done = temporary.persist(real);
            done.with_context(|| format!("cannot write `{}`", path.display()))
        };
        let mut files = std::mem::take(&mut self.files);
        let written = files.iter().map(|(_, path)| path.clone()).collect();
        let at = |(_, path): &(TempPath, PathBuf)| Some(path) == self.seal.as_ref();
        let last = files.iter().position(at).map(|at| files.remove(at));
        let last = last.map(|file| (linked(&file.1), file));
        if let Some((real, _)) = &last {
            match fs::remove_file(real) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("cannot write `{}`", real.display());
                    return Err(error).context(message);
                }
                _ => {}
            }
        }
        for file in files {
            let real = linked(&file.1);
            named(file, &real)?;
        }
        if let Some((real, file)) = last {
            named(file, &real)?;
        }
        self.done = true;
        paths.clear();
        Ok(written)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        self.files.clear();
        if !self.done {
            for folder in self.folders.iter().rev() {
                // Fails, rightly, when something else is in there by now.
                drop(fs::remove_dir(folder));
            }
        }
    }
}

/// Temporary files are private by default; results are as open as the user's other new files.
#[cfg(unix)]
fn temporary(folder: &Path, prefix: &str) -> std::io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path, prefix: &str) -> std::io::Result<NamedTempFile> {
    NamedTempFile::with_prefix_in(prefix, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_appears_until_everything_is_written() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("new/deep");
        let mut staged = Staged::new();
        staged.bytes(&target.join("a.txt"), b"a").unwrap();
        assert!(!target.join("a.txt").exists());
        staged.bytes(&target.join("b.txt"), b"b").unwrap();
        staged.finish().unwrap();
        assert_eq!(fs::read(target.join("b.txt")).unwrap(), b"b");
        assert_eq!(fs::read_dir(&target).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_written_through_and_devices_refused() {
        let root = tempfile::tempdir().unwrap();
        let (real, link) = (root.path().join("real.txt"), root.path().join("link.txt"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink("real.txt", &link).unwrap();
        let mut staged = Staged::new();
        staged.bytes(&link, b"new").unwrap();
        assert_eq!(staged.finish().unwrap(), std::slice::from_ref(&link));
        assert!(link.is_symlink() && fs::read(&real).unwrap() == b"new");
        let problems = writable(&["/dev/null".into()]).unwrap_err();
        assert!(
            problems.to_string().contains("device or pipe"),
            "{problems}"
        );
    }

    #[test]
    fn one_file_is_no_place_of_two_outputs() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("deep")).unwrap();
        let refused = |names: [&str; 2]| apart(&names.map(path)).is_err();
        assert!(refused(["a.csv", "a.csv"]) && refused(["a.csv", "./deep/../a.csv"]));
        assert!(refused(["new/a.csv", "./new/./a.csv"]));
        assert!(!refused(["a.csv", "deep/a.csv"]));
    }

    #[test]
    fn a_failure_leaves_no_file_and_no_new_folder_but_spares_others() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("mine.txt"), "mine").unwrap();
        let mut staged = Staged::new();
        staged.bytes(&root.path().join("new/a.txt"), b"a").unwrap();
        staged
            .bytes(&root.path().join("mine.txt"), b"other")
            .unwrap();
        assert!(
            staged
                .write(&root.path().join("c"), |_| anyhow::bail!("no"))
                .is_err()
        );
        drop(staged);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
        assert_eq!(fs::read(root.path().join("mine.txt")).unwrap(), b"mine");
    }
}
