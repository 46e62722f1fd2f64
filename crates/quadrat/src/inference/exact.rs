//! Exact conditioning on linear Gaussian observations; evidence and its gradient.

use std::sync::Arc;

use super::basis::Basis;
use super::converged::Converged;
use super::exact_rows::{ExactRow, collinear, contradiction, is_solved};
use super::pooled::Lift;
use super::rank::FewDirections;
use super::row_factor::RowFactor;
use super::{Evidence, Factor, Gram, KroneckerFactor, LinearGaussian, WarmStart};
use crate::error::{FitError, InputError, LinalgError};
use crate::linalg::{Cholesky, Mat, dot, gemm, map_lower};
use crate::parameter::{self, Parameter};

/// Jitters tried in turn when the plain factorisation fails, relative to the variance of each row
/// (of the mean row on a grid), so that rows of very different size keep their proportions.
const JITTERS: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// A prior conditioned on its observations, by whichever engine: over rows (exact inference and
/// sites), over nodes (sums after a link), or over inducing points (sparse).
#[derive(Debug, Clone)]
pub struct Conditioned {
    /// Length `n`: the posterior mean of any functional is its prior mean and its cross-covariance
    /// with what was conditioned on, times `alpha`. `Ky^-1 r` of exact inference, `K^-1 (mu - m)`
    /// of sites, `J'` times that over nodes, `L^-T mu` over inducing points.
    pub alpha: Vec<f64>,
    /// What takes prior covariances to posterior ones: the factorised `Ky`, or what stands for it.
    pub factor: Factor,
    /// Posterior means of the coefficients in the mean, in prior standard deviations; empty where
    /// they are not kept apart ([`Factor::Basis`]).
    pub levels: Vec<f64>,
    /// `log p(y | theta)` in nats, every constant included.
    pub log_evidence: f64,
    /// What was added to the diagonal of `Ky`, relative to it; 0 when nothing was needed.
    pub jitter: f64,
    /// Variances `v` of the rows' noise, of `Ky = K + diag(v)`, without the jitter: of sites the
    /// reciprocal of their precision, infinite where a row says nothing. Empty where rows are not
    /// what was conditioned on: nodes of sums after a link, inducing points.
    pub noise: Vec<f64>,
    /// The second latent function, where rows have one.
    pub second: Option<Box<Conditioned>>,
    /// Draws that meet what rows report of their sums after a link, where they were asked for.
    pub lift: Option<Arc<Lift>>,
    /// Where the iterations ended that led here.
    pub converged: Converged,
}

/// Conditions the prior at `theta` on the observations.
///
/// $$ \log p(y) = -\tfrac12 r' K_y^{-1} r - \tfrac12 \log\det K_y - \tfrac n2 \log 2\pi $$
///
/// # Arguments
/// * `problem` - the prior covariance, noise and residual
/// * `theta` - every hyperparameter, natural units
///
/// # Errors
/// [`FitError::Factorisation`] when `Ky` is not positive definite even with jitter
/// 1e-6; [`FitError::Input`] for a Kronecker prior whose noise differs between rows.
///
/// # Numerics
/// `O(n^3)` dense; for a grid see [`KroneckerFactor`], along a line [`RowFactor`]. Jitter is added
/// only when the plain factorisation fails, and reported.
///
/// # Source
/// Rasmussen & Williams 2006, Algorithm 2.1, eq. 2.30.
pub fn condition(problem: &dyn LinearGaussian, theta: &[f64]) -> Result<Conditioned, FitError> {
    let noise = noise(problem, theta);
    match problem.factor(theta, &noise) {
        Some(factor) => {
            let solved = solve_by(problem, theta, factor)?;
            Ok(conditioned(problem, theta, noise, solved))
        }
        None => condition_under(problem, theta, gram(problem, theta)?),
    }
}

/// The variances of the rows' noise.
pub(super) fn noise(problem: &dyn LinearGaussian, theta: &[f64]) -> Vec<f64> {
    let mut noise = vec![0.0; problem.rows()];
    problem.noise(theta, &mut noise);
    noise
}

/// The covariance of the rows, where there is room for it.
fn gram(problem: &dyn LinearGaussian, theta: &[f64]) -> Result<Gram, FitError> {
    problem.check_matrix()?;
    Ok(problem.gram(theta))
}

