//! The log posterior density of the hyperparameters over their free, scaled coordinates.
//!
//! `z = phi / unit`, one coordinate per parameter that is not fixed, so that no result depends on
//! the unit in which a parameter is stated.

use rayon::prelude::*;

use super::{Evidence, WarmStart};
use crate::error::FitError;
use crate::linalg::Mat;
use crate::parameter::Parameter;

/// Steps of differences in sds of the density along a coordinate: at most, and where they are taken
/// again; truncation leaves a sixth of the square of it.
const WITHIN: f64 = 0.1;
const SHORT: f64 = 0.03;
/// Only where gradients have all digits, so that this step is the usual one.
const EXACT: f64 = 1e-4;
/// How often they are, each time to no less than this part.
const SHORTENED: usize = 5;
const SHORTER: f64 = 0.01;

pub(super) struct FreeSpace<'a> {
    evidence: &'a dyn Evidence,
    free: Vec<usize>,
    units: Vec<f64>,
    start: Vec<f64>,
}

/// The density at one point.
#[derive(Debug, Clone)]
pub(super) struct LogPosterior {
    pub(super) log_posterior: f64,
    pub(super) log_evidence: f64,
    /// Derivative of `log_posterior` in `z`; empty when only the value was asked for.
    pub(super) gradient: Vec<f64>,
}

impl<'a> FreeSpace<'a> {
    /// # Errors
    /// [`FitError::Input`] when a parameter is not valid.
    pub(super) fn new(evidence: &'a dyn Evidence) -> Result<Self, FitError> {
        let parameters = evidence.parameters();
        for parameter in parameters {
            parameter.validate()?;
        }
        let free: Vec<usize> = (0..parameters.len())
            .filter(|i| !parameters[*i].fixed)
            .collect();
        Ok(Self {
            evidence,
            units: free.iter().map(|i| parameters[*i].free_unit()).collect(),
            free,
            start: parameters.iter().map(|p| p.start).collect(),
        })
    }

