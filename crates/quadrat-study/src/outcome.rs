//! What a run found, and what people should know of it, before anyone writes or shows it.

mod held;
mod places;

pub use held::ShapeHeld;
pub use places::Where;

use std::io::Write;

use anyhow::{Context, Result};
use quadrat::model::{Model, Slope};

use crate::answer::{Answer, Chances, Wanted};
use crate::columns::Writer;
use crate::engine::{self, Finer, FitSummary, McmcReport, Posterior, Running};
use crate::expressions;
use crate::numbers::{count, human, percent};
use crate::places::Places;
use crate::prediction_csv;
use crate::resolve::{Asked, Resolved};
use crate::study::Scale;
use crate::sums;

/// A fitted study with its predictions.
pub struct Outcome {
    /// What was asked.
    pub resolved: Resolved,
    /// The fit.
    pub posterior: Posterior,
    /// One per prediction asked, in order.
    pub answers: Vec<Answer>,
    /// The slopes of the linear parts of the kernel.
    pub slopes: Vec<Slope>,
    /// The shapes that the function is held to.
    pub shapes: Vec<ShapeHeld>,
    /// The fit beside draws from the posterior, where that was asked.
    pub mcmc: Option<McmcReport>,
    /// Everything people should know.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Fits a study and answers its predictions.
    ///
    /// # Arguments
    /// * `model` - that of the study, [`engine::model`]
    pub fn compute(resolved: Resolved, model: &Model, running: &Running) -> Result<Self> {
        let mut outcome = Self::fit(resolved, model, running)?;
        for asked in &outcome.resolved.predictions {
            if let Some(rows) = &asked.rows {
                let wanted = engine::WantedRows {
                    rows,
                    places: &asked.places,
                    level: asked.level,
                    non_negative: asked.non_negative,
                    chances: &asked.chances,
                    seed: outcome.resolved.study.inference.seed,
                };
                let answer = engine::behind(&outcome.posterior, &wanted);
                let answer =
                    answer.with_context(|| format!("the prediction `{}` failed", asked.title()))?;
                outcome.answers.push(answer);
                continue;
            }
            let mut answer = engine::predict(&outcome.posterior, &asked.places, &asked.wanted())
                .with_context(|| format!("the prediction `{}` failed", asked.title()))?;
            let address = |table: usize, row: usize| {
                let tables = &outcome.resolved.tables;
                tables
                    .get(table)
                    .map_or_else(String::new, |t| t.address(row))
            };
            let places = &asked.places;
            let told = warnings(&outcome.posterior, places, &answer, asked.level, address)?;
            let told = told
                .iter()
                .map(|what| format!("prediction `{}`: {what}", asked.title()));
            outcome.warnings.extend(told);
            if let Some(totals) = &asked.meet {
                let told = engine::meet(
                    &outcome.posterior,
                    (&asked.places, &asked.wanted()),
                    totals,
                    outcome.resolved.study.inference.seed,
                    &mut answer,
                )?;
                let told = told.iter();
                let told = told.map(|what| format!("prediction `{}`: {what}", asked.title()));
                outcome.warnings.extend(told);
                outcome.answers.push(answer);
                continue;
            }
            answer.noisy = noisy(&outcome.posterior, &outcome.resolved, asked)?.map(Box::new);
            outcome.answers.push(answer);
        }
        outcome.draw();
        Ok(outcome)
    }

    /// Draws functions for the predictions that want some, the same for all of one scale.
    fn draw(&mut self) {
        let predictions = &self.resolved.predictions;
        for scale in [Scale::Latent, Scale::Response] {
            let own = |at: &usize| {
                let asked = &predictions[*at];
                asked.scale == scale && asked.chances.draws > 0 && asked.meet.is_none()
            };
            let own: Vec<usize> = (0..predictions.len()).filter(own).collect();
            let wanted = own.iter().map(|&at| &predictions[at]);
            let wanted: Vec<_> = wanted.map(|a| (&a.places, a.chances.draws)).collect();
            let seed = self.resolved.study.inference.seed;
            match engine::draw(&self.posterior, scale, &wanted, seed) {
                Ok(drawn) => {
                    for (at, draws) in own.into_iter().zip(drawn) {
                        self.answers[at].draws = draws;
                    }
                }
                // The fit and its predictions are not to be lost with them.
                Err(error) => self.warnings.push(format!(
                    "draws of the {} are left out: {error:#}",
                    scale.word()
                )),
            }
        }
    }

