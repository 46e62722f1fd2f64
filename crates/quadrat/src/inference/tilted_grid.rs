//! A normal belief times the density of a row, on a grid.

use crate::likelihood::local::Belief;

/// Half the width of the grid, in standard deviations of the belief.
const REACH: f64 = 8.0;
/// Places of the trapezoidal rule are a tenth of a standard deviation apart, where the rule is
/// right to rounding for a normal density, and no more than this: behind `exp` the likelihood
/// changes over about one.
const STEP: (f64, f64) = (0.1, 0.3);
/// Most places: a belief that is wider misses any row by far.
const MOST_PLACES: f64 = 20_000.0;

/// Places `f`, ascending and evenly apart, and there `N(f; m, v) p(y | f)` up to a factor, at most
/// one.
///
/// # Arguments
/// * `belief` - of the latent value without the row
/// * `log_density` - `log p(y | f)` of the row; places where it is not finite are left out
pub(crate) fn tilted_grid(belief: Belief, log_density: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let sd = belief.variance.sqrt();
    let step = STEP.0.min(STEP.1 / sd).max(2.0 * REACH / MOST_PLACES);
    let half = (REACH / step).ceil() as i64;
    let places = (-half..=half).map(|k| {
        let z = step * k as f64;
        let f = belief.mean + sd * z;
        (f, log_density(f) - 0.5 * z * z)
    });
    let mut places: Vec<(f64, f64)> = places.filter(|(_, log)| log.is_finite()).collect();
    let top = places.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    places.iter_mut().for_each(|p| p.1 = (p.1 - top).exp());
    places
}
