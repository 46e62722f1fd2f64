//! Gauss rules.

/// Nodes in `(-1, 1)`, ascending, and weights of the `n`-point Gauss-Legendre rule, exact for
/// polynomials of degree `2n - 1` under `integral_-1^1`.
///
/// # Numerics
/// Newton's method on the three-term recurrence from Tricomi's starting values; both to rounding.
///
/// # Source
/// Abramowitz and Stegun 25.4.29; Davis and Rabinowitz 1984, section 2.7.
#[must_use]
pub fn gauss_legendre(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut nodes = vec![0.0; n];
    let mut weights = vec![0.0; n];
    let size = n as f64;
    for i in 0..n.div_ceil(2) {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (size + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut p, mut previous) = (1.0, 0.0);
            for k in 0..n {
                let k = k as f64;
                (p, previous) = (((2.0 * k + 1.0) * x * p - k * previous) / (k + 1.0), p);
            }
            slope = size * (x * p - previous) / (x * x - 1.0);
            let step = p / slope;
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        let weight = 2.0 / ((1.0 - x * x) * slope * slope);
        nodes[n - 1 - i] = x;
        nodes[i] = -x;
        weights[i] = weight;
        weights[n - 1 - i] = weight;
    }
    if n % 2 == 1 {
        nodes[n / 2] = 0.0;
    }
    (nodes, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_integrates_the_polynomials_it_should_and_no_more() {
        for n in 1..=40 {
            let (x, w) = gauss_legendre(n);
            let moment = |degree: usize| -> f64 {
                x.iter()
                    .zip(&w)
                    .map(|(x, w)| w * x.powi(degree as i32))
                    .sum()
            };
            for degree in 0..2 * n {
                let exact = if degree % 2 == 0 {
                    2.0 / (degree as f64 + 1.0)
                } else {
                    0.0
                };
                assert!(
                    (moment(degree) - exact).abs() < 2e-15 * (n as f64),
                    "{n} {degree}"
                );
            }
            if n <= 10 {
                let exact = 2.0 / (2.0 * n as f64 + 1.0);
                assert!((moment(2 * n) - exact).abs() > 1e-7, "{n} is too good");
            }
        }
    }
}
