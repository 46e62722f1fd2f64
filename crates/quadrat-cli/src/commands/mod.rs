//! What each command does.

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
use quadrat::model::{Inference, Model};
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine::Running;
use quadrat_study::resolve::Resolved;
use quadrat_study::run_id;

use crate::args::Saying;
use crate::checkpoint::Checkpoint;
use crate::progress::Bar;
use crate::terminal::warn;

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

/// Lets a sparse fit keep where it stands in a file beside its output, and go on from there.
///
/// # Arguments
/// * `method`, `model` - how a study is to be fitted, and its model
pub fn kept(
    (method, model): (Inference, &Model),
    output: &Path,
    resume: bool,
    running: &mut Running,
) -> Result<Option<Arc<Checkpoint>>> {
    let is_sparse = match method {
        Inference::Sparse => true,
        Inference::Auto => model.is_large(),
        _ => false,
    };
    if !is_sparse {
        if resume {
            let message = "--resume is for fits with `method = \"sparse\"`";
            let remedy = "leave it out: other fits keep nothing of themselves";
            return Err(Problems::from(Problem::new(message).remedy(remedy)).into());
        }
        return Ok(None);
    }
    let checkpoint = Arc::new(Checkpoint::beside(output, resume)?);
    running.keeper = Some(Arc::clone(&checkpoint) as _);
    Ok(Some(checkpoint))
}

/// After everything is written: tells of a fit that was stopped, and exits as an interrupted
/// program does.
pub fn closed(checkpoint: Option<&Checkpoint>) {
    if let Some(told) = checkpoint.and_then(Checkpoint::close) {
        warn(&told);
    }
    if crate::output::is_stopped() {
        std::process::exit(130);
    }
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
/// * `files` - the folder of the study, and the files that it names
/// * `study` - the study itself
pub fn spare_inputs(
    (folder, files): (&Path, Vec<PathBuf>),
    study: &Path,
    outputs: &[PathBuf],
    remedy: &str,
) -> Result<(), Problems> {
    let files = files.into_iter().map(|file| folder.join(file));
    let inputs: Vec<PathBuf> = files.chain([study.to_owned()]).collect();
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let told = ("a file that the study reads", remedy);
    replaced(&inputs, outputs, told).or(())
}

/// What mends that, where there is one output.
pub const ELSEWHERE: &str = "choose another output with -o";

/// And where predictions name outputs.
pub const RENAMED: &str = "choose another output with -o, or rename the prediction";

/// The folder of a study, and the files that it names.
pub fn inputs(resolved: &Resolved) -> (&Path, Vec<PathBuf>) {
    (&resolved.study.folder, run_id::files(&resolved.study))
}
