//! `quadrat run`: fit, predict, write tables and a report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat_study::diagnostic::Paint;
use quadrat_study::simple;
use quadrat_study::words::clean;
use quadrat_study::{AnyOutcome, Checked, Options, Source, check, open};

use super::begun::{Begun, Besides};
use super::{ELSEWHERE, RENAMED, density, print, spare_inputs, ungroup};
use crate::args::{Run, Saying};
use crate::check::by_mcmc;
use crate::demo::Example;
use crate::output::{Staged, left_over, stop_gently, writable};
use crate::terminal::warn;
use crate::{report, summary};

/// Runs the command.
pub fn run(args: &Run) -> Result<()> {
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => {
            let stem = args.study.file_stem().unwrap_or(args.study.as_os_str());
            PathBuf::from(format!("{}-out", stem.to_string_lossy()))
        }
    };
    let (simple, is_named) = simple::named("--baseline", &args.baseline)?;
    go(
        (&args.study, &args.study),
        &folder,
        None,
        &Besides {
            draws: args.check.map(|_| args.draws),
            resume: args.resume,
            baseline: is_named.then_some(simple),
        },
        &args.saying,
    )
}

/// Runs a study (its path, and the path shown to people) into a folder, with the files of a
/// built-in example and more for its report, if it is one.
pub fn go(
    (path, shown): (&Path, &Path),
    folder: &Path,
    example: Option<&Example>,
    besides: &Besides,
    saying: &Saying,
) -> Result<()> {
    let options = Options {
        baseline: besides.baseline.clone(),
        ..Options::default()
    };
    let study = open(Source::Copy(path, shown))?;
    besides.refuse(&study)?;
    let checked = check(study, &options)?;
    let names = checked.outputs().into_iter();
    let names = names.chain(["fit.json", "report.html"].map(str::to_owned));
    let outputs: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    let remedy = match &checked {
        Checked::Function(_) | Checked::Density(_) => RENAMED,
        Checked::Ungroup(_) => ELSEWHERE,
    };
    spare_inputs(checked.inputs(), path, &outputs, remedy)?;
    writable(&outputs)?;
    let mut staged = Staged::of_run(folder)?;
    let begun = Begun::new(&checked, folder, besides, saying)?;
    let mut outcome = checked.run(&begun.running)?;
    if let Some(draws) = besides.draws {
        // A sampler cannot be asked to stop: from here on the first Ctrl-C ends the program, and
        // the checkpoint stays.
        stop_gently(false);
        match &mut outcome {
            AnyOutcome::Function(outcome) => by_mcmc(outcome, draws, &begun.bar)?,
            AnyOutcome::Density(outcome) => outcome.check_by_mcmc(draws, &*begun.bar)?,
            AnyOutcome::Ungroup(_) => {}
        }
    }
    begun.bar.say("writing");
    for (name, text) in example.map_or(&[][..], |example| example.files) {
        staged.bytes(&folder.join(name), text.as_bytes())?;
    }
    for (name, write) in outcome.files() {
        staged.write(&folder.join(name), write)?;
    }
    let left_out = page(&outcome, example, folder, &mut staged)?;
    let sealed = staged.seal(&folder.join("fit.json"), &outcome.json()?)?;
    let written = staged.finish()?;
    begun.bar.finish();
    if let (AnyOutcome::Density(outcome), false) = (&outcome, saying.quiet) {
        outcome.noticed.iter().for_each(|warning| warn(warning));
    }
    let more = left_out.into_iter().chain(left_over(&sealed.left));
    told(
        &outcome,
        (saying, &sealed.json),
        &written,
        Some(folder),
        more,
    )?;
    begun.close();
    match &outcome {
        // What was ungrouped is written; the exit status tells of the rest.
        AnyOutcome::Ungroup(outcome) => Ok(outcome.whole()?),
        AnyOutcome::Function(_) | AnyOutcome::Density(_) => Ok(()),
    }
}

/// Writes the report. Gives what is told of figures that are left out.
fn page(
    outcome: &AnyOutcome,
    example: Option<&Example>,
    folder: &Path,
    staged: &mut Staged,
) -> Result<Vec<String>> {
    let extras = example.map(|example| &example.extras);
    let page = match outcome {
        AnyOutcome::Function(outcome) => return report::stage(outcome, extras, folder, staged),
        AnyOutcome::Density(outcome) => density::study::page(outcome, extras),
        AnyOutcome::Ungroup(outcome) => ungroup::study::page(outcome, extras),
    };
    report::write(&page, folder, staged)?;
    Ok(Vec::new())
}

/// Prints what is asked for: `fit.json`, nothing, or the summary with the files that were written.
pub(super) fn told(
    outcome: &AnyOutcome,
    (saying, json): (&Saying, &str),
    written: &[PathBuf],
    folder: Option<&Path>,
    more: impl Iterator<Item = String>,
) -> Result<()> {
    if saying.json {
        return print(json);
    }
    if saying.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = match outcome {
        AnyOutcome::Function(outcome) => summary::summary(outcome, written, folder, paint),
        AnyOutcome::Density(of) => summary::of_section(
            outcome.title(),
            &density::study::summary(of, paint),
            written,
        ),
        AnyOutcome::Ungroup(of) => summary::of_section(
            outcome.title(),
            &ungroup::study::summary(of, paint),
            written,
        ),
    };
    more.for_each(|line| text.push_str(&format!("{}\n", clean(&line))));
    print(&text)
}
