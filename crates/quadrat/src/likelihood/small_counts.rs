//! Log-probability of a range of small counts with a Poisson mean.

use std::sync::LazyLock;

use super::counting::{LIKELY, LogMass, NEARLY_CERTAIN};
use crate::special::CountMean;
use crate::special::elementary;

/// The largest end of a range that counts as small.
const MOST: usize = 30;
/// Length of the table of inverses, beyond every term above a range that counts: these are summed
/// only where the mean is below the end of the range.
const ABOVE: usize = 160;
/// Terms below this share of the sum are left out.
const NEGLIGIBLE: f64 = 1e-20;

/// One over every count.
const INVERSE: [f64; ABOVE] = {
    let mut inverse = [0.0; ABOVE];
    let mut k = 1;
    while k < ABOVE {
        inverse[k] = 1.0 / k as f64;
        k += 1;
    }
    inverse
};

/// `log k!`.
static LOG_FACTORIAL: LazyLock<[f64; MOST + 2]> =
    LazyLock::new(|| std::array::from_fn(|k| libm::lgamma(k as f64 + 1.0)));

/// Counts from `lower` to `upper`, both included, which may be infinite; `None` where either is
/// large, for a mean of more than Poisson's variance, and far below a range without an upper end.
///
/// # Numerics
/// Of an improbable range the terms inside are added up, and derivatives follow from the moments of
/// the count inside. Of a probable one those outside are: one less a sum near one has no digits.
pub(super) fn curve(count: &CountMean, lower: f64, upper: f64) -> Option<LogMass> {
    let is_open = upper == f64::INFINITY;
    let last = if is_open { lower } else { upper };
    if count.dispersion != 0.0 || last > MOST as f64 {
        return None;
    }
    if is_open {
        // Nearer to the mean than half of it, so that the term next to the edge cannot vanish
        // before its sum.
        let is_near = count.mean > 0.5 * lower;
        return is_near
            .then(|| outside(count, lower, upper))
            .filter(|curve| curve.value >= LIKELY);
    }
    let curve = inside(count, lower as usize, upper as usize);
    Some(match curve.value < NEARLY_CERTAIN {
        true => curve,
        false => outside(count, lower, upper),
    })
}

/// `log p(k)`.
fn log_probability(count: &CountMean, k: usize) -> f64 {
    let power = if k == 0 {
        0.0
    } else {
        k as f64 * count.log_mean
    };
    power - count.mean - LOG_FACTORIAL[k]
}

/// By the terms inside, from the lower end, or from the upper one where the mean is beyond it.
fn inside(count: &CountMean, lower: usize, upper: usize) -> LogMass {
    let mean = count.mean;
    let mut powers = [1.0, 0.0, 0.0, 0.0];
    let mut add = |term: f64, d: f64| {
        let mut power = term;
        for sum in &mut powers {
            *sum += power;
            power *= d;
        }
    };
    let mut term = 1.0;
    let start = if mean <= upper as f64 {
        for k in lower + 1..=upper {
            term *= mean * INVERSE[k];
            add(term, (k - lower) as f64);
        }
        lower
    } else {
        let inverse = mean.recip();
        for k in (lower..upper).rev() {
            term *= (k + 1) as f64 * inverse;
            add(term, -((upper - k) as f64));
        }
        upper
    };
    let total = powers[0];
    let (d, d2, d3) = (powers[1] / total, powers[2] / total, powers[3] / total);
    let value = log_probability(count, start) + elementary::log(total);
    LogMass {
        value: value.min(0.0),
        derivatives: [
            start as f64 + d - mean,
            d2 - d * d - mean,
            d3 - 3.0 * d * d2 + 2.0 * d * d * d - mean,
        ],
        ..LogMass::default()
    }
}

