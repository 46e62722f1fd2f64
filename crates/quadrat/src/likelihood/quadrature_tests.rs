//! Quadrature against closed forms, and from bad starts.

use super::exact;
use super::local::{Belief, Jet};
use super::quadrature::{expected, mode, tilted};
use super::window::Window;

/// A count of 3 at rate `e^f`, up to a constant.
fn count(f: f64) -> Jet {
    let rate = f.exp();
    Jet {
        value: 3.0 * f - rate,
        first: 3.0 - rate,
        second: -rate,
        third: -rate,
    }
}

#[test]
fn log_concave_sites_match_the_closed_form() {
    let mut worst = [0f64; 3];
    for (lower, upper) in [(0.0, f64::INFINITY), (-1.0, 2.0), (0.0, 300.0), (5.0, 5.01)] {
        let window = Window {
            lower,
            upper,
            variance: 1.0,
        };
        for sd in [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6] {
            for distance in [-1e3, -5.0, 0.0, 0.7, 4.0] {
                let cavity = Belief {
                    mean: distance * f64::hypot(1.0, sd),
                    variance: sd * sd,
                };
                let got = tilted(cavity, window.guess(), |f| window.jet(f));
                let want = window.tilted(cavity);
                let variance = 1.0 / (1.0 / cavity.variance + want.precision);
                let moments = |t: super::local::Tilted| {
                    let variance = 1.0 / (1.0 / cavity.variance + t.precision);
                    let mean = variance * (cavity.mean / cavity.variance + t.shift);
                    (variance, mean)
                };
                // Size of the exponents whose difference log Z is.
                let away = 1.0 + distance * distance;
                let spacing = 1e-15 * cavity.mean.abs() / variance.sqrt();
                let errors = [
                    (got.log_z - want.log_z).abs() / away,
                    (moments(got).0 / variance - 1.0).abs(),
                    (moments(got).1 - moments(want).1).abs()
                        / variance.sqrt()
                        / (1.0 + 1e10 * spacing),
                ];
                // Panels are asked for 1e-11 of every integral; moments are made of several.
                assert!(
                    errors.iter().all(|&error| error < 1e-10),
                    "{window:?} {cavity:?}: {got:?}, not {want:?}, {errors:?}"
                );
                assert!(got.precision >= 0.0);
                for (worst, error) in worst.iter_mut().zip(errors) {
                    *worst = worst.max(error);
                }
            }
        }
    }
    println!("worst errors of log Z, variance, mean in sds: {worst:?}");
}

#[test]
fn modes_are_found_from_anywhere() {
    for sd in [1e-3, 1.0, 30.0, 1e6] {
        for mean in [-1e6, -700.0, -3.0, 1.0, 40.0, 690.0, 1e5] {
            let cavity = Belief {
                mean,
                variance: sd * sd,
            };
            let at = mode(cavity, 3f64.ln(), count);
            let slope = |x: f64| count(x).first - (x - mean) / cavity.variance;
            let height =
                |x: f64| count(x).value - 0.5 * (x - mean) * ((x - mean) / cavity.variance);
            let (mut low, mut high) = (mean.min(1.0), mean.max(1.2));
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if slope(middle) > 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            // A search ends at most three nats below the mode; heights have some fifty roundings,
            // and the mode of the check is known to its last bracket.
            let rounding = 1e-14 * height(low).abs() + (slope(low) * (high - low)).abs();
            assert!(
                height(at) > height(low) - 3.0 - rounding,
                "{cavity:?}: {at}, not {low}"
            );
        }
    }
}

#[test]
fn expectations_of_a_parabola_are_exact() {
    for sd in [1e-6, 1.0, 1e6] {
        let belief = Belief {
            mean: 2.0,
            variance: sd * sd,
        };
        let got = expected(belief, &[(0.3, 0.7)], |f| exact::jet(0.3, 0.49, f));
        let want = exact::expected(0.3, 0.49, belief);
        // Rounding of some hundred weighted terms of one sign.
        assert!((got.value / want.value - 1.0).abs() < 1e-13);
        // Two sides of size sd cancel, which leaves hundreds of eps; panels are asked for 1e-11.
        assert!((got.first / want.first - 1.0).abs() < 1e-10 + 1e-13 * sd);
        assert!((got.second / want.second - 1.0).abs() < 1e-13);
    }
}
