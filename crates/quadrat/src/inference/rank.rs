//! The evidence of rows whose covariance has a rank far below their number.
//!
//! Smooth functions at many places, or at places that repeat, have `K = L L'` with `L` of shape
//! `[n, r]` to the last digits. With `N` the noise,
//!
//! $$ A = I + L' N^{-1} L, \qquad K_0^{-1} = N^{-1} - N^{-1} L A^{-1} L' N^{-1}, \qquad
//!    \log\det K_0 = \log\det A + \log\det N $$
//!
//! and all products cost some `n^2 r` in place of `n^3`. `A` has no eigenvalue below one.

use super::gram::{Gram, LinearGaussian};
use crate::covariance::KeptPairs;
use crate::linalg::{
    Cholesky, Mat, MatRef, dot, low_rank_root, map_lower, matvec, par_gemm_lower_into,
    scale_columns,
};

/// Fewer rows are factorised as fast whole.
const LEAST_ROWS: usize = 256;
/// A root needs the memory of the covariance twice: 1.6 GB for so many rows.
const MOST_ROWS: usize = 10_000;
/// The highest rank of use, as a share of the rows: two products of `n r^2` cost as much as the
/// dense inverse at .6.
const MOST_RANK: f64 = 0.45;
/// Precisions in units of the prior up to which the root serves: what it leaves out, `n eps` of the
/// variance, times this is the error of the share that a row leaves of its variance, `1 - T s`:
/// 1e-8 for 400 rows.
pub(super) const STRONGEST: f64 = 1e5;
/// Of every so many rows one is looked at first: where these have a full rank, all have one that is
/// too high.
const SAMPLED: usize = 3;

/// `L'`, shape `[r, n]`, where that pays.
pub(super) fn root(k: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let n = k.nrows();
    if n < LEAST_ROWS {
        return None;
    }
    let few = n / SAMPLED;
    let sample = Mat::from_fn(few, few, |i, j| k[(SAMPLED * i, SAMPLED * j)]);
    low_rank_root(sample.as_ref(), few - 1)?;
    low_rank_root(k, (MOST_RANK * n as f64) as usize)
}

/// Rows under given hyperparameters.
pub(super) struct FewDirections {
    /// `N^-1`.
    precision: Vec<f64>,
    /// `C^-1 L' N^-1` with `C C' = A`, shape `[r, n]`.
    half: Mat<f64>,
    /// `K0^-1 U` with the factor of `I + U' K0^-1 U` divided out, a coefficient a row.
    pulled: Mat<f64>,
    /// `Ky^-1 r`.
    alpha: Vec<f64>,
    /// The log evidence in nats.
    pub log_evidence: f64,
}

impl FewDirections {
    /// None where the covariance has no such root, or a row is so precise that digits would cancel.
    ///
    /// # Arguments
    /// * `k` - covariance of the rows, without noise and functions
    pub fn new(problem: &dyn LinearGaussian, theta: &[f64], k: MatRef<'_, f64>) -> Option<Self> {
        if !(LEAST_ROWS..=MOST_ROWS).contains(&k.nrows()) {
            return None;
        }
        let mut noise = vec![0.0; k.nrows()];
        problem.noise(theta, &mut noise);
        let is_weak = |(row, v): (usize, &f64)| k[(row, row)] <= STRONGEST * v;
        if !noise.iter().enumerate().all(is_weak) {
            return None;
        }
        let mut half = root(k)?;
        let columns = problem.basis(theta);
        let n = half.ncols();
        let precision: Vec<f64> = noise.iter().map(|v| v.recip()).collect();
        scale_columns(&mut half, precision.iter().map(|t| t.sqrt()));
        let mut a = Mat::zeros(half.nrows(), half.nrows());
        par_gemm_lower_into(a.as_mut(), 1.0, half.as_ref(), half.transpose());
        for i in 0..half.nrows() {
            a[(i, i)] += 1.0;
        }
        let factor = Cholesky::factor_owned(a).ok()?;
        factor.par_half_solve_in_place(half.as_mut());
        scale_columns(&mut half, precision.iter().map(|t| t.sqrt()));
        let solve = |b: &[f64]| -> Vec<f64> {
            let known = matvec(half.transpose(), &matvec(half.as_ref(), b));
            let each = b.iter().zip(&precision).zip(known);
            each.map(|((b, t), known)| t * b - known).collect()
        };
        let nothing = Mat::zeros(n, 0);
        let columns = columns.as_ref().unwrap_or(&nothing);
        let count = columns.ncols();
        let solved: Vec<Vec<f64>> = (0..count).map(|c| solve(columns.col_as_slice(c))).collect();
        let inner = Mat::from_fn(count, count, |i, j| {
            let own = if i == j { 1.0 } else { 0.0 };
            own + dot(columns.col_as_slice(i), &solved[j])
        });
        let inner = Cholesky::factor_owned(inner).ok()?;
        let residual = problem.residual();
        let told: Vec<f64> = solved.iter().map(|z| dot(z, residual)).collect();
        let levels = inner.solve(&told);
        let explained = matvec(columns.as_ref(), &levels);
        let rest: Vec<f64> = residual.iter().zip(explained).map(|(r, e)| r - e).collect();
        let alpha = solve(&rest);
        let mut pulled = Mat::from_fn(count, n, |c, row| solved[c][row]);
        inner.half_solve_in_place(pulled.as_mut());
        let log_det =
            factor.log_det() + noise.iter().map(|v| v.ln()).sum::<f64>() + inner.log_det();
        let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
        // `r' Ky^-1 r` without the level, whose square would take the digits of the rest.
        let quadratic = dot(&rest, &alpha) + dot(&levels, &levels);
        let log_evidence = problem.constant(theta) - 0.5 * (quadratic + log_det + constant);
        log_evidence.is_finite().then_some(Self {
            precision,
            half,
            pulled,
            alpha,
            log_evidence,
        })
    }

