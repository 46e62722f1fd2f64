//! The functions that the logarithm of a density is made of, and their prior.
//!
//! $$ \eta = H b + B \theta, \qquad b \sim N(0, \beta I), \quad \theta \sim N(0, \sigma^2 M_l +
//! \epsilon I) $$
//!
//! `B` holds cosines over the cells, orthonormal, without the constant, which no density sees. `M_l
//! = B' K_l B` is the covariance of the kernel in them, exact for as many cosines as cells less
//! one: fewer leave out what varies within cells.

use serde::{Deserialize, Serialize};

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, MatRef, gemm_into, symmetric_from_fn};

use super::cells::Cells;

/// Stationary kernels of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Kernel {
    /// Once differentiable: bands that hold.
    #[default]
    Matern32,
    /// Twice differentiable: smooth draws, whose modes can be counted.
    Matern52,
    /// Squared exponential.
    Se,
}

impl Kernel {
    /// `kappa(r)` and `-r kappa'(r)`, the slope in the logarithm of the lengthscale, at a distance
    /// in lengthscales.
    pub(super) fn at(self, r: f64) -> (f64, f64) {
        match self {
            Self::Matern32 => {
                let a = 3_f64.sqrt() * r;
                let e = (-a).exp();
                ((1.0 + a) * e, a * a * e)
            }
            Self::Matern52 => {
                let a = 5_f64.sqrt() * r;
                let e = (-a).exp();
                ((1.0 + a + a * a / 3.0) * e, a * a * (1.0 + a) / 3.0 * e)
            }
            Self::Se => {
                let e = (-0.5 * r * r).exp();
                (e, r * r * e)
            }
        }
    }
}

/// The functions on the cells.
#[derive(Debug, Clone)]
pub(super) struct CellBasis {
    /// All of them, `[H, B]`, shape `[cells, q + r]`: first `q` polynomials, then `r` cosines.
    phi: Mat<f64>,
    /// Polynomials.
    q: usize,
    /// `cos(pi k (j + 1/2) / m)`, shape `[cells, 2 r + 1]`, from `k = 0`.
    cosines: Mat<f64>,
}

/// Polynomials and the first cosines of a basis.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// `[H, B]`, shape `[cells, q + r]`.
    pub phi: MatRef<'a, f64>,
    /// Polynomials.
    pub q: usize,
    /// Shape `[cells, 2 r + 1]`.
    cosines: MatRef<'a, f64>,
}

impl CellBasis {
    /// Polynomials and the first `r` cosines.
    ///
    /// # Arguments
    /// * `polynomials` - columns of `H`, each of the length of the cells
    pub fn new(cells: usize, polynomials: &[Vec<f64>], r: usize) -> Self {
        let q = polynomials.len();
        let r = r.min(cells - 1);
        // The angles repeat after 4 m steps of pi / (2 m).
        let table: Vec<f64> = (0..4 * cells)
            .map(|i| (std::f64::consts::PI * i as f64 / (2.0 * cells as f64)).cos())
            .collect();
        let cosine = |j: usize, k: usize| table[(k * (2 * j + 1)) % (4 * cells)];
        let cosines = Mat::from_fn(cells, 2 * r + 1, cosine);
        let unit = (2.0 / cells as f64).sqrt();
        let phi = Mat::from_fn(cells, q + r, |j, i| {
            if i < q {
                polynomials[i][j]
            } else {
                unit * cosines[(j, i - q + 1)]
            }
        });
        Self { phi, q, cosines }
    }

    /// Cosines.
    pub fn r(&self) -> usize {
        self.phi.ncols() - self.q
    }

    /// Polynomials and the first `r` cosines of these.
    pub fn view(&self, r: usize) -> View<'_> {
        View {
            phi: self.phi.subcols(0, self.q + r),
            q: self.q,
            cosines: self.cosines.subcols(0, 2 * r + 1),
        }
    }
}

