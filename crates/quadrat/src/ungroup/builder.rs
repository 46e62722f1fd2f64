//! What is said of bands before they are ungrouped.

use std::ops::Range;

use rayon::prelude::*;

use super::apart::{self, Seen};
use super::bands::{Bands, Ends};
use super::cells::{Cells, Wanted};
use super::error::{UngroupError, Warning};
use super::estimate::{Counting, Estimate};
use super::fit::{KnownPopulation, Sample, Task};
use super::heaping::heaped;
use super::prior::{self, LEVEL_SD, PriorTerm};
use super::standard::Standard;
use super::tail::Tail;
use crate::inference::pooled::Pools;
use crate::linalg::Mat;
use crate::link::Link;
use crate::progress::{Progress, Silent, Watcher};

/// Settings of the hyperparameters that are averaged over.
pub(super) const SETTINGS: usize = 512;
/// Draws unless another number is asked for.
const DRAWS: usize = 1000;
/// Probability of intervals unless another is asked for.
const LEVEL: f64 = 0.95;
/// Variance of the log density of ages, and of amounts of money.
const AGES: f64 = 0.15;
const MONEY: f64 = 0.3;
/// What a band in which nobody was counted is taken for: half of one that could have been. Its
/// cells are met as if that were known, so that a run of such bands is even.
const NOBODY: f64 = 0.5;
/// Populations that are in memory at a time.
const AT_ONCE: usize = 64;

/// A population: how many are in every band, in the order in which bands were given.
#[derive(Debug, Clone, Copy)]
pub struct Population<'a> {
    /// The counts.
    pub counts: &'a [f64],
    /// Whose random numbers its draws take: those of populations with different streams are
    /// independent.
    pub stream: u64,
}

/// Bands to be ungrouped, and how: a builder whose end is [`Ungroup::estimate`].
#[derive(Debug, Clone)]
pub struct Ungroup<'a> {
    pub(super) lower: &'a [f64],
    pub(super) upper: &'a [f64],
    pub(super) ends: Ends,
    pub(super) wanted: Wanted,
    pub(super) sampled: f64,
    pub(super) is_expected: bool,
    pub(super) level: f64,
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) standard: Option<&'a Standard>,
    pub(super) watcher: Watcher<'a>,
}

impl<'a> Ungroup<'a> {
    /// Bands by their edges, in any order; the last may be open above (infinity), the first below.
    /// Bands adjoin: the ages 0 to 4 are the band from 0 to 5.
    #[must_use]
    pub fn new(lower: &'a [f64], upper: &'a [f64]) -> Self {
        Self {
            lower,
            upper,
            ends: Ends {
                first: None,
                last: None,
                tail: None,
                log: false,
            },
            wanted: Wanted::Own,
            sampled: 1.0,
            is_expected: false,
            level: LEVEL,
            draws: DRAWS,
            seed: 1,
            standard: None,
            watcher: Watcher(&Silent),
        }
    }

    /// Where an open first band begins, in place of zero.
    #[must_use]
    pub fn first(mut self, first: f64) -> Self {
        self.ends.first = Some(first);
        self
    }

    /// Where an open last band ends, in place of 110 for ages and 25 times its edge for money.
    #[must_use]
    pub fn last(mut self, last: f64) -> Self {
        self.ends.last = Some(last);
        self
    }

    /// How the curve falls off in the last band: for an open one Gompertz' law where its edge is an
    /// age from 60 to 105 years, Pareto's on a logarithmic axis. None in a closed band.
    #[must_use]
    pub fn tail(mut self, tail: Tail) -> Self {
        self.ends.tail = Some(tail);
        self
    }

    /// Bands of money: the curve is smooth in `log(x + c)`, the logarithm of the amount and the
    /// first band's upper edge.
    #[must_use]
    pub fn log(mut self, log: bool) -> Self {
        self.ends.log = log;
        self
    }

    /// The width of the steps that are told, in place of one year (or, where edges are no years, a
    /// fifth of every band).
    #[must_use]
    pub fn step(mut self, step: f64) -> Self {
        self.wanted = Wanted::Step(step);
        self
    }

    /// The edges between which steps are told; the last may be infinite where the last band is
    /// open.
    #[must_use]
    pub fn edges(mut self, edges: &[f64]) -> Self {
        self.wanted = Wanted::Edges(edges.to_vec());
        self
    }

    /// How many were asked per one that is counted, 1 by default: 0.12 for a table that a sample of
    /// 12 % was blown up to, 1000 for counts in thousands. The fewer were asked, the less do parts
    /// of a band follow the curve.
    #[must_use]
    pub fn sampled(mut self, sampled: f64) -> Self {
        self.sampled = sampled;
        self
    }

    /// Tells the curve itself, what is expected in a step: no chance of single people. A band in
    /// which nobody was counted has nobody.
    #[must_use]
    pub fn expected(mut self) -> Self {
        self.is_expected = true;
        self
    }

