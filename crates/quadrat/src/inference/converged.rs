//! What iterations ended in, from which a conditioned prior is made again without them.

use serde::{Deserialize, Serialize};

use super::sites::site::Term;
use super::sparse::VariationalPosterior;
use crate::error::{FitError, InputError};

/// Where the iterations of an engine ended, at one value of the hyperparameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Converged {
    /// There were none: the prior is conditioned in closed form.
    Closed,
    /// The sites of rows.
    Sites(ConvergedSites),
    /// The mode of nodes that rows see sums of.
    Mode(ConvergedMode),
    /// The belief about inducing values.
    Belief(Box<VariationalPosterior>),
}

/// The sites of rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConvergedSites {
    pub(super) first: SitesOfOne,
    /// Of the second latent function.
    pub(super) second: Option<SitesOfOne>,
    pub(super) jitter: f64,
    pub(super) log_evidence: f64,
}

/// Of one latent function.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SitesOfOne {
    pub terms: Vec<Term>,
    /// `K^-1 (mu - m)`, where the sweep had a root of the prior; empty where it follows.
    pub alpha: Vec<f64>,
}

/// The joint mode of nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConvergedMode {
    /// Values of the nodes, `f`.
    pub(super) values: Vec<f64>,
    /// `K^-1 (f - m)`.
    pub(super) dual: Vec<f64>,
    pub(super) jitter: f64,
}

impl ConvergedMode {
    /// Whether it is of so many nodes, and made of numbers.
    pub(super) fn fits(&self, nodes: usize) -> bool {
        let mut all = self.values.iter().chain(&self.dual);
        let is_of_these = self.values.len() == nodes && self.dual.len() == nodes;
        is_of_these && all.all(|x| x.is_finite())
    }
}

/// The error where what was kept is of another engine, or of other rows.
pub(crate) fn of_another() -> FitError {
    InputError::Unavailable {
        what: "what was kept of another inference or of other rows",
        remedy: "fit the model again",
    }
    .into()
}
