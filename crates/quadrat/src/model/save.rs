//! A posterior as bytes: versioned, checked, loadable without the study.
//!
//! Layout: the line `quadrat-model <format>`, a checksum and a length (`sealed`), the payload.
//! Factorisations are not stored: they are computed again, from the same numbers and so to the
//! same result. What iterations ended in is stored (`inference::converged`), and they are not run
//! again.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::conclude::{answering, covering};
use super::drawn_sums::drawing;
use crate::error::{FitError, LoadError};
use crate::inference::Converged;
use crate::inference::sites::Method;
use crate::inference::sparse::{LogSum, VariationalPosterior, Within};
use crate::kernel::Kernel;
use crate::parameter::{Parameter, Transform};
use crate::posterior::component::{Component, Node, share_out};
use crate::posterior::mixture::Posterior;
use crate::posterior::summary::FitSummary;
use crate::problem::assembly::Problem;
use crate::problem::mean::Means;
use crate::problem::observations::Observations;
use crate::problem::outputs;
use crate::problem::second::SecondSpec;
use crate::problem::seconds::Seconds;
use crate::problem::settings::Inducing;
use crate::problem::sparse::{Sparse, SparseChoice};
use crate::problem::specified::Specified;
use crate::sealed;
use crate::support::Functionals;

/// The format this version writes, and the only one it reads; it rises with every change of what is
/// below.
pub const FORMAT: u32 = 6;

const MAGIC: &[u8] = b"quadrat-model ";

#[derive(Serialize, Deserialize)]
struct Saved {
    kernel: Kernel,
    /// Columns of the mean that the kernel is not over.
    spare: Vec<String>,
    tables: Vec<Observations>,
    own: Vec<Vec<usize>>,
    method: Option<Method>,
    mean: Means,
    seconds: Vec<SecondSpec>,
    parameters: Vec<Parameter>,
    nodes: Vec<Node>,
    summary: FitSummary,
    left_out: Vec<(f64, f64)>,
    notes: BTreeMap<String, String>,
    sparse: Option<SavedSparse>,
    /// Of the nodes that answer predictions; none where the iterations did not end.
    converged: Vec<Option<Converged>>,
}

/// What sparse inference is made from again.
#[derive(Serialize, Deserialize)]
struct SavedSparse {
    inducing: Functionals,
    form: LogSum,
    within: Within,
    found: Option<VariationalPosterior>,
    /// Whether rows have fewer points than those they stand for.
    is_thinned: bool,
}

impl Saved {
    /// Hyperparameters of a table's own; a second latent function takes the place of the first.
    fn own_count(&self, table: &Observations) -> usize {
        table.likelihood().local().parameters(1.0).len() - self.replaced(table)
    }

    /// How many of them that is: the first, or none.
    fn replaced(&self, table: &Observations) -> usize {
        let is_second = |s: &SecondSpec| s.varying.is_of(table.likelihood());
        usize::from(self.seconds.iter().any(is_second))
    }

    /// Whether lengths and indices agree.
    fn fits_together(&self) -> bool {
        let parameters = self.parameters.len();
        let kernel = self.kernel.parameters();
        let named = self
            .parameters
            .iter()
            .zip(kernel)
            .all(|(p, k)| p.name == k.name);
        named
            && kernel.len() <= parameters
            && !self.tables.is_empty()
            && self.tables.iter().all(Observations::is_consistent)
            && self.own.len() == self.tables.len()
            && self.own.iter().flatten().all(|g| *g < parameters)
            && self
                .own
                .iter()
                .zip(&self.tables)
                .all(|(own, table)| own.len() == self.own_count(table))
            && (self.method.is_some() || self.tables.iter().all(|t| t.as_gaussian().is_some()))
            && self.own_transforms_agree()
            && self.mean.fits(&self.kernel)
            && self.sparse.as_ref().is_none_or(|s| {
                let fits = |found: &VariationalPosterior| {
                    found.normal.size() == s.inducing.len() && found.theta.len() == parameters
                };
                self.method.is_some()
                    && !s.inducing.is_empty()
                    && s.inducing.is_consistent()
                    && s.found.as_ref().is_none_or(fits)
            })
            && self.seconds.iter().all(|s| s.fits(&self.parameters))
            && self.seconds.is_sorted_by(|a, b| a.varying < b.varying)
    }

