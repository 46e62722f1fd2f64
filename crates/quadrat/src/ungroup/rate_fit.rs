//! Rates by single year from events and exposures in bands.
//!
//! The exposure is ungrouped first (`exposed.rs`). Events of a band are Poisson
//! with the mean `sum_i w_i e^{f_i}` over its cells, `w` the exposure there and `f` the log rate:
//! events are not met exactly, they came by chance. Every setting of the hyperparameters that is
//! used takes a draw of the curve of the exposure of its own, and draws are weighed by the evidence
//! that they have together: what is not known of that curve is in the rates.
//!
//! The log rate is a level, a line and two functions as in `prior.rs`, with the variance 0.5 of the
//! smooth one, 0.005 of the rough one. Where the first band is the first year of life its rate has
//! a level of its own, and it falls fast in the years after: infants die at many times the rate of
//! those who are one, and that goes on to fall for some years. Around a standard (`standard.rs`)
//! level, line, both functions and what infants have besides are of the deviation from it, and
//! small.

use rand::Rng;
use rayon::prelude::*;

use super::bands::Bands;
use super::builder::{Population, Ungroup};
use super::error::{UngroupError, Warning};
use super::estimate::poor;
use super::exposed::{Exposed, Exposure};
use super::fit::{allocated, random};
use super::prior::{self, Setting};
use super::rate_prior::{Task, task};
use super::rates::{Rates, of_step};
use super::weighted;
use crate::inference::pooled::{Draws, Mode, PooledOptions, draw_pooled_from, evened, find_mode};
use crate::inference::sites::Parted;
use crate::linalg::Mat;

