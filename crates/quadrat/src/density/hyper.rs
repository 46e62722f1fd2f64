//! Hyperparameters on a grid: the average over what the rows leave open.

use libm::erf;

use crate::progress::Watched;

use super::basis::{CellBasis, CoefficientPrior, Kernel, Length};
use super::cells::Cells;
use super::counts::CellCounts;
use super::design::heaviest;
use super::error::DensityError;
use super::newton::{CellProblem, Mode};

/// The most settings that are looked at.
pub(super) const MOST_SETTINGS: usize = LENGTHS * SDS;
/// Lengthscales, in units of `v`: a tenth, and twice the one before.
const LENGTHS: usize = 9;
const SHORTEST: f64 = 0.1;
const LENGTH_RATIO: f64 = 2.0;
/// Standard deviations of the function.
const SDS: usize = 10;
const SMALLEST: f64 = 0.05;
const SD_RATIO: f64 = 1.95;
/// Median and standard deviation of the logarithm of the lengthscale.
pub(super) const MEDIAN_LENGTH: f64 = 1.5;
pub(super) const LENGTH_SPREAD: f64 = 1.0;
/// Scale of the half-Student-t prior with four degrees of freedom of the standard deviation.
pub(super) const SD_SCALE: f64 = 1.0;
/// Lengthscales below so many cells are noise of the grid.
pub(super) const LEAST_CELLS: f64 = 1.5;
/// Variance of the function, times the sum of the weights, that cosines may leave out: the evidence
/// changes by less than half of it.
const LEFT_OUT: f64 = 1e-3;
/// The search goes on beyond settings above this share.
const EXPLORE: f64 = 1e-4;

/// One setting of the hyperparameters.
#[derive(Debug, Clone)]
pub(super) struct Component {
    /// Lengthscale in `v`.
    pub length: f64,
    /// Standard deviation of the function.
    pub sd: f64,
    /// Posterior probability.
    pub weight: f64,
    /// Cosines.
    pub r: usize,
    /// Prior of the coefficients.
    pub prior: CoefficientPrior,
    /// The mode.
    pub mode: Mode,
}

/// The distribution function of Student's t with four degrees of freedom.
fn student4(x: f64) -> f64 {
    let s = 1.0 + x * x / 4.0;
    0.5 + 3.0 / 8.0 * x / s.sqrt() * (1.0 - x * x / (12.0 * s))
}

/// Prior mass of the cells between geometric midpoints, tails lumped into the ends.
fn masses(count: usize, first: f64, ratio: f64, cdf: impl Fn(f64) -> f64) -> Vec<f64> {
    let edge = |i: usize| match i {
        0 => 0.0,
        i if i == count => 1.0,
        i => cdf(first * ratio.powf(i as f64 - 0.5)),
    };
    (0..count).map(|i| edge(i + 1) - edge(i)).collect()
}

/// Prior masses of lengthscales and standard deviations.
fn prior_masses() -> (Vec<f64>, Vec<f64>) {
    let normal = |z: f64| 0.5 * (1.0 + erf(z / std::f64::consts::SQRT_2));
    let lengths = masses(LENGTHS, SHORTEST, LENGTH_RATIO, |l| {
        normal((l / MEDIAN_LENGTH).ln() / LENGTH_SPREAD)
    });
    let sds = masses(SDS, SMALLEST, SD_RATIO, |s| {
        2.0 * student4(s / SD_SCALE) - 1.0
    });
    (lengths, sds)
}

