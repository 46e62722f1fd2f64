//! Averages over a normal belief by the trapezoid rule, which is exact to rounding for functions
//! that are analytic over several of its steps.

use crate::special::scalar::normal_pdf;

/// Standard deviations on either side that are integrated over: the rest weighs 1e-15.
const REACH: f64 = 8.0;
/// Steps in standard deviations of the belief, and in units over which the function is smooth. The
/// first leaves `2 exp(-2 pi^2 / 0.49) = 6e-18`; entropies of reports with normal noise are
/// analytic within 2.3 sds of the noise, so that the second leaves `exp(-2 pi 2.3 / 0.5) = 3e-13`.
const STEPS: (f64, f64) = (0.7, 0.5);

/// The average of `value(x)` over `x ~ N(mean, sd^2)`.
///
/// # Arguments
/// * `sd` - zero or more; at zero it is `value(mean)`, within the windows
/// * `scale` - over which the function is smooth
/// * `windows` - outside of which it is zero, in order and apart
pub(super) fn average(
    (mean, sd): (f64, f64),
    scale: f64,
    windows: &[(f64, f64)],
    value: impl Fn(f64) -> f64,
) -> f64 {
    // Also where the step would not tell neighbours apart.
    if sd <= f64::EPSILON * (mean.abs() + scale) {
        let is_seen = windows
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&mean));
        return if is_seen { value(mean) } else { 0.0 };
    }
    let step = (STEPS.0 * sd).min(STEPS.1 * scale);
    let (low, high) = (mean - REACH * sd, mean + REACH * sd);
    let mut total = 0.0;
    for &(from, to) in windows {
        let (from, to) = (from.max(low), to.min(high));
        // Multiples of the step from the mean on, so that windows share one rule.
        let first = ((from - mean) / step).ceil();
        let last = ((to - mean) / step).floor();
        // Counted: one is nothing to a number beyond 2^53.
        for k in 0..count(first, last) {
            let x = (first + k as f64) * step;
            total += normal_pdf(x / sd) * value(mean + x);
        }
    }
    total * step / sd
}

/// How many whole numbers lie between two of them, both included.
pub(super) fn count(first: f64, last: f64) -> usize {
    match first <= last {
        true => (last - first) as usize + 1,
        false => 0,
    }
}

/// Windows of so much to either side of some increasing places, those that meet joined.
pub(super) fn around(places: &[f64], reach: f64) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::with_capacity(places.len());
    for &place in places {
        match all.last_mut() {
            Some((_, to)) if *to >= place - reach => *to = place + reach,
            _ => all.push((place - reach, place + reach)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers.
    const LINE: [(f64, f64); 1] = [(f64::NEG_INFINITY, f64::INFINITY)];

    /// Moments of a normal variable, and a wave, which is `exp(-sd^2 / 2) cos(mean)` on average.
    #[test]
    fn averages_of_smooth_functions_are_exact() {
        for (mean, sd) in [(0.3, 1e-9), (0.3, 0.1), (-2.0, 1.0), (5.0, 3.0)] {
            let one = average((mean, sd), 1.0, &LINE, |_| 1.0);
            // A hundred roundings of one, and what is cut off.
            assert!((one - 1.0).abs() < 1e-14, "{one}");
            let wave = average((mean, sd), 1.0, &LINE, f64::cos);
            let expected = (-0.5 * sd * sd).exp() * mean.cos();
            assert!((wave - expected).abs() < 1e-12, "{wave} {expected}");
        }
    }

    #[test]
    fn windows_that_meet_are_joined() {
        assert_eq!(around(&[0.0, 1.0, 5.0], 1.0), [(-1.0, 2.0), (4.0, 6.0)]);
        assert!(around(&[], 1.0).is_empty());
    }
}