    /// The gradient of the log evidence in every parameter, from the adjoint
    ///
    /// $$ G = \tfrac12 (\alpha \alpha' - K_y^{-1}) = \tfrac12 (\alpha \alpha' + H'H + P'P -
    ///    N^{-1}) $$
    ///
    /// with `H` and `P` as they are kept here.
    pub fn gradient(
        &self,
        problem: &dyn LinearGaussian,
        theta: &[f64],
        kept: &KeptPairs,
    ) -> Vec<f64> {
        let (rank, n) = (self.half.nrows(), self.half.ncols());
        let mut all = Mat::zeros(rank + self.pulled.nrows() + 1, n);
        for row in 0..n {
            let column = all.col_as_slice_mut(row);
            column[..rank].copy_from_slice(self.half.col_as_slice(row));
            column[rank..rank + self.pulled.nrows()].copy_from_slice(self.pulled.col_as_slice(row));
            column[rank + self.pulled.nrows()] = self.alpha[row];
        }
        let mut adjoint = Mat::zeros(n, n);
        par_gemm_lower_into(adjoint.as_mut(), 0.5, all.transpose(), all.as_ref());
        map_lower(&mut adjoint, |i, j, value| match i == j {
            true => value - 0.5 * self.precision[i],
            false => value,
        });
        let noise: Vec<f64> = (0..n).map(|row| adjoint[(row, row)]).collect();
        let mut gradient = vec![0.0; theta.len()];
        problem.contract_kept(theta, kept, &Gram::Dense(adjoint), &noise, &mut gradient);
        gradient
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inference::testing::{SePoints, pseudo};
    use crate::inference::{condition, evidence_and_gradient};
    use crate::parameter::{Parameter, PriorDensity};

    /// Of functions beside the kernel.
    struct WithFunctions(SePoints);

    impl LinearGaussian for WithFunctions {
        fn rows(&self) -> usize {
            self.0.rows()
        }
        fn residual(&self) -> &[f64] {
            self.0.residual()
        }
        fn gram(&self, theta: &[f64]) -> Gram {
            self.0.gram(theta)
        }
        fn basis(&self, _: &[f64]) -> Option<Mat<f64>> {
            let value = |i: usize, j: usize| if j == 0 { 300.0 } else { 10.0 * pseudo(i) };
            Some(Mat::from_fn(self.rows(), 2, value))
        }
        fn noise(&self, theta: &[f64], variances: &mut [f64]) {
            for (row, v) in variances.iter_mut().enumerate() {
                *v = theta[2] * (1.0 + (row % 3) as f64);
            }
        }
        fn contract(&self, theta: &[f64], adjoint: &Gram, noise: &[f64], gradient: &mut [f64]) {
            let times = |(row, g): (usize, &f64)| g * (1.0 + (row % 3) as f64);
            let noise: Vec<f64> = noise.iter().enumerate().map(times).collect();
            self.0.contract(theta, adjoint, &noise, gradient);
        }
        fn describe(&self) -> String {
            self.0.describe()
        }
        fn parameters(&self) -> &[Parameter] {
            self.0.parameters()
        }
    }

    #[test]
    fn few_directions_say_what_the_whole_matrix_says() {
        let rows = WithFunctions(SePoints::wave(300, PriorDensity::Flat));
        let theta = [1.4, 0.9, 0.02];
        let Gram::Dense(k) = rows.gram(&theta) else {
            panic!("points have a dense covariance");
        };
        let found = FewDirections::new(&rows, &theta, k.as_ref()).unwrap();
        assert!(found.half.nrows() < 60, "{}", found.half.nrows());
        let right = condition(&rows, &theta).unwrap().log_evidence;
        // What the root leaves out, 300 eps, over a noise of .02, for 300 rows.
        assert!((found.log_evidence - right).abs() < 1e-8);
        let gradient = found.gradient(&rows, &theta, &KeptPairs::default());
        let (value, by_search) = evidence_and_gradient(&rows, &theta).unwrap();
        assert_eq!((value, &by_search), (found.log_evidence, &gradient));
        for i in 0..3 {
            let step = 1e-4 * theta[i];
            let at = |sign: f64| {
                let mut moved = theta;
                moved[i] += sign * step;
                condition(&rows, &moved).unwrap().log_evidence
            };
            let slope = (at(1.0) - at(-1.0)) / (2.0 * step);
            // Differences of a few hundred nats, 1e-11 right, over steps of 1e-4.
            let off = (gradient[i] - slope).abs() / slope.abs().max(1.0);
            assert!(off < 1e-5, "{i}: {} {slope}", gradient[i]);
        }
    }

    #[test]
    fn rows_too_precise_or_too_rough_are_left_to_the_whole_matrix() {
        let rows = SePoints::wave(300, PriorDensity::Flat);
        for theta in [[1.0, 0.9, 1e-6], [1.0, 0.003, 0.1]] {
            let Gram::Dense(k) = rows.gram(&theta) else {
                panic!("points have a dense covariance");
            };
            assert!(FewDirections::new(&rows, &theta, k.as_ref()).is_none());
        }
    }
}
