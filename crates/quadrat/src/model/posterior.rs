//! The answer: a Gaussian process given the data, or a mixture of them.

use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::fit::condition_all;
use super::observations::Observations;
use super::prediction::{Mixture, Prediction, Work, log_normal_density, log_sum_exp};
use super::problem::Problem;
use super::summary::{FitSummary, LeaveOneOut};
use crate::error::{FitError, InputError};
use crate::inference::{Conditioned, LinearGaussian, crossvalidate};
use crate::kernel::{Kernel, Role};
use crate::linalg::{Cholesky, dot, gemm};
use crate::support::Functionals;

/// Rows predicted at a time: bounds memory to this many columns per node.
const CHUNK: usize = 1024;

/// What a prediction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// The latent function under the support, `L f`.
    Latent,
    /// The observed mean; with an identity link the same as latent.
    #[default]
    Response,
    /// A new observation: the response plus the learned noise of the first table that has one.
    Observation,
}

/// One node of the hyperparameter integration, conditioned.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub weight: f64,
    pub theta: Vec<f64>,
    pub conditioned: Conditioned,
}

/// The posterior over the latent function: answers at any support, and can be conditioned again.
///
/// With integrated hyperparameters it is a mixture over nodes `k`,
/// `p(f | y) = sum_k w_k p(f | y, theta_k)`.
pub struct Posterior {
    pub(super) problem: Problem,
    pub(super) tables: Vec<Observations>,
    pub(super) components: Vec<Component>,
    pub(super) summary: FitSummary,
    loo: Vec<LeaveOneOut>,
}

impl std::fmt::Debug for Posterior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Posterior")
            .field("kernel", &self.problem.kernel)
            .field("rows", &self.problem.rows())
            .field("nodes", &self.components.len())
            .finish_non_exhaustive()
    }
}

impl Posterior {
    pub(super) fn new(
        problem: Problem,
        tables: Vec<Observations>,
        components: Vec<Component>,
        summary: FitSummary,
    ) -> Self {
        let loo = leave_one_out(&problem, &components);
        Self {
            problem,
            tables,
            components,
            summary,
            loo,
        }
    }

    /// What the fit reports about itself.
    #[must_use]
    pub fn summary(&self) -> &FitSummary {
        &self.summary
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.problem.kernel
    }

    /// The inputs a prediction needs: the columns of the kernel.
    #[must_use]
    pub fn dims(&self) -> &[String] {
        self.problem.kernel.columns()
    }

    /// The tables it was conditioned on.
    #[must_use]
    pub fn observations(&self) -> &[Observations] {
        &self.tables
    }

