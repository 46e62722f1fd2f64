//! Mean and variance of noisy values that were clipped.

use super::law::Law;

/// Mean and variance of a released value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Mean, in the unit of the counts.
    pub mean: f64,
    /// Variance, in the unit of the counts squared.
    pub variance: f64,
}

/// Moments of `min(max(truth + N, lower), upper)`.
///
/// Everything follows from the moments of one side, taken from the point of the range nearest to
/// the truth. Nothing cancels but one square of a mean.
pub(super) fn moments(law: &Law, truth: f64, lower: f64, upper: f64) -> Moments {
    let (below, above) = (truth - lower, upper - truth);
    let (start, first, second) = if below < 0.0 {
        let (m1, m2) = law.beyond(-below, upper - lower);
        (lower, m1, m2)
    } else if above < 0.0 {
        let (m1, m2) = law.beyond(-above, upper - lower);
        (upper, -m1, m2)
    } else {
        let ((up1, up2), (down1, down2)) = (law.beyond(0.0, above), law.beyond(0.0, below));
        (truth, up1 - down1, up2 + down2)
    };
    Moments {
        mean: start + first,
        variance: (second - first * first).max(0.0),
    }
}
