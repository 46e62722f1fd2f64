//! How alike the outputs are.

use super::mixture::Posterior;
use super::summary::OutputCorrelation;
use crate::error::FitError;
use crate::inference::Optimum;
use crate::kernel::Kernel;
use crate::problem::assembly::Problem;
use crate::support::Functionals;

/// Draws of the hyperparameters behind the intervals.
const DRAWS: usize = 4000;
/// Their seed.
const SEED: u64 = 1;

/// A coregionalisation matrix $B = A A' + \mathrm{diag}(\kappa)$: what one latent process, or the
/// sum of those that share it, has of every output.
#[derive(Debug, Clone, PartialEq)]
pub struct Coregionalization {
    /// As hyperparameters name it: `coregion`, `coregion#2`, `noise.coregion`.
    pub name: String,
    /// The outputs that it mixes: those of its function, which may be fewer than
    /// [`Posterior::outputs`].
    pub outputs: Vec<String>,
    /// Entries at the MAP of the hyperparameters, row by row, in the order of `outputs`.
    pub matrix: Vec<f64>,
}

impl Posterior {
    /// Every coregionalisation matrix, of the latent function first; none where there is one
    /// output.
    #[must_use]
    pub fn coregionalizations(&self) -> Vec<Coregionalization> {
        let seconds = self.problem.seconds().each().iter().map(|s| &s.spec);
        let seconds = seconds.map(|spec| (&spec.kernel, format!("{}.", spec.varying.name())));
        let kernels = std::iter::once((self.problem.kernel(), String::new())).chain(seconds);
        kernels
            .flat_map(|(kernel, prefix)| self.matrices(kernel, &prefix))
            .collect()
    }

    fn matrices(&self, kernel: &Kernel, prefix: &str) -> Vec<Coregionalization> {
        let hypers = &self.summary().hyperparameters;
        let value = |name: &str| {
            let mut own = hypers
                .iter()
                .filter(|h| h.name.strip_prefix(prefix) == Some(name));
            own.next().map(|h| h.value)
        };
        let parameters = kernel.parameters();
        let theta: Option<Vec<f64>> = parameters.iter().map(|p| value(&p.name)).collect();
        let Some(theta) = theta else {
            return Vec::new();
        };
        let mixings = kernel.leaves().iter().filter_map(|l| l.mixing.as_ref());
        mixings
            .filter_map(|mixing| {
                let first = &parameters.get(*mixing.kappa.first()?)?.name;
                let label = first.split('.').next().unwrap_or(first);
                Some(Coregionalization {
                    name: format!("{prefix}{label}"),
                    outputs: kernel.outputs().to_vec(),
                    matrix: mixing.matrix(&theta),
                })
            })
            .collect()
    }
}

/// Every pair of outputs, the earlier name first; none where there is one output.
pub(crate) fn correlations(
    problem: &Problem,
    optimum: &Optimum,
) -> Result<Vec<OutputCorrelation>, FitError> {
    let outputs = problem.kernel().outputs();
    if outputs.is_empty() {
        return Ok(Vec::new());
    }
    let at = places(problem)?;
    let n = outputs.len();
    let matrix = |theta: &[f64]| {
        let k = problem.prior().kernel_covariance(theta, &at);
        let scale = |i: usize| k[(i, i)].sqrt();
        let entry = |i: usize, j: usize| (k[(i, j)] / (scale(i) * scale(j))).clamp(-1.0, 1.0);
        pairs(n).map(|(i, j)| entry(i, j)).collect::<Vec<f64>>()
    };
    let values = matrix(&optimum.theta);
    let draws = optimum.draws(problem.parameters(), DRAWS, SEED)?;
    let drawn: Vec<Vec<f64>> = draws.iter().map(|theta| matrix(theta)).collect();
    let one = |(p, (i, j)): (usize, (usize, usize))| {
        let mut sorted: Vec<f64> = drawn.iter().map(|d| d[p]).collect();
        sorted.sort_by(f64::total_cmp);
        let quantile = |u: f64| sorted[((u * DRAWS as f64) as usize).min(DRAWS - 1)];
        OutputCorrelation {
            first: outputs[i].clone(),
            second: outputs[j].clone(),
            value: values[p],
            median: quantile(0.5),
            lower: quantile(0.025),
            upper: quantile(0.975),
        }
    };
    Ok(pairs(n).enumerate().map(one).collect())
}

/// The middle of the observed inputs, once for every output.
fn places(problem: &Problem) -> Result<Functionals, FitError> {
    let kernel = problem.kernel();
    let mut at = Functionals::new(kernel.columns().to_vec());
    for output in 0..kernel.outputs().len() {
        let coordinate = |d: usize| {
            let (low, high) = problem.supports().range(d);
            match kernel.output_column() == Some(d) {
                true => output as f64,
                false => 0.5 * (low + high),
            }
        };
        let point: Vec<f64> = (0..kernel.columns().len()).map(coordinate).collect();
        at.push_point(&point)?;
    }
    Ok(at)
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}
