//! Which tables learn a noise variance, and which of them share it.

use quadrat::likelihood::{Likelihood, Noise};

use crate::errors::{Failure, Outcome};

/// The noise variances of the tables of a model.
#[derive(Clone, Default)]
pub struct Noises {
    tables: Vec<Own>,
    /// Whether the noise variance is a function.
    varies: bool,
}

#[derive(Clone)]
struct Own {
    output: Option<String>,
    /// Whether its likelihood has a noise variance that is learned.
    learns: bool,
    shares: bool,
}

impl Noises {
    /// With one more table.
    pub fn observe(&mut self, reported: &Likelihood, output: Option<&str>, shares: bool) {
        self.tables.push(Own {
            output: output.map(str::to_owned),
            learns: reported.noise().is_some_and(Noise::is_learned),
            shares,
        });
    }

    /// With something that is a function.
    pub fn vary(&mut self, what: &str) {
        self.varies |= what == "noise";
    }

    /// Refuses `share_noise` as studies do: where there is nothing to share, and where it could be
    /// the noise of several tables.
    pub fn check(&self) -> Outcome<()> {
        let learned = self.tables.iter().filter(|table| table.learns).count();
        let sharing = self.tables.iter().enumerate();
        for (number, table) in sharing.filter(|(_, table)| table.shares) {
            let why = if self.varies {
                "has no effect: the noise variance is a function, the same for all tables of an output; leave it out"
            } else if !table.learns {
                "has no effect: this table learns no noise variance; leave it out"
            } else if learned < 2 {
                "has no effect: no other table learns a noise variance; leave it out"
            } else if self.choices(table) > 1 {
                "does not say which noise variance is shared: several tables learn one of their own; let all tables of the output but one have it"
            } else {
                continue;
            };
            return Err(Failure::Data(format!(
                "share_noise of table {number} {why}"
            )));
        }
        Ok(())
    }

    /// How many noise variances a table that shares one may mean: those of its output, else of any.
    fn choices(&self, table: &Own) -> usize {
        let own = self
            .tables
            .iter()
            .filter(|other| other.learns && !other.shares);
        match own
            .clone()
            .filter(|other| other.output == table.output)
            .count()
        {
            0 => own.count(),
            several => several,
        }
    }
}
