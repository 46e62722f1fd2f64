//! The derivative of a Cholesky factor, backwards.

use crate::linalg::{Cholesky, Mat, gemm_into, mirror_lower};

/// From the adjoint of a Cholesky factor to the adjoint of the matrix that was factorised.
///
/// With `A = L L'` and a scalar that moves by `d = <Lbar, dL>` (lower triangles),
///
/// $$ \bar A = L^{-T} \, \mathrm{sym}\,\Phi(L' \bar L) \, L^{-1}, \qquad d = \langle \bar A, dA
/// \rangle $$
///
/// where `Phi` takes the lower triangle and halves its diagonal, and `sym(X) = (X + X') / 2`.
///
/// # Arguments
/// * `factor` - `L`, of size `n`
/// * `adjoint` - `Lbar`, shape `[n, n]`; what stands above its diagonal must be zero
///
/// # Returns
/// `Abar`, symmetric, both triangles.
///
/// # Numerics
/// `4 n^3` operations. Rounding is amplified by the condition number of `A`, mostly along
/// directions in which a smooth covariance does not move.
///
/// # Source
/// Murray 2016, "Differentiation of the Cholesky decomposition", section 4.1, eq. 10.
pub(crate) fn through_cholesky(factor: &Cholesky, adjoint: &Mat<f64>) -> Mat<f64> {
    let n = factor.size();
    let mut phi = Mat::zeros(n, n);
    gemm_into(
        phi.as_mut(),
        false,
        0.5,
        factor.lower().transpose(),
        adjoint.as_ref(),
    );
    // The symmetric part halves what is off the diagonal, Phi what is on it.
    mirror_lower(&mut phi);
    factor.half_solve_transpose_in_place(phi.as_mut());
    let mut out = phi.transpose().to_owned();
    factor.half_solve_transpose_in_place(out.as_mut());
    // Rounding leaves the two triangles a little apart.
    mirror_lower(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::symmetric_from_fn;

    #[test]
    fn agrees_with_central_differences_of_the_factor() {
        let n = 6;
        let wave = |i: usize, j: usize| (0.7 * i as f64 + 1.3 * j as f64).sin();
        let a = symmetric_from_fn(n, |i, j| {
            let d = (i as f64 - j as f64) / 1.5;
            (-0.5 * d * d).exp() + if i == j { 0.05 } else { 0.0 }
        });
        let direction = symmetric_from_fn(n, wave);
        let weight = Mat::from_fn(n, n, |i, j| if i >= j { wave(j, 2 * i) } else { 0.0 });
        let value = |t: f64| {
            let moved = symmetric_from_fn(n, |i, j| a[(i, j)] + t * direction[(i, j)]);
            let factor = Cholesky::factor(moved.as_ref()).unwrap();
            inner(factor.lower().to_owned(), &weight)
        };
        let factor = Cholesky::factor(a.as_ref()).unwrap();
        let got = inner(through_cholesky(&factor, &weight), &direction);
        let h = 1e-5;
        let want = (value(h) - value(-h)) / (2.0 * h);
        // Truncation of the differences: h^2 times third derivatives of about 1e3.
        assert!((got - want).abs() < 1e-6 * want.abs(), "{got} {want}");
    }

    fn inner(a: Mat<f64>, b: &Mat<f64>) -> f64 {
        let n = b.nrows();
        (0..n * n)
            .map(|k| a[(k % n, k / n)] * b[(k % n, k / n)])
            .sum()
    }
}
