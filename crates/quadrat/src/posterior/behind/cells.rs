//! Counts of which a range was told: their probabilities, one by one or in cells.

use crate::special::CountMean;
use crate::special::scalar::exp;

/// The most cells of a row.
const MOST: usize = 2048;
/// Standard deviations, and rates of decay, beyond which nothing of a count is left (1e-12).
const DEVIATIONS: f64 = 9.0;
const DECAYS: f64 = 28.0;
/// A mean of 0 has no logarithm; below this no count is above 0 anyway.
const LEAST_MEAN: f64 = 1e-280;

/// The mean and dispersion of a count, at one value of the function under its row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CountDistribution {
    pub weight: f64,
    pub mean: f64,
    pub dispersion: f64,
}

impl CountDistribution {
    fn sd(&self) -> f64 {
        (self.mean * (1.0 + self.dispersion * self.mean)).sqrt()
    }

    /// Beyond this above `lower` next to nothing of the count is left.
    fn high(&self, lower: f64) -> f64 {
        let decay = 1.0 + self.dispersion * self.mean.max(lower);
        let from_mean = self.mean + DEVIATIONS * self.sd() + DECAYS * decay;
        let from_lower = lower + DEVIATIONS * lower.sqrt() + DECAYS * decay;
        from_mean.max(from_lower)
    }

    /// Below this next to nothing of the count is left, given that it is at most `upper`: below a
    /// mean that lies above `upper` it falls from there on as `e^(-y / decay)`, or faster.
    fn low(&self, upper: f64) -> f64 {
        let from_mean = self.mean - DEVIATIONS * self.sd();
        if self.mean <= upper + self.sd() {
            return from_mean;
        }
        let decay = self.mean * (1.0 + self.dispersion * upper) / (self.mean - upper);
        from_mean.min(upper - DECAYS * decay)
    }
}

/// Ranges of whole numbers, ascending, without gaps: single numbers where they are few, else ranges
/// of some permille of themselves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CountRanges {
    first: Vec<f64>,
    last: Vec<f64>,
}

