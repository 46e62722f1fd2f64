//! The distribution of the value behind one row.

use super::cells::{CountDistribution, CountRanges, added_up};
use super::truncated_normal::TruncatedPart;
use crate::special::scalar::log_sum_exp;

/// What is known of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueDistribution {
    /// Everything.
    Value(f64),
    /// The probabilities of counts.
    Counts { cells: CountRanges, below: Vec<f64> },
    /// A mixture of normal values between ends; weights sum to one.
    Cuts(Vec<TruncatedPart>),
}

impl ValueDistribution {
    /// A count between two, under a mixture of laws.
    pub fn counts(lower: f64, upper: f64, laws: &[CountDistribution]) -> Self {
        let cells = CountRanges::new(lower, upper, laws);
        let below = added_up(&cells.shares(laws));
        Self::Counts { cells, below }
    }

    /// The same given that the value is not negative, where that says anything.
    pub fn non_negative(self) -> Self {
        let Self::Cuts(cuts) = self else {
            return self;
        };
        if cuts.iter().any(|cut| cut.upper <= 0.0) {
            return Self::Cuts(cuts);
        }
        let above = |cut: &TruncatedPart| TruncatedPart {
            lower: cut.lower.max(0.0),
            ..*cut
        };
        let logs: Vec<f64> = cuts
            .iter()
            .map(|cut| cut.weight.ln() + above(cut).log_mass() - cut.log_mass())
            .collect();
        let total = log_sum_exp(&logs);
        let cuts = cuts.iter().zip(logs).map(|(cut, log)| TruncatedPart {
            weight: (log - total).exp(),
            ..above(cut)
        });
        Self::Cuts(cuts.collect())
    }

    /// Mean and standard deviation.
    pub fn moments(&self) -> (f64, f64) {
        let parts: Vec<(f64, f64, f64)> = match self {
            Self::Value(value) => return (*value, 0.0),
            Self::Counts { cells, below } => {
                let mut before = 0.0;
                let share = |(cell, b): (usize, &f64)| {
                    let share = b - before;
                    before = *b;
                    (share, cells.middle(cell), 0.0)
                };
                below.iter().enumerate().map(share).collect()
            }
            Self::Cuts(cuts) => cuts
                .iter()
                .map(|cut| {
                    let (mean, variance) = cut.moments();
                    (cut.weight, mean, variance)
                })
                .collect(),
        };
        let mean: f64 = parts.iter().map(|(w, m, _)| w * m).sum();
        let variance = |(w, m, v): &(f64, f64, f64)| w * (v + (m - mean) * (m - mean));
        (mean, parts.iter().map(variance).sum::<f64>().sqrt())
    }

    /// `P(Y <= y)`.
    pub fn cdf(&self, y: f64) -> f64 {
        match self {
            Self::Value(value) => f64::from(u8::from(y >= *value)),
            Self::Counts { cells, below } => cells.cdf(below, y),
            Self::Cuts(cuts) => cuts.iter().map(|cut| cut.weight * cut.cdf(y)).sum(),
        }
    }

    /// The smallest value that a share `p` lies at or below, `0 < p < 1`.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Self::Value(value) => *value,
            Self::Counts { cells, below } => cells.quantile(below, p),
            Self::Cuts(cuts) => {
                let each = cuts.iter().map(|cut| cut.quantile(p));
                let (mut lo, mut hi) = each
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), q| {
                        (lo.min(q), hi.max(q))
                    });
                // The quantile of a mixture lies between those of its parts.
                for _ in 0..100 {
                    if hi - lo <= 1e-12 * (hi.abs() + lo.abs()) {
                        break;
                    }
                    let middle = 0.5 * (lo + hi);
                    if self.cdf(middle) < p {
                        lo = middle;
                    } else {
                        hi = middle;
                    }
                }
                hi
            }
        }
    }
}
