//! `quadrat run` of a study with `[ungroup]`: the tables of steps, `fit.json` and the report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Result;
use quadrat_plot::{Report, TablePreview};
use quadrat_study::diagnostic::Paint;
use quadrat_study::study::UngroupStudy;
use quadrat_study::ungroup::said;
use quadrat_study::ungroup::study::{Computed, TABLES, compute, names, words};
use quadrat_study::version::VERSION;
use quadrat_study::words::clean;

use super::figure::figure;
use crate::args::Saying;
use crate::commands::section::preview;
use crate::commands::{ELSEWHERE, print, spare_inputs};
use crate::demo::Example;
use crate::output::{Sealed, Staged, left_over, writable};
use crate::progress::Bar;
use crate::report;

/// Runs the study of bands into a folder, with the files of a built-in example, if it is one.
pub fn go(
    study: &UngroupStudy,
    path: &Path,
    folder: &Path,
    example: Option<&Example>,
    saying: &Saying,
) -> Result<()> {
    let [fit, page] = ["fit.json", "report.html"].map(|n| folder.join(n));
    let file = |name: &str| folder.join(format!("{name}.csv"));
    let tables = names(&study.args).into_iter().map(file);
    let outputs: Vec<PathBuf> = [fit.clone(), page].into_iter().chain(tables).collect();
    let files = (study.written.folder.as_path(), study.files());
    spare_inputs(files, path, &outputs, ELSEWHERE)?;
    writable(&outputs)?;
    let mut staged = Staged::of_run(folder)?;
    let bar = Bar::new(saying.quiet || study.args.along.is_none());
    let computed = compute(study, &*bar)?;
    bar.finish();
    for (name, text) in example.map_or(&[][..], |example| example.files) {
        staged.bytes(&folder.join(name), text.as_bytes())?;
    }
    for (name, text) in &computed.tables {
        staged.bytes(&file(name), text.as_bytes())?;
    }
    report::write(&page_of(study, &computed, example), folder, &mut staged)?;
    let sealed = staged.seal(&fit, &computed.json)?;
    let written = staged.finish()?;
    told(study, &computed, (saying, &sealed), &written)?;
    // What was ungrouped is written; the exit status tells of the rest.
    Ok(computed.whole(study)?)
}

/// Prints what is asked for.
fn told(
    study: &UngroupStudy,
    computed: &Computed,
    (saying, sealed): (&Saying, &Sealed),
    written: &[PathBuf],
) -> Result<()> {
    if saying.json {
        return print(&sealed.json);
    }
    if saying.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut told = format!("{}\n", clean(&study.written.title));
    let summary = said::summary(&study.args, &computed.rows, &computed.all, paint);
    told.push_str(&words(&summary));
    for path in written {
        told.push_str(&format!("wrote {}\n", path.display()));
    }
    told.extend(left_over(&sealed.left).map(|line| format!("{}\n", clean(&line))));
    print(&told)
}

fn page_of(study: &UngroupStudy, computed: &Computed, example: Option<&Example>) -> Report {
    let Computed { rows, all, .. } = computed;
    let notes = example.map_or(&[][..], |example| example.extras.notes);
    // Backticks are for terminals.
    let plain = |text: &str| text.replace('`', "");
    let sentences = said::page(&study.args, rows, all);
    let left_out = computed.left_out(study);
    let warnings = computed.warnings.iter().chain(&left_out);
    let previews = computed.tables.iter().map(|(name, text)| {
        let note = match *name == TABLES[0] {
            true => "Every step, with its interval",
            false => "Life tables, with their intervals",
        };
        preview(name, note, text)
    });
    Report {
        title: study.written.title.clone(),
        generated_by: format!("quadrat {VERSION}"),
        summary: sentences.iter().map(|s| plain(&words(s))).collect(),
        warnings: warnings.map(|w| plain(w)).collect(),
        figures: vec![figure(&study.args, rows, all)],
        predictions: previews.collect::<Vec<TablePreview>>(),
        study: study.written.source.text.to_string(),
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
        ..Report::default()
    }
}
