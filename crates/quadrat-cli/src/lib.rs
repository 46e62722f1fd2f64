//! The program `quadrat`: study files in, tables and reports out. It is [`main`]: arguments,
//! terminal, progress, checkpoints, folders that are whole or not there. What a study is and gives
//! is in `quadrat-study`.

#![cfg_attr(test, allow(clippy::unwrap_used))]
// These panic where nobody reads; see `commands::print` and `terminal::tell`.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod args;
mod check;
mod checkpoint;
mod commands;
mod demo;
mod output;
mod progress;
mod report;
mod summary;
mod terminal;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use quadrat_study::diagnostic::{Paint, Problems, brief};

/// Runs the program on the arguments of the process; returns its exit status.
#[must_use]
pub fn main() -> ExitCode {
    match answer(std::env::args_os()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs the program on arguments, of which the first is its name; returns whether it did what was
/// asked. It writes to the terminal, hears Ctrl-C, and ends the process where arguments are wrong.
#[must_use]
pub fn answer(args: impl IntoIterator<Item = OsString>) -> bool {
    let cli = args::Cli::parse_from(args);
    let done = output::clean_up_when_interrupted().and_then(|()| match &cli.command {
        args::Command::Demo(args) => commands::demo::run(args),
        args::Command::Run(args) => commands::run::run(args),
        args::Command::Fit(args) => commands::fit::run(args),
        args::Command::Predict(args) => commands::predict::run(args),
        args::Command::Score(args) => commands::score::run(args),
        args::Command::Next(args) => commands::next::run(args),
        args::Command::Tell(args) => commands::tell::run(args),
        args::Command::Density(args) => commands::density::run(args),
        args::Command::Ungroup(args) => commands::ungroup::run(args),
        args::Command::Reconcile(args) => commands::reconcile::run(args),
        args::Command::Noise(args) => commands::noise::run(args),
        args::Command::Simulate(args) => commands::simulate::run(args),
    });
    match done {
        Ok(()) => true,
        Err(error) if is_broken_pipe(&error) => true,
        Err(error) => {
            complain(&error);
            false
        }
    }
}

/// Whether the reader of our output went away, which is its right.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
        let csv = cause
            .downcast_ref::<csv::Error>()
            .and_then(|csv| match csv.kind() {
                csv::ErrorKind::Io(io) => Some(kind(io)),
                _ => None,
            });
        csv.unwrap_or(false) || cause.downcast_ref::<std::io::Error>().is_some_and(kind)
    })
}

fn complain(error: &anyhow::Error) {
    let paint = Paint::on(std::io::stderr().is_terminal());
    match error.downcast_ref::<Problems>() {
        Some(problems) => terminal::tell(&problems.render(paint)),
        None => {
            let said = brief(&format!("{error:#}"));
            terminal::tell(&format!("{}: {said}\n", paint.red("error")));
        }
    }
}
