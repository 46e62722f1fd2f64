//! Truncated normal moments against an mpmath table (`reference/truncated_normal.py`, mpmath 1.3.0,
//! 20 digits).

#![allow(clippy::unwrap_used)]

use quadrat::special::truncated_normal;

const TABLE: &str = include_str!("reference/truncated_normal.csv");

#[test]
fn moments_match_the_table() {
    let mut worst = [0f64; 6];
    let mut rows = 0;
    for line in TABLE.lines().skip(1) {
        let cell: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        let (lower, upper) = (cell[0], cell[1]);
        for mirrored in [false, true] {
            let t = if mirrored {
                truncated_normal(-upper, -lower)
            } else {
                truncated_normal(lower, upper)
            };
            let sign = if mirrored { -1.0 } else { 1.0 };
            // Cumulants that are nearly 0 are judged by the sd instead.
            let sd = cell[4].sqrt();
            let pairs = [
                (t.log_z, cell[2], cell[2].abs()),
                (sign * t.mean, cell[3], cell[3].abs()),
                (t.variance, cell[4], cell[4].abs()),
                (t.lost, cell[5], cell[5].abs()),
                (sign * t.third, cell[6], sd.powi(3)),
                (t.fourth, cell[7], sd.powi(4)),
            ];
            for (worst, (got, want, scale)) in worst.iter_mut().zip(pairs) {
                let error = if got == want {
                    0.0
                } else {
                    (got - want).abs() / scale
                };
                // Found is 1.1e-11, of cumulants; what is right to 1e-12 is judged below.
                assert!(error < 1e-10, "[{lower}, {upper}]: {got:e}, not {want:e}");
                *worst = worst.max(error);
            }
            rows += 1;
        }
    }
    println!(
        "worst relative errors of {rows} rows: log Z, mean, variance, lost, third, fourth {worst:?}"
    );
    assert!(rows > 500);
    // log Z of windows that hold nearly everything is the log of nearly 1, which the table's digits
    // resolve.
    assert!(worst[..4].iter().all(|&error| error < 1e-12), "{worst:?}");
}

#[test]
fn ends_and_distances_are_consistent() {
    for (lower, upper) in [
        (-0.3, 0.4),
        (1.0, 9.0),
        (3.0, f64::INFINITY),
        (-50.0, -49.0),
        (700.0, 701.0),
    ] {
        let t = truncated_normal(lower, upper);
        // d log Z / d end = density there; the mean is their difference.
        assert!(
            (t.at_lower - t.at_upper - t.mean).abs() < 1e-13 * (1.0 + t.mean.abs() + t.at_lower)
        );
        assert!((lower + t.above_lower - t.mean).abs() < 1e-13 * (1.0 + t.mean.abs()));
        if upper.is_finite() {
            assert!((upper - t.below_upper - t.mean).abs() < 1e-13 * (1.0 + t.mean.abs()));
        }
    }
    let whole = truncated_normal(f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(
        (whole.log_z, whole.mean, whole.variance, whole.lost),
        (0.0, 0.0, 1.0, 0.0)
    );
    let point = truncated_normal(2.0, 2.0);
    assert_eq!(
        (point.log_z, point.mean, point.variance),
        (f64::NEG_INFINITY, 2.0, 0.0)
    );
    for (lower, upper) in [
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (f64::INFINITY, f64::INFINITY),
    ] {
        assert!(truncated_normal(lower, upper).variance.is_nan());
    }
}