impl View<'_> {
    /// How many functions.
    pub fn len(&self) -> usize {
        self.phi.ncols()
    }

    /// Cosines.
    pub fn r(&self) -> usize {
        self.len() - self.q
    }

    /// `eta` from coefficients.
    pub fn eta(&self, theta: &[f64]) -> Vec<f64> {
        crate::linalg::matvec(self.phi, theta)
    }

    /// `Phi' x`.
    pub fn project(&self, x: &[f64]) -> Vec<f64> {
        crate::linalg::matvec(self.phi.transpose(), x)
    }

    /// `Phi' diag(d) Phi`, both triangles.
    ///
    /// # Numerics
    /// A product of two cosines is a sum of two, so that those among them need the `2 r + 1`
    /// transforms of `d` only: `O(cells r + r^2)`.
    pub fn curvature(&self, d: &[f64]) -> Mat<f64> {
        let (m, q, r) = (d.len(), self.q, self.r());
        let mut weighted = vec![0.0; m * (q + 1)];
        weighted[..m].copy_from_slice(d);
        for i in 0..q {
            for (j, out) in weighted[(i + 1) * m..(i + 2) * m].iter_mut().enumerate() {
                *out = d[j] * self.phi[(j, i)];
            }
        }
        let mut transforms = Mat::zeros(2 * r + 1, q + 1);
        gemm_into(
            transforms.as_mut(),
            false,
            1.0,
            self.cosines.transpose(),
            MatRef::from_column_major_slice(&weighted, m, q + 1),
        );
        let flat = transforms.col_as_slice(0);
        let (scale, unit) = (1.0 / m as f64, (2.0 / m as f64).sqrt());
        let mut out = Mat::zeros(q + r, q + r);
        for k in 1..=r {
            let column = &mut out.col_as_slice_mut(q + k - 1)[q..];
            // Rows i = 1..=r: |i - k| falls to 0 and rises, i + k rises.
            for i in 1..=r {
                column[i - 1] = scale * (flat[i.abs_diff(k)] + flat[i + k]);
            }
        }
        for i in 0..q {
            for k in 1..=r {
                let value = unit * transforms[(k, i + 1)];
                out[(i, q + k - 1)] = value;
                out[(q + k - 1, i)] = value;
            }
            for j in 0..=i {
                let of = &weighted[(i + 1) * m..(i + 2) * m];
                let value: f64 = of
                    .iter()
                    .enumerate()
                    .map(|(c, d)| d * self.phi[(c, j)])
                    .sum();
                out[(i, j)] = value;
                out[(j, i)] = value;
            }
        }
        out
    }
}

/// The covariance of the cosines under a kernel of variance one, and its slope in the logarithm of
/// the lengthscale.
///
/// # Arguments
/// * `lag` - `kappa` at every distance between cells, `0..m`
///
/// # Returns
/// `B' K B`, shape `[r, r]`.
///
/// # Numerics
/// With `D` the second difference of the cells, whose eigenvectors the cosines are, `D K - K D` is
/// of rank four, which gives every entry off the diagonal from one transform; those on it are sums
/// over lags. `O(m r + r^2)` where the product costs `O(m^2 r)`. Functions even and odd about the
/// middle of the cells are independent.
pub(super) fn covariance(lag: &[f64], r: usize) -> Mat<f64> {
    let m = lag.len();
    let unit = (2.0 / m as f64).sqrt();
    let angle = std::f64::consts::PI / m as f64;
    let table: Vec<(f64, f64)> = (0..4 * m)
        .map(|i| (0.5 * angle * i as f64).sin_cos())
        .map(|(s, c)| (c, s))
        .collect();
    // (cos, sin) of half steps: index i stands for the angle i pi / (2 m).
    let at = |i: usize| table[i % (4 * m)];
    let edge: Vec<f64> = (1..=r).map(|k| unit * at(k).0).collect();
    let lambda: Vec<f64> = (1..=r).map(|k| 4.0 * at(k).1.powi(2)).collect();
    // d_j = kappa_(j+1) - kappa_j; the last lag, m, is never between cells, but cancels nowhere
    // else.
    let beyond = |j: usize| if j < m { lag[j] } else { 0.0 };
    let transform: Vec<f64> = (1..=r)
        .map(|k| {
            let sum: f64 = (0..m)
                .map(|j| (beyond(j + 1) - lag[j]) * at(k * (2 * j + 1)).0)
                .sum();
            unit * sum
        })
        .collect();
    symmetric_from_fn(r, |i, j| {
        if i == j {
            let k = i + 1;
            let sine = at(2 * k).1;
            let sum: f64 = (1..m)
                .map(|d| {
                    let (c, s) = at(2 * k * d);
                    lag[d] * ((m - d) as f64 * c - s / sine)
                })
                .sum();
            lag[0] + 2.0 / m as f64 * sum
        } else if (i + j) % 2 == 0 {
            2.0 * (edge[i] * transform[j] - transform[i] * edge[j]) / (lambda[i] - lambda[j])
        } else {
            0.0
        }
    })
}

/// What [`covariance`] gives with the [`JITTER`] that every prior has.
pub(super) fn prior_covariance(lag: &[f64], r: usize) -> Mat<f64> {
    let mut covariance = covariance(lag, r);
    let jitter = JITTER * lag.len() as f64;
    (0..r).for_each(|i| covariance[(i, i)] += jitter);
    covariance
}

/// The prior of the coefficients at one lengthscale and standard deviation.
#[derive(Debug, Clone)]
pub(super) struct CoefficientPrior {
    /// Precision, shape `[q + r, q + r]`.
    pub precision: Mat<f64>,
    /// Logarithm of its determinant.
    pub log_det: f64,
}

/// What a lengthscale gives.
#[derive(Debug, Clone)]
pub(super) struct Length {
    /// In units of `v`.
    pub length: f64,
    /// Covariance of the cosines.
    pub covariance: Mat<f64>,
    factor: Cholesky,
    /// The variance that cosines from one on have together, per cell: entry `r` is what the first
    /// `r` leave out.
    left: Vec<f64>,
}

