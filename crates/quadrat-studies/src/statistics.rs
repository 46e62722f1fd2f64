//! Errors of predictions and how sure we are of them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Arithmetic mean.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Root of the mean square.
#[must_use]
pub fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// Mean of the absolute values.
#[must_use]
pub fn mean_absolute(values: &[f64]) -> f64 {
    values.iter().map(|v| v.abs()).sum::<f64>() / values.len() as f64
}

/// Standard error of the mean of independent values; NaN for fewer than two.
#[must_use]
pub fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let m = mean(values);
    (values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt()
}

/// Half of the width of the central 95 % interval of a mean under Student's t: the factor is that
/// of Cornish and Fisher's expansion, within 1 % from four values on.
#[must_use]
pub fn half_width(values: &[f64]) -> f64 {
    let v = values.len() as f64 - 1.0;
    let z: f64 = 1.959_963_984_540_054;
    let t = z
        + (z.powi(3) + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3));
    t * standard_error(values)
}

/// Share of the truths inside their intervals, ends included.
#[must_use]
pub fn coverage(truth: &[f64], lower: &[f64], upper: &[f64]) -> f64 {
    let inside = truth
        .iter()
        .zip(lower.iter().zip(upper))
        .filter(|(t, (l, u))| *l <= *t && *t <= *u);
    inside.count() as f64 / truth.len() as f64
}

/// Central 95 % interval of a statistic of rows, by resampling rows with replacement; as many
/// statistics at once as `statistic` returns, so that ratios are of the same rows.
///
/// # Source
/// Efron and Tibshirani 1993, chapter 13 (percentile interval).
pub fn bootstrap<const N: usize>(
    rows: usize,
    resamples: usize,
    random: &mut ChaCha8Rng,
    mut statistic: impl FnMut(&[usize]) -> [f64; N],
) -> [(f64, f64); N] {
    let mut drawn = vec![0; rows];
    let mut all: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(resamples));
    for _ in 0..resamples {
        drawn
            .iter_mut()
            .for_each(|d| *d = random.random_range(0..rows));
        for (all, value) in all.iter_mut().zip(statistic(&drawn)) {
            all.push(value);
        }
    }
    all.map(|mut values| {
        values.sort_unstable_by(f64::total_cmp);
        let at = |p: f64| values[((values.len() - 1) as f64 * p).round() as usize];
        (at(0.025), at(0.975))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn moments_and_coverage_of_a_small_table() {
        let v = [3.0, -4.0];
        assert_eq!(mean(&v), -0.5);
        // Two ulps of 3.5.
        assert!((rms(&v) - 12.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(mean_absolute(&v), 3.5);
        // Sample sd 7 / sqrt 2, over sqrt 2.
        assert!((standard_error(&v) - 3.5).abs() < 1e-15);
        assert!(standard_error(&[1.0]).is_nan());
        assert_eq!(coverage(&[1.0, 2.0, 3.0, 4.0], &[1.0; 4], &[3.0; 4]), 0.75);
    }

    #[test]
    fn half_width_is_that_of_students_t() {
        // Tabulated 97.5 % points; the expansion is good to 1 % at 3 degrees of freedom.
        for (n, t, tolerance) in [(4, 3.182, 0.01), (10, 2.262, 1e-3), (30, 2.045, 1e-3)] {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let ratio = half_width(&values) / standard_error(&values);
            assert!((ratio / t - 1.0).abs() < tolerance, "{n}: {ratio}");
        }
    }

    #[test]
    fn bootstrap_of_a_mean_is_the_normal_interval() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 20)).collect();
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let [(lo, hi)] = bootstrap(400, 4000, &mut random, |rows| {
            [rows.iter().map(|&r| values[r]).sum::<f64>() / 400.0]
        });
        let (m, h) = (mean(&values), 1.96 * standard_error(&values));
        // An end of a percentile interval of 4000 resamples errs by about 2.6 / sqrt(4000) sd.
        assert!(
            (lo - m + h).abs() < 0.1 * h && (hi - m - h).abs() < 0.1 * h,
            "{lo} {hi}"
        );
    }
}
