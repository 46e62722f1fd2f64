//! From resolved studies to objects of the library, and from these to answers.

mod answers;
mod behind;
mod failed;
mod meet;
mod reporting;
mod shapes;

use std::sync::Arc;

pub use answers::{draw, not_truncated, predict, prediction};
pub use behind::{WantedRows, behind};
pub use failed::{address, explain, place};
use failed::{far_cycles, kernel_place, refused};
pub use meet::meet;
use reporting::TABLES;
pub use reporting::{
    choose, keep_limits, name_tables, ranks, reporting, reports, reports_probabilities,
    said_limits, table_names,
};
pub use shapes::told as told_of_shapes;

use crate::geographic::SAVED_AS;
use anyhow::{Context, Result};
use quadrat::error::{FitError, InputError};
use quadrat::inference::mcmc::McmcOptions;
use quadrat::kernel::Kernel;
pub use quadrat::model::{Finer, FitSummary, Hyper, McmcReport, Posterior, RowCheck};
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing as LibraryInducing, Model, Observations,
    Setting as LibrarySetting,
};
use quadrat::progress::{Keeper, Progress, Silent};

use crate::codes::{self, Codes};
use crate::diagnostic::{Problem, Problems};
use crate::functionals::functionals;
use crate::limits::Said;
use crate::new_row::{self, NewRow};
use crate::prediction_csv;
use crate::resolve::{self, Observed, Resolved};
use crate::study::{Inducing, Integration, NonNegative, Setting};

/// The note of a saved model whose predictions are truncated at zero.
const NON_NEGATIVE: &str = "non_negative";

/// The note of a saved model with the number of the run that made it.
const RUN: &str = "run";

/// How to run, apart from what the study says.
#[derive(Clone, Default)]
pub struct Running {
    /// Hears how far the fit is.
    pub progress: Option<Arc<dyn Progress + Send + Sync>>,
    /// Keeps where a long fit stands, and may stop it.
    pub keeper: Option<Arc<dyn Checkpoint + Send + Sync>>,
    /// May stop a long fit of which nothing is kept.
    pub stopper: Option<Arc<dyn Keeper + Send + Sync>>,
}

impl Running {
    /// Hears how far the fit is: `progress`, or what ignores it.
    #[must_use]
    pub fn watcher(&self) -> &dyn Progress {
        match &self.progress {
            Some(progress) => progress.as_ref(),
            None => &Silent,
        }
    }
}

/// How a fit or an estimate is sampled to check it, with so many draws of each chain.
#[must_use]
pub fn sampling(seed: u64, draws: u32) -> McmcOptions {
    let (options, draws) = (McmcOptions::default(), draws as usize);
    let warm_up = options.warm_up.max(draws / 2);
    options.with_draws(warm_up, draws).with_seed(seed)
}

/// What keeps a long fit, and hears how it ended.
pub trait Checkpoint: Keeper {
    /// The fit failed: what was kept of it is nothing to go on from.
    fn forget(&self);

    /// Why the fit cannot go on from what was kept, in words for people.
    fn refused(&self, reason: &str) -> anyhow::Error;
}

/// A fit whose search met no stopping rule: nothing it found is told. What it says of itself is in
/// the [`Problems`] beside it.
#[derive(Debug, thiserror::Error)]
#[error("the fit did not converge")]
pub struct NotConverged;

/// A model of the study; settings of unknown hyperparameters are refused here.
pub fn model(resolved: &Resolved) -> Result<Model> {
    let study = &resolved.study;
    // What tables count twice was told, and taken away, with their lines.
    let mut model = without_rows(resolved)?.with_overlapping_counts();
    for table in &resolved.tables {
        let observe = &study.observe[table.of];
        let observations = observations(table).map_err(|error| {
            let (message, at) = match &error {
                // The library counts rows from 0; people look for the line.
                InputError::NotFinite { what, row, value } => (
                    format!("{what} is {value}; every number must be finite"),
                    Some(*row),
                ),
                InputError::Range {
                    what,
                    row,
                    value,
                    requirement,
                } => (
                    format!("{what} is {value}; it must be {requirement}"),
                    Some(*row),
                ),
                _ => (error.to_string(), None),
            };
            let message = match at {
                Some(row) => format!("{}: {message}", table.address(row)),
                None => format!("{}: {message}", table.table.name()),
            };
            Problems::from(Problem::new(message).at(study.source.place(&observe.file.span)))
        })?;
        model = model.observe(observations);
    }
    if let Some(asked) = &study.latent.non_negative
        && asked.value == NonNegative::Constrain
    {
        model = model.non_negative().map_err(|error| {
            Problems::from(Problem::new(error.to_string()).at(study.source.place(&asked.span)))
        })?;
    }
    for vary in &study.vary {
        let kernel = mixed(resolved, &Kernel::parse(&vary.kernel.value)?, |table| {
            vary.what.is_of(&table.likelihood)
        })?;
        model = model.vary(vary.what, kernel, vary.link);
    }
    let mut settings: Vec<&Setting> = study.settings.iter().collect();
    let mut problems = Problems::default();
    // The library stops at the first setting it refuses; without that one it tells the next.
    loop {
        let with_settings = settings.iter().fold(model.clone(), |model, setting| {
            model.set(&setting.name.value, setting_for_library(setting))
        });
        let Err(error) = with_settings.parameters() else {
            problems.or(())?;
            return Ok(with_settings);
        };
        let name = match &error {
            InputError::UnknownParameter { name, .. } | InputError::Parameter { name, .. } => {
                name.clone()
            }
            _ => String::new(),
        };
        problems.push(refused(study, error));
        let before = settings.len();
        settings.retain(|setting| setting.name.value != name);
        if settings.len() == before {
            return Err(problems.into());
        }
    }
}

