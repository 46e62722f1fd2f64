//! The last file of a run, which names the others.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use super::{Staged, parent};

/// What the last file of a run holds, and what an earlier run left beside it.
#[derive(Debug)]
pub struct Sealed {
    /// The text of the file.
    pub json: String,
    /// Files of an earlier run in the same folder that this run does not replace.
    pub left: Vec<PathBuf>,
}

impl Staged {
    /// Writes `fit.json` with the names of all files of the run, and makes it the seal of all: an
    /// older one goes before any other file gets its name, and the new one comes last. So where it
    /// is, all files that it names are of one run, also after a kill between two renamings.
    ///
    /// `json` is an object; the other files are staged before.
    pub fn seal(&mut self, path: &Path, json: &str) -> Result<Sealed> {
        let folder = parent(path);
        let own = self.files.iter().map(|(_, file)| file);
        let names: Vec<String> = own
            .filter(|file| parent(file) == folder)
            .filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let left = named_in(path).into_iter();
        let left = left.filter(|name| !names.contains(name));
        let left = left.map(|name| folder.join(name)).filter(|f| f.is_file());
        let left = left.collect();
        let json = with_files(json, &names)?;
        self.bytes(path, json.as_bytes())?;
        self.seal = Some(path.to_owned());
        Ok(Sealed { json, left })
    }
}

/// The files that the last file of an earlier run names: names without folders only.
fn named_in(path: &Path) -> Vec<String> {
    let Ok(text) = fs::read(path) else {
        return Vec::new();
    };
    let Ok(Value::Object(fields)) = serde_json::from_slice(&text) else {
        return Vec::new();
    };
    let Some(Value::Array(names)) = fields.get("files") else {
        return Vec::new();
    };
    let names = names.iter().filter_map(Value::as_str);
    let is_plain = |name: &&str| Path::new(name).file_name() == Some(name.as_ref());
    names.filter(is_plain).map(str::to_owned).collect()
}

/// An object with one more field, `files`. The text of the others stays as it is, so that no
/// number is rounded twice.
fn with_files(json: &str, names: &[String]) -> Result<String> {
    let names = serde_json::to_string(names)?;
    Ok(match json.trim_end().strip_suffix('}') {
        Some(fields) => format!("{},\n  \"files\": {names}\n}}\n", fields.trim_end()),
        None => json.to_owned(),
    })
}

/// The line that tells what an earlier run left.
pub fn left_over(left: &[PathBuf]) -> Option<String> {
    let names = left.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    let told = format!(
        "left by an earlier run into this folder: {}",
        names.join(", ")
    );
    (!names.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seal_is_away_while_files_are_of_two_runs() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for name in ["a.txt", "seal", "b.txt"] {
            fs::write(path(name), "old").unwrap();
        }
        let staged = || {
            let mut staged = Staged::of_run(root.path()).unwrap();
            for name in ["a.txt", "b.txt"] {
                staged.bytes(&path(name), b"new").unwrap();
            }
            staged.seal(&path("seal"), "{\n  \"rows\": 1\n}\n").unwrap();
            staged
        };
        // Stops between two files: the name of one is taken by a folder in the meantime.
        let stopped = staged();
        fs::remove_file(path("b.txt")).unwrap();
        fs::create_dir(path("b.txt")).unwrap();
        assert!(stopped.finish().is_err());
        assert_eq!(fs::read(path("a.txt")).unwrap(), b"new");
        assert!(!path("seal").exists());
        fs::remove_dir(path("b.txt")).unwrap();
        let names = ["a.txt", "b.txt", "seal"].map(path);
        assert_eq!(staged().finish().unwrap(), names);
        assert!(
            names[..2]
                .iter()
                .all(|name| fs::read(name).unwrap() == b"new")
        );
        let sealed = fs::read_to_string(path("seal")).unwrap();
        assert_eq!(
            sealed,
            "{\n  \"rows\": 1,\n  \"files\": [\"a.txt\",\"b.txt\"]\n}\n"
        );
    }

    #[test]
    fn what_an_earlier_run_left_is_named_and_kept() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let run = |names: &[&str]| {
            let mut staged = Staged::of_run(root.path()).unwrap();
            for name in names {
                staged.bytes(&path(name), b"x").unwrap();
            }
            let sealed = staged.seal(&path("fit.json"), "{\"rows\": 1}").unwrap();
            staged.finish().unwrap();
            sealed.left
        };
        assert_eq!(run(&["a.csv", "b.csv", "c.csv"]), Vec::<PathBuf>::new());
        // One that is gone is not named, nor one that is written again.
        fs::remove_file(path("c.csv")).unwrap();
        let left = run(&["a.csv", "d.csv"]);
        assert_eq!(left, [path("b.csv")]);
        let told = left_over(&left).unwrap();
        assert_eq!(told, "left by an earlier run into this folder: b.csv");
        assert!(path("b.csv").is_file() && left_over(&[]).is_none());
        // A list that leads elsewhere is not followed.
        fs::write(
            path("fit.json"),
            "{\"files\": [\"../b.csv\", \"/etc/passwd\", 3]}",
        )
        .unwrap();
        assert_eq!(run(&["a.csv"]), Vec::<PathBuf>::new());
    }
}
