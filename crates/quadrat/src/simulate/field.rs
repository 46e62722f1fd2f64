//! A Gaussian process on a full grid.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{SimulateError, random};
use crate::error::LinalgError;
use crate::linalg::{Mat, dot, symmetric_eigen};

/// Draws `f ~ GP(0, variance * exp(-r^2 / 2))`, `r^2 = sum_d (dx_d / lengthscale)^2`, at every
/// point of a full grid.
///
/// On a grid the covariance is the Kronecker product of those of the axes, `K = K_1 x .. x K_D`, so
/// `f = sqrt(variance) (A_1 x .. x A_D) z` with `A_d A_d' = K_d` and independent normal `z` is
/// exact on grids of any size.
///
/// # Arguments
/// * `axes` - coordinates along every dimension, shapes `[n_d]`; the last dimension runs fastest in
///   the result
/// * `lengthscale`, `variance` - positive; the lengthscale in the unit of the axes
/// * `seed` - everything random comes from it
///
/// # Errors
/// [`LinalgError::Eigen`] for coordinates that are not finite.
///
/// # Numerics
/// `O(sum n_d^3 + n sum n_d)` for `n` points. `A_d` is from the eigenvalues of `K_d`, those that
/// rounding made negative taken as zero: the covariance is right to `eps * n_d`, without jitter.
///
/// # Examples
/// ```
/// use quadrat::simulate::se_on_grid;
///
/// let x: Vec<f64> = (0..50).map(|i| 0.01 * f64::from(i)).collect();
/// let f = se_on_grid(&[x.clone(), x], 1.0, 4.0, 1)?;
/// // Neighbours a hundredth of a lengthscale apart differ by some hundredths of the sd.
/// assert_eq!(f.len(), 2500);
/// assert!(f.windows(2).take(49).all(|w| (w[1] - w[0]).abs() < 0.1));
/// # Ok::<(), quadrat::simulate::SimulateError>(())
/// ```
pub fn se_on_grid(
    axes: &[Vec<f64>],
    lengthscale: f64,
    variance: f64,
    seed: u64,
) -> Result<Vec<f64>, SimulateError> {
    se_from(axes, lengthscale, variance, &mut random(seed, 0))
}

/// The same from a stream of random numbers at hand.
pub(super) fn se_from(
    axes: &[Vec<f64>],
    lengthscale: f64,
    variance: f64,
    random: &mut ChaCha8Rng,
) -> Result<Vec<f64>, SimulateError> {
    let total: usize = axes.iter().map(Vec::len).product();
    let sd = variance.sqrt();
    let mut f: Vec<f64> = (0..total)
        .map(|_| {
            let z: f64 = StandardNormal.sample(random);
            sd * z
        })
        .collect();
    let mut inner = total;
    for axis in axes {
        inner /= axis.len().max(1);
        let root = root(axis, lengthscale)?;
        along(&root, inner, &mut f);
    }
    Ok(f)
}

/// `A'` with `A A' = K` of an axis: column `i` is row `i` of `A`.
fn root(axis: &[f64], lengthscale: f64) -> Result<Mat<f64>, LinalgError> {
    let n = axis.len();
    let k = Mat::from_fn(n, n, |i, j| {
        let r = (axis[i] - axis[j]) / lengthscale;
        (-0.5 * r * r).exp()
    });
    let eigen = symmetric_eigen(k.as_ref())?;
    Ok(Mat::from_fn(n, n, |j, i| {
        eigen.vectors[(i, j)] * eigen.values[j].max(0.0).sqrt()
    }))
}

/// Multiplies every line along one dimension, whose neighbours are `inner` apart.
fn along(root: &Mat<f64>, inner: usize, f: &mut [f64]) {
    let n = root.ncols();
    let mut line = vec![0.0; n];
    for block in f.chunks_mut((n * inner).max(1)) {
        for offset in 0..inner {
            for (i, value) in line.iter_mut().enumerate() {
                *value = block[offset + i * inner];
            }
            for i in 0..n {
                block[offset + i * inner] = dot(root.col_as_slice(i), &line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_covariance_of_draws_is_the_kernel() {
        let axes = [vec![0.0, 0.4, 1.5], vec![0.0, 0.7]];
        let (lengthscale, variance) = (0.8, 2.0);
        let repeats = 40_000;
        let mut sums = [[0.0; 6]; 6];
        for seed in 0..repeats {
            let f = se_on_grid(&axes, lengthscale, variance, seed).unwrap();
            for (row, a) in sums.iter_mut().zip(&f) {
                for (sum, b) in row.iter_mut().zip(&f) {
                    *sum += a * b;
                }
            }
        }
        let place = |i: usize| (axes[0][i / 2], axes[1][i % 2]);
        for (i, row) in sums.iter().enumerate() {
            for (j, sum) in row.iter().enumerate() {
                let ((a, b), (c, d)) = (place(i), place(j));
                let r2 = ((a - c).powi(2) + (b - d).powi(2)) / (lengthscale * lengthscale);
                let k = variance * (-0.5 * r2).exp();
                let got = sum / repeats as f64;
                // Sd of a mean of products of normals: at most variance * sqrt(2 / repeats) = .014;
                // five of them.
                assert!((got - k).abs() < 0.07, "{i} {j}: {got}, {k}");
            }
        }
    }

    #[test]
    fn a_lengthscale_longer_than_the_grid_makes_it_nearly_constant() {
        let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 200.0).collect();
        let f = se_on_grid(&[x], 1e3, 1.0, 2).unwrap();
        // The slope is some 1e-3; eigenvalues of size eps * n add their root, 2e-7.
        assert!(f.iter().all(|v| (v - f[0]).abs() < 1e-2), "{f:?}");
    }
}
