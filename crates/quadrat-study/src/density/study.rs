//! The study of a density: read, estimated, and answered in memory.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use super::asked::{self, Densities, Named, Of, Table, tables};
use super::common::no_column_twice;
use super::{Answers, Estimated, Rows};
use crate::diagnostic::Problems;
use crate::fit_json::{of_section, pretty, reword};
use crate::prediction_csv;
use crate::study::DensityStudy;
use crate::study::density::KEYS;
use crate::study::written::as_keys;

/// What the study of a density gives.
pub struct Computed {
    /// The text of `fit.json`.
    pub json: String,
    /// Names of tables and their texts as CSV, that of the density first.
    pub tables: Vec<(String, String)>,
    /// Everything people should know.
    pub warnings: Vec<String>,
    /// The bytes of the model file.
    pub model: Vec<u8>,
}

/// A density, estimated and answered.
pub struct Answered<'a> {
    /// The estimate.
    pub estimated: Estimated<'a>,
    /// Its table, as CSV.
    pub csv: String,
    /// The tables of answers.
    pub predicted: Vec<Predicted>,
    /// What was noticed in their files and in the answers.
    pub noticed: Vec<String>,
    /// The text of `fit.json`.
    pub json: String,
}

/// Estimates the density of a study and answers its predictions, in memory.
pub fn compute(study: &DensityStudy) -> Result<Computed> {
    let begun = Instant::now();
    let rows = read(study)?;
    let found = answered(study, &rows, begun)?;
    let answers = found.estimated.answers();
    let warnings: Vec<String> = answers.warnings().iter().map(|w| words(w)).collect();
    let model = super::model::to_bytes(answers, named(study, &rows), &warnings);
    let tables = found.predicted.into_iter().map(|p| (p.name, p.csv));
    Ok(Computed {
        json: found.json,
        tables: [("density".to_owned(), found.csv)]
            .into_iter()
            .chain(tables)
            .collect(),
        model,
        warnings: [warnings, found.noticed].concat(),
    })
}

/// The same of rows that were read, with what pages and terminals show; `begun` is the moment from
/// which the seconds of `fit.json` count.
pub fn answered<'a>(
    study: &'a DensityStudy,
    rows: &'a Arc<Rows>,
    begun: Instant,
) -> Result<Answered<'a>> {
    no_column_twice(&study.args, rows).map_err(|p| keyed(study, p))?;
    let (asked, mut noticed) = asked_of(study, rows)?;
    let estimated = estimated(study, rows)?;
    let answers = estimated.answers();
    let csv = answers.csv().map_err(|p| keyed(study, p))?;
    let (predicted, told) = predicted(study, rows, answers, &asked)?;
    noticed.extend(told);
    let seconds = begun.elapsed().as_secs_f64();
    let json = pretty(&fit_json(study, answers, seconds)?)?;
    Ok(Answered {
        csv,
        predicted,
        noticed,
        json,
        estimated,
    })
}

/// The rows of the table.
pub fn read(study: &DensityStudy) -> Result<Arc<Rows>, Problems> {
    let table = study.written.folder.join(&study.file);
    let mut rows = Rows::read(&study.args, &table).map_err(|p| keyed(study, p))?;
    if let (Some(file), Some(shown)) = (&study.inside, &study.args.inside) {
        rows = rows
            .inside(&study.written.folder.join(file), shown)
            .map_err(|p| keyed(study, p))?;
    }
    Ok(Arc::new(rows))
}

/// Estimates what is asked for.
pub fn estimated<'a>(
    study: &'a DensityStudy,
    rows: &'a Arc<Rows>,
) -> Result<Estimated<'a>, Problems> {
    super::estimated(&study.args, rows).map_err(|problems| keyed(study, problems))
}

/// What the density is of.
pub fn named<'a>(study: &'a DensityStudy, rows: &'a Rows) -> Named<'a> {
    Named {
        names: &rows.names,
        is_given: study.args.given.is_some(),
        group: study.args.group.as_deref(),
    }
}

/// The predictions that are asked for, and what was noticed in their files.
pub fn asked_of(study: &DensityStudy, rows: &Rows) -> Result<(Vec<Table>, Vec<String>), Problems> {
    let groups = match &study.args.group {
        Some(column) if !study.predict.is_empty() => {
            let mut seen = std::collections::BTreeSet::new();
            let labels = rows.labels(column).map_err(|p| keyed(study, p))?;
            labels
                .into_iter()
                .filter(|l| seen.insert(l.clone()))
                .collect()
        }
        _ => Vec::new(),
    };
    tables(study, named(study, rows), &groups)
}

/// A table of answers.
pub struct Predicted {
    /// Its name.
    pub name: String,
    /// Its text.
    pub csv: String,
}

/// Estimates at hand.
struct AtHand<'a>(Vec<(String, Of<'a>)>);

impl Densities for AtHand<'_> {
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    fn with(&self, at: usize, visit: &mut dyn FnMut(Of<'_>) -> Result<()>) -> Result<()> {
        visit(self.0[at].1)
    }
}

/// Answers all that is asked; also what was noticed.
fn predicted(
    study: &DensityStudy,
    rows: &Rows,
    estimates: &dyn Answers,
    asked: &[Table],
) -> Result<(Vec<Predicted>, Vec<String>)> {
    let at_hand = AtHand(estimates.parts());
    let (mut out, mut noticed) = (Vec::new(), Vec::new());
    for table in asked {
        let named = named(study, rows);
        let (places, wanted) = (&table.places, &table.wanted);
        let (parts, warnings) = asked::answers(&at_hand, named, places, &table.which, wanted)?;
        let of_table = |warning: String| format!("{}: {warning}", table.name);
        noticed.extend(warnings.into_iter().map(of_table));
        let parts: Vec<_> = parts.iter().map(|(p, a)| (p, a)).collect();
        let mut bytes = Vec::new();
        prediction_csv::write(&mut bytes, &parts)?;
        out.push(Predicted {
            name: table.name.clone(),
            csv: String::from_utf8(bytes)?,
        });
    }
    Ok((out, noticed))
}

/// Flags of the command as the keys of the section that they are here.
pub fn words(text: &str) -> String {
    as_keys(text, &KEYS).replace("give `column` twice", "write `column = [\"x\", \"y\"]`")
}

/// A refusal in the words of the study.
pub fn keyed(study: &DensityStudy, problems: Problems) -> Problems {
    study.written.keyed(problems, words)
}

/// What the command prints as JSON, and what every `fit.json` has.
pub fn fit_json(
    study: &DensityStudy,
    answers: &dyn Answers,
    seconds: f64,
) -> Result<Value, Problems> {
    let of = ("density", study.files());
    let mut out = of_section(&study.written, of, seconds, answers.json())?;
    reword(&mut out, &words);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn flags_become_keys_and_what_people_wrote_stays() {
        let told = "give --column twice";
        assert_eq!(words(told), "write `column = [\"x\", \"y\"]`");
        let mut value = json!({"warnings": ["--grid"], "groups": [{"warnings": ["(--log)"]}]});
        reword(&mut value, &words);
        let want = json!({"warnings": ["`grid`"], "groups": [{"warnings": ["(`log`)"]}]});
        assert_eq!(value, want);
    }
}
