//! The posterior under given sites: the linear algebra that all approximations share.

use super::process::Process;
use super::resolvent::{Resolvent, Scaled};
use super::site::{Site, Term, gaussian_share};
use super::swept::Sweep;
use super::{Parted, low_rank};
use crate::error::LinalgError;
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, MatRef, dot, matvec};

/// A site with `T s` below this has its variance `s` from `k - w'w`: `1 - R_ii / T`, the share of
/// its noise variance that is left, would lose as many digits as this has.
const WEAK: f64 = 1e-5;

/// The solved system `B gamma = D (r - K delta)` of a [`Sweep`].
pub(in crate::inference) struct SolvedSweep {
    /// `K^-1 (mu - m)`.
    pub alpha: Vec<f64>,
    /// `A' alpha`, of every constant that was told apart.
    levels: Vec<f64>,
    /// `R`.
    pub resolvent: Scaled,
    log_det: f64,
}

impl SolvedSweep {
    pub fn new(
        k: MatRef<'_, f64>,
        prior_mean: &[f64],
        terms: &[Term],
        jitter: f64,
    ) -> Result<Self, LinalgError> {
        Self::parted(k, None, prior_mean, terms, jitter)
    }

    /// The same with `K = K0 + A A'` in two parts, which are `parts`: constants of which next to
    /// nothing is known, of a variance a million times that of the kernel, then take no digits from
    /// it.
    ///
    /// `B0 = D K0 D + E` is factorised and its factor rotated into that of `B`; and the posterior
    /// mean is `m + K0 alpha + A beta` with `beta = A' alpha`, which as a sum over `alpha` would
    /// cancel, from `(G^-1 D A)' (G^-1 D (r - K delta)) + A' delta`.
    pub fn parted(
        k: MatRef<'_, f64>,
        parts: Option<&Parted>,
        prior_mean: &[f64],
        terms: &[Term],
        jitter: f64,
    ) -> Result<Self, LinalgError> {
        let n = terms.len();
        let mut scale = vec![0.0; n];
        let mut unit = vec![0.0; n];
        let mut delta = vec![0.0; n];
        // Pseudo-values less the prior mean, where they are used.
        let mut target = vec![None; n];
        let mut log_det = 0.0;
        for i in 0..n {
            let kii = k[(i, i)];
            match terms[i] {
                Term::Gaussian { value, variance } => {
                    let total = (kii + variance).max(f64::MIN_POSITIVE);
                    scale[i] = total.sqrt().recip();
                    unit[i] = variance / total;
                    target[i] = Some(value - prior_mean[i]);
                }
                Term::Chosen(Site { precision, shift }) => {
                    let growth = 1.0 + precision * kii;
                    scale[i] = (precision / growth).sqrt();
                    unit[i] = growth.recip();
                    log_det += growth.ln();
                    if precision * kii > 1.0 {
                        target[i] = Some(shift / precision - prior_mean[i]);
                    } else {
                        delta[i] = shift - precision * prior_mean[i];
                    }
                }
            }
        }
        // The factorisation reads the lower triangle.
        let mut b = Mat::zeros(n, n);
        for j in 0..n {
            let column = &mut b.col_as_slice_mut(j)[j..];
            let known = parts.map_or(k, |parts| parts.kernel.as_ref());
            let known = known.col(j).subrows(j, n - j);
            for ((out, x), s) in column.iter_mut().zip(known.iter()).zip(&scale[j..]) {
                *out = s * x * scale[j];
            }
            column[0] += unit[j] + jitter;
        }
        let mut factor = Cholesky::factor_owned(b)?;
        let constants = parts.map(|parts| &parts.constants);
        let mut seen = Vec::new();
        for j in 0..constants.map_or(0, Mat::ncols) {
            let own = constants.map_or(&[][..], |a| a.col_as_slice(j)).iter();
            let own = own.zip(&scale).map(|(a, d)| a * d);
            factor.update(own.collect(), &mut seen);
        }
        log_det += factor.log_det();

        let moved = matvec(parts.map_or(k, |parts| parts.kernel.as_ref()), &delta);
        let right: Vec<f64> = (0..n)
            .map(|i| scale[i] * (target[i].unwrap_or(0.0) - moved[i]))
            .collect();
        let mut white = factor.half_solve(&right);
        // What `delta` says of the constants, and is moved by that.
        let told = |j: usize| constants.map_or(0.0, |a| dot(a.col_as_slice(j), &delta));
        let told: Vec<f64> = (0..seen.len()).map(told).collect();
        for (seen, told) in seen.iter().zip(&told) {
            let pairs = white.iter_mut().zip(seen);
            pairs.for_each(|(white, seen)| *white -= seen * told);
        }
        let pairs = seen.iter().zip(&told);
        let levels = pairs.map(|(seen, told)| dot(seen, &white) + told).collect();
        let mut gamma = Mat::from_fn(n, 1, |i, _| white[i]);
        factor.half_solve_transpose_in_place(gamma.as_mut());
        let alpha: Vec<f64> = (0..n)
            .map(|i| scale[i] * gamma[(i, 0)] + delta[i])
            .collect();
        Ok(Self {
            alpha,
            levels,
            resolvent: Scaled { factor, scale },
            log_det,
        })
    }