    /// Marginal predictions at any supports.
    ///
    /// # Arguments
    /// * `at` - supports whose inputs include [`Self::dims`], in any order
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`] for a missing input; [`InputError::Unavailable`] for the
    /// observation scale when every noise variance was given per row.
    ///
    /// # Source
    /// Rasmussen and Williams 2006, eqs. 2.25, 2.26.
    pub fn predict(&self, at: &Functionals, scale: Scale) -> Result<Prediction, FitError> {
        let at = at.select(self.dims())?;
        let noise: Vec<f64> = match scale {
            Scale::Observation => self
                .components
                .iter()
                .map(|c| self.problem.new_row_noise(&c.theta))
                .collect::<Option<_>>()
                .ok_or(InputError::Unavailable {
                    what: "the observation scale",
                    remedy: "the noise variances were given row by row, so that of a new row is not known; predict the response and add the variance of the new row",
                })?,
            Scale::Latent | Scale::Response => vec![0.0; self.components.len()],
        };
        let weights = self.components.iter().map(|c| c.weight).collect();
        // Shared by all nodes, with the tables of repeated intervals that each part keeps.
        let rows: Vec<usize> = (0..at.len()).collect();
        let parts: Vec<Functionals> = rows.chunks(CHUNK).map(|chunk| at.rows(chunk)).collect();
        let moments: Vec<(Vec<f64>, Vec<f64>)> = self
            .components
            .par_iter()
            .zip(&noise)
            .map(|(component, noise)| {
                let (mean, mut variance) = self.moments(component, &parts);
                variance.iter_mut().for_each(|v| *v += noise);
                (mean, variance)
            })
            .collect();
        Ok(Prediction::from_moments(weights, &moments))
    }

    /// Mean and variance of every functional of every part at one node.
    fn moments(&self, component: &Component, parts: &[Functionals]) -> (Vec<f64>, Vec<f64>) {
        let mut means = Vec::new();
        let mut variances = Vec::new();
        let conditioned = &component.conditioned;
        for part in parts {
            let cross = self.problem.cross(&component.theta, part);
            let prior = self.problem.prior_variance(&component.theta, part);
            for j in 0..part.len() {
                let mean = self.problem.mean.mean * part.size(j);
                means.push(mean + dot(cross.col_as_slice(j), &conditioned.alpha));
            }
            let whitened = conditioned.factor.whiten(cross);
            for (j, prior) in prior.into_iter().enumerate() {
                let w = whitened.col_as_slice(j);
                variances.push((prior - dot(w, w)).max(0.0));
            }
        }
        (means, variances)
    }

    /// Joint posterior covariance of the functionals, shape `[m, m]`, between nodes included.
    ///
    /// # Errors
    /// As [`Self::predict`].
    pub fn covariance(&self, at: &Functionals) -> Result<Mat<f64>, FitError> {
        let at = at.select(self.dims())?;
        let joint: Vec<(f64, Vec<f64>, Mat<f64>)> = self
            .components
            .iter()
            .map(|c| {
                let (mean, covariance) = self.joint(c, &at);
                (c.weight, mean, covariance)
            })
            .collect();
        let m = at.len();
        let mean: Vec<f64> = (0..m)
            .map(|i| joint.iter().map(|(w, mean, _)| w * mean[i]).sum())
            .collect();
        Ok(Mat::from_fn(m, m, |i, j| {
            joint
                .iter()
                .map(|(w, own, k)| w * (k[(i, j)] + (own[i] - mean[i]) * (own[j] - mean[j])))
                .sum()
        }))
    }

    /// Mean and covariance at one node.
    fn joint(&self, component: &Component, at: &Functionals) -> (Vec<f64>, Mat<f64>) {
        let cross = self.problem.cross(&component.theta, at);
        let mean = (0..at.len())
            .map(|j| {
                self.problem.mean.mean * at.size(j)
                    + dot(cross.col_as_slice(j), &component.conditioned.alpha)
            })
            .collect();
        let whitened = component.conditioned.factor.whiten(cross);
        let reduction = gemm(whitened.transpose(), whitened.as_ref());
        let prior = self.problem.prior_covariance(&component.theta, at);
        (mean, prior - reduction)
    }

    /// Joint draws of the functionals, shape `[m, draws]`, reproducible for a seed.
    ///
    /// # Errors
    /// As [`Self::predict`]; [`FitError::Linalg`] when the joint covariance cannot be factorised
    /// even with jitter.
    pub fn sample(&self, at: &Functionals, draws: usize, seed: u64) -> Result<Mat<f64>, FitError> {
        let at = at.select(self.dims())?;
        let m = at.len();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Which node every draw comes from, then the draws of each node together.
        let nodes: Vec<usize> = (0..draws)
            .map(|_| {
                let mut u: f64 = rand_distr::StandardUniform.sample(&mut random);
                let last = self.components.len() - 1;
                self.components
                    .iter()
                    .position(|c| {
                        u -= c.weight;
                        u < 0.0
                    })
                    .unwrap_or(last)
            })
            .collect();
        let mut out = Mat::zeros(m, draws);
        for (k, component) in self.components.iter().enumerate() {
            let own: Vec<usize> = (0..draws).filter(|d| nodes[*d] == k).collect();
            if own.is_empty() {
                continue;
            }
            let (mean, covariance) = self.joint(component, &at);
            let factor = factor_with_jitter(covariance)?;
            for draw in own {
                let z: Vec<f64> = (0..m).map(|_| StandardNormal.sample(&mut random)).collect();
                let values = factor.multiply(&z);
                for (i, out) in out.col_as_slice_mut(draw).iter_mut().enumerate() {
                    *out = mean[i] + values[i];
                }
            }
        }
        Ok(out)
    }

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

    /// Every row predicted from all others, in the order of the tables.
    ///
    /// With integrated hyperparameters the weights of the nodes are those without the row,
    /// `w_k / p(y_i | y_-i, theta_k)` up to a constant.
    ///
    /// # Source
    /// Rasmussen and Williams 2006, eq. 5.12; Gelfand, Dey and Chang 1992 for the weights.
    #[must_use]
    pub fn leave_one_out(&self) -> &[LeaveOneOut] {
        &self.loo
    }

    /// Rows of `at` that lie farther outside the observed range than the largest lengthscale
    /// along some input (half the range where there is none): the data say little there.
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`].
    pub fn extrapolation(&self, at: &Functionals) -> Result<Vec<usize>, InputError> {
        let at = at.select(self.dims())?;
        let theta = &self.components[0].theta;
        let limits: Vec<(f64, f64)> = (0..self.dims().len())
            .map(|d| {
                let (lo, hi) = self.problem.supports.range(d);
                let parameters = self.problem.kernel.parameters().iter().zip(theta);
                let reach = parameters
                    .filter(
                        |(p, _)| matches!(&p.role, Role::Lengthscale(dims) if dims.contains(&d)),
                    )
                    .map(|(_, l)| *l)
                    .fold(0.0, f64::max);
                let reach = if reach > 0.0 {
                    reach.min(hi - lo)
                } else {
                    0.5 * (hi - lo)
                };
                (lo - reach, hi + reach)
            })
            .collect();
        Ok((0..at.len())
            .filter(|&row| {
                limits.iter().enumerate().any(|(d, &(lo, hi))| {
                    let (a, b) = at.extent(row, d);
                    a < lo || b > hi
                })
            })
            .collect())
    }
}

