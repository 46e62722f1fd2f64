//! Rates by single year from events and exposures in the same bands.
//!
//! The exposure is ungrouped first, by the same method as any count. Events of a band are Poisson
//! with the mean `sum_i w_i e^{f_i}` over its cells, `w` the exposure there and `f` the log rate:
//! events are not met exactly, they came by chance. Every setting of the hyperparameters that is
//! used takes a draw of the exposure of its own, and draws are weighed by the evidence that they
//! have together: what is not known of the exposure is in the rates.
//!
//! The log rate is a level, a line and two functions as in `prior.rs`, with the variance 0.5 of the
//! smooth one, 0.005 of the rough one. Where the first band is the first year of life its rate has a
//! level of its own: infants die at many times the rate of those who are one.

use std::ops::Range;

use rand::Rng;
use rayon::prelude::*;

use super::axis::Axis;
use super::bands::Bands;
use super::cells::Cells;
use super::error::{UngroupError, Warning};
use super::estimate::Estimate;
use super::fit::{allocated, random};
use super::life::{LifeTable, life_table};
use super::prior::{self, Setting, Term};
use super::tail::Tail;
use super::weighted::{self, Told};
use super::{Answer, Population, Ungroup};
use crate::inference::pooled::{Draws, Mode, PooledOptions, Pools, draw_pooled_from, find_mode};
use crate::inference::pooled::{NodePrior, evened};
use crate::inference::sites::{Block, LatentGaussian, Parted};
use crate::likelihood::Poisson;
use crate::linalg::{Mat, MatRef};
use crate::link::Link;
use crate::parameter::Parameter;

/// Settings that are averaged over.
const SETTINGS: usize = 128;
/// Variance of the smooth part of a log rate; the rough part has a hundredth.
const VARIANCE: f64 = 0.5;
const ROUGH: f64 = 0.01;
/// The sd of the slope along the whole axis, and of the level of the first year of life.
const SLOPE: f64 = 5.0;
const INFANT: f64 = 3.0;
/// Cells have at least this part of the exposure of their band.
const LEAST: f64 = 1e-9;
/// The number of the stream of a population's normals.
const NORMALS: u64 = 1 << 32;

/// Rates in the steps that were asked for, with intervals.
#[derive(Debug, Clone)]
pub struct Rates {
    cells: Cells,
    /// The rate of every cell, and the exposure there, by draws, shape `[cells, draws]`.
    rates: Mat<f64>,
    exposure: Mat<f64>,
    weights: Vec<f64>,
    level: f64,
    told: Vec<Told>,
    warnings: Vec<Warning>,
    effective: f64,
    /// Whether the first step is the first year of life.
    has_infants: bool,
    tail: Option<(Tail, f64, f64)>,
}

/// The prior of the cells, and the events of the bands.
struct Problem {
    prior: NodePrior,
    events: Poisson,
}

impl LatentGaussian for Problem {
    fn prior_mean(&self) -> &[f64] {
        &self.prior.mean
    }
    fn covariance(&self, _: &[f64]) -> Mat<f64> {
        self.prior.covariance.clone()
    }
    /// There are no parameters: settings are drawn from their prior.
    fn contract_covariance(&self, _: &[f64], _: MatRef<'_, f64>, _: &mut [f64]) {}
    fn blocks(&self) -> Vec<Block<'_>> {
        vec![Block {
            likelihood: &self.events,
            first: 0,
            own: &[],
            second: None,
        }]
    }
    fn parameters(&self) -> &[Parameter] {
        &[]
    }
    fn describe(&self) -> String {
        "matern32 + matern12".to_owned()
    }
}

/// What all settings share.
struct Task<'a> {
    cells: &'a Cells,
    events: &'a [f64],
    places: Vec<f64>,
    level: f64,
    terms: Vec<Term>,
}