/// Variance of every coefficient beside that of the kernel, relative to it: what rounding would
/// leave of the smallest eigenvalues of a smooth kernel.
const JITTER: f64 = 1e-9;
/// Fewer cosines than this are never taken.
const FEWEST: usize = 8;

impl Length {
    /// Lays out a lengthscale.
    pub fn new(kernel: Kernel, cells: &Cells, length: f64, r: usize) -> Result<Self, LinalgError> {
        let m = cells.len();
        let lag: Vec<f64> = (0..m)
            .map(|d| kernel.at(d as f64 * cells.step / length).0)
            .collect();
        let covariance = prior_covariance(&lag, r);
        let mut left = vec![0.0; r + 1];
        for k in (0..r).rev() {
            left[k] = left[k + 1] + covariance[(k, k)] / m as f64;
        }
        let factor = Cholesky::factor(covariance.as_ref())?;
        Ok(Self {
            length,
            covariance,
            factor,
            left,
        })
    }

    /// The cosines that leave out a variance of at most `tolerance` where the function has the
    /// standard deviation `sd`.
    pub fn rank(&self, sd: f64, tolerance: f64) -> usize {
        let most = self.left.len() - 1;
        let needed = self.left.partition_point(|left| left * sd * sd > tolerance);
        needed.clamp(FEWEST.min(most), most)
    }

    /// The prior of the first `r` cosines with a standard deviation of the function, and a variance
    /// of the polynomials.
    pub fn prior(
        &self,
        q: usize,
        r: usize,
        variance: f64,
        sd: f64,
    ) -> Result<CoefficientPrior, LinalgError> {
        let inverse = Cholesky::factor(self.covariance.submatrix(0, 0, r, r))?.inverse();
        let mut precision = Mat::zeros(q + r, q + r);
        for i in 0..q {
            precision[(i, i)] = 1.0 / variance;
        }
        let scale = 1.0 / (sd * sd);
        for j in 0..r {
            let column = &mut precision.col_as_slice_mut(q + j)[q..];
            column
                .iter_mut()
                .zip(inverse.col_as_slice(j))
                .for_each(|(p, i)| *p = scale * i);
        }
        // The leading block has the leading block of the factor.
        let log_det = (0..r)
            .map(|i| 2.0 * self.factor.lower()[(i, i)].ln())
            .sum::<f64>();
        let log_det = -(q as f64) * variance.ln() - log_det - 2.0 * r as f64 * sd.ln();
        Ok(CoefficientPrior { precision, log_det })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gemm;

    #[test]
    fn covariances_of_cosines_are_those_of_products() {
        for (m, r, kernel, length) in [
            (40, 39, Kernel::Matern32, 3.0),
            (41, 20, Kernel::Se, 9.0),
            (60, 59, Kernel::Matern52, 200.0),
        ] {
            let lag: Vec<f64> = (0..m).map(|d| kernel.at(d as f64 / length).0).collect();
            let k = symmetric_from_fn(m, |i, j| lag[i - j]);
            let basis = CellBasis::new(m, &[], r);
            let identity = gemm(basis.phi.transpose(), basis.phi.as_ref());
            let product = gemm(
                basis.phi.transpose(),
                gemm(k.as_ref(), basis.phi.as_ref()).as_ref(),
            );
            let got = covariance(&lag, r);
            for i in 0..r {
                for j in 0..r {
                    let unit = if i == j { 1.0 } else { 0.0 };
                    // Sums of m terms of order one: m eps.
                    assert!((identity[(i, j)] - unit).abs() < 1e-13);
                    // The same, divided by differences of eigenvalues of about 1 / m^2.
                    let error = (got[(i, j)] - product[(i, j)]).abs();
                    assert!(error < 1e-10, "{kernel:?} {i} {j}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn curvatures_are_those_of_products() {
        let (m, r) = (50, 17);
        let h: Vec<f64> = (0..m).map(|j| j as f64 / 10.0 - 2.0).collect();
        let square: Vec<f64> = h.iter().map(|x| x * x).collect();
        let basis = CellBasis::new(m, &[h, square], r);
        let d: Vec<f64> = (0..m).map(|j| (j as f64).sin() + 0.3).collect();
        let weighted = Mat::from_fn(m, r + 2, |j, i| d[j] * basis.phi[(j, i)]);
        let want = gemm(basis.phi.transpose(), weighted.as_ref());
        // Sums of 50 terms of order ten.
        assert!((basis.view(r).curvature(&d).as_ref() - want.as_ref()).norm_max() < 1e-12);
    }

    #[test]
    fn slopes_of_kernels_are_differences() {
        for kernel in [Kernel::Matern32, Kernel::Matern52, Kernel::Se] {
            for r in [0.1, 1.0, 3.0] {
                let h: f64 = 1e-5;
                let d = (kernel.at(r * (-h).exp()).0 - kernel.at(r * h.exp()).0) / (2.0 * h);
                // Central differences err by h^2 and by eps / h.
                assert!((kernel.at(r).1 - d).abs() < 1e-9);
            }
        }
    }
}
