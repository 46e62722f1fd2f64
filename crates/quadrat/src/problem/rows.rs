//! Rows of the tables of a problem: whose hyperparameters they share, and their numbers in errors.

use super::assembly::Problem;
use crate::error::{FitError, InputError};
use crate::likelihood::{Likelihood, Noise};
use crate::problem::observations::Observations;

impl Problem {
    /// An error in terms of the user's rows.
    pub fn in_user_rows(&self, error: FitError) -> FitError {
        match error {
            FitError::Factorisation {
                kernel,
                parameters,
                jitter,
                rows,
                correlation,
            } => FitError::Factorisation {
                kernel,
                parameters,
                jitter,
                rows: (self.order[rows.0], self.order[rows.1]),
                correlation,
            },
            FitError::Contradiction {
                row,
                partner,
                misfit,
            } => FitError::Contradiction {
                row: self.order[row],
                partner: self.order[partner],
                misfit,
            },
            other => other,
        }
    }

    /// The hyperparameters that rows of another table share with those of the fit.
    pub(crate) fn own_of(&self, table: &Observations) -> Result<Vec<usize>, InputError> {
        let likelihood = table.likelihood();
        let output = self.mean.output(table.supports(), 0);
        let names = |l: &Likelihood| -> Vec<String> {
            let own = l.local().parameters(1.0);
            let skip = usize::from(self.seconds.of(l).is_some());
            own.into_iter().skip(skip).map(|p| p.name).collect()
        };
        let wanted = names(likelihood);
        let count = wanted.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        let learns = |l: &Likelihood| {
            l.noise().is_some_and(Noise::is_learned) && self.seconds.of(l).is_none()
        };
        // Those of the same output first.
        let all = self.likelihoods.iter().zip(&self.own);
        let mut tables: Vec<_> = all.zip(&self.output_of_table).collect();
        tables.sort_by_key(|(_, of)| **of != output);
        let tables = tables.into_iter().map(|(table, _)| table);
        let same = tables
            .clone()
            .find(|(l, _)| l.name() == likelihood.name() && names(l) == wanted);
        let noise = tables.clone().find(|(l, _)| learns(l));
        match (same, noise) {
            (Some((_, own)), _) => Ok(own.clone()),
            (None, Some((_, own))) if learns(likelihood) && count == 1 => Ok(vec![own[0]]),
            _ => Err(InputError::Unavailable {
                what: "a learned noise variance, threshold or dispersion for the new rows",
                remedy: "no table of the fit learned one; give it as known",
            }),
        }
    }
}
