//! Guarded Newton steps from where the quasi-Newton search ended, so that the optimum no longer
//! depends on the path.

use super::free::{Density, FreeSpace};
use crate::error::FitError;
use crate::linalg::{Mat, dot, symmetric_eigen};
use crate::optimise::projected_gradient;

/// Newton steps at most; two or three are the rule.
const STEPS: usize = 12;
/// Longest step, in units of the free coordinates.
const LONGEST: f64 = 0.5;
/// Stationary below this projected gradient, in nats.
const GRADIENT: f64 = 1e-4;
/// Stationary when Newton's estimate of what is left to gain is below this, in nats.
const GAIN: f64 = 1e-6;
/// No further step below this length, in units of the free coordinates.
const SHORTEST: f64 = 1e-10;

/// A stationary point with its curvature.
pub(super) struct Polished {
    pub(super) z: Vec<f64>,
    pub(super) density: Density,
    /// Hessian of the negative log posterior in `z`.
    pub(super) curvature: Mat<f64>,
    pub(super) projected_gradient: f64,
    pub(super) converged: bool,
    pub(super) steps: usize,
    pub(super) evaluations: usize,
}

/// Newton's method on the coordinates that are not held at a bound, with negative or tiny curvatures
/// made positive, steps of at most 0.5, and every step required to lower the projected gradient
/// without lowering the density by more than rounding.
pub(super) fn polish(space: &FreeSpace<'_>, from: &[f64]) -> Result<Polished, FitError> {
    let bounds = space.bounds();
    let mut z = from.to_vec();
    let mut density = space.evaluate(&z)?;
    let mut evaluations = 1;
    let mut steps = 0;
    loop {
        let slope = uphill(&z, &density, &bounds);
        let newton = space
            .curvature(&z, &density.gradient, &mut evaluations)
            .and_then(|curvature| {
                let (step, gain) = newton_step(&z, &density.gradient, &curvature, &bounds)?;
                Ok((curvature, step, gain))
            });
        let (curvature, step, gain) = match newton {
            // Beside the optimum the evidence cannot be evaluated: no step, and no claim of a maximum.
            Err(error) if error.is_recoverable() => (
                Mat::identity(z.len(), z.len()),
                vec![0.0; z.len()],
                f64::INFINITY,
            ),
            other => other?,
        };
        let longest = step.iter().fold(0.0, |a: f64, s| a.max(s.abs()));
        let mut moved = None;
        if steps < STEPS && longest > SHORTEST {
            let mut fraction = (LONGEST / longest).min(1.0);
            for _ in 0..5 {
                let trial: Vec<f64> = (0..z.len())
                    .map(|i| {
                        (z[i] + fraction * step[i])
                            .max(bounds[i].0)
                            .min(bounds[i].1)
                    })
                    .collect();
                evaluations += 1;
                if let Ok(next) = space.evaluate(&trial) {
                    let rounding = 1e-10 * (1.0 + density.log_posterior.abs());
                    let rises = next.log_posterior > density.log_posterior + rounding;
                    let level = next.log_posterior >= density.log_posterior - rounding;
                    if rises || (level && uphill(&trial, &next, &bounds) < slope) {
                        moved = Some((trial, next));
                        break;
                    }
                }
                fraction *= 0.25;
            }
        }
        match moved {
            Some((trial, next)) => {
                z = trial;
                density = next;
                steps += 1;
            }
            None => {
                return Ok(Polished {
                    converged: slope <= GRADIENT || gain <= GAIN,
                    projected_gradient: slope,
                    z,
                    density,
                    curvature,
                    steps,
                    evaluations,
                });
            }
        }
    }
}

fn uphill(z: &[f64], density: &Density, bounds: &[(f64, f64)]) -> f64 {
    let negative: Vec<f64> = density.gradient.iter().map(|g| -g).collect();
    projected_gradient(z, &negative, bounds)
}

/// The Newton step, zero for coordinates held at a bound, and the gain that it predicts.
fn newton_step(
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
        let bend = value.abs().max(1e-10 * largest).max(f64::MIN_POSITIVE);
        gain += 0.5 * slope * slope / bend;
        for (i, d) in inner.iter().zip(direction) {
            step[*i] += slope / bend * d;
        }
    }
    Ok((step, gain))
}
