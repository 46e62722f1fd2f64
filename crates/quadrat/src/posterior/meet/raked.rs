//! Positive values behind a link: every draw is scaled to the totals.

use super::given::{GroupTotals, digits};
use super::known::{SETTLED, agrees, known};
use super::met::{Met, MetMarginals};
use super::scaling::Scaling;
use crate::error::FitError;
use crate::linalg::Mat;
use crate::posterior::mixture::Posterior;
use crate::posterior::prediction::Prediction;
use crate::support::Functionals;

/// Draws behind moments and quantiles at least: ends of 95 % intervals are known to .04 of an sd.
pub(super) const DRAWS: usize = 4000;

/// Rows that meet the totals.
///
/// # Arguments
/// * `at` - of the kernel's columns, with their prediction without the totals
pub(super) fn met(
    posterior: &Posterior,
    (at, prediction): (&Functionals, &Prediction),
    totals: &GroupTotals,
    (draws, seed): (usize, u64),
) -> Result<Met, FitError> {
    let known = known(posterior, at, prediction);
    agrees(&known, totals)?;
    let count = draws.max(DRAWS);
    let mut values = posterior.sample_responses(at, count, seed)?;
    let before = before(&values, totals);
    for (group, (mean, sd)) in totals.groups.iter().zip(&before) {
        let is_other = (group.total / mean - 1.0).abs() > SETTLED;
        if *sd <= SETTLED * mean && is_other {
            let says = digits(*mean);
            return Err(group.refused(format!("rows that are known exactly determine it: {says}")));
        }
    }
    let scaling = Scaling::new(totals, &known);
    for draw in 0..count {
        scaling.scale(values.col_as_slice_mut(draw))?;
    }
    let rows = at.len();
    let mut ascending = Mat::from_fn(count, rows, |draw, row| values[(row, draw)]);
    let (mut mean, mut sd) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in 0..rows {
        let own = ascending.col_as_slice_mut(row);
        let (centre, spread) = moments(own);
        mean.push(centre);
        sd.push(spread);
        own.sort_unstable_by(f64::total_cmp);
    }
    Ok(Met {
        mean,
        sd,
        before,
        marginals: MetMarginals::Drawn(ascending),
        draws: Mat::from_fn(rows, draws, |row, draw| values[(row, draw)]),
    })
}

/// Mean and sd of the sum of every group in the draws.
fn before(values: &Mat<f64>, totals: &GroupTotals) -> Vec<(f64, f64)> {
    let one = |group: &super::given::TotalGroup| {
        let sums = (0..values.ncols()).map(|draw| group.sum(values.col_as_slice(draw)));
        moments(&sums.collect::<Vec<f64>>())
    };
    totals.groups.iter().map(one).collect()
}

/// Mean and sd of draws, exactly 0 where all are the same.
fn moments(draws: &[f64]) -> (f64, f64) {
    let count = draws.len() as f64;
    let first = draws.first().copied().unwrap_or(0.0);
    if draws.iter().all(|draw| *draw == first) {
        return (first, 0.0);
    }
    let mean = draws.iter().sum::<f64>() / count;
    let square: f64 = draws.iter().map(|draw| (draw - mean).powi(2)).sum();
    (mean, (square / (count - 1.0)).sqrt())
}
