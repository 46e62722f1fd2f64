//! What of a posterior may be measured.

use super::joint::Joint;
use super::report::{Answers, Bins, Clipped, Ranks, Report, Value};
use super::survey::{Kind, Member, Survey};
use crate::error::{FitError, InputError};
use crate::likelihood::distribution::Distribution;
use crate::likelihood::local::Circumstances;
use crate::likelihood::{Degrees, Likelihood, LogSd, Noise, Sigmoid, StudentT};
use crate::model::{Limits, Posterior};
use crate::posterior::believed::Believed;
use crate::support::Functionals;

/// Noise sds of a rank, in its largest threshold, below which numbers near it are one.
const FINEST: f64 = 1e-13;
/// Trials at most of one answer.
const MOST_TRIALS: f64 = 100_000.0;

/// A kind of measurement that is offered: a new row like those of a table, at a price.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// How it is called.
    pub name: String,
    /// The table whose rows it is like, by its place among
    /// [`Posterior::observations`](crate::model::Posterior::observations).
    pub table: usize,
    /// What one costs, > 0.
    pub cost: f64,
    /// The width of the interval of an answer; the noise variance of a value or rank, all of it: of
    /// Student's noise the squared scale, of double exponential noise twice that; the exposure of a
    /// count, the number of trials of successes. Where it is not given: the width that all rows of
    /// the table have, and their noise; one for exposure and trials.
    pub amount: Option<f64>,
    /// Whether only an interval of the value is told, though the rows of the table are values.
    pub as_interval: bool,
    /// Between which numbers an instrument of censored values reports; where it is not given, as
    /// the rows show: a limit that no row has reached is none then.
    pub limits: Option<Limits>,
}

/// Where measurements may be made, of every output that is offered, as latent values.
pub struct Places {
    at: Functionals,
    /// How many places there are.
    count: usize,
    /// The first latent value of every offer.
    first: Vec<usize>,
    /// Latent values that are to be known, besides.
    targets: Vec<usize>,
}

impl Places {
    /// # Arguments
    /// * `at` - the supports of the measurements, over the inputs of the posterior
    /// * `offers` - the kinds that may be made at each
    /// * `targets` - functionals that are to be known, of the output of each offer; empty: the
    ///   function at all places
    /// # Errors
    /// [`InputError::Empty`] without places or offers; [`InputError::UnknownDimension`] for a
    /// missing input; [`InputError::Range`] for a table that is not there.
    pub fn new(
        posterior: &Posterior,
        at: &Functionals,
        offers: &[Offer],
        targets: Option<&Functionals>,
    ) -> Result<Self, InputError> {
        if at.is_empty() || offers.is_empty() {
            return Err(InputError::Empty);
        }
        let tables = posterior.observations();
        let mut outputs: Vec<(Option<&str>, usize)> = Vec::new();
        let mut all: Option<Functionals> = None;
        let mut first = Vec::with_capacity(offers.len());
        for offer in offers {
            let table = tables.get(offer.table).ok_or_else(|| InputError::Range {
                what: format!("the table of the kind `{}`", offer.name),
                row: 0,
                value: offer.table as f64,
                requirement: "the place of a table that the posterior was conditioned on",
            })?;
            let output = table.output();
            if let Some((_, start)) = outputs.iter().find(|(known, _)| *known == output) {
                first.push(*start);
                continue;
            }
            let own = posterior.placed(at, offer.table)?;
            let start = all.as_ref().map_or(0, Functionals::len);
            match &mut all {
                Some(all) => all.extend(&own)?,
                None => all = Some(own),
            }
            outputs.push((output, start));
            first.push(start);
        }
        let mut all = all.ok_or(InputError::Empty)?;
        let places = all.len();
        let is_simple = (0..places).all(|row| all.is_point(row) && all.size(row) == 1.0);
        let linked = |offer: &Offer| {
            let likelihood = posterior.instrument(offer.table);
            likelihood.is_some_and(|likelihood| !likelihood.is_linear())
        };
        if !is_simple && offers.iter().any(linked) {
            return Err(InputError::Unavailable {
                what: "the information of counts, answers or waiting times over boxes, regions or bags",
                remedy: "give candidates that are points, or kinds that report values",
            });
        }
        if let Some(targets) = targets {
            let is_points = (0..targets.len()).all(|row| targets.is_point(row));
            if !is_points && offers.iter().any(linked) {
                return Err(InputError::Unavailable {
                    what: "information about totals or averages after a link",
                    remedy: "give targets that are points",
                });
            }
            let mut seen: Vec<Option<&str>> = Vec::new();
            for offer in offers {
                let output = tables[offer.table].output();
                if !seen.contains(&output) {
                    all.extend(&posterior.placed(targets, offer.table)?)?;
                    seen.push(output);
                }
            }
        }
        Ok(Self {
            targets: (places..all.len()).collect(),
            at: all,
            count: at.len(),
            first,
        })
    }
}

