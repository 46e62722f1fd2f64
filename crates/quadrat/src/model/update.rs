//! Adding observations to a posterior.

use rayon::prelude::*;

use super::conclude::{condition_covering, left_out_hyperparameters, poor_draws};
use super::overlap::grown;
use super::redundant::{redundant, warning, without};
use crate::error::FitError;
use crate::inference::Conditioned;
use crate::posterior::component::{Component, Node};
use crate::posterior::levels::mean_hypers;
use crate::posterior::mixture::Posterior;
use crate::problem::extent::reach;
use crate::problem::mean_settings::is_mean;
use crate::problem::observations::Observations;
use crate::special::scalar::log_sum_exp;

impl Posterior {
    /// Adds observations without learning the hyperparameters again.
    ///
    /// Learned noise of the new table is that of the first table that learned one. The weights
    /// of the nodes are updated by how well each predicted the new rows. The summary's
    /// `log_evidence` grows by the log predictive density of the new rows at the heaviest node;
    /// intervals of the hyperparameters other than the mean stay those of the fit.
    ///
    /// Where inference is exact and its covariance a matrix, `m` rows more cost `O(n^2 m)` at every
    /// node that answers predictions: they are added to its factor.
    ///
    /// Exact rows that follow from other exact rows are left out, and of rows that count events of
    /// other rows again differences are taken, as [`Model::fit`](super::Model::fit) does, with a
    /// warning: of rows of the fit too, where new ones are within them. Where rows of the fit count
    /// events of each other again
    /// ([`Model::with_overlapping_counts`](super::Model::with_overlapping_counts)) all are taken as
    /// they are.
    ///
    /// # Errors
    /// [`FitError::Contradiction`] for exact rows that differ from what follows from others;
    /// [`InputError`](crate::error::InputError) for rows that do not fit the model, and for counts
    /// that are parts of all rows of a table of the fit; [`FitError::Factorisation`].
    pub fn condition(&self, more: Observations) -> Result<Self, FitError> {
        self.condition_naming(more, &|row| format!("row {row}"))
    }

    /// As [`Self::condition`], with names of rows in the warnings.
    ///
    /// # Arguments
    /// * `name` - what a row is called, counted from 0 over all tables, of which the new one is the
    ///   last
    ///
    /// # Errors
    /// As [`Self::condition`].
    pub fn condition_naming(
        &self,
        more: Observations,
        name: &dyn Fn(usize) -> String,
    ) -> Result<Self, FitError> {
        let Joined {
            tables,
            left_out,
            told: of_rows,
        } = self.join(more, name)?;
        let problem = self.problem.with_tables(&tables)?;
        problem.engine().check_size()?;
        let after = |node: &Node| {
            let mut components = self.components.iter();
            let before = components.find(|component| component.theta == node.theta)?;
            problem.condition_after(&node.theta, &self.problem, &before.conditioned)
        };
        let appended: Vec<Option<Conditioned>> = self.nodes.par_iter().map(after).collect();
        let evidences = self
            .nodes
            .par_iter()
            .zip(&appended)
            .map(|(node, appended)| match appended {
                Some(conditioned) => Ok(conditioned.log_evidence),
                None => Ok(problem.condition(&node.theta)?.log_evidence),
            })
            .collect::<Result<Vec<f64>, FitError>>()?;
        let logs: Vec<f64> = self
            .nodes
            .iter()
            .zip(&evidences)
            .map(|(node, new)| node.weight.ln() + new - node.log_evidence)
            .collect();
        let total = log_sum_exp(&logs);
        // At the heaviest node of the old weights: the MAP is not searched again.
        let gain = evidences[0] - self.nodes[0].log_evidence;
        let weighed = |(node, (log, &log_evidence)): (&Node, (&f64, &f64))| Node {
            weight: (log - total).exp(),
            theta: node.theta.clone(),
            log_evidence,
        };
        let nodes = self.nodes.iter().zip(logs.iter().zip(&evidences));
        let mut nodes: Vec<_> = nodes.map(weighed).zip(appended).collect();
        nodes.sort_by(|(a, _), (b, _)| b.weight.total_cmp(&a.weight));
        let (nodes, known): (Vec<Node>, Vec<_>) = nodes.into_iter().unzip();
        let (components, lost) = condition_covering(&problem, &nodes, known)?;
        let mut summary = self.summary.clone();
        summary.rows = problem.rows();
        summary.log_evidence += gain;
        summary.log_posterior += gain;
        summary.structure = problem.engine().structure().into();
        summary.inference = problem.engine().name().into();
        summary.evidence = problem.engine().evidence_name().into();
        let jitter = |j: f64, c: &Component| j.max(c.conditioned.jitter);
        summary.jitter = components.iter().fold(0.0, jitter);
        summary.hyperparameters.retain(|h| !is_mean(&h.name));
        summary
            .hyperparameters
            .extend(mean_hypers(&problem, &components));
        summary.nodes = components.len();
        summary.warnings.extend(of_rows);
        summary
            .warnings
            .extend(left_out_hyperparameters(&problem, lost));
        summary.warnings.extend(poor_draws(&components));
        let mut posterior = Self::new(problem, tables, nodes, components, summary);
        posterior.notes.clone_from(&self.notes);
        posterior.left_out = left_out;
        let told = posterior.draw_one_sided()?;
        posterior.summary.warnings.extend(told);
        Ok(posterior)
    }
    /// The tables with more rows, of which each says something new.
    fn join(&self, more: Observations, name: &dyn Fn(usize) -> String) -> Result<Joined, FitError> {
        let mut tables = self.tables.clone();
        tables.push(more);
        let settled = self.tables.iter().map(|t| t.supports.len()).sum();
        let has_mean = self.problem.mean().is_any();
        let kernel = self.problem.kernel();
        let redundant = redundant(kernel, &tables, has_mean, settled)?;
        let mut told: Vec<String> = warning(&redundant, name).into_iter().collect();
        let mut left_out = self.left_out.clone();
        if !redundant.is_empty() {
            let own = reach(kernel, &tables)?;
            left_out.resize(own.len(), (f64::INFINITY, f64::NEG_INFINITY));
            for ((lower, upper), (lo, hi)) in left_out.iter_mut().zip(own) {
                (*lower, *upper) = (lower.min(lo), upper.max(hi));
            }
            tables = without(&tables, &redundant)?;
        }
        if tables.len() > self.tables.len() {
            let (once, said) = grown(tables, name)?;
            tables = once;
            told.extend(said);
        }
        Ok(Joined {
            tables,
            left_out,
            told,
        })
    }
}

/// Tables with more rows.
struct Joined {
    tables: Vec<Observations>,
    /// As in [`Posterior`].
    left_out: Vec<(f64, f64)>,
    /// What people should know of the rows.
    told: Vec<String>,
}
