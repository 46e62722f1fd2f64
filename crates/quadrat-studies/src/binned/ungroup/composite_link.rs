//! The penalised composite link model, demographers' way to ungroup counts with intervals.

use anyhow::{Context, Result};
use quadrat::linalg::{Cholesky, Mat};

/// Grid of the decimal logarithm of the penalty.
const PENALTIES: (f64, f64, f64) = (-2.0, 9.0, 0.5);
/// A ridge that keeps the Hessian positive definite.
const RIDGE: f64 = 1e-9;
const STEPS: usize = 60;
/// Largest change of a log count in a step, and the change that ends the iteration.
const LONGEST: f64 = 1.0;
const SETTLED: f64 = 1e-6;

/// What chooses the penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// Deviance plus twice the effective dimension.
    Aic,
    /// Deviance plus the effective dimension times the logarithm of the number of bands.
    Bic,
}

/// Counts by cell.
#[derive(Debug, Clone)]
pub struct Ungrouped {
    /// Expected counts.
    pub mean: Vec<f64>,
    /// Standard errors of their logarithms.
    pub log_sd: Vec<f64>,
}

impl Ungrouped {
    /// Ends of the interval that reaches `z` standard errors of the logarithm to both sides.
    #[must_use]
    pub fn interval(&self, z: f64) -> (Vec<f64>, Vec<f64>) {
        let end = |sign: f64| {
            let both = self.mean.iter().zip(&self.log_sd);
            both.map(|(m, s)| m * (sign * z * s).exp()).collect()
        };
        (end(-1.0), end(1.0))
    }
}

/// One penalty's fit.
struct Fit {
    ungrouped: Ungrouped,
    deviance: f64,
    dimension: f64,
}

/// Expected counts `gamma = exp(eta)` of cells from Poisson counts of bands of `width` cells, `y ~
/// Poisson(C gamma)`, with the penalty `lambda |D eta|^2 / 2` on second differences; `lambda` by
/// the criteria, in their order.
///
/// # Errors
/// Where no penalty of the grid settles.
///
/// # Source
/// Eilers 2007, *Ill-posed problems with counts, the composite link model and penalized
/// likelihood*; Rizzi, Gampe and Eilers 2015 for ages.
pub fn ungroup<const N: usize>(
    counts: &[f64],
    width: usize,
    criteria: [Criterion; N],
) -> Result<[Ungrouped; N]> {
    let bands = counts.len() as f64;
    let (first, last, step) = PENALTIES;
    let number = ((last - first) / step).round() as usize;
    let mut best: [Option<(f64, Ungrouped)>; N] = std::array::from_fn(|_| None);
    for at in 0..=number {
        let penalty = 10f64.powf(first + step * at as f64);
        let Some(fit) = fit(counts, width, penalty)? else {
            continue;
        };
        for (best, criterion) in best.iter_mut().zip(criteria) {
            let price = match criterion {
                Criterion::Aic => 2.0,
                Criterion::Bic => bands.ln(),
            };
            let score = fit.deviance + price * fit.dimension;
            if best.as_ref().is_none_or(|(least, _)| score < *least) {
                *best = Some((score, fit.ungrouped.clone()));
            }
        }
    }
    let found: Option<Vec<Ungrouped>> = best.into_iter().map(|b| Some(b?.1)).collect();
    let found = found.and_then(|all| <[Ungrouped; N]>::try_from(all).ok());
    found.context("the composite link model does not settle for any penalty")
}

/// Newton's method in `eta`; none where it does not settle.
fn fit(counts: &[f64], width: usize, penalty: f64) -> Result<Option<Fit>> {
    let cells = counts.len() * width;
    let height = |cell: usize| counts[cell / width].max(1.0) / width as f64;
    let mut eta: Vec<f64> = (0..cells).map(|cell| height(cell).ln()).collect();
    for _ in 0..STEPS {
        let (gamma, mu) = means(&eta, width);
        let mut hessian = information(&gamma, &mu, width);
        add_penalty(&mut hessian, penalty);
        let right: Vec<f64> = (0..cells)
            .map(|i| {
                let own = &eta[i / width * width..(i / width + 1) * width];
                let gammas = &gamma[i / width * width..(i / width + 1) * width];
                let linear: f64 = own.iter().zip(gammas).map(|(e, g)| e * g).sum();
                gamma[i] * (counts[i / width] - mu[i / width] + linear) / mu[i / width]
            })
            .collect();
        let next = Cholesky::factor_owned(hessian)?.solve(&right);
        let mut longest = 0.0_f64;
        for (eta, next) in eta.iter_mut().zip(next) {
            let step = (next - *eta).clamp(-LONGEST, LONGEST);
            longest = longest.max(step.abs());
            *eta += step;
        }
        if longest < SETTLED {
            return Ok(Some(settled(counts, &eta, width, penalty)?));
        }
    }
    Ok(None)
}