    /// As [`Self::compute`], without predictions.
    pub fn fit(resolved: Resolved, model: &Model, running: &Running) -> Result<Self> {
        let posterior = engine::fit_model(&resolved, model, running)?;
        let mut warnings = resolved.warnings.clone();
        warnings.extend(posterior.summary().warnings.iter().cloned());
        let inference = &resolved.study.inference;
        if inference.speaks_of_inducing() && posterior.inducing().is_none() {
            warnings.push(
                "these rows are few enough to do without inducing points: what [inference] says of them is left out; `method = \"sparse\"` uses them nevertheless"
                    .into(),
            );
        }
        let (shapes, told) = held::shapes(&resolved, &posterior)?;
        warnings.extend(told);
        let slopes = posterior
            .slopes()
            .context("the slopes of the linear parts failed")?;
        Ok(Self {
            resolved,
            posterior,
            slopes,
            shapes,
            answers: Vec::new(),
            mcmc: None,
            warnings,
        })
    }

    /// What the fit did.
    pub fn summary(&self) -> &FitSummary {
        self.posterior.summary()
    }

    /// Predictions with their answers.
    pub fn predictions(&self) -> impl Iterator<Item = (&Asked, &Answer)> {
        self.resolved.predictions.iter().zip(&self.answers)
    }

    /// Predictions with their answers, those of one table together: one per output.
    pub fn groups(&self) -> Vec<Vec<(&Asked, &Answer)>> {
        let mut groups: Vec<Vec<(&Asked, &Answer)>> = Vec::new();
        for (asked, answer) in self.predictions() {
            match groups.last_mut() {
                Some(group) if group[0].0.of == asked.of => group.push((asked, answer)),
                _ => groups.push(vec![(asked, answer)]),
            }
        }
        groups
    }

    /// Those predictions that are maps too: of regions.
    pub fn maps(&self) -> impl Iterator<Item = (&Asked, &Answer)> {
        let all = self.predictions();
        all.filter(|(asked, _)| prediction_csv::has_regions(&asked.places))
    }

