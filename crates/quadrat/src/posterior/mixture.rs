//! The answer: a Gaussian process given the data, or a mixture of them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::amounts::{Amounts, NOISE_OF_ROWS};
use super::component::{Component, Node};
use super::marginals::{Marginals, PriorMarginals, Told, marginals, together};
use super::normal_mixture::not_negative;
use super::prediction::Prediction;
use super::predictive::{Predictive, What};
use super::summary::{FitSummary, LeaveOneOut};
use super::varying_noise::VaryingNoise;
use crate::error::{FitError, InputError};
use crate::kernel::Kernel;
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;
use crate::problem::outputs;
use crate::problem::scale::Scale;
use crate::problem::second::SecondLatent;
use crate::problem::varying::Varying;
use crate::support::Functionals;

/// Rows predicted at a time, at most.
const CHUNK: usize = 1024;
/// Their covariances with what was conditioned on that are kept at a time for each node, at most:
/// 128 MB.
const MOST_KEPT: usize = 1 << 24;

/// The posterior over the latent function: answers at any support, and can be conditioned again.
///
/// With integrated hyperparameters it is a mixture over nodes `k`,
/// `p(f | y) = sum_k w_k p(f | y, theta_k)`.
pub struct Posterior {
    pub(crate) problem: Problem,
    pub(crate) tables: Vec<Observations>,
    /// Every node, heaviest first; weights sum to one. Those that matter when rows are left out or
    /// added may weigh next to nothing now.
    pub(crate) nodes: Vec<Node>,
    /// The heaviest nodes, conditioned: they answer predictions. Weights sum to one.
    pub(crate) components: Vec<Component>,
    pub(crate) summary: FitSummary,
    /// From the lowest to the highest coordinate along every column of the kernel of rows that were
    /// left out since they follow from others; empty where none were.
    pub(crate) left_out: Vec<(f64, f64)>,
    pub(crate) loo: OnceLock<Vec<LeaveOneOut>>,
    pub(crate) notes: BTreeMap<String, String>,
}

impl std::fmt::Debug for Posterior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Posterior")
            .field("kernel", self.problem.kernel())
            .field("rows", &self.problem.rows())
            .field("nodes", &self.components.len())
            .finish_non_exhaustive()
    }
}