/// Standard errors, deviance and effective dimension at the optimum.
fn settled(counts: &[f64], eta: &[f64], width: usize, penalty: f64) -> Result<Fit> {
    let (gamma, mu) = means(eta, width);
    let own = information(&gamma, &mu, width);
    let mut hessian = own.clone();
    add_penalty(&mut hessian, penalty);
    let inverse = Cholesky::factor_owned(hessian)?.inverse();
    let cells = eta.len();
    let trace = |i: usize| {
        (0..cells)
            .map(|j| inverse[(i, j)] * own[(j, i)])
            .sum::<f64>()
    };
    let deviance = counts.iter().zip(&mu).map(|(y, m)| {
        let ratio = y.max(1e-9) / m;
        2.0 * (y * ratio.ln() - (y - m))
    });
    Ok(Fit {
        deviance: deviance.sum(),
        dimension: (0..cells).map(trace).sum(),
        ungrouped: Ungrouped {
            log_sd: (0..cells)
                .map(|i| inverse[(i, i)].max(0.0).sqrt())
                .collect(),
            mean: gamma,
        },
    })
}

/// Expected counts of cells and bands.
fn means(eta: &[f64], width: usize) -> (Vec<f64>, Vec<f64>) {
    let gamma: Vec<f64> = eta.iter().map(|e| e.exp()).collect();
    let mu = gamma
        .chunks(width)
        .map(|cells| cells.iter().sum())
        .collect();
    (gamma, mu)
}

/// `X' W X` with `X = C diag(gamma)` and `W = diag(1 / mu)`.
fn information(gamma: &[f64], mu: &[f64], width: usize) -> Mat<f64> {
    Mat::from_fn(gamma.len(), gamma.len(), |i, j| {
        if i / width == j / width {
            gamma[i] * gamma[j] / mu[i / width]
        } else {
            0.0
        }
    })
}

/// Adds `penalty D' D` of second differences, and the ridge.
fn add_penalty(a: &mut Mat<f64>, penalty: f64) {
    const D: [f64; 3] = [1.0, -2.0, 1.0];
    for first in 0..a.nrows().saturating_sub(2) {
        for (i, di) in D.iter().enumerate() {
            for (j, dj) in D.iter().enumerate() {
                a[(first + i, first + j)] += penalty * di * dj;
            }
        }
    }
    for i in 0..a.nrows() {
        a[(i, i)] += RIDGE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_linear_population_comes_back() {
        let years: Vec<f64> = (0..60)
            .map(|y| 5000.0 * (-0.04 * f64::from(y)).exp())
            .collect();
        let bands: Vec<f64> = years.chunks(5).map(|c| c.iter().sum()).collect();
        for one in ungroup(&bands, 5, [Criterion::Aic, Criterion::Bic]).unwrap() {
            for (got, expected) in one.mean.iter().zip(&years) {
                // No second difference, so no penalty: what differs is the ridge and the end of the
                // iteration.
                assert!((got / expected - 1.0).abs() < 1e-4, "{got} {expected}");
            }
            assert!(one.log_sd.iter().all(|s| *s > 0.0 && *s < 0.1));
        }
    }

    #[test]
    fn bands_are_kept_within_their_chance_and_intervals_are_of_the_logarithm() {
        let bands = [900.0, 1400.0, 700.0, 1800.0, 300.0, 60.0];
        let [one] = ungroup(&bands, 5, [Criterion::Aic]).unwrap();
        for (cells, band) in one.mean.chunks(5).zip(bands) {
            let total: f64 = cells.iter().sum();
            // Two standard deviations of a Poisson count.
            assert!((total - band).abs() < 2.0 * band.sqrt(), "{total} {band}");
        }
        let (lower, upper) = one.interval(1.96);
        for ((l, u), m) in lower.iter().zip(&upper).zip(&one.mean) {
            // Roundings of two exponentials that cancel.
            assert!((l * u / (m * m) - 1.0).abs() < 1e-12 && l < m);
        }
    }
}
