//! What is known of new rows like those of a table.

use super::mixture::Posterior;
use crate::error::InputError;
use crate::likelihood::Likelihood;
use crate::support::Functionals;

impl Posterior {
    /// Functionals over the kernel's columns, of the output that a table reports of.
    pub(crate) fn placed(&self, at: &Functionals, table: usize) -> Result<Functionals, InputError> {
        match self.tables.get(table).and_then(|t| t.output.as_deref()) {
            Some(output) => self.at_output(at, output),
            None => self.place(at),
        }
    }

    /// What the rows of a table report, with the noise of their rounding.
    pub(crate) fn instrument(&self, table: usize) -> Option<&Likelihood> {
        (table < self.tables.len()).then(|| self.problem.likelihood(table))
    }

    /// Whether the noise variance or dispersion of a table is a function.
    pub(crate) fn varies(&self, table: usize) -> bool {
        let likelihood = self.problem.likelihood(table);
        self.problem.seconds().of(likelihood).is_some()
    }
}
