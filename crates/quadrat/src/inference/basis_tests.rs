use super::*;
use crate::linalg::{matvec, symmetric_from_fn};

const X: [f64; 6] = [0.0, 0.4, 1.1, 1.9, 3.2, 3.9];
const AT: [f64; 3] = [0.7, 2.4, 9.0];

fn k(a: f64, b: f64) -> f64 {
    1.4 * (-0.5 * (a - b).powi(2)).exp()
}

fn noisy() -> Mat<f64> {
    symmetric_from_fn(6, |i, j| k(X[i], X[j]) + if i == j { 0.05 } else { 0.0 })
}

/// A constant and a slope, in prior standard deviations.
fn functions(x: &[f64], sd: f64) -> Mat<f64> {
    Mat::from_fn(x.len(), 2, |i, j| sd * [1.0, x[i]][j])
}

fn values() -> Vec<f64> {
    X.iter().map(|x| 3.0 - 0.7 * x + x.sin()).collect()
}

fn basis(sd: f64) -> Basis {
    let factor = RowFactor::Dense(Cholesky::factor_owned(noisy()).unwrap());
    Basis::new(factor, functions(&X, sd)).unwrap()
}

/// Mean and variance at places.
fn predicted(sd: f64) -> Vec<(f64, f64)> {
    let basis = basis(sd);
    let (levels, alpha) = basis.explain(&values());
    let cross = Mat::from_fn(6, 3, |i, j| k(X[i], AT[j]));
    let given = basis.given(cross, functions(&AT, sd).as_ref(), &alpha, &levels);
    (0..3)
        .map(|j| {
            let (w, v) = (given.whitened.col_as_slice(j), given.open.col_as_slice(j));
            (given.shift[j], k(AT[j], AT[j]) - dot(w, w) + dot(v, v))
        })
        .collect()
}

#[test]
fn it_is_the_prior_whose_covariance_has_the_functions_in_it() {
    let sd = 1.7;
    let (basis, u) = (basis(sd), functions(&X, sd));
    let whole = noisy() + gemm(u.as_ref(), u.transpose());
    let dense = Cholesky::factor_owned(whole).unwrap();
    // Six rows of a condition of some hundred: n eps times that is 1e-13, of solves, inverses and
    // factors; less of a determinant.
    assert!((basis.log_det() - dense.log_det()).abs() < 1e-12);
    let y = values();
    let (levels, alpha) = basis.explain(&y);
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11);
    assert!(close(&alpha, &dense.solve(&y)));
    // The posterior mean of the coefficients is `U' Ky^-1 y`.
    assert!(close(&levels, &matvec(u.transpose(), &alpha)));
    let inverse = dense.inverse();
    let lower = basis.clone().into_inverse_lower();
    for j in 0..6 {
        assert!(close(
            basis.inverse().col_as_slice(j),
            inverse.col_as_slice(j)
        ));
        assert!(close(
            &lower.col_as_slice(j)[j..],
            &inverse.col_as_slice(j)[j..]
        ));
        // As above.
        assert!((basis.inverse_diagonal()[j] - inverse[(j, j)]).abs() < 1e-11);
    }
    let (own, at) = (
        Mat::from_fn(6, 3, |i, j| k(X[i], AT[j])),
        functions(&AT, sd),
    );
    let cross = &own + gemm(u.as_ref(), at.transpose());
    let weights = basis.weights(own, at.as_ref());
    let mut whitened = cross.clone();
    basis.whiten(whitened.as_mut());
    for (j, (mean, variance)) in predicted(sd).into_iter().enumerate() {
        let column = cross.col_as_slice(j);
        for (i, w) in (0..3).map(|i| (i, whitened.col_as_slice(i))) {
            let want = dot(cross.col_as_slice(i), &dense.solve(column));
            // As above, of products of six entries up to some ten.
            assert!((dot(w, whitened.col_as_slice(j)) - want).abs() < 1e-10);
        }
        let seen = at.row(j).iter().map(|u| u * u).sum::<f64>();
        let want = k(AT[j], AT[j]) + seen - dot(column, &dense.solve(column));
        // As above.
        assert!((mean - dot(column, &alpha)).abs() < 1e-10);
        // Some hundred times rounding of the prior variance, up to 240.
        assert!((variance - want).abs() < 1e-11);
        assert!(close(weights.col_as_slice(j), &dense.solve(column)));
    }
}

/// Generalised least squares with a kriging variance, which the flat prior is the limit of.
#[test]
fn however_vague_it_is_universal_kriging() {
    let factor = Cholesky::factor_owned(noisy()).unwrap();
    let x = functions(&X, 1.0);
    let mut solved = x.clone();
    factor.solve_in_place(solved.as_mut());
    let normal = Cholesky::factor_owned(gemm(x.transpose(), solved.as_ref())).unwrap();
    let y = values();
    let coefficients = normal.solve(&matvec(solved.transpose(), &y));
    let fitted = matvec(x.as_ref(), &coefficients);
    let rest: Vec<f64> = y.iter().zip(&fitted).map(|(y, m)| y - m).collect();
    let alpha = factor.solve(&rest);
    let covariance = normal.inverse();
    for sd in [1e6, 1e9, 1e12, 1e15] {
        let (basis, predicted) = (basis(sd), predicted(sd));
        let (levels, _) = basis.explain(&y);
        let open = basis.open();
        for c in 0..2 {
            // Rounding of solves whose condition is some hundred; beside it the prior, whose part
            // is the inverse of its variance.
            assert!((sd * levels[c] - coefficients[c]).abs() < 1e-9, "{sd}");
            let want = covariance[(c, c)];
            assert!((sd * sd * open[c] - want).abs() < 1e-9 * want, "{sd}");
        }
        for (j, (mean, variance)) in predicted.into_iter().enumerate() {
            let cross: Vec<f64> = X.iter().map(|x| k(*x, AT[j])).collect();
            let at = [1.0, AT[j]];
            let want = dot(&at, &coefficients) + dot(&cross, &alpha);
            // As above: rounding of solves, and the prior.
            assert!((mean - want).abs() < 1e-9, "{sd}");
            let seen = matvec(solved.transpose(), &cross);
            let off: Vec<f64> = at.iter().zip(&seen).map(|(a, s)| a - s).collect();
            let want = k(AT[j], AT[j]) - dot(&cross, &factor.solve(&cross))
                + dot(&off, &normal.solve(&off));
            // As above.
            assert!((variance - want).abs() < 1e-9 * want, "{sd}");
        }
    }
}