    fn coordinates(&self) -> impl Iterator<Item = (usize, &'a Parameter, f64)> + '_ {
        let parameters = self.evidence.parameters();
        self.free
            .iter()
            .zip(&self.units)
            .map(move |(i, unit)| (*i, &parameters[*i], *unit))
    }

    /// Number of free parameters.
    pub(super) fn size(&self) -> usize {
        self.free.len()
    }

    /// Index in `theta` of every coordinate.
    pub(super) fn indices(&self) -> &[usize] {
        &self.free
    }

    /// `phi / z` of every coordinate.
    pub(super) fn units(&self) -> &[f64] {
        &self.units
    }

    pub(super) fn bounds(&self) -> Vec<(f64, f64)> {
        self.coordinates()
            .map(|(_, parameter, unit)| {
                let (lower, upper) = parameter.free_bounds();
                (lower / unit, upper / unit)
            })
            .collect()
    }

    /// The coordinates of a full vector `theta`.
    pub(super) fn coordinates_of(&self, theta: &[f64]) -> Vec<f64> {
        self.coordinates()
            .map(|(i, parameter, unit)| parameter.to_free(theta[i]) / unit)
            .collect()
    }

    /// The full vector `theta`, natural units, fixed parameters included.
    pub(super) fn theta(&self, z: &[f64]) -> Vec<f64> {
        let mut theta = self.start.clone();
        for ((i, parameter, unit), z) in self.coordinates().zip(z) {
            let value = parameter.from_free(z * unit);
            // exp(ln(bound)) may miss the bound by rounding.
            theta[i] = value.max(parameter.lower).min(parameter.upper);
        }
        theta
    }

    /// The log prior density and its gradient in `z`.
    pub(super) fn log_prior(&self, z: &[f64]) -> (f64, Vec<f64>) {
        let mut total = 0.0;
        let gradient = self
            .coordinates()
            .zip(z)
            .map(|((_, parameter, unit), z)| {
                let (value, derivative) = parameter.log_prior_free(z * unit);
                total += value;
                derivative * unit
            })
            .collect();
        (total, gradient)
    }

    /// The density and its gradient.
    pub(super) fn evaluate(
        &self,
        z: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<LogPosterior, FitError> {
        let theta = self.theta(z);
        let (log_evidence, d_theta) = self.evidence.evaluate_along(&theta, warm_start)?;
        let (log_prior, mut gradient) = self.log_prior(z);
        for ((i, parameter, unit), g) in self.coordinates().zip(&mut gradient) {
            *g += d_theta[i] * parameter.jacobian(theta[i]) * unit;
        }
        Ok(LogPosterior {
            log_posterior: log_evidence + log_prior,
            log_evidence,
            gradient,
        })
    }

    /// The density without its gradient.
    pub(super) fn value(
        &self,
        z: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<LogPosterior, FitError> {
        let log_evidence = self.evidence.value_along(&self.theta(z), warm_start)?;
        Ok(LogPosterior {
            log_posterior: log_evidence + self.log_prior(z).0,
            log_evidence,
            gradient: Vec::new(),
        })
    }

    /// Whether evaluations are so dear that curvatures are taken by differences to one side.
    pub(super) fn is_dear(&self) -> bool {
        self.evidence.is_dear()
    }

    /// What rounding may leave to gain, in nats.
    pub(super) fn rounding(&self) -> f64 {
        self.evidence.rounding()
    }

    /// The Hessian of the *negative* log posterior in `z`, by second-order differences of the
    /// gradient: central ones, or one-sided where a bound is nearer than the step; of the first
    /// order where evaluations are dear. Counts its evaluations, each of which begins where the
    /// warm start ends.
    pub(super) fn curvature(
        &self,
        z: &[f64],
        gradient: &[f64],
        warm_start: &WarmStart,
        evaluations: &mut usize,
    ) -> Result<Mat<f64>, FitError> {
        let n = self.size();
        let is_dear = self.is_dear();
        *evaluations += if is_dear { n } else { 2 * n };
        let column = |(j, (lower, upper)): (usize, (f64, f64))| {
            let at = |offset: f64| {
                let mut moved = z.to_vec();
                moved[j] += offset;
                self.evaluate(&moved, &mut warm_start.clone())
            };
            let step = self.evidence.difference();
            let inward = if z[j] + step > upper { -1.0 } else { 1.0 };
            let column: Vec<f64> = if is_dear {
                let h = inward * step;
                let one = at(h)?.gradient;
                (0..n).map(|i| (one[i] - gradient[i]) / h).collect()
            } else if z[j] - step >= lower && z[j] + step <= upper {
                let central = |step: f64| -> Result<Vec<f64>, FitError> {
                    let (plus, minus) = (at(step)?.gradient, at(-step)?.gradient);
                    let pairs = plus.iter().zip(&minus);
                    Ok(pairs.map(|(p, m)| (p - m) / (2.0 * step)).collect())
                };
                let (mut step, mut column) = (step, central(step));
                let most = if step <= EXACT { SHORTENED } else { 0 };
                for _ in 0..most {
                    // Beyond the peak there may be no covariance at all.
                    let sd = match &column {
                        Ok(column) => column[j].abs().sqrt().recip(),
                        Err(_) => 0.0,
                    };
                    if step <= WITHIN * sd {
                        break;
                    }
                    step = (SHORT * sd).max(SHORTER * step);
                    column = central(step);
                }
                column?
            } else {
                let h = inward * step;
                let (one, two) = (at(h)?.gradient, at(2.0 * h)?.gradient);
                (0..n)
                    .map(|i| (4.0 * one[i] - 3.0 * gradient[i] - two[i]) / (2.0 * h))
                    .collect()
            };
            Ok(column)
        };
        let bounds: Vec<(usize, (f64, f64))> = self.bounds().into_iter().enumerate().collect();
        let columns: Vec<Result<Vec<f64>, FitError>> = bounds.into_par_iter().map(column).collect();
        // The first error in order, so that it does not depend on the threads.
        let columns = columns.into_iter().collect::<Result<Vec<_>, FitError>>()?;
        Ok(Mat::from_fn(n, n, |i, j| {
            -0.5 * (columns[j][i] + columns[i][j])
        }))
    }
}
