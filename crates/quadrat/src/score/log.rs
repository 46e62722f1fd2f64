//! The log score.

/// The log score of a normal prediction: `-log p(y) = (log(2 pi v) + (y - m)^2 / v) / 2`.
///
/// In nats; it depends on the unit of `y`, so only differences between methods mean something.
/// `None` where the variance is not positive or anything is not finite.
///
/// Source: Gneiting and Raftery (2007), section 4.1.
#[must_use]
pub fn log_score_normal(mean: f64, variance: f64, y: f64) -> Option<f64> {
    let valid = variance > 0.0 && variance.is_finite() && mean.is_finite() && y.is_finite();
    let log = (std::f64::consts::TAU.ln() + variance.ln()) / 2.0;
    valid.then(|| log + (y - mean).powi(2) / (2.0 * variance))
}

#[cfg(test)]
mod tests {
    use super::log_score_normal;

    /// By hand: log(2 pi)/2 = 0.918938533204673, and (3 - 1)^2 / (2 * 4) + log(4)/2 more.
    #[test]
    fn equals_hand_computed_values() {
        let half = 0.918_938_533_204_673;
        // A few roundings.
        assert!((log_score_normal(0.0, 1.0, 0.0).unwrap() - half).abs() < 1e-14);
        let wide = half + std::f64::consts::LN_2 + 0.5;
        assert!((log_score_normal(1.0, 4.0, 3.0).unwrap() - wide).abs() < 1e-14);
        assert_eq!(log_score_normal(0.0, 0.0, 0.0), None);
        assert_eq!(log_score_normal(f64::NAN, 1.0, 0.0), None);
    }
}