/// The kernel and the mean of the study, with nothing observed.
fn without_rows(resolved: &Resolved) -> Result<Model> {
    let mean = resolved.study.latent.mean.value.clone();
    Ok(Model::new(kernel(resolved)?).mean(mean))
}

/// The same for methods that are fitted to one table, of whatever output.
pub fn of_one_table(resolved: &Resolved) -> Result<Model> {
    let latent = &resolved.study.latent;
    let kernel = Kernel::parse(&latent.kernel.value)?;
    Ok(Model::new(kernel).mean(latent.mean.value.clone()))
}

/// The kernel of the study.
fn kernel(resolved: &Resolved) -> Result<Kernel> {
    let own = Kernel::parse(&resolved.study.latent.kernel.value)?;
    if !own.outputs().is_empty() {
        return Ok(own);
    }
    mixed(resolved, &own, |_| true)
}

/// A kernel over the outputs of some tables: where they are several one per latent process, times
/// its mixing matrix.
fn mixed(resolved: &Resolved, own: &Kernel, of: impl Fn(&Observed) -> bool) -> Result<Kernel> {
    let is_seen = |output: &&String| {
        let mut tables = resolved.tables_of(Some(output.as_str()));
        tables.any(&of)
    };
    let outputs: Vec<String> = resolved.outputs.iter().filter(is_seen).cloned().collect();
    if outputs.len() < 2 {
        return Ok(own.clone());
    }
    let mut column = prediction_csv::OUTPUT.to_owned();
    while own.inputs().contains(&column) {
        column.push('_');
    }
    let mixing = &resolved.study.coregionalization;
    let rank = mixing.rank.min(outputs.len());
    let process = || Kernel::coregion(column.clone(), outputs.clone(), rank) * own.clone();
    let mixed = (1..mixing.latents).fold(process(), |sum, _| sum + process());
    match Kernel::parse(&mixed.to_string()) {
        Ok(_) => Ok(mixed),
        Err(error) => {
            let study = &resolved.study;
            let span = mixing.span.as_ref().unwrap_or(&study.latent.kernel.span);
            let message = format!("this mixture of the kernel is too much: {}", error.message);
            let problem = Problem::new(message).at(study.source.place(span));
            Err(Problems::from(problem.remedy("take fewer `latents`, or a shorter kernel")).into())
        }
    }
}

fn setting_for_library(setting: &Setting) -> LibrarySetting {
    LibrarySetting {
        start: setting.start,
        value: setting.value,
        fixed: setting.fixed,
        prior: setting.prior.as_ref().and_then(|prior| prior.parse().ok()),
        lower: setting.lower,
        upper: setting.upper,
    }
}

/// A table as the library takes it.
pub fn observations(table: &Observed) -> Result<Observations, InputError> {
    let observations = match &table.once {
        Some((supports, likelihood, shares)) => {
            Observations::new(supports.clone(), likelihood.clone())?.in_shares(shares.clone())?
        }
        None => Observations::new(
            functionals(&table.places, 0..table.places.len())?,
            table.likelihood.clone(),
        )?,
    };
    let observations = match &table.times {
        Some(times) => observations.seen(times.clone())?,
        None => observations,
    };
    let observations = match &table.places.output {
        Some(output) => observations.of_output(output),
        None => observations,
    };
    Ok(if table.share_noise {
        observations.share_noise()
    } else {
        observations
    })
}

/// A table with the inputs that the kernel does not use too, which tell rows apart.
pub fn with_spare_inputs(table: &Observed) -> Result<Observations, InputError> {
    let mut places = table.places.clone();
    places.dims.extend(table.spare.iter().cloned());
    let supports = functionals(&places, 0..places.len())?;
    let observations = Observations::new(supports, table.likelihood.clone())?;
    Ok(match &places.output {
        Some(output) => observations.of_output(output),
        None => observations,
    })
}

/// Fits the model of a study.
pub fn fit(resolved: &Resolved, running: &Running) -> Result<Posterior> {
    fit_model(resolved, &model(resolved)?, running)
}

