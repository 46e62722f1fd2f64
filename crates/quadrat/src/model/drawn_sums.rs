//! Conditioning through inducing points, with draws that meet sums after a link where rows are few,
//! and what to say of it.

use super::conclude::{condition_covering, poor_draws};
use crate::error::FitError;
use crate::inference::Factor;
use crate::posterior::component::{Component, Node};
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;

/// Excess of a posterior variance over the prior's that is told.
const WIDER: f64 = 0.01;
/// What is left to gain of a bound, in nats, that is told: what the options of a search call
/// converged.
const TOLD: f64 = 1e-6;

/// As [`condition_covering`]; of sparse inference with draws, where rows allow them.
///
/// # Arguments
/// * `tables` - the user's
/// * `nodes` - the heaviest first, whose lengthscales the draws resolve
pub(super) fn condition_drawn(
    problem: &mut Problem,
    tables: &[Observations],
    nodes: &[Node],
) -> Result<(Vec<Component>, f64), FitError> {
    drawing(problem, tables, nodes, |problem| {
        condition_covering(problem, nodes, Vec::new())
    })
}

/// Conditions with draws, where rows allow them.
pub(super) fn drawing<E>(
    problem: &mut Problem,
    tables: &[Observations],
    nodes: &[Node],
    condition: impl FnOnce(&Problem) -> Result<(Vec<Component>, f64), E>,
) -> Result<(Vec<Component>, f64), E> {
    if let Some(heaviest) = nodes.first() {
        problem.draw_sums(tables, &heaviest.theta);
    }
    let found = condition(problem)?;
    if !found.0.iter().any(Component::has_draws) {
        problem.draw_no_sums();
    }
    Ok(found)
}

/// What to say of the beliefs of sparse inference, and of draws.
pub(super) fn told_of_beliefs(components: &[Component]) -> Vec<String> {
    let all = [
        widened(components),
        unconverged(components),
        poor_draws(components),
    ];
    all.into_iter().flatten().collect()
}

/// What to say where the data widen a belief that answers.
fn widened(components: &[Component]) -> Option<String> {
    let excess = components.iter().map(|c| match &c.conditioned.factor {
        Factor::Sparse { excess, .. } if !c.has_draws() => *excess,
        _ => 0.0,
    });
    let excess = excess.fold(0.0, f64::max);
    (excess > WIDER).then(|| {
        format!(
            "along some direction the data widen the belief about the function, by {:.1} % of its prior variance: predictions have the prior's there",
            100.0 * excess
        )
    })
}

/// What to say where the search for the belief about the function ended before it had converged.
fn unconverged(components: &[Component]) -> Option<String> {
    let left = components.iter().map(|c| match &c.conditioned.factor {
        Factor::Sparse { left, .. } => *left,
        _ => 0.0,
    });
    let left = left.fold(0.0, f64::max);
    // Answers are those of the belief, but where draws answer.
    let (told, end) = match components.iter().all(Component::has_draws) {
        true => (
            "hyperparameters were learned through a belief about the function that",
            String::new(),
        ),
        false => (
            "the belief about the function",
            format!(
                ", so that means may be off by up to {:.1e} of their standard deviations",
                (2.0 * left).sqrt()
            ),
        ),
    };
    (left > TOLD).then(|| {
        format!(
            "{told} had not quite converged when its search ended: some {left:.1e} nats of the bound were left to gain{end}"
        )
    })
}
