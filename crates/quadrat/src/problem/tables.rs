//! What the tables of a problem report, whatever the inference.

use std::sync::Arc;

use super::observations::Observations;
use super::prior::Prior;
use super::repeated::repeated;
use super::seconds::Seconds;
use crate::error::InputError;
use crate::inference::sites::Block;
use crate::kernel::Mixing;
use crate::likelihood::repeated::Repeated;
use crate::likelihood::{Likelihood, Noise};

/// Likelihoods of the tables, and which hyperparameters are theirs.
pub(crate) struct Tables {
    /// With the noise of their rounding.
    pub likelihoods: Arc<[Likelihood]>,
    /// Where the hyperparameters of every table's likelihood stand in `theta`.
    pub own: Vec<Vec<usize>>,
    /// The rows of tables of which some were seen several times.
    repeated: Vec<Option<Repeated>>,
    /// The noise variance and the dispersion, where they are functions.
    pub seconds: Seconds,
    /// The output of every table's rows.
    output_of_table: Vec<usize>,
    rows: usize,
}

impl Tables {
    pub fn new(
        prior: &Prior,
        tables: &[Observations],
        own: Vec<Vec<usize>>,
        seconds: Seconds,
    ) -> Self {
        let likelihoods: Arc<[Likelihood]> = tables.iter().map(|t| seconds.rounded(t)).collect();
        let output = |table: &Observations| prior.mean.output(table.supports(), 0);
        Self {
            own,
            repeated: repeated(tables, &likelihoods),
            output_of_table: tables.iter().map(output).collect(),
            rows: tables.iter().map(|table| table.supports().len()).sum(),
            likelihoods,
            seconds,
        }
    }

    /// Rows of all tables.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows of every table, as inference asks them.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        self.blocks_of(&self.likelihoods, &self.repeated)
    }

    /// The same where the rows report something else.
    ///
    /// # Arguments
    /// * `likelihoods`, `repeated` - of every table
    pub fn blocks_of<'a>(
        &'a self,
        likelihoods: &'a [Likelihood],
        repeated: &'a [Option<Repeated>],
    ) -> Vec<Block<'a>> {
        let mut first = 0;
        let tables = likelihoods.iter().zip(&self.own).enumerate();
        tables
            .map(|(t, (likelihood, own))| {
                let block = Block {
                    likelihood: match &repeated[t] {
                        Some(repeated) => repeated,
                        None => likelihood.local(),
                    },
                    first,
                    own,
                    second: self.seconds.of_table(t),
                };
                first += likelihood.rows();
                block
            })
            .collect()
    }

    /// Hyperparameters whose signs, all together, change nothing: the columns of mixing matrices,
    /// since `A A'` does not know their signs.
    pub fn mirrored(&self, prior: &Prior) -> Vec<Vec<usize>> {
        let seconds = self.seconds.each().iter().map(|second| &second.spec);
        let seconds = seconds.map(|spec| (&spec.kernel, spec.offset));
        let kernels = std::iter::once((&prior.kernel, 0)).chain(seconds);
        let columns = kernels.flat_map(|(kernel, offset)| {
            let matrices = kernel.leaves().iter().filter_map(|l| l.mixing.as_ref());
            let columns = matrices.flat_map(Mixing::columns);
            columns.map(move |column| column.into_iter().map(|i| offset + i).collect())
        });
        let is_mirrored = |&i: &usize| prior.parameters[i].is_mirrored();
        columns
            .filter(|column: &Vec<usize>| column.iter().all(is_mirrored))
            .collect()
    }

    /// Noise variance of a new normal row like those of a table: what it learned and what is known
    /// of all its rows; none where that differs from row to row.
    pub fn new_row_noise(&self, theta: &[f64], table: usize) -> Option<f64> {
        let noise = self.likelihoods[table].noise()?;
        let known = noise.known().unwrap_or(&[0.0]);
        let is_one = known.iter().all(|v| *v == known[0]);
        is_one.then(|| known[0] + self.learned_noise(theta, table))
    }

    /// The learned part of that variance; zero where none is learned.
    pub fn learned_noise(&self, theta: &[f64], table: usize) -> f64 {
        let noise = self.likelihoods[table].noise();
        let is_learned = noise.is_some_and(Noise::is_learned);
        let learned = self.own[table].first().filter(|_| is_learned);
        learned.map_or(0.0, |&i| theta[i])
    }

    /// The tables of an output, in order.
    pub fn of_output(&self, output: usize) -> impl Iterator<Item = usize> + '_ {
        let own = move |t: &usize| self.output_of_table[*t] == output;
        (0..self.likelihoods.len()).filter(own)
    }

    /// The hyperparameters that rows of another table share with those of the fit.
    pub fn own_of(&self, table: &Observations, output: usize) -> Result<Vec<usize>, InputError> {
        let likelihood = table.likelihood();
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
