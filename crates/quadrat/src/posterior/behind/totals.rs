//! Sums of the values behind rows.

use rayon::prelude::*;

use super::draws::{MOST_DRAWN, draws_of};
use super::table::Behind;
use super::told::ReportedValue;
use super::values::RowValues;
use crate::error::{FitError, InputError};

/// Draws of sums that are kept at most, in their order and ascending: 800 MB.
const MOST_KEPT: usize = 100_000_000;
/// Fewest draws of a sum.
const FEWEST: usize = 1000;

/// What is known of sums of the values behind rows: see [`Behind::totals`].
#[derive(Debug, Clone, PartialEq)]
pub struct RowTotals {
    groups: Vec<Group>,
    seed: u64,
}

/// One sum.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    /// The sum of the rows that were reported.
    reported: f64,
    mean: f64,
    sd: f64,
    /// The only row that is not known, if it is one, and its place in the table.
    single: Option<(usize, RowValues)>,
    /// Draws of the sum, in the order of drawing: of a single row that is not known they may be
    /// none, and are then made of its distribution.
    draws: Vec<f64>,
    /// The same ascending; none of a single row.
    ascending: Vec<f64>,
}

impl Behind<'_> {
    /// Sums of the values behind groups of rows, from their joint distribution.
    ///
    /// # Arguments
    /// * `groups` - rows of each, by their places in the table
    /// * `seed` - of the draws; a draw of a sum is the sum of the same draw of its rows in
    ///   [`Self::sample`] of all rows of all groups, where these are at most 4,000 that are not
    ///   known and as many draws are made
    ///
    /// # Errors
    /// As [`Self::sample`]; groups have at most 4,000 rows whose values are not known.
    /// [`InputError::Range`] for more than 50,000 groups of several such rows, where all groups
    /// have more than 4,000.
    ///
    /// # Numerics
    /// Means are sums of the means of the rows. Standard deviations and quantiles are those of
    /// 10,000 draws (2,000 from 500 rows on that are not known), which move ends of 95 % intervals
    /// by .03 (.06) of a standard deviation. A single row that is not known needs none. Above 4,000
    /// rows that are not known each group is drawn by itself, of more than 5,000 groups fewer
    /// times, at least 1,000.
    pub fn totals(&self, groups: &[Vec<usize>], seed: u64) -> Result<RowTotals, FitError> {
        let mut all: Vec<usize> = groups.concat();
        all.sort_unstable();
        all.dedup();
        let all = self.hidden(&all)?;
        let values = self.values(&all)?;
        let drawn = match all.len() <= MOST_DRAWN {
            true => Some(self.draw(&all, draws_of(all.len()), seed)?),
            false => None,
        };
        let most = match &drawn {
            Some(_) => usize::MAX,
            None => self.most_draws(groups)?,
        };
        let one = |rows: &Vec<usize>| -> Result<Group, FitError> {
            let hidden = self.hidden(rows)?;
            let known = rows.iter().filter_map(|&row| match self.told(row) {
                ReportedValue::Value(value) => Some(value),
                _ => None,
            });
            // A sum of nothing is a negative zero.
            let reported = 0.0 + known.sum::<f64>();
            let places: Vec<usize> = hidden
                .iter()
                .filter_map(|row| all.binary_search(row).ok())
                .collect();
            let own;
            let columns: Vec<&Vec<f64>> = match &drawn {
                Some(drawn) => places.iter().map(|&at| &drawn[at]).collect(),
                None if hidden.len() <= 1 => Vec::new(),
                None => {
                    own = self.draw(&hidden, draws_of(hidden.len()).min(most), seed)?;
                    own.iter().collect()
                }
            };
            let count = columns.first().map_or(0, |column| column.len());
            let sum = |draw: usize| reported + columns.iter().map(|c| c[draw]).sum::<f64>();
            let draws: Vec<f64> = (0..count).map(sum).collect();
            let mean = reported + places.iter().map(|&at| values.mean()[at]).sum::<f64>();
            let single = match places.as_slice() {
                [only] => Some((all[*only], values.one(*only))),
                _ => None,
            };
            Ok(Group::new((reported, mean), single, draws))
        };
        let groups: Result<Vec<Group>, FitError> = groups.par_iter().map(one).collect();
        Ok(RowTotals {
            groups: groups?,
            seed,
        })
    }

    /// How many draws of every group may be kept.
    fn most_draws(&self, groups: &[Vec<usize>]) -> Result<usize, InputError> {
        let mut several = 0;
        for rows in groups {
            several += usize::from(self.hidden(rows)?.len() > 1);
        }
        let most = MOST_KEPT / 2 / several.max(1);
        if most < FEWEST {
            return Err(InputError::Range {
                what: "the number of sums of several rows whose values are not known".into(),
                row: 0,
                value: several as f64,
                requirement: "at most 50,000: ask for fewer sums at a time",
            });
        }
        Ok(most)
    }
}

