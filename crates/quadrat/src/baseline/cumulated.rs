//! Bins that adjoin, and what lies below each of their ends.

use super::reported::Reported;
use crate::model::Observations;

/// Values of at least zero over adjoining boxes of one input, cumulated.
pub(super) struct CumulatedBins {
    /// The input.
    pub dim: String,
    /// Ends of the bins, ascending.
    pub ends: Vec<f64>,
    /// Values (per exposure) cumulated up to every end.
    pub total: Vec<f64>,
}

impl CumulatedBins {
    /// None where rows are anything else.
    pub fn of(table: &Observations) -> Option<Self> {
        let bins = table.supports();
        let [dim] = bins.dims() else {
            return None;
        };
        let reported = Reported::of_counts(table)?;
        if !bins.all_single() || bins.has_regions() || bins.is_empty() {
            return None;
        }
        let mut rows: Vec<(f64, f64, f64)> = (0..bins.len())
            .map(|row| {
                let (from, to) = bins.extent(row, 0);
                (from, to, reported.rate(row, bins) * (to - from))
            })
            .collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let near = |a: f64, b: f64, width: f64| (a - b).abs() <= 1e-9 * width;
        let mut pairs = rows.windows(2);
        let adjoin = pairs.all(|w| near(w[0].1, w[1].0, w[0].1 - w[0].0));
        let is_no_bin = |&(from, to, y): &(f64, f64, f64)| to <= from || y < 0.0 || y.is_nan();
        if !adjoin || rows.iter().any(is_no_bin) {
            return None;
        }
        let (mut ends, mut total, mut sum) = (vec![rows[0].0], vec![0.0], 0.0);
        for &(_, to, y) in &rows {
            sum += y;
            ends.push(to);
            total.push(sum);
        }
        Some(Self {
            dim: dim.clone(),
            ends,
            total,
        })
    }
}