    /// By the parts of the covariance, where it has any that allow it; with those it was done by.
    pub(super) fn of<'a>(
        process: &Process<'a>,
        terms: &[Term],
        jitter: f64,
    ) -> Result<(Self, Option<&'a Parted>), LinalgError> {
        let (k, mean) = (process.k, process.prior_mean);
        match Self::parted(k, process.parts, mean, terms, jitter) {
            // Exact rows may be independent through the constants alone.
            Err(LinalgError::NotPositiveDefinite { .. }) if process.parts.is_some() => {
                Ok((Self::new(k, mean, terms, jitter)?, None))
            }
            solved => Ok((solved?, process.parts)),
        }
    }

    /// `K alpha`.
    fn shift(&self, k: MatRef<'_, f64>, parts: Option<&Parted>) -> Vec<f64> {
        let Some(Parted { kernel, constants }) = parts else {
            return matvec(k, &self.alpha);
        };
        let mut shift = matvec(kernel.as_ref(), &self.alpha);
        for (j, level) in self.levels.iter().enumerate() {
            let column = constants.col_as_slice(j);
            let pairs = shift.iter_mut().zip(column);
            pairs.for_each(|(s, a)| *s += a * level);
        }
        shift
    }
}

impl Sweep {
    /// By the root of the covariance where there is one.
    pub(super) fn of(
        process: &Process<'_>,
        terms: &[Term],
        jitter: f64,
    ) -> Result<Self, LinalgError> {
        if let Some(swept) = low_rank::sweep(process, terms) {
            return swept;
        }
        let (k, mean) = (process.k, process.prior_mean);
        let (solved, parts) = SolvedSweep::of(process, terms, jitter)?;
        let swept = Sweep::solved(k, parts, mean, terms, solved);
        Ok(Self {
            alpha: swept.alpha,
            mean: swept.mean,
            variance: swept.variance,
            cavity: swept.cavity,
            quadratic: swept.quadratic,
            log_det: swept.log_det,
            gaussian: swept.gaussian,
            inverse_diagonal: swept.inverse_diagonal,
            resolvent: Resolvent::Scaled(swept.resolvent),
        })
    }
}

#[cfg(test)]
impl Sweep {
    pub fn is_low_rank(&self) -> bool {
        matches!(self.resolvent, Resolvent::LowRank(_))
    }
}

impl Sweep<Scaled> {
    pub fn new(
        k: MatRef<'_, f64>,
        prior_mean: &[f64],
        terms: &[Term],
        jitter: f64,
    ) -> Result<Self, LinalgError> {
        let solved = SolvedSweep::new(k, prior_mean, terms, jitter)?;
        Ok(Self::solved(k, None, prior_mean, terms, solved))
    }

