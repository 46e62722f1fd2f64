//! `Ky = K_1 (x) .. (x) K_D + u u' + s2 I` through the eigenvectors of every axis.
//!
//! With `K_d = Q_d diag(l_d) Q_d'` and `Q = Q_1 (x) .. (x) Q_D`, `A = Q diag(e) Q'` where
//! `e = l_1 (x) .. (x) l_D + s2`, and `Ky = A + u u'` by Sherman-Morrison. Costs
//! `O(sum n_d^3 + n sum n_d)`; nothing of size `n x n` is formed.
//!
//! # Source
//! Saatci 2012, *Scalable inference for structured Gaussian process models*, chapter 5; the
//! rank-one term by the matrix determinant lemma.

use std::ops::Range;

use super::Gram;
use crate::error::LinalgError;
use crate::linalg::{Mat, MatMut, MatRef, SymmetricEigen, dot, gemm, gemm_into, symmetric_eigen};

/// Eigenvalues below this times the largest count as not positive: what rounding leaves.
const FLOOR: f64 = 1e-15;

/// The factorised covariance of a complete grid.
#[derive(Debug, Clone)]
pub struct KroneckerFactor {
    axes: Vec<SymmetricEigen>,
    /// `e`, first axis slowest, length `n`.
    spectrum: Vec<f64>,
    rank_one: Option<RankOne>,
}

#[derive(Debug, Clone)]
struct RankOne {
    /// `w = A^-1 u`.
    solved: Vec<f64>,
    /// `z = diag(e)^-1/2 Q' u`.
    whitened: Vec<f64>,
    /// `Q' w`.
    rotated: Vec<f64>,
    /// `c = u' A^-1 u`.
    form: f64,
}

impl KroneckerFactor {
    /// Factorises `K_1 (x) .. (x) K_D + u u' + noise_variance I`.
    ///
    /// # Arguments
    /// * `eigen` - eigendecomposition of every `K_d`, first axis slowest
    /// * `rank_one` - `u`, length `n`
    /// * `noise_variance` - the same on every row
    ///
    /// # Errors
    /// [`LinalgError::NotPositiveDefinite`] when the smallest eigenvalue is not positive.
    pub fn new(
        eigen: Vec<SymmetricEigen>,
        rank_one: Option<&[f64]>,
        noise_variance: f64,
    ) -> Result<Self, LinalgError> {
        let mut spectrum = vec![1.0];
        for axis in &eigen {
            spectrum = outer(&spectrum, &axis.values);
        }
        for value in &mut spectrum {
            *value += noise_variance;
        }
        let largest = spectrum.iter().fold(0.0, |a: f64, b| a.max(*b));
        // Written so that NaN is refused as well.
        if let Some(pivot) = spectrum
            .iter()
            .position(|value| !(value.is_finite() && *value > FLOOR * largest))
        {
            return Err(LinalgError::NotPositiveDefinite {
                size: spectrum.len(),
                pivot,
            });
        }
        let mut factor = Self {
            axes: eigen,
            spectrum,
            rank_one: None,
        };
        if let Some(u) = rank_one {
            let mut whitened = factor.to_eigenbasis(u);
            let mut rotated = whitened.clone();
            for ((z, w), e) in whitened.iter_mut().zip(&mut rotated).zip(&factor.spectrum) {
                *z /= e.sqrt();
                *w /= e;
            }
            factor.rank_one = Some(RankOne {
                solved: factor.rotate_back(rotated.clone()),
                form: dot(&whitened, &whitened),
                whitened,
                rotated,
            });
        }
        Ok(factor)
    }

    /// Eigendecompositions of the axes of a Kronecker product.
    ///
    /// # Errors
    /// [`LinalgError::Eigen`].
    pub fn decompose(axes: &[Mat<f64>]) -> Result<Vec<SymmetricEigen>, LinalgError> {
        axes.iter().map(|a| symmetric_eigen(a.as_ref())).collect()
    }

    /// Number of rows `n`.
    #[must_use]
    pub fn size(&self) -> usize {
        self.spectrum.len()
    }

    /// `log det Ky = sum log e + log(1 + u' A^-1 u)`.
    #[must_use]
    pub fn log_det(&self) -> f64 {
        let correction = self.rank_one.as_ref().map_or(0.0, |r| r.form.ln_1p());
        log_product(&self.spectrum) + correction
    }

