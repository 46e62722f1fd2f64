//! At the end of a fit: whether what was found can be true.

use super::mixture::Posterior;
use crate::error::FitError;
use crate::inference::{Conditioned, Node, Optimum, crossvalidate};
use crate::likelihood::Outcomes;
use crate::parameter::Parameter;
use crate::problem::assembly::Problem;
use crate::problem::normal_rows::NormalRows;
use crate::problem::scale::Scale;
use crate::problem::seldom;

/// Such a misfit has a probability below `exp(-20)`, 2e-9.
const UNLIKELY: f64 = 20.0;
/// Fewer rows than this are not judged by the others: half of them may be missed by chance.
const FEW: usize = 8;
/// Up to this many rows every one is predicted from the others, which takes as long as a few
/// evaluations of the evidence.
const LEFT_OUT: usize = 4000;
/// So many rows of a table are compared with what was fitted, where that is a prediction of its
/// own.
const SOME: usize = 1000;
/// Half the width of a central 95 % interval in sds.
const INTERVAL: f64 = 1.96;
/// By how many nats a node of the integration may lie above the optimum unsaid: evidences of
/// approximations are rough by some tenths. One nat is what an optimum of two hyperparameters has
/// above a typical place.
const BEYOND: f64 = 1.0;

/// What to say where rows do not agree with the fit at its hyperparameters; exact inference only.
pub(crate) fn warnings(problem: &Problem, conditioned: &Conditioned) -> Vec<String> {
    // Jitter is a noise that nobody stated: it has a warning of its own.
    let rows = problem
        .engine()
        .normal()
        .filter(|_| conditioned.jitter <= 0.0);
    let Some(rows) = rows else {
        return Vec::new();
    };
    let known = beyond_known_noise(rows, conditioned);
    let told = known.or_else(|| missed_by_the_others(rows, conditioned));
    told.into_iter().collect()
}

/// The curve `f` leaves `v_i alpha_i` of row `i`. With the true hyperparameters `sum (v_i
/// alpha_i)^2 / v_i` is at most about `chi^2` with as many degrees of freedom as rows, as the curve
/// follows the rows rather than the truth.
///
/// # Source
/// Laurent and Massart 2000, lemma 1: `P(chi^2_n > n + 2 sqrt(n x) + 2 x) <= exp(-x)`.
fn beyond_known_noise(rows: &NormalRows, conditioned: &Conditioned) -> Option<String> {
    let variances = rows.known_variances();
    let own = variances.iter().zip(&conditioned.alpha);
    let each = own.zip(&rows.times).filter_map(|((v, alpha), n)| {
        let known = v.filter(|v| *v > 0.0);
        known.map(|v| (*n, v * alpha * alpha))
    });
    impossible(each)
}

/// The same of approximate inference, for tables of values with known noise: of some rows of each,
/// evenly spread.
pub(crate) fn of_known_tables(posterior: &Posterior) -> Result<Option<String>, FitError> {
    let mut squares = Vec::new();
    for table in &posterior.tables {
        let Some((gaussian, known)) = table
            .as_gaussian()
            .and_then(|g| Some((g, g.noise().known().filter(|_| !g.noise().is_learned())?)))
        else {
            continue;
        };
        let share = SOME as f64 / table.supports().len() as f64;
        let rows = table.evenly(share.min(1.0));
        let at = table.supports().rows(&rows);
        let at = match table.output() {
            Some(output) => posterior.at_output(&at, output)?,
            None => at,
        };
        let fitted = posterior.predict(&at, Scale::Latent)?;
        let each = rows
            .iter()
            .zip(fitted.mean())
            .filter(|(row, _)| known[**row] > 0.0);
        squares.extend(each.map(|(&row, mean)| {
            let n = table.times(row);
            let away = gaussian.values()[row] - mean;
            (n, n * away * away / known[row])
        }));
    }
    Ok(impossible(squares.into_iter()))
}

/// What to say of squared distances from the curve in units of the known variances, each with how
/// often its row was seen.
fn impossible(squares: impl Iterator<Item = (f64, f64)>) -> Option<String> {
    let (rows, square) = squares.fold((0.0, 0.0), |(n, sum), (times, square)| {
        (n + times, sum + square)
    });
    let limit = rows + 2.0 * f64::sqrt(rows * UNLIKELY) + 2.0 * UNLIKELY;
    if rows == 0.0 || square <= limit {
        return None;
    }
    Some(format!(
        "the known noise makes the rows impossible: they lie {:.1} times as far from the fitted curve as it allows (chi-square {square:.0} over {rows:.0} rows). Either the variances given are too small, or the curve is too stiff for the rows: look whether a lengthscale is far longer than the distances between rows, and let the search `start` from a shorter one",
        (square / rows).sqrt()
    ))
}

