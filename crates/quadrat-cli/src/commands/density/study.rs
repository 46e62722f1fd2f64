//! `quadrat run` of a study with `[density]`: its table, `fit.json` and the report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use quadrat_plot::{Cell, Report, TablePreview};
use serde_json::{Value, json};

use super::common::{no_column_twice, pretty};
use super::{Answers, Rows, answers};
use crate::args::Saying;
use crate::commands::{print, replacing};
use crate::demo::Example;
use crate::diagnostic::{Paint, Problem, Problems};
use crate::output::{Lock, Staged, writable};
use crate::study::DensityStudy;
use crate::study::density::KEYS;
use crate::{report, run_id};

/// Rows of the table that the report shows.
const PREVIEW: usize = 12;

/// Runs the study of a density into a folder, with the files of a built-in example, if it is one.
pub fn go(
    study: &DensityStudy,
    path: &Path,
    folder: &Path,
    example: Option<&Example>,
    saying: &Saying,
) -> Result<()> {
    let table = study.folder.join(&study.file);
    let inputs: Vec<PathBuf> = study.files().iter().map(|f| study.folder.join(f)).collect();
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).chain([path]).collect();
    let [csv, fit, page] = ["density.csv", "fit.json", "report.html"].map(|n| folder.join(n));
    let outputs: Vec<PathBuf> = vec![csv.clone(), fit.clone(), page];
    spare(&inputs, &outputs)?;
    writable(&outputs)?;
    let lock = Lock::early(folder)?;
    let begun = Instant::now();
    let keyed = |problems: Problems| keyed(study, problems);
    let mut rows = Rows::read(&study.args, &table).map_err(keyed)?;
    if let (Some(file), Some(shown)) = (&study.inside, &study.args.inside) {
        rows = rows
            .inside(&study.folder.join(file), shown)
            .map_err(keyed)?;
    }
    no_column_twice(&study.args, &rows).map_err(keyed)?;
    let rows = Arc::new(rows);
    let answers = answers(&study.args, &rows).map_err(keyed)?;
    let text = answers.csv().map_err(keyed)?;
    let seconds = begun.elapsed().as_secs_f64();
    let folders = (study.folder.as_path(), study.shown.as_path());
    let run = run_id::of_files(&study.source.text, folders, study.files())?;
    let json = pretty(&fit_json(study, answers.as_ref(), &run, seconds))?;
    let mut staged = Staged::of_run();
    staged.make(folder)?;
    let lock = lock.unwrap_or_else(|| Lock::late(folder));
    for (name, text) in example.map_or(&[][..], |example| example.files) {
        staged.bytes(&folder.join(name), text.as_bytes())?;
    }
    staged.bytes(&csv, text.as_bytes())?;
    staged.bytes(&fit, json.as_bytes())?;
    staged.seal(&fit);
    report::write(
        &page_of(study, answers.as_ref(), example, &text),
        folder,
        &mut staged,
    )?;
    let written = staged.finish()?;
    drop(lock);
    if saying.json {
        return print(&json);
    }
    if saying.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut told = format!("{}\n", crate::terminal::clean(&study.title));
    told.push_str(&words(&answers.summary(paint)));
    for path in written {
        told.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&told)
}

/// Refuses to write over the study or its table.
fn spare(inputs: &[&Path], outputs: &[PathBuf]) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for output in replacing(inputs, outputs) {
        let shown = output.display();
        let message = format!("the output `{shown}` would replace a file that the study reads");
        problems.push(Problem::new(message).remedy("choose another output with -o"));
    }
    problems.or(())
}

/// Flags of the command as the keys of the section that they are here; what people wrote themselves
/// stays, such as the name of a file.
fn words(text: &str) -> String {
    let all = KEYS
        .iter()
        .fold(text.to_owned(), |text, key| as_key(&text, key));
    all.replace("give `column` twice", "write `column = [\"x\", \"y\"]`")
}

