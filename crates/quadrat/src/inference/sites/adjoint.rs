//! Gradients of the evidence in the hyperparameters, by adjoint.
//!
//! With the sites at their fixed point only the explicit dependence counts for EP and the
//! variational approximation: `G = (alpha alpha' - R) / 2`, and the rows' own hyperparameters enter
//! through `log Z_r` or `E_q log p`. Laplace's log determinant also moves with the mode: with `s_r
//! = Sigma_rr (log p)''' / 2` and `w = s - R K s`, it adds `(w alpha' + alpha w') / 2` to `G`, and
//! `Sigma_rr d(log p)'' / 2 + (K w)_r d(log p)'` to the derivative in an own hyperparameter.
//!
//! Where a likelihood is not log-concave and a site was raised to zero, it stays there: Laplace's
//! method then has no `s_r` and no `d(log p)''` of that row, though its mode moves with the
//! curvature that the row has (`response`), and what expectation propagation has in addition is in
//! `held.rs`. The variational bound is stationary in all precisions above zero, and those at zero
//! stay; with `d = T + E_q (log p)''`, which is then not zero, it also moves with the posterior
//! variances at fixed sites, which adds `(I - R K) diag(d) (I - K R) / 2` to `G`.
//!
//! # Source
//! Rasmussen and Williams 2006, section 5.5; the form with `w` follows from `d mu = (I + K T)^-1 dK
//! alpha`.

use faer::linalg::solvers::Solve;
use rayon::prelude::*;

use super::held::{self, Held};
use super::pair::Pair;
use super::rows::Rows;
use super::site::Term;
use super::swept::Sweep;
use super::{LatentGaussian, Method, SiteFit};
use crate::error::FitError;
use crate::linalg::{Mat, MatRef, map_lower, matvec};

/// Rows whose slopes one thread adds up.
const ROWS: usize = 32;