/// Most rows outside the intervals that the others predict for them.
fn missed_by_the_others(rows: &NormalRows, conditioned: &Conditioned) -> Option<String> {
    let residual = rows.residual.as_slice();
    let n = residual.len();
    if !(FEW..=LEFT_OUT).contains(&n) {
        return None;
    }
    let (means, variances) = crossvalidate::leave_one_out(residual, conditioned);
    let each = residual.iter().zip(means.iter().zip(&variances));
    let missed = each
        .filter(|(r, (mean, variance))| (*r - *mean).abs() > INTERVAL * variance.sqrt())
        .count();
    (2 * missed > n).then(|| format!(
        "{missed} of {n} rows lie outside the 95 % interval that the other rows predict for them: intervals of predictions are too short, for the kernel or its hyperparameters do not describe these rows"
    ))
}

/// What to say where rows of outputs only tell on which side of their limits a value lies, or that
/// it lies beyond all thresholds of ranks.
pub(crate) fn limits_alone(posterior: &Posterior) -> Vec<String> {
    let tables = posterior.problem.tables();
    let outputs = 0..posterior.outputs().len().max(1);
    let only = |output: usize| {
        let own = tables.of_output(output);
        let mut ends = own.map(
            |table| match posterior.tables[table].likelihood.outcomes() {
                Outcomes::Intervals(readings) => readings.only_end(),
                Outcomes::Ranks(ranks) => ranks.only_end(),
                Outcomes::Values(_)
                | Outcomes::Counts(_)
                | Outcomes::Answers(_)
                | Outcomes::Successes { .. }
                | Outcomes::Bounds => None,
            },
        );
        let first = ends.next()??;
        ends.all(|end| end == Some(first))
            .then_some((output, first))
    };
    let told = |(output, is_above): (usize, bool)| {
        let of = match posterior.outputs().get(output) {
            Some(name) => format!(" of `{name}`"),
            None => String::new(),
        };
        let side = if is_above { "above" } else { "below" };
        let is_rank = |table: usize| {
            let outcomes = posterior.tables[table].likelihood.outcomes();
            matches!(outcomes, Outcomes::Ranks(_))
        };
        let (limits, others) = match tables.of_output(output).all(is_rank) {
            true => ("all thresholds", "of other ranks"),
            false => ("their limits", "that were seen beyond a limit"),
        };
        format!(
            "all rows{of} only tell that values lie {side} {limits}: how far {side}, and by how much values differ, is told by the priors alone; rows {others}, or values for the mean and the variance, tell more"
        )
    };
    outputs.filter_map(only).map(told).collect()
}

/// What to say where no row of an output has an event, or every trial succeeded.
pub(crate) fn no_event(posterior: &Posterior) -> Vec<String> {
    let (kernel, tables) = (posterior.problem.kernel(), &posterior.tables);
    let is_unknown = |output: usize| {
        let unknown = posterior.problem.mean().unknown();
        unknown
            .iter()
            .any(|of| of.output == output && of.line.is_none())
    };
    let outputs = 0..posterior.outputs().len().max(1);
    let told = outputs.filter(|output| is_unknown(*output)).filter_map(|output| {
        seldom::level(kernel, tables, output)?;
        let of = match posterior.outputs().get(output) {
            Some(name) => format!(" of `{name}`"),
            None => String::new(),
        };
        Some(format!(
            "no row{of} has an event, or all have nothing else: rows tell the level from one side only, and the other side is told by its prior, which stands for two events among all rows; what is known of the level from elsewhere (a value for `mean.constant`) tells more"
        ))
    });
    told.collect()
}

/// What to say where the integration of the hyperparameters came across a place better than the one
/// where their search ended.
pub(crate) fn passed_by(
    parameters: &[Parameter],
    nodes: &[Node],
    optimum: &Optimum,
) -> Option<String> {
    let density = |node: &Node| {
        let free = parameters.iter().zip(&node.theta).filter(|(p, _)| !p.fixed);
        let prior = free.map(|(p, value)| p.log_prior_free(p.to_free(*value)).0);
        node.log_evidence + prior.sum::<f64>()
    };
    let best = nodes.iter().map(density).fold(f64::NEG_INFINITY, f64::max);
    let gain = best - optimum.log_posterior;
    (gain > BEYOND).then(|| format!(
        "the search for the hyperparameters ended {gain:.1} nats below a place that their integration came across: the values told are not the optimum, and their intervals are rough; let the search `start` near the intervals, or leave starts out"
    ))
}
