//! What to measure next, and what was measured.

use std::sync::Arc;

use anyhow::Context;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use quadrat::acquire::{
    Chosen, Offer, Places, Plan, Policy, Survey, choose_watched, latent_limit, suits, survey,
};
use quadrat::model::{FitOptions, Hyperparameters, Posterior as Fitted};
use quadrat::progress::Progress;
use quadrat::support::Functionals;
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::measure::{Own, Price, by_kind, conditioned, names, offer, read, table_of};
use quadrat_study::{engine, refused, table};

use crate::buffers::bytes;
use crate::errors::{Failure, Outcome};
use crate::posterior::Posterior;
use crate::support::Support;
use crate::work::{self, Control};

/// The note of a model that keeps what else a campaign is.
const NOTE: &str = "campaign";

/// Which table the rows of a kind are like: its number, or a word of `quadrat next`.
#[derive(FromPyObject, Clone)]
enum Like {
    Table(usize),
    Word(String),
}

/// A way of measuring.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub struct Way {
    name: String,
    like: Like,
    cost: f64,
    amount: Option<f64>,
}

/// How measurements are chosen.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    policy: String,
    batch: usize,
    budget: Option<f64>,
    steps: Option<usize>,
    above: Option<f64>,
    seed: u64,
}

impl Way {
    /// The table, and whether only intervals of its values are told.
    fn table(&self, posterior: &Fitted) -> Result<(usize, bool), Problem> {
        match &self.like {
            Like::Word(word) => table_of(posterior, word),
            Like::Table(table) => match posterior.observations().len() {
                count if *table < count => Ok((*table, false)),
                count => Err(Problem::new(format!(
                    "the kind `{}` is like table {table}, and the model has {count}",
                    self.name
                ))
                .remedy("count tables from 0, in the order in which they were observed")),
            },
        }
    }
}

fn study(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Study(refused(&error.into()))
}

fn offers(posterior: &Fitted, ways: &[Way]) -> Outcome<Vec<Offer>> {
    let mut problems = Problems::default();
    let mut all = Vec::with_capacity(ways.len());
    for way in ways {
        let price = Price {
            kind: way.name.clone(),
            cost: way.cost,
            amount: way.amount,
        };
        let like = way.table(posterior);
        match like.and_then(|like| offer(posterior, &price, like)) {
            Ok(offer) => all.push(offer),
            Err(problem) => problems.push(problem),
        }
    }
    problems.or(all).map_err(study)
}

/// What was chosen, in bits.
struct Told {
    chosen: Chosen,
    /// What each chosen measurement alone would tell of the hyperparameters.
    besides: Vec<f64>,
    far: Vec<usize>,
}

impl Told {
    fn of(
        survey: &Survey<'_>,
        plan: &Plan,
        far: Vec<usize>,
        progress: &dyn Progress,
    ) -> Outcome<Self> {
        let chosen = choose_watched(survey, plan, progress)?;
        let asked = chosen.choices.iter().map(|choice| choice.question);
        let besides = asked.map(|asked| survey.of_hyperparameters(asked).map_or(f64::NAN, bits));
        Ok(Self {
            besides: besides.collect(),
            chosen,
            far,
        })
    }
}

fn bits(nats: f64) -> f64 {
    nats / std::f64::consts::LN_2
}

fn plan(asked: &Asked, fitted: &Fitted, offers: &[Offer]) -> Outcome<Plan> {
    let policy = Policy::named(&asked.policy).ok_or_else(|| {
        let known: Vec<&str> = Policy::ALL.iter().map(|policy| policy.name()).collect();
        let (asked, known) = (&asked.policy, known.join(", "));
        Failure::Data(format!("policy is \"{asked}\"; there are {known}"))
    })?;
    suits(fitted, offers, policy)?;
    let limit = asked.above.map(|above| latent_limit(fitted, offers, above));
    Ok(Plan {
        policy,
        limit: limit.transpose()?,
        batch: asked.batch,
        budget: asked.budget,
        steps: asked.steps,
        seed: asked.seed,
    })
}

