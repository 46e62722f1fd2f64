//! Scores of intervals.

/// The interval score of a central interval `[l, u]` that should hold `y` with chance `level`:
/// `(u - l) + 2 / a * max(l - y, y - u, 0)`, where `a = 1 - level`.
///
/// In the unit of `y`. `None` where the level is not strictly between 0 and 1, the ends are in the
/// wrong order, or anything is not finite.
///
/// Source: Gneiting and Raftery (2007), section 6.2.
#[must_use]
pub fn interval_score(lower: f64, upper: f64, level: f64, y: f64) -> Option<f64> {
    let finite = lower.is_finite() && upper.is_finite() && y.is_finite();
    let valid = finite && lower <= upper && level > 0.0 && level < 1.0;
    let beyond = (lower - y).max(y - upper).max(0.0);
    valid.then(|| (upper - lower) + 2.0 / (1.0 - level) * beyond)
}

/// The share of values that lie in their interval, ends included.
///
/// `None` where there are no values, the lengths differ, or anything is not a number.
#[must_use]
pub fn coverage(lower: &[f64], upper: &[f64], y: &[f64]) -> Option<f64> {
    let same = lower.len() == y.len() && upper.len() == y.len();
    let all = lower.iter().chain(upper).chain(y);
    if y.is_empty() || !same || all.into_iter().any(|value| value.is_nan()) {
        return None;
    }
    let rows = lower.iter().zip(upper).zip(y);
    let held = rows.filter(|((lower, upper), y)| lower <= y && y <= upper);
    Some(held.count() as f64 / y.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::{coverage, interval_score};

    /// By hand: inside, the width; 1 above at level 0.8, 2 / 0.2 more; 0.5 below, 5 more.
    #[test]
    fn equals_hand_computed_values() {
        // A few roundings.
        for (y, score) in [(2.0, 3.0), (5.0, 13.0), (0.5, 8.0), (1.0, 3.0), (4.0, 3.0)] {
            assert!((interval_score(1.0, 4.0, 0.8, y).unwrap() - score).abs() < 1e-12);
        }
        assert_eq!(interval_score(4.0, 1.0, 0.8, 2.0), None);
        assert_eq!(interval_score(1.0, 4.0, 1.0, 2.0), None);
        let (lower, upper) = ([0.0; 4], [1.0; 4]);
        assert_eq!(coverage(&lower, &upper, &[0.0, 0.5, 1.0, 2.0]), Some(0.75));
        assert_eq!(coverage(&lower, &upper, &[0.0]), None);
        assert_eq!(coverage(&[], &[], &[]), None);
    }

    /// Values at the 4,000 mid-quantiles of a standard normal stand for rows. With the variance
    /// halved a 95 % interval ends at 1.959964 / sqrt(2) = 1.385904, which holds 0.834224;
    /// doubled, at 2.771808, which holds 0.994425. Both score worse than the true one.
    #[test]
    fn finds_a_wrong_variance() {
        let n = 4000;
        let y: Vec<f64> = (0..n)
            .map(|i| quantile((f64::from(i) + 0.5) / f64::from(n)))
            .collect();
        let of = |variance: f64| {
            let end = 1.959_963_984_540_054 * variance.sqrt();
            let held = coverage(&vec![-end; y.len()], &vec![end; y.len()], &y).unwrap();
            let scores = y
                .iter()
                .map(|y| interval_score(-end, end, 0.95, *y).unwrap());
            (held, scores.sum::<f64>() / y.len() as f64)
        };
        let (halved, right, doubled) = (of(0.5), of(1.0), of(2.0));
        // The share moves in steps of two values in 4,000.
        assert!((halved.0 - 0.834_224).abs() < 1e-3);
        assert!((right.0 - 0.95).abs() < 1e-3);
        assert!((doubled.0 - 0.994_425).abs() < 1e-3);
        assert!(right.1 < halved.1 && right.1 < doubled.1);
    }

    /// By bisection of the distribution function.
    fn quantile(p: f64) -> f64 {
        let (mut low, mut high) = (-9.0, 9.0);
        for _ in 0..80 {
            let middle = (low + high) / 2.0;
            if crate::special::scalar::normal_cdf(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}
