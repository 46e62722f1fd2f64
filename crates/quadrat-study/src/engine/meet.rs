//! Predictions that meet totals.

use anyhow::Result;
use quadrat::error::FitError;
use quadrat::model::{GroupTotals, Met, Posterior};

use crate::answer::{Answer, Wanted};
use crate::diagnostic::{Problem, Problems};
use crate::functionals::functionals;
use crate::guard;
use crate::numbers::{beside, exact, human};
use crate::places::Places;
use crate::resolve::MeetAsked;

/// Sds from what the rows say beyond which a total is told.
const FAR: f64 = 4.0;
/// Totals that differ by a smaller part are the same: the sd of a sum that is known exactly is
/// rounding.
const SAME: f64 = 1e-6;

/// Puts predictions that meet totals in the place of those that do not.
///
/// # Returns
/// What people should know of the totals.
pub fn meet(
    posterior: &Posterior,
    (places, wanted): (&Places, &Wanted),
    asked: &MeetAsked,
    seed: u64,
    answer: &mut Answer,
) -> Result<Vec<String>> {
    let at = functionals(places, 0..places.len())?;
    let at = match &places.output {
        Some(output) => posterior.at_output(&at, output)?,
        None => at,
    };
    let amounts = places.amounts.as_ref().map(|all| all.values());
    let amount = |row: usize| amounts.map_or(1.0, |all| all[row]);
    let mut totals = GroupTotals::new();
    for group in &asked.groups {
        let rows = group.rows.iter().map(|&(row, w)| (row, w * amount(row)));
        let given = (group.total, group.variance);
        totals = totals.add(group.name.clone(), rows.collect(), given)?;
    }
    let draws = wanted.chances.draws;
    let met = posterior.meet(&at, &totals, wanted.table, (draws, seed));
    let met = met.map_err(|error| explain(asked, error))?;
    let times = |values: Vec<f64>| -> Vec<f64> {
        let each = values.into_iter().enumerate();
        each.map(|(row, value)| amount(row) * value).collect()
    };
    let tail = (1.0 - wanted.level) / 2.0;
    answer.mean = times(met.mean().to_vec());
    answer.sd = times(met.sd().to_vec());
    answer.lower = times(met.quantile(tail));
    answer.median = times(met.quantile(0.5));
    answer.upper = times(met.quantile(1.0 - tail));
    for ((_, column), limit) in answer.chances.iter_mut().zip(&wanted.chances.above) {
        let limits: Vec<f64> = (0..places.len()).map(|row| limit / amount(row)).collect();
        *column = met.exceedance(&limits).unwrap_or_default();
    }
    let draw = |draw: usize| times(met.draws().col_as_slice(draw).to_vec());
    answer.draws = (0..draws).map(draw).collect();
    guard::numbers(places, answer)?;
    guard::draws(places, &answer.draws)?;
    Ok(far(asked, &met).into_iter().collect())
}

/// A total that cannot be met, at its line.
fn explain(asked: &MeetAsked, error: FitError) -> anyhow::Error {
    let FitError::Total {
        group,
        total,
        reason,
    } = &error
    else {
        return error.into();
    };
    let Some(at) = asked.groups.iter().find(|own| own.name == *group) else {
        return error.into();
    };
    let message = format!(
        "the total of `{group}` is given as {}, but {reason}",
        exact(*total)
    );
    let problem = Problem::new(message).at(at.place.clone());
    let remedy = "mend the total or the rows, leave this group out, or give the rows or the totals a variance";
    Problems::from(problem.remedy(remedy)).into()
}

/// Totals that lie far from what the rows say.
fn far(asked: &MeetAsked, met: &Met) -> Option<String> {
    let each = asked.groups.iter().zip(met.before());
    let sds = each.map(|(group, (mean, sd))| {
        let sd = sd.hypot(group.variance.sqrt());
        (group, *mean, sd, (group.total - mean).abs() / sd)
    });
    let is_other = |total: f64, mean: f64| (total - mean).abs() > SAME * total.abs();
    let far: Vec<_> = sds
        .filter(|(group, mean, _, sds)| *sds > FAR && is_other(group.total, *mean))
        .collect();
    let most = far.iter().max_by(|a, b| a.3.total_cmp(&b.3))?;
    let (group, mean, sd, sds) = most;
    Some(format!(
        "{} of {} totals lie more than {FAR} standard deviations from what the rows say, the furthest that of `{}`: {} where these say {} (sd {}), {sds:.1} of them; definitions or dates may differ",
        far.len(),
        asked.groups.len(),
        group.name,
        human(group.total),
        beside(*mean, *sd),
        human(*sd),
    ))
}
