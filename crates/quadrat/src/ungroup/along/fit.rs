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

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::super::error::UngroupError;
use super::super::fit::{Sample, random};
use super::super::prior::Setting as OfOne;
use super::prior::{DIMENSIONS, Places, Scale, Setting};
use super::settings::{self, Weighed, count, powered, taken, tempered};
use crate::inference::pooled::{Drawn, Known, Pools, evened};
use crate::linalg::Mat;

/// Settings that draws are of: each costs the cube of the cells.
const USED: usize = 32;
/// Ways in which years may hang together that are compared at each setting.
const WAYS: usize = 12;
/// Covariances that are in memory at a time take about this many bytes.
const BYTES: usize = 1 << 30;

/// The years of one population.
#[derive(Debug)]
pub(super) struct Task {
    pub places: Places,
    pub scale: Scale,
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
}

/// A setting that draws are of.
struct Used {
    setting: Setting,
    pairs: usize,
    /// The number of its stream of random numbers.
    number: u64,
}

impl Task {
    /// # Returns
    /// Draws, and how many settings were tried.
    ///
    /// # Errors
    /// Where no setting has a mode, or no draw could be moved to the totals.
    pub fn run(&self) -> Result<(Sample, usize), UngroupError> {
        let refused = |reason: &str| UngroupError::NoCurve {
            reason: reason.to_owned(),
        };
        let none = || refused("no setting of the roughness has a mode");
        let weights = powered(&self.evidence, 1.0).ok_or_else(none)?;
        let (start, ways) = self.ways(&weights).ok_or_else(none)?;
        let (used, tried) = self.used(&weights, &ways, &start);
        if used.is_empty() {
            return Err(none());
        }
        let mut blocks: Vec<Vec<Option<Drawn>>> = Vec::new();
        for some in used.chunks(self.at_once()) {
            let drawn = some.par_iter().map(|used| self.block(used, &start));
            blocks.extend(drawn.collect::<Vec<_>>());
        }
        let sample = self.gathered(&used, blocks);
        let sample = sample.ok_or_else(|| refused("no draw could be moved to the totals"))?;
        Ok((sample, ways.points.len() + tried))
    }

    /// Draws of all settings. Each setting has the weight that it was taken by: what Laplace's
    /// method missed is made up for within it, and is no new evidence of the settings.
    fn gathered(&self, used: &[Used], blocks: Vec<Vec<Option<Drawn>>>) -> Option<Sample> {
        let (mut kept, mut weights, mut effective) = (Vec::new(), Vec::new(), 0.0);
        let all: usize = blocks.iter().map(Vec::len).sum();
        for drawn in blocks {
            let share = drawn.len() as f64 / all as f64;
            let own: Vec<Drawn> = drawn.into_iter().flatten().collect();
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
            effective,
            settings: count(&shares.collect::<Vec<f64>>()),
            lost: all - kept.len(),
        })
    }

    /// How years may hang together, at the likeliest setting of one table; and the mode there.
    fn ways(&self, weights: &[f64]) -> Option<(Vec<f64>, Weighed)> {
        let likeliest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
        let own = &self.of_one[likeliest];
        let mut start = self.start(own);
        let mut best = f64::NEG_INFINITY;
        let ways = settings::found(self.seed, |points| {
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
    fn used(&self, weights: &[f64], ways: &Weighed, start: &[f64]) -> (Vec<Used>, usize) {
        let Some(likely) = tempered(&ways.logs, WAYS as f64) else {
            return (Vec::new(), 0);
        };
        let pool: Vec<usize> = taken(&likely, WAYS)
            .into_iter()
            .enumerate()
            .flat_map(|(at, n)| std::iter::repeat_n(at, n))
            .collect();
        let places: Vec<(usize, usize)> = taken(weights, USED)
            .into_iter()
            .enumerate()
            .filter(|(_, n)| *n > 0)
            .collect();
        let tried = places.iter().flat_map(|(one, _)| {
            let of = |&way: &usize| self.scale.setting(&self.of_one[*one], &ways.points[way]);
            pool.iter().map(of)
        });
        let tried: Vec<Setting> = tried.collect();
        let found = self.evidence(&tried, start);
        let pairs = self.draws.div_ceil(2).div_ceil(USED);
        let mut out = Vec::new();
        for (k, (_, n)) in places.iter().enumerate() {
            let own = k * pool.len()..(k + 1) * pool.len();
            // What each way was chosen by is taken off.
            let logs = pool.iter().zip(&found[own.clone()]);
            let logs = logs.map(|(&way, (log, _))| log + ways.offsets[way] - likely[way].ln());
            let Some(weights) = powered(&logs.collect::<Vec<f64>>(), 1.0) else {
                continue;
            };
            let each = taken(&weights, *n).into_iter().zip(own);
            out.extend(each.filter(|(n, _)| *n > 0).map(|(n, at)| Used {
                setting: tried[at],
                pairs: n * pairs,
                number: 1 + at as u64,
            }));
        }
        (out, tried.len())
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
        match Known::find(&self.pools, &self.logs, &prior, &prior.mean) {
            Ok(Some(known)) => known.values,
            _ => prior.mean,
        }
    }

    /// Log evidence of settings, and modes; minus infinity where none is found.
    fn evidence(&self, settings: &[Setting], start: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let one = |setting: &Setting| {
            let prior = self.places.prior(setting);
            match Known::find(&self.pools, &self.logs, &prior, start) {
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
    fn block(&self, used: &Used, start: &[f64]) -> Vec<Option<Drawn>> {
        let none = || vec![None; 2 * used.pairs];
        let prior = self.places.prior(&used.setting);
        let Ok(Some(known)) = Known::find(&self.pools, &self.logs, &prior, start) else {
            return none();
        };
        let Ok(root) = prior.root() else {
            return none();
        };
        let normals = self.normals(used);
        let (root, normals) = (root.as_ref(), normals.as_ref());
        known.draws(&self.pools, &self.logs, &prior, root, normals)
    }

    /// Standard normals in pairs of opposites, shape `[cells, 2 pairs]`.
    fn normals(&self, used: &Used) -> Mat<f64> {
        let mut random = random(self.seed, self.stream, used.number);
        let mut out = Mat::zeros(self.pools.nodes(), 2 * used.pairs);
        for pair in 0..used.pairs {
            for i in 0..self.pools.nodes() {
                let x: f64 = StandardNormal.sample(&mut random);
                out[(i, 2 * pair)] = x;
                out[(i, 2 * pair + 1)] = -x;
            }
        }
        out
    }
}
