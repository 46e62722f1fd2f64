//! `quadrat run` and `quadrat fit` of a study with `[density]`: its table, `fit.json`, the report
//! and the model.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use quadrat_plot::Report;
use quadrat_study::density::Estimated;
use quadrat_study::density::model::to_bytes;
use quadrat_study::density::study::{
    Predicted, answered, asked_of, estimated, fit_json, named, read, words,
};
use quadrat_study::diagnostic::Paint;
use quadrat_study::fit_json::pretty;
use quadrat_study::study::DensityStudy;
use quadrat_study::version::VERSION;
use quadrat_study::words::clean;

use super::shown::{figures, summary};
use crate::args::Saying;
use crate::commands::section::preview;
use crate::commands::{ELSEWHERE, RENAMED, print, spare_inputs};
use crate::demo::Example;
use crate::output::{Staged, left_over, writable};
use crate::report;

/// Runs the study of a density into a folder, with the files of a built-in example, if it is one.
pub fn go(
    study: &DensityStudy,
    path: &Path,
    folder: &Path,
    example: Option<&Example>,
    saying: &Saying,
) -> Result<()> {
    let [csv, fit, page] = ["density.csv", "fit.json", "report.html"].map(|n| folder.join(n));
    let tables = study.predict.iter();
    let tables = tables.map(|p| folder.join(format!("{}.csv", p.name.value)));
    let own = [&csv, &fit, &page].into_iter().cloned();
    let outputs: Vec<PathBuf> = own.chain(tables).collect();
    let files = (study.written.folder.as_path(), study.files());
    spare_inputs(files, path, &outputs, RENAMED)?;
    writable(&outputs)?;
    let mut staged = Staged::of_run(folder)?;
    let begun = Instant::now();
    let rows = read(study)?;
    let found = answered(study, &rows, begun)?;
    for (name, text) in example.map_or(&[][..], |example| example.files) {
        staged.bytes(&folder.join(name), text.as_bytes())?;
    }
    staged.bytes(&csv, found.csv.as_bytes())?;
    for predicted in &found.predicted {
        let path = folder.join(format!("{}.csv", predicted.name));
        staged.bytes(&path, predicted.csv.as_bytes())?;
    }
    let mut report = page_of(study, &found.estimated, example, &found.csv);
    report.warnings.extend(found.noticed.iter().cloned());
    let previews = found.predicted.iter();
    let of = |p: &Predicted| {
        preview(
            &p.name,
            "Answers of the density, with their intervals",
            &p.csv,
        )
    };
    report.predictions.extend(previews.map(of));
    report::write(&report, folder, &mut staged)?;
    let sealed = staged.seal(&fit, &found.json)?;
    let written = staged.finish()?;
    if !saying.quiet {
        let all = found.noticed.iter();
        all.for_each(|warning| crate::terminal::warn(warning));
    }
    told(
        study,
        &found.estimated,
        (saying, &sealed.json),
        (&written, &sealed.left),
    )
}

/// Estimates the density of a study and saves its model.
pub fn fit(study: &DensityStudy, path: &Path, output: &Path, saying: &Saying) -> Result<()> {
    let outputs = [output.to_owned()];
    let files = (study.written.folder.as_path(), study.files());
    spare_inputs(files, path, &outputs, ELSEWHERE)?;
    writable(&outputs)?;
    let begun = Instant::now();
    let rows = read(study)?;
    // What could not be asked of the model is refused before it is made.
    asked_of(study, &rows)?;
    let estimated = estimated(study, &rows)?;
    let answers = estimated.answers();
    let seconds = begun.elapsed().as_secs_f64();
    let json = pretty(&fit_json(study, answers, seconds)?)?;
    let warnings: Vec<String> = answers.warnings().iter().map(|w| words(w)).collect();
    let mut staged = Staged::new();
    let bytes = to_bytes(answers, named(study, &rows), &warnings);
    staged.bytes(output, &bytes)?;
    let written = staged.finish()?;
    told(study, &estimated, (saying, &json), (&written, &[]))
}

/// Prints what is asked for.
fn told(
    study: &DensityStudy,
    estimated: &Estimated<'_>,
    (saying, json): (&Saying, &str),
    (written, left): (&[PathBuf], &[PathBuf]),
) -> Result<()> {
    if saying.json {
        return print(json);
    }
    if saying.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut told = format!("{}\n", clean(&study.written.title));
    told.push_str(&words(&summary(estimated, paint)));
    for path in written {
        told.push_str(&format!("wrote {}\n", path.display()));
    }
    told.extend(left_over(left).map(|line| format!("{}\n", clean(&line))));
    print(&told)
}

fn page_of(
    study: &DensityStudy,
    estimated: &Estimated<'_>,
    example: Option<&Example>,
    csv: &str,
) -> Report {
    let answers = estimated.answers();
    let notes = example.map_or(&[][..], |example| example.extras.notes);
    Report {
        title: study.written.title.clone(),
        generated_by: format!("quadrat {}", VERSION),
        // Backticks are for terminals.
        summary: answers
            .sentences()
            .iter()
            .map(|s| s.replace('`', ""))
            .collect(),
        warnings: answers
            .warnings()
            .iter()
            .map(|w| words(w).replace('`', ""))
            .collect(),
        figures: figures(estimated),
        predictions: vec![preview(
            "density",
            "Densities per unit, with their pointwise bands",
            csv,
        )],
        study: study.written.source.text.to_string(),
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
        ..Report::default()
    }
}
