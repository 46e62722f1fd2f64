//! Adding observations to a posterior.

use super::fit::condition_all;
use super::observations::Observations;
use super::posterior::Posterior;
use super::prediction::log_sum_exp;
use crate::error::FitError;
use crate::inference::LinearGaussian;

impl Posterior {
    /// Adds observations without learning the hyperparameters again.
    ///
    /// Learned noise of the new table is that of the first table that learned one. The weights
    /// of the nodes are updated by how well each predicted the new rows.
    ///
    /// # Errors
    /// [`InputError`] for rows that do not fit the model; [`FitError::Factorisation`].
    pub fn condition(&self, more: Observations) -> Result<Self, FitError> {
        let more = if more.noise().is_learned() {
            more.share_noise()
        } else {
            more
        };
        let mut tables = self.tables.clone();
        tables.push(more);
        let problem = self.problem.with_tables(&tables)?;
        let nodes: Vec<(f64, Vec<f64>)> = self
            .components
            .iter()
            .map(|c| (c.weight, c.theta.clone()))
            .collect();
        let mut components = condition_all(&problem, &nodes)?;
        let logs: Vec<f64> = components
            .iter()
            .zip(&self.components)
            .map(|(new, old)| {
                old.weight.ln() + new.conditioned.log_evidence - old.conditioned.log_evidence
            })
            .collect();
        let total = log_sum_exp(&logs);
        for (component, log) in components.iter_mut().zip(&logs) {
            component.weight = (log - total).exp();
        }
        let mut summary = self.summary.clone();
        summary.rows = problem.rows();
        if let (Some(new), Some(old)) = (components.first(), self.components.first()) {
            // At the heaviest node: the MAP was not searched again.
            summary.log_evidence += new.conditioned.log_evidence - old.conditioned.log_evidence;
            summary.log_posterior += new.conditioned.log_evidence - old.conditioned.log_evidence;
        }
        Ok(Self::new(problem, tables, components, summary))
    }
}