/// Joint posterior covariances are singular when supports repeat: tiny jitter makes draws exist.
fn factor_with_jitter(mut covariance: Mat<f64>) -> Result<Cholesky, FitError> {
    let m = covariance.nrows();
    let scale = (0..m)
        .map(|i| covariance[(i, i)].abs())
        .fold(0.0, f64::max)
        .max(f64::MIN_POSITIVE);
    let mut added = 0.0;
    for relative in [0.0, 1e-14, 1e-12, 1e-10, 1e-8] {
        let jitter = relative * scale;
        for i in 0..m {
            covariance[(i, i)] += jitter - added;
        }
        added = jitter;
        match Cholesky::factor(covariance.as_ref()) {
            Ok(factor) => return Ok(factor),
            Err(error) if relative == 1e-8 => return Err(error.into()),
            Err(_) => {}
        }
    }
    Err(crate::error::LinalgError::NotPositiveDefinite { size: m, pivot: 0 }.into())
}

fn leave_one_out(problem: &Problem, components: &[Component]) -> Vec<LeaveOneOut> {
    let moments: Vec<(Vec<f64>, Vec<f64>)> = components
        .par_iter()
        .map(|c| crossvalidate::leave_one_out(problem.residual(), &c.conditioned))
        .collect();
    let n = problem.rows();
    let mut out = vec![
        LeaveOneOut {
            value: 0.0,
            mean: 0.0,
            sd: 0.0,
            log_density: 0.0,
            pit: 0.0
        };
        n
    ];
    let mut work = Work::default();
    for place in 0..n {
        let y = problem.residual()[place];
        let means: Vec<f64> = moments.iter().map(|m| m.0[place]).collect();
        let variances: Vec<f64> = moments.iter().map(|m| m.1[place]).collect();
        let logs: Vec<f64> = components
            .iter()
            .zip(means.iter().zip(&variances))
            .map(|(c, (m, v))| c.weight.ln() - log_normal_density(y, *m, *v))
            .collect();
        let total = log_sum_exp(&logs);
        let weights: Vec<f64> = logs.iter().map(|l| (l - total).exp()).collect();
        let mean: f64 = weights.iter().zip(&means).map(|(w, m)| w * m).sum();
        let variance: f64 = weights
            .iter()
            .zip(means.iter().zip(&variances))
            .map(|(w, (m, v))| w * (v + (m - mean).powi(2)))
            .sum();
        let sds: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
        let mixture = Mixture {
            weights: &weights,
            means: &means,
            sds: &sds,
        };
        let value = problem.values()[place];
        out[problem.order[place]] = LeaveOneOut {
            value,
            mean: mean + value - y,
            sd: variance.sqrt(),
            log_density: -total,
            pit: mixture.cdf(y, &mut work),
        };
    }
    out
}
