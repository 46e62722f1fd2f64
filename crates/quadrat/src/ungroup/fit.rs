//! Draws of the curve for many populations in the same bands.
//!
//! Hyperparameters are averaged over by settings of the prior: the covariance of the cells depends
//! on the setting alone, so that it is made and factorised once for all populations. Every
//! population then takes each setting as often as its evidence there says (Laplace's method), and a
//! draw that meets its totals carries the weight that makes up for what Laplace's method missed.
//! Where bands may be apart (`apart.rs`) every way in which they are takes all settings.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::apart::{self, Way};
use super::cells::Cells;
use super::error::UngroupError;
use super::prior::{self, Setting};
use super::settings::{powered, taken};
use crate::inference::pooled::{ConditionalDraw, ConditionalMode, NodePrior, Pools, evened};
use crate::linalg::Mat;
use crate::special::scalar::log_sum_exp;

/// What all populations share.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// The cells of every band, by their widths on the axis.
    pub pools: Pools,
    /// Middles of the cells on the axis.
    pub places: Vec<f64>,
    /// Mean and sd of the level.
    pub level: (f64, f64),
    /// Ways in which bands are apart, each with the terms of its prior: one at least.
    pub ways: Vec<Way>,
    pub settings: Vec<Setting>,
    /// Where the search for modes begins.
    pub central: Setting,
    /// How many draws.
    pub draws: usize,
    pub seed: u64,
}

/// What is known of one population: log averages of its bands, and its stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct KnownPopulation {
    pub logs: Vec<f64>,
    pub stream: u64,
}

/// Weighted draws of one population.
#[derive(Debug)]
pub(super) struct Sample {
    /// The log density of every cell, shape `[cells, draws]`.
    pub values: Mat<f64>,
    /// Weights, which sum to one.
    pub weights: Vec<f64>,
    /// How many draws of equal weight say as much, over how many there are.
    pub effective: f64,
    /// The same of settings, in numbers, and how many were tried.
    pub settings: f64,
    pub tried: usize,
    /// Draws that could not be moved to their totals.
    pub lost: usize,
    /// How many runs of bands are apart in most draws.
    pub apart: usize,
}

/// Draws of one population at one setting.
type Block = (usize, Vec<Option<ConditionalDraw>>);

