//! Simple methods fitted to the tables of a study, and what they say beside ours.

use anyhow::{Result, bail};
use quadrat::baseline::{
    BinHeight, Centroid, CompositeLink, Constant, MonotoneSpline, Pycnophylactic, Smoothing,
    Sprague, reported_as,
};
use quadrat::error::FitError;
use quadrat::likelihood::{Bernoulli, Binomial, Likelihood, Poisson};
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Prediction};
use quadrat::support::Functionals;

use crate::diagnostic::{Problem, Problems};
use crate::engine;
use crate::functionals::functionals;
use crate::outcome::Outcome;
use crate::resolve::{Asked, Observed, Resolved};
use crate::simple::Simple;
use crate::study::Scale;

/// Edges up to here that are whole numbers are taken as years or the like, in steps of one.
const MOST_YEARS: f64 = 200.0;
/// Otherwise so many cells lie in the narrowest row,
const CELLS: f64 = 5.0;
/// and so many at most along one input, and along each of two.
const MOST_CELLS: [f64; 2] = [400.0, 100.0];

/// What a simple method says at places.
pub enum Told {
    /// New observations.
    Distributions(Box<Prediction>),
    /// Their means alone.
    Means(Vec<f64>),
}

impl Told {
    /// Means.
    pub fn means(&self) -> &[f64] {
        match self {
            Self::Distributions(told) => told.mean(),
            Self::Means(means) => means,
        }
    }
}

/// Where a simple method is asked, for what and at which exposures or numbers of trials.
pub struct Places<'a> {
    /// Where.
    pub at: &'a Functionals,
    /// Exposures or trials; 1 where there are none.
    pub amounts: &'a [f64],
    /// What for.
    pub scale: Scale,
}

impl Simple {
    /// Fits it to a table; `model` has the kernel and the mean of the study.
    pub fn fit(
        self,
        table: &Observations,
        model: &Model,
    ) -> Result<Box<dyn quadrat::baseline::Predict>, FitError> {
        let step = || steps(table).first().copied().unwrap_or(f64::NAN);
        Ok(match self {
            Self::Constant => Box::new(Constant::new(table)?),
            Self::Areal => Box::new(BinHeight::new(table)?),
            Self::Mono => Box::new(MonotoneSpline::new(table)?),
            Self::Sprague => Box::new(Sprague::new(table)?),
            Self::Pclm => Box::new(CompositeLink::fit(table, step(), Smoothing::Aic)?),
            Self::Pycnophylactic => Box::new(Pycnophylactic::new(table, &steps(table))?),
            Self::Centroid => {
                let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
                Box::new(Centroid::fit(model, table, &options)?)
            }
        })
    }

    /// Fits it to a table and asks it at places.
    pub fn tell(
        self,
        rows: &Observations,
        model: &Model,
        places: &Places<'_>,
    ) -> Result<Told, FitError> {
        let response = self.fit(rows, model)?.predict_response(places.at)?;
        if places.scale == Scale::Observation
            && let Some(like) = new_rows(rows.likelihood(), places.amounts)?
        {
            let like = Observations::new(places.at.clone(), like)?;
            return Ok(Told::Distributions(Box::new(reported_as(
                &response, &like,
            )?)));
        }
        let means = response.mean().iter().zip(places.amounts);
        Ok(Told::Means(means.map(|(m, a)| m * a).collect()))
    }
}

/// New rows whose distribution follows from their mean, at exposures or among trials.
fn new_rows(like: &Likelihood, amounts: &[f64]) -> Result<Option<Likelihood>, FitError> {
    let none = || vec![0.0; amounts.len()];
    Ok(match like {
        Likelihood::Poisson(x) => Some(Poisson::new(none(), amounts.to_vec(), x.link())?.into()),
        Likelihood::NegativeBinomial(x) => {
            Some(Poisson::new(none(), amounts.to_vec(), x.link())?.into())
        }
        Likelihood::Binomial(x) => {
            Some(Binomial::new(none(), amounts.to_vec(), x.sigmoid())?.into())
        }
        Likelihood::Bernoulli(x) => {
            Some(Bernoulli::new(vec![false; amounts.len()], x.sigmoid()).into())
        }
        _ => None,
    })
}