/// What is offered at places, and what the posterior believes of the answers.
///
/// Where hyperparameters are integrated there is a member for each of their values: information is
/// about the function, on average over these.
///
/// # Errors
/// [`InputError::Unavailable`] for a table that no new row is like (bounds, truncated values), an
/// exact reading, which tells infinitely much, a noise variance or width that is not one number for
/// all rows of the table, counts some of which were hidden, intervals of values whose noise is not
/// normal, a number for a kind that has no use for one, and counts or yes and no over areas; for
/// rows that are sums after a link, and for more places than memory holds.
pub fn survey<'a>(
    posterior: &'a Posterior,
    places: &'a Places,
    offers: &[Offer],
) -> Result<Survey<'a>, FitError> {
    let believed = posterior.believed(&places.at)?;
    let members: Result<Vec<Member<'a>>, InputError> = believed
        .into_iter()
        .map(|believed| {
            let reports = offers
                .iter()
                .map(|offer| report(posterior, &believed, offer));
            Ok(Member {
                reports: reports.collect::<Result<_, _>>()?,
                weight: believed.weight,
                joint: Box::new(believed),
            })
        })
        .collect();
    let kinds = offers.iter().zip(&places.first);
    Ok(Survey {
        places: places.count,
        kinds: kinds
            .map(|(offer, first)| Kind {
                name: offer.name.clone(),
                cost: offer.cost,
                first: *first,
            })
            .collect(),
        members: members?,
        targets: places.targets.clone(),
    })
}

impl Joint for Believed<'_> {
    fn mean(&self) -> &[f64] {
        &self.mean
    }

    fn variance(&self) -> &[f64] {
        &self.variance
    }

    fn column(&self, row: usize) -> Vec<f64> {
        Believed::column(self, row)
    }
}

/// Why an answer without noise has no information.
const EXACT: InputError = InputError::Unavailable {
    what: "the information of a reading without noise",
    remedy: "an exact reading tells infinitely much; give the variance of its noise",
};
/// Why the noise of a new row is not known.
const NOISE_OF_ROWS: InputError = InputError::Unavailable {
    what: "the noise of a new row of this table",
    remedy: "its variances were given row by row; give the variance of a new one",
};

/// Refuses kinds whose information is not known.
fn informative(
    posterior: &Posterior,
    table: usize,
    likelihood: &Likelihood,
) -> Result<(), InputError> {
    if posterior.varies(table) {
        return Err(InputError::Unavailable {
            what: "the information of rows whose noise or dispersion is a function",
            remedy: "choose by a fit with one number in its place",
        });
    }
    match likelihood.has_noise_behind_link() {
        true => Err(InputError::Unavailable {
            what: "a choice among values behind a link",
            remedy: "take their logarithms as the values, or choose among kinds that report the function",
        }),
        false => Ok(()),
    }
}

