//! The continuous ranked probability score.

use crate::special::scalar::{normal_cdf, normal_pdf};

/// The CRPS of a normal prediction, `s (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi))` with
/// `z = (y - m) / s`; `|y - m|` where `s = 0`.
///
/// In the unit of `y`. `None` where the deviation is negative or anything is not finite.
///
/// Source: Gneiting and Raftery (2007), section 4.2, with its sign turned.
#[must_use]
pub fn crps_normal(mean: f64, deviation: f64, y: f64) -> Option<f64> {
    let finite = mean.is_finite() && deviation.is_finite() && y.is_finite();
    if !finite || deviation < 0.0 {
        return None;
    }
    if deviation == 0.0 {
        return Some((y - mean).abs());
    }
    let z = (y - mean) / deviation;
    let least = std::f64::consts::FRAC_2_SQRT_PI / 2.0;
    Some(deviation * (z * (2.0 * normal_cdf(z) - 1.0) + 2.0 * normal_pdf(z) - least))
}

/// The CRPS of the distribution that gives each draw the same chance,
/// `mean |x_i - y| - sum_ij |x_i - x_j| / (2 n^2)`.
///
/// In the unit of `y`; costs a sort. Equally spaced quantiles may stand for draws. `None` where
/// there are no draws or anything is not finite.
///
/// Source: Gneiting and Raftery (2007), section 4.2, with its sign turned; the double sum over
/// sorted draws is `2 sum_i (2 i - n - 1) x_(i)`.
#[must_use]
pub fn crps_sample(draws: &[f64], y: f64) -> Option<f64> {
    if draws.is_empty() || !y.is_finite() || draws.iter().any(|draw| !draw.is_finite()) {
        return None;
    }
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let far = sorted.iter().map(|draw| (draw - y).abs()).sum::<f64>() / n;
    let ranked = sorted.iter().enumerate();
    let spread = ranked
        .map(|(i, draw)| (2.0 * i as f64 + 1.0 - n) * (draw - y))
        .sum::<f64>();
    Some(far - spread / (n * n))
}

#[cfg(test)]
mod tests {
    use super::{crps_normal, crps_sample};

    /// At `z = 0`: `(sqrt(2) - 1) / sqrt(pi)`, times the deviation.
    #[test]
    fn of_a_normal_equals_its_value_at_the_mean() {
        let by_hand = 3.0 * (2.0_f64.sqrt() - 1.0) / std::f64::consts::PI.sqrt();
        // A few roundings.
        assert!((crps_normal(5.0, 3.0, 5.0).unwrap() - by_hand).abs() < 1e-13);
        assert_eq!(crps_normal(5.0, 0.0, 3.0), Some(2.0));
        assert_eq!(crps_normal(5.0, -1.0, 3.0), None);
    }

    /// The definition, the integral of `(F(x) - 1(x >= y))^2`, by the midpoint rule.
    #[test]
    fn of_a_normal_equals_quadrature() {
        let (mean, deviation, y, step) = (1.0, 2.0, 2.5, 1e-3);
        let at = |i: i32| {
            let x = -20.0 + (f64::from(i) + 0.5) * step;
            let below = crate::special::scalar::normal_cdf((x - mean) / deviation);
            (below - f64::from(u8::from(x >= y))).powi(2) * step
        };
        let sum: f64 = (0..42_000).map(at).sum();
        // The jump lies on an edge of the midpoint rule, whose error is of the order step^2.
        assert!((crps_normal(mean, deviation, y).unwrap() - sum).abs() < 1e-6);
    }

    /// By hand: draws 0, 1, 3 and y = 2: mean distance 4/3, and double sum 12 over 2 * 9.
    #[test]
    fn of_draws_equals_a_hand_computed_value() {
        let by_hand = 4.0 / 3.0 - 12.0 / 18.0;
        // A few roundings.
        assert!((crps_sample(&[3.0, 0.0, 1.0], 2.0).unwrap() - by_hand).abs() < 1e-14);
        assert_eq!(crps_sample(&[1.0], 4.0), Some(3.0));
        assert_eq!(crps_sample(&[], 4.0), None);
    }
}