    /// Whether every likelihood's hyperparameters are on the scale that it expects.
    fn own_transforms_agree(&self) -> bool {
        self.own.iter().zip(&self.tables).all(|(own, table)| {
            let expected = table.likelihood().local().parameters(1.0);
            let mut pairs = own.iter().zip(&expected[self.replaced(table)..]);
            pairs.all(|(&at, e)| self.parameters[at].transform == e.transform)
        })
    }

    /// What is wrong with the contents: a file with a valid checksum may still be made up.
    fn fault(&self) -> Option<String> {
        for (t, table) in self.tables.iter().enumerate() {
            if let Err(error) = table.likelihood().check() {
                return Some(format!("table {}: {error}", t + 1));
            }
        }
        if let Some(Err(error)) = self
            .parameters
            .iter()
            .map(Parameter::validate)
            .find(Result::is_err)
        {
            return Some(error.to_string());
        }
        if !self.fits_together() {
            return Some("its parts do not fit together".into());
        }
        self.fault_of_nodes().or_else(|| {
            let is_whole = self.converged.len() == covering(&self.nodes).0.len();
            let is_any = self.converged.iter().any(Option::is_some);
            let fault = || "what its inference ended in is incomplete".to_owned();
            (!is_whole || !is_any).then(fault)
        })
    }

    /// What is wrong with the values of the hyperparameters.
    fn fault_of_nodes(&self) -> Option<String> {
        let total: f64 = self.nodes.iter().map(|node| node.weight).sum();
        let sorted = self.nodes.is_sorted_by(|a, b| a.weight >= b.weight);
        let negative = self.nodes.iter().any(|node| node.weight < 0.0);
        // Sums of a thousand weights are one to far better than this.
        if negative || !sorted || (total - 1.0).abs() > 1e-6 || total.is_nan() {
            return Some(format!(
                "the weights of its {} sets of hyperparameters are not a descending share of one (they sum to {total})",
                self.nodes.len()
            ));
        }
        for node in &self.nodes {
            if node.theta.len() != self.parameters.len() {
                return Some("a set of hyperparameters is incomplete".into());
            }
            for (parameter, &value) in self.parameters.iter().zip(&node.theta) {
                let positive = parameter.transform == Transform::Log;
                if !value.is_finite() || (positive && value <= 0.0) {
                    return Some(format!("`{}` is {value}", parameter.name));
                }
            }
            if !node.log_evidence.is_finite() {
                return Some(format!("a log evidence is {}", node.log_evidence));
            }
        }
        None
    }

    /// With the header and the checksum.
    fn to_bytes(&self) -> Vec<u8> {
        // Plain numbers and strings in memory always serialise.
        let payload = postcard::to_stdvec(self).unwrap_or_default();
        sealed::seal(MAGIC, FORMAT, &payload)
    }
}