    /// Whom to tell how far [`Ungroup::estimate_along`] is: an event for each setting of the
    /// hyperparameters, from several threads.
    #[must_use]
    pub fn progress(mut self, progress: &'a dyn Progress) -> Self {
        self.watcher = Watcher(progress);
        self
    }

    /// Probability of intervals, 0.95 by default.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// Number of draws, 1,000 by default: ends of 95 % intervals are known to a tenth of an sd.
    #[must_use]
    pub fn draws(mut self, draws: usize) -> Self {
        self.draws = draws;
        self
    }

    /// Rates lie around a curve that populations have about in common: for [`Self::rates`] of few
    /// events. Counts do not look at it.
    #[must_use]
    pub fn around(mut self, standard: &'a Standard) -> Self {
        self.standard = Some(standard);
        self
    }

    /// The seed of the draws.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Ungroups one population.
    ///
    /// # Errors
    /// What is wrong with the bands, the counts or the settings.
    ///
    /// # Numerics
    /// Some 100 cells take half a second; memory is `8 cells draws` bytes.
    pub fn estimate(&self, counts: &[f64]) -> Result<Estimate, UngroupError> {
        let mut out = Err(UngroupError::Nothing);
        self.estimate_each(&[Population { counts, stream: 0 }], |_, found| out = found)?;
        out
    }