/// Chooses measurements; tells places, kinds and bits of what was chosen, what every measurement
/// alone would tell, and candidates far outside the data.
#[pyfunction]
#[pyo3(signature = (posterior, at, ways, asked, targets=None, progress=None))]
pub fn ask<'py>(
    py: Python<'py>,
    posterior: &Posterior,
    at: &Support,
    ways: Vec<Way>,
    asked: Asked,
    targets: Option<&Support>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let placed = || -> Outcome<(Arc<Functionals>, Option<Arc<Functionals>>)> {
        posterior.check_planar()?;
        let targets = targets.map(|targets| posterior.place(targets, None));
        Ok((posterior.place(at, None)?, targets.transpose()?))
    };
    let (at, targets) = placed().map_err(|failure| failure.raise(py))?;
    let fitted = Arc::clone(&posterior.fitted);
    let costs: Vec<f64> = ways.iter().map(|way| way.cost).collect();
    let told = work::tracked(py, progress.as_ref(), move |control| {
        let offers = offers(&fitted, &ways)?;
        let plan = plan(&asked, &fitted, &offers)?;
        let far = fitted.extrapolation(&at)?;
        let places = Places::new(&fitted, &at, &offers, targets.as_deref())?;
        let survey = survey(&fitted, &places, &offers)?;
        Told::of(&survey, &plan, far, control)
    })?;
    let choices = &told.chosen.choices;
    let place: Vec<usize> = choices.iter().map(|one| one.question.place).collect();
    let kind: Vec<usize> = choices.iter().map(|one| one.question.kind).collect();
    let information: Vec<f64> = choices.iter().map(|one| bits(one.information)).collect();
    let paid: Vec<f64> = kind.iter().map(|kind| costs[*kind]).collect();
    let shares: Vec<f64> = information.iter().zip(&paid).map(|(b, c)| b / c).collect();
    let alone: Vec<f64> = told.chosen.information.iter().map(|n| bits(*n)).collect();
    let all = PyDict::new(py);
    all.set_item("place", place)?;
    all.set_item("kind", kind)?;
    all.set_item("information_bits", bytes(py, &information)?)?;
    all.set_item("hyperparameter_bits", bytes(py, &told.besides)?)?;
    all.set_item("cost", bytes(py, &paid)?)?;
    all.set_item("bits_per_cost", bytes(py, &shares)?)?;
    all.set_item("alone", bytes(py, &alone)?)?;
    all.set_item("far", told.far)?;
    Ok(all)
}

/// The table that rows are like, whether they are intervals of its values, which rows, and both
/// ends of what they say.
type Group<'py> = (
    usize,
    bool,
    Vec<usize>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
);

/// What came of rows that were told.
struct Added {
    grown: Fitted,
    own: Own,
    ends: Vec<(Vec<f64>, Vec<f64>)>,
    open: usize,
    unused: Vec<String>,
}

/// A posterior with the rows of a table (CSV) that have an answer, these by kind, and how many have
/// none, and what to say of columns that say nothing.
///
/// # Arguments
/// * `inputs` - the columns that say where
#[pyfunction]
pub fn tell<'py>(
    py: Python<'py>,
    posterior: &Posterior,
    at: &Support,
    text: String,
    inputs: Vec<String>,
    ways: Vec<Way>,
) -> PyResult<(Posterior, Vec<Group<'py>>, usize, Vec<String>)> {
    let at = posterior
        .check_planar()
        .and_then(|()| posterior.place(at, None));
    let at = at.map_err(|failure| failure.raise(py))?;
    let fitted = Arc::clone(&posterior.fitted);
    let added = work::run(py, move || {
        added(&fitted, &at, (text, &inputs), &ways).map_err(study)
    })?;
    let each = added.own.into_iter().zip(&added.ends);
    let groups = each.map(|(((table, as_interval), (_, rows)), (lower, upper))| {
        Ok((
            table,
            as_interval,
            rows,
            bytes(py, lower)?,
            bytes(py, upper)?,
        ))
    });
    let groups = groups.collect::<PyResult<_>>()?;
    let grown = posterior.followed_by(added.grown);
    Ok((grown, groups, added.open, added.unused))
}