/// The same where the [`model`] of the study was made already.
pub fn fit_model(resolved: &Resolved, model: &Model, running: &Running) -> Result<Posterior> {
    let inference = &resolved.study.inference;
    let mut options = FitOptions::default()
        .with_hyperparameters(match inference.hyperparameters {
            Integration::Auto => Hyperparameters::Auto,
            Integration::Map => Hyperparameters::Map,
            Integration::Integrate => Hyperparameters::Integrate,
        })
        .with_seed(inference.seed);
    options = match (&inference.inducing, &resolved.inducing) {
        (_, Some(places)) => {
            let points = functionals(places, 0..places.len())?;
            options.with_inducing(LibraryInducing::At(Box::new(points)))
        }
        (Inducing::Number(count), _) => options.with_inducing(LibraryInducing::Number(*count)),
        (Inducing::PerRow, _) => options.with_inducing(LibraryInducing::PerRow),
        _ => options,
    };
    if let Some(form) = &inference.log_sum {
        options = options.with_log_sum(form.value);
    }
    if inference.move_inducing {
        options = options.with_moved_inducing();
    }
    // Last: what is said of inducing points may be for the case that they are needed.
    options = options.with_inference(inference.method);
    if let Some(progress) = &running.progress {
        options = options.with_progress(Arc::clone(progress));
    }
    if let Some(keeper) = &running.keeper {
        options = options.with_keeper(Arc::clone(keeper) as _);
    } else if let Some(stopper) = &running.stopper {
        options = options.with_keeper(Arc::clone(stopper));
    }
    // What a fit kept that failed is nothing to go on from.
    let forget = || running.keeper.iter().for_each(|keeper| keeper.forget());
    let mut posterior = model.fit(&options).map_err(|error| {
        forget();
        match (&error, &running.keeper) {
            (FitError::Kept { reason }, Some(keeper)) => keeper.refused(reason),
            _ => explain(resolved, error),
        }
    })?;
    if let Some(whole) = &resolved.whole {
        posterior.reaching(whole)?;
    }
    if let Some(geographic) = &resolved.geographic {
        posterior.set_note(SAVED_AS, geographic.to_note()?);
    }
    keep_labels(&mut posterior, &resolved.codes)?;
    posterior.set_note(RUN, &resolved.run);
    let names = resolve::names(&resolved.study, &resolved.tables);
    posterior.set_note(TABLES, serde_json::to_string(&names)?);
    let limits = resolved.tables.iter().map(|table| table.says.limits());
    let limits: Vec<Said> = limits.collect();
    keep_limits(&mut posterior, &limits)?;
    let new_rows = resolved.tables.iter().map(|table| {
        let observe = resolved.study.observe.get(table.of);
        NewRow::said(table, observe.and_then(|o| o.times.as_ref()))
    });
    new_row::keep(&mut posterior, &new_rows.collect::<Vec<_>>());
    shapes::keep(&mut posterior, resolved)?;
    if let Some(asked) = resolved.study.non_negative() {
        posterior.set_note(NON_NEGATIVE, asked.word());
    }
    // A fit that is over was not stopped: the keeper hears of it by being asked.
    let is_stopped = || {
        let kept = running.keeper.as_ref().is_some_and(|k| k.is_stopped());
        kept || running.stopper.as_ref().is_some_and(|s| s.is_stopped())
    };
    if !posterior.summary().converged && !is_stopped() {
        forget();
        let reason = posterior.summary().warnings.join("; ");
        let remedy = far_cycles(resolved).unwrap_or_else(|| {
            "give starts or bounds in [hyperparameters], or simplify the kernel".into()
        });
        let problem = Problem::new(format!("the fit did not converge ({reason})")).remedy(remedy);
        let placed = Problems::from(problem.at(kernel_place(resolved)));
        return Err(anyhow::Error::from(placed).context(NotConverged));
    }
    Ok(posterior)
}

/// Keeps the labels of inputs in a model that is to be saved.
pub fn keep_labels(posterior: &mut Posterior, codes: &Codes) -> Result<()> {
    if !codes.is_empty() {
        posterior.set_note(codes::SAVED_AS, codes.to_note()?);
    }
    Ok(())
}

/// The labels of the inputs of a saved model.
pub fn labels(posterior: &Posterior) -> Result<Codes> {
    let note = posterior.note(codes::SAVED_AS);
    Codes::from_note(note).context("cannot use the labels in the model")
}

/// Whether the predictions of a model are to be truncated at zero, as its study said.
pub fn is_non_negative(posterior: &Posterior) -> bool {
    posterior.note(NON_NEGATIVE).is_some()
}

/// A saved model as bytes.
pub fn to_bytes(posterior: &Posterior) -> Vec<u8> {
    posterior.to_bytes()
}

/// A saved model again.
pub fn from_bytes(bytes: &[u8]) -> Result<Posterior> {
    Ok(Posterior::from_bytes(bytes)?)
}