impl Task<'_> {
    /// The problem of one setting, and what its rows see, given the exposure of the cells.
    fn problem(
        &self,
        setting: &Setting,
        exposure: &[f64],
    ) -> Result<(Problem, Pools), UngroupError> {
        let mut pools = Pools::new(self.cells.len());
        let mut totals = Vec::new();
        for pair in self.cells.band.windows(2) {
            let own = &exposure[pair[0]..pair[1]];
            let total: f64 = own.iter().sum();
            totals.push(total);
            // Nobody says nothing, wherever they are not.
            let least = if total > 0.0 { LEAST * total } else { 1.0 };
            pools.push(
                Link::Exp,
                own.iter()
                    .enumerate()
                    .map(|(i, w)| (pair[0] + i, w.max(least))),
            );
        }
        let events = Poisson::new(self.events.to_vec(), totals, Link::Exp);
        let events = events.map_err(|error| UngroupError::NoCurve {
            reason: error.to_string(),
        })?;
        let prior = prior::prior(setting, &self.places, self.level, &self.terms);
        Ok((Problem { prior, events }, pools))
    }
}

impl Ungroup<'_> {
    /// Rates in steps from events and exposures in the bands, in their order.
    ///
    /// # Arguments
    /// * `events` - whole numbers, such as deaths
    /// * `exposure` - of whom: people, person-years
    ///
    /// # Errors
    /// What is wrong with the bands, the counts or the settings; events without exposure.
    ///
    /// # Numerics
    /// Some seconds for 100 cells.
    ///
    /// # Examples
    /// ```
    /// use quadrat::ungroup::Ungroup;
    /// let from: Vec<f64> = (0..9).map(|b| 10.0 * f64::from(b)).collect();
    /// let to: Vec<f64> = from.iter().map(|x| x + 10.0).collect();
    /// let people = [9e4, 9e4, 9e4, 9e4, 8e4, 8e4, 7e4, 5e4, 2e4];
    /// let deaths = [40.0, 30.0, 60.0, 90.0, 170.0, 400.0, 900.0, 1800.0, 2100.0];
    /// let rates = Ungroup::new(&from, &to).draws(500).rates(&deaths, &people)?;
    /// // In the middle of a band near the rate of the band.
    /// assert!((rates.mean()[55] / 0.005 - 1.0).abs() < 0.2);
    /// assert!(rates.lower()[55] < rates.upper()[55]);
    /// # Ok::<(), quadrat::ungroup::UngroupError>(())
    /// ```
    pub fn rates(&self, events: &[f64], exposure: &[f64]) -> Result<Rates, UngroupError> {
        self.rates_of(
            events,
            Population {
                counts: exposure,
                stream: 0,
            },
        )
    }

    /// The same of one of several populations: their draws are independent where streams differ.
    ///
    /// # Errors
    /// As [`Self::rates`].
    pub fn rates_of(
        &self,
        events: &[f64],
        exposure: Population<'_>,
    ) -> Result<Rates, UngroupError> {
        let bands = Bands::new(self.lower, self.upper, &self.ends)?;
        checked(events, exposure.counts)?;
        let mut people = Err(UngroupError::Nothing);
        let exposed = self.clone().expected();
        exposed.estimate_each(&[exposure], |_, found| people = found)?;
        let people = people?;
        let events = bands.ordered(events)?;
        let totals = bands.ordered(exposure.counts)?;
        let cells = &people.cells;
        let task = task(&bands, cells, &events, &totals);
        let length =
            bands.axis.forward(cells.edges[cells.len()]) - bands.axis.forward(cells.edges[0]);
        let settings: Vec<Setting> = prior::settings(SETTINGS, VARIANCE, length, self.seed)
            .into_iter()
            // The rough part is told relative to the smooth one of counts.
            .map(|[smooth, far, rough, near]| [smooth, far, ROUGH / 0.03 * rough, near])
            .collect();
        let drawn = self.drawn(&task, &people, &settings, exposure.stream)?;
        self.told(&bands, &people, drawn)
    }

    /// Draws of log rates, with the number of their draw of the exposure and their log weights.
    fn drawn(
        &self,
        task: &Task<'_>,
        people: &Estimate,
        settings: &[Setting],
        stream: u64,
    ) -> Result<Drawn, UngroupError> {
        let average = people.average();
        let options = PooledOptions::default();
        let evidence = |setting: &Setting| -> Result<Vec<f64>, UngroupError> {
            let (problem, pools) = task.problem(setting, &average)?;
            let mode = find_mode(&problem, &pools, &[], &options).and_then(Mode::converged);
            Ok(vec![
                mode.map_or(f64::NEG_INFINITY, |mode| mode.log_evidence),
            ])
        };
        let evidence: Vec<Vec<f64>> = settings
            .par_iter()
            .map(evidence)
            .collect::<Result<_, _>>()?;
        let wanted = allocated(&evidence, 0, self.draws.div_ceil(2));
        let chosen = people.chosen(settings.len());
        let one = |s: usize| -> Result<Option<AtSetting>, UngroupError> {
            if wanted[s] == 0 {
                return Ok(None);
            }
            let exposure = chosen[s];
            let (problem, pools) =
                task.problem(&settings[s], people.masses.col_as_slice(exposure))?;
            let mut options = PooledOptions::default();
            options.draws = Draws::kept(2 * wanted[s]);
            let seed = random(self.seed, stream, NORMALS + s as u64).next_u64();
            let Some(lift) = draw_pooled_from(&problem, &pools, &[], &options, seed) else {
                return Ok(None);
            };
            let n = task.cells.len();
            let own = Parted {
                kernel: problem.prior.covariance.clone(),
                constants: Mat::zeros(n, 0),
            };
            let ready = lift.ready(|| problem.prior.covariance.clone())?;
            let (values, _) = ready.given(&problem.prior.mean, own);
            let mass = (lift.weights().len() as f64).ln() + lift.log_evidence() - evidence[s][0];
            let logs = lift.weights().iter().map(|w| mass + w.ln()).collect();
            Ok(Some(AtSetting {
                values,
                logs,
                exposure,
            }))
        };
        let blocks: Vec<Option<AtSetting>> = (0..settings.len())
            .into_par_iter()
            .map(one)
            .collect::<Result<_, _>>()?;
        let blocks: Vec<AtSetting> = blocks.into_iter().flatten().collect();
        let all: Vec<(usize, usize)> = blocks
            .iter()
            .enumerate()
            .flat_map(|(b, block)| (0..block.logs.len()).map(move |d| (b, d)))
            .collect();
        Ok(Drawn {
            logs: all.iter().map(|&(b, d)| blocks[b].logs[d]).collect(),
            exposure: all.iter().map(|&(b, _)| blocks[b].exposure).collect(),
            values: Mat::from_fn(task.cells.len(), all.len(), |i, k| {
                let (b, d) = all[k];
                blocks[b].values[(i, d)]
            }),
        })
    }

    fn told(&self, bands: &Bands, people: &Estimate, drawn: Drawn) -> Result<Rates, UngroupError> {
        let (weights, effective) = evened(&drawn.logs).ok_or_else(|| UngroupError::NoCurve {
            reason: "no draw of the rates has a weight".to_owned(),
        })?;
        let n = people.cells.len();
        let rate = |i: usize, k: usize| drawn.values[(i, k)].exp();
        let rates = Mat::from_fn(n, weights.len(), rate);
        let people_of =
            |i: usize, k: usize| people.masses[(i, drawn.exposure[k])].max(f64::MIN_POSITIVE);
        let exposure = Mat::from_fn(n, weights.len(), people_of);
        let cells = people.cells.clone();
        let level = self.level;
        let told = cells.step.iter().map(|step| {
            let values = of_step(step, &rates, &exposure);
            weighted::told(&values, &weights, level)
        });
        let told = told.collect();
        let mut warnings: Vec<Warning> = people.warnings().to_vec();
        if effective < 0.1 {
            warnings.push(Warning::FewDraws { effective });
        }
        let is_year = cells.told.first() == Some(&(0.0, 1.0));
        let has_infants = is_infant(bands) && is_year;
        Ok(Rates {
            cells,
            rates,
            exposure,
            weights,
            level,
            told,
            warnings,
            effective,
            has_infants,
            tail: people.tail(),
        })
    }
}

