//! Guarded Newton steps from where the quasi-Newton search ended, so that the optimum no longer
//! depends on the path; where evaluations are dear, by no more than 1e-4 of its standard deviation.

use super::WarmStart;
use super::free::{FreeSpace, LogPosterior};
use crate::error::FitError;
use crate::linalg::{Mat, dot, symmetric_eigen};
use crate::optimise::projected_gradient;

/// Newton steps at most; four or five are the rule.
const STEPS: usize = 30;
/// The curvature is taken anew when a step with it leaves more than this of the gradient.
const WORN: f64 = 0.2;
/// The curvature is the same, but for the error of its differences, up to this way from where it
/// was taken.
const SAME_CURVATURE: f64 = 1e-7;
/// The same where evaluations are dear and its differences are taken to one side.
const NEAR_ENOUGH: f64 = 1e-2;
/// Least curvature beside the largest, some hundred times its rounding: exact rows may know a
/// period a million times as well as all else.
const TINY: f64 = 1e-13;
/// Longest step, in units of the free coordinates.
const LONGEST: f64 = 0.5;
/// Stationary below this projected gradient, in nats.
const GRADIENT: f64 = 1e-4;
/// Stationary when Newton's estimate of what is left to gain is below this, in nats.
const GAIN: f64 = 1e-6;
/// No further step where evaluations are dear and it would gain less than this, in nats: the
/// optimum is nearer than 1e-4 of its standard deviation.
const DEAR_GAIN: f64 = 1e-9;
/// No further step below this length, in units of the free coordinates.
const SHORTEST: f64 = 1e-10;

/// A stationary point with its curvature.
pub(super) struct Refined {
    pub(super) z: Vec<f64>,
    pub(super) density: LogPosterior,
    /// Hessian of the negative log posterior in `z`.
    pub(super) curvature: Mat<f64>,
    pub(super) projected_gradient: f64,
    pub(super) converged: bool,
    pub(super) steps: usize,
    pub(super) evaluations: usize,
}

/// Newton's method on the coordinates that are not held at a bound, with negative or tiny
/// curvatures made positive, steps of at most 0.5, and every step required to lower the projected
/// gradient without lowering the density by more than rounding. A curvature serves while steps with
/// it gain enough.
pub(super) fn refine(space: &FreeSpace<'_>, from: &[f64]) -> Result<Refined, FitError> {
    let bounds = space.bounds();
    let mut warm_start = WarmStart::precise();
    let mut at = Place {
        z: from.to_vec(),
        density: space.evaluate(from, &mut warm_start)?,
        warm_start,
    };
    let mut evaluations = 1;
    let mut steps = 0;
    loop {
        let curvature = match space.curvature(
            &at.z,
            &at.density.gradient,
            &at.warm_start,
            &mut evaluations,
        ) {
            // Beside the optimum the evidence cannot be evaluated: no step, and no claim of a
            // maximum.
            Err(error) if error.is_recoverable() => None,
            other => Some(other?),
        };
        let mut way = 0.0;
        let mut gain = f64::INFINITY;
        let mut is_stuck = false;
        let mut slope = uphill(&at.z, &at.density, &bounds);
        while let Some(curvature) = &curvature {
            let (step, expected) = newton_step(&at.z, &at.density.gradient, curvature, &bounds)?;
            gain = expected;
            let longest = step.iter().fold(0.0, |a: f64, s| a.max(s.abs()));
            let is_near = longest <= SHORTEST || (space.is_dear() && gain <= DEAR_GAIN);
            if steps >= STEPS || is_near {
                break;
            }
            let Some(next) = along(space, &at, &step, &bounds, &mut evaluations) else {
                is_stuck = true;
                break;
            };
            steps += 1;
            way += longest;
            at = next;
            let left = uphill(&at.z, &at.density, &bounds);
            let is_worn = left > WORN * slope;
            slope = left;
            if is_worn {
                break;
            }
        }
        let is_done = slope <= GRADIENT || gain <= GAIN;
        let same = match space.is_dear() && is_done {
            true => NEAR_ENOUGH,
            false => SAME_CURVATURE,
        };
        if way <= same || steps >= STEPS {
            let n = at.z.len();
            return Ok(Refined {
                converged: is_done || (is_stuck && gain <= space.rounding()),
                projected_gradient: slope,
                z: at.z,
                density: at.density,
                curvature: curvature.unwrap_or_else(|| Mat::identity(n, n)),
                steps,
                evaluations,
            });
        }
    }
}

/// Where the search is, and where its warm start ends.
struct Place {
    z: Vec<f64>,
    density: LogPosterior,
    warm_start: WarmStart,
}

/// As far along a step as improves; `None` when nowhere.
fn along(
    space: &FreeSpace<'_>,
    at: &Place,
    step: &[f64],
    bounds: &[(f64, f64)],
    evaluations: &mut usize,
) -> Option<Place> {
    let slope = uphill(&at.z, &at.density, bounds);
    let longest = step.iter().fold(0.0, |a: f64, s| a.max(s.abs()));
    let mut fraction = (LONGEST / longest).min(1.0);
    for _ in 0..5 {
        let moved = |((z, s), (lower, upper)): ((&f64, &f64), &(f64, f64))| {
            (z + fraction * s).max(*lower).min(*upper)
        };
        let z: Vec<f64> = at.z.iter().zip(step).zip(bounds).map(moved).collect();
        let mut warm_start = at.warm_start.clone();
        *evaluations += 1;
        if let Ok(density) = space.evaluate(&z, &mut warm_start) {
            let now = at.density.log_posterior;
            let rounding = 1e-10 * (1.0 + now.abs());
            let rises = density.log_posterior > now + rounding;
            let level = density.log_posterior >= now - rounding;
            if rises || (level && uphill(&z, &density, bounds) < slope) {
                return Some(Place {
                    z,
                    density,
                    warm_start,
                });
            }
        }
        fraction *= 0.25;
    }
    None
}

fn uphill(z: &[f64], density: &LogPosterior, bounds: &[(f64, f64)]) -> f64 {
    let negative: Vec<f64> = density.gradient.iter().map(|g| -g).collect();
    projected_gradient(z, &negative, bounds)
}

/// The Newton step, zero for coordinates held at a bound, and the gain that it predicts.
pub(super) fn newton_step(
    z: &[f64],
    gradient: &[f64],
    curvature: &Mat<f64>,
    bounds: &[(f64, f64)],
) -> Result<(Vec<f64>, f64), FitError> {
    let inner: Vec<usize> = (0..z.len())
        .filter(|i| {
            let (lower, upper) = bounds[*i];
            !(z[*i] <= lower && gradient[*i] <= 0.0 || z[*i] >= upper && gradient[*i] >= 0.0)
        })
        .collect();
    let block = Mat::from_fn(inner.len(), inner.len(), |i, j| {
        curvature[(inner[i], inner[j])]
    });
    let eigen = symmetric_eigen(block.as_ref())?;
    let largest = eigen.values.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    let mut step = vec![0.0; z.len()];
    let mut gain = 0.0;
    for (k, value) in eigen.values.iter().enumerate() {
        let direction = eigen.vectors.col_as_slice(k);
        let along: Vec<f64> = inner.iter().map(|i| gradient[*i]).collect();
        let slope = dot(direction, &along);
        let bend = value.abs().max(TINY * largest).max(f64::MIN_POSITIVE);
        gain += 0.5 * slope * slope / bend;
        for (i, d) in inner.iter().zip(direction) {
            step[*i] += slope / bend * d;
        }
    }
    Ok((step, gain))
}