/// Settings that are averaged over.
const SETTINGS: usize = 128;
/// Variance of the smooth part of a log rate; the rough part has a hundredth.
const VARIANCE: f64 = 0.5;
const ROUGH: f64 = 0.01;
/// The variance of the smooth part of the deviation from a standard.
const DEVIATION: f64 = 0.03;
/// Where nobody is, cells weigh alike.
const NOBODY: f64 = 1e-200;
/// The number of the stream of a population's normals.
const NORMALS: u64 = 1 << 32;

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
        let of = Population {
            counts: exposure,
            stream: 0,
        };
        self.rates_of(events, Exposure { of, bands: None })
    }

    /// The same of one of several populations, and of an exposure in bands of its own: draws of
    /// populations are independent where streams differ.
    ///
    /// # Errors
    /// As [`Self::rates`]; what is wrong with the exposure is [`UngroupError::Exposure`] where it
    /// has bands of its own.
    pub fn rates_of(&self, events: &[f64], exposure: Exposure<'_>) -> Result<Rates, UngroupError> {
        let bands = Bands::new(self.lower, self.upper, &self.ends)?;
        // Around a standard no event tells something too.
        let events = match self.standard {
            None => bands.ordered(events)?,
            Some(_) => bands.ordered_or_none(events)?,
        };
        whole(&bands, &events)?;
        let given = exposure.bands.is_none();
        let given = given
            .then(|| bands.ordered(exposure.of.counts))
            .transpose()
            .map_err(UngroupError::of_exposure)?;
        if let Some(totals) = &given {
            exposed(&bands, &events, totals)?;
            if let Some(part) = self.part(&bands, totals) {
                return part.rates(self, &bands, (&events, Some(totals)), exposure);
            }
        }
        let people = Exposed::new(self, &bands, &exposure)?;
        let cells = &people.cells;
        let is_own = given.is_none();
        let totals = given.unwrap_or_else(|| {
            let average = people.average();
            let own = cells.band.windows(2);
            own.map(|ends| average[ends[0]..ends[1]].iter().sum())
                .collect()
        });
        exposed(&bands, &events, &totals)?;
        if let Some(part) = self.part(&bands, &totals).filter(|_| is_own) {
            return part.rates(self, &bands, (&events, None), exposure);
        }
        let task = task(&bands, cells, &events, (&totals, self.standard));
        let length =
            bands.axis.forward(cells.edges[cells.len()]) - bands.axis.forward(cells.edges[0]);
        let variance = self.standard.map_or(VARIANCE, |_| DEVIATION);
        let settings: Vec<Setting> = prior::settings(SETTINGS, variance, length, self.seed)
            .into_iter()
            // The rough part is told relative to the smooth one of counts.
            .map(|[smooth, far, rough, near]| [smooth, far, ROUGH / 0.03 * rough, near])
            .collect();
        let drawn = self.drawn(&task, &people, &settings, exposure.of.stream)?;
        self.told(&bands, &people, (&events, &totals), drawn)
    }

    /// Draws of log rates, with the number of their draw of the exposure and their log weights.
    fn drawn(
        &self,
        task: &Task<'_>,
        people: &Exposed,
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
            let options = PooledOptions {
                draws: Draws::kept(2 * wanted[s]),
                ..PooledOptions::default()
            };
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
            let count = lift.weights().len() as f64;
            let mass = count.ln() + lift.log_evidence() - evidence[s][0];
            let logs = lift.weights().iter().map(|w| mass + w.ln()).collect();
            Ok(Some(AtSetting {
                values,
                logs,
                exposure,
                counted: count * lift.effective(),
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
        let asked = 2.0 * wanted.iter().sum::<usize>() as f64;
        let squares = wanted.iter().map(|&n| (2.0 * n as f64 / asked).powi(2));
        Ok(Drawn {
            settings: 1.0 / squares.sum::<f64>(),
            // What each setting's draws are worth, of all that were asked for.
            counted: blocks.iter().map(|b| b.counted).sum::<f64>() / asked,
            lost: asked as usize - all.len(),
            logs: all.iter().map(|&(b, d)| blocks[b].logs[d]).collect(),
            exposure: all.iter().map(|&(b, _)| blocks[b].exposure).collect(),
            values: Mat::from_fn(task.cells.len(), all.len(), |i, k| {
                let (b, d) = all[k];
                blocks[b].values[(i, d)]
            }),
        })
    }

    fn told(
        &self,
        bands: &Bands,
        people: &Exposed,
        (events, totals): (&[f64], &[f64]),
        drawn: Drawn,
    ) -> Result<Rates, UngroupError> {
        let (weights, effective) = evened(&drawn.logs).ok_or_else(|| UngroupError::NoCurve {
            reason: "no draw of the rates has a weight".to_owned(),
        })?;
        let n = people.cells.len();
        let rate = |i: usize, k: usize| drawn.values[(i, k)].exp();
        let rates = Mat::from_fn(n, weights.len(), rate);
        let people_of = |i: usize, k: usize| people.masses[(i, drawn.exposure[k])].max(NOBODY);
        let exposure = Mat::from_fn(n, weights.len(), people_of);
        let cells = people.cells.clone();
        let level = self.level;
        let told = cells.step.iter().map(|step| {
            let values = of_step(step, &rates, &exposure);
            weighted::told(&values, &weights, level)
        });
        let told = told.collect();
        let effective = effective * drawn.counted;
        let mut warnings: Vec<Warning> = people.warnings.clone();
        let all = weights.len() + drawn.lost;
        warnings.extend(poor(effective, drawn.settings, SETTINGS, (drawn.lost, all)));
        warnings.extend(doubts(events, totals));
        let open = bands.is_open.then(|| cells.band[bands.len() - 1]);
        Ok(Rates {
            cells,
            rates,
            exposure,
            weights,
            level,
            told,
            warnings,
            effective,
            settings: drawn.settings,
            open,
            tail: people.tail,
        })
    }
}

/// Draws at one setting.
struct AtSetting {
    values: Mat<f64>,
    logs: Vec<f64>,
    exposure: usize,
    /// How many draws of equal weight say as much.
    counted: f64,
}

/// All draws.
struct Drawn {
    values: Mat<f64>,
    logs: Vec<f64>,
    exposure: Vec<usize>,
    /// How many settings of equal weight say as much.
    settings: f64,
    /// The share of draws that count at their settings.
    counted: f64,
    /// Draws that could not be made.
    lost: usize,
}

/// What is odd about events and exposures.
fn doubts(events: &[f64], totals: &[f64]) -> Vec<Warning> {
    let each = || events.iter().zip(totals);
    let above = each().filter(|(events, people)| events > people).count();
    let nobody = totals.iter().filter(|people| **people == 0.0).count();
    let mut out = Vec::new();
    if above > 0 {
        out.push(Warning::Impossible { bands: above });
    }
    if nobody > 0 {
        out.push(Warning::Nobody { bands: nobody });
    }
    out
}

/// Refuses events that are no whole numbers, of bands in their order.
fn whole(bands: &Bands, events: &[f64]) -> Result<(), UngroupError> {
    match events.iter().position(|events| events.fract() != 0.0) {
        None => Ok(()),
        Some(band) => Err(UngroupError::Events {
            row: bands.rows[band],
            value: events[band],
        }),
    }
}

/// Refuses events that no exposure explains.
fn exposed(bands: &Bands, events: &[f64], exposure: &[f64]) -> Result<(), UngroupError> {
    let mut each = events.iter().zip(exposure);
    match each.position(|(events, exposure)| *events > 0.0 && *exposure == 0.0) {
        None => Ok(()),
        Some(band) => Err(UngroupError::NoExposure {
            row: bands.rows[band],
            events: events[band],
            exposure: exposure[band],
        }),
    }
}
