//! The prior of the coefficients: a separable stationary kernel in products of cosines.
//!
//! `theta ~ N(0, sigma^2 (M_1 (x) M_2 + epsilon I))` over the products that are taken, `M` the
//! covariance of the cosines of an axis. Even and odd cosines of an axis are independent, so that
//! there are four blocks.

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, MatMut, MatRef, dot, gemm, gemm_into, symmetric_from_fn};

use super::super::basis::{Kernel, covariance};
use super::super::cells::Cells;
use super::functions::{Functions, norm};

/// Variance of every coefficient beside that of the kernel, relative to it and per cell.
pub(super) const JITTER: f64 = 1e-9;

/// The covariance of the cosines of an axis, from the constant on, and its slope in the logarithm
/// of the lengthscale.
#[derive(Debug, Clone)]
pub(super) struct AxisCovariance {
    pub value: Mat<f64>,
    pub slope: Mat<f64>,
}

impl AxisCovariance {
    pub fn new(kernel: Kernel, cells: &Cells, length: f64, cosines: usize) -> Self {
        let lags: Vec<(f64, f64)> = (0..cells.len())
            .map(|d| kernel.at(d as f64 * cells.step / length))
            .collect();
        let (value, slope): (Vec<f64>, Vec<f64>) = lags.into_iter().unzip();
        Self {
            value: with_constant(&value, cosines),
            slope: with_constant(&slope, cosines),
        }
    }
}

/// As [`covariance`], with the constant as the first of the cosines.
fn with_constant(lag: &[f64], cosines: usize) -> Mat<f64> {
    let m = lag.len();
    let others = covariance(lag, cosines - 1);
    // Sums over a row of the kernel: lags to both sides.
    let mut before = vec![0.0; m + 1];
    for (d, k) in lag.iter().enumerate() {
        before[d + 1] = before[d] + k;
    }
    let sums: Vec<f64> = (0..m)
        .map(|j| before[j + 1] + before[m - j] - lag[0])
        .collect();
    let angle = std::f64::consts::PI / m as f64;
    let first: Vec<f64> = (0..cosines)
        .map(|k| {
            let cosine = |j: usize| (angle * k as f64 * (j as f64 + 0.5)).cos();
            let sum: f64 = sums.iter().enumerate().map(|(j, s)| s * cosine(j)).sum();
            // Odd cosines sum to nothing.
            if k % 2 == 1 {
                0.0
            } else {
                norm(m, 0) * norm(m, k) * sum
            }
        })
        .collect();
    symmetric_from_fn(cosines, |i, j| match j {
        0 => first[i],
        _ => others[(i - 1, j - 1)],
    })
}

/// One class of products.
#[derive(Debug, Clone)]
struct Block {
    start: usize,
    precision: Mat<f64>,
}

/// The prior of all coefficients.
#[derive(Debug, Clone)]
pub(in super::super) struct CoefficientPrior {
    /// Prior precision of the coefficients of polynomials.
    flat: f64,
    q: usize,
    blocks: Vec<Block>,
    /// Logarithm of the determinant of the precision.
    pub log_det: f64,
}

/// `M_1 (x) M_2` over a class of products.
pub(super) fn product(
    functions: &Functions,
    class: &std::ops::Range<usize>,
    one: &Mat<f64>,
    two: &Mat<f64>,
) -> Mat<f64> {
    symmetric_from_fn(class.len(), |i, j| {
        let (a, b) = functions.order(class.start + i);
        let (c, d) = functions.order(class.start + j);
        one[(a, c)] * two[(b, d)]
    })
}