/// `d log Z / d theta`, natural units, every parameter.
///
/// # Errors
/// [`FitError::NotConverged`] where sites of expectation propagation are held and what that adds
/// was not found.
pub(super) fn gradient(
    problem: &dyn LatentGaussian,
    theta: &[f64],
    fit: SiteFit,
) -> Result<Vec<f64>, FitError> {
    let mut rows = Rows::new(problem, theta);
    rows.is_coarse = fit.is_coarse;
    let held = held(&rows, &fit)?;
    let SiteFit {
        method,
        sweep,
        covariance: k,
        second_covariance,
        terms,
        second,
        excess,
        ..
    } = fit;
    let n = rows.count;
    let alpha = &sweep.alpha;
    let laplace = (method == Method::Laplace).then(|| {
        let s: Vec<f64> = (0..n)
            .map(|row| match terms[row] {
                Term::Gaussian { .. } => 0.0,
                // The precision stays at zero.
                Term::Chosen(site) if site.precision == 0.0 => 0.0,
                Term::Chosen(_) => {
                    let (likelihood, own, at) = rows.at(row);
                    let jet = likelihood.log_density(own, at, sweep.mean[row]);
                    0.5 * sweep.variance[row] * jet.third
                }
            })
            .collect();
        let w = response(&rows, k.as_ref(), &sweep, &terms, &s);
        let kw = matvec(k.as_ref(), &w);
        (w, kw)
    });

    let through = through_variances(&sweep, k.as_ref(), &excess[0]);
    let mut gradient = vec![0.0; theta.len()];
    for (block, own) in &rows.blocks {
        if own.is_empty() {
            continue;
        }
        let part = |from: usize| {
            let mut sum = vec![0.0; own.len()];
            let mut out = vec![0.0; own.len()];
            let mut slopes = vec![[0.0; 3]; own.len()];
            for at in from..(from + ROWS).min(block.likelihood.rows()) {
                let row = block.first + at;
                out.fill(0.0);
                slopes.fill([0.0; 3]);
                if let (Some((pair, i)), Some(second)) = (rows.second(row), &second) {
                    let cavity = Pair {
                        f: sweep.cavity[row],
                        g: second.cavity[i],
                    };
                    let at = Pair {
                        f: sweep.belief(row),
                        g: second.belief(i),
                    };
                    pair.slopes(method, cavity, at, &mut out);
                    if let Some(held) = &held {
                        held.own_slopes(&rows, row, (&sweep, Some(second)), &mut out);
                    }
                    add(&mut sum, &out);
                    continue;
                }
                match (terms[row], method) {
                    (Term::Gaussian { value, variance }, _) => {
                        // The own hyperparameters of a Gaussian row enter through its noise
                        // variance: read d variance from the slope of (log p)'' = -1 / variance.
                        let likelihood = block.likelihood;
                        likelihood.log_density_slopes(own, at, value, &mut slopes);
                        let mut slope = 0.5 * (alpha[row].powi(2) - sweep.inverse_diagonal[row]);
                        if let Some(held) = &held {
                            slope += held.noise[row];
                        }
                        if let Some(through) = &through {
                            slope += through.noise[row];
                        }
                        if let Some((_, kw)) = &laplace {
                            slope -= kw[row] * alpha[row] / variance;
                        }
                        for (o, s) in out.iter_mut().zip(&slopes) {
                            *o = s[2] * variance * variance * slope;
                        }
                    }
                    (Term::Chosen(_), Method::Ep) => {
                        let cavity = sweep.cavity[row];
                        block.likelihood.tilted_slopes(own, at, cavity, &mut out);
                        if let Some(held) = &held {
                            held.own_slopes(&rows, row, (&sweep, None), &mut out);
                        }
                    }
                    (Term::Chosen(_), Method::Variational) => {
                        let belief = sweep.belief(row);
                        block.likelihood.expected_slopes(own, at, belief, &mut out);
                    }
                    (Term::Chosen(site), Method::Laplace) => {
                        let mean = sweep.mean[row];
                        block
                            .likelihood
                            .log_density_slopes(own, at, mean, &mut slopes);
                        let kw = laplace.as_ref().map_or(0.0, |(_, kw)| kw[row]);
                        let second_order = if site.precision == 0.0 { 0.0 } else { 0.5 };
                        for (o, [value, first, second]) in out.iter_mut().zip(&slopes) {
                            *o = value + second_order * sweep.variance[row] * second + kw * first;
                        }
                    }
                }
                add(&mut sum, &out);
            }
            sum
        };
        // Parts of fixed size, so that the sum does not depend on the threads.
        let starts: Vec<usize> = (0..block.likelihood.rows()).step_by(ROWS).collect();
        let parts: Vec<Vec<f64>> = starts.into_par_iter().map(part).collect();
        for part in parts {
            for (&index, slope) in block.own.iter().zip(part) {
                gradient[index] += slope;
            }
        }
    }

    let w = laplace.map(|(w, _)| w);
    let of_first = || {
        let mut part = vec![0.0; theta.len()];
        let alpha = sweep.alpha;
        let mut adjoint = sweep.resolvent.into_lower();
        map_lower(&mut adjoint, |i, j, r| {
            let mut g = alpha[i] * alpha[j] - r;
            if let Some(w) = &w {
                g += w[i] * alpha[j] + alpha[i] * w[j];
            }
            if let Some(through) = &through {
                g += through.covariance[(i, j)];
            }
            0.5 * g + held.as_ref().map_or(0.0, |held| held.adjoints[0][(i, j)])
        });
        problem.contract_covariance(theta, adjoint.as_ref(), &mut part);
        part
    };
    let of_second = || {
        let (prior, sweep, k) = (problem.second()?, second?, second_covariance?);
        let mut part = vec![0.0; theta.len()];
        let through = through_variances(&sweep, k.as_ref(), &excess[1]);
        let alpha = sweep.alpha;
        let mut adjoint = sweep.resolvent.into_lower();
        map_lower(&mut adjoint, |i, j, r| {
            let mut g = alpha[i] * alpha[j] - r;
            g += through
                .as_ref()
                .map_or(0.0, |through| through.covariance[(i, j)]);
            0.5 * g + held.as_ref().map_or(0.0, |held| held.adjoints[1][(i, j)])
        });
        prior.contract_covariance(theta, adjoint.as_ref(), &mut part);
        Some(part)
    };
    let (first, second) = rayon::join(of_first, of_second);
    add(&mut gradient, &first);
    if let Some(second) = second {
        add(&mut gradient, &second);
    }
    Ok(gradient)
}

