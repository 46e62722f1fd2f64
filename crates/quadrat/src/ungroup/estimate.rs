//! A population that was ungrouped.

use rand_distr::{Binomial, Distribution, Gamma};

use super::axis::Axis;
use super::bands::Bands;
use super::cells::Cells;
use super::error::{UngroupError, Warning};
use super::fit::{Sample, random};
use super::tail::{Fall, Tail};
use super::weighted::{self, DrawSummary};
use crate::inference::pooled::Pools;
use crate::linalg::Mat;

/// Below this share of draws that count, or number of settings, a warning says so.
const FEW: (f64, f64) = (0.1, 4.0);

/// The number of the stream of other samples.
const SAMPLES: u64 = 1 << 33;

/// A population in the steps that were asked for, with intervals; every draw adds up to the bands.
#[derive(Debug, Clone)]
pub struct Estimate {
    pub(super) axis: Axis,
    pub(super) cells: Cells,
    /// How many are in every cell, by draws, shape `[cells, draws]`.
    pub(super) masses: Mat<f64>,
    /// Weights of the draws, which sum to one.
    pub(super) weights: Vec<f64>,
    pub(super) level: f64,
    /// What the bands of another sample would be, over those of this one, shape `[bands, draws]`;
    /// none where all were counted.
    pub(super) resampled: Option<Mat<f64>>,
    fall: Option<Fall>,
    told: Vec<DrawSummary>,
    warnings: Vec<Warning>,
    effective: f64,
    settings: f64,
}

/// What a population's draws become counts by.
pub(super) struct Counting<'a> {
    pub bands: &'a Bands,
    pub cells: &'a Cells,
    pub pools: &'a Pools,
    /// Counts of the bands, in their order.
    pub counts: &'a [f64],
    /// How many were asked per one that is counted; none where shares are told, not counts.
    pub sampled: Option<f64>,
    pub level: f64,
    pub seed: u64,
    pub stream: u64,
}

impl Counting<'_> {
    /// # Errors
    /// Where a distribution of counts does not exist, which is no fault of the bands.
    pub fn estimate(
        &self,
        sample: Sample,
        mut warnings: Vec<Warning>,
    ) -> Result<Estimate, UngroupError> {
        let draws = sample.values.ncols();
        let mut masses = Mat::zeros(self.cells.len(), draws);
        let mut random = random(self.seed, self.stream, 0);
        for draw in 0..draws {
            let shares = self.pools.means(sample.values.col_as_slice(draw));
            let column = masses.col_as_slice_mut(draw);
            for (band, share) in shares.iter().enumerate() {
                let own = &mut column[self.cells.band[band]..self.cells.band[band + 1]];
                own.copy_from_slice(&share.slopes);
                let total = self.counts[band];
                match self.sampled {
                    Some(sampled) if own.len() > 1 => spread(own, total, sampled, &mut random)?,
                    _ => own.iter_mut().for_each(|p| *p *= total),
                }
            }
        }
        let told = (0..self.cells.step.len())
            .map(|step| {
                let values = self.of_step(step, &masses);
                weighted::told(&values, &sample.weights, self.level)
            })
            .collect();
        let lost = (sample.lost, draws + sample.lost);
        warnings.extend(poor(sample.effective, sample.settings, sample.tried, lost));
        Ok(Estimate {
            axis: self.bands.axis,
            cells: self.cells.clone(),
            masses,
            weights: sample.weights,
            level: self.level,
            resampled: self.resampled(draws)?,
            fall: self.bands.fall,
            told,
            warnings,
            effective: sample.effective,
            settings: sample.settings,
        })
    }

    /// Shares of the bands in the whole population where a part of it was asked: Dirichlet, with
    /// the variance of a sample without replacement of that share.
    fn resampled(&self, draws: usize) -> Result<Option<Mat<f64>>, UngroupError> {
        let Some(sampled) = self.sampled.filter(|sampled| *sampled < 1.0) else {
            return Ok(None);
        };
        let mut random = random(self.seed, self.stream, SAMPLES);
        let total: f64 = self.counts.iter().sum();
        let mut out = Mat::zeros(self.counts.len(), draws);
        for draw in 0..draws {
            let column = out.col_as_slice_mut(draw);
            let mut sum = 0.0;
            for (share, count) in column.iter_mut().zip(self.counts) {
                if *count > 0.0 {
                    let asked = count * sampled / (1.0 - sampled);
                    let gamma = Gamma::new(asked, 1.0).map_err(|error| UngroupError::NoCurve {
                        reason: error.to_string(),
                    })?;
                    *share = gamma.sample(&mut random);
                    sum += *share;
                }
            }
            let counts = column.iter_mut().zip(self.counts);
            counts
                .filter(|(_, count)| **count > 0.0)
                .for_each(|(share, count)| *share *= total / sum / count);
        }
        Ok(Some(out))
    }

    /// How many are in a step, by draws. Bands that lie in it as a whole have their totals, to the
    /// last digit.
    fn of_step(&self, step: usize, masses: &Mat<f64>) -> Vec<f64> {
        let cells = self.cells.step[step].clone();
        let (mut whole, mut parts) = (0.0, Vec::new());
        for (band, ends) in self.cells.band.windows(2).enumerate() {
            if ends[0] >= cells.start && ends[1] <= cells.end {
                whole += self.counts[band];
            } else {
                let (from, to) = (ends[0].max(cells.start), ends[1].min(cells.end));
                parts.extend(from..to);
            }
        }
        let one = |draw: usize| whole + parts.iter().map(|&i| masses[(i, draw)]).sum::<f64>();
        (0..masses.ncols()).map(one).collect()
    }
}

