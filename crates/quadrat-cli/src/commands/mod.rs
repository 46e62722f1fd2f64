//! What each command does.

mod begun;
pub mod demo;
pub mod density;
mod figures;
pub mod fit;
mod looks;
pub mod next;
pub mod noise;
pub mod predict;
pub mod reconcile;
pub mod run;
pub mod score;
mod section;
pub mod simulate;
pub mod tell;
pub mod ungroup;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use quadrat_study::Running;
use quadrat_study::diagnostic::{Problem, Problems};

use crate::args::Saying;
use crate::progress::Bar;

/// How to run: on how many threads, and which bar hears about it.
pub fn running(saying: &Saying, bar: &Arc<Bar>) -> Result<Running> {
    if let Some(threads) = saying.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()?;
    }
    Ok(Running {
        progress: Some(Arc::clone(bar) as _),
        keeper: None,
        stopper: None,
    })
}

/// Prints to standard output; a reader that left is success.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.context("cannot write to standard output")
}

/// The outputs that would replace one of some files that are read.
pub fn replacing<'o>(inputs: &[&Path], outputs: &'o [impl AsRef<Path>]) -> Vec<&'o Path> {
    let real = |path: &Path| path.canonicalize().ok();
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|input| real(input)).collect();
    let outputs = outputs.iter().map(AsRef::as_ref);
    outputs
        .filter(|output| real(output).is_some_and(|output| inputs.contains(&output)))
        .collect()
}

/// A problem for each output that would replace a file that is read, in words that say which.
pub fn replaced(
    inputs: &[&Path],
    outputs: &[impl AsRef<Path>],
    (what, remedy): (&str, &str),
) -> Problems {
    let mut problems = Problems::default();
    for output in replacing(inputs, outputs) {
        let message = format!("the output `{}` would replace {what}", output.display());
        problems.push(Problem::new(message).remedy(remedy));
    }
    problems
}

/// Refuses to write over a file that is read, where it is plain which output would.
pub fn spare(
    inputs: &[&Path],
    outputs: &[impl AsRef<Path>],
    (what, remedy): (&str, &str),
) -> Result<(), Problems> {
    if replacing(inputs, outputs).is_empty() {
        return Ok(());
    }
    let message = format!("the output would replace {what}");
    Err(Problem::new(message).remedy(remedy).into())
}

/// Refuses to write over the study or a table that it reads.
///
/// # Arguments
/// * `files` - those that the study names
/// * `study` - the study itself
pub fn spare_inputs(
    files: Vec<PathBuf>,
    study: &Path,
    outputs: &[PathBuf],
    remedy: &str,
) -> Result<(), Problems> {
    let inputs = files.iter().map(PathBuf::as_path);
    let inputs: Vec<&Path> = inputs.chain([study]).collect();
    let told = ("a file that the study reads", remedy);
    replaced(&inputs, outputs, told).or(())
}

/// What mends that, where there is one output.
pub const ELSEWHERE: &str = "choose another output with -o";

/// And where predictions name outputs.
pub const RENAMED: &str = "choose another output with -o, or rename the prediction";
