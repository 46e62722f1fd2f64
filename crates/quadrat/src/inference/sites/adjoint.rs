//! Gradients of the evidence in the hyperparameters, by adjoint.
//!
//! With the sites at their fixed point only the explicit dependence counts for EP and the variational
//! approximation: `G = (alpha alpha' - R) / 2`, and the rows' own hyperparameters enter through `log Z_r` or
//! `E_q log p`. Laplace's log determinant also moves with the mode: with `s_r = Sigma_rr (log p)''' / 2` and
//! `w = s - R K s`, it adds `(w alpha' + alpha w') / 2` to `G`, and `Sigma_rr d(log p)'' / 2 + (K w)_r d(log p)'` to
//! the derivative in an own hyperparameter.
//!
//! Where a likelihood is not log-concave and a site was raised to zero, the evidence is not stationary in that site and
//! these derivatives are off by what it lacks: about one part in 500 for Student's t with an outlier.
//!
//! # Source
//! Rasmussen and Williams 2006, section 5.5; the form with `w` follows from `d mu = (I + K T)^-1 dK alpha`.

use rayon::prelude::*;

use super::pair::Pair;
use super::rows::Rows;
use super::sweep::Term;
use super::{LatentGaussian, Method, SiteFit};
use crate::linalg::{map_lower, matvec};

/// Rows whose slopes one thread adds up.
const ROWS: usize = 32;

/// `d log Z / d theta`, natural units, every parameter.
pub(super) fn gradient(problem: &dyn LatentGaussian, theta: &[f64], fit: SiteFit) -> Vec<f64> {
    let rows = Rows::new(problem, theta);
    let SiteFit {
        method,
        sweep,
        covariance: k,
        terms,
        second,
        ..
    } = fit;
    let n = rows.count;
    let (alpha, scale) = (&sweep.alpha, &sweep.scale);
    let laplace = (method == Method::Laplace).then(|| {
        let s: Vec<f64> = (0..n)
            .map(|row| match terms[row] {
                Term::Gaussian { .. } => 0.0,
                Term::Chosen(_) => {
                    let (likelihood, own, at) = rows.at(row);
                    let jet = likelihood.log_density(own, at, sweep.mean[row]);
                    0.5 * sweep.variance[row] * jet.third
                }
            })
            .collect();
        let ks = matvec(k.as_ref(), &s);
        let scaled: Vec<f64> = ks.iter().zip(scale).map(|(x, d)| x * d).collect();
        let solved = sweep.factor.solve(&scaled);
        let w: Vec<f64> = (0..n).map(|i| s[i] - scale[i] * solved[i]).collect();
        let kw = matvec(k.as_ref(), &w);
        (w, kw)
    });

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
                    add(&mut sum, &out);
                    continue;
                }
                match (terms[row], method) {
                    (Term::Gaussian { value, variance }, _) => {
                        // The own hyperparameters of a Gaussian row enter through its noise variance:
                        // read d variance from the slope of (log p)'' = -1 / variance.
                        let likelihood = block.likelihood;
                        likelihood.log_density_slopes(own, at, value, &mut slopes);
                        let mut slope = 0.5 * (alpha[row].powi(2) - sweep.inverse_diagonal[row]);
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
                    }
                    (Term::Chosen(_), Method::Variational) => {
                        let belief = sweep.belief(row);
                        block.likelihood.expected_slopes(own, at, belief, &mut out);
                    }
                    (Term::Chosen(_), Method::Laplace) => {
                        let mean = sweep.mean[row];
                        block
                            .likelihood
                            .log_density_slopes(own, at, mean, &mut slopes);
                        let kw = laplace.as_ref().map_or(0.0, |(_, kw)| kw[row]);
                        for (o, [value, first, second]) in out.iter_mut().zip(&slopes) {
                            *o = value + 0.5 * sweep.variance[row] * second + kw * first;
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
    let scale = sweep.scale;
    let alpha = sweep.alpha;
    let mut adjoint = sweep.factor.into_inverse_lower();
    map_lower(&mut adjoint, |i, j, inverse| {
        let mut g = alpha[i] * alpha[j] - scale[i] * inverse * scale[j];
        if let Some(w) = &w {
            g += w[i] * alpha[j] + alpha[i] * w[j];
        }
        0.5 * g
    });
    problem.contract_covariance(theta, adjoint.as_ref(), &mut gradient);
    if let (Some(prior), Some(sweep)) = (problem.second(), second) {
        let (alpha, scale) = (sweep.alpha, sweep.scale);
        let mut adjoint = sweep.factor.into_inverse_lower();
        map_lower(&mut adjoint, |i, j, inverse| {
            0.5 * (alpha[i] * alpha[j] - scale[i] * inverse * scale[j])
        });
        prior.contract_covariance(theta, adjoint.as_ref(), &mut gradient);
    }
    gradient
}

fn add(sum: &mut [f64], out: &[f64]) {
    sum.iter_mut().zip(out).for_each(|(s, o)| *s += o);
}
