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
/// Both laws are memoryless, `P(N >= d + k) = e^(-d / scale) P(N >= k)`, so everything follows from
/// the moments of one side, taken from the point of the range nearest to the truth. Nothing cancels
/// but one square of a mean.
pub(super) fn moments(law: &Law, truth: f64, lower: f64, upper: f64) -> Moments {
    let (below, above) = (truth - lower, upper - truth);
    let far = |distance: f64| libm::exp(-distance / law.scale());
    let (start, first, second) = if below < 0.0 {
        let (m1, m2) = law.half_moments(upper - lower);
        (lower, far(-below) * m1, far(-below) * m2)
    } else if above < 0.0 {
        let (m1, m2) = law.half_moments(upper - lower);
        (upper, -far(-above) * m1, far(-above) * m2)
    } else {
        let ((up1, up2), (down1, down2)) = (law.half_moments(above), law.half_moments(below));
        (truth, up1 - down1, up2 + down2)
    };
    Moments {
        mean: start + first,
        variance: (second - first * first).max(0.0),
    }
}
