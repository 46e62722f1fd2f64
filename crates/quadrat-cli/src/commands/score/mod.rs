//! `quadrat score`: a study judged by rows that it has not seen, or by true values, beside simple
//! methods.

mod cross;
mod figure;
mod judged;
mod kept;
mod said;
mod scored;
mod truth;

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Result;
use quadrat_study::diagnostic::{Paint, Problems};
use quadrat_study::numbers::count;
use quadrat_study::resolve::{Resolved, resolve};
use quadrat_study::{simple, study};

use super::{print, replaced, running, spare_inputs};
use crate::args::{Saying, Score};
use crate::output::{Staged, apart, writable};
use crate::progress::Bar;
use cross::Cross;
use judged::Judged;
use kept::Kept;
use scored::Scored;
use truth::Truth;

/// Runs the command.
pub fn run(args: &Score) -> Result<()> {
    let simple = simple::named("--against", &args.against)?;
    let mut study = study::open(&args.study, &args.study)?;
    let of = scored::which(&study, args.table.as_deref())?;
    let title = study.title.clone();
    let saying = Saying {
        json: args.json,
        quiet: args.quiet,
        threads: args.threads,
    };
    let bar = Bar::new(args.quiet);
    let how = running(&saying, &bar)?;
    let simple = (simple.0.as_slice(), simple.1);
    let mut finished = None;
    let (judged, words) = match &args.truth {
        Some(path) => {
            let truth = Truth::new(study, path, of, args)?;
            spare(args, &truth.resolved)?;
            let words = truth.words();
            (truth.judged(simple, &how)?, words)
        }
        None => {
            // What is predicted elsewhere tells nothing of held-out rows.
            study.predict.clear();
            let resolved = resolve(study)?;
            spare(args, &resolved)?;
            let scored = Scored::new(&resolved, of)?;
            let folds = scored.folds(&resolved, args)?;
            let words = held_out(&resolved, &scored, &folds, args);
            let by = (of, &args.by, folds.count(), args.seed);
            let key = format!("{} {by:?}", resolved.run);
            let mut kept = Kept::beside(args.output.as_deref(), args.resume, key)?;
            let cross = Cross::new(&resolved, &scored, &folds)?;
            let judged = cross.judged(simple, &how, &bar, &mut kept)?;
            finished = Some(kept);
            (judged, words)
        }
    };
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, &said::csv(&judged)?)?;
    }
    if let Some(output) = &args.predictions {
        staged.bytes(output, &said::predictions(&judged)?)?;
    }
    if let Some(plot) = &args.plot {
        staged.bytes(plot, &figure::figure(plot, &title, &judged)?)?;
    }
    let written = staged.finish()?;
    finished.iter().for_each(Kept::close);
    bar.finish();
    told(args, &judged, (&title, &words), &written)
}

fn told(
    args: &Score,
    judged: &Judged,
    (title, words): (&str, &str),
    written: &[PathBuf],
) -> Result<()> {
    if args.json {
        return print(&said::json(judged, title, words)?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = said::summary(judged, title, words, paint);
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
}

/// How rows were held out, for people.
fn held_out(
    resolved: &Resolved,
    scored: &Scored,
    folds: &quadrat::validation::Folds,
    args: &Score,
) -> String {
    let table = resolved.study.observe[scored.of].shown_name();
    let how = match args.by.as_str() {
        "rows" => format!("at random (seed {})", args.seed),
        "block" => "in blocks that lie together".to_owned(),
        column => format!("by `{column}` (seed {})", args.seed),
    };
    let rows = count(scored.rows.len(), "row");
    let others = match resolved.study.observe.len() {
        1 => "",
        _ => "; other tables are always seen",
    };
    format!(
        "{rows} of `{table}`, each predicted by a fit that has not seen it{others}: {} folds, {how}",
        folds.count()
    )
}

/// Checks the files that will be written, before anything is computed for them.
fn spare(args: &Score, resolved: &Resolved) -> Result<(), Problems> {
    let all = [&args.output, &args.predictions, &args.plot];
    let outputs: Vec<PathBuf> = all.into_iter().flatten().cloned().collect();
    let elsewhere = "choose another name for the file";
    spare_inputs(resolved.inputs(), &args.study, &outputs, elsewhere)?;
    let truth: Vec<&std::path::Path> = args.truth.iter().map(PathBuf::as_path).collect();
    let told = ("the true values", elsewhere);
    replaced(&truth, &outputs, told).or(())?;
    apart(&outputs)?;
    writable(&outputs)
}
