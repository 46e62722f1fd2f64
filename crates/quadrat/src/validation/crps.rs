//! The continuous ranked probability score of predictive distributions of any kind.
//!
//! $$ \int (F(x) - 1_{x \ge y})^2 \, dx $$
//!
//! In closed form for normal distributions, as a sum over whole numbers for counts, answers and
//! ranks, else by Gauss-Legendre rules between quantiles.

use crate::posterior::marginal::Marginal;
use crate::quadrature::gauss_legendre;

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

/// The score of a row that reported `value`; none where it is no number.
pub(super) fn crps(marginal: &mut Marginal<'_>, value: f64, is_discrete: bool) -> Option<f64> {
    let terms = is_discrete.then(|| by_terms(marginal, value)).flatten();
    let score = terms.unwrap_or_else(|| by_panels(marginal, value));
    score.is_finite().then_some(score)
}

/// The sum over whole numbers; none where the row spreads over too many.
fn by_terms(marginal: &mut Marginal<'_>, value: f64) -> Option<f64> {
    let lower = marginal.quantile(LEFT_OUT).min(value);
    let upper = marginal.quantile(1.0 - LEFT_OUT).max(value);
    let span = upper - lower;
    // Not a number fails too.
    if span.is_nan() || span > TERMS {
        return None;
    }
    let term = |step: usize| {
        let at = lower + step as f64;
        (marginal.cdf(at) - f64::from(u8::from(at >= value))).powi(2)
    };
    Some((0..=span as usize).map(term).sum())
}

/// The integral by Gauss-Legendre rules between quantiles and the value.
fn by_panels(marginal: &mut Marginal<'_>, value: f64) -> f64 {
    let quantiles = BREAKS.map(|p| marginal.quantile(p)).into_iter();
    let quantiles = quantiles.filter(|q| q.is_finite());
    let mut breaks: Vec<f64> = quantiles.chain([value]).collect();
    breaks.sort_by(f64::total_cmp);
    let rule = gauss_legendre(NODES);
    let mut score = 0.0;
    for ends in breaks.windows(2) {
        let half = 0.5 * (ends[1] - ends[0]);
        for (node, weight) in rule.nodes.iter().zip(&rule.weights) {
            let at = ends[0] + half * (1.0 + node);
            let step = f64::from(u8::from(at >= value));
            score += half * weight * (marginal.cdf(at) - step).powi(2);
        }
    }
    score
}
