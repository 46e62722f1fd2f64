//! The study of a function: read, compared, and fitted.

use anyhow::Result;
use quadrat::model::Model;

use crate::beside;
use crate::engine::{self, Running};
use crate::outcome::Outcome;
use crate::overlap::once;
use crate::redundant::distinct;
use crate::resolve::{Resolved, resolve};
use crate::study::Study;

/// The study of a function with its tables read and compared, and its model, before it is fitted.
pub struct CheckedFunction {
    /// The study and its tables, as it is fitted: without rows that follow from others, and with
    /// every event counted once.
    pub resolved: Resolved,
    /// Its model.
    pub model: Model,
    fit_only: bool,
}

impl CheckedFunction {
    /// Reads its tables.
    ///
    /// # Errors
    /// What cannot be read, compared or asked.
    pub fn new(study: Study, fit_only: bool) -> Result<Self> {
        let resolved = once(distinct(resolve(study)?)?)?;
        Ok(Self {
            model: engine::model(&resolved)?,
            resolved,
            fit_only,
        })
    }

    /// The names of the files that its tables and maps are written to.
    pub fn outputs(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for asked in &self.resolved.predictions {
            let table = asked.table_file();
            // Outputs of one prediction share a table.
            let is_new = !files.contains(&table);
            files.extend(is_new.then_some(table));
            files.extend(asked.map_file());
        }
        files
    }

    /// Fits it, and answers its predictions unless it is only to be fitted.
    ///
    /// # Errors
    /// Where the fit fails, or a prediction.
    pub fn run(self, running: &Running) -> Result<Outcome> {
        if self.fit_only {
            return Outcome::fit(self.resolved, &self.model, running);
        }
        let mut outcome = Outcome::compute(self.resolved, &self.model, running)?;
        beside::add(&mut outcome);
        Ok(outcome)
    }
}