impl Posterior {
    /// The posterior as bytes, for [`Self::from_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let saved = Saved {
            kernel: self.problem.kernel().clone(),
            spare: self.problem.kernel().spare().to_vec(),
            tables: self.tables.clone(),
            own: self.problem.tables().own.clone(),
            method: self.problem.method(),
            mean: self.problem.mean().clone(),
            seconds: self.problem.seconds().specs(),
            parameters: self.problem.parameters().to_vec(),
            nodes: self.nodes.clone(),
            summary: self.summary.clone(),
            left_out: self.left_out.clone(),
            notes: self.notes.clone(),
            converged: self.converged(),
            sparse: self.problem.sparse().map(|s| SavedSparse {
                inducing: s.inducing().clone(),
                form: s.options.form,
                within: s.within,
                found: s.found.clone(),
                is_thinned: s.is_thinned,
            }),
        };
        saved.to_bytes()
    }

    /// What the iterations ended in at every node that was to answer predictions.
    fn converged(&self) -> Vec<Option<Converged>> {
        let mut components = self.components.iter().peekable();
        let one = |node: &Node| {
            let own = components.next_if(|component| component.theta == node.theta);
            own.map(|component| component.conditioned.converged.clone())
        };
        covering(&self.nodes).0.iter().map(one).collect()
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`LoadError::NotAModel`], [`LoadError::Newer`] for a later [`FORMAT`],
    /// [`LoadError::Damaged`] when anything was cut off or changed, or says what no fit would;
    /// [`LoadError::Restore`] when it cannot be conditioned again.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        let payload = sealed::open(MAGIC, FORMAT, bytes)?;
        let damaged = |detail: &str| LoadError::Damaged {
            detail: detail.to_owned(),
        };
        let saved = postcard::from_bytes(payload);
        let mut saved: Saved = saved.map_err(|e| damaged(&e.to_string()))?;
        saved.kernel = saved.kernel.with_spare(&saved.spare);
        if let Some(fault) = saved.fault() {
            return Err(damaged(&fault));
        }
        let tables = outputs::restrict(&saved.kernel, &saved.tables)
            .map_err(crate::error::FitError::from)?;
        let seconds = Seconds::new(saved.seconds, &saved.tables);
        let seconds = seconds.map_err(crate::error::FitError::from)?;
        let model = Specified::known(
            saved.kernel,
            tables,
            saved.mean,
            saved.parameters,
            saved.own,
            saved.method,
            seconds,
        );
        let sparse = saved.sparse.map(|sparse| {
            let choice = SparseChoice {
                inducing: Inducing::At(Box::new(sparse.inducing)),
                form: sparse.form,
                within: sparse.within,
                ..SparseChoice::default()
            };
            Sparse::new(&model, &choice).map(|made| Sparse {
                found: sparse.found,
                is_thinned: sparse.is_thinned,
                ..made
            })
        });
        let sparse = sparse.transpose().map_err(crate::error::FitError::from)?;
        let mut problem = Problem::new(model, sparse);
        problem
            .engine()
            .check_size()
            .map_err(crate::error::FitError::from)?;
        let (components, _) = drawing(&mut problem, &saved.tables, &saved.nodes, |problem| {
            condition_converged(problem, &saved.nodes, &saved.converged)
        })?;
        let mut posterior = Self::new(
            problem,
            saved.tables,
            saved.nodes,
            components,
            saved.summary,
        );
        posterior.notes = saved.notes;
        posterior.left_out = saved.left_out;
        posterior.draw_one_sided()?;
        Ok(posterior)
    }
}

/// Conditions at the nodes at which iterations are known to have ended; no weight is lost besides.
fn condition_converged(
    problem: &Problem,
    nodes: &[Node],
    converged: &[Option<Converged>],
) -> Result<(Vec<Component>, f64), FitError> {
    let (kept, held) = answering(problem, nodes);
    let one = |(at, node): &(usize, Node)| {
        let converged = converged.get(*at)?.as_ref()?;
        let draws = problem.draws(node.weight / held.min(1.0), kept.len());
        let draws = draws.of_stream(*at);
        let conditioned = problem.condition_converged(&node.theta, converged, draws);
        Some(conditioned.map(|conditioned| Component {
            weight: node.weight,
            theta: node.theta.clone(),
            conditioned,
        }))
    };
    let all = kept.par_iter().filter_map(one);
    let mut components: Vec<Component> = all.collect::<Result<_, FitError>>()?;
    share_out(&mut components);
    Ok((components, 0.0))
}

#[cfg(test)]
#[path = "save_tests.rs"]
mod tests;
