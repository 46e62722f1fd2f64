//! One tooth of a periodic kernel of short lengthscale.
//!
//! Under a short lengthscale `kappa(u) = exp(-2 sin^2(pi u / period) / lengthscale^2)` is a comb: a
//! narrow peak at every whole number of periods, and nothing between them. Integrals over a tooth
//! are closed: with `x = sin(pi t / period)`,
//!
//! `dt = period / pi (1 - x^2)^(-1/2) dx`, `(1 - x^2)^(-1/2) = sum_k c_k x^(2k)`,
//! `asin(x) (1 - x^2)^(-1/2) = sum_k d_k x^(2k+1)`,
//!
//! so that every integral is a sum of moments `int_y^inf x^n exp(-x^2) dx`, all positive.
//!
//! Lengths are in units of `sigma = lengthscale period / (2 pi)`, the standard deviation that a
//! tooth tends to; then nothing over- or underflows however short the lengthscale is.

use std::f64::consts::{PI, SQRT_2};

use crate::special::scalar::erfc;

/// Terms of the series. Their ratio is at most `lengthscale^2 (k + 1/2) / 2`.
const TERMS: usize = 9;
/// `c_k = binomial(2k, k) / 4^k`.
const C: [f64; TERMS] = {
    let mut c = [1.0; TERMS];
    let mut k = 1;
    while k < TERMS {
        c[k] = c[k - 1] * (2 * k - 1) as f64 / (2 * k) as f64;
        k += 1;
    }
    c
};
/// `d_k = 4^k (k!)^2 / (2k + 1)!`.
const D: [f64; TERMS] = {
    let mut d = [1.0; TERMS];
    let mut k = 1;
    while k < TERMS {
        d[k] = d[k - 1] * (2 * k) as f64 / (2 * k + 1) as f64;
        k += 1;
    }
    d
};

/// A tooth, its lengths in units of `sigma`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tooth {
    lengthscale: f64,
    /// `period / sigma`.
    pub period: f64,
    /// Integral over the whole tooth, and its derivative in `log lengthscale`.
    pub area: f64,
    pub area_slope: f64,
}

/// What a tooth has beyond a distance `t` from its middle, in units of `sigma` and its square.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ToothTail {
    /// `int_t kappa(s) ds`.
    pub first: f64,
    /// `int_t (s - t) kappa(s) ds`.
    pub second: f64,
    /// Their derivatives in `log lengthscale` at the same `t` in the units of the data.
    pub first_slope: f64,
    pub second_slope: f64,
}

impl Tooth {
    /// The tooth of a lengthscale up to 0.1: the series is right to rounding, and a tooth ends
    /// before the next begins.
    pub fn new(lengthscale: f64) -> Self {
        let mut tooth = Self {
            lengthscale,
            period: 2.0 * PI / lengthscale,
            area: 0.0,
            area_slope: 0.0,
        };
        let half = tooth.tail(0.0);
        tooth.area = 2.0 * half.first;
        tooth.area_slope = 2.0 * half.first_slope;
        tooth
    }

    /// Beyond `t >= 0`, up to half a period.
    pub fn tail(&self, t: f64) -> ToothTail {
        let y = (PI * (t / self.period)).sin() * SQRT_2 / self.lengthscale;
        // exp(-y^2) is nothing there.
        if y > 27.0 {
            return ToothTail::default();
        }
        let gauss = (-y * y).exp();
        // int_y^inf x^n exp(-x^2) dx for n = 2k and 2k + 1.
        let mut even = 0.5 * PI.sqrt() * erfc(y);
        let mut odd = 0.5 * gauss;
        // y^(2k+1) exp(-y^2) / 2.
        let mut edge = 0.5 * y * gauss;
        let (mut power, q) = (1.0, 0.5 * self.lengthscale * self.lengthscale);
        let (mut first, mut both, mut first_slope, mut both_slope) = (0.0, 0.0, 0.0, 0.0);
        for k in 0..TERMS {
            let n = (2 * k) as f64;
            let next_even = edge + 0.5 * (n + 1.0) * even;
            let next_odd = edge * y + 0.5 * (n + 2.0) * odd;
            first += C[k] * power * even;
            both += D[k] * power * odd;
            first_slope += C[k] * power * next_even;
            both_slope += D[k] * power * next_odd;
            (even, odd) = (next_even, next_odd);
            edge *= y * y;
            power *= q;
        }
        let (first, first_slope) = (SQRT_2 * first, 2.0 * SQRT_2 * first_slope);
        ToothTail {
            first,
            first_slope,
            // int_t s kappa(s) ds less t times the first.
            second: 2.0 * both - t * first,
            second_slope: 4.0 * both_slope - t * first_slope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Periodic;
    use crate::quadrature::gauss_legendre;

    #[test]
    fn tails_are_integrals_of_the_kernel() {
        let rule = gauss_legendre(20);
        for lengthscale in [0.1, 0.05, 0.01, 1e-3] {
            let tooth = Tooth::new(lengthscale);
            for t in [0.0, 1e-3, 0.4, 1.0, 2.5, 6.0] {
                let sigma = lengthscale / (2.0 * PI);
                let mut expected = [0.0; 4];
                // Panels of half a sigma.
                for panel in 0..60 {
                    let from = t + 0.5 * f64::from(panel);
                    for (s, w) in rule.on(from, from + 0.5).filter(|(s, _)| s * sigma < 0.5) {
                        let (k, slope, _) = Periodic::value(s * sigma, lengthscale, 1.0);
                        let slope = lengthscale * slope;
                        let terms = [k, (s - t) * k, slope, (s - t) * slope];
                        expected
                            .iter_mut()
                            .zip(terms)
                            .for_each(|(e, f)| *e += w * f);
                    }
                }
                let ToothTail {
                    first,
                    second,
                    first_slope,
                    second_slope,
                } = tooth.tail(t);
                let got = [first, second, first_slope, second_slope];
                for (got, expected) in got.iter().zip(expected) {
                    // Rounding of sums of some hundred terms of order one.
                    assert!(
                        (got - expected).abs() < 2e-14,
                        "{lengthscale} {t}: {got} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_tooth_tends_to_a_normal_density() {
        for lengthscale in [1e-9, 1e-200] {
            let tooth = Tooth::new(lengthscale);
            // Terms of the series beyond the first are below 1e-18: four roundings.
            assert!((tooth.area / (2.0 * PI).sqrt() - 1.0).abs() < 1e-15);
            assert!((tooth.tail(0.0).second - 1.0).abs() < 1e-15);
        }
    }
}
