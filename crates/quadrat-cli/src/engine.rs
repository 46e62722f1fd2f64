//! The one place that talks to the library: from resolved studies to answers.

use std::sync::Arc;

use crate::functionals::functionals;
use crate::geographic::SAVED_AS;
use anyhow::{Context, Result};
use quadrat::error::{FitError, InputError};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Likelihood;
pub use quadrat::model::{Finer, FitSummary, Hyper, McmcReport, Posterior, RowCheck};
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing as LibraryInducing, Mean as LibraryMean, Model,
    Observations, Scale as LibraryScale, Setting as LibrarySetting,
};
use quadrat::parameter::PriorDensity;
use quadrat::progress::{Keeper as _, Progress};
use quadrat::support::Functionals;

use crate::checkpoint::Checkpoint;
use crate::diagnostic::{Problem, Problems};
use crate::guard;
use crate::instrument::{Choice, has_one_noise};
use crate::numbers::coordinate;
use crate::places::Places;
use crate::prediction_csv;
use crate::resolve::{self, MOST_POINTS, Observed, Resolved};
use crate::study::{Inducing, Integration, Mean, NonNegative, Scale, Setting, Study};
use crate::suggest;
use crate::words::method_in_words;

/// Predictions are computed this many rows at a time, which bounds memory.
const CHUNK: usize = 50_000;

/// The note of a saved model whose predictions are truncated at zero.
const NON_NEGATIVE: &str = "non_negative";

/// The note of a saved model with the names of its tables.
const TABLES: &str = "tables";

/// How to run, apart from what the study says.
#[derive(Clone, Default)]
pub struct Running {
    /// Hears how far the fit is.
    pub progress: Option<Arc<dyn Progress + Send + Sync>>,
    /// Keeps where a long fit stands, and may stop it.
    pub keeper: Option<Arc<Checkpoint>>,
}

/// What is wanted at some places.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// What for.
    pub scale: Scale,
    /// Probability of the interval.
    pub level: f64,
    /// Whether marginals are those given that they are not negative.
    pub non_negative: bool,
    /// Which probabilities, besides.
    pub chances: Chances,
    /// Which table it is about, where that is said.
    pub table: Option<usize>,
}

/// Probabilities wanted of every row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chances {
    /// Limits to exceed.
    pub above: Vec<f64>,
    /// The number of ranks, where that of each is wanted; else zero.
    pub ranks: usize,
    /// How many functions are drawn.
    pub draws: usize,
}

impl Chances {
    /// The names of their columns, in the order of [`Answer::chances`].
    pub fn columns(&self) -> Vec<String> {
        let above = self.above.iter().map(|&limit| match limit.abs() {
            0.0 | 1e-5..1e15 => format!("above_{limit}"),
            _ => format!("above_{limit:e}"),
        });
        let ranks = (1..=self.ranks).map(|rank| format!("rank_{rank}"));
        above.chain(ranks).collect()
    }

    /// The names of all columns behind those of the marginals: draws come last.
    pub fn all_columns(&self) -> Vec<String> {
        let mut columns = self.columns();
        columns.extend((1..=self.draws).map(draw_name));
        columns
    }
}

/// The name of a draw, counted from 1.
pub fn draw_name(draw: usize) -> String {
    format!("draw_{draw}")
}

/// Marginals at some places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub sd: Vec<f64>,
    /// Lower ends of the interval.
    pub lower: Vec<f64>,
    /// Medians.
    pub median: Vec<f64>,
    /// Upper ends of the interval.
    pub upper: Vec<f64>,
    /// Names and values of the columns of [`Chances`].
    pub chances: Vec<(String, Vec<f64>)>,
    /// Joint draws of all rows.
    pub draws: Vec<Vec<f64>>,
    /// Means before they were cut off at zero; empty where they were not.
    pub uncut: Vec<f64>,
    /// Rows far outside the data.
    pub far: Vec<usize>,
    /// Rows finer than what was observed, where the fit is smooth, by input.
    pub finer: Vec<Finer>,
    /// Rows whose sds are not known, but that they are not larger.
    pub unresolved: Vec<usize>,
    /// New observations at the same places, where their noise varies and the response was asked.
    pub noisy: Option<Box<Answer>>,
}

