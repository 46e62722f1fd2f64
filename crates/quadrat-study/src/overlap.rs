//! Rows that count the events of other rows again: what is left of them, or shares, are fitted, and
//! told.

use std::collections::HashSet;

use anyhow::Result;
use quadrat::likelihood::Outcomes;
use quadrat::model::{Overlap, Treatment, WhyKept, counted_once};

use crate::diagnostic::{Problem, Problems};
use crate::engine;
use crate::numbers::human;
use crate::redundant::without;
use crate::resolve::{Observed, Resolved};

/// The study with every event counted once, as far as its rows tell, and warnings that name rows.
/// Figures and tables of rows keep them as they were given.
pub fn once(mut resolved: Resolved) -> Result<Resolved> {
    if !resolved.tables.iter().any(counts_over_something) {
        return Ok(resolved);
    }
    let tables = resolved.tables.iter().map(engine::with_spare_inputs);
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let found = counted_once(&tables)?;
    if found.overlaps.is_empty() {
        return Ok(resolved);
    }
    let is_repeated = |table: &&Observed| table.times.is_some() && counts_over_something(table);
    if let Some(table) = resolved.tables.iter().find(is_repeated) {
        let study = &resolved.study;
        let at = study.source.place(&study.observe[table.of].file.span);
        let message = "some of these counts are of the same events as others, and `times` repeats them: it cannot be told which events are meant";
        let remedy = "leave `times` out, or take out the rows that count others again";
        return Err(Problems::from(Problem::new(message).at(at).remedy(remedy)).into());
    }
    none_contradict(&resolved, &found.overlaps)?;
    let told = found.warnings(&|row| engine::address(&resolved, row));
    resolved.warnings.extend(told);
    let goes: HashSet<usize> = found.left_out().into_iter().collect();
    without(&mut resolved, &goes)?;
    for (table, made) in resolved.tables.iter_mut().zip(&found.tables) {
        // Rows of successes are left out or stay.
        let may_differ = !matches!(table.likelihood.outcomes(), Outcomes::Successes { .. });
        if may_differ && counts_over_something(table) {
            let supports = made.supports().select(&table.places.inputs())?;
            let shares = (0..supports.len()).map(|row| made.times(row)).collect();
            table.once = Some((supports, made.likelihood().clone(), shares));
        }
    }
    none_asked(&resolved)?;
    Ok(resolved)
}

/// Contradictions that are listed one by one.
const LISTED: usize = 10;

/// Refuses counts that cannot be true together: a total that is not what its parts add up to, or
/// less than a row within it.
fn none_contradict(resolved: &Resolved, overlaps: &[Overlap]) -> Result<()> {
    let mut problems = Problems::default();
    for overlap in overlaps {
        let (whole, part) = overlap.pair;
        let [one, other] = [whole, part].map(|row| engine::address(resolved, row));
        let rest = match overlap.rows.len() {
            0..=2 => String::new(),
            n => format!(" and {} more", n - 2),
        };
        let fact = match overlap.treatment {
            Treatment::Kept(WhyKept::TooMany { by }) => format!(
                "{one} counts {} more than its parts, which make it up: {other}{rest}",
                human(by)
            ),
            Treatment::Kept(WhyKept::TooFew { by }) => format!(
                "{one} counts {} fewer than the rows within it: {other}{rest}",
                human(by)
            ),
            _ => continue,
        };
        if problems.0.len() == LISTED {
            break;
        }
        let mut problem = Problem::new(fact).remedy(
            "every event is in one of the parts: mend the counts, or leave out the total or its parts; counts with errors of a known variance are made to add up by `quadrat reconcile`",
        );
        problem = problem.remedy(
            "running totals have `cumulative = true`, which says what happens where they fall; where rows count different events, name what tells them apart, such as the year or the sex, as a further `point` of the support",
        );
        if let Some(place) = engine::place(resolved, whole) {
            problem = problem.at(place);
        }
        problems.push(problem);
    }
    Ok(problems.or(())?)
}

/// Refuses what stands behind rows that count events of others again: what they leave open they
/// leave open together.
fn none_asked(resolved: &Resolved) -> Result<(), Problems> {
    let study = &resolved.study;
    for asked in &resolved.predictions {
        let table = asked.rows.as_ref().and_then(|rows| rows.table);
        if table.is_some_and(|table| resolved.tables[table].once.is_some()) {
            let at = study.source.place(&study.predict[asked.of].name.span);
            let message = "some of these rows count the events of others again, and what stands behind rows that share events is not told";
            let remedy = "leave the totals out of the tables, or predict the response";
            return Err(Problems::from(Problem::new(message).at(at).remedy(remedy)));
        }
    }
    Ok(())
}

/// Whether rows of a table count events, or successes, in boxes, regions or bags.
fn counts_over_something(table: &Observed) -> bool {
    let counts = match table.likelihood.outcomes() {
        Outcomes::Counts(_) | Outcomes::Successes { .. } => true,
        Outcomes::Values(_)
        | Outcomes::Intervals(_)
        | Outcomes::Answers(_)
        | Outcomes::Ranks(_)
        | Outcomes::Bounds => false,
    };
    counts && table.places.aggregate.is_some()
}
