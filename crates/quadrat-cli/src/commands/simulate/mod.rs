//! `quadrat simulate`: artificial data with their truth, and a study that fits them.

mod censored;
mod mixed;

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::Result;
use quadrat::simulate::SimulateError;
use quadrat_study::diagnostic::{Paint, Problem, Problems};

use super::print;
use crate::args::{Simulate, Simulated};
use crate::output::{Staged, writable};

/// A file: its name, its text, what it holds.
struct File {
    name: &'static str,
    text: String,
    holds: String,
}

/// Runs the command.
pub fn run(args: &Simulate) -> Result<()> {
    let paint = Paint::on(std::io::stdout().is_terminal());
    let (files, told, folder, quiet) = match &args.what {
        Simulated::Mixed(args) => {
            let plan = mixed::plan(args);
            let data = plan.draw().map_err(|error| refused(error, mixed::option))?;
            let told = mixed::told(&plan, paint);
            (mixed::files(&plan, &data), told, &args.output, args.quiet)
        }
        Simulated::Censored(args) => {
            let plan = censored::plan(args);
            let data = plan
                .draw()
                .map_err(|error| refused(error, censored::option))?;
            let told = censored::told(&plan, &data, paint);
            let files = censored::files(&plan, &data);
            (files, told, &args.output, args.quiet)
        }
    };
    write(&files, folder)?;
    if quiet {
        return Ok(());
    }
    print(&(told + &wrote(&files, folder)))
}

/// Options by the names they have here, with a value that is accepted.
fn refused(error: SimulateError, known: impl Fn(&str) -> (&str, String)) -> anyhow::Error {
    let SimulateError::Option {
        option,
        value,
        requirement,
    } = error
    else {
        return error.into();
    };
    let (name, like) = known(option);
    let problem = Problem::new(format!("`--{name}` is {value}; it must be {requirement}"));
    Problems::from(problem.remedy(format!("such as `--{name} {like}`"))).into()
}

/// Writes all files or none; those that are there and hold something else are spared.
fn write(files: &[File], folder: &Path) -> Result<()> {
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
fn wrote(files: &[File], folder: &Path) -> String {
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