    /// Ungroups populations in the same bands, which share what does not depend on counts: a
    /// hundred take some three seconds on two cores.
    ///
    /// # Arguments
    /// * `take` - is handed the number of every population and what came of it, in order
    ///
    /// # Errors
    /// What is wrong with the bands or the settings; what is wrong with one population is its own.
    pub fn estimate_each(
        &self,
        populations: &[Population<'_>],
        mut take: impl FnMut(usize, Result<Estimate, UngroupError>),
    ) -> Result<(), UngroupError> {
        self.check()?;
        let bands = Bands::new(self.lower, self.upper, &self.ends)?;
        let (cells, warning) = Cells::new(&bands, &self.wanted)?;
        let task = self.task(&bands, &cells);
        for (chunk, some) in populations.chunks(AT_ONCE).enumerate() {
            let found = self.some(&bands, &cells, &task, some, warning.as_ref());
            for (i, one) in found.into_iter().enumerate() {
                take(chunk * AT_ONCE + i, one);
            }
        }
        Ok(())
    }

    fn some(
        &self,
        bands: &Bands,
        cells: &Cells,
        task: &Task,
        populations: &[Population<'_>],
        warning: Option<&Warning>,
    ) -> Vec<Result<Estimate, UngroupError>> {
        let ordered: Vec<Result<Vec<f64>, UngroupError>> = populations
            .iter()
            .map(|population| bands.ordered(population.counts))
            .collect();
        let usable = ordered.iter().zip(populations).filter_map(|(counts, p)| {
            let counts = counts.as_ref().ok()?;
            let logs = self.logs(counts, cells, bands);
            let runs = self.apart(task, counts, &logs);
            let stream = p.stream;
            Some((KnownPopulation { logs, stream }, runs))
        });
        let (targets, runs): (Vec<KnownPopulation>, Vec<Runs>) = usable.unzip();
        let is_given = cells.len() == bands.len();
        let samples: Vec<Result<Sample, UngroupError>> = match is_given {
            true => targets.iter().map(|_| Ok(given(cells.len()))).collect(),
            false => sampled(task, cells, &targets, &runs),
        };
        let mut samples = samples.into_iter().zip(runs);
        let paired: Vec<_> = ordered
            .into_iter()
            .zip(populations)
            .map(|(counts, p)| match counts {
                Ok(counts) => {
                    let (sample, runs) = samples.next().ok_or(UngroupError::Nothing)?;
                    sample.map(|sample| (counts, sample, runs, p.stream))
                }
                Err(error) => Err(error),
            })
            .collect();
        let one = |found: Result<(Vec<f64>, Sample, Runs, u64), UngroupError>| {
            let (counts, sample, runs, stream) = found?;
            let mut warnings: Vec<Warning> = warning.cloned().into_iter().collect();
            warnings.extend(bands.wide_last());
            warnings.extend(heaped(&bands.edges, &counts, self.sampled));
            warnings.extend(bands.apart(&runs[..sample.apart], &counts));
            let counting = Counting {
                bands,
                cells,
                pools: &task.pools,
                counts: &counts,
                sampled: self.asked_per_count(),
                level: self.level,
                seed: self.seed,
                stream,
            };
            counting.estimate(sample, warnings)
        };
        paired.into_par_iter().map(one).collect()
    }

    /// Log averages of the bands, in shares of all per unit of the axis.
    pub(super) fn logs(&self, counts: &[f64], cells: &Cells, bands: &Bands) -> Vec<f64> {
        let total: f64 = counts.iter().sum();
        let nobody = NOBODY / self.sampled;
        let one = |(band, count): (usize, &f64)| {
            let count = if *count > 0.0 { *count } else { nobody };
            let ends = [cells.band[band], cells.band[band + 1]].map(|i| cells.edges[i]);
            let [from, to] = ends.map(|x| bands.axis.forward(x));
            (count / total).ln() - (to - from).ln()
        };
        counts.iter().enumerate().map(one).collect()
    }

    /// Runs of bands that may be apart.
    pub(super) fn apart(&self, task: &Task, counts: &[f64], logs: &[f64]) -> Runs {
        let of = |sds: f64| -> Vec<f64> {
            let terms = task.ways[0].terms.iter();
            let mut sum = vec![0.0; task.places.len()];
            for term in terms {
                let factor = term.mean + sds * term.sd;
                let each = sum.iter_mut().zip(&term.shape);
                each.for_each(|(sum, shape)| *sum += factor * shape);
            }
            task.pools
                .means(&sum)
                .iter()
                .map(|mean| mean.value)
                .collect()
        };
        let (tail, off) = (of(0.0), of(1.0));
        let spread: Vec<f64> = tail.iter().zip(&off).map(|(a, b)| b - a).collect();
        let asked: Vec<f64> = counts.iter().map(|n| n * self.sampled).collect();
        let seen = Seen {
            logs,
            tail: &tail,
            spread: &spread,
            asked: &asked,
        };
        seen.runs()
    }

    /// The variance that is usual of a log density.
    pub(super) fn variance(&self) -> f64 {
        if self.ends.log { MONEY } else { AGES }
    }

    /// How many were asked per one that is counted; none where the curve itself is told.
    pub(super) fn asked_per_count(&self) -> Option<f64> {
        (!self.is_expected).then_some(self.sampled)
    }

    pub(super) fn task(&self, bands: &Bands, cells: &Cells) -> Task {
        let ends: Vec<f64> = cells.edges.iter().map(|x| bands.axis.forward(*x)).collect();
        let mut pools = Pools::new(cells.len());
        for pair in cells.band.windows(2) {
            let own = (pair[0]..pair[1]).map(|i| (i, ends[i + 1] - ends[i]));
            pools.push(Link::Exp, own);
        }
        let length = ends[cells.len()] - ends[0];
        let middle = |i: usize| bands.axis.within(cells.cell(i), 0.5);
        let terms = bands.fall.map(|fall| {
            let (mean, sd) = fall.slope();
            let shape = (0..cells.len()).map(|i| fall.shape(bands.axis, middle(i)));
            PriorTerm {
                shape: shape.collect(),
                mean: -mean,
                sd,
            }
        });
        let variance = self.variance();
        Task {
            pools,
            places: ends
                .windows(2)
                .map(|pair| 0.5 * (pair[0] + pair[1]))
                .collect(),
            level: (-length.ln(), LEVEL_SD),
            ways: apart::ways(&terms.into_iter().collect::<Vec<_>>(), &[], &cells.band),
            settings: prior::settings(SETTINGS, variance, length, self.seed),
            central: prior::central(variance, length),
            draws: self.draws,
            seed: self.seed,
        }
    }

    pub(super) fn check(&self) -> Result<(), UngroupError> {
        let setting = |what, value, requirement: &str| {
            Err(UngroupError::Setting {
                what,
                value,
                requirement: requirement.to_owned(),
            })
        };
        if !(100..=20_000).contains(&self.draws) {
            return setting(
                "the number of draws",
                self.draws as f64,
                "from 100 to 20000",
            );
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return setting("the level", self.level, "between 0 and 1");
        }
        let sampled = self.sampled;
        if !(sampled > 0.0 && sampled.is_finite()) {
            return setting("how many were asked per one counted", sampled, "above zero");
        }
        Ok(())
    }
}

/// Runs of bands.
pub(super) type Runs = Vec<Range<usize>>;

/// Draws of every population: those of which bands may be apart are each by themselves.
///
/// # Arguments
/// * `runs` - of every population
fn sampled(
    task: &Task,
    cells: &Cells,
    targets: &[KnownPopulation],
    runs: &[Runs],
) -> Vec<Result<Sample, UngroupError>> {
    let pairs = || targets.iter().zip(runs);
    let plain: Vec<KnownPopulation> = pairs()
        .filter(|(_, runs)| runs.is_empty())
        .map(|(target, _)| target.clone())
        .collect();
    let mut plain = task.run(&plain).into_iter();
    let one = |(target, runs): (&KnownPopulation, &Runs)| {
        let own = match runs.is_empty() {
            true => plain.next(),
            false => {
                let target = std::slice::from_ref(target);
                task.apart(runs, cells).run(target).into_iter().next()
            }
        };
        own.unwrap_or(Err(UngroupError::Nothing))
    };
    pairs().map(one).collect()
}

/// The draw of bands that are told as they are.
pub(super) fn given(cells: usize) -> Sample {
    Sample {
        values: Mat::zeros(cells, 1),
        weights: vec![1.0],
        effective: 1.0,
        settings: 1.0,
        tried: 1,
        lost: 0,
        apart: 0,
    }
}