impl Task {
    /// Draws of every population; why not, where there are none.
    pub fn run(&self, targets: &[KnownPopulation]) -> Vec<Result<Sample, UngroupError>> {
        let starts = self.starts(targets);
        let evidence = self.evidence(targets, &starts);
        // Populations that few settings explain have settings of their own (`refine.rs`).
        let own: Vec<Option<Result<Sample, UngroupError>>> = (0..targets.len())
            .into_par_iter()
            .map(|p| {
                let starts: Vec<Vec<f64>> = starts.iter().map(|way| way[p].clone()).collect();
                let first: Vec<f64> = evidence.iter().map(|at| at[p]).collect();
                self.refined(&targets[p], starts, &first)
            })
            .collect();
        let is_shared = |p: &usize| own[*p].is_none();
        let shared: Vec<usize> = (0..targets.len()).filter(is_shared).collect();
        let of_shared = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let each = all.iter();
            each.map(|at| shared.iter().map(|&p| at[p]).collect())
                .collect()
        };
        let evidence = of_shared(&evidence);
        let starts: Vec<Vec<Vec<f64>>> = starts
            .into_iter()
            .map(|way| shared.iter().map(|&p| way[p].clone()).collect())
            .collect();
        let targets: Vec<KnownPopulation> = shared.iter().map(|&p| targets[p].clone()).collect();
        let mut shared = self.sampled(&targets, &starts, &evidence).into_iter();
        let each = own.into_iter();
        each.map(|own| own.or_else(|| shared.next()))
            .map(|found| found.unwrap_or(Err(UngroupError::Nothing)))
            .collect()
    }

    /// The same at the settings of the task, by their evidence.
    pub(super) fn sampled(
        &self,
        targets: &[KnownPopulation],
        starts: &[Vec<Vec<f64>>],
        evidence: &[Vec<f64>],
    ) -> Vec<Result<Sample, UngroupError>> {
        let wanted: Vec<Vec<usize>> = (0..targets.len())
            .map(|p| allocated(evidence, p, self.draws.div_ceil(2)))
            .collect();
        let used: Vec<usize> = (0..evidence.len())
            .filter(|&s| wanted.iter().any(|w| w[s] > 0))
            .collect();
        let blocks: Vec<Vec<Block>> = used
            .par_iter()
            .map(|&s| self.blocks(s, targets, starts, &wanted))
            .collect();
        let mut of: Vec<Vec<Vec<Option<ConditionalDraw>>>> =
            targets.iter().map(|_| Vec::new()).collect();
        for (p, drawn) in blocks.into_iter().flatten() {
            of[p].push(drawn);
        }
        let each = of.into_iter().zip(wanted);
        each.map(|(drawn, wanted)| self.gathered(drawn, &wanted))
            .collect()
    }

    /// The same where runs of bands may be apart.
    pub fn apart(&self, runs: &[Range<usize>], cells: &Cells) -> Self {
        Self {
            ways: apart::ways(&self.ways[0].terms, runs, &cells.band),
            ..self.clone()
        }
    }

    fn prior(&self, way: usize, setting: &Setting) -> NodePrior {
        prior::prior(setting, &self.places, self.level, &self.ways[way].terms)
    }

    /// A way, and a setting: all settings of the first way come first.
    fn at(&self, s: usize) -> (usize, &Setting) {
        let settings = self.settings.len();
        (s / settings, &self.settings[s % settings])
    }

    /// Modes in the middle of the prior, by ways and populations; the prior's mean where there is
    /// none.
    pub(super) fn starts(&self, targets: &[KnownPopulation]) -> Vec<Vec<Vec<f64>>> {
        let at = |way: usize| {
            let prior = self.prior(way, &self.central);
            let one = |target: &KnownPopulation| {
                let found = ConditionalMode::find(&self.pools, &target.logs, &prior, &prior.mean);
                match found {
                    Ok(Some(known)) => known.values,
                    _ => prior.mean.clone(),
                }
            };
            targets.par_iter().map(one).collect()
        };
        (0..self.ways.len()).map(at).collect()
    }

    /// Log evidence times prior odds, by settings of all ways and populations; minus infinity where
    /// no mode is found.
    pub(super) fn evidence(
        &self,
        targets: &[KnownPopulation],
        starts: &[Vec<Vec<f64>>],
    ) -> Vec<Vec<f64>> {
        let at = |s: usize| {
            let (way, setting) = self.at(s);
            let prior = self.prior(way, setting);
            let one = |(target, start): (&KnownPopulation, &Vec<f64>)| match ConditionalMode::find(
                &self.pools,
                &target.logs,
                &prior,
                start,
            ) {
                Ok(Some(known)) => known.log_evidence + self.ways[way].log_odds,
                _ => f64::NEG_INFINITY,
            };
            targets.iter().zip(&starts[way]).map(one).collect()
        };
        let all = self.ways.len() * self.settings.len();
        (0..all).into_par_iter().map(at).collect()
    }

    /// The way in which bands of one population are most likely apart.
    pub(super) fn likeliest(&self, target: &KnownPopulation) -> usize {
        let target = std::slice::from_ref(target);
        let evidence = self.evidence(target, &self.starts(target));
        let each = evidence.chunks(self.settings.len()).map(|of_way| {
            let logs: Vec<f64> = of_way.iter().map(|at| at[0]).collect();
            log_sum_exp(&logs)
        });
        let best = each.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(0, |(way, _)| way)
    }

    /// Draws of the populations that take a setting.
    fn blocks(
        &self,
        s: usize,
        targets: &[KnownPopulation],
        starts: &[Vec<Vec<f64>>],
        wanted: &[Vec<usize>],
    ) -> Vec<Block> {
        let (way, setting) = self.at(s);
        let prior = self.prior(way, setting);
        let Ok(root) = prior.root() else {
            return Vec::new();
        };
        let takers = (0..targets.len()).filter(|&p| wanted[p][s] > 0);
        let one = |p: usize| {
            let (target, pairs) = (&targets[p], wanted[p][s]);
            let known = ConditionalMode::find(&self.pools, &target.logs, &prior, &starts[way][p]);
            let drawn = match known {
                Ok(Some(known)) => {
                    let normals = self.normals(target.stream, s, pairs);
                    let (root, normals) = (root.as_ref(), normals.as_ref());
                    known.draws(&self.pools, &target.logs, &prior, root, normals)
                }
                _ => vec![None; 2 * pairs],
            };
            (p, drawn)
        };
        takers.map(one).collect()
    }

    /// Standard normals in pairs of opposites, shape `[cells, 2 pairs]`.
    fn normals(&self, stream: u64, setting: usize, pairs: usize) -> Mat<f64> {
        let mut random = random(self.seed, stream, 1 + setting as u64);
        opposites(self.places.len(), pairs, &mut random)
    }

    fn gathered(
        &self,
        blocks: Vec<Vec<Option<ConditionalDraw>>>,
        wanted: &[usize],
    ) -> Result<Sample, UngroupError> {
        let refused = |reason: &str| UngroupError::NoCurve {
            reason: reason.to_owned(),
        };
        let drawn: Vec<Option<ConditionalDraw>> = blocks.into_iter().flatten().collect();
        let all = 2 * wanted.iter().sum::<usize>();
        if all == 0 {
            return Err(refused("no setting of the roughness has a mode"));
        }
        let kept: Vec<ConditionalDraw> = drawn.into_iter().flatten().collect();
        let logs: Vec<f64> = kept.iter().map(|d| d.log_weight).collect();
        let (weights, effective) =
            evened(&logs).ok_or_else(|| refused("no draw could be moved to the totals"))?;
        let total: f64 = wanted.iter().map(|&n| n as f64).sum();
        let squares: f64 = wanted.iter().map(|&n| (n as f64 / total).powi(2)).sum();
        Ok(Sample {
            values: Mat::from_fn(self.places.len(), kept.len(), |i, d| kept[d].values[i]),
            weights,
            effective: effective * kept.len() as f64 / all as f64,
            settings: 1.0 / squares,
            tried: self.settings.len(),
            lost: all - kept.len(),
            apart: self.held(wanted),
        })
    }

    /// How many runs are apart in most draws.
    fn held(&self, wanted: &[usize]) -> usize {
        let all: usize = wanted.iter().sum();
        let of_ways = self.ways.iter().zip(wanted.chunks(self.settings.len()));
        let each = of_ways.map(|(way, wanted)| (way.runs, wanted.iter().sum::<usize>()));
        let each: Vec<(usize, usize)> = each.collect();
        let most = |runs: &usize| {
            let own = each.iter().filter(|(held, _)| held >= runs);
            2 * own.map(|(_, draws)| draws).sum::<usize>() > all
        };
        let held = each.iter().map(|(runs, _)| *runs);
        held.filter(most).max().unwrap_or(0)
    }
}

/// How many pairs of draws a population takes of every setting: in proportion to its evidence, by
/// systematic sampling.
pub(super) fn allocated(evidence: &[Vec<f64>], population: usize, pairs: usize) -> Vec<usize> {
    let logs: Vec<f64> = evidence.iter().map(|at| at[population]).collect();
    powered(&logs, 1.0).map_or_else(|| vec![0; logs.len()], |weights| taken(&weights, pairs))
}

/// Standard normals in pairs of opposites, shape `[cells, 2 pairs]`.
pub(super) fn opposites(cells: usize, pairs: usize, random: &mut ChaCha8Rng) -> Mat<f64> {
    let mut out = Mat::zeros(cells, 2 * pairs);
    for pair in 0..pairs {
        for i in 0..cells {
            let x: f64 = StandardNormal.sample(random);
            out[(i, 2 * pair)] = x;
            out[(i, 2 * pair + 1)] = -x;
        }
    }
    out
}

/// Random numbers of a population, for one purpose.
pub(super) fn random(seed: u64, stream: u64, purpose: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Streams that differ in one bit are as good as others.
    random.set_stream(
        stream
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(purpose),
    );
    random
}