/// What a new row would report, at the hyperparameters of a belief.
fn report(
    posterior: &Posterior,
    believed: &Believed<'_>,
    offer: &Offer,
) -> Result<Report, InputError> {
    let table = offer.table;
    let likelihood = posterior.instrument(table).ok_or(InputError::Empty)?;
    informative(posterior, table, likelihood)?;
    let amount = match offer.amount {
        Some(amount) if !(amount > 0.0 && amount.is_finite()) => {
            return Err(InputError::Range {
                what: format!("the number of the kind `{}`", offer.name),
                row: 0,
                value: amount,
                requirement: "finite and above zero",
            });
        }
        amount => amount,
    };
    let noise = || match amount.or_else(|| believed.noise(table)) {
        None => Err(NOISE_OF_ROWS),
        Some(noise) if noise > 0.0 => Ok(noise),
        Some(_) => Err(EXACT),
    };
    let is_normal = matches!(
        likelihood,
        Likelihood::Gaussian(_)
            | Likelihood::Censored(_)
            | Likelihood::Interval(_)
            | Likelihood::Ordinal(_)
    );
    if offer.as_interval && !is_normal {
        return Err(InputError::Unavailable {
            what: "an interval of something other than values with normal noise",
            remedy: "choose among kinds that report as their tables do",
        });
    }
    if offer.as_interval && !matches!(likelihood, Likelihood::Interval(_)) {
        let width = amount.ok_or(InputError::Unavailable {
            what: "an answer by an interval of no width",
            remedy: "give the width of the interval",
        })?;
        let noise = believed.noise(table).ok_or(NOISE_OF_ROWS)?;
        return Ok(Report::Bins(Bins { width, noise }));
    }
    match likelihood {
        Likelihood::Gaussian(_) => Ok(Report::Value(Value { noise: noise()? })),
        Likelihood::Interval(rows) => Ok(Report::Bins(Bins {
            width: match amount {
                Some(width) => width,
                None => width_of_all(rows.lower(), rows.upper())?,
            },
            noise: match rows.noise() {
                // Wide intervals may be without noise.
                Noise::Known(known) if known.iter().all(|v| *v == 0.0) => 0.0,
                _ => believed.noise(table).ok_or(NOISE_OF_ROWS)?,
            },
        })),
        Likelihood::Ordinal(rows) => ranks(offer, rows.thresholds(&believed.own(table)), noise()?),
        Likelihood::Censored(rows) => {
            let (lower, upper) = match offer.limits {
                Some(limits) => (limits.lower(), limits.upper()),
                None => limits_of_all(rows.readings().lower(), rows.readings().upper())?,
            };
            let noise = noise()?;
            Ok(Report::Clipped(Clipped {
                lower,
                upper,
                noise,
            }))
        }
        // The sign of a value with noise of variance one.
        Likelihood::Bernoulli(rows) if rows.sigmoid() == Sigmoid::Probit => {
            Ok(Report::Ranks(Ranks::new(vec![0.0], 1.0)))
        }
        Likelihood::Positive(_) | Likelihood::Truncated(_) => Err(InputError::Unavailable {
            what: "the information of bounds, and of values that may not be recorded at all",
            remedy: "choose among kinds that report something of every place",
        }),
        Likelihood::Laplace(_)
        | Likelihood::StudentT(_)
        | Likelihood::Bernoulli(_)
        | Likelihood::Binomial(_)
        | Likelihood::Poisson(_)
        | Likelihood::NegativeBinomial(_)
        | Likelihood::Exponential(_)
        | Likelihood::Gamma(_)
        | Likelihood::LogNormal(_) => answers(likelihood, believed, table, amount),
    }
}

/// A rank, of thresholds that its noise tells from one another.
fn ranks(offer: &Offer, thresholds: Vec<f64>, noise: f64) -> Result<Report, InputError> {
    let largest = thresholds
        .iter()
        .fold(0.0, |most: f64, t| most.max(t.abs()));
    if noise.sqrt() < FINEST * largest {
        return Err(InputError::Range {
            what: format!("the noise variance of the kind `{}`", offer.name),
            row: 0,
            value: noise,
            requirement: "a variance whose root is at least 1e-13 of the thresholds",
        });
    }
    Ok(Report::Ranks(Ranks::new(thresholds, noise)))
}

