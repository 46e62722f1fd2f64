//! `quadrat simulate`: artificial data with their truth, and a study that fits them.

mod censored;
mod files;
mod mixed;

use std::io::IsTerminal;

use anyhow::Result;
use quadrat::simulate::SimulateError;
use quadrat_study::diagnostic::{Paint, Problem, Problems};

use super::print;
use crate::args::{Simulate, Simulated};
use files::{write, wrote};

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