    /// The tables and maps as files: the name of each, and what writes it.
    pub fn files(&self) -> Vec<(String, Writer<'_>)> {
        let mut files: Vec<(String, Writer<'_>)> = Vec::new();
        for group in self.groups() {
            let name = group[0].0.table_file();
            let parts = group.iter().map(|&(asked, answer)| (&asked.places, answer));
            let parts: Vec<(&Places, &Answer)> = parts.collect();
            let write = move |out: &mut dyn Write| prediction_csv::write(out, &parts);
            files.push((name, Box::new(write)));
            for (asked, answer) in group {
                let write = move |out: &mut dyn Write| {
                    prediction_csv::write_geo(out, &asked.places, answer)
                };
                files.extend(
                    asked
                        .map_file()
                        .map(|name| (name, Box::new(write) as Writer<'_>)),
                );
            }
        }
        files
    }

    /// How many left-out rows lie inside their 95 % interval, of how many.
    pub fn coverage(&self) -> (usize, usize) {
        let rows = self.posterior.leave_one_out();
        (
            rows.iter()
                .filter(|row| (0.025..=0.975).contains(&row.pit))
                .count(),
            rows.len(),
        )
    }
}

/// New observations where a response was asked whose noise is a function.
fn noisy(posterior: &Posterior, resolved: &Resolved, asked: &Asked) -> Result<Option<Answer>> {
    let chosen = asked.table.and_then(|table| resolved.tables.get(table));
    let vary = chosen.and_then(|table| resolved.study.vary_of(&table.likelihood));
    if vary.is_none() || asked.scale != Scale::Response || asked.places.aggregate.is_some() {
        return Ok(None);
    }
    let wanted = Wanted {
        scale: Scale::Observation,
        chances: Chances::default(),
        ..asked.wanted()
    };
    engine::predict(posterior, &asked.places, &wanted).map(Some)
}

/// Everything people should know of the predictions at some places.
///
/// # Arguments
/// * `answer` - without ends of intervals, where nobody has asked for them: what is said of ends is
///   left out
/// * `address` - of a row of a table that was observed, for people
///
/// # Errors
/// Where the places cannot be made.
pub fn warnings(
    posterior: &Posterior,
    places: &impl Where,
    answer: &Answer,
    level: f64,
    address: impl Fn(usize, usize) -> String,
) -> Result<Vec<String>> {
    let mut told: Vec<String> = far(places, answer).into_iter().collect();
    told.extend(of_places(places, answer, level));
    told.extend(finer(answer, places.rows()));
    told.extend(sums::warnings(posterior, places, answer, address)?);
    Ok(told)
}

/// What a careful reader should know of an answer at its places.
pub fn of_places(places: &impl Where, answer: &Answer, level: f64) -> impl Iterator<Item = String> {
    let told = [
        heavy(answer, level),
        unresolved(places, answer),
        new_labels(places, answer),
    ];
    told.into_iter().flatten()
}

/// A warning when means lie above their own intervals: a tail that has hardly any probability
/// carries them. That is no news of narrow intervals, nor of counts, answers and ranks, whose
/// intervals end at whole numbers: most counts of mean 0.01 are 0; nor of rows that are known to
/// some roundings.
pub fn heavy(answer: &Answer, level: f64) -> Option<String> {
    const WIDE: f64 = 0.9;
    const ROUNDING: f64 = 1e-9;
    let pairs = answer.mean.iter().zip(&answer.upper);
    // A mean may be beyond all numbers.
    let size = |mean: f64, upper: f64| mean.abs().min(f64::MAX) + upper.abs();
    let is_above = |mean: f64, upper: f64| mean - upper > ROUNDING * size(mean, upper);
    let above = pairs.filter(|(mean, upper)| is_above(**mean, **upper) && upper.fract() != 0.0);
    let rows = above.count();
    (rows > 0 && level >= WIDE).then(|| {
        format!(
            "the mean of {} lies above its {} interval: values of enormous size and next to no probability carry it; use the median, or say more about the variance, by an upper bound or a prior",
            count(rows, "row"),
            percent(level)
        )
    })
}

/// A warning for every input along which predictions are finer than the rows and rest on a smooth
/// kernel.
pub fn finer(answer: &Answer, rows: usize) -> Vec<String> {
    let one = |finer: &Finer| {
        let is = if finer.rows.len() == 1 { "is" } else { "are" };
        format!(
            "{} of {} {is} finer along {dim} than the rows observed, which are {} wide; the kernel takes the function for smooth over {}: inside the bands this rests on smoothness that these rows cannot show, and intervals may be too narrow. Leaving rows out does not test it. Add a rough part to the kernel, `+ {}`, and compare",
            finer.rows.len(),
            count(rows, "row"),
            human(finer.width),
            human(finer.lengthscale),
            expressions::rough_part(&finer.dim),
            dim = finer.dim,
        )
    };
    answer.finer.iter().map(one).collect()
}

/// A warning when sds are smaller than arithmetic can tell.
fn unresolved(places: &impl Where, answer: &Answer) -> Option<String> {
    let first = *answer.unresolved.first()?;
    Some(format!(
        "sds of {} of {} are not known, first {}: values vary so much more than their noise that double precision cannot tell such small sds; what stands there is the rounding, which the sds do not exceed; ask for places that were observed, or subtract a rough fit from the values",
        answer.unresolved.len(),
        count(places.rows(), "row"),
        places.called(first)
    ))
}

/// A warning when some rows have a label that was not observed.
fn new_labels(places: &impl Where, answer: &Answer) -> Option<String> {
    let first = *answer.new_labels.first()?;
    let (rows, has) = match answer.new_labels.len() {
        1 => ("1 row".to_owned(), "has"),
        several => (count(several, "row"), "have"),
    };
    Some(format!(
        "{rows} of {} {has} a label that no row was observed with, first {}: its effect in the kernel (`iid`) is predicted from the prior, as that of a new label",
        places.rows(),
        places.called(first)
    ))
}

/// A warning when some rows lie far outside the data.
pub fn far(places: &impl Where, answer: &Answer) -> Option<String> {
    let first = *answer.far.first()?;
    Some(format!(
        "{} of {} far outside the data, first {}; they say more about the prior than about the data",
        answer.far.len(),
        count(places.rows(), "row")
            + if answer.far.len() == 1 {
                " lies"
            } else {
                " lie"
            },
        places.called(first)
    ))
}
