//! What rows say of a straight line: how far it reaches where they look.

use super::extent::{Extent, hull};
use super::observations::Observations;
use super::rms::weighted_rms;

/// The averages of a column over what each row looks at: all that a row says of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ColumnAverages {
    /// Over how much of the column the line is to change by `s_f`: from the smallest average to the
    /// largest.
    pub range: f64,
    /// The smallest and the largest average.
    lowest: f64,
    highest: f64,
    /// The middle of the averages that are not far from all others.
    middle: f64,
}

/// How many of their own range rows must be away from 0 for a line through 0 to lose digits: from
/// here on three of sixteen, and another three of the slope's variance.
const FAR: f64 = 1e3;

impl ColumnAverages {
    /// `rows` are value, size, output and number of the rows of every table; `extent` is that of
    /// the supports, which counts where all averages are the same.
    pub fn new(
        tables: &[Observations],
        rows: &[Vec<RowValue>],
        d: usize,
        extent: f64,
        spread: f64,
    ) -> Self {
        let averages = |table: &Observations| -> Vec<f64> {
            let set = table.supports();
            (0..set.len()).map(|row| set.average(row, d)).collect()
        };
        let averages: Vec<Vec<f64>> = tables.iter().map(averages).collect();
        let known = averages.iter().flatten().copied();
        let places: Vec<(f64, f64)> = known.filter(|x| x.is_finite()).map(|x| (x, x)).collect();
        let (lowest, highest) = hull(&places);
        let bulk = Extent::of(&places);
        let all = Extent {
            lower: lowest,
            upper: highest,
            ..bulk
        };
        let range = match all.length() {
            0.0 => extent,
            length => length,
        };
        if !bulk.has_far {
            return Self {
                range,
                lowest,
                highest,
                middle: f64::midpoint(lowest, highest),
            };
        }
        // A far row has a far value, or is a mistake: the slope is that among the others.
        let pairs = averages
            .iter()
            .zip(rows)
            .flat_map(|(x, of)| x.iter().zip(of));
        let others = pairs.filter(|(x, (_, size, ..))| bulk.holds((**x, **x)) && *size != 0.0);
        let values: Vec<(f64, f64)> = others.map(|(_, (y, size, _, n))| (y / size, *n)).collect();
        let count = values.iter().map(|(_, n)| n).sum::<f64>().max(1.0);
        let mean = values.iter().map(|(v, n)| n * v).sum::<f64>() / count;
        let slope = weighted_rms(values.iter().map(|(v, n)| (v - mean, *n))) / bulk.length();
        Self {
            range: match slope > 0.0 && slope.is_finite() {
                true => spread / slope,
                false => range,
            },
            lowest,
            highest,
            middle: f64::midpoint(bulk.lower, bulk.upper),
        }
    }

    /// How far from a place the averages reach, in ranges.
    pub fn reach(&self, origin: f64) -> f64 {
        let largest = (self.lowest - origin)
            .abs()
            .max((self.highest - origin).abs());
        largest / self.range
    }

    /// A place among the rows, where these are far from 0.
    pub fn origin(&self) -> Option<f64> {
        (self.reach(0.0) > FAR && self.middle.is_finite()).then_some(self.middle)
    }
}

/// Value, size, output and number of a row: how often it was seen.
pub(crate) type RowValue = (f64, f64, usize, f64);
