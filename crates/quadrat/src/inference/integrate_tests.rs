#![allow(clippy::unwrap_used, clippy::panic)]

use super::super::exact::{Exact, condition};
use super::super::learn::{LearnOptions, maximise};
use super::super::testing::SePoints;
use super::*;
use crate::linalg::dot;
use crate::parameter::{Parameter, PriorDensity};

/// Weighted values of all parameters.
type Sample = Vec<(Vec<f64>, f64)>;

/// Every point of a dense grid over `mode +- reach` in the free coordinates, within bounds.
fn brute_force(
    evidence: &dyn Evidence,
    centre: &[f64],
    reach: (f64, f64),
    per_axis: usize,
) -> Sample {
    let space = FreeSpace::new(evidence).unwrap();
    let d = space.size();
    let middle = space.coordinates_of(centre);
    let bounds = space.bounds();
    // Midpoints of cells that end at the bounds.
    let axes: Vec<Vec<f64>> = (0..d)
        .map(|i| {
            let low = (middle[i] - reach.0).max(bounds[i].0);
            let high = (middle[i] + reach.1).min(bounds[i].1);
            let h = (high - low) / per_axis as f64;
            (0..per_axis).map(|k| low + h * (k as f64 + 0.5)).collect()
        })
        .collect();
    let points: Vec<(Vec<f64>, f64)> = (0..per_axis.pow(d as u32))
        .into_par_iter()
        .map(|index| {
            let mut rest = index;
            let z: Vec<f64> = axes
                .iter()
                .map(|axis| {
                    let value = axis[rest % per_axis];
                    rest /= per_axis;
                    value
                })
                .collect();
            let value = log_posterior(&space, &z).unwrap().0;
            (space.theta(&z), value)
        })
        .collect();
    let peak = points.iter().fold(f64::NEG_INFINITY, |a, p| a.max(p.1));
    let total: f64 = points.iter().map(|p| (p.1 - peak).exp()).sum();
    points
        .into_iter()
        .map(|(t, v)| (t, (v - peak).exp() / total))
        .filter(|p| p.1 > 1e-12)
        .collect()
}

fn moments(sample: &Sample, i: usize) -> (f64, f64) {
    let mean: f64 = sample.iter().map(|(t, w)| w * t[i].ln()).sum();
    let variance: f64 = sample
        .iter()
        .map(|(t, w)| w * (t[i].ln() - mean).powi(2))
        .sum();
    (mean, variance.sqrt())
}

fn probability_below(sample: &Sample, i: usize, value: f64) -> f64 {
    sample
        .iter()
        .filter(|(t, _)| t[i] < value)
        .map(|(_, w)| w)
        .sum()
}

/// Predictive probability that `f(at) <= value`, mixed over the sample.
fn predictive_cdf(problem: &SePoints, sample: &Sample, at: f64, value: f64) -> f64 {
    sample
        .iter()
        .map(|(theta, weight)| {
            let c = condition(problem, theta).unwrap();
            let cross: Vec<f64> = problem
                .x
                .iter()
                .map(|x| problem.kernel(theta, *x, at))
                .collect();
            let variance = theta[0] - dot(&cross, &c.factor.solve(&cross));
            let z = (value - dot(&cross, &c.alpha)) / variance.max(1e-12).sqrt();
            weight * 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
        })
        .sum()
}

struct Errors {
    mean: f64,
    sd: f64,
    tails: f64,
    predictive: f64,
}

/// The largest errors of an integration against dense quadrature: mean in sd, sd relative, tail
/// probabilities of the 95 % interval, predictive probabilities.
fn compare(problem: &SePoints, reach: (f64, f64), per_axis: usize) -> (Errors, Integration) {
    let evidence = Exact(problem);
    let optimum = maximise(&evidence, &LearnOptions::default()).unwrap();
    let got = integrate(&evidence, &optimum, &IntegrateOptions::default()).unwrap();
    let nodes: Sample = got
        .nodes
        .iter()
        .map(|n| (n.theta.clone(), n.weight))
        .collect();
    let want = brute_force(&evidence, &optimum.theta, reach, per_axis);
    let mut errors = Errors {
        mean: 0.0,
        sd: 0.0,
        tails: 0.0,
        predictive: 0.0,
    };
    for interval in got.intervals(&problem.parameters, 0.95) {
        let i = interval.parameter;
        let ((m, s), (wm, ws)) = (moments(&nodes, i), moments(&want, i));
        errors.mean = errors.mean.max((m - wm).abs() / ws);
        errors.sd = errors.sd.max((s / ws - 1.0).abs());
        for (end, tail) in [(interval.lower, 0.025), (interval.upper, 0.975)] {
            errors.tails = errors
                .tails
                .max((probability_below(&want, i, end) - tail).abs());
        }
    }
    let heavy: Sample = want.into_iter().filter(|p| p.1 > 1e-7).collect();
    let total: f64 = heavy.iter().map(|p| p.1).sum();
    let heavy: Sample = heavy.into_iter().map(|(t, w)| (t, w / total)).collect();
    for at in [1.1, 7.5] {
        for value in [-2.0, 0.0, 1.5] {
            let difference = predictive_cdf(problem, &nodes, at, value)
                - predictive_cdf(problem, &heavy, at, value);
            errors.predictive = errors.predictive.max(difference.abs());
        }
    }
    (errors, got)
}

fn with_free(mut problem: SePoints, free: usize) -> SePoints {
    // lengthscale first, then variance, then noise.
    for (rank, i) in [1, 0, 2].into_iter().enumerate() {
        problem.parameters[i].fixed = rank >= free;
    }
    problem
}

#[test]
fn print_errors() {
    let normal = PriorDensity::LogNormal {
        mu: 0.0,
        sigma: 1.0,
    };
    let wide = PriorDensity::LogNormal {
        mu: 0.0,
        sigma: 2.0,
    };
    let cauchy = PriorDensity::HalfStudentT {
        dof: 1.0,
        scale: 1.0,
    };
    for (name, prior) in [("normal", normal), ("wide", wide), ("cauchy", cauchy)] {
        for rows in [4, 8, 20] {
            for free in 1..=3 {
                let problem = with_free(SePoints::wave(rows, prior), free);
                let reach = if name == "normal" {
                    (5.5, 5.5)
                } else {
                    (9.0, 9.0)
                };
                let (e, got) = compare(&problem, reach, [0, 2000, 200, 50][free]);
                println!(
                    "{name} n={rows} free={free}: mean {:.4} sd {:.4} tails {:.4} predictive {:.4} nodes {} evaluations {} capped {}",
                    e.mean,
                    e.sd,
                    e.tails,
                    e.predictive,
                    got.nodes.len(),
                    got.evaluations,
                    got.capped
                );
            }
        }
    }
}
