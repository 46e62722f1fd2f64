//! Coarse-to-fine search for the hyperparameters: easier problems, with fewer rows or inducing
//! points, are solved before the whole one.

use super::evidence::SparseEvidence;
use super::options::SparseOptions;
use super::stages::{Watch, stages, unless_stopped};
use super::{SparseProblem, SparseState};
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::inference::free::FreeSpace;

/// Solves the easier problems, each from the optimum of the one before. The state is then near the
/// optimum of the whole problem, and has the Hessian of the last easier one, if there were any.
pub(super) fn coarse_to_fine(
    problem: &dyn SparseProblem,
    easier: &[&dyn SparseProblem],
    state: &mut SparseState,
    options: &SparseOptions,
    watch: &Watch<'_>,
) -> Result<(), FitError> {
    let watch = Watch {
        is_part: true,
        ..*watch
    };
    while let Some(part) = easier.get(state.part) {
        let before = state.clone();
        match search_part(*part, state, options, &watch) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            // A part of the rows may not determine a fit where all of them do: go on without this
            // problem.
            Err(error) if error.is_recoverable() => *state = before,
            Err(error) => return Err(error),
        }
        // The state counts the steps of one problem: the next one begins at zero.
        (state.stage, state.iterations, state.evaluations) = (0, 0, 0);
        state.part += 1;
        let next = easier.get(state.part).unwrap_or(&problem);
        if !same_places(*part, *next) {
            // `q` is about the values at these inducing points, and says nothing of other ones.
            state.found = None;
        }
        watch.keep(state);
    }
    Ok(())
}

fn same_places(one: &dyn SparseProblem, other: &dyn SparseProblem) -> bool {
    let [a, b] = [one, other].map(|problem| problem.induced().inducing());
    let same = |d: usize| a.lower(d) == b.lower(d) && a.width(d) == b.width(d);
    a.len() == b.len() && (0..a.dims().len()).all(same)
}

/// Moves the state to the optimum of an easier problem, with the Hessian there. Hyperparameters and
/// their coordinates are those of the whole problem. False where it was stopped before.
fn search_part(
    part: &dyn SparseProblem,
    state: &mut SparseState,
    options: &SparseOptions,
    watch: &Watch<'_>,
) -> Result<bool, FitError> {
    let evidence = SparseEvidence::new(part, *options).watched_by(watch.keeper);
    let space = FreeSpace::new(&evidence)?;
    stages(&space, &space.bounds(), state, watch)?;
    if watch.is_stopped() {
        return Ok(false);
    }
    if !state.curvature.is_empty() {
        return Ok(true);
    }
    let mut warm_start = state.onto(WarmStart::precise());
    let Some(density) = unless_stopped(space.evaluate(&state.z, &mut warm_start))? else {
        return Ok(false);
    };
    let evaluations = &mut state.evaluations;
    let curvature = space.curvature(&state.z, &density.gradient, &warm_start, evaluations);
    let Some(curvature) = unless_stopped(curvature)? else {
        return Ok(false);
    };
    state.set_matrix(&curvature);
    Ok(true)
}
