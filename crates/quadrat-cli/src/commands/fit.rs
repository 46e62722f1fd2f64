//! `quadrat fit`: fit a study and save the model.

use anyhow::Result;
use quadrat_study::{Options, Source, check, open};

use super::begun::{Begun, Besides};
use super::run::told;
use super::{ELSEWHERE, spare_inputs};
use crate::args::Fit;
use crate::output::{Staged, writable};

/// Runs the command.
pub fn run(args: &Fit) -> Result<()> {
    let options = Options {
        fit_only: true,
        ..Options::default()
    };
    let besides = Besides {
        resume: args.resume,
        ..Besides::default()
    };
    let study = open(Source::File(&args.study))?;
    besides.refuse(&study)?;
    let checked = check(study, &options)?;
    let outputs = std::slice::from_ref(&args.output);
    spare_inputs(checked.inputs(), &args.study, outputs, ELSEWHERE)?;
    writable(outputs)?;
    let begun = Begun::new(&checked, &args.output, &besides, &args.saying)?;
    let outcome = checked.run(&begun.running)?;
    let mut staged = Staged::new();
    staged.bytes(&args.output, &outcome.model())?;
    let written = staged.finish()?;
    begun.bar.finish();
    let json = outcome.json()?;
    told(
        &outcome,
        (&args.saying, &json),
        &written,
        None,
        std::iter::empty(),
    )?;
    begun.close();
    Ok(())
}
