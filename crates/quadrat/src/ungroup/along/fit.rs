//! Draws of the curves of several years, which meet all their bands.
//!
//! How rough a curve is inside bands is hardly told by bands, and tables of the same bands year
//! after year say the same again: they would be more and more certain of it for no reason.
//! Variances and lengthscales of one table are therefore weighed by the mean log evidence of the
//! years by themselves, as if there were one year; how years hang together is learned given these,
//! from all bands of all years.
//!
//! # Source
//! Feedback that is cut because a part of a model is not to be trusted with it: Plummer 2015,
//! Statistics and Computing 25:37.

use rayon::prelude::*;

use super::super::error::UngroupError;
use super::super::fit::{Sample, opposites, random};
use super::super::prior::Setting as OfOne;
use super::super::settings::{
    self, DIMENSIONS, NormalFit, Rounds, StandardNormals, WeighedPoints, count, offsets, powered,
    taken,
};
use super::prior::{CellPlaces, Setting, UnitScale};
use crate::inference::pooled::{ConditionalDraw, ConditionalMode, Pools, evened};
use crate::linalg::Mat;
use crate::progress::Watched;

/// Settings that draws are of: each costs the cube of the cells.
const USED: usize = 32;
/// Ways in which years may hang together that are compared at each setting, in two rounds.
const FIRST: usize = 8;
const SECOND: usize = 12;
/// How those by which years hang together are placed.
const ROUNDS: Rounds = Rounds {
    first: 32,
    each: 24,
    most: 8,
    enough: 16.0,
};
/// The most settings that are looked at: those by which years hang together, those that are
/// compared, and those that draws are of.
pub(super) const MOST_SETTINGS: usize = ROUNDS.points() + USED * (FIRST + SECOND) + USED;
/// Covariances that are in memory at a time take about this many bytes.
const BYTES: usize = 1 << 30;

/// The years of one population.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub places: CellPlaces,
    pub scale: UnitScale,
    /// The cells of every band, by their widths on the axis.
    pub pools: Pools,
    /// Log averages of the bands.
    pub logs: Vec<f64>,
    /// Settings of one table, and the mean log evidence of the years by themselves.
    pub of_one: Vec<OfOne>,
    pub evidence: Vec<f64>,
    pub draws: usize,
    pub seed: u64,
    pub stream: u64,
    pub watched: Watched<'a>,
}

/// A setting that draws are of.
struct Used {
    setting: Setting,
    pairs: usize,
    /// The number of its stream of random numbers.
    number: u64,
}