/// Conditions under a covariance that was computed.
fn condition_under(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    gram: Gram,
) -> Result<Conditioned, FitError> {
    let noise = noise(problem, theta);
    let solved = match gram {
        Gram::Dense(k) => match problem.basis(theta) {
            None => solve_dense(problem, theta, k, &noise)?,
            Some(columns) => match solve_apart(problem, k, columns, &noise)? {
                Some(solved) => solved,
                // Rare: the matrix is computed again rather than kept twice in memory every time.
                None => solve_dense(problem, theta, dense(problem, theta), &noise)?,
            },
        },
        Gram::Kronecker { axes, rank_one } => {
            let (factor, jitter) =
                factor_kronecker(problem, theta, &axes, rank_one.as_deref(), &noise)?;
            Solved {
                alpha: factor.solve(problem.residual()),
                levels: Vec::new(),
                factor,
                jitter,
            }
        }
    };
    Ok(conditioned(problem, theta, noise, solved))
}

/// A system that is solved, with its log evidence.
pub(super) fn conditioned(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    noise: Vec<f64>,
    solved: Solved,
) -> Conditioned {
    let residual = problem.residual();
    let Solved {
        factor,
        alpha,
        levels,
        jitter,
    } = solved;
    let constant = residual.len() as f64 * (2.0 * std::f64::consts::PI).ln();
    let log_evidence =
        problem.constant(theta) - 0.5 * (dot(residual, &alpha) + factor.log_det() + constant);
    Conditioned {
        second: None,
        lift: None,
        converged: Converged::Closed,
        alpha,
        factor,
        levels,
        log_evidence,
        jitter,
        noise,
    }
}

/// What a factor of kernel and noise says of the residual: the factor with the functions of the
/// mean, the means of their coefficients, and `alpha`.
pub(super) fn explained(
    factor: RowFactor,
    columns: Option<Mat<f64>>,
    residual: &[f64],
) -> Result<(Factor, Vec<f64>, Vec<f64>), LinalgError> {
    Ok(match columns {
        None => {
            let alpha = factor.solve(residual);
            (Factor::Rows(factor), Vec::new(), alpha)
        }
        Some(columns) => {
            let basis = Basis::new(factor, columns)?;
            let (levels, alpha) = basis.explain(residual);
            (Factor::Basis(basis), levels, alpha)
        }
    })
}

/// By a factor of what the kernel and the noise say.
fn solve_by(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    factor: RowFactor,
) -> Result<Solved, FitError> {
    let columns = problem.basis(theta);
    let (factor, levels, alpha) = explained(factor, columns, problem.residual())?;
    Ok(Solved {
        factor,
        alpha,
        levels,
        jitter: 0.0,
    })
}

/// The log evidence at `theta` in nats, and its gradient in `theta` (natural units, every
/// parameter).
///
/// The adjoint is `G = (alpha alpha' - Ky^-1) / 2`, R&W eq. 5.9; jitter counts as a constant.
///
/// # Errors
/// As [`condition`].
pub fn evidence_and_gradient(
    problem: &dyn LinearGaussian,
    theta: &[f64],
) -> Result<(f64, Vec<f64>), FitError> {
    evaluate(problem, theta, false)
}

/// As [`evidence_and_gradient`], by rough covariances where that is asked for.
fn evaluate(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    is_rough: bool,
) -> Result<(f64, Vec<f64>), FitError> {
    if let Some(found) = problem.structured(theta, true) {
        return Ok(found);
    }
    problem.check_matrix()?;
    let (gram, kept) = problem.gram_kept(theta, is_rough);
    let gram = match few_directions(problem, theta, gram) {
        Ok(found) => return Ok((found.log_evidence, found.gradient(problem, theta, &kept))),
        Err(gram) => gram,
    };
    let conditioned = condition_under(problem, theta, gram)?;
    let alpha = &conditioned.alpha;
    let of_inverse = |mut g: Mat<f64>| {
        map_lower(&mut g, |i, j, inverse| {
            0.5 * (alpha[i] * alpha[j] - inverse)
        });
        let diagonal = (0..alpha.len()).map(|i| g[(i, i)]).collect();
        (Gram::Dense(g), diagonal)
    };
    let (adjoint, noise_adjoint) = match conditioned.factor {
        Factor::Rows(factor) => of_inverse(factor.into_inverse_lower()),
        Factor::Basis(factor) => of_inverse(factor.into_inverse_lower()),
        Factor::Kronecker(factor) => factor.adjoint(alpha),
        // Never made by `condition`.
        Factor::Scaled { .. } | Factor::Pooled { .. } | Factor::Sparse { .. } => {
            (Gram::Dense(Mat::new()), Vec::new())
        }
    };
    let mut gradient = vec![0.0; theta.len()];
    problem.contract_kept(theta, &kept, &adjoint, &noise_adjoint, &mut gradient);
    Ok((conditioned.log_evidence, gradient))
}

