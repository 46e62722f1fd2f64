//! What a study gave, without our types: for other languages.

use anyhow::Result;
use quadrat::model::Posterior;

use crate::columns::Table;
use crate::outcome::Outcome;
use crate::prediction_csv;
use crate::run::AnyOutcome;

/// What a study gave: the numbers of the files of `quadrat run`.
#[derive(Debug)]
pub struct Found {
    /// The title of the study.
    pub title: String,
    /// The text of `fit.json`.
    pub json: String,
    /// Everything people should know.
    pub warnings: Vec<String>,
    /// The tables of its predictions, in order.
    pub tables: Vec<Table>,
    /// The same of regions as GeoJSON: a name and the text.
    pub maps: Vec<(String, String)>,
    /// The posterior of a function; none of a density or of bands.
    pub posterior: Option<Posterior>,
    /// The bytes of the model file; empty of bands, which have none.
    pub model: Vec<u8>,
}

impl Found {
    /// Of an outcome, whose tables it takes over.
    ///
    /// # Errors
    /// Where a map or `fit.json` cannot be made.
    pub fn of(outcome: AnyOutcome) -> Result<Self> {
        let mut found = Self {
            title: outcome.title().to_owned(),
            json: outcome.json()?.into_owned(),
            warnings: outcome.warnings(),
            model: outcome.model(),
            tables: Vec::new(),
            maps: Vec::new(),
            posterior: None,
        };
        match outcome {
            AnyOutcome::Function(outcome) => found.take(*outcome)?,
            AnyOutcome::Density(outcome) => found.tables = read(outcome.tables),
            AnyOutcome::Ungroup(outcome) => found.tables = read(outcome.tables),
        }
        Ok(found)
    }

    /// The predictions and the posterior of a function.
    fn take(&mut self, outcome: Outcome) -> Result<()> {
        for (asked, answer) in outcome.maps() {
            let mut text = Vec::new();
            prediction_csv::write_geo(&mut text, &asked.places, answer)?;
            self.maps.push((asked.id.clone(), String::from_utf8(text)?));
        }
        let asked = &outcome.resolved.predictions;
        let mut answers = outcome.answers.into_iter();
        for group in asked.chunk_by(|one, next| one.of == next.of) {
            let parts = group.iter().map(|asked| &asked.places).zip(&mut answers);
            self.tables.push(Table {
                name: group[0].name.clone(),
                columns: prediction_csv::columns(parts),
            });
        }
        self.posterior = Some(outcome.posterior);
        Ok(())
    }
}

/// Tables as who reads them takes their columns.
fn read(tables: Vec<Table>) -> Vec<Table> {
    let table = |Table { name, columns }: Table| Table {
        name,
        columns: (columns.into_iter())
            .map(|(name, column)| (name, column.read()))
            .collect(),
    };
    tables.into_iter().map(table).collect()
}