/// Lengths of cells along every input.
fn steps(table: &Observations) -> Vec<f64> {
    let at = table.supports();
    let dims = at.dims().len();
    let most = MOST_CELLS[usize::from(dims > 1)];
    let step = |d: usize| {
        let ends: Vec<(f64, f64)> = (0..at.len()).map(|row| at.extent(row, d)).collect();
        let first = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = ends
            .iter()
            .fold(first, |(low, high), (a, b)| (low.min(*a), high.max(*b)));
        let widths = ends.iter().map(|(a, b)| b - a).filter(|width| *width > 0.0);
        let narrowest = widths.fold(high - low, f64::min);
        let is_year = |x: f64| x.fract() == 0.0 && (0.0..=MOST_YEARS).contains(&x);
        let step = match ends.iter().all(|(a, b)| is_year(*a) && is_year(*b)) {
            true => 1.0,
            false => narrowest / CELLS,
        };
        step.max((high - low) / most)
    };
    (0..dims).map(step).collect()
}

/// Adds what simple methods predict to the answers that want them, and warnings of those that
/// cannot tell it.
pub fn add(outcome: &mut Outcome) {
    let resolved = &outcome.resolved;
    for (asked, answer) in resolved.predictions.iter().zip(&mut outcome.answers) {
        for &simple in &asked.chances.simple {
            match one_beside(resolved, asked, simple) {
                Ok(means) => answer.simple.push((simple, means)),
                Err(error) => {
                    let name = simple.name();
                    let output = asked.places.output.as_ref();
                    let of = output.map_or_else(String::new, |o| format!(" of output `{o}`"));
                    let what = format!("the simple method `{name}` is left out{of}: {error:#}");
                    // It is the same of every prediction, as a rule.
                    if !outcome.warnings.contains(&what) {
                        outcome.warnings.push(what);
                    }
                }
            }
        }
    }
    align(outcome);
}

/// Outputs of one prediction share a table: a method that tells of one of them has empty cells for
/// the others.
fn align(outcome: &mut Outcome) {
    let all = outcome.resolved.predictions.iter().zip(&outcome.answers);
    let told: Vec<(usize, Simple)> = all
        .flat_map(|(asked, answer)| answer.simple.iter().map(|(simple, _)| (asked.of, *simple)))
        .collect();
    let all = outcome.resolved.predictions.iter();
    for (asked, answer) in all.zip(&mut outcome.answers) {
        let mut own = std::mem::take(&mut answer.simple);
        for &simple in &asked.chances.simple {
            if !told.contains(&(asked.of, simple)) {
                continue;
            }
            let at = own.iter().position(|(is, _)| *is == simple);
            let means = at.map(|at| own.swap_remove(at).1);
            let means = means.unwrap_or_else(|| vec![f64::NAN; asked.places.len()]);
            answer.simple.push((simple, means));
        }
    }
}

fn one_beside(resolved: &Resolved, asked: &Asked, simple: Simple) -> Result<Vec<f64>> {
    let output = asked.places.output.as_deref();
    let own = resolved
        .tables_of(output)
        .filter(|table| table.says.is_report());
    let own: Vec<&Observed> = own.collect();
    let [table] = own[..] else {
        bail!("it takes one table, and here are {}", own.len());
    };
    let rows = engine::observations(table)?;
    let model = engine::of_one_table(resolved)?;
    let at = functionals(&asked.places, 0..asked.places.len())?;
    let ones = vec![1.0; asked.places.len()];
    let amounts = asked.places.amounts.as_ref();
    let places = Places {
        at: &at,
        amounts: amounts.map_or(&ones[..], |amounts| amounts.values()),
        scale: asked.scale,
    };
    let told = simple.tell(&rows, &model, &places)?;
    Ok(told.means().to_vec())
}

/// Why a method that was named cannot do a study.
///
/// # Arguments
/// * `are_left_out` - whether that was tried without some of the rows
pub fn cannot(simple: Simple, when: &str, error: &FitError, are_left_out: bool) -> Problems {
    let message = format!(
        "--against {}: it cannot be used {when}: {error}",
        simple.name()
    );
    let remedy = match simple {
        Simple::Mono | Simple::Sprague if are_left_out => {
            "it needs bands that adjoin, and rows that are left out leave gaps: `--truth FILE`, with finer rows, leaves none out; or leave the method out"
        }
        _ => "leave it out; without --against those are taken that can do the study",
    };
    Problem::new(message).remedy(remedy).into()
}
