//! Simple methods beside ours: those of `quadrat score --against` and of `[baseline]`.

use anyhow::{Result, bail};
use quadrat::baseline::{
    BinHeight, Centroid, CompositeLink, Constant, MonotoneSpline, Pycnophylactic, Smoothing,
    reported_as,
};
use quadrat::error::FitError;
use quadrat::likelihood::{Bernoulli, Binomial, Likelihood, Poisson};
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Prediction};
use quadrat::support::Functionals;

use crate::diagnostic::{Problem, Problems, shown};
use crate::engine;
use crate::functionals::functionals;
use crate::resolve::{Asked, Observed, Resolved};
use crate::study::{Predict, Scale, Study};
use crate::suggest;

/// The name of ours.
pub const OURS: &str = "quadrat";

/// Edges up to here that are whole numbers are taken as years or the like, in steps of one.
const MOST_YEARS: f64 = 200.0;
/// Otherwise so many cells lie in the narrowest row,
const CELLS: f64 = 5.0;
/// and so many at most along one input, and along each of two.
const MOST_CELLS: [f64; 2] = [400.0, 100.0];

/// A simple method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simple {
    /// The overall rate or mean.
    Constant,
    /// Evenly within every row.
    Areal,
    /// A monotone spline through cumulated counts.
    Mono,
    /// The penalised composite link model.
    Pclm,
    /// The smoothest surface that keeps all totals.
    Pycnophylactic,
    /// The model of the study, at the centre of every row.
    Centroid,
}

impl Simple {
    /// All of them, the simplest first.
    pub const ALL: [Self; 6] = [
        Self::Constant,
        Self::Areal,
        Self::Mono,
        Self::Pclm,
        Self::Pycnophylactic,
        Self::Centroid,
    ];

    /// Those that are taken where none is named.
    const USUAL: [Self; 3] = [Self::Constant, Self::Areal, Self::Mono];

    /// Its name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Areal => "areal",
            Self::Mono => "mono",
            Self::Pclm => "pclm",
            Self::Pycnophylactic => "pycnophylactic",
            Self::Centroid => "centroid",
        }
    }

    /// What it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Constant => "the overall rate or mean, everywhere",
            Self::Areal => "every row spread evenly over where it looked, the nearest one beyond",
            Self::Mono => "a monotone spline through the cumulated counts",
            Self::Pclm => "a penalised composite link model, its strength by AIC",
            Self::Pycnophylactic => "the smoothest surface that keeps the totals of all rows",
            Self::Centroid => "the same kernel, every row taken for a point at its centre",
        }
    }

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
            Self::Pclm => Box::new(CompositeLink::fit(table, step(), Smoothing::Aic)?),
            Self::Pycnophylactic => Box::new(Pycnophylactic::new(table, &steps(table))?),
            Self::Centroid => {
                let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
                Box::new(Centroid::fit(model, table, &options)?)
            }
        })
    }
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

/// What a simple method says at places.
pub enum Told {
    /// New observations.
    Distributions(Prediction),
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
            return Ok(Told::Distributions(reported_as(&response, &like)?));
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

/// The methods that stand beside a prediction of a study.
pub fn wanted(study: &Study, predict: &Predict) -> Vec<Simple> {
    match predict.scale {
        Scale::Response | Scale::Observation => study.baseline.clone(),
        _ => Vec::new(),
    }
}

/// The means of the simple methods that a prediction wants, and what to say of those that cannot
/// tell them.
pub fn beside(resolved: &Resolved, asked: &Asked) -> (Vec<(Simple, Vec<f64>)>, Vec<String>) {
    let (mut told, mut warnings) = (Vec::new(), Vec::new());
    for &simple in &asked.chances.simple {
        match one_beside(resolved, asked, simple) {
            Ok(means) => told.push((simple, means)),
            Err(error) => warnings.push(format!(
                "the simple method `{}` is left out: {error:#}",
                simple.name()
            )),
        }
    }
    (told, warnings)
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
    let model = engine::without_rows(resolved)?;
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

/// The names of all methods, for people.
pub fn known() -> String {
    suggest::list(&Simple::ALL.map(Simple::name).map(str::to_owned))
}

/// The methods that a flag names, and whether it names some: the usual ones where it does not. A
/// name that is not known is refused.
pub fn named(flag: &str, names: &[String]) -> Result<(Vec<Simple>, bool), Problems> {
    let mut found: Vec<Simple> = Vec::new();
    let mut problems = Problems::default();
    for name in names.iter().map(|name| name.trim()) {
        match Simple::ALL.into_iter().find(|simple| simple.name() == name) {
            Some(simple) if !found.contains(&simple) => found.push(simple),
            Some(_) => {}
            // Ours is always there.
            None if name == OURS => {}
            None => {
                let near = suggest::nearest(name, Simple::ALL.map(Simple::name));
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("{flag}: there is no method `{}`{hint}", shown(name));
                problems.push(Problem::new(message).remedy(format!("it may be {}", known())));
            }
        }
    }
    problems.or(())?;
    Ok(match names.is_empty() {
        true => (Simple::USUAL.to_vec(), false),
        false => (found, true),
    })
}

/// Why a method that was named cannot do a study.
pub fn cannot(simple: Simple, when: &str, error: &FitError) -> Problems {
    let message = format!(
        "--against {}: it cannot be used {when}: {error}",
        simple.name()
    );
    let remedy = "leave it out; without --against those are taken that can do the study";
    Problem::new(message).remedy(remedy).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_names() {
        let names = |all: &[&str]| {
            named(
                "--against",
                &all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(&[]).unwrap(), (Simple::USUAL.to_vec(), false));
        let (found, is_named) = names(&["mono", "quadrat", "mono", "areal"]).unwrap();
        assert_eq!(found, [Simple::Mono, Simple::Areal]);
        assert!(is_named);
        let problems = names(&["monos", "x"]).unwrap_err();
        assert_eq!(problems.0.len(), 2);
        assert!(problems.0[0].message.contains("did you mean `mono`"));
    }
}