impl Task<'_> {
    /// # Returns
    /// Draws.
    ///
    /// # Errors
    /// Where no setting has a mode, or no draw could be moved to the totals.
    pub fn run(&self) -> Result<Sample, UngroupError> {
        let refused = |reason: &str| UngroupError::NoCurve {
            reason: reason.to_owned(),
        };
        let none = || refused("no setting of the roughness has a mode");
        let weights = powered(&self.evidence, 1.0).ok_or_else(none)?;
        let (start, ways) = self.ways(&weights).ok_or_else(none)?;
        let (used, tried) = self.used(&weights, &ways, &start).ok_or_else(none)?;
        if used.is_empty() {
            return Err(none());
        }
        self.watched.left(used.len());
        let mut blocks: Vec<Vec<Option<ConditionalDraw>>> = Vec::new();
        for some in used.chunks(self.at_once()) {
            let drawn = some.par_iter().map(|used| self.block(used, &start));
            blocks.extend(drawn.collect::<Vec<_>>());
        }
        let sample = self.gathered(&used, blocks);
        let sample = sample.ok_or_else(|| refused("no draw could be moved to the totals"))?;
        Ok(Sample {
            tried: ways.points.len() + tried,
            ..sample
        })
    }

    /// Draws of all settings. Each setting has the weight that it was taken by: what Laplace's
    /// method missed is made up for within it, and is no new evidence of the settings.
    fn gathered(&self, used: &[Used], blocks: Vec<Vec<Option<ConditionalDraw>>>) -> Option<Sample> {
        let (mut kept, mut weights, mut effective) = (Vec::new(), Vec::new(), 0.0);
        let all: usize = blocks.iter().map(Vec::len).sum();
        for drawn in blocks {
            let share = drawn.len() as f64 / all as f64;
            let own: Vec<ConditionalDraw> = drawn.into_iter().flatten().collect();
            let logs: Vec<f64> = own.iter().map(|d| d.log_weight).collect();
            if let Some((own_weights, counting)) = evened(&logs) {
                effective += counting * own.len() as f64 / all as f64;
                weights.extend(own_weights.iter().map(|w| share * w));
                kept.extend(own);
            }
        }
        let total: f64 = weights.iter().sum();
        let pairs: usize = used.iter().map(|used| used.pairs).sum();
        let shares = used.iter().map(|used| used.pairs as f64 / pairs as f64);
        (total > 0.0).then(|| Sample {
            values: Mat::from_fn(self.pools.nodes(), kept.len(), |i, d| kept[d].values[i]),
            weights: weights.iter().map(|w| w / total).collect(),
            // Bands are apart in the way that each year has by itself.
            apart: 0,
            effective,
            settings: count(&shares.collect::<Vec<f64>>()),
            tried: used.len(),
            lost: all - kept.len(),
        })
    }

    /// How years may hang together, at the likeliest setting of one table; and the mode there.
    fn ways(&self, weights: &[f64]) -> Option<(Vec<f64>, WeighedPoints)> {
        let likeliest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
        let own = &self.of_one[likeliest];
        let mut start = self.start(own);
        let mut best = f64::NEG_INFINITY;
        let ways = settings::found(&ROUNDS, self.seed, |points| {
            let tried: Vec<Setting> = points.iter().map(|z| self.scale.setting(own, z)).collect();
            let found = self.evidence(&tried, &start);
            // Searches begin at the mode of what was likeliest.
            for (log_evidence, mode) in &found {
                if *log_evidence > best {
                    best = *log_evidence;
                    start.clone_from(mode);
                }
            }
            found
                .into_iter()
                .map(|(log_evidence, _)| log_evidence)
                .collect()
        })?;
        Some((start, ways))
    }

    /// Settings that draws are of, and how many were tried: those of one table by their weights,
    /// each with ways in which years hang together by their evidence there.
    fn used(
        &self,
        weights: &[f64],
        ways: &WeighedPoints,
        start: &[f64],
    ) -> Option<(Vec<Used>, usize)> {
        let places = taken(weights, USED).into_iter().enumerate();
        let places: Vec<(usize, usize)> = places.filter(|(_, n)| *n > 0).collect();
        self.watched.left(places.len() * (FIRST + SECOND) + USED);
        let wide = ways.wide()?;
        let first = wide.points(FIRST, self.seed, 0);
        let of_first = self.evidence_of(&places, |_| first.clone(), start);
        // Where years hang together otherwise than at the likeliest setting the second points go
        // there.
        let nearer = of_first.iter().map(|logs| wide.nearer(&first, logs));
        let nearer: Vec<Option<NormalFit>> = nearer.collect();
        let second = |k: usize| {
            let normal = nearer[k].as_ref().unwrap_or(&wide);
            normal.points(SECOND, self.seed, 1 + k)
        };
        let of_second = self.evidence_of(&places, second, start);
        let pairs = self.draws.div_ceil(2).div_ceil(USED);
        let mut out = Vec::new();
        for (k, (one, n)) in places.iter().enumerate() {
            let points = [first.clone(), second(k)].concat();
            let evidence = of_first[k].iter().chain(&of_second[k]);
            let other = nearer[k].as_ref().unwrap_or(&wide);
            let offsets = offsets(&[(&wide, FIRST), (other, SECOND)], &points);
            let logs = evidence.zip(&offsets).map(|(log, offset)| log + offset);
            let Some(weights) = powered(&logs.collect::<Vec<f64>>(), 1.0) else {
                continue;
            };
            let each = taken(&weights, *n).into_iter().zip(&points).enumerate();
            out.extend(each.filter(|(_, (n, _))| *n > 0).map(|(at, (n, z))| Used {
                setting: self.scale.setting(&self.of_one[*one], z),
                pairs: n * pairs,
                number: 1 + (k * points.len() + at) as u64,
            }));
        }
        Some((out, places.len() * (FIRST + SECOND)))
    }

    /// Log evidence of points at each of some settings of one table.
    fn evidence_of(
        &self,
        places: &[(usize, usize)],
        points: impl Fn(usize) -> Vec<StandardNormals>,
        start: &[f64],
    ) -> Vec<Vec<f64>> {
        let settings = places.iter().enumerate().flat_map(|(k, (one, _))| {
            let own = &self.of_one[*one];
            let each = points(k).into_iter();
            each.map(|z| self.scale.setting(own, &z))
                .collect::<Vec<_>>()
        });
        let settings: Vec<Setting> = settings.collect();
        let found = self.evidence(&settings, start);
        let logs: Vec<f64> = found.into_iter().map(|(log, _)| log).collect();
        let each = (logs.len() / places.len().max(1)).max(1);
        logs.chunks(each).map(<[f64]>::to_vec).collect()
    }

    /// How many settings are looked at together.
    fn at_once(&self) -> usize {
        let nodes = self.pools.nodes();
        // The covariance, its factor, and one more for what is between.
        (BYTES / (3 * 8 * nodes * nodes)).max(1)
    }

    /// The mode in the middle of what is believed of the years; the prior's mean where there is
    /// none.
    fn start(&self, own: &OfOne) -> Vec<f64> {
        let setting = self.scale.setting(own, &[0.0; DIMENSIONS]);
        let prior = self.places.prior(&setting);
        match ConditionalMode::find(&self.pools, &self.logs, &prior, &prior.mean) {
            Ok(Some(known)) => known.values,
            _ => prior.mean,
        }
    }

    /// Log evidence of settings, and modes; minus infinity where none is found.
    fn evidence(&self, settings: &[Setting], start: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let one = |setting: &Setting| {
            let prior = self.places.prior(setting);
            let found = ConditionalMode::find(&self.pools, &self.logs, &prior, start);
            self.watched.one();
            match found {
                Ok(Some(known)) => (known.log_evidence, known.values),
                _ => (f64::NEG_INFINITY, Vec::new()),
            }
        };
        let chunks = settings.chunks(self.at_once());
        chunks
            .flat_map(|some| some.par_iter().map(one).collect::<Vec<_>>())
            .collect()
    }

    /// Draws at one setting.
    fn block(&self, used: &Used, start: &[f64]) -> Vec<Option<ConditionalDraw>> {
        let none = || vec![None; 2 * used.pairs];
        let prior = self.places.prior(&used.setting);
        let Ok(Some(known)) = ConditionalMode::find(&self.pools, &self.logs, &prior, start) else {
            return none();
        };
        let Ok(root) = prior.root() else {
            return none();
        };
        let mut random = random(self.seed, self.stream, used.number);
        let normals = opposites(self.pools.nodes(), used.pairs, &mut random);
        let (root, normals) = (root.as_ref(), normals.as_ref());
        let drawn = known.draws(&self.pools, &self.logs, &prior, root, normals);
        self.watched.one();
        drawn
    }
}
