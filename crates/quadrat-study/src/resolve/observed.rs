//! A table of observations after everything about it was checked.

use std::sync::Arc;

use quadrat::error::InputError;
use quadrat::likelihood::Likelihood as Reported;
use quadrat::model::Instrument;
use quadrat::support::Functionals;

use crate::diagnostic::{Place, shown};
use crate::kept::{among, retain};
use crate::places::{Along, Places};
use crate::study::likelihood::Likelihood;
use crate::table::Table;

/// One table of observations.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The table, for finding rows again.
    pub table: Arc<Table>,
    /// Where its rows looked.
    pub places: Places,
    /// What they reported.
    pub likelihood: Reported,
    /// What the study says about that.
    pub says: Likelihood,
    /// Whether the learned noise is that of another table.
    pub share_noise: bool,
    /// Row of the table for each row kept; empty when all were.
    pub kept: Vec<usize>,
    /// How often each row was seen, where that is said.
    pub times: Option<Vec<f64>>,
    /// Whether its rows are increments of running totals.
    pub are_increments: bool,
    /// Which `[[observe]]` it is, or is a part of.
    pub of: usize,
    /// Dimensions that the kernel does not use.
    pub spare: Vec<Along>,
    /// Where the rows looked and what they counted there, where that is not what they reported: of
    /// rows that count the events of others again what is left, and what share of each counts.
    pub once: Option<(Functionals, Reported, Vec<f64>)>,
}

impl Observed {
    /// The table with some of its rows; refused where they say too little without the others.
    pub fn keeping(mut self, rows: Vec<usize>) -> Result<Self, InputError> {
        let keep = among(&rows, self.places.len());
        self.places.retain(&keep);
        self.spare.iter_mut().for_each(|dim| dim.retain(&keep));
        self.likelihood = self.likelihood.select(&rows)?;
        if let Some(times) = &mut self.times {
            retain(times, &keep);
        }
        self.kept = match self.kept.is_empty() {
            true => rows,
            false => rows.iter().map(|&row| self.kept[row]).collect(),
        };
        Ok(self)
    }

    /// Where a kept row stands, with the key of its region or bag: "zones.geojson:3 (`zone` b)".
    pub fn address_and_key(&self, row: usize) -> String {
        let address = self.address(row);
        let shapes = self.places.shapes.as_ref();
        let key = shapes.and_then(|s| Some((&s.header, s.keys.get(row)?)));
        match key {
            Some((header, key)) => format!("{address} (`{header}` {})", shown(key)),
            None => address,
        }
    }

    /// The cell of what a row reported, or the first of the row.
    pub fn place(&self, row: usize) -> Place {
        let column = self.table.find(&self.says.value_name()).unwrap_or(0);
        let row = self.kept.get(row).copied().unwrap_or(row);
        self.table.place(row, column)
    }

    /// As predictions see it.
    pub fn instrument(&self) -> Instrument<'_> {
        Instrument {
            likelihood: &self.likelihood,
            output: self.places.output.as_deref(),
            shares_noise: self.share_noise,
        }
    }

    /// Where a kept row stands: "ages.csv:7".
    pub fn address(&self, row: usize) -> String {
        self.table
            .row_address(self.kept.get(row).copied().unwrap_or(row))
    }

    /// Between which ends a row by itself puts the mean, on the scale of the response and per unit
    /// of its volume: equal for a value, infinite where it is open. `None` where it cannot be said:
    /// ranks whose thresholds are learned, signs, rows without exposure or trials.
    pub fn range(&self, row: usize) -> Option<(f64, f64)> {
        self.likelihood.range(row, self.places.volume(row))
    }

    /// Whether a row leaves everything open: counts without exposure, no trials, intervals without
    /// ends.
    pub fn says_nothing(&self, row: usize) -> bool {
        self.likelihood.says_nothing(row)
    }

    /// The mean that a row by itself reports, where it is one number.
    pub fn height(&self, row: usize) -> Option<f64> {
        let (lower, upper) = self.range(row)?;
        (lower == upper).then_some(lower)
    }
}
