//! Quasi-Newton search from near the optimum, begun with an approximate Hessian.
//!
//! Newton steps with the Hessian at hand, which every step updates: with `s` the step and `y` the
//! change of the gradient,
//!
//! $$ H \leftarrow H + \frac{y y'}{y's} - \frac{H s s' H}{s'Hs} $$
//!
//! # Source
//! Nocedal and Wright 2006, section 6.1 (BFGS).

use crate::error::FitError;
use crate::inference::WarmStart;
use crate::inference::free::{FreeSpace, LogPosterior};
use crate::inference::refine::newton_step;
use crate::linalg::{Mat, dot, matvec};

/// Longest step, in units of the free coordinates.
const LONGEST: f64 = 1.0;
/// A step that does not raise the density is cut by this factor, and so often at most.
const CUT: f64 = 0.3;
const CUTS: usize = 5;
/// Quasi-Newton updates only where `y's` exceeds this share of `s'Hs`: `H` stays positive definite.
const AGREES: f64 = 1e-8;

/// A point of the search.
pub(super) struct QuasiNewtonIterate {
    pub z: Vec<f64>,
    pub density: LogPosterior,
    pub warm_start: WarmStart,
    /// Approximate Hessian of the negative log posterior in `z`.
    pub curvature: Mat<f64>,
}

/// How a step ended.
pub(super) enum Ended {
    /// At a point of higher density.
    Moved,
    /// Newton's estimate of what is left to gain, in nats, is below the goal.
    Flat,
    /// No part of the step gained anything; Newton's estimate of what is left to gain.
    Stuck(f64),
}

impl QuasiNewtonIterate {
    /// Takes a step; adds to `evaluations`.
    ///
    /// # Errors
    /// [`FitError::Linalg`] when the curvature is not finite.
    pub fn step(
        &mut self,
        space: &FreeSpace<'_>,
        bounds: &[(f64, f64)],
        goal: f64,
        evaluations: &mut usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Ended, FitError> {
        let (step, left) = newton_step(&self.z, &self.density.gradient, &self.curvature, bounds)?;
        if left < goal {
            return Ok(Ended::Flat);
        }
        let longest = step.iter().fold(0.0, |a: f64, s| a.max(s.abs()));
        let mut part = (LONGEST / longest).min(1.0);
        for _ in 0..=CUTS {
            if is_stopped() {
                break;
            }
            let moved = self.z.iter().zip(&step).zip(bounds);
            let z: Vec<f64> = moved
                .map(|((z, s), (lower, upper))| (z + part * s).max(*lower).min(*upper))
                .collect();
            let mut warm_start = self.warm_start.clone();
            *evaluations += 1;
            if let Ok(density) = space.evaluate(&z, &mut warm_start) {
                self.mend(&z, &density);
                if density.log_posterior > self.density.log_posterior {
                    (self.z, self.density, self.warm_start) = (z, density, warm_start);
                    return Ok(Ended::Moved);
                }
            }
            part *= CUT;
        }
        Ok(Ended::Stuck(left))
    }

    /// Updates the Hessian from the gradient at another point.
    fn mend(&mut self, z: &[f64], density: &LogPosterior) {
        let s: Vec<f64> = z.iter().zip(&self.z).map(|(a, b)| a - b).collect();
        let pairs = self.density.gradient.iter().zip(&density.gradient);
        let y: Vec<f64> = pairs.map(|(here, there)| here - there).collect();
        let bent = matvec(self.curvature.as_ref(), &s);
        let (ys, own) = (dot(&y, &s), dot(&s, &bent));
        if own > 0.0 && ys > AGREES * own {
            let n = s.len();
            for j in 0..n {
                for i in 0..n {
                    self.curvature[(i, j)] += y[i] * y[j] / ys - bent[i] * bent[j] / own;
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inference::Evidence;
    use crate::parameter::{Parameter, PriorDensity};

    /// A density of two correlated coordinates, not quite normal.
    struct Hill(Vec<Parameter>);

    const TOP: [f64; 2] = [0.3, -0.2];

    impl Evidence for Hill {
        fn evaluate_along(
            &self,
            theta: &[f64],
            _: &mut WarmStart,
        ) -> Result<(f64, Vec<f64>), FitError> {
            let u = [theta[0].ln() - TOP[0], theta[1].ln() - TOP[1]];
            let k = [[40.0, 15.0], [15.0, 10.0]];
            let bent = [0, 1].map(|i| k[i][0] * u[0] + k[i][1] * u[1]);
            let value = -0.5 * (u[0] * bent[0] + u[1] * bent[1]) - u[0].powi(4);
            let slopes = [-bent[0] - 4.0 * u[0].powi(3), -bent[1]];
            Ok((value, vec![slopes[0] / theta[0], slopes[1] / theta[1]]))
        }

        fn parameters(&self) -> &[Parameter] {
            &self.0
        }
    }

    /// With a curvature that is wrong by factors of three, in signs too, the top is found.
    #[test]
    fn a_wrong_curvature_is_mended() {
        let names = ["a", "b"];
        let parameter = |name| Parameter::positive(name, "", 1.0, PriorDensity::Flat);
        let hill = Hill(names.map(parameter).to_vec());
        let space = FreeSpace::new(&hill).unwrap();
        let bounds = space.bounds();
        let z = space.coordinates_of(&[1.5, 2.0]);
        let mut warm_start = WarmStart::precise();
        let mut at = QuasiNewtonIterate {
            density: space.evaluate(&z, &mut warm_start).unwrap(),
            z,
            warm_start,
            curvature: Mat::from_fn(2, 2, |i, j| [[15.0, -5.0], [-5.0, 30.0]][i][j]),
        };
        let mut evaluations = 0;
        for _ in 0..30 {
            let ended = at.step(&space, &bounds, 1e-10, &mut evaluations, &|| false);
            match ended.unwrap() {
                Ended::Moved => {}
                Ended::Flat => break,
                Ended::Stuck(left) => panic!("stuck with {left} to gain"),
            }
        }
        let theta = space.theta(&at.z);
        for (got, want) in theta.iter().zip(TOP) {
            // Half a curvature of ten times the square of this is the goal.
            assert!((got.ln() - want).abs() < 1e-5, "{theta:?}");
        }
        assert!(evaluations < 25, "{evaluations}");
    }
}
