//! The continuous ranked probability score of predictive distributions of any kind.
//!
//! $$ \int (F(x) - 1_{x \ge y})^2 \, dx $$
//!
//! In closed form for normal distributions, as a sum over whole numbers for counts, answers and
//! ranks, else by Gauss-Legendre rules between quantiles.

use rayon::prelude::*;

use super::held_out::HeldOut;
use crate::model::Prediction;
use crate::quadrature::gauss_legendre;
use crate::score::crps_normal;

/// Whole numbers of a row that are added up, at most.
const TERMS: f64 = 1000.0;
/// What is left out of such a sum at either end.
const LEFT_OUT: f64 = 1e-7;
/// Between these quantiles, and beside the value, lie the panels of the integral. What is left out
/// at the ends is less than 5e-7 of their distance from the median.
const BREAKS: [f64; 11] = [
    0.0005, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 0.9995,
];
/// Nodes of a panel: a normal distribution is told to 1e-6 of its score.
const NODES: usize = 5;

/// The score of every row that reported a value.
pub(super) fn crps(prediction: &Prediction, reported: &[HeldOut]) -> Vec<Option<f64>> {
    if let Some(normal) = prediction.normal_moments() {
        let rows = reported.iter().zip(normal);
        let one = |(r, (mean, sd)): (&HeldOut, (f64, f64))| crps_normal(mean, sd, r.value()?);
        return rows.map(one).collect();
    }
    let values: Vec<f64> = reported.iter().map(|r| r.value().unwrap_or(0.0)).collect();
    let terms = prediction
        .is_discrete()
        .then(|| by_terms(prediction, &values));
    let scores = terms
        .flatten()
        .unwrap_or_else(|| by_panels(prediction, &values));
    let rows = reported.iter().zip(scores);
    let one = |(r, score): (&HeldOut, f64)| r.value().and(score.is_finite().then_some(score));
    rows.map(one).collect()
}

/// The sum over whole numbers; none where a row spreads over too many.
fn by_terms(prediction: &Prediction, values: &[f64]) -> Option<Vec<f64>> {
    let ends = |p: f64, pick: fn(f64, f64) -> f64| -> Vec<f64> {
        let quantiles = prediction.quantile(p).into_iter().zip(values);
        quantiles.map(|(q, &y)| pick(q, y)).collect()
    };
    let lower = ends(LEFT_OUT, f64::min);
    let upper = ends(1.0 - LEFT_OUT, f64::max);
    let spans = lower.iter().zip(&upper).map(|(a, b)| b - a);
    let span = spans.fold(0.0, f64::max);
    // Not a number fails too.
    if span.is_nan() || span > TERMS {
        return None;
    }
    let steps = (0..=span as usize).into_par_iter();
    let terms: Vec<Vec<f64>> = steps
        .map(|step| {
            let at: Vec<f64> = lower.iter().map(|a| a + step as f64).collect();
            let below = prediction.cdf(&at);
            let term = |row: usize| match at[row] <= upper[row] {
                true => (below[row] - f64::from(u8::from(at[row] >= values[row]))).powi(2),
                false => 0.0,
            };
            (0..values.len()).map(term).collect()
        })
        .collect();
    let one = |row: usize| terms.iter().map(|step| step[row]).sum();
    Some((0..values.len()).map(one).collect())
}

/// The integral by Gauss-Legendre rules between quantiles and the value.
fn by_panels(prediction: &Prediction, values: &[f64]) -> Vec<f64> {
    let quantiles: Vec<Vec<f64>> = BREAKS.iter().map(|&p| prediction.quantile(p)).collect();
    let breaks = |row: usize| -> Vec<f64> {
        let own = quantiles.iter().map(|q| q[row]).filter(|q| q.is_finite());
        let mut all: Vec<f64> = own.chain([values[row]]).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let breaks: Vec<Vec<f64>> = (0..values.len()).map(breaks).collect();
    let rule = gauss_legendre(NODES);
    let panels = breaks.iter().map(|all| all.len() - 1).max().unwrap_or(0);
    let nodes = (0..panels * NODES).into_par_iter();
    let parts: Vec<Vec<f64>> = nodes
        .map(|node| {
            let (panel, k) = (node / NODES, node % NODES);
            let half = |row: usize| match breaks[row].get(panel..panel + 2) {
                Some(ends) => (0.5 * (ends[1] - ends[0]), ends[0]),
                None => (0.0, values[row]),
            };
            let place = |row: usize| half(row).1 + half(row).0 * (1.0 + rule.nodes[k]);
            let at: Vec<f64> = (0..values.len()).map(place).collect();
            let below = prediction.cdf(&at);
            let part = |row: usize| {
                let step = f64::from(u8::from(at[row] >= values[row]));
                half(row).0 * rule.weights[k] * (below[row] - step).powi(2)
            };
            (0..values.len()).map(part).collect()
        })
        .collect();
    let one = |row: usize| parts.iter().map(|part| part[row]).sum();
    (0..values.len()).map(one).collect()
}
