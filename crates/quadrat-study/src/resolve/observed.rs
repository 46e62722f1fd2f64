//! A table of observations after everything about it was checked.

use std::sync::Arc;

use quadrat::error::InputError;
use quadrat::likelihood::{Interval, Likelihood as Reported};
use quadrat::model::Instrument;
use quadrat::support::Functionals;

use crate::diagnostic::shown;
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
    /// rows that count the events of others again what is left.
    pub once: Option<(Functionals, Reported)>,
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
        let volume = self.places.volume(row);
        let value = |value: f64| Some((value / volume, value / volume));
        let between = |x: &Interval| Some((x.lower()[row] / volume, x.upper()[row] / volume));
        let counted = |lower: &[f64], upper: &[f64], exposure: &[f64]| {
            let exposure = exposure[row] * volume;
            (exposure > 0.0).then(|| (lower[row] / exposure, upper[row] / exposure))
        };
        match &self.likelihood {
            Reported::Gaussian(x) => value(x.values()[row]),
            Reported::Laplace(x) => value(x.values()[row]),
            Reported::StudentT(x) => value(x.values()[row]),
            Reported::Truncated(x) => value(x.values()[row]),
            Reported::Interval(x) => between(x),
            Reported::Censored(x) => between(x.readings()),
            Reported::Bernoulli(x) => value(f64::from(u8::from(x.values()[row]))),
            Reported::Binomial(x) => {
                let (k, n) = (x.successes()[row], x.trials()[row]);
                (n > 0.0).then(|| (k / n, k / n))
            }
            Reported::Poisson(x) => counted(x.lower(), x.upper(), x.exposure()),
            Reported::NegativeBinomial(x) => counted(x.lower(), x.upper(), x.exposure()),
            Reported::Exponential(x) => value(x.values()[row]),
            Reported::Gamma(x) => value(x.values()[row]),
            Reported::LogNormal(x) => value(x.values()[row]),
            Reported::Ordinal(x) => {
                use quadrat::likelihood::Thresholds::Known;
                let Known(thresholds) = x.thresholds_setting() else {
                    return None;
                };
                let rank = x.ranks()[row];
                let lower = rank.checked_sub(2).and_then(|k| thresholds.get(k));
                let upper = thresholds.get(rank - 1);
                Some((
                    lower.map_or(f64::NEG_INFINITY, |t| t / volume),
                    upper.map_or(f64::INFINITY, |t| t / volume),
                ))
            }
            _ => None,
        }
    }

    /// Whether a row leaves everything open: counts without exposure, no trials, intervals without
    /// ends.
    pub fn says_nothing(&self, row: usize) -> bool {
        let is_open = |lower: f64, upper: f64, least: f64| lower <= least && upper == f64::INFINITY;
        let between = |x: &Interval| is_open(x.lower()[row], x.upper()[row], f64::NEG_INFINITY);
        let counted = |lower: &[f64], upper: &[f64], exposure: &[f64]| {
            exposure[row] == 0.0 || is_open(lower[row], upper[row], 0.0)
        };
        match &self.likelihood {
            Reported::Interval(x) => between(x),
            Reported::Censored(x) => between(x.readings()),
            Reported::Binomial(x) => x.trials()[row] == 0.0,
            Reported::Poisson(x) => counted(x.lower(), x.upper(), x.exposure()),
            Reported::NegativeBinomial(x) => counted(x.lower(), x.upper(), x.exposure()),
            _ => false,
        }
    }

    /// The mean that a row by itself reports, where it is one number.
    pub fn height(&self, row: usize) -> Option<f64> {
        let (lower, upper) = self.range(row)?;
        (lower == upper).then_some(lower)
    }
}
