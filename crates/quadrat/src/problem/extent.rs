//! How far the rows reach along a column: all of them, and those that lie together.
//!
//! One row far away, such as a missing code of -9999, a wrong year or an open last band, makes the
//! extent of all rows say nothing about the distances between the others. So the extent that
//! scales are read off is that of the **bulk**: all rows, but for the few that are far.

use super::observations::Observations;
use super::outputs;
use crate::error::InputError;
use crate::kernel::Kernel;

/// The largest share of the different places that may be far.
const FEW: f64 = 0.25;
/// Fewer places than this are no bulk.
const BULK: usize = 3;
/// How far from the bulk a far row reaches, in extents of the bulk: ten of the lengthscales, 0.15
/// of it, that the bulk suggests.
const FAR: f64 = 1.5;
/// And in the widest row of the bulk or the largest distance between neighbours there: bands and
/// places that grow tenfold from each to the next have no far row.
const GROWTH: f64 = 12.0;
/// Rows stand in crowds where the extent is so many times the one that nearly all distances between
/// neighbours suggest: then a whole crowd lies within the shortest lengthscale, `0.15 exp(-1.4)`,
/// that the extent makes plausible.
const CROWDED: f64 = 27.0;
/// Lengthscales that the default prior holds for plausible reach from its centre by this factor,
/// two sds.
const PLAUSIBLE: f64 = 4.0;
/// Places that differ by a few units in the last place are one.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Where the rows are along a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    /// From the lowest to the highest coordinate of the bulk.
    pub lower: f64,
    pub upper: f64,
    /// Whether rows outside the bulk were left out.
    pub has_far: bool,
    /// The extent of an even grid of as many places, each as far from the next as three quarters of
    /// the neighbours are at most; zero where there is one place.
    pub spaced: f64,
    /// The same for nine tenths of the neighbours.
    pub mostly_spaced: f64,
}

impl Extent {
    /// Of rows that reach from the first to the second number of each pair.
    pub fn of(rows: &[(f64, f64)]) -> Self {
        let mut places = rows.to_vec();
        places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        places.dedup();
        let gaps = gaps(&places);
        let all = hull(&places);
        let bulk = bulk(places);
        let (lower, upper) = bulk.unwrap_or(all);
        Self {
            lower,
            upper,
            has_far: bulk.is_some(),
            spaced: spaced(&gaps, 0.75),
            mostly_spaced: spaced(&gaps, 0.9),
        }
    }

    /// From end to end; zero where that is rounding.
    pub fn length(&self) -> f64 {
        let length = self.upper - self.lower;
        match length > ROUNDING * self.largest() {
            true => length,
            false => 0.0,
        }
    }

    /// Largest absolute coordinate.
    pub fn largest(&self) -> f64 {
        self.lower.abs().max(self.upper.abs())
    }

    /// Whether a row lies in the bulk.
    pub fn holds(&self, (lower, upper): (f64, f64)) -> bool {
        self.lower <= lower && upper <= self.upper
    }

    /// The extent that the distances between neighbours suggest, where these are of another order:
    /// no lengthscale that the one suggests is plausible to the other.
    pub fn within(&self) -> Option<f64> {
        let is_other = self.spaced > 0.0 && self.length() > PLAUSIBLE * self.spaced;
        is_other.then_some(self.spaced)
    }

    /// By what factor the extent exceeds the one that nearly all distances between neighbours
    /// suggest, where that is much: rows in a few crowds far apart.
    pub fn crowding(&self) -> Option<f64> {
        let ratio = self.length() / self.mostly_spaced;
        (self.mostly_spaced > 0.0 && ratio > CROWDED).then_some(ratio)
    }
}

/// From the lowest to the highest coordinate of all rows along every column of a kernel.
pub(crate) fn reach(
    kernel: &Kernel,
    tables: &[Observations],
) -> Result<Vec<(f64, f64)>, InputError> {
    let tables = outputs::restrict(kernel, tables)?;
    let along = |d: usize| {
        let ranges = tables.iter().map(|table| table.supports.range(d));
        hull(&ranges.collect::<Vec<_>>())
    };
    Ok((0..kernel.columns().len()).map(along).collect())
}

/// The smallest and the largest number of all pairs.
pub(crate) fn hull(places: &[(f64, f64)]) -> (f64, f64) {
    places
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (lo, hi)| {
            (a.min(*lo), b.max(*hi))
        })
}

