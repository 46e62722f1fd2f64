//! `quadrat fit`: fit a study and save the model.

use std::io::IsTerminal;

use anyhow::Result;
use quadrat_study::diagnostic::Paint;
use quadrat_study::outcome::Outcome;
use quadrat_study::resolved;
use quadrat_study::study::AnyStudy;
use quadrat_study::{engine, fit_json, study};

use super::run::{Besides, only_functions};
use super::{ELSEWHERE, closed, inputs, kept, print, running, spare_inputs};
use crate::args::Fit;
use crate::output::{Staged, writable};
use crate::progress::Bar;
use crate::summary;

/// Runs the command.
pub fn run(args: &Fit) -> Result<()> {
    let study = match study::open_any(&args.study, &args.study)? {
        AnyStudy::Density(study) => {
            let besides = Besides {
                resume: args.resume,
                ..Besides::default()
            };
            only_functions(&besides, "of a density")?;
            return super::density::study::fit(&study, &args.study, &args.output, &args.saying);
        }
        AnyStudy::Ungroup(study) => return Err(study.refused().into()),
        AnyStudy::Function(study) => *study,
    };
    let resolved = resolved(study)?;
    let outputs = std::slice::from_ref(&args.output);
    spare_inputs(inputs(&resolved), &args.study, outputs, ELSEWHERE)?;
    writable(outputs)?;
    let bar = Bar::new(args.saying.quiet);
    let mut how = running(&args.saying, &bar)?;
    let model = engine::model(&resolved)?;
    let of = (resolved.study.inference.method, &model);
    let checkpoint = kept(of, &args.output, args.resume, &mut how)?;
    let outcome = Outcome::fit(resolved, &model, &how)?;
    let mut staged = Staged::new();
    staged.bytes(&args.output, &engine::to_bytes(&outcome.posterior))?;
    let written = staged.finish()?;
    bar.finish();
    if args.saying.json {
        print(&fit_json::text(&outcome)?)?;
    } else if !args.saying.quiet {
        let paint = Paint::on(std::io::stdout().is_terminal());
        print(&summary::summary(&outcome, &written, None, paint))?;
    }
    closed(checkpoint.as_deref());
    Ok(())
}
