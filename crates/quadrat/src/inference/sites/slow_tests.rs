//! Rows whose curvature changes by factors within the belief about them, and the sweeps that they
//! take.

use super::options::SiteOptions;
use super::tests::Toy;
use super::{Method, condition_sites};
use crate::likelihood::local::{Belief, Local};
use crate::likelihood::{Interval, Noise, Poisson};
use crate::link::Link;

const PLACES: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

fn counts(large: f64) -> Box<dyn Local> {
    let counts = (0..10).map(|i| if i % 2 == 0 { 0.0 } else { large });
    Box::new(Poisson::new(counts.collect(), vec![1.0; 10], Link::Exp).unwrap())
}

/// The curvature of a count of zero is `E e^z`, which a step that sees it at one belief changes by
/// factors: whole steps went back and forth, short ones were not over after hundreds of sweeps.
#[test]
fn counts_of_zero_beside_large_ones_take_few_sweeps() {
    for large in [3.0, 1e3, 1e6] {
        for variance in [30.0, 300.0] {
            for lengthscale in [0.3, 1.0] {
                let toy = Toy::new(&PLACES, vec![counts(large)]);
                let options = SiteOptions::new(Method::Variational);
                let fit = condition_sites(&toy, &[variance, lengthscale], &options).unwrap();
                let what = format!("{large} {variance} {lengthscale}");
                assert!(fit.found.converged, "{what}: {}", fit.found.residual);
                // Five to fifteen, and those before a step was halved.
                assert!(fit.found.sweeps <= 40, "{what}: {}", fit.found.sweeps);
            }
        }
    }
}

/// The site of a row whose others keep theirs is the one that reproduces the belief, under its
/// cavity, that it was made from.
#[test]
fn sites_given_the_others_are_points_of_rest() {
    let noise = Noise::Known(vec![1e-3; 10]);
    let interval = Interval::new(vec![-1.0; 10], vec![0.5; 10], noise).unwrap();
    let counts = counts(1e3);
    let tables: [&dyn Local; 2] = [counts.as_ref(), &interval];
    let cavities = [(0.3, 2.0), (-6.0, 40.0), (5.0, 9.0), (0.2, 1e-3)];
    for table in tables {
        for row in [0, 1] {
            for (mean, variance) in cavities {
                let cavity = Belief { mean, variance };
                let own = [];
                let found = super::variational::given(table, &own, row, cavity, cavity);
                let site = found.unwrap();
                let precision = variance.recip() + site.precision;
                let at = Belief {
                    mean: (mean / variance + site.shift) / precision,
                    variance: precision.recip(),
                };
                let expected = table.expected(&own, row, at);
                // The last step was shorter than 1e-3 and is counted to first order.
                let off = (expected.second + site.precision).abs() / precision;
                let slope = expected.first - (site.shift - site.precision * at.mean);
                let slope = slope.abs() / precision.sqrt();
                assert!(
                    off < 1e-4 && slope < 1e-4,
                    "{row} {cavity:?}: {off} {slope}"
                );
            }
        }
    }
}
