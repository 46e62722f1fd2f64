//! Cross-validation: rows are held out in turn, and predicted from all others.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use quadrat::baseline::reported_as;
use quadrat::error::FitError;
use quadrat::model::{Model, Observations};
use quadrat::validation::{Folds, HeldOut, RowScore, held_out};
use quadrat_study::beside::cannot;
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine::{self, Running};
use quadrat_study::overlap::once;
use quadrat_study::redundant::{distinct, without};
use quadrat_study::resolve::{Observed, Resolved, soften};
use quadrat_study::simple::Simple;
use quadrat_study::study::Scale;

use super::judged::{Judged, Part, Predicted, Row, Told, of_prediction};
use super::kept::Kept;
use super::scored::{Scored, value_name};
use crate::progress::Bar;

/// What a method says of every row, as far as its fold was predicted.
type Filled = Vec<Option<(Told, RowScore)>>;

/// A study with rows that are held out in turn.
pub struct Cross<'a> {
    resolved: &'a Resolved,
    scored: &'a Scored,
    folds: &'a Folds,
    reported: Vec<HeldOut>,
    model: Model,
}

impl<'a> Cross<'a> {
    /// Nothing is fitted yet.
    pub fn new(resolved: &'a Resolved, scored: &'a Scored, folds: &'a Folds) -> Result<Self> {
        let mut all: Vec<Vec<HeldOut>> = Vec::new();
        for &table in &scored.tables {
            let rows = engine::observations(&resolved.tables[table])?;
            all.push(held_out(&rows).unwrap_or_default());
        }
        let reported = scored.rows.iter().map(|&(part, row)| all[part][row]);
        Ok(Self {
            resolved,
            scored,
            folds,
            reported: reported.collect(),
            model: engine::of_one_table(resolved)?,
        })
    }

    /// All methods on all rows: the simple ones first, which are quick to tell what they cannot do.
    pub fn judged(
        &self,
        (simple, is_named): (&[Simple], bool),
        running: &Running,
        bar: &Arc<Bar>,
        kept: &mut Kept,
    ) -> Result<Judged> {
        let mut others = Vec::new();
        let mut warnings = Vec::new();
        for &simple in simple {
            match self.by_simple(simple) {
                Ok(part) => others.push((simple, part?)),
                Err((fold, error)) if is_named => {
                    if let Some(error) = self.of_all_rows(simple)? {
                        return Err(cannot(simple, "for this study", &error, false).into());
                    }
                    let when = format!("in fold {}", fold + 1);
                    return Err(cannot(simple, &when, &error, true).into());
                }
                Err(_) => {}
            }
        }
        let mut ours = self.blank();
        for fold in 0..self.folds.count() {
            if let Some((told, warned)) = kept.fold(fold) {
                self.put(&mut ours, fold, told);
                warnings.extend(warned);
                continue;
            }
            bar.fold(fold + 1, self.folds.count());
            let told = self.ours(fold, running);
            let (told, warned) = told.map_err(|error| {
                kept.close();
                in_fold(error, fold + 1)
            })?;
            kept.keep(&told, &warned)?;
            self.put(&mut ours, fold, told);
            warnings.extend(warned);
        }
        let rows = self.scored.rows.iter().enumerate();
        let row = |(at, &(part, row)): (usize, &(usize, usize))| Row {
            number: self.table(part).kept.get(row).copied().unwrap_or(row) + 1,
            fold: Some(self.folds.of(at) + 1),
            reported: self.reported[at],
        };
        let rows = rows.map(row).collect();
        let warnings = once_each(warnings, self.folds.count());
        let value = value_name(&self.resolved.study, self.scored.of);
        let units = self.folds.units().to_vec();
        Judged::new((rows, units), self.whole(ours)?, others, (value, warnings))
    }

    fn table(&self, part: usize) -> &Observed {
        &self.resolved.tables[self.scored.tables[part]]
    }

    /// The scored rows of a fold in a part, by their places among all scored rows.
    fn held(&self, fold: usize, part: usize) -> Vec<usize> {
        let own = |at: &usize| self.scored.rows[*at].0 == part && self.folds.of(*at) == fold;
        (0..self.scored.rows.len()).filter(own).collect()
    }

    /// The rows of a part that are held out, and all others.
    fn divided(&self, fold: usize, part: usize) -> Result<Option<(Observed, Observed)>> {
        let held = self.held(fold, part);
        if held.is_empty() {
            return Ok(None);
        }
        let out: Vec<usize> = held.iter().map(|&at| self.scored.rows[at].1).collect();
        let is_out: HashSet<usize> = out.iter().copied().collect();
        let table = self.table(part);
        let rest = (0..table.places.len()).filter(|row| !is_out.contains(row));
        let rest: Vec<usize> = rest.collect();
        if rest.is_empty() {
            return Err(whole_table(table, fold).into());
        }
        let rest = table.clone().keeping(rest)?;
        Ok(Some((table.clone().keeping(out)?, rest)))
    }

    fn parts(&self) -> std::ops::Range<usize> {
        0..self.scored.tables.len()
    }

