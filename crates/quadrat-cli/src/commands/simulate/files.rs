//! The files of a simulation: all are written, or none.

use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use quadrat_study::diagnostic::{Problem, Problems};

use crate::output::{Staged, writable};

/// A file: its name, its text, what it holds.
pub struct File {
    pub name: &'static str,
    pub text: String,
    pub holds: String,
}

/// Writes all files or none; those that are there and hold something else are spared.
pub fn write(files: &[File], folder: &Path) -> Result<()> {
    let mut problems = Problems::default();
    for file in files {
        let path = folder.join(file.name);
        if std::fs::read(&path).is_ok_and(|present| present != file.text.as_bytes()) {
            problems.push(
                Problem::new(format!(
                    "`{}` is there already and holds something else; the simulation would replace it",
                    path.display()
                ))
                .remedy("move it away, or choose another folder with -o"),
            );
        }
    }
    problems.or(())?;
    let paths: Vec<_> = files.iter().map(|file| folder.join(file.name)).collect();
    writable(&paths)?;
    let mut staged = Staged::new();
    for (file, path) in files.iter().zip(&paths) {
        staged.bytes(path, file.text.as_bytes())?;
    }
    staged.finish()?;
    Ok(())
}

/// What was written, for people.
pub fn wrote(files: &[File], folder: &Path) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for file in files {
        let _ = writeln!(text, "  {:<13}  {}", file.name, file.holds);
    }
    let _ = writeln!(
        text,
        "wrote {}; run it with `quadrat run {}`",
        folder.display(),
        folder.join("study.toml").display()
    );
    text
}
