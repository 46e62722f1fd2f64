//! Normal distributions between two ends.

use crate::special::scalar::{log_cdf_difference, normal_cdf, normal_quantile};
use crate::special::truncated_normal;

/// A share of a value's distribution: normal, given that it lies between two ends. An sd of zero is
/// a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TruncatedPart {
    pub weight: f64,
    pub mean: f64,
    pub sd: f64,
    pub lower: f64,
    pub upper: f64,
    /// Correlation of the value with the function under its row.
    pub correlation: f64,
}

impl TruncatedPart {
    /// The ends in standard deviations from the mean.
    fn ends(&self) -> (f64, f64) {
        let z = |end: f64| (end - self.mean) / self.sd;
        (z(self.lower), z(self.upper))
    }

    /// Log of the probability between the ends.
    pub fn log_mass(&self) -> f64 {
        if self.sd == 0.0 {
            let inside = (self.lower..=self.upper).contains(&self.mean);
            return if inside { 0.0 } else { f64::NEG_INFINITY };
        }
        let (low, high) = self.ends();
        truncated_normal(low, high).log_z
    }

    /// Mean and variance.
    pub fn moments(&self) -> (f64, f64) {
        if self.sd == 0.0 {
            return (self.mean.clamp(self.lower, self.upper), 0.0);
        }
        let (low, high) = self.ends();
        let at = truncated_normal(low, high);
        // Known from the nearer end, a mean never lies beyond it.
        let mean = match low.abs() <= high.abs() {
            true if low.is_finite() => self.lower + self.sd * at.above_lower,
            false if high.is_finite() => self.upper - self.sd * at.below_upper,
            _ => self.mean + self.sd * at.mean,
        };
        (mean, self.sd * self.sd * at.variance)
    }

    /// `P(Y <= y)`.
    pub fn cdf(&self, y: f64) -> f64 {
        if y >= self.upper {
            return 1.0;
        }
        if y < self.lower {
            return 0.0;
        }
        if self.sd == 0.0 {
            return f64::from(u8::from(y >= self.mean.clamp(self.lower, self.upper)));
        }
        let (low, high) = self.ends();
        let z = (y - self.mean) / self.sd;
        let log = log_cdf_difference(low, z) - log_cdf_difference(low, high);
        log.exp().clamp(0.0, 1.0)
    }

    /// The value that a share `p` lies below, `0 < p < 1`.
    ///
    /// # Numerics
    /// By the normal quantile where either end is in the middle; far out the tail is followed by
    /// halving, to the last digits of the distance from the near end.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.sd == 0.0 {
            return self.mean.clamp(self.lower, self.upper);
        }
        let (low, high) = self.ends();
        let z = if low > 0.0 {
            -between(-high, -low, 1.0 - p)
        } else {
            between(low, high, p)
        };
        (self.mean + self.sd * z).clamp(self.lower, self.upper)
    }
}

/// Ends from which on probabilities of the lower tail are no ordinary numbers.
const TAIL: f64 = -30.0;

/// The `p`-quantile of a standard normal variable between two ends, the lower one not above zero.
fn between(low: f64, high: f64, p: f64) -> f64 {
    if high > TAIL {
        let (from, to) = (normal_cdf(low), normal_cdf(high));
        return normal_quantile(from + p * (to - from)).clamp(low, high);
    }
    // log(Phi(z) - Phi(low)) rises in z.
    let wanted = p.ln() + log_cdf_difference(low, high);
    // A density that falls as e^(high t) has next to nothing beyond 50 / |high|.
    let (mut a, mut b) = (low.max(high - 50.0 / high.abs()), high);
    for _ in 0..60 {
        let middle = 0.5 * (a + b);
        if log_cdf_difference(low, middle) < wanted {
            a = middle;
        } else {
            b = middle;
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(mean: f64, sd: f64, lower: f64, upper: f64) -> TruncatedPart {
        TruncatedPart {
            weight: 1.0,
            mean,
            sd,
            lower,
            upper,
            correlation: 0.0,
        }
    }

    /// Quantiles are inverted by the distribution function, in the middle and in either tail.
    #[test]
    fn quantiles_invert_the_distribution() {
        let infinite = f64::INFINITY;
        let all = [
            cut(0.0, 1.0, -infinite, infinite),
            cut(3.0, 2.0, -infinite, 0.8),
            cut(-50.0, 1.0, 0.0, infinite),
            cut(50.0, 1.0, -infinite, 0.0),
            cut(50.0, 1.0, -1.0, 0.0),
            cut(0.0, 1.0, 2.0, 2.5),
            cut(1e3, 5.0, 990.0, 1100.0),
        ];
        for at in all {
            for p in [0.001, 0.025, 0.5, 0.975, 0.999] {
                let q = at.quantile(p);
                assert!((at.lower..=at.upper).contains(&q), "{at:?} {p} {q}");
                // Quantiles are known to roundings of the mean, 1e3 against an sd of 5 at most.
                assert!((at.cdf(q) - p).abs() < 1e-9, "{at:?} {p} {q} {}", at.cdf(q));
            }
            let (mean, variance) = at.moments();
            assert!((at.lower..=at.upper).contains(&mean) && variance > 0.0);
        }
    }

    /// A half-normal value: mean sqrt(2 / pi), variance 1 - 2 / pi.
    #[test]
    fn moments_of_a_half() {
        let (mean, variance) = cut(0.0, 1.0, 0.0, f64::INFINITY).moments();
        let share = std::f64::consts::FRAC_2_PI;
        // Some ulps.
        assert!((mean - share.sqrt()).abs() < 1e-14 && (variance - (1.0 - share)).abs() < 1e-14);
        assert_eq!(cut(2.0, 0.0, 0.0, 1.0).moments(), (1.0, 0.0));
        assert_eq!(cut(2.0, 0.0, 0.0, 1.0).quantile(0.3), 1.0);
    }
}