    /// A simple method on every row, or the fold that it cannot do.
    fn by_simple(&self, simple: Simple) -> Result<Result<Part>, (usize, FitError)> {
        let mut all = self.blank();
        for fold in 0..self.folds.count() {
            let mut own = Vec::new();
            for part in self.parts() {
                let divided = match self.divided(fold, part) {
                    Ok(None) => continue,
                    Ok(Some(divided)) => divided,
                    Err(error) => return Ok(Err(error)),
                };
                let [held, rest] = match both(&divided) {
                    Ok(both) => both,
                    Err(error) => return Ok(Err(error)),
                };
                let told = simple
                    .fit(&rest, &self.model)
                    .and_then(|method| method.predict_response(held.supports()))
                    .and_then(|response| reported_as(&response, &held))
                    .map_err(|error| (fold, error))?;
                own.push((part, self.told(fold, part, &told)));
            }
            let own: Result<Vec<_>> = own.into_iter().map(|(p, t)| Ok((p, t?))).collect();
            match own {
                Ok(own) => self.put(&mut all, fold, own),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(self.whole(all))
    }

    /// Why a simple method cannot do the study even where no row is left out.
    fn of_all_rows(&self, simple: Simple) -> Result<Option<FitError>> {
        for &table in &self.scored.tables {
            let rows = engine::observations(&self.resolved.tables[table])?;
            if let Err(error) = simple.fit(&rows, &self.model) {
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// Ours on the rows of a fold, and the warnings of its fit. Nothing that is fitted has seen
    /// what they reported: rows that follow from others or count events again are found anew
    /// among the rest.
    fn ours(&self, fold: usize, running: &Running) -> Result<Predicted> {
        let mut goes = HashSet::new();
        let mut first = 0;
        for (table, observed) in self.resolved.tables.iter().enumerate() {
            if let Some(part) = self.scored.tables.iter().position(|t| *t == table) {
                let held = self.held(fold, part).into_iter();
                goes.extend(held.map(|at| first + self.scored.rows[at].1));
            }
            first += observed.places.len();
        }
        let mut rest = self.resolved.clone();
        rest.warnings.clear();
        without(&mut rest, &goes)?;
        soften(&mut rest.tables);
        let rest = once(distinct(rest)?)?;
        let posterior = engine::fit(&rest, running)?;
        let mut all = Vec::new();
        for part in self.parts() {
            let Some((held, _)) = self.divided(fold, part)? else {
                continue;
            };
            let is_it = |t: &Observed| t.of == held.of && t.places.output == held.places.output;
            let Some(table) = rest.tables.iter().position(is_it) else {
                anyhow::bail!("all rows that could tell of these are held out; take more folds");
            };
            let mut told = posterior.predict_rows(&engine::observations(&held)?, table)?;
            let scale = (Scale::Observation, Some(table));
            let is_cut = rest.study.non_negative().is_some()
                && engine::not_truncated(&posterior, &held.places, scale).is_none();
            if is_cut {
                told = told.non_negative();
            }
            all.push((part, self.told(fold, part, &told)?));
        }
        Ok((all, posterior.summary().warnings.clone()))
    }

    fn told(&self, fold: usize, part: usize, told: &quadrat::model::Prediction) -> Result<Part> {
        let held = self.held(fold, part);
        let reported: Vec<HeldOut> = held.iter().map(|&at| self.reported[at]).collect();
        let is_before = |at: &usize| (self.folds.of(*at), self.scored.rows[*at].0) < (fold, part);
        let before = (0..self.scored.rows.len()).filter(is_before).count();
        of_prediction(told, &reported, before)
    }

    fn blank(&self) -> Filled {
        vec![None; self.scored.rows.len()]
    }

    /// Puts what is told of the rows of a fold in their places.
    fn put(&self, all: &mut Filled, fold: usize, told: Vec<(usize, Part)>) {
        for (part, (says, scores)) in told {
            let rows = says.into_iter().zip(scores);
            for (at, row) in self.held(fold, part).into_iter().zip(rows) {
                all[at] = Some(row);
            }
        }
    }

    fn whole(&self, all: Filled) -> Result<Part> {
        let all: Option<Vec<_>> = all.into_iter().collect();
        let all = all.ok_or_else(|| anyhow::anyhow!("some rows were in no fold"))?;
        Ok(all.into_iter().unzip())
    }
}

fn both((held, rest): &(Observed, Observed)) -> Result<[Observations; 2]> {
    Ok([engine::observations(held)?, engine::observations(rest)?])
}

/// Warnings of the fits of all folds: those that differ in numbers alone are told once, with those
/// of the first.
fn once_each(warnings: Vec<String>, folds: usize) -> Vec<String> {
    let without_numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut seen: Vec<(String, String, usize)> = Vec::new();
    for warning in warnings {
        let words = without_numbers(&warning);
        match seen.iter_mut().find(|(known, ..)| *known == words) {
            Some((.., times)) => *times += 1,
            None => seen.push((words, warning, 1)),
        }
    }
    let told = |(_, first, times): (String, String, usize)| {
        format!("in {times} of {folds} fits, the first: {first}")
    };
    seen.into_iter().map(told).collect()
}

/// Why the rows of a table, or of an output of it, cannot be held out together.
fn whole_table(table: &Observed, fold: usize) -> Problems {
    let of = match &table.places.output {
        Some(output) => format!(" of the output `{output}`"),
        None => String::new(),
    };
    let message = format!(
        "fold {} would hold out every row of `{}`{of}: nothing is left to tell of them",
        fold + 1,
        table.table.name()
    );
    let remedy = "take more folds, or hold rows out by another column";
    Problem::new(message).remedy(remedy).into()
}

/// The same error, which says in which fold it was.
fn in_fold(error: anyhow::Error, fold: usize) -> anyhow::Error {
    match error.downcast::<Problems>() {
        Ok(mut problems) => {
            for problem in &mut problems.0 {
                problem.message = format!("in fold {fold}: {}", problem.message);
            }
            problems.into()
        }
        Err(error) => error.context(format!("fold {fold}")),
    }
}
