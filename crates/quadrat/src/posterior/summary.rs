//! What a fit reports about itself.

use serde::{Deserialize, Serialize};

/// What was done and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FitSummary {
    /// Method of inference: `exact`, `ep`, `variational`, `laplace` or `sparse`.
    pub inference: String,
    /// How the covariance was represented: `dense`, `kronecker`, `line` (learned by a chain along a
    /// line), `nodes` within the supports, or `inducing points`.
    pub structure: String,
    /// Whether learning the hyperparameters met its stopping rule.
    pub converged: bool,
    /// Log evidence at the MAP in nats; an unknown constant mean is integrated out of it, the
    /// priors of the other hyperparameters are not part of it.
    pub log_evidence: f64,
    /// `log_evidence` plus the log prior density of the free hyperparameters, per unit of their
    /// logarithms.
    pub log_posterior: f64,
    /// Which approximation `log_evidence` is: `exact`, `ep`, `elbo` or `laplace`.
    pub evidence: String,
    /// Every hyperparameter.
    pub hyperparameters: Vec<Hyper>,
    /// Whether the hyperparameters are integrated.
    pub integrated: bool,
    /// Nodes of the integration; 1 for MAP.
    pub nodes: usize,
    /// Rows observed.
    pub rows: usize,
    /// Iterations of the optimiser over all starts.
    pub iterations: usize,
    /// Evaluations of the evidence, those of the integration included; of sparse inference passes
    /// over the rows.
    pub evaluations: usize,
    /// Wall-clock time of the fit.
    pub seconds: f64,
    /// Largest jitter used, relative to the variance of the rows, or of inducing points besides the
    /// 1e-10 that these always have; usually 0.
    pub jitter: f64,
    /// By how much moving inducing points raised the bound, in nats, where they were moved.
    pub inducing_gain: Option<f64>,
    /// A lower bound of the log evidence at the same hyperparameters, in nats: the variational one,
    /// beside the evidence of expectation propagation where rows have a noise variance or
    /// dispersion that is a function, and where it converged.
    pub variational_bound: Option<f64>,
    /// How alike every pair of outputs is; empty where there is one.
    pub correlations: Vec<OutputCorrelation>,
    /// What a careful reader should know.
    pub warnings: Vec<String>,
}

/// One hyperparameter after the fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hyper {
    /// Its public name.
    pub name: String,
    /// MAP value; for the mean, its posterior mean.
    pub value: f64,
    /// Median of the distribution that the interval is of, within it; the MAP value, which may lie
    /// outside, where no interval was computed.
    pub median: f64,
    /// Lower end of its central 95 % interval: from the integrated posterior, or from the normal
    /// approximation in its logarithm when it is the MAP (too narrow when rows are few); NaN where
    /// none was computed, which a warning tells.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
    /// Whether it was fixed.
    pub fixed: bool,
    /// What it means, in words.
    pub meaning: String,
}

/// The prediction of one row from all others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LeaveOneOut {
    /// The observed value.
    pub value: f64,
    /// Mean of its prediction.
    pub mean: f64,
    /// Standard deviation of its prediction, noise included.
    pub sd: f64,
    /// Lower end of its central 95 % interval.
    pub lower: f64,
    /// Upper end of its central 95 % interval.
    pub upper: f64,
    /// Log predictive density of the observed value, nats.
    pub log_density: f64,
    /// Probability of a value not above the observed one; uniform when calibrated.
    pub pit: f64,
}

/// Share of the hyperparameters' posterior that the nodes answering predictions hold: the others
/// move no predictive probability by more than its complement.
pub(crate) const COVERED: f64 = 0.999;

/// Prior correlation of two outputs at one place.
///
/// $\rho_{ij} = \sum_q B^{(q)}_{ij} k_q(x, x) / \sqrt{v_i v_j}$ with $v_i$ the sum for `i = j`, the
/// unknown means left out: how alike the two latent functions move. Where the kernel is not
/// stationary `x` is the middle of the observed inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputCorrelation {
    /// Name of one output.
    pub first: String,
    /// Name of the other.
    pub second: String,
    /// At the MAP of the hyperparameters.
    pub value: f64,
    /// Median of the distribution that the interval is of.
    pub median: f64,
    /// Lower end of its central 95 % interval, from the normal approximation of the hyperparameters
    /// around the MAP in their free coordinates.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
}