/// `w = (I + W K)^-1 s`, with which `w' dK alpha = s' d mu`, `W = -(log p)''` at the mode.
///
/// Where a site is held `W` is negative, and not the precision `T = 0` of the sweep: with `Sigma`
/// the posterior covariance and `E` the held rows, `w = w_0 - (I + T K)^-1 E (1 / W + E' Sigma
/// E)^-1 E' K w_0`, `w_0` that of `T` (Woodbury).
fn response(
    rows: &Rows<'_>,
    k: MatRef<'_, f64>,
    sweep: &Sweep,
    terms: &[Term],
    s: &[f64],
) -> Vec<f64> {
    // `(I + T K)^-1 x = x - R K x`.
    let shrunk = |x: &[f64]| -> Vec<f64> {
        let known = sweep.resolvent.times(&matvec(k, x));
        x.iter().zip(&known).map(|(x, y)| x - y).collect()
    };
    let w = shrunk(s);
    let bend = |(row, term): (usize, &Term)| match term {
        Term::Chosen(site) if site.precision == 0.0 => {
            let (likelihood, own, at) = rows.at(row);
            let second = likelihood.log_density(own, at, sweep.mean[row]).second;
            (second > 0.0).then_some((row, -second))
        }
        _ => None,
    };
    let held: Vec<(usize, f64)> = terms.iter().enumerate().filter_map(bend).collect();
    if held.is_empty() {
        return w;
    }
    let columns: Vec<Vec<f64>> = held
        .iter()
        .map(|&(row, _)| {
            let mut unit = vec![0.0; s.len()];
            unit[row] = 1.0;
            shrunk(&unit)
        })
        .collect();
    let posterior: Vec<Vec<f64>> = columns.iter().map(|c| matvec(k, c)).collect();
    let n = held.len();
    let system = Mat::from_fn(n, n, |i, j| {
        let inverse = if i == j { held[i].1.recip() } else { 0.0 };
        inverse + posterior[j][held[i].0]
    });
    let kw = matvec(k, &w);
    let right = Mat::from_fn(n, 1, |i, _| kw[held[i].0]);
    // Not positive definite: 1 / W is below zero.
    let solved = system.partial_piv_lu().solve(&right);
    let mut w = w;
    for (j, column) in columns.iter().enumerate() {
        let part = solved[(j, 0)];
        w.iter_mut().zip(column).for_each(|(w, c)| *w -= part * c);
    }
    w
}

fn held(rows: &Rows<'_>, fit: &SiteFit) -> Result<Option<Held>, FitError> {
    if fit.method != Method::Ep || !fit.is_held() {
        return Ok(None);
    }
    let Some(excesses) = held::excesses(rows, fit) else {
        return Ok(None);
    };
    let mut covariances = vec![fit.covariance.as_ref()];
    covariances.extend(fit.second_covariance.as_ref().map(Mat::as_ref));
    let held = held::complete(&covariances, rows, fit, &excesses);
    held.map(Some).ok_or(FitError::NotConverged {
        method: "the gradient of expectation propagation",
        sweeps: fit.found.sweeps,
        residual: fit.found.residual,
    })
}

/// What the variational bound changes by through posterior variances at fixed sites.
struct Through {
    /// Added to twice `G`: the lower triangle of `(I - R K) diag(excess) (I - K R)`.
    covariance: Mat<f64>,
    /// Derivatives in the noise variance of Gaussian rows: `sum_i excess_i (K R)_ij^2 / 2`.
    noise: Vec<f64>,
}

/// None where no precision exceeds what was asked for.
fn through_variances(sweep: &Sweep, k: MatRef<'_, f64>, excess: &[f64]) -> Option<Through> {
    if excess.is_empty() {
        return None;
    }
    let posterior = sweep.resolvent.posterior(k);
    let noise = (0..excess.len()).map(|i| 0.5 * posterior.reach(i, excess));
    Some(Through {
        noise: noise.collect(),
        covariance: posterior.spread(excess),
    })
}

fn add(sum: &mut [f64], out: &[f64]) {
    sum.iter_mut().zip(out).for_each(|(s, o)| *s += o);
}