fn added(
    posterior: &Fitted,
    at: &Functionals,
    (text, inputs): (String, &[String]),
    ways: &[Way],
) -> anyhow::Result<Added> {
    let table = table::Table::from_csv(text.into_bytes(), "rows".to_owned())?;
    let headers = table.headers().iter().enumerate();
    let columns = headers.map(|(at, header)| Ok((header.clone(), table.texts(at)?)));
    let columns: Vec<(String, Vec<String>)> = columns.collect::<Result<_, Problems>>()?;
    let kinds = columns.iter().find(|(header, _)| header == "kind");
    let kinds = kinds.map_or_else(Vec::new, |(_, cells)| cells.clone());
    let columns = columns
        .into_iter()
        .filter(|(name, _)| !inputs.contains(name));
    let answered = read(posterior, &table, columns.collect());
    let (own, open) = by_kind(posterior, (&table, &answered), &kinds, |kind| {
        let way = ways.iter().find(|way| way.name == kind);
        way.map_or_else(
            || {
                let known: Vec<&str> = ways.iter().map(|way| way.name.as_str()).collect();
                let message = format!("there is no kind `{kind}`");
                Err(Problem::new(message).remedy(format!("the kinds are {}", known.join(", "))))
            },
            |way| way.table(posterior),
        )
    })?;
    let grown = conditioned(posterior, at, (&table, &answered), &own)?;
    let ends = own.iter().map(|(like, (_, rows))| {
        let answers = answered.like(posterior, *like);
        let answers = answers.context("no table is like the rows")?;
        Ok(answers.ends(rows)?)
    });
    Ok(Added {
        ends: ends.collect::<anyhow::Result<_>>()?,
        unused: answered.unused(posterior, &own),
        grown,
        own,
        open,
    })
}

/// All names that a column of answers may have.
#[pyfunction]
pub fn answers(posterior: &Posterior) -> Vec<String> {
    names(&posterior.fitted)
}

/// The posterior with hyperparameters learned again, from all of its rows.
#[pyfunction]
#[pyo3(signature = (posterior, seed, starts=None, threads=None, progress=None))]
pub fn relearn(
    py: Python<'_>,
    posterior: &Posterior,
    seed: u64,
    starts: Option<usize>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Posterior> {
    let control = Arc::new(Control::default());
    let fitted = Arc::clone(&posterior.fitted);
    let hyperparameters = match fitted.summary().integrated {
        true => Hyperparameters::Integrate,
        false => Hyperparameters::Map,
    };
    let mut options = FitOptions::default()
        .with_seed(seed)
        .with_hyperparameters(hyperparameters)
        .with_progress(Arc::clone(&control) as _);
    if let Some(starts) = starts {
        options = options.with_starts(starts);
    }
    if let Some(threads) = threads {
        options = options.with_threads(threads);
    }
    let learned = work::watched(py, &control, progress.as_ref(), move || {
        Ok(fitted.relearn(&options)?)
    })?;
    Ok(posterior.followed_by(learned))
}

/// The model file of a campaign: the posterior, a note beside it, and names of tables.
#[pyfunction]
pub fn campaign_bytes<'py>(
    py: Python<'py>,
    posterior: &Posterior,
    note: String,
    ways: Vec<Way>,
) -> PyResult<Bound<'py, PyBytes>> {
    let fitted = Arc::clone(&posterior.fitted);
    let data = work::run(py, move || {
        let mut noted = Fitted::from_bytes(&fitted.to_bytes())?;
        noted.set_note(NOTE, note);
        let mut names = engine::table_names(&noted);
        for way in &ways {
            // A name that says nothing gives way to that of the kind.
            if let Like::Table(table) = way.like
                && let Some(name) = names.get_mut(table)
                && *name == format!("table {}", table + 1)
            {
                name.clone_from(&way.name);
            }
        }
        engine::name_tables(&mut noted, &names).map_err(study)?;
        Ok(noted.to_bytes())
    })?;
    Ok(PyBytes::new(py, &data))
}

/// A saved posterior, and what a campaign is besides, if it is of one.
#[pyfunction]
pub fn load_noted(py: Python<'_>, data: &[u8]) -> PyResult<(Posterior, Option<String>)> {
    let data = data.to_vec();
    let (fitted, note) = work::run(py, move || {
        let mut fitted = Fitted::from_bytes(&data)?;
        let note = fitted.note(NOTE).filter(|note| !note.is_empty());
        let note = note.map(str::to_owned);
        if note.is_some() {
            // A posterior that is saved by itself is no campaign.
            fitted.set_note(NOTE, "");
        }
        Ok((fitted, note))
    })?;
    Ok((Posterior::new(fitted, false), note))
}