impl Posterior {
    pub(crate) fn new(
        problem: Problem,
        tables: Vec<Observations>,
        nodes: Vec<Node>,
        components: Vec<Component>,
        summary: FitSummary,
    ) -> Self {
        Self {
            problem,
            tables,
            nodes,
            components,
            summary,
            left_out: Vec::new(),
            loo: OnceLock::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Whether weighted draws answer that meet the rows: sums behind a link, and rows that leave
    /// the function open to one side. Answers then have errors of Monte Carlo, some hundredths of a
    /// standard deviation.
    #[must_use]
    pub fn has_draws(&self) -> bool {
        self.components.iter().any(Component::has_draws)
    }

    /// Keeps a text under a name, which is saved with the posterior and not interpreted: what a
    /// program must know to use it again, such as the projection of its inputs.
    pub fn set_note(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.notes.insert(name.into(), text.into());
    }

    /// The text kept under a name.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.get(name).map(String::as_str)
    }

    /// What the fit reports about itself.
    #[must_use]
    pub fn summary(&self) -> &FitSummary {
        &self.summary
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        self.problem.kernel()
    }

    /// The inputs a prediction needs: the columns of the kernel, without that of the outputs.
    #[must_use]
    pub fn dims(&self) -> &[String] {
        self.problem.kernel().inputs()
    }

    /// The names of the outputs; empty where there is one without a name.
    #[must_use]
    pub fn outputs(&self) -> &[String] {
        self.problem.kernel().outputs()
    }

    /// Supports on one of several outputs: what [`Self::predict`], [`Self::sample`] and
    /// [`Self::covariance`] need where there are several. Sets of different outputs may be joined
    /// ([`Functionals::extend`]) to ask for their joint distribution.
    ///
    /// # Errors
    /// [`InputError::Output`] for a name that is not among [`Self::outputs`];
    /// [`InputError::UnknownDimension`] for a missing input.
    pub fn at_output(&self, at: &Functionals, output: &str) -> Result<Functionals, InputError> {
        outputs::place(self.problem.kernel(), at, Some(output))
    }

    /// As functions of the kernel's columns.
    pub(crate) fn place(&self, at: &Functionals) -> Result<Functionals, InputError> {
        outputs::place(self.problem.kernel(), at, None)
    }

    /// The tables it was conditioned on.
    #[must_use]
    pub fn observations(&self) -> &[Observations] {
        &self.tables
    }

    /// The tables of an output in groups within which predictions on a scale are the same, by their
    /// places among [`Self::observations`]; with more than one group [`Self::predict_as`] must be
    /// told a table. Empty for an unknown output.
    #[must_use]
    pub fn instruments(&self, output: Option<&str>, scale: Scale) -> Vec<Vec<usize>> {
        let known = self.outputs();
        let at = match output {
            None => known.is_empty().then_some(0),
            Some(output) => known.iter().position(|name| name == output),
        };
        at.map_or_else(Vec::new, |at| self.problem.instruments(at, scale))
    }

    /// Marginal predictions at any supports.
    ///
    /// # Arguments
    /// * `at` - supports whose inputs include [`Self::dims`], in any order; with several outputs
    ///   those of [`Self::at_output`]
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`] for a missing input; [`InputError::Output`] where there are
    /// several outputs and `at` names none, or several on a scale that differs between them;
    /// [`InputError::Unavailable`] for the observation scale when noise variances were given per
    /// row, and where tables of the output answer differently ([`Self::predict_as`]).
    ///
    /// # Source
    /// Rasmussen and Williams 2006, eqs. 2.25, 2.26.
    pub fn predict(&self, at: &Functionals, scale: Scale) -> Result<Prediction, FitError> {
        self.predict_as(at, scale, None)
    }

    /// Marginal predictions of what one of the tables reports, by its place among
    /// [`Self::observations`]: a new observation has the noise, the thresholds or the dispersion of
    /// that table, and is a value, a count or a rank as its rows are.
    ///
    /// # Arguments
    /// * `at`, `scale` - as for [`Self::predict`]
    /// * `table` - may be `None` where all tables of the output answer alike, see
    ///   [`Self::instruments`]
    ///
    /// # Errors
    /// As [`Self::predict`]; [`InputError::Unavailable`] for a table that reports nothing of the
    /// output.
    pub fn predict_as(
        &self,
        at: &Functionals,
        scale: Scale,
        table: Option<usize>,
    ) -> Result<Prediction, FitError> {
        self.predict_seen(at, scale, table, Amounts::default())
    }

    pub(super) fn predict_seen(
        &self,
        at: &Functionals,
        scale: Scale,
        table: Option<usize>,
        amounts: Amounts,
    ) -> Result<Prediction, FitError> {
        let at = self.place(at)?;
        let output = if at.is_empty() {
            0
        } else {
            self.problem.mean().output(&at, 0)
        };
        let mixed = (1..at.len()).any(|row| self.problem.mean().output(&at, row) != output);
        if mixed && scale != Scale::Latent {
            return Err(InputError::Output {
                name: None,
                known: self.outputs().to_vec(),
            }
            .into());
        }
        let table = self.problem.reporting(output, scale, table)?;
        let (likelihood, own) = (
            self.problem.likelihood(table),
            &self.problem.tables().own[table],
        );
        amounts.suit(likelihood)?;
        // Draws that meet rows also tell points: a place, a bag of that place and a box around it
        // are one question. Their beliefs about totals have no dispersion that is a function.
        let has_second = || self.problem.seconds().of(likelihood).is_some();
        let is_plain = scale == Scale::Observation && has_second();
        let is_drawn = self.has_draws() && !is_plain;
        let is_told = self.has_known_rows() || is_drawn;
        let is_simple = |row: usize| at.is_point(row) && at.size(row) == 1.0 && !is_told;
        if let (Some(link), true) = (likelihood.mean_link(), scale != Scale::Latent)
            && !(0..at.len()).all(is_simple)
        {
            let what = match scale {
                Scale::Observation => What::Observation,
                Scale::Latent | Scale::Response => What::Mean,
            };
            return self.predict_totals(&at, (table, link), (what, amounts));
        }
        if let (Scale::Latent, Some(told)) = (scale, self.predict_drawn(&at)?) {
            return Ok(told);
        }
        let sites = self.problem.method().is_some();
        let noise: Vec<f64> = match scale {
            Scale::Observation if sites => vec![0.0; self.components.len()],
            Scale::Observation => {
                let tables = self.problem.tables();
                let one = |c: &Component| match amounts.variance.is_empty() {
                    true => tables.new_row_noise(&c.theta, table),
                    false => Some(tables.learned_noise(&c.theta, table)),
                };
                let all: Option<_> = self.components.iter().map(one).collect();
                all.ok_or(NOISE_OF_ROWS)?
            }
            Scale::Latent | Scale::Response => vec![0.0; self.components.len()],
        };
        let weights = self.weights();
        let Told {
            mut nodes,
            mut stretches,
        } = self.latent_marginals(&at)?;
        let known = |row: usize| amounts.variance.get(row).filter(|_| !sites);
        for (node, noise) in nodes.iter_mut().zip(&noise) {
            let all = node.variance.iter_mut().enumerate();
            all.for_each(|(row, v)| *v = not_negative(*v) + noise + known(row).unwrap_or(&0.0));
        }
        if !amounts.variance.is_empty() {
            // Noise of its own for every row is no function of the place.
            stretches.clear();
        }
        let latent = together(weights, nodes).along(stretches);
        let what = match scale {
            Scale::Observation if sites => What::Observation,
            Scale::Response if !likelihood.is_linear() => What::Mean,
            _ => return Ok(latent),
        };
        let known = amounts.known_noise(likelihood, what == What::Observation)?;
        let second = self.problem.seconds().of(likelihood);
        let own = |c: &Component| own.iter().map(|&i| c.theta[i]).collect();
        let own = self.components.iter().map(own).collect();
        let predictive = Predictive::new(likelihood, own, what, known[0]).with_amounts(amounts);
        let Some(second) = second.filter(|_| what == What::Observation) else {
            return Ok(latent.through(predictive));
        };
        let (g, link) = (
            self.varying_at(second, &at)?.into_latent(),
            second.spec.link,
        );
        Ok(match likelihood.has_normal_noise() {
            true => latent.with_varying_noise(VaryingNoise::new(g, link, known)),
            false => latent.through(predictive.with_spread(g, link)),
        })
    }

    /// A second latent function, `g`: of a noise variance or dispersion `v(x) = link(g(x))` that is
    /// a function itself.
    ///
    /// Values recorded in steps have the variance of their rounding besides
    /// ([`Model::vary`](crate::model::Model::vary)): the noise of [`Self::predict`] is larger than
    /// `link(g(x))` by that.
    ///
    /// # Arguments
    /// * `varying` - what the function is of
    /// * `at` - points, as [`Self::predict`] takes them, of one output
    ///
    /// # Errors
    /// As [`Self::predict`]; [`InputError::Unavailable`] where there is no such function;
    /// [`InputError::Output`] where no table of the output has it.
    pub fn predict_varying(
        &self,
        varying: Varying,
        at: &Functionals,
    ) -> Result<Prediction, FitError> {
        let second = self.problem.seconds().get(varying);
        let second = second.ok_or_else(|| no_function(varying))?;
        Ok(self.varying_at(second, &self.place(at)?)?)
    }

    /// A second latent function at places of one output.
    pub(super) fn varying_at(
        &self,
        second: &SecondLatent,
        at: &Functionals,
    ) -> Result<Prediction, InputError> {
        let (kernel, own) = (self.problem.kernel(), &second.spec.kernel);
        let name = match at.is_empty() {
            true => None,
            false => kernel.outputs().get(self.problem.mean().output(at, 0)),
        };
        let name = name.filter(|_| !own.outputs().is_empty());
        let at = outputs::place(own, &at.select(kernel.inputs())?, name.map(String::as_str))?;
        self.varying_of(second, &at)
            .ok_or_else(|| no_function(second.spec.varying))
    }

    /// A second latent function at places of its own kernel, of any outputs.
    pub(crate) fn varying_of(&self, second: &SecondLatent, at: &Functionals) -> Option<Prediction> {
        let parts = in_parts(at, self.problem.seconds().rows());
        let one = |component: &Component| {
            let theta = &component.theta;
            let conditioned = component.conditioned.second.as_deref();
            conditioned.map(|conditioned| {
                marginals(conditioned, &parts, |part| PriorMarginals {
                    cross: self.problem.seconds().cross(second, theta, part),
                    variance: second.prior_variance(theta, part),
                    mean: second.spec.mean.means(part),
                    coefficients: None,
                })
            })
        };
        let all: Option<Vec<_>> = self.components.par_iter().map(one).collect();
        Some(together(self.weights(), all?))
    }

    /// Shares of the nodes that answer predictions.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.components.iter().map(|c| c.weight).collect()
    }

    /// The number of what was conditioned on.
    pub(super) fn size(&self) -> usize {
        let sizes = self.components.iter().map(|c| c.conditioned.factor.size());
        sizes.max().unwrap_or(0)
    }

    /// Means and variances of functionals of the kernel's columns at every node, small variances
    /// told in another way.
    pub(super) fn latent_marginals(&self, at: &Functionals) -> Result<Told, FitError> {
        match self.along_line(at)? {
            Some(told) => Ok(told),
            None => Ok(Told {
                nodes: self.not_interpolated(at)?,
                stretches: Vec::new(),
            }),
        }
    }

    /// The same without interpolation.
    pub(super) fn not_interpolated(&self, at: &Functionals) -> Result<Vec<Marginals>, FitError> {
        match self.smoothed(at) {
            Some(nodes) => Ok(nodes),
            None => self.one_by_one(at),
        }
    }

    /// The same, each by its own covariances with the rows.
    pub(super) fn one_by_one(&self, at: &Functionals) -> Result<Vec<Marginals>, FitError> {
        let parts = in_parts(at, self.size());
        let nodes = self.components.par_iter();
        let nodes: Result<_, FitError> = nodes.map(|c| self.moments(c, &parts)).collect();
        let mut nodes: Vec<Marginals> = nodes?;
        self.mend(at, &mut nodes);
        Ok(nodes)
    }

    /// Variances of functionals of the kernel's columns at every node; none is negative.
    pub(super) fn variances(&self, at: &Functionals) -> Result<Vec<Vec<f64>>, FitError> {
        let nodes = self.latent_marginals(at)?.nodes.into_iter();
        let own = |node: Marginals| node.variance.into_iter().map(not_negative).collect();
        Ok(nodes.map(own).collect())
    }

    /// Normal beliefs about functionals of the kernel's columns, though draws may answer.
    pub(super) fn normal_beliefs(&self, at: &Functionals) -> Prediction {
        let parts = in_parts(at, self.size());
        let nodes = self.components.par_iter();
        let nodes = nodes.map(|component| self.normal_moments(component, &parts));
        let mut nodes: Vec<Marginals> = nodes.collect();
        self.mend(at, &mut nodes);
        for node in &mut nodes {
            node.variance.iter_mut().for_each(|v| *v = not_negative(*v));
        }
        together(self.weights(), nodes)
    }

    fn normal_moments(&self, component: &Component, parts: &[Functionals]) -> Marginals {
        marginals(&component.conditioned, parts, |part| {
            self.prior_beside(component, part)
        })
    }

    /// Mean and variance of every functional of every part at one node.
    fn moments(&self, component: &Component, parts: &[Functionals]) -> Result<Marginals, FitError> {
        if let Some(lift) = self.lift_of(component)? {
            let all = self.lifted_moments(component, &lift, parts, &[1.0]);
            let known = |(mean, variance)| Marginals::known(mean, variance);
            return Ok(all.into_iter().next().map(known).unwrap_or_default());
        }
        Ok(self.normal_moments(component, parts))
    }
}

/// Why there is nothing to predict.
fn no_function(varying: Varying) -> InputError {
    InputError::Unavailable {
        what: match varying {
            Varying::Noise => "a noise variance that is a function",
            Varying::Dispersion => "a dispersion that is a function",
        },
        remedy: "in this model it is constant, or there is none",
    }
}

/// The rows a few at a time, beside so many that were conditioned on; nodes share the tables of
/// repeated intervals that each part keeps.
pub(super) fn in_parts(at: &Functionals, size: usize) -> Vec<Functionals> {
    let rows: Vec<usize> = (0..at.len()).collect();
    let few = (MOST_KEPT / size.max(1)).clamp(1, CHUNK);
    rows.chunks(few).map(|chunk| at.rows(chunk)).collect()
}