/// One flag where it stands by itself.
fn as_key(text: &str, key: &str) -> String {
    let flag = format!("--{key}");
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&flag) {
        let (before, after) = (&rest[..at], &rest[at + flag.len()..]);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        let begins = !before.ends_with(is_part);
        // A full stop may end the sentence.
        let ends = !after.starts_with(|c: char| is_part(c) && c != '.');
        out.push_str(before);
        match begins && ends {
            true => out.push_str(&format!("`{key}`")),
            false => out.push_str(&flag),
        }
        rest = after;
    }
    out + rest
}

/// Warnings in the words of the study, those of groups too.
fn reword(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::Array(told) if key == "warnings" => {
                for warning in told {
                    if let Value::String(text) = warning {
                        *text = words(text);
                    }
                }
            }
            other => reword(other),
        }),
        Value::Array(items) if items.first().is_some_and(Value::is_object) => {
            items.iter_mut().for_each(reword);
        }
        _ => {}
    }
}

/// A refusal in the words of the study, at the key that it names where it stands nowhere else, or
/// at the section.
fn keyed(study: &DensityStudy, mut problems: Problems) -> Problems {
    for problem in &mut problems.0 {
        problem.message = words(&problem.message);
        problem.remedies.iter_mut().for_each(|r| r.reword(words));
        if problem.place.is_none() {
            let remedies = problem.remedies.iter().map(ToString::to_string);
            let mut said = std::iter::once(problem.message.clone()).chain(remedies);
            let place = said.find_map(|words| {
                let is_told = |key: &str| words.contains(&format!("`{key}`"));
                let mut keys = study.keys.iter();
                keys.find(|(key, _)| is_told(key)).map(|(_, place)| place)
            });
            problem.place = Some(Box::new(place.unwrap_or(&study.place).clone()));
        }
    }
    problems
}

/// What the command prints as JSON, and what every `fit.json` has.
fn fit_json(study: &DensityStudy, answers: &dyn Answers, run: &str, seconds: f64) -> Value {
    let mut out = json!({
        "quadrat": crate::version::VERSION,
        "format": 1,
        "title": study.title,
        "kind": "density",
        "run": run,
        // An estimate without a mode is an error.
        "converged": true,
        "seconds": seconds,
    });
    if let (Value::Object(out), Value::Object(own)) = (&mut out, answers.json()) {
        out.extend(own);
    }
    reword(&mut out);
    out
}

fn page_of(
    study: &DensityStudy,
    answers: &dyn Answers,
    example: Option<&Example>,
    csv: &str,
) -> Report {
    let notes = example.map_or(&[][..], |example| example.extras.notes);
    Report {
        title: study.title.clone(),
        generated_by: format!("quadrat {}", crate::version::VERSION),
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
        figures: answers.figures(),
        predictions: vec![preview(csv)],
        study: study.source.text.to_string(),
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
        ..Report::default()
    }
}

/// The first rows of the table.
fn preview(text: &str) -> TablePreview {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .map(|h| h.iter().map(str::to_owned).collect());
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(number) => Cell::Number(number),
        Err(_) => Cell::from(cell),
    };
    let rows = reader.records().take(PREVIEW).flatten();
    TablePreview {
        name: "density".to_owned(),
        file: "density.csv".to_owned(),
        note: "Densities per unit, with their pointwise bands".to_owned(),
        rows: rows.map(|row| row.iter().map(cell).collect()).collect(),
        columns: columns.unwrap_or_default(),
        total_rows: text.lines().count().saturating_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_keys_and_what_people_wrote_stays() {
        assert_eq!(
            words("widen --bounds, or --range."),
            "widen `bounds`, or `range`."
        );
        assert_eq!(
            words("look at `data--log.csv` (--log)"),
            "look at `data--log.csv` (`log`)"
        );
        assert_eq!(
            words("group `a--given`: --given"),
            "group `a--given`: `given`"
        );
        let mut value = json!({"warnings": ["--grid"], "groups": [{"warnings": ["(--log)"]}]});
        reword(&mut value);
        let want = json!({"warnings": ["`grid`"], "groups": [{"warnings": ["(`log`)"]}]});
        assert_eq!(value, want);
    }
}
