//! Rows of counts, and of successes among trials, over boxes, regions and bags, as they are
//! compared with each other.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::InputError;
use crate::likelihood::{Likelihood, Outcomes};
use crate::problem::observations::Observations;
use crate::problem::pooled::is_pooled;
use crate::support::{Functionals, Region};

/// Exposures that differ by rounding are one.
const ROUNDING: f64 = 1e-9;

/// A row that counts events.
#[derive(Debug, Clone)]
pub(super) struct EventRow {
    /// Its place among the rows of all tables.
    pub number: usize,
    pub table: usize,
    /// Its place in the table.
    pub row: usize,
    /// Along every common dimension the intervals it is made of, equal ends for a point; empty for
    /// bags and other weighted sums.
    pub sides: Vec<Vec<(f64, f64)>>,
    /// The dimensions of its region, along which its sides are those of the bounding box.
    along_region: Vec<usize>,
    /// Which of the different regions it has.
    pub region: Option<usize>,
    /// The fewest and most events; equal where they were counted.
    pub count: (f64, f64),
    /// Of successes the number of trials.
    pub exposure: f64,
    /// The functional of the constant function one.
    pub size: f64,
    /// Whether it is an average and not a sum.
    pub is_mean: bool,
    /// Whether it says nothing that others do not.
    pub goes: bool,
    pub is_changed: bool,
    /// What share of it counts, where others count some of its events too.
    pub share: f64,
}

impl EventRow {
    /// The expected number of events at a rate of one.
    pub fn mass(&self) -> f64 {
        self.exposure * self.size
    }

    /// A new size, and the exposure that gives this mass.
    pub fn set_mass(&mut self, size: f64, mass: f64) {
        self.size = size;
        let exposure = mass / size;
        if (exposure - self.exposure).abs() > ROUNDING * self.exposure {
            self.exposure = exposure;
        }
    }

    pub fn is_counted(&self) -> bool {
        self.count.0 == self.count.1
    }

    /// Whether it has sides of its own along a dimension.
    pub fn varies_along(&self, d: usize) -> bool {
        d < self.sides.len() && !self.along_region.contains(&d)
    }
}

/// The rows of one output that count events, with their supports along the dimensions that all of
/// its tables have.
pub(super) struct EventRows {
    pub rows: Vec<EventRow>,
    pub supports: Functionals,
    /// The dimensions.
    pub dims: Vec<String>,
    /// Whether they count successes among trials.
    pub of_trials: bool,
}

/// Ends and exposures of counts, of successes their number and that of trials; `None` where
/// something else is reported.
pub(super) fn counts(likelihood: &Likelihood) -> Option<(&[f64], &[f64], &[f64])> {
    match likelihood.outcomes() {
        Outcomes::Counts(x) => Some((x.lower, x.upper, x.exposure)),
        Outcomes::Successes { successes, trials } => Some((successes, successes, trials)),
        Outcomes::Values(_)
        | Outcomes::Intervals(_)
        | Outcomes::Answers(_)
        | Outcomes::Ranks(_)
        | Outcomes::Bounds => None,
    }
}

/// Whether the rows are counts of which some were seen several times.
pub(super) fn is_repeated(table: &Observations) -> bool {
    counts(&table.likelihood).is_some() && !table.times.is_empty() && !table.is_in_shares()
}

fn of_trials(table: &Observations) -> bool {
    matches!(table.likelihood.outcomes(), Outcomes::Successes { .. })
}

impl EventRows {
    /// The rows of some tables over boxes, regions and bags that say something.
    ///
    /// # Arguments
    /// * `tables` - with the number of the table and that of its first row
    pub fn new(tables: &[(usize, usize, &Observations)]) -> Result<Self, InputError> {
        let mut dims: Vec<String> = Vec::new();
        if let Some((_, _, first)) = tables.first() {
            dims = first.supports.dims().to_vec();
            dims.retain(|dim| {
                let mut others = tables.iter();
                others.all(|(_, _, table)| table.supports.dims().contains(dim))
            });
        }
        let mut out = Self {
            rows: Vec::new(),
            supports: Functionals::new(dims.clone()),
            dims,
            of_trials: tables.iter().any(|(_, _, table)| of_trials(table)),
        };
        for &(table, first, observations) in tables {
            out.add(table, first, observations)?;
        }
        out.name_regions();
        Ok(out)
    }