    /// `Ky^-1 b`.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.solve_without_rank_one(b);
        if let Some(r) = &self.rank_one {
            let scale = dot(&r.solved, b) / (1.0 + r.form);
            for (x, w) in x.iter_mut().zip(&r.solved) {
                *x -= scale * w;
            }
        }
        x
    }

    /// `W b` with `W'W = Ky^-1`: `W = (I - g z z') diag(e)^-1/2 Q'`, where `(1 - g c)^2 = 1 / (1 +
    /// c)`.
    #[must_use]
    pub fn whiten(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.to_eigenbasis(b);
        for (value, e) in x.iter_mut().zip(&self.spectrum) {
            *value /= e.sqrt();
        }
        if let Some(r) = &self.rank_one {
            let root = (1.0 + r.form).sqrt();
            let scale = dot(&r.whitened, &x) / (root * (1.0 + root));
            for (x, z) in x.iter_mut().zip(&r.whitened) {
                *x -= scale * z;
            }
        }
        x
    }

    /// The diagonal of `Ky^-1`.
    #[must_use]
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let mut diagonal: Vec<f64> = self.spectrum.iter().map(|e| 1.0 / e).collect();
        let squares: Vec<Mat<f64>> = self
            .axes
            .iter()
            .map(|a| {
                Mat::from_fn(a.values.len(), a.values.len(), |i, j| {
                    a.vectors[(i, j)].powi(2)
                })
            })
            .collect();
        let squares: Vec<MatRef<'_, f64>> = squares.iter().map(Mat::as_ref).collect();
        diagonal = multiply_axes(&squares, diagonal);
        if let Some(r) = &self.rank_one {
            for (d, w) in diagonal.iter_mut().zip(&r.solved) {
                *d -= w * w / (1.0 + r.form);
            }
        }
        diagonal
    }

    /// The adjoints `G_d` of `log evidence`, with `d log evidence = sum_d <G_d, dK_d>`, and those
    /// of the noise variance of every row.
    ///
    /// From `G = (alpha alpha' - A^-1 + w w' / (1 + c)) / 2`, contracted with every axis but one in
    /// the eigenbasis: `G_d = Q_d (M D M' - diag(t)) Q_d' / 2`, where `M` unfolds `Q' alpha` along
    /// `d`, `D` holds the eigenvalues of the other axes and `t_i = sum D / e`.
    #[must_use]
    pub fn adjoint(&self, alpha: &[f64]) -> (Gram, Vec<f64>) {
        let mut outer_terms = vec![(self.to_eigenbasis(alpha), 1.0)];
        if let Some(r) = &self.rank_one {
            outer_terms.push((r.rotated.clone(), 1.0 / (1.0 + r.form)));
        }
        let axes = (0..self.axes.len())
            .map(|axis| self.axis_adjoint(axis, &outer_terms))
            .collect();
        let inverse = self.inverse_diagonal();
        let noise = alpha
            .iter()
            .zip(&inverse)
            .map(|(a, d)| 0.5 * (a * a - d))
            .collect();
        (
            Gram::Kronecker {
                axes,
                rank_one: None,
            },
            noise,
        )
    }

    fn axis_adjoint(&self, axis: usize, outer_terms: &[(Vec<f64>, f64)]) -> Mat<f64> {
        let before: usize = self.axes[..axis].iter().map(|a| a.values.len()).product();
        let size = self.axes[axis].values.len();
        let n = self.size();
        let mut others = vec![1.0];
        for (i, other) in self.axes.iter().enumerate() {
            if i != axis {
                others = outer(&others, &other.values);
            }
        }
        let after = others.len() / before;
        let mut core = Mat::<f64>::zeros(size, size);
        for (vector, scale) in outer_terms {
            let mut unfolded = Mat::<f64>::zeros(n / size, size);
            for (i, places, run) in runs(vector, size, after) {
                unfolded.col_as_slice_mut(i)[places].copy_from_slice(run);
            }
            let mut scaled = unfolded.clone();
            for i in 0..size {
                for (value, other) in scaled.col_as_slice_mut(i).iter_mut().zip(&others) {
                    *value *= other;
                }
            }
            gemm_into(
                core.as_mut(),
                true,
                0.5 * scale,
                unfolded.transpose(),
                scaled.as_ref(),
            );
        }
        for (i, places, run) in runs(&self.spectrum, size, after) {
            let shares = others[places].iter().zip(run).map(|(other, e)| other / e);
            core[(i, i)] -= 0.5 * shares.sum::<f64>();
        }
        let vectors = self.axes[axis].vectors.as_ref();
        let half = gemm(vectors, core.as_ref());
        gemm(half.as_ref(), vectors.transpose())
    }

    fn to_eigenbasis(&self, x: &[f64]) -> Vec<f64> {
        let transposed: Vec<MatRef<'_, f64>> =
            self.axes.iter().map(|a| a.vectors.transpose()).collect();
        multiply_axes(&transposed, x.to_vec())
    }

    fn solve_without_rank_one(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.to_eigenbasis(b);
        for (value, e) in x.iter_mut().zip(&self.spectrum) {
            *value /= e;
        }
        self.rotate_back(x)
    }

    fn rotate_back(&self, x: Vec<f64>) -> Vec<f64> {
        let vectors: Vec<MatRef<'_, f64>> = self.axes.iter().map(|a| a.vectors.as_ref()).collect();
        multiply_axes(&vectors, x)
    }
}