/// Draws at one setting.
struct AtSetting {
    values: Mat<f64>,
    logs: Vec<f64>,
    exposure: usize,
}

/// All draws.
struct Drawn {
    values: Mat<f64>,
    logs: Vec<f64>,
    exposure: Vec<usize>,
}

/// Whether the first band is the first year of life.
fn is_infant(bands: &Bands) -> bool {
    bands.axis == Axis::Linear && bands.edges[..2] == [0.0, 1.0]
}

fn task<'a>(bands: &'a Bands, cells: &'a Cells, events: &'a [f64], totals: &[f64]) -> Task<'a> {
    let ends: Vec<f64> = cells.edges.iter().map(|x| bands.axis.forward(*x)).collect();
    let places: Vec<f64> = ends
        .windows(2)
        .map(|pair| 0.5 * (pair[0] + pair[1]))
        .collect();
    let length = ends[cells.len()] - ends[0];
    let middle = 0.5 * (ends[cells.len()] + ends[0]);
    let mut terms = vec![Term {
        shape: places.iter().map(|u| (u - middle) / length).collect(),
        mean: 0.0,
        sd: SLOPE,
    }];
    if is_infant(bands) {
        let first = cells.band[1];
        terms.push(Term {
            shape: (0..cells.len())
                .map(|i| f64::from(u8::from(i < first)))
                .collect(),
            mean: 0.0,
            sd: INFANT,
        });
    }
    let all: f64 = events.iter().sum();
    Task {
        cells,
        events,
        places,
        level: (all / totals.iter().sum::<f64>()).ln(),
        terms,
    }
}

