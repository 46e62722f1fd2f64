//! The evidence from what rows say together, whatever structure they have.

use crate::linalg::Dual;

/// The log evidence in nats of `n` rows, with its slopes.
///
/// $$ \log p(y) = -\tfrac12 \left( r' K_0^{-1} r - b' A^{-1} b + \log\det K_0 + \log\det A
///    + n \log 2\pi \right), \qquad b = U' K_0^{-1} r, \quad A = I + U' K_0^{-1} U $$
///
/// # Arguments
/// * `log_det` - of `K0`: kernel and noise
/// * `products` - `[r U]' K0^-1 [r U]`, row by row, with `U` the functions of the mean in prior
///   standard deviations of their coefficients
///
/// # Source
/// Rasmussen and Williams 2006, eq. 2.30 and section 2.7.
pub fn log_evidence<const P: usize>(n: usize, log_det: Dual<P>, products: &[Dual<P>]) -> Dual<P> {
    let zero = Dual::constant(0.0);
    let count = (1..).find(|c| c * c >= products.len()).unwrap_or(1);
    let mut left: Vec<Dual<P>> = products.to_vec();
    for c in 1..count {
        left[c * count + c] += Dual::constant(1.0);
    }
    // Coefficients are taken out one by one, as rows are in Gauss' elimination.
    let mut whole = log_det;
    for c in (1..count).rev() {
        let pivot = left[c * count + c];
        whole += pivot.ln();
        let inverse = pivot.recip();
        for a in 0..c {
            let part = left[a * count + c] * inverse;
            for b in 0..c {
                let less = part * left[c * count + b];
                left[a * count + b] -= less;
            }
        }
    }
    let quadratic = left.first().copied().unwrap_or(zero);
    let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
    (quadratic + whole + Dual::constant(constant)) * -0.5
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::linalg::{Cholesky, Mat, dot};

    /// Three coefficients of rows with noise alone, beside the factor of the whole matrix.
    #[test]
    fn coefficients_are_integrated() {
        let n = 6;
        let noise = |i: usize| 0.5 + 0.25 * i as f64;
        let columns: Vec<Vec<f64>> = [2.0, 30.0, 0.3, 1.0]
            .iter()
            .enumerate()
            .map(|(c, size)| {
                (0..n)
                    .map(|i| size * ((c * n + i * i) as f64).sin())
                    .collect()
            })
            .collect();
        let pairs = columns
            .iter()
            .flat_map(|a| columns.iter().map(move |b| (a, b)));
        let product = |a: &Vec<f64>, b: &Vec<f64>| (0..n).map(|i| a[i] * b[i] / noise(i)).sum();
        let products: Vec<Dual<0>> = pairs.map(|(a, b)| Dual::constant(product(a, b))).collect();
        let log_det = (0..n).map(|i| noise(i).ln()).sum();
        let found = log_evidence(n, Dual::constant(log_det), &products).value;
        let whole = Mat::from_fn(n, n, |i, j| {
            let own = if i == j { noise(i) } else { 0.0 };
            own + columns[1..].iter().map(|u| u[i] * u[j]).sum::<f64>()
        });
        let factor = Cholesky::factor_owned(whole).unwrap();
        let quadratic = dot(&columns[0], &factor.solve(&columns[0]));
        let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
        let right = -0.5 * (quadratic + factor.log_det() + constant);
        // A column of 30 over noise of one: some thousands of roundings.
        assert!((found - right).abs() < 1e-12, "{found} {right}");
    }
}
