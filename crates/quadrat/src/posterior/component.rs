//! The posterior at one setting of the hyperparameters.

use serde::{Deserialize, Serialize};

use crate::inference::Conditioned;

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
}

/// Weights that sum to one.
pub(crate) fn share_out(components: &mut [Component]) {
    let total: f64 = components.iter().map(|c| c.weight).sum();
    components.iter_mut().for_each(|c| c.weight /= total);
}