    fn add(
        &mut self,
        table: usize,
        first: usize,
        observations: &Observations,
    ) -> Result<(), InputError> {
        let Some((lower, upper, exposure)) = counts(&observations.likelihood) else {
            return Ok(());
        };
        let own = &observations.supports;
        // Beside bags a point is a bag too.
        let has_bags = (0..own.len()).any(|row| own.atoms(row).len() > 1);
        let speaks = |row: &usize| {
            let is_open = lower[*row] == 0.0 && upper[*row] == f64::INFINITY;
            exposure[*row] > 0.0 && !is_open && (has_bags || !own.is_point(*row))
        };
        let wanted: Vec<usize> = (0..own.len()).filter(speaks).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let supports = own.rows(&wanted).select(&self.dims)?;
        let is_mean = self.of_trials || has_means(own, &wanted);
        for (at, &row) in wanted.iter().enumerate() {
            let atoms = supports.atoms(at);
            let is_one = atoms.len() == 1 && own.atoms(row).len() == 1;
            let placed = supports
                .region(atoms.start)
                .filter(|_| is_one)
                .map(|region| &supports.regions()[region]);
            let sides = match is_one {
                true => supports.sides_of(atoms.start),
                false => Vec::new(),
            };
            self.rows.push(EventRow {
                number: first + row,
                table,
                row,
                sides: sides.iter().map(|&(a, w)| vec![(a, a + w)]).collect(),
                along_region: placed
                    .map(|p| p.columns.iter().flatten().copied().collect())
                    .unwrap_or_default(),
                region: None,
                count: (lower[row], upper[row]),
                exposure: exposure[row],
                size: if self.of_trials { 1.0 } else { own.size(row) },
                is_mean,
                goes: false,
                is_changed: false,
                share: 1.0,
            });
        }
        self.supports.extend(&supports)
    }

    /// Numbers the regions, equal ones alike.
    fn name_regions(&mut self) {
        let mut by_size: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut by_address: HashMap<*const Region, usize> = HashMap::new();
        for (at, row) in self.rows.iter_mut().enumerate() {
            let atom = self.supports.atoms(at).start;
            let Some(placed) = self.supports.region(atom) else {
                continue;
            };
            if row.sides.is_empty() {
                continue;
            }
            let all = self.supports.regions();
            let address = Arc::as_ptr(&all[placed].region);
            let alike = by_size.entry(all[placed].region.volume().to_bits());
            let alike = alike.or_default();
            let known = by_address.get(&address).copied();
            let known = known.or_else(|| {
                let mut others = alike.iter();
                let same = |other: &&usize| all[**other].region == all[placed].region;
                others.find(same).copied()
            });
            if known.is_none() {
                alike.push(placed);
            }
            let region = known.unwrap_or(placed);
            by_address.insert(address, region);
            row.region = Some(region);
        }
    }
}

/// Whether rows of a table are averages: their size is not that of what they look at.
fn has_means(supports: &Functionals, rows: &[usize]) -> bool {
    let is_mean = |&row: &usize| {
        let atoms = supports.atoms(row);
        let volume: f64 = atoms
            .clone()
            .map(|atom| match supports.region(atom) {
                Some(region) => {
                    let placed = &supports.regions()[region];
                    let outside = |d: &usize| !placed.columns.contains(&Some(*d));
                    placed.region.volume() * widths(supports, atom, outside)
                }
                None => widths(supports, atom, |_| true),
            })
            .sum();
        let size = supports.size(row);
        let is_one = (size - 1.0).abs() <= ROUNDING;
        // Points of a bag have no volume: weights that add to one are an average.
        let is_bag = atoms.len() > 1 && volume == atoms.len() as f64;
        is_one && (is_bag || (volume - 1.0).abs() > ROUNDING)
    };
    rows.iter().any(is_mean)
}

/// The widths of an atom along some dimensions, multiplied, where it has any.
fn widths(supports: &Functionals, atom: usize, of: impl Fn(&usize) -> bool) -> f64 {
    let dims = (0..supports.dims().len()).filter(of);
    let widths = dims.map(|d| supports.width(d)[atom]);
    widths.filter(|w| *w > 0.0).product()
}

/// Tables of counts, and those of successes, over boxes, regions or bags, by their output, each
/// with its number and that of its first row.
pub(super) fn by_output(tables: &[Observations]) -> Vec<Vec<(usize, usize, &Observations)>> {
    let mut groups: Vec<Vec<(usize, usize, &Observations)>> = Vec::new();
    let mut first = 0;
    for (number, table) in tables.iter().enumerate() {
        if counts(&table.likelihood).is_some() && is_pooled(table) {
            let same = |g: &&mut Vec<(usize, usize, &Observations)>| {
                g[0].2.output == table.output && of_trials(g[0].2) == of_trials(table)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push((number, first, table)),
                None => groups.push(vec![(number, first, table)]),
            }
        }
        first += table.supports.len();
    }
    groups
}