/// A report by quadrature.
fn answers(
    likelihood: &Likelihood,
    believed: &Believed<'_>,
    table: usize,
    amount: Option<f64>,
) -> Result<Report, InputError> {
    let mut circumstances = Circumstances::default();
    let mut own = believed.own(table);
    let mut row = likelihood.select(&[0])?;
    match likelihood {
        Likelihood::StudentT(_) => {
            let noise = amount
                .or_else(|| believed.noise(table))
                .ok_or(NOISE_OF_ROWS)?;
            if noise <= 0.0 {
                return Err(EXACT);
            }
            // All of the noise is known now; the degrees of freedom are those of the table.
            let local = likelihood.local();
            let Distribution::StudentT(t) = local.observation(&own, &circumstances, 0.0) else {
                return Err(NOISE_OF_ROWS);
            };
            let known = Noise::Known(vec![noise]);
            row = StudentT::new(vec![0.0], known, Degrees::Known(t.degrees))?.into();
            own = Vec::new();
            circumstances.variance = noise;
        }
        Likelihood::Laplace(rows) => {
            let scale = rows.scale();
            circumstances.variance = match amount {
                Some(amount) => amount,
                None if scale.iter().all(|s| *s == scale[0]) => 2.0 * scale[0] * scale[0],
                None => return Err(NOISE_OF_ROWS),
            };
        }
        Likelihood::LogNormal(rows) if amount.is_none() => {
            if let LogSd::Each(sds) = rows.sd() {
                if sds.iter().any(|sd| *sd != sds[0]) {
                    return Err(NOISE_OF_ROWS);
                }
                circumstances.variance = sds[0] * sds[0];
            }
        }
        Likelihood::Binomial(_) => {
            let trials = amount.unwrap_or(1.0);
            if trials.fract() != 0.0 || trials > MOST_TRIALS {
                return Err(InputError::Range {
                    what: "the number of trials".to_owned(),
                    row: 0,
                    value: trials,
                    requirement: "a whole number from 1 to 100,000",
                });
            }
            circumstances.trials = trials as u64;
        }
        Likelihood::Poisson(rows) => {
            circumstances.exposure = exposure(rows.lower(), rows.upper(), amount)?;
        }
        Likelihood::NegativeBinomial(rows) => {
            circumstances.exposure = exposure(rows.lower(), rows.upper(), amount)?;
        }
        Likelihood::Bernoulli(_)
        | Likelihood::Exponential(_)
        | Likelihood::Gamma(_)
        | Likelihood::LogNormal(_)
        // These have reports in closed form, or none.
        | Likelihood::Gaussian(_)
        | Likelihood::Interval(_)
        | Likelihood::Censored(_)
        | Likelihood::Truncated(_)
        | Likelihood::Ordinal(_)
        | Likelihood::Positive(_) => {
            if amount.is_some() {
                return Err(InputError::Unavailable {
                    what: "a number for a kind that reports yes or no, or a waiting time",
                    remedy: "leave the number out: there is nothing that it could say of these",
                });
            }
        }
    }
    Ok(Report::Answers(Answers::new(row, own, circumstances)))
}

/// The exposure of a new count, where counts are told in full.
fn exposure(lower: &[f64], upper: &[f64], amount: Option<f64>) -> Result<f64, InputError> {
    match lower == upper {
        true => Ok(amount.unwrap_or(1.0)),
        false => Err(InputError::Unavailable {
            what: "the information of a count that may be hidden or rounded",
            remedy: "some rows of the table are ranges of counts; give those that were counted in full a table of their own, and choose that",
        }),
    }
}

/// The limits of an instrument, by the values that lie beyond them; infinite where none does.
fn limits_of_all(lower: &[f64], upper: &[f64]) -> Result<(f64, f64), InputError> {
    let differ = InputError::Unavailable {
        what: "the limits of a new reading",
        remedy: "they differ from row to row; choose among other kinds, or fit with one instrument",
    };
    let one = |limits: Vec<f64>, open: f64| {
        let first = limits.first().copied().unwrap_or(open);
        match limits.iter().all(|limit| *limit == first) {
            true => Ok(first),
            false => Err(differ.clone()),
        }
    };
    let rows = || lower.iter().zip(upper);
    let below = rows().filter(|(l, _)| **l == f64::NEG_INFINITY);
    let above = rows().filter(|(_, u)| **u == f64::INFINITY);
    let low = one(below.map(|(_, u)| *u).collect(), f64::NEG_INFINITY)?;
    let high = one(above.map(|(l, _)| *l).collect(), f64::INFINITY)?;
    match low < high {
        true => Ok((low, high)),
        false => Err(differ),
    }
}

/// The width of all intervals, where they have one.
fn width_of_all(lower: &[f64], upper: &[f64]) -> Result<f64, InputError> {
    let mut widths = lower.iter().zip(upper).map(|(l, u)| u - l);
    let first = widths.next().unwrap_or(f64::NAN);
    // Ends in decimal digits differ from a width by their rounding.
    let is_first = |w: f64| (w - first).abs() <= 1e-9 * first;
    if first > 0.0 && first.is_finite() && widths.all(is_first) {
        return Ok(first);
    }
    Err(InputError::Unavailable {
        what: "the width of the interval of a new answer",
        remedy: "the table has intervals of several widths, or open ones; give the width of a new one",
    })
}
