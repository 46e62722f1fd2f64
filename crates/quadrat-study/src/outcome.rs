//! What a run found, before anyone writes or shows it.

use anyhow::{Context, Result};
use quadrat::model::Slope;

use crate::engine::{self, Answer, Chances, FitSummary, McmcReport, Posterior, Running};
use crate::noticed::warnings;
use crate::resolve::{Asked, Resolved};
use crate::study::Scale;

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
    /// The fit beside draws from the posterior, where that was asked.
    pub mcmc: Option<McmcReport>,
    /// Everything people should know.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Fits a study and answers its predictions.
    pub fn compute(resolved: Resolved, running: &Running) -> Result<Self> {
        let mut outcome = Self::fit(resolved, running)?;
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

    /// Fits a study only.
    pub fn fit(resolved: Resolved, running: &Running) -> Result<Self> {
        let posterior = engine::fit(&resolved, running)?;
        let mut warnings = resolved.warnings.clone();
        warnings.extend(posterior.summary().warnings.iter().cloned());
        let inference = &resolved.study.inference;
        if inference.speaks_of_inducing() && posterior.inducing().is_none() {
            warnings.push(
                "these rows are few enough to do without inducing points: what [inference] says of them is left out; `method = \"sparse\"` uses them nevertheless"
                    .into(),
            );
        }
        let slopes = posterior
            .slopes()
            .context("the slopes of the linear parts failed")?;
        Ok(Self {
            resolved,
            posterior,
            slopes,
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
    let wanted = engine::Wanted {
        scale: Scale::Observation,
        chances: Chances::default(),
        ..asked.wanted()
    };
    engine::predict(posterior, &asked.places, &wanted).map(Some)
}