/// By a root of the covariance; else the covariance itself.
fn few_directions(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    gram: Gram,
) -> Result<FewDirections, Gram> {
    let found = match &gram {
        Gram::Dense(k) => FewDirections::new(problem, theta, k.as_ref()),
        Gram::Kronecker { .. } => None,
    };
    found.ok_or(gram)
}

/// The exact evidence of a linear Gaussian problem.
#[derive(Clone, Copy)]
pub struct Exact<'a>(pub &'a dyn LinearGaussian);

impl Evidence for Exact<'_> {
    fn evaluate_along(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        evaluate(self.0, theta, warm_start.is_coarse)
    }

    fn value_along(&self, theta: &[f64], _: &mut WarmStart) -> Result<f64, FitError> {
        if let Some((value, _)) = self.0.structured(theta, false) {
            return Ok(value);
        }
        match few_directions(self.0, theta, gram(self.0, theta)?) {
            Ok(found) => Ok(found.log_evidence),
            Err(gram) => Ok(condition_under(self.0, theta, gram)?.log_evidence),
        }
    }

    fn parameters(&self) -> &[Parameter] {
        self.0.parameters()
    }
}

/// Tries without jitter, then with every jitter in turn.
fn with_jitter<T>(
    mut attempt: impl FnMut(f64) -> Result<T, LinalgError>,
) -> Result<Option<(T, f64)>, LinalgError> {
    for jitter in std::iter::once(0.0).chain(JITTERS) {
        match attempt(jitter) {
            Ok(factor) => return Ok(Some((factor, jitter))),
            Err(LinalgError::NotPositiveDefinite { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(None)
}

/// A system that is solved: `alpha = Ky^-1 r`.
pub(super) struct Solved {
    pub factor: Factor,
    pub alpha: Vec<f64>,
    pub levels: Vec<f64>,
    pub jitter: f64,
}

/// With the coefficients of the mean apart; nothing where the rest alone has no factor, as of rows
/// without noise that nothing but the coefficients tells apart.
fn solve_apart(
    problem: &dyn LinearGaussian,
    mut k: Mat<f64>,
    columns: Mat<f64>,
    noise: &[f64],
) -> Result<Option<Solved>, FitError> {
    let diagonal: Vec<f64> = (0..k.nrows()).map(|i| k[(i, i)]).collect();
    for (i, noise) in noise.iter().enumerate() {
        k[(i, i)] += noise;
    }
    let factor = match Cholesky::factor_owned(k) {
        Ok(factor) => factor,
        Err(LinalgError::NotPositiveDefinite { .. }) => return Ok(None),
        Err(other) => return Err(other.into()),
    };
    let factor = RowFactor::Dense(factor);
    let (factor, levels, alpha) = explained(factor, Some(columns), problem.residual())?;
    if !is_solved(diagonal.into_iter(), &alpha, problem.residual()) {
        return Ok(None);
    }
    Ok(Some(Solved {
        factor,
        alpha,
        levels,
        jitter: 0.0,
    }))
}

/// The prior covariance of the rows in a dense form.
fn dense(problem: &dyn LinearGaussian, theta: &[f64]) -> Mat<f64> {
    match problem.gram(theta) {
        Gram::Dense(k) => k,
        Gram::Kronecker { .. } => Mat::new(),
    }
}

/// The same with that of the coefficients of the mean.
fn whole(problem: &dyn LinearGaussian, theta: &[f64], k: Mat<f64>) -> Mat<f64> {
    match problem.basis(theta) {
        Some(columns) => k + gemm(columns.as_ref(), columns.transpose()),
        None => k,
    }
}

fn solve_dense(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    k: Mat<f64>,
    noise: &[f64],
) -> Result<Solved, FitError> {
    let residual = problem.residual();
    let k = whole(problem, theta, k);
    let diagonal: Vec<f64> = (0..k.nrows()).map(|i| k[(i, i)]).collect();
    // A factor of a matrix that is singular but for rounding exists, and answers with noise.
    let solve = |factor: &Cholesky| {
        let alpha = factor.solve(residual);
        is_solved(diagonal.iter().copied(), &alpha, residual).then_some(alpha)
    };
    let solved = |factor, alpha, jitter| Solved {
        factor: Factor::Rows(RowFactor::Dense(factor)),
        alpha,
        levels: Vec::new(),
        jitter,
    };
    let prepare = |mut a: Mat<f64>, jitter: f64| {
        for (i, noise) in noise.iter().enumerate() {
            a[(i, i)] = (a[(i, i)] + noise) * (1.0 + jitter);
        }
        a
    };
    match Cholesky::factor_owned(prepare(k, 0.0)) {
        Ok(factor) => {
            if let Some(alpha) = solve(&factor) {
                return Ok(solved(factor, alpha, 0.0));
            }
        }
        Err(LinalgError::NotPositiveDefinite { .. }) => {}
        Err(other) => return Err(other.into()),
    }
    // Rare: the matrix is computed again rather than kept twice in memory every time.
    let dense = || whole(problem, theta, dense(problem, theta));
    for jitter in JITTERS {
        match Cholesky::factor_owned(prepare(dense(), jitter)) {
            Ok(factor) => {
                let Some(alpha) = solve(&factor) else {
                    continue;
                };
                let exact = (0..noise.len()).map(|row| ExactRow {
                    row,
                    noise: noise[row],
                    prior: diagonal[row],
                    misfit: jitter * (diagonal[row] + noise[row]) * alpha[row],
                });
                return match contradiction(exact, dense) {
                    Some(error) => Err(error),
                    None => Ok(solved(factor, alpha, jitter)),
                };
            }
            Err(LinalgError::NotPositiveDefinite { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(refusal(problem, theta, collinear(&dense())))
}

fn factor_kronecker(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    axes: &[Mat<f64>],
    rank_one: Option<&[f64]>,
    noise: &[f64],
) -> Result<(Factor, f64), FitError> {
    let variance = noise.first().copied().unwrap_or(0.0);
    if noise.iter().any(|v| *v != variance) {
        return Err(FitError::Input(InputError::Unavailable {
            what: "a Kronecker prior with noise that differs between rows",
            remedy: "use the dense form of the prior",
        }));
    }
    let eigen = KroneckerFactor::decompose(axes)?;
    let mean_diagonal: f64 = axes
        .iter()
        .map(|a| (0..a.nrows()).map(|i| a[(i, i)]).sum::<f64>() / a.nrows().max(1) as f64)
        .product();
    let scale = mean_diagonal + variance;
    let attempt =
        |jitter: f64| KroneckerFactor::new(eigen.clone(), rank_one, variance + jitter * scale);
    match with_jitter(attempt)? {
        Some((factor, jitter)) => Ok((Factor::Kronecker(factor), jitter)),
        None => Err(refusal(problem, theta, collinear_on_grid(axes))),
    }
}

fn refusal(
    problem: &dyn LinearGaussian,
    theta: &[f64],
    (rows, correlation): ((usize, usize), f64),
) -> FitError {
    let parameters: &[Parameter] = problem.parameters();
    FitError::Factorisation {
        kernel: problem.describe(),
        parameters: parameter::describe(parameters, theta),
        jitter: JITTERS[JITTERS.len() - 1],
        rows,
        correlation,
    }
}

/// As [`collinear`] on a grid: the worst pair differs along one axis only.
fn collinear_on_grid(axes: &[Mat<f64>]) -> ((usize, usize), f64) {
    let mut worst = ((0, 0), 0.0);
    for (d, axis) in axes.iter().enumerate() {
        let stride: usize = axes[d + 1..].iter().map(Mat::nrows).product();
        let ((i, j), correlation) = collinear(axis);
        if correlation.abs() > f64::abs(worst.1) {
            worst = ((i * stride, j * stride), correlation);
        }
    }
    worst
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod tests;