/// Cuts a vector over the grid into runs along the axes after one of `size` points, in order: the
/// index on that axis, where the run lies among the points of all other axes, and the run.
fn runs(
    vector: &[f64],
    size: usize,
    after: usize,
) -> impl Iterator<Item = (usize, Range<usize>, &[f64])> {
    vector.chunks_exact(after).enumerate().map(move |(k, run)| {
        let start = k / size * after;
        (k % size, start..start + after, run)
    })
}

/// `sum log v` of positive numbers, by one logarithm for many factors.
fn log_product(values: &[f64]) -> f64 {
    // Products of mantissas in [1, 2) and sums of exponents; 512 mantissas cannot overflow.
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    values
        .chunks(512)
        .map(|chunk| {
            let (mut product, mut exponent) = (1.0, 0_i64);
            for value in chunk {
                if value.is_normal() {
                    let bits = value.to_bits();
                    product *= f64::from_bits(bits & MANTISSA | ONE);
                    exponent += (bits >> 52) as i64 - 1023;
                } else {
                    product *= value;
                }
            }
            product.ln() + exponent as f64 * std::f64::consts::LN_2
        })
        .sum()
}

/// `a (x) b` of two vectors, the index of `a` slowest.
fn outer(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter()
        .flat_map(|a| b.iter().map(move |b| a * b))
        .collect()
}

/// `(M_1 (x) .. (x) M_D) x` for square `M_d`, by one matrix product per slab and axis.
fn multiply_axes(matrices: &[MatRef<'_, f64>], mut x: Vec<f64>) -> Vec<f64> {
    let n = x.len();
    let mut out = vec![0.0; n];
    let mut after = n;
    for matrix in matrices {
        let size = matrix.nrows();
        after /= size;
        if after == 1 {
            let source = MatRef::from_column_major_slice(&x, size, n / size);
            let target = MatMut::from_column_major_slice_mut(&mut out, size, n / size);
            gemm_into(target, false, 1.0, *matrix, source);
        } else {
            // A slab is row-major [size, after]: column-major, it is the transpose.
            for (source, target) in x.chunks(size * after).zip(out.chunks_mut(size * after)) {
                let source = MatRef::from_column_major_slice(source, after, size);
                let target = MatMut::from_column_major_slice_mut(target, after, size);
                gemm_into(target, false, 1.0, source, matrix.transpose());
            }
        }
        std::mem::swap(&mut x, &mut out);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_any_size_has_its_logarithm() {
        let values: Vec<f64> = (0..1500)
            .map(|i| (f64::from(i) * 0.7).sin().abs() + 1e-3)
            .collect();
        for scale in [1e-300, 1.0, 1e300] {
            let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
            let want: f64 = scaled.iter().map(|v| v.ln()).sum();
            // The sum of 1500 logarithms rounds by n eps / 2 = 2e-13 of itself at worst, by sqrt(n)
            // eps = 1e-14 where roundings are independent.
            assert!((log_product(&scaled) - want).abs() < 1e-13 * want.abs());
        }
        assert_eq!(log_product(&[5e-324]), f64::ln(5e-324));
        assert_eq!(log_product(&[]), 0.0);
    }
}