/// By the terms outside. With `A = lower p(lower) / P` and `B = (upper + 1) p(upper + 1) / P` the
/// derivative is `A - B`.
fn outside(count: &CountMean, lower: f64, upper: f64) -> LogMass {
    let mean = count.mean;
    let (mut mass, mut terms) = (0.0, [0.0; 2]);
    if upper < f64::INFINITY {
        let first = upper as usize + 1;
        let mut p = elementary::exp(log_probability(count, first));
        terms[1] = first as f64 * p;
        for inverse in &INVERSE[first + 1..] {
            mass += p;
            p *= mean * inverse;
            if p <= NEGLIGIBLE * mass {
                break;
            }
        }
    }
    if lower > 0.0 {
        let last = lower as usize - 1;
        let mut p = elementary::exp(log_probability(count, last));
        // The mean may be infinite.
        terms[0] = if p == 0.0 { 0.0 } else { p * mean };
        let inverse = mean.recip();
        let mut below = p;
        for k in (1..=last).rev() {
            p *= k as f64 * inverse;
            below += p;
            if p <= NEGLIGIBLE * below {
                break;
            }
        }
        mass += below;
    }
    let inside = 1.0 - mass;
    let (a, b) = (terms[0] / inside, terms[1] / inside);
    let first = a - b;
    let (mut second, mut third) = (0.0, 0.0);
    // Nothing times an infinite distance is nothing.
    if a != 0.0 {
        let excess = lower - mean - first;
        second += a * excess;
        third += a * (excess * excess - mean);
    }
    if b != 0.0 {
        let excess = upper + 1.0 - mean - first;
        second -= b * excess;
        third -= b * (excess * excess - mean);
    }
    third -= first * second;
    LogMass {
        value: elementary::log1p(-mass),
        derivatives: [first, second, third],
        ..LogMass::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::counting::{DispersionSlopes, range};
    use super::*;

    const LOG_MEANS: [f64; 13] = [
        -30.0, -4.0, -0.7, 0.0, 0.9, 1.6, 2.2, 2.9, 3.4, 4.5, 20.0, 400.0, 600.0,
    ];

    /// None or one has probability `(1 + m) e^-m`, whose logarithm has the derivative
    /// `-m^2 / (1 + m)`; at least one has `1 - e^-m`.
    #[test]
    fn the_simplest_ranges_have_closed_forms() {
        for log_mean in LOG_MEANS {
            let mean = f64::exp(log_mean);
            let count = CountMean::new(mean, 0.0);
            let few = curve(&count, 0.0, 1.0).unwrap();
            let value = match mean < 1e-3 {
                true => -0.5 * mean * mean * (1.0 - mean * (2.0 / 3.0 - 0.5 * mean)),
                false => mean.ln_1p() - mean,
            };
            let first = -mean * (mean / (1.0 + mean));
            // The next term of the series is 2e-10 of the first one.
            for (got, want) in [(few.value, value), (few.derivatives[0], first)] {
                assert!(
                    (got - want).abs() <= 1e-9 * want.abs(),
                    "{log_mean}: {got} {want}"
                );
            }
            if let Some(some) = curve(&count, 1.0, f64::INFINITY) {
                let want = (-(-mean).exp()).ln_1p();
                // Rounding of one exponential and one logarithm, and of the sum.
                assert!(
                    (some.value - want).abs() <= 1e-12 * want.abs(),
                    "{log_mean}"
                );
                assert!(some.derivatives.iter().all(|x| x.is_finite()), "{log_mean}");
            }
        }
    }

    /// Against the sums for counts of any size.
    #[test]
    fn ranges_are_those_of_any_size() {
        let infinite = f64::INFINITY;
        let ends = [0.0, 1.0, 4.0, 9.0, 15.0, 30.0, infinite];
        let mut compared = 0;
        for lower in ends {
            for upper in ends.into_iter().filter(|upper| *upper > lower) {
                for log_mean in &LOG_MEANS[..11] {
                    let count = CountMean::new(f64::exp(*log_mean), 0.0);
                    let Some(got) = curve(&count, lower, upper) else {
                        assert_eq!(upper, infinite);
                        continue;
                    };
                    compared += 1;
                    let want = range(&count, DispersionSlopes::No, lower, upper);
                    let off = (got.value - want.value).abs();
                    // Rounding of sums of thirty terms of one sign.
                    assert!(
                        off <= 1e-13 * want.value.abs(),
                        "{lower} {upper} {log_mean}"
                    );
                    for (got, want) in got.derivatives.iter().zip(want.derivatives) {
                        // Of a certain range they are differences of numbers like the mean; where
                        // two per cent are left beside the terms outside, two digits are lost, of
                        // the third derivative more.
                        let size = want.abs() + 0.01 * count.mean.min(1.0);
                        let off = (got - want).abs();
                        assert!(
                            off <= 2e-10 * size,
                            "{lower} {upper} {log_mean}: {got} {want}"
                        );
                    }
                }
            }
        }
        assert!(compared > 200, "{compared}");
    }
}