    /// From the system that was solved, by these parts.
    fn solved(
        k: MatRef<'_, f64>,
        parts: Option<&Parted>,
        prior_mean: &[f64],
        terms: &[Term],
        solved: SolvedSweep,
    ) -> Self {
        let n = terms.len();
        let shift = solved.shift(k, parts);
        let SolvedSweep {
            alpha,
            resolvent,
            log_det,
            ..
        } = solved;
        let mean: Vec<f64> = (0..n).map(|i| prior_mean[i] + shift[i]).collect();

        let mut out = Self {
            quadratic: dot(&alpha, &shift),
            alpha,
            mean,
            variance: vec![0.0; n],
            cavity: vec![
                Belief {
                    mean: 0.0,
                    variance: 0.0
                };
                n
            ],
            log_det,
            gaussian: 0.0,
            inverse_diagonal: vec![0.0; n],
            resolvent,
        };
        out.marginals(k, terms);
        out
    }

    /// Posterior and cavity variances: from the diagonal of `R` where a row says something, from
    /// the reduction of the prior variance elsewhere, so that neither cancels.
    fn marginals(&mut self, k: MatRef<'_, f64>, terms: &[Term]) {
        let n = terms.len();
        let Scaled { factor, scale } = &self.resolvent;
        let is_fixed = |i: usize| matches!(terms[i], Term::Gaussian { .. });
        let strength = |i: usize| match terms[i] {
            Term::Gaussian { .. } => f64::INFINITY,
            Term::Chosen(site) => site.precision * k[(i, i)],
        };
        let mut weak: Vec<usize> = (0..n).collect();
        if weak.iter().any(|&i| strength(i) > WEAK) {
            let inverse = factor.inverse_diagonal();
            weak.retain(|&i| {
                if strength(i) <= WEAK {
                    return true;
                }
                let r = scale[i].powi(2) * inverse[i];
                let v = match terms[i] {
                    Term::Gaussian { variance, .. } => variance,
                    Term::Chosen(site) => site.precision.recip(),
                };
                // The part of the variance `v` that the posterior has.
                let part = 1.0 - v * r;
                self.inverse_diagonal[i] = r;
                self.variance[i] = (v * part).max(0.0);
                self.cavity[i].variance = (r.recip() - v).max(0.0);
                part < WEAK && !is_fixed(i)
            });
        }
        if !weak.is_empty() {
            let mut columns = Mat::from_fn(n, weak.len(), |i, j| scale[i] * k[(i, weak[j])]);
            // Where no row says anything the columns are zero.
            if scale.iter().any(|s| *s != 0.0) {
                factor.half_solve_in_place(columns.as_mut());
            }
            for (j, &i) in weak.iter().enumerate() {
                let column = columns.col_as_slice(j);
                let s = (k[(i, i)] - dot(column, column)).max(0.0);
                let Term::Chosen(site) = terms[i] else {
                    continue;
                };
                let left = 1.0 - site.precision * s;
                self.variance[i] = s;
                self.cavity[i].variance = s / left;
                self.inverse_diagonal[i] = site.precision * left;
            }
        }
        for i in 0..n {
            self.cavity[i].mean = self.mean[i] - self.cavity[i].variance * self.alpha[i];
            if let Term::Gaussian { variance, .. } = terms[i] {
                self.gaussian += gaussian_share(k[(i, i)], variance, self.alpha[i]);
            }
        }
    }
}

impl<R> Sweep<R> {
    /// What the posterior believes about a row.
    pub fn belief(&self, row: usize) -> Belief {
        Belief {
            mean: self.mean[row],
            variance: self.variance[row],
        }
    }

    /// The log evidence when the chosen rows contribute `shares` in all.
    pub fn log_evidence(&self, shares: f64) -> f64 {
        shares + self.gaussian - 0.5 * (self.quadratic + self.log_det)
    }
}
