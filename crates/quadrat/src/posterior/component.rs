//! The posterior at one setting of the hyperparameters.

use serde::{Deserialize, Serialize};

use crate::inference::Conditioned;
use crate::inference::pooled::Lift;

/// Share of the posterior from which on it is told that few draws carry the weight.
const POOR: f64 = 0.05;

/// One value of the hyperparameters in their integration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub weight: f64,
    pub theta: Vec<f64>,
    pub log_evidence: f64,
}

/// One node of the hyperparameter integration, conditioned.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    pub weight: f64,
    pub theta: Vec<f64>,
    pub conditioned: Conditioned,
}

impl Component {
    /// Whether weighted draws that meet the rows' sums answer.
    pub fn has_draws(&self) -> bool {
        self.conditioned.lift.is_some()
    }

    /// Whether few of its draws carry the weight.
    fn has_poor_draws(&self) -> bool {
        self.conditioned.lift.as_deref().is_some_and(Lift::is_poor)
    }
}

/// The share of the posterior at which few of the draws carry the weight, where it is to be told.
pub(crate) fn poor_share(components: &[Component]) -> Option<f64> {
    let poor = components.iter().filter(|c| c.has_poor_draws());
    let share: f64 = poor.map(|c| c.weight).sum();
    (share > POOR).then_some(share)
}

/// Leaves out hyperparameters at which no draws were found, and returns the share that they held;
/// none, and nothing is done, where they hold more than `most`, or are all.
///
/// A belief without draws holds the rows on average only. Behind a link it may be so wide within a
/// row that one of next to no weight decides the variance of all together.
pub(crate) fn leave_out_without_draws(components: &mut Vec<Component>, most: f64) -> Option<f64> {
    let without = components.iter().filter(|c| !c.has_draws());
    let share: f64 = without.map(|c| c.weight).sum();
    if share > most || !components.iter().any(Component::has_draws) {
        return None;
    }
    components.retain(Component::has_draws);
    Some(share)
}

/// Weights that sum to one.
pub(crate) fn share_out(components: &mut [Component]) {
    let total: f64 = components.iter().map(|c| c.weight).sum();
    components.iter_mut().for_each(|c| c.weight /= total);
}