/// Warnings of draws that say little.
///
/// # Arguments
/// * `effective` - the share of draws that count
/// * `settings`, `tried` - how many settings count, of how many
/// * `lost`, `draws` - how many draws could not be made, of how many
pub(super) fn poor(
    effective: f64,
    settings: f64,
    tried: usize,
    (lost, draws): (usize, usize),
) -> Vec<Warning> {
    let mut out = Vec::new();
    if effective < FEW.0 {
        out.push(Warning::FewDraws { effective });
    }
    if settings < FEW.1 && tried > 1 {
        out.push(Warning::FewSettings {
            effective: settings,
            settings: tried,
        });
    }
    if lost * 100 > draws {
        out.push(Warning::Lost { count: lost, draws });
    }
    out
}

/// Turns shares into how many of a total there are: those that were asked are multinomial.
fn spread(
    shares: &mut [f64],
    total: f64,
    sampled: f64,
    random: &mut impl rand::Rng,
) -> Result<(), UngroupError> {
    if total <= 0.0 {
        shares.fill(0.0);
        return Ok(());
    }
    let asked = (total * sampled).round().clamp(1.0, 1e15);
    let each = total / asked;
    let (mut left, mut rest) = (asked as u64, 1.0_f64);
    let last = shares.len() - 1;
    for (i, share) in shares.iter_mut().enumerate() {
        let p = (*share / rest).clamp(0.0, 1.0);
        rest = (rest - *share).max(f64::MIN_POSITIVE);
        let own = match i == last {
            true => left,
            false => Binomial::new(left, p)
                .map_err(|error| UngroupError::NoCurve {
                    reason: error.to_string(),
                })?
                .sample(random),
        };
        left -= own;
        *share = each * own as f64;
    }
    Ok(())
}

impl Estimate {
    /// Lower and upper edge of every step, ascending; the last upper edge is infinite where an open
    /// band is told as one.
    #[must_use]
    pub fn edges(&self) -> &[(f64, f64)] {
        &self.cells.told
    }

    fn column(&self, of: impl Fn(&DrawSummary) -> f64) -> Vec<f64> {
        self.told.iter().map(of).collect()
    }

    /// Means of the steps.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        self.column(|told| told.mean)
    }

    /// Standard deviations.
    #[must_use]
    pub fn sd(&self) -> Vec<f64> {
        self.column(|told| told.sd)
    }

    /// Lower ends of the intervals.
    #[must_use]
    pub fn lower(&self) -> Vec<f64> {
        self.column(|told| told.lower)
    }

    /// Medians.
    #[must_use]
    pub fn median(&self) -> Vec<f64> {
        self.column(|told| told.median)
    }

    /// Upper ends of the intervals.
    #[must_use]
    pub fn upper(&self) -> Vec<f64> {
        self.column(|told| told.upper)
    }

    /// Probability of the intervals.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Intervals of the steps of another probability, from the same draws: lower ends, upper ends.
    #[must_use]
    pub fn intervals(&self, level: f64) -> (Vec<f64>, Vec<f64>) {
        let one = |cells: &std::ops::Range<usize>| {
            let draws = 0..self.masses.ncols();
            let sum = |d: usize| self.masses.col_as_slice(d)[cells.clone()].iter().sum();
            let values: Vec<f64> = draws.map(sum).collect();
            let told = weighted::told(&values, &self.weights, level);
            (told.lower, told.upper)
        };
        self.cells.step.iter().map(one).unzip()
    }

    /// Whole populations drawn from the posterior, of equal weight, shape `[steps, count]`: each
    /// adds up to the bands.
    #[must_use]
    pub fn draws(&self, count: usize) -> Mat<f64> {
        let chosen = self.chosen(count);
        Mat::from_fn(self.told.len(), count, |step, k| {
            let cells = self.cells.step[step].clone();
            self.masses.col_as_slice(chosen[k])[cells].iter().sum()
        })
    }

    /// Draws by their weights: see [`weighted::chosen`].
    pub(super) fn chosen(&self, count: usize) -> Vec<usize> {
        weighted::chosen(&self.weights, count)
    }

    /// How the curve falls off in the last band, where that begins, and where it ends; none where
    /// nothing was said of it.
    #[must_use]
    pub fn tail(&self) -> Option<(Tail, f64, f64)> {
        let end = self.cells.edges[self.cells.len()];
        self.fall.map(|fall| (fall.tail, fall.edge, end))
    }

    /// What should be known before the result is trusted.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How many draws of equal weight say as much as the weighted ones, over how many there are.
    #[must_use]
    pub fn effective(&self) -> f64 {
        self.effective
    }

    /// The same of settings of the hyperparameters, in numbers.
    #[must_use]
    pub fn effective_settings(&self) -> f64 {
        self.settings
    }
}
