//! Integration over the hyperparameters of sparse inference.

use super::averages::Averaged;
use super::conclude::{HyperNodes, integrate_over_hyperparameters};
use crate::error::{FitError, InputError};
use crate::inference::sparse::{
    SparseEvidence, SparseOptimum, SparseOptions, SparseProblem, VariationalPosterior,
};
use crate::problem::assembly::Problem;
use crate::problem::sparse::Sparse;
use crate::progress::{Keeper, Progress};

/// Settings of the hyperparameters at most: fifty to four hundred are usual, and where
/// beliefs converge badly the search for more finds the noise of their evidence.
const SETTINGS: usize = 600;
/// A setting may take this many times the passes that the search allowed for one belief: one that
/// does not converge is integrated as if it had no probability.
const PATIENT: usize = 5;
/// What is told where a stop leaves the most probable hyperparameters alone.
const STOPPED: &str = "hyperparameters were not integrated: the fit was stopped";

/// What integration over the hyperparameters found.
pub(super) struct Integrated {
    /// None where it was stopped.
    pub hyper_nodes: Option<HyperNodes>,
    /// Beliefs at its settings.
    pub seen: Vec<VariationalPosterior>,
    /// Passes over the rows.
    pub passes: usize,
}

/// By the bound of the evidence.
pub(super) fn integrate_streamed(
    problem: &Problem,
    learned: &SparseOptimum,
    (progress, keeper): (&dyn Progress, Option<&dyn Keeper>),
    warnings: &mut Vec<String>,
) -> Result<Integrated, FitError> {
    let (streamed, sparse) = streamed(problem)?;
    let patient = SparseOptions {
        steps: PATIENT * sparse.options.steps,
        ..sparse.options
    };
    let evidence = SparseEvidence::new(streamed, patient)
        .starting_at(Some(&learned.found))
        .watched_by(keeper)
        .keeping();
    let lattice = (problem.engine().has_lattice(), SETTINGS);
    let mut told = Vec::new();
    let found =
        integrate_over_hyperparameters(&evidence, &learned.optimum, lattice, progress, &mut told);
    let (passes, was_stopped) = (evidence.passes(), evidence.was_stopped());
    // Nodes are missing, which says nothing of the posterior; after the last one a stop changes
    // nothing.
    let hyper_nodes = if was_stopped {
        warnings.push(STOPPED.to_owned());
        None
    } else {
        warnings.append(&mut told);
        Some(found?)
    };
    let mut seen = evidence.into_seen();
    seen.retain(|found| {
        let mut nodes = hyper_nodes
            .iter()
            .flat_map(|hyper_nodes| &hyper_nodes.nodes);
        nodes.any(|node| node.theta == found.theta)
    });
    Ok(Integrated {
        hyper_nodes,
        seen,
        passes,
    })
}

/// By the evidence of averages.
pub(super) fn integrate_averages(
    problem: &Problem,
    averaged: &Averaged,
    (progress, keeper): (&dyn Progress, Option<&dyn Keeper>),
    warnings: &mut Vec<String>,
) -> Result<Integrated, FitError> {
    let evidence = averaged.evidence(keeper)?;
    let lattice = (problem.engine().has_lattice(), SETTINGS);
    let mut told = Vec::new();
    let found =
        integrate_over_hyperparameters(&*evidence, &averaged.optimum, lattice, progress, &mut told);
    let hyper_nodes = match found {
        Err(FitError::Stopped) => {
            warnings.push(STOPPED.to_owned());
            None
        }
        found => {
            warnings.append(&mut told);
            Some(found?)
        }
    };
    Ok(Integrated {
        hyper_nodes,
        seen: Vec::new(),
        passes: 0,
    })
}

/// The rows as sparse inference sees them, and its settings.
pub(super) fn streamed(problem: &Problem) -> Result<(&dyn SparseProblem, &Sparse), InputError> {
    let streamed = problem.engine().streamed();
    streamed.zip(problem.sparse()).ok_or(InputError::Empty)
}