/// Refuses events that no exposure explains.
fn checked(events: &[f64], exposure: &[f64]) -> Result<(), UngroupError> {
    if events.len() != exposure.len() {
        return Err(UngroupError::Lengths {
            what: "events",
            expected: exposure.len(),
            got: events.len(),
        });
    }
    for (row, (&events, &exposure)) in events.iter().zip(exposure).enumerate() {
        if events.is_finite() && events >= 0.0 && events.fract() != 0.0 {
            return Err(UngroupError::Events { row, value: events });
        }
        if events > 0.0 && exposure == 0.0 {
            return Err(UngroupError::NoExposure {
                row,
                events,
                exposure,
            });
        }
    }
    Ok(())
}

/// The rate of a step, by draws: that of its cells by their exposure.
fn of_step(step: &Range<usize>, rates: &Mat<f64>, exposure: &Mat<f64>) -> Vec<f64> {
    let one = |k: usize| {
        let (mut events, mut people) = (0.0, 0.0);
        for i in step.clone() {
            events += exposure[(i, k)] * rates[(i, k)];
            people += exposure[(i, k)];
        }
        events / people
    };
    (0..rates.ncols()).map(one).collect()
}

impl Rates {
    /// Lower and upper edge of every step, ascending.
    #[must_use]
    pub fn edges(&self) -> &[(f64, f64)] {
        &self.cells.told
    }

    fn column(&self, of: impl Fn(&Told) -> f64) -> Vec<f64> {
        self.told.iter().map(of).collect()
    }

    /// Means of the rates.
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

    /// Rates drawn from the posterior, of equal weight, shape `[steps, count]`.
    #[must_use]
    pub fn draws(&self, count: usize) -> Mat<f64> {
        let (all, chosen) = (self.weighted(), weighted::chosen(&self.weights, count));
        Mat::from_fn(all.nrows(), count, |step, k| all[(step, chosen[k])])
    }

    /// The sum of the rates over the axis, such as the children that a woman has in all.
    #[must_use]
    pub fn sum(&self) -> Answer {
        let all = self.weighted();
        let ends = &self.cells.edges;
        let widths: Vec<f64> = self
            .cells
            .step
            .iter()
            .map(|s| ends[s.end] - ends[s.start])
            .collect();
        let sum = |k: usize| {
            let own = all.col_as_slice(k).iter().zip(&widths);
            own.map(|(rate, width)| rate * width).sum()
        };
        let values: Vec<f64> = (0..all.ncols()).map(sum).collect();
        weighted::answer(&values, &self.weights, self.level)
    }

    /// Rates of every step, by weighted draws, shape `[steps, draws]`.
    fn weighted(&self) -> Mat<f64> {
        let steps = self.cells.step.iter();
        let columns: Vec<Vec<f64>> = steps
            .map(|s| of_step(s, &self.rates, &self.exposure))
            .collect();
        Mat::from_fn(columns.len(), self.weights.len(), |step, k| {
            columns[step][k]
        })
    }

    /// A life table of a hundred thousand born, from the rates as rates of dying, with intervals
    /// from the draws.
    #[must_use]
    pub fn life_table(&self) -> LifeTable {
        let ends = &self.cells.told;
        life_table(
            ends,
            &self.weighted(),
            &self.weights,
            self.level,
            self.has_infants,
        )
    }

    /// How the exposure falls off in the last band, where that begins, and where it ends.
    #[must_use]
    pub fn tail(&self) -> Option<(Tail, f64, f64)> {
        self.tail
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
}
