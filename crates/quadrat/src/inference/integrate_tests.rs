#![allow(clippy::unwrap_used, clippy::panic)]

use super::super::exact::{Exact, condition};
use super::super::learn::{LearnOptions, maximise};
use super::super::testing::SePoints;
use super::*;
use crate::linalg::dot;
use crate::parameter::PriorDensity;

/// Weighted values of all parameters.
type Sample = Vec<(Vec<f64>, f64)>;

/// Dense midpoint quadrature in the free coordinates: a coarse grid over 11 on either side of `centre`
/// finds where the mass is, a fine one integrates there.
fn brute_force(evidence: &dyn Evidence, centre: &[f64], per_axis: usize) -> Sample {
    let space = FreeSpace::new(evidence).unwrap();
    let middle = space.coordinates_of(centre);
    let ranges: Vec<(f64, f64)> = space
        .bounds()
        .iter()
        .zip(&middle)
        .map(|((lower, upper), m)| ((m - 11.0).max(*lower), (m + 11.0).min(*upper)))
        .collect();
    let coarse = grid(&space, &ranges, per_axis.min(400));
    let cell: Vec<f64> = ranges
        .iter()
        .map(|r| (r.1 - r.0) / per_axis.min(400) as f64)
        .collect();
    let ranges: Vec<(f64, f64)> = (0..middle.len())
        .map(|i| {
            let inside = coarse.iter().filter(|p| p.1 > 1e-7).map(|p| p.0[i]);
            let low = inside.clone().fold(f64::INFINITY, f64::min) - cell[i];
            let high = inside.fold(f64::NEG_INFINITY, f64::max) + cell[i];
            (low.max(ranges[i].0), high.min(ranges[i].1))
        })
        .collect();
    grid(&space, &ranges, per_axis)
        .into_iter()
        .filter(|p| p.1 > 1e-12)
        .map(|(z, w)| (space.theta(&z), w))
        .collect()
}

fn grid(space: &FreeSpace<'_>, ranges: &[(f64, f64)], per_axis: usize) -> Sample {
    let points: Vec<(Vec<f64>, f64)> = (0..per_axis.pow(ranges.len() as u32))
        .into_par_iter()
        .map(|index| {
            let mut rest = index;
            let z: Vec<f64> = ranges
                .iter()
                .map(|(low, high)| {
                    let share = (rest % per_axis) as f64 + 0.5;
                    rest /= per_axis;
                    low + (high - low) * share / per_axis as f64
                })
                .collect();
            let value = log_posterior(space, &z).unwrap().0;
            (z, value)
        })
        .collect();
    let peak = points.iter().fold(f64::NEG_INFINITY, |a, p| a.max(p.1));
    let total: f64 = points.iter().map(|p| (p.1 - peak).exp()).sum();
    points
        .into_iter()
        .map(|(z, v)| (z, (v - peak).exp() / total))
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
fn compare(problem: &SePoints, per_axis: usize, max_nodes: usize) -> (Errors, Integration) {
    let evidence = Exact(problem);
    let optimum = maximise(&evidence, &LearnOptions::default()).unwrap();
    let got = integrate(
        &evidence,
        &optimum,
        &IntegrateOptions {
            max_nodes,
            ..IntegrateOptions::default()
        },
    )
    .unwrap();
    let nodes: Sample = got
        .nodes
        .iter()
        .map(|n| (n.theta.clone(), n.weight))
        .collect();
    let want = brute_force(&evidence, &optimum.theta, per_axis);
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
                for most in if free == 3 {
                    vec![400, 1000]
                } else {
                    vec![400]
                } {
                    let (e, got) = compare(&problem, [0, 2000, 300, 60][free], most);
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
}