impl Group {
    fn new(
        (reported, mean): (f64, f64),
        single: Option<(usize, RowValues)>,
        draws: Vec<f64>,
    ) -> Self {
        let mut ascending = Vec::new();
        if single.is_none() {
            ascending.clone_from(&draws);
            ascending.sort_unstable_by(f64::total_cmp);
        }
        let centre = draws.iter().sum::<f64>() / draws.len().max(1) as f64;
        let squares = draws.iter().map(|d| (d - centre) * (d - centre));
        let square = 0.0 + squares.sum::<f64>();
        let sd = match &single {
            Some((_, values)) => values.sd()[0],
            None => (square / draws.len().saturating_sub(1).max(1) as f64).sqrt(),
        };
        Self {
            reported,
            mean,
            sd,
            single,
            draws,
            ascending,
        }
    }

    fn quantile(&self, p: f64) -> f64 {
        if let Some((_, values)) = &self.single {
            return self.reported + values.quantile(p)[0];
        }
        let count = self.ascending.len();
        let at = (p * count as f64).ceil() as usize;
        match count {
            0 => self.reported,
            _ => self.ascending[at.clamp(1, count) - 1],
        }
    }

    fn exceedance(&self, limit: f64) -> f64 {
        if let Some((_, values)) = &self.single {
            return values.exceedance(limit - self.reported)[0];
        }
        let count = self.ascending.len();
        match count {
            0 => f64::from(u8::from(self.reported > limit)),
            _ => {
                let below = self.ascending.partition_point(|d| *d <= limit);
                (count - below) as f64 / count as f64
            }
        }
    }
}

impl RowTotals {
    /// Number of sums.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Means.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        self.groups.iter().map(|group| group.mean).collect()
    }

    /// Standard deviations; 0 where all rows were reported.
    #[must_use]
    pub fn sd(&self) -> Vec<f64> {
        self.groups.iter().map(|group| group.sd).collect()
    }

    /// The smallest sum that a share `p` of each lies at or below, `0 < p < 1`; NaN outside.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Vec<f64> {
        if !(p > 0.0 && p < 1.0) {
            return vec![f64::NAN; self.len()];
        }
        self.groups.iter().map(|group| group.quantile(p)).collect()
    }

    /// The probability that each sum is more than a limit.
    #[must_use]
    pub fn exceedance(&self, limit: f64) -> Vec<f64> {
        let one = |group: &Group| group.exceedance(limit);
        self.groups.iter().map(one).collect()
    }

    /// The probability that each sum is more than a limit of its own, shape `[groups]`; none where
    /// limits have another number.
    #[must_use]
    pub fn exceedance_of_each(&self, limits: &[f64]) -> Option<Vec<f64>> {
        if limits.len() != self.len() {
            return None;
        }
        let each = self.groups.iter().zip(limits);
        Some(
            each.map(|(group, limit)| group.exceedance(*limit))
                .collect(),
        )
    }

    /// So many draws of each sum, at most as many as were made; what was reported where all rows
    /// were.
    #[must_use]
    pub fn draws(&self, count: usize) -> Vec<Vec<f64>> {
        let own = |group: &Group| match (&group.single, group.draws.is_empty()) {
            (_, false) => group.draws.iter().copied().take(count).collect(),
            (None, true) => vec![group.reported; count],
            (Some((row, values)), true) => {
                let drawn = values.draws(count, self.seed, *row);
                drawn.into_iter().map(|y| group.reported + y).collect()
            }
        };
        self.groups.par_iter().map(own).collect()
    }
}
