//! `quadrat run`: fit, predict, write tables and a report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat_study::beside;
use quadrat_study::diagnostic::{Paint, Problem, Problems};
use quadrat_study::outcome::Outcome;
use quadrat_study::resolved;
use quadrat_study::simple::{self, Simple};
use quadrat_study::study::AnyStudy;
use quadrat_study::words::clean;
use quadrat_study::{engine, fit_json, prediction_csv, study};

use super::{RENAMED, closed, inputs, kept, print, running, spare_inputs};
use crate::args::{Run, Saying};
use crate::check;
use crate::demo::Example;
use crate::output::{Staged, left_over, stop_gently, writable};
use crate::progress::Bar;
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

/// What a run does besides.
#[derive(Debug, Default)]
pub struct Besides {
    /// Checks the fit by so many draws of each chain.
    pub draws: Option<u32>,
    /// Goes on from a checkpoint.
    pub resume: bool,
    /// Simple methods in place of those of the study.
    pub baseline: Option<Vec<Simple>>,
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
    let mut study = match study::open_any(path, shown)? {
        AnyStudy::Density(density) => {
            only_functions(besides, "of a density")?;
            return super::density::study::go(&density, path, folder, example, saying);
        }
        AnyStudy::Ungroup(study) => {
            only_functions(besides, "of bands")?;
            return super::ungroup::study::go(&study, path, folder, example, saying);
        }
        AnyStudy::Function(study) => *study,
    };
    if let Some(simple) = &besides.baseline {
        study.baseline.clone_from(simple);
    }
    let resolved = resolved(study)?;
    let mut outputs: Vec<PathBuf> = Vec::new();
    for asked in &resolved.predictions {
        outputs.push(folder.join(format!("{}.csv", asked.name)));
        if prediction_csv::has_regions(&asked.places) {
            outputs.push(folder.join(format!("{}.geojson", asked.id)));
        }
    }
    outputs.dedup();
    outputs.push(folder.join("fit.json"));
    outputs.push(folder.join("report.html"));
    spare_inputs(inputs(&resolved), path, &outputs, RENAMED)?;
    writable(&outputs)?;
    let mut staged = Staged::of_run(folder)?;
    let model = engine::model(&resolved)?;
    if besides.draws.is_some() {
        check::possible(&resolved, &model)?;
    }
    let bar = Bar::new(saying.quiet);
    let mut how = running(saying, &bar)?;
    let of = (resolved.study.inference.method, &model);
    let checkpoint = kept(of, folder, besides.resume, &mut how)?;
    let mut outcome = Outcome::compute(resolved, &model, &how)?;
    beside::add(&mut outcome);
    if let Some(draws) = besides.draws {
        // A sampler cannot be asked to stop: from here on the first Ctrl-C ends the program, and
        // the checkpoint stays.
        stop_gently(false);
        check::by_mcmc(&mut outcome, draws, &bar)?;
    }
    bar.say("writing");
    for (name, text) in example.map_or(&[][..], |example| example.files) {
        staged.bytes(&folder.join(name), text.as_bytes())?;
    }
    for group in outcome.groups() {
        let parts: Vec<_> = group
            .iter()
            .map(|(asked, answer)| (&asked.places, *answer))
            .collect();
        let path = folder.join(format!("{}.csv", group[0].0.name));
        staged.write(&path, |out| prediction_csv::write(out, &parts))?;
        for (asked, answer) in group {
            if prediction_csv::has_regions(&asked.places) {
                let path = folder.join(format!("{}.geojson", asked.id));
                staged.write(&path, |out| {
                    prediction_csv::write_geo(out, &asked.places, answer)
                })?;
            }
        }
    }
    let extras = example.map(|example| &example.extras);
    let left_out = report::stage(&outcome, extras, folder, &mut staged)?;
    let sealed = staged.seal(&folder.join("fit.json"), &fit_json::text(&outcome)?)?;
    let written = staged.finish()?;
    bar.finish();
    if saying.json {
        print(&sealed.json)?;
    } else if !saying.quiet {
        let paint = Paint::on(std::io::stdout().is_terminal());
        print(&summary::summary(&outcome, &written, Some(folder), paint))?;
        for words in left_out.into_iter().chain(left_over(&sealed.left)) {
            print(&format!("{}\n", clean(&words)))?;
        }
    }
    closed(checkpoint.as_deref());
    Ok(())
}

/// Refuses what only the study of a function has.
pub(super) fn only_functions(besides: &Besides, of: &str) -> Result<(), Problems> {
    let flag = match besides {
        Besides { draws: Some(_), .. } => "--check",
        Besides { resume: true, .. } => "--resume",
        Besides {
            baseline: Some(_), ..
        } => "--baseline",
        _ => return Ok(()),
    };
    let message = format!("{flag} is for the fit of a function, and this study is {of}");
    Err(Problem::new(message).remedy("leave it out").into())
}