fn middle((lower, upper): (f64, f64)) -> f64 {
    0.5 * lower + 0.5 * upper
}

/// The extent of the fewest places nearest to the median, at least three quarters of them, from
/// which all others are far; `None` where there are none such. `places` are all different.
fn bulk(mut places: Vec<(f64, f64)>) -> Option<(f64, f64)> {
    let n = places.len();
    let least = n - (FEW * n as f64) as usize;
    if n <= BULK || least == n {
        return None;
    }
    let mut middles: Vec<f64> = places.iter().copied().map(middle).collect();
    let (_, median, _) = middles.select_nth_unstable_by((n - 1) / 2, f64::total_cmp);
    let median = *median;
    let reach = |(lower, upper): (f64, f64)| (lower - median).abs().max((upper - median).abs());
    places.sort_unstable_by(|a, b| reach(*a).total_cmp(&reach(*b)));
    let (near, others) = places.split_at(least);
    let (mut lower, mut upper) = hull(near);
    let widths = near.iter().map(|(lower, upper)| upper - lower);
    let mut step = widths.fold(gaps(near).last().copied().unwrap_or(0.0), f64::max);
    let middles: Vec<(f64, f64)> = near.iter().map(|p| (middle(*p), middle(*p))).collect();
    let (mut first, mut last) = hull(&middles);
    for &next in others {
        let length = upper - lower;
        let rounding = ROUNDING * lower.abs().max(upper.abs());
        let distance = (lower - next.0).max(next.1 - upper);
        if length > rounding && distance > (FAR * length).max(GROWTH * step) {
            return Some((lower, upper));
        }
        (lower, upper) = (lower.min(next.0), upper.max(next.1));
        let own = middle(next);
        step = step.max(first - own).max(own - last).max(next.1 - next.0);
        (first, last) = (first.min(own), last.max(own));
    }
    None
}

/// Distances between the middles of neighbours, in order; rounding is none.
fn gaps(places: &[(f64, f64)]) -> Vec<f64> {
    let mut middles: Vec<f64> = places.iter().copied().map(middle).collect();
    middles.sort_unstable_by(f64::total_cmp);
    let pairs = middles.windows(2).filter_map(|pair| {
        let rounding = ROUNDING * pair[0].abs().max(pair[1].abs());
        let gap = pair[1] - pair[0];
        (gap > rounding).then_some(gap)
    });
    let mut gaps: Vec<f64> = pairs.collect();
    gaps.sort_unstable_by(f64::total_cmp);
    gaps
}

/// As many times the quantile of the gaps as there are gaps.
fn spaced(gaps: &[f64], share: f64) -> f64 {
    let at = (share * gaps.len() as f64) as usize;
    gaps.get(at).map_or(0.0, |gap| gaps.len() as f64 * gap)
}

/// Smallest and largest coordinate of every row along a column.
pub(crate) fn extents(tables: &[Observations], d: usize) -> Vec<(f64, f64)> {
    let sets = tables.iter().map(Observations::supports);
    sets.flat_map(|set| (0..set.len()).map(move |row| set.extent(row, d)))
        .collect()
}

/// Smallest distance between different ends of the supports along a column, rounding aside.
pub(crate) fn smallest_gap(tables: &[Observations], d: usize) -> f64 {
    let mut ends: Vec<f64> = tables
        .iter()
        .map(Observations::supports)
        .flat_map(|set| (0..set.len()).map(move |row| set.extent(row, d)))
        .flat_map(|(lo, hi)| [lo, hi])
        .collect();
    ends.sort_unstable_by(f64::total_cmp);
    let gaps = ends.windows(2).map(|pair| {
        let gap = pair[1] - pair[0];
        let rounding = 1e-12 * pair[0].abs().max(pair[1].abs());
        if gap > rounding { gap } else { f64::INFINITY }
    });
    let smallest = gaps.fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { 0.0 }
}

/// Smallest extent of a row along a column.
pub(crate) fn narrowest_extent(tables: &[Observations], d: usize) -> f64 {
    let sets = tables.iter().map(Observations::supports);
    let extents = sets.flat_map(|set| (0..set.len()).map(move |row| set.extent(row, d)));
    extents.fold(f64::INFINITY, |least, (lo, hi)| least.min(hi - lo))
}

#[cfg(test)]
#[path = "extent_tests.rs"]
mod tests;