/// Modes at all settings that matter, from a first one outwards.
///
/// # Arguments
/// * `variance` - prior variance of the coefficients of polynomials
/// * `start` - of the first search
///
/// # Errors
/// Where no mode is found anywhere.
pub(super) fn explore(
    counts: &CellCounts,
    basis: &CellBasis,
    cells: &Cells,
    kernel: Kernel,
    variance: f64,
    (start, tolerance): (&[f64], f64),
    watched: &Watched<'_>,
) -> Result<Vec<Component>, DensityError> {
    let (of_lengths, of_sds) = prior_masses();
    let length = |i: usize| SHORTEST * LENGTH_RATIO.powi(i as i32);
    let usable = |i: usize| length(i) >= LEAST_CELLS * cells.step || i + 1 == LENGTHS;
    let mut lengths: Vec<Option<Length>> = (0..LENGTHS).map(|_| None).collect();
    let mut found: Vec<Option<(f64, Component)>> = (0..LENGTHS * SDS).map(|_| None).collect();
    let mut tried = [false; LENGTHS * SDS];
    let first = (0..LENGTHS)
        .find(|i| usable(*i) && *i >= 4)
        .unwrap_or(LENGTHS - 1);
    let mut queue = vec![(first, 4, None)];
    let (mut best, mut failure) = (f64::NEG_INFINITY, None);
    while !queue.is_empty() {
        // The most promising first, so that little is looked at that will be dropped.
        let value = |from: &Option<usize>| {
            from.and_then(|i| found[i].as_ref().map(|f| f.0))
                .unwrap_or(f64::INFINITY)
        };
        let next =
            (0..queue.len()).max_by(|a, b| value(&queue[*a].2).total_cmp(&value(&queue[*b].2)));
        let (i, j, from) = queue.swap_remove(next.unwrap_or(0));
        let here = i * SDS + j;
        if tried[here] || from.is_some() && value(&from) < best + EXPLORE.ln() {
            continue;
        }
        tried[here] = true;
        if lengths[i].is_none() {
            lengths[i] = Some(Length::new(kernel, cells, length(i), basis.r())?);
        }
        let Some(length) = &lengths[i] else { continue };
        let sd = SMALLEST * SD_RATIO.powi(j as i32);
        let r = length.rank(sd, LEFT_OUT / counts.total);
        let view = basis.view(r);
        let prior = length.prior(view.q, r, variance, sd)?;
        let problem = CellProblem {
            counts,
            basis: view,
            log_measure: &cells.log_measure,
        };
        let start = from
            .and_then(|k| found[k].as_ref())
            .map_or(start, |f| &f.1.mode.theta);
        match problem.mode(&prior, start, tolerance) {
            Ok(mode) => {
                let log_weight = mode.log_evidence + (of_lengths[i] * of_sds[j]).ln();
                best = best.max(log_weight);
                let component = Component {
                    length: length.length,
                    sd,
                    weight: 0.0,
                    r,
                    prior,
                    mode,
                };
                found[here] = Some((log_weight, component));
            }
            Err(error) => failure = Some(error),
        }
        watched.one();
        let from = found[here].as_ref().map(|_| here).or(from);
        let sides = [
            (i.wrapping_sub(1), j),
            (i + 1, j),
            (i, j.wrapping_sub(1)),
            (i, j + 1),
        ];
        for (i, j) in sides {
            if i < LENGTHS && j < SDS && usable(i) && !tried[i * SDS + j] {
                queue.push((i, j, from));
            }
        }
    }
    let found = found.into_iter().flatten();
    let weighted = found.map(|(log_weight, c)| ((log_weight - best).exp(), c));
    let all = heaviest(weighted.collect());
    if all.is_empty() {
        return Err(failure.unwrap_or_else(|| DensityError::NoMode {
            reason: "no setting was tried".to_owned(),
        }));
    }
    let all = all.into_iter();
    Ok(all.map(|(weight, c)| Component { weight, ..c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_sum_to_one() {
        let (lengths, sds) = prior_masses();
        // Masses were divided by their sum: rounding of a second sum.
        assert!((lengths.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((sds.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(lengths.iter().chain(&sds).all(|m| *m > 0.0));
    }

    #[test]
    fn student_with_four_degrees_of_freedom() {
        // scipy.stats.t.cdf([0, 1, 2.776445105], 4).
        for (x, want) in [
            (0.0, 0.5),
            (1.0, 0.813_049_516_849_970_6),
            (2.776_445_105_197_793_2, 0.975),
        ] {
            assert!((student4(x) - want).abs() < 1e-14, "{x}");
        }
    }
}