/// Inputs and outputs of a kernel expression; the error is a byte offset into it and the message.
pub fn kernel_columns(expression: &str) -> Result<(Vec<String>, Vec<String>), (usize, String)> {
    match Kernel::parse(expression) {
        Ok(kernel) => Ok((kernel.inputs().to_vec(), kernel.outputs().to_vec())),
        Err(error) => Err((error.at, error.message)),
    }
}

/// The expression of a kernel that is rough along an input.
pub fn rough_part(dim: &str) -> String {
    Kernel::matern12([dim]).to_string()
}

/// Whether a prior parses.
pub fn check_prior(text: &str) -> Result<(), String> {
    match text.parse::<PriorDensity>() {
        Ok(_) => Ok(()),
        Err(message) => Err(message),
    }
}

/// A model of the study; settings of unknown hyperparameters are refused here.
pub fn model(resolved: &Resolved) -> Result<Model> {
    let study = &resolved.study;
    let kernel = kernel(resolved)?;
    let mut model = Model::new(kernel).mean(match study.latent.mean {
        Mean::Constant => LibraryMean::Constant,
        Mean::Zero => LibraryMean::Zero,
        Mean::Fixed(value) => LibraryMean::Fixed(value),
    });
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

/// The kernel of the study.
fn kernel(resolved: &Resolved) -> Result<Kernel> {
    let own = Kernel::parse(&resolved.study.latent.kernel.value)?;
    if !own.outputs().is_empty() {
        return Ok(own);
    }
    mixed(resolved, &own, |_| true)
}

/// A kernel over the outputs of some tables: where they are several one per latent process, times its mixing matrix.
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

/// What the library refuses, at the line of the study that is at fault.
fn refused(study: &Study, error: InputError) -> Problem {
    let mut span = match &error {
        InputError::UnknownParameter { name, .. } | InputError::Parameter { name, .. } => {
            let setting = study.settings.iter().find(|s| &s.name.value == name);
            setting.map(|setting| &setting.name.span)
        }
        _ => study.observe.first().map(|observe| &observe.file.span),
    };
    let problem = match &error {
        InputError::UnknownParameter { name, known } => {
            let near = suggest::nearest(name, known.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Problem::new(format!("the model has no hyperparameter `{name}`{hint}"))
                .remedy(format!("it has {}", suggest::list(known)))
        }
        // Nobody set it: the default that was scaled from the data is not usable.
        InputError::Parameter { name, .. } if span.is_none() => {
            span = study.observe.first().map(|observe| &observe.file.span);
            Problem::new(format!(
                "the sizes of these numbers leave no usable start for `{name}`"
            ))
            .remedy("change the units, so that values and supports are of ordinary size")
        }
        _ => Problem::new(error.to_string()),
    };
    match span {
        Some(span) => problem.at(study.source.place(span)),
        None => problem,
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

fn observations(table: &Observed) -> Result<Observations, InputError> {
    let supports = functionals(&table.places, 0..table.places.len())?;
    let observations = Observations::new(supports, table.likelihood.clone())?;
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

/// Fits the model of a study.
pub fn fit(resolved: &Resolved, running: &Running) -> Result<Posterior> {
    let model = model(resolved)?;
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
    if let Some(geographic) = &resolved.geographic {
        posterior.set_note(SAVED_AS, geographic.to_note()?);
    }
    let names = resolve::names(&resolved.study, &resolved.tables);
    posterior.set_note(TABLES, serde_json::to_string(&names)?);
    if let Some(asked) = resolved.study.non_negative() {
        posterior.set_note(NON_NEGATIVE, asked.word());
    }
    // A fit that is over was not stopped: the keeper hears of it by being asked.
    let is_stopped = || running.keeper.as_ref().is_some_and(|k| k.is_stopped());
    if !posterior.summary().converged && !is_stopped() {
        forget();
        let reason = posterior.summary().warnings.join("; ");
        anyhow::bail!(
            "the fit did not converge ({reason}); give starts or bounds in [hyperparameters], or simplify the kernel"
        );
    }
    Ok(posterior)
}

/// A failed fit in terms of the user's rows.
pub fn explain(resolved: &Resolved, error: FitError) -> anyhow::Error {
    let problem = match &error {
        FitError::Factorisation {
            kernel,
            parameters,
            rows,
            correlation,
            ..
        } => Problem::new(format!(
            "the covariance of the rows under `{kernel}` with {parameters} cannot be factorised: {} and {} are almost the same (correlation {correlation:.6})",
            address(resolved, rows.0),
            address(resolved, rows.1)
        ))
        .remedy("merge these rows, give them a noise variance, or shorten the lengthscale"),
        FitError::Contradiction {
            row,
            partner,
            misfit,
        } => Problem::new(format!(
            "{} says exactly another value than follows from other exact rows, by {}; the most alike is {}",
            address(resolved, *row),
            coordinate(*misfit),
            address(resolved, *partner)
        ))
        .remedy("they look at the same place, or one is made of the others: leave one out, or give them a noise variance above 0"),
        FitError::NoStart { .. } => Problem::new(
            "no start of the hyperparameters gives the data a finite probability",
        )
        .remedy("check the sizes of the variances and the values set in [hyperparameters], or change the units"),
        FitError::NotConverged { method, residual, .. } => Problem::new(format!(
            "{} did not settle: some row still moves by {residual:.1e} of its standard deviation",
            method_in_words(method)
        ))
        .remedy(match has_linked_sums(resolved) {
            true => "take `method = \"sparse\"` in [inference], the other way for sums after a link, or give starts or an upper bound of the variance in [hyperparameters]",
            false => "choose another `method` or `hyperparameters = \"map\"` in [inference], or give starts or an upper bound of the variance in [hyperparameters]",
        }),
        FitError::Input(error) => return Problems::from(refused(&resolved.study, error.clone())).into(),
        FitError::Linalg(_) => return error.into(),
        _ => return error.into(),
    };
    let study = &resolved.study;
    Problems::from(problem.at(study.source.place(&study.latent.kernel.span))).into()
}

/// Whether some table reports sums or averages after a link, which only Laplace's method and sparse inference take.
fn has_linked_sums(resolved: &Resolved) -> bool {
    let mut tables = resolved.tables.iter();
    tables.any(|table| table.places.aggregate.is_some() && table.likelihood.link().is_some())
}

/// Where a row of all tables together stands.
pub fn address(resolved: &Resolved, mut row: usize) -> String {
    for table in &resolved.tables {
        if row < table.places.len() {
            return table.address_and_key(row);
        }
        row -= table.places.len();
    }
    // Only `non_negative` adds rows that are in no table.
    "a place where the function must not be negative".to_owned()
}

/// Answers at places, chunk by chunk.
pub fn predict(posterior: &Posterior, places: &Places, wanted: &Wanted) -> Result<Answer> {
    let Wanted {
        scale,
        level,
        non_negative,
        ref chances,
        table,
    } = *wanted;
    if scale != Scale::Latent
        && places.aggregate.is_some()
        && reports_probabilities(posterior, places, table)
    {
        anyhow::bail!(
            "probabilities can only be predicted at points, not over boxes, regions or bags; give points, or predict the latent scale"
        );
    }
    let scale = library_scale(scale);
    let tail = (1.0 - level) / 2.0;
    let named = |name| (name, Vec::with_capacity(places.len()));
    let mut answer = Answer {
        chances: chances.columns().into_iter().map(named).collect(),
        ..Answer::default()
    };
    let mut start = 0;
    while start < places.len() {
        let end = places.len().min(start + CHUNK);
        let at = functionals(places, start..end)?;
        let mut prediction = match &places.output {
            Some(output) => {
                posterior.predict_as(&posterior.at_output(&at, output)?, scale, table)?
            }
            None => posterior.predict_as(&at, scale, table)?,
        };
        if non_negative {
            answer.uncut.extend_from_slice(prediction.mean());
            prediction = prediction.non_negative();
        }
        let unresolved = prediction.unresolved().iter().map(|row| row + start);
        answer.unresolved.extend(unresolved);
        answer.mean.extend_from_slice(prediction.mean());
        answer.sd.extend_from_slice(prediction.sd());
        // Quantiles of close levels can differ by less than they are solved to.
        let median = prediction.quantile(0.5);
        let ordered = |p: f64, pick: fn(f64, f64) -> f64| {
            let ends = prediction.quantile(p);
            ends.into_iter()
                .zip(&median)
                .map(|(end, &m)| pick(end, m))
                .collect::<Vec<f64>>()
        };
        answer.lower.extend(ordered(tail, f64::min));
        answer.upper.extend(ordered(1.0 - tail, f64::max));
        answer.median.extend(median);
        let (above, ranks) = answer.chances.split_at_mut(chances.above.len());
        for ((_, column), limit) in above.iter_mut().zip(&chances.above) {
            column.extend(prediction.exceedance(*limit));
        }
        if !ranks.is_empty() {
            let rows = prediction
                .rank_probabilities()
                .context("ranks are predicted on the scale of observations alone")?;
            for row in rows {
                ranks.iter_mut().zip(row).for_each(|((_, c), p)| c.push(p));
            }
        }
        answer.far.extend(
            posterior
                .extrapolation(&at)?
                .into_iter()
                .map(|row| row + start),
        );
        add_finer(&mut answer.finer, posterior.finer_than_rows(&at)?, start);
        start = end;
    }
    guard::numbers(places, &answer)?;
    Ok(answer)
}

/// Adds the rows of a chunk that begins at `start`.
fn add_finer(all: &mut Vec<Finer>, chunk: Vec<Finer>, start: usize) {
    for mut finer in chunk {
        finer.rows.iter_mut().for_each(|row| *row += start);
        match all.iter_mut().find(|known| known.dim == finer.dim) {
            Some(known) => known.rows.extend(finer.rows),
            None => all.push(finer),
        }
    }
}

/// Joint draws at all places that want some on one scale, one function for all of them: for every set of places a column per draw.
pub fn draw(
    posterior: &Posterior,
    scale: Scale,
    wanted: &[(&Places, usize)],
    seed: u64,
) -> Result<Vec<Vec<Vec<f64>>>> {
    let Some(most) = wanted.iter().map(|(_, draws)| *draws).max() else {
        return Ok(Vec::new());
    };
    let mut all: Option<Functionals> = None;
    for (places, _) in wanted {
        let at = functionals(places, 0..places.len())?.select(posterior.dims())?;
        let at = match &places.output {
            Some(output) => posterior.at_output(&at, output)?,
            None => at,
        };
        match &mut all {
            Some(all) => all.extend(&at)?,
            None => all = Some(at),
        }
    }
    let Some(all) = all else {
        return Ok(Vec::new());
    };
    if scale == Scale::Latent && all.len() > MOST_POINTS {
        anyhow::bail!(
            "functions would be drawn at {} at once, more than {MOST_POINTS}; ask for fewer places",
            crate::numbers::count(all.len(), "point")
        );
    }
    let drawn = match scale {
        Scale::Latent => posterior.sample(&all, most, seed),
        Scale::Response | Scale::Observation => posterior.sample_responses(&all, most, seed),
    }?;
    let mut first = 0;
    let own = wanted.iter().map(|(places, draws)| {
        let rows = first..first + places.len();
        first = rows.end;
        let columns = 0..*draws;
        let columns = columns.map(|draw| rows.clone().map(|row| drawn[(row, draw)]).collect());
        let columns: Vec<Vec<f64>> = columns.collect();
        guard::draws(places, &columns)?;
        Ok(columns)
    });
    own.collect()
}

/// Whether the predictions of a model are to be truncated at zero, as its study said.
pub fn is_non_negative(posterior: &Posterior) -> bool {
    posterior.note(NON_NEGATIVE).is_some()
}

/// Why truncating at zero would do nothing on a scale, or nothing sensible, where a prediction is about a table.
pub fn not_truncated(
    posterior: &Posterior,
    places: &Places,
    (scale, table): (Scale, Option<usize>),
) -> Option<&'static str> {
    let likelihood = reporting(posterior, places.output.as_deref(), table)?;
    if !likelihood.is_linear() {
        return Some("what this model reports is behind a link");
    }
    let other = matches!(
        likelihood,
        Likelihood::Ordinal(_) | Likelihood::Laplace(_) | Likelihood::StudentT(_)
    );
    (other && scale == Scale::Observation)
        .then_some("new observations of this model do not have normal noise")
}

/// Whether the mean of what was reported is a probability.
pub fn reports_probabilities(posterior: &Posterior, places: &Places, table: Option<usize>) -> bool {
    let is_one = |likelihood: &Likelihood| !likelihood.is_linear() && likelihood.link().is_none();
    reporting(posterior, places.output.as_deref(), table).is_some_and(is_one)
}

/// How many ranks new observations of an output may have, where they are ranks.
pub fn ranks(posterior: &Posterior, output: Option<&str>, table: Option<usize>) -> Option<usize> {
    reporting(posterior, output, table).and_then(Likelihood::rank_count)
}

/// The likelihood that a prediction is about: that of the table, else of the first that does more than bound the values, where
/// all of them answer alike.
pub fn reporting<'a>(
    posterior: &'a Posterior,
    output: Option<&str>,
    table: Option<usize>,
) -> Option<&'a Likelihood> {
    let groups = posterior.instruments(output, LibraryScale::Observation);
    let table = table.or_else(|| groups.first()?.first().copied())?;
    posterior
        .observations()
        .get(table)
        .map(Observations::likelihood)
}

/// The names of the tables of a saved model, numbered where it does not have them.
pub fn table_names(posterior: &Posterior) -> Vec<String> {
    let saved: Option<Vec<String>> = posterior
        .note(TABLES)
        .and_then(|note| serde_json::from_str(note).ok());
    let mut names = saved.unwrap_or_default();
    let count = posterior.observations().len();
    names.extend((names.len()..count).map(|table| format!("table {}", table + 1)));
    names
}

/// The table that a prediction by a saved model is about.
pub fn choose(
    posterior: &Posterior,
    output: Option<&str>,
    scale: Scale,
    named: Option<&str>,
) -> Result<Option<usize>> {
    let names = table_names(posterior);
    let choice = Choice {
        names: &names,
        groups: posterior.instruments(output, library_scale(scale)),
        observed: posterior.instruments(output, LibraryScale::Observation),
        scale,
        is_noisy: false,
        output,
        how: |name| match name.contains(' ') {
            true => format!("--as '{name}'"),
            false => format!("--as {name}"),
        },
    };
    let tables = posterior.observations();
    let is_known = |table: usize| has_one_noise(tables[table].likelihood());
    choice
        .table(named, is_known)
        .map_err(|fault| Problems::from(Problem::new(fault.message).remedy(fault.remedy)).into())
}

/// A scale as the library has it.
pub fn library_scale(scale: Scale) -> LibraryScale {
    match scale {
        Scale::Latent => LibraryScale::Latent,
        Scale::Response => LibraryScale::Response,
        Scale::Observation => LibraryScale::Observation,
    }
}

/// A saved model as bytes.
pub fn to_bytes(posterior: &Posterior) -> Vec<u8> {
    posterior.to_bytes()
}

/// A saved model again.
pub fn from_bytes(bytes: &[u8]) -> Result<Posterior> {
    Ok(Posterior::from_bytes(bytes)?)
}
