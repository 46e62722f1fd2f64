//! The study of a density: read, estimated, and answered in memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use quadrat::progress::Progress;
use serde_json::Value;

use super::asked::{self, Densities, Named, Of, tables};
use super::checked::{self, CheckedPart};
use super::common::{TABLE, no_column_twice};
use super::model::to_bytes;
use super::{Answers, Estimated, Rows, estimated};
use crate::columns::Table;
use crate::diagnostic::Problems;
use crate::engine::sampling;
use crate::fit_json::{of_section, reword};
use crate::prediction_csv;
use crate::study::DensityStudy;
use crate::study::density::KEYS;
use crate::study::written::as_keys;

/// The study of a density with its tables read, before it is estimated.
pub struct CheckedDensity {
    /// The study.
    pub study: DensityStudy,
    rows: Arc<Rows>,
    asked: Vec<asked::Table>,
    noticed: Vec<String>,
    fit_only: bool,
    /// From when on its seconds count.
    begun: Instant,
}

/// A density, estimated and answered.
pub struct DensityOutcome {
    /// The study.
    pub study: DensityStudy,
    /// The estimate.
    pub estimated: Estimated,
    /// That of the density, and those of its predictions; none where it was only fitted.
    pub tables: Vec<Table>,
    /// What was noticed in the files of predictions and in the answers.
    pub noticed: Vec<String>,
    /// The estimates that were checked.
    pub checked: Vec<CheckedPart>,
    /// What `fit.json` holds.
    pub json: Value,
    rows: Arc<Rows>,
}

impl CheckedDensity {
    /// Reads its tables.
    ///
    /// # Errors
    /// What cannot be read or asked.
    pub fn new(study: DensityStudy, fit_only: bool) -> Result<Self, Problems> {
        let begun = Instant::now();
        let rows = read(&study)?;
        if !fit_only {
            no_column_twice(&study.args, &rows).map_err(|p| keyed(&study, p))?;
        }
        // What could not be asked of the model is refused before it is made.
        let (asked, noticed) = asked_of(&study, &rows)?;
        Ok(Self {
            study,
            rows,
            asked,
            noticed,
            fit_only,
            begun,
        })
    }

    /// The files that it reads.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let files = self.study.files().into_iter();
        files
            .map(|file| self.study.written.folder.join(file))
            .collect()
    }

    /// The names of the tables that there will be.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        let predicted = self.asked.iter().map(|table| table.name.as_str());
        std::iter::once(TABLE).chain(predicted)
    }

    /// Estimates the density and answers its predictions.
    ///
    /// # Errors
    /// What cannot be estimated.
    pub fn run(self, progress: &dyn Progress) -> Result<DensityOutcome> {
        let Self {
            study,
            rows,
            mut noticed,
            ..
        } = self;
        let estimated = estimated(&study.args, &rows, progress).map_err(|p| keyed(&study, p))?;
        let mut tables = Vec::new();
        if !self.fit_only {
            let table = estimated.answers().table();
            tables.push(table.map_err(|p| keyed(&study, p))?);
            let named = named(&study, &rows);
            let (predicted, told) = predicted(named, estimated.answers(), &self.asked)?;
            tables.extend(predicted);
            noticed.extend(told);
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        Ok(DensityOutcome {
            json: fit_json(&study, estimated.answers(), seconds)?,
            checked: Vec::new(),
            study,
            estimated,
            tables,
            noticed,
            rows,
        })
    }
}

impl DensityOutcome {
    /// What should be known of the estimate.
    pub fn warnings(&self) -> Vec<String> {
        let told = self.estimated.answers().warnings();
        told.iter().map(|warning| words(warning)).collect()
    }

    /// Sets the estimates beside draws from their posterior, with so many draws of each chain.
    ///
    /// # Errors
    /// What cannot be sampled.
    pub fn check_by_mcmc(&mut self, draws: u32, progress: &dyn Progress) -> Result<(), Problems> {
        let options = sampling(self.study.args.seed, draws);
        self.checked = checked::by_mcmc(self.estimated.answers(), &options, progress)?;
        checked::add_to(&mut self.json, &self.checked);
        self.noticed.extend(checked::warnings(&self.checked));
        Ok(())
    }

    /// The bytes of the model file.
    pub fn model(&self) -> Vec<u8> {
        let named = named(&self.study, &self.rows);
        to_bytes(self.estimated.answers(), named, &self.warnings())
    }
}

/// The rows of the table.
fn read(study: &DensityStudy) -> Result<Arc<Rows>, Problems> {
    let table = study.written.folder.join(&study.file);
    let mut rows = Rows::read(&study.args, &table).map_err(|p| keyed(study, p))?;
    if let (Some(file), Some(shown)) = (&study.inside, &study.args.inside) {
        rows = rows
            .inside(&study.written.folder.join(file), shown)
            .map_err(|p| keyed(study, p))?;
    }
    Ok(Arc::new(rows))
}

/// What the density is of.
fn named<'a>(study: &'a DensityStudy, rows: &'a Rows) -> Named<'a> {
    Named {
        names: &rows.names,
        is_given: study.args.given.is_some(),
        group: study.args.group.as_deref(),
    }
}

/// The predictions that are asked for, and what was noticed in their files.
fn asked_of(
    study: &DensityStudy,
    rows: &Rows,
) -> Result<(Vec<asked::Table>, Vec<String>), Problems> {
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
    named: Named<'_>,
    estimates: &dyn Answers,
    asked: &[asked::Table],
) -> Result<(Vec<Table>, Vec<String>)> {
    let at_hand = AtHand(estimates.parts());
    let (mut out, mut noticed) = (Vec::new(), Vec::new());
    for table in asked {
        let (places, wanted) = (&table.places, &table.wanted);
        let (parts, warnings) = asked::answers(&at_hand, named, places, &table.which, wanted)?;
        let of_table = |warning: String| format!("{}: {warning}", table.name);
        noticed.extend(warnings.into_iter().map(of_table));
        out.push(Table {
            name: table.name.clone(),
            columns: prediction_csv::columns(parts),
        });
    }
    Ok((out, noticed))
}

/// Flags of the command as the keys of the section that they are here.
pub fn words(text: &str) -> String {
    as_keys(text, &KEYS).replace("give `column` twice", "write `column = [\"x\", \"y\"]`")
}

/// A refusal in the words of the study.
fn keyed(study: &DensityStudy, problems: Problems) -> Problems {
    study.written.keyed(problems, words)
}

/// What the command prints as JSON, and what every `fit.json` has.
fn fit_json(study: &DensityStudy, answers: &dyn Answers, seconds: f64) -> Result<Value, Problems> {
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
