//! Easier problems that go before the one that is asked for.

use super::evidence::SparseEvidence;
use super::options::SparseOptions;
use super::stages::{Watch, stages, unless_stopped};
use super::{SparseProblem, SparseState};
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::inference::free::FreeSpace;

/// Moves the state near the optimum, through those of problems that are easier; there with a
/// curvature, if there were any.
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
            // What a part of the data does not allow, all may.
            Err(error) if error.is_recoverable() => *state = before,
            Err(error) => return Err(error),
        }
        // Steps are those of the whole.
        (state.stage, state.iterations, state.evaluations) = (0, 0, 0);
        state.part += 1;
        let next = easier.get(state.part).unwrap_or(&problem);
        if !same_places(*part, *next) {
            // A belief is of the values at its own inducing points.
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

/// The optimum of a part, from a state and with its curvature; whether it was not stopped before.
/// Hyperparameters and their coordinates are those of the whole.
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