impl CoefficientPrior {
    /// The prior at a standard deviation of the function and a variance of the polynomials.
    pub fn new(
        functions: &Functions,
        axes: &[AxisCovariance; 2],
        cells: usize,
        variance: f64,
        sd: f64,
    ) -> Result<Self, LinalgError> {
        let q = functions.q;
        let mut log_det = -(q as f64) * variance.ln();
        let mut blocks = Vec::new();
        for class in &functions.classes {
            let mut block = product(functions, class, &axes[0].value, &axes[1].value);
            for i in 0..class.len() {
                block[(i, i)] += JITTER * cells as f64;
            }
            let factor = Cholesky::factor_owned(block)?;
            log_det -= factor.log_det() + 2.0 * class.len() as f64 * sd.ln();
            let mut precision = factor.inverse();
            let scale = 1.0 / (sd * sd);
            for j in 0..class.len() {
                precision
                    .col_as_slice_mut(j)
                    .iter_mut()
                    .for_each(|p| *p *= scale);
            }
            blocks.push(Block {
                start: class.start,
                precision,
            });
        }
        Ok(Self {
            flat: 1.0 / variance,
            q,
            blocks,
            log_det,
        })
    }

    /// `P x`.
    pub fn pull(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        let n = x.len();
        self.pull_into(
            MatMut::from_column_major_slice_mut(&mut out, n, 1),
            MatRef::from_column_major_slice(x, n, 1),
        );
        out
    }

    /// `P x` for every column of `x`.
    pub fn pull_into(&self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>) {
        for j in 0..x.ncols() {
            for i in 0..self.q {
                out[(i, j)] = self.flat * x[(i, j)];
            }
        }
        for block in &self.blocks {
            let size = block.precision.nrows();
            let target = out.as_mut().subrows_mut(block.start, size);
            let right = x.subrows(block.start, size);
            gemm_into(target, false, 1.0, block.precision.as_ref(), right);
        }
    }

    /// Adds the precision to a matrix of its size.
    pub fn add_to(&self, a: &mut Mat<f64>) {
        for i in 0..self.q {
            a[(i, i)] += self.flat;
        }
        for block in &self.blocks {
            for j in 0..block.precision.ncols() {
                let first = block.start;
                let column = &mut a.col_as_slice_mut(first + j)[first..];
                let own = block.precision.col_as_slice(j);
                column.iter_mut().zip(own).for_each(|(a, p)| *a += p);
            }
        }
    }

    /// For the slopes of Laplace's evidence in the logarithms of standard deviation and
    /// lengthscales: `1/2 (a' C a - tr (P - P S P) C) + b' C a` for each slope `C` of the
    /// covariance.
    ///
    /// # Arguments
    /// * `alpha` - `a`
    /// * `pushed` - `b`
    /// * `inverse` - `S`
    pub fn slopes(
        &self,
        functions: &Functions,
        axes: &[AxisCovariance; 2],
        cells: usize,
        sd: f64,
        alpha: &[f64],
        pushed: &[f64],
        inverse: &Mat<f64>,
    ) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (block, class) in self.blocks.iter().zip(&functions.classes) {
            let size = class.len();
            let p = block.precision.as_ref();
            let within = inverse.submatrix(class.start, class.start, size, size);
            let mut trace = block.precision.clone();
            gemm_into(trace.as_mut(), true, -1.0, gemm(p, within).as_ref(), p);
            let (a, b) = (&alpha[class.clone()], &pushed[class.clone()]);
            let add = |slope: &mut f64, by: f64, of: &Mat<f64>| {
                let moved = crate::linalg::matvec(of.as_ref(), a);
                let traced: f64 = (0..size)
                    .map(|j| dot(trace.col_as_slice(j), of.col_as_slice(j)))
                    .sum();
                *slope += by * (0.5 * (dot(a, &moved) - traced) + dot(b, &moved));
            };
            let square = sd * sd;
            let [one, two] = axes;
            let mut value = product(functions, class, &one.value, &two.value);
            for i in 0..size {
                value[(i, i)] += JITTER * cells as f64;
            }
            add(&mut out[0], 2.0 * square, &value);
            let first = product(functions, class, &one.slope, &two.value);
            add(&mut out[1], square, &first);
            let second = product(functions, class, &one.value, &two.slope);
            add(&mut out[2], square, &second);
        }
        out
    }
}