impl CountRanges {
    /// The counts between two, as far as one of some laws may reach.
    pub fn new(lower: f64, upper: f64, laws: &[CountDistribution]) -> Self {
        let low = laws.iter().map(|law| law.low(upper));
        let low = low.fold(f64::INFINITY, f64::min);
        let high = laws.iter().map(|law| law.high(lower));
        let high = high.fold(0.0, f64::max).min(9e15);
        let high = high.ceil().min(upper).max(lower);
        // Few numbers are all told, whether likely or not: intervals end where ranges do.
        let low = match high - lower < MOST as f64 {
            true => lower,
            false => low.floor().clamp(lower, high),
        };
        let count = high - low + 1.0;
        if count <= MOST as f64 {
            let first: Vec<f64> = (0..count as usize).map(|i| low + i as f64).collect();
            let last = first.clone();
            return Self { first, last };
        }
        let ratio = ((high + 1.0) / (low + 1.0)).ln() / MOST as f64;
        let mut edges: Vec<f64> = (0..=MOST)
            .map(|i| ((low + 1.0) * (ratio * i as f64).exp() - 1.0).round())
            .collect();
        edges[0] = low;
        edges[MOST] = high + 1.0;
        edges.dedup();
        Self {
            first: edges[..edges.len() - 1].to_vec(),
            last: edges[1..].iter().map(|edge| edge - 1.0).collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// How many counts are in a cell.
    fn width(&self, cell: usize) -> f64 {
        self.last[cell] - self.first[cell] + 1.0
    }

    /// The count that stands for a cell.
    pub fn middle(&self, cell: usize) -> f64 {
        0.5 * (self.first[cell] + self.last[cell])
    }

    /// The probability of every cell, given that the count is in one of them: of a mixture of laws,
    /// each given that by itself.
    pub fn shares(&self, laws: &[CountDistribution]) -> Vec<f64> {
        let mut shares = vec![0.0; self.len()];
        let mut own = vec![0.0; self.len()];
        let total: f64 = laws.iter().map(|law| law.weight).sum();
        for law in laws {
            let at = CountMean::new(law.mean.max(LEAST_MEAN), law.dispersion);
            let mut most = f64::NEG_INFINITY;
            for (cell, own) in own.iter_mut().enumerate() {
                let middle = self.middle(cell);
                *own = match self.width(cell) {
                    1.0 => at.log_probability(middle),
                    width => at.log_probability(middle.floor()) + width.ln(),
                };
                most = most.max(*own);
            }
            own.iter_mut().for_each(|log| *log = exp(*log - most));
            let scale = law.weight / total / own.iter().sum::<f64>();
            for (share, own) in shares.iter_mut().zip(&own) {
                *share += scale * own;
            }
        }
        shares
    }

    /// The smallest count that a share `p` lies at or below, from the shares added up.
    pub fn quantile(&self, below: &[f64], p: f64) -> f64 {
        let cell = below.partition_point(|b| *b < p).min(self.len() - 1);
        let before = cell.checked_sub(1).map_or(0.0, |at| below[at]);
        let part = ((p - before) / (below[cell] - before)).clamp(0.0, 1.0);
        let width = self.width(cell);
        self.first[cell] + (part * width).ceil().max(1.0) - 1.0
    }

    /// The probability of at most `y`, from the shares added up.
    pub fn cdf(&self, below: &[f64], y: f64) -> f64 {
        let cell = self.last.partition_point(|last| *last <= y);
        let before = cell.checked_sub(1).map_or(0.0, |at| below[at]);
        if cell == self.len() {
            return 1.0;
        }
        let inside = (y.floor() - self.first[cell] + 1.0).max(0.0) / self.width(cell);
        before + inside * (below[cell] - before)
    }
}

/// Adds up shares; the last sum is one.
pub(super) fn added_up(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut below: Vec<f64> = shares
        .iter()
        .map(|share| {
            sum += share;
            sum
        })
        .collect();
    below.iter_mut().for_each(|b| *b /= sum);
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::distribution::{NegativeBinomial, Poisson};

    fn law(mean: f64, dispersion: f64) -> CountDistribution {
        CountDistribution {
            weight: 1.0,
            mean,
            dispersion,
        }
    }

    /// E[Y | Y < 10] of a Poisson count is mu F(8) / F(9).
    #[test]
    fn hidden_counts_are_those_of_their_range() {
        for mean in [0.01, 3.0, 9.0, 40.0] {
            let laws = [law(mean, 0.0)];
            let cells = CountRanges::new(0.0, 9.0, &laws);
            let shares = cells.shares(&laws);
            let found: f64 = (0..10).map(|y| y as f64 * shares[y]).sum();
            let at = Poisson { mean };
            let right = mean * at.cdf(8.0) / at.cdf(9.0);
            // Distribution functions are known to 1e-12, in the tail relatively.
            assert!(
                (found / right - 1.0).abs() < 1e-9,
                "{mean}: {found} {right}"
            );
            assert_eq!(cells.len(), 10);
        }
    }

    /// Open ranges and wide ones keep mean and quantiles, also where cells hold several counts.
    #[test]
    fn open_ranges_reach_far_enough() {
        for (mean, dispersion, lower) in [
            (5.0, 0.0, 15.0),
            (40.0, 0.423, 15.0),
            (1e6, 0.0, 3.0),
            (1e5, 2.0, 0.0),
        ] {
            let laws = [law(mean, dispersion)];
            let cells = CountRanges::new(lower, f64::INFINITY, &laws);
            let shares = cells.shares(&laws);
            let below = added_up(&shares);
            let found: f64 = (0..cells.len()).map(|i| cells.middle(i) * shares[i]).sum();
            let at = NegativeBinomial { mean, dispersion };
            // E[Y; Y >= k] = mu (1 - F(k - 2)) with the size one larger.
            let next = NegativeBinomial {
                mean: mean * (1.0 + dispersion),
                dispersion: dispersion / (1.0 + dispersion),
            };
            let beyond = |at: &NegativeBinomial, y: f64| 1.0 - at.cdf(y);
            let right = mean * beyond(&next, lower - 2.0) / beyond(&at, lower - 1.0);
            // Single numbers: the tails that were left out. Cells of 7 permille: their square.
            let near = if cells.len() < MOST / 2 { 1e-8 } else { 1e-4 };
            assert!((found / right - 1.0).abs() < near, "{mean} {found} {right}");
            for p in [0.025, 0.5, 0.975] {
                let q = cells.quantile(&below, p);
                let given = |y: f64| {
                    let outside = at.cdf(lower - 1.0);
                    (at.cdf(y) - outside) / (1.0 - outside)
                };
                let slack = if near < 1e-5 { 1e-8 } else { 1e-3 };
                assert!(
                    given(q) >= p - slack && given(q - 1.0) < p + slack,
                    "{mean} {p}"
                );
                assert!(cells.cdf(&below, q) >= p - 1e-12);
            }
        }
    }

    /// A rate far above a wide range: what is left lies below its upper end, and falls as
    /// `(upper / mean)^k` there, a geometric distribution where `k` is small beside `upper`.
    #[test]
    fn a_wide_range_far_below_the_rate_has_a_tail() {
        let (mean, upper) = (40_000.0, 10_000.0);
        let laws = [law(mean, 0.0)];
        let cells = CountRanges::new(0.0, upper, &laws);
        let below = added_up(&cells.shares(&laws));
        let at = CountMean::new(mean, 0.0);
        for k in 0..6 {
            let y = upper - f64::from(k);
            let right = (at.log_probability(y) - at.log_probability(y - 1.0)).exp();
            let p = |y: f64| cells.cdf(&below, y) - cells.cdf(&below, y - 1.0);
            // Cells of single numbers; differences of sums of order one.
            assert!((p(y) / p(y - 1.0) / right - 1.0).abs() < 1e-9, "{k}");
        }
        assert!(cells.quantile(&below, 0.01) < upper);
    }

    #[test]
    fn a_range_far_from_the_rate_is_still_a_range() {
        let laws = [law(1e-6, 0.0), law(1e4, 0.0)];
        let cells = CountRanges::new(3.0, 6.0, &laws);
        let shares = cells.shares(&laws);
        assert_eq!(cells.len(), 4);
        // One law has all of its weight at the low end, the other at the high one.
        assert!((shares[0] - 0.5).abs() < 1e-6 && (shares[3] - 0.5).abs() < 1e-3);
    }
}
