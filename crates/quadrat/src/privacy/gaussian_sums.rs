//! Sums of `exp(-k^2 / (2 sigma^2))` over whole numbers, and of the same times `k` and `k^2`.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

use crate::special::scalar::erfcx;

/// From here on sums are integrals with corrections; below they are added up term by term.
const WIDE: f64 = 1024.0;

/// Of a start beyond this many `sigma^2` terms fall so fast that adding them up is quick again.
const STEEP: f64 = 0.04;

/// Terms below `exp(-45) = 3e-20` of the first one are left out.
const NOTHING: f64 = 45.0;

/// `sum_{k >= a} k^j exp(-(k^2 - a^2) / (2 sigma^2))` for `j` = 0, 1, 2 and a whole number `a` of 0
/// or more: relative to the first exponential, so that far tails do not underflow.
///
/// # Numerics
/// At most some 10,000 positive terms below a sigma of 1024, and some 1,100 where `a / sigma^2` is
/// above 0.04. Else the formula of Euler and Maclaurin with three derivatives: the next is below
/// `(a / sigma^2)^7 / 1.2e6` of the first term, 1.4e-16. From about 1 on it would be wrong.
pub(super) fn scaled_tails(sigma: f64, a: f64) -> [f64; 3] {
    if a == f64::INFINITY {
        return [0.0; 3];
    }
    if sigma < WIDE || a > STEEP * sigma * sigma {
        term_by_term(sigma, a)
    } else {
        by_integrals(sigma, a)
    }
}

/// The same with exponentials as they are.
pub(super) fn tails(sigma: f64, a: f64) -> [f64; 3] {
    let first = libm::exp(-0.5 * (a / sigma) * (a / sigma));
    if first == 0.0 {
        return [0.0; 3];
    }
    scaled_tails(sigma, a).map(|sum| first * sum)
}

fn term_by_term(sigma: f64, a: f64) -> [f64; 3] {
    let mut sums = [1.0, a, a * a];
    // Steps from a are counted: a itself may be so large that a + 1 = a.
    let mut i = 1.0;
    let exponent = |i: f64| i / sigma * ((a + 0.5 * i) / sigma);
    while exponent(i) <= NOTHING {
        let (k, term) = (a + i, libm::exp(-exponent(i)));
        sums[0] += term;
        sums[1] += k * term;
        sums[2] += k * k * term;
        i += 1.0;
    }
    sums
}

fn by_integrals(sigma: f64, a: f64) -> [f64; 3] {
    let z = a / sigma;
    // Integrals from a on, over the value at a, that of Mills first.
    let mills = sigma * FRAC_PI_2.sqrt() * erfcx(z * FRAC_1_SQRT_2);
    let integrals = [mills, sigma * sigma, sigma * sigma * (a + mills)];
    // Derivatives over the value: (-1 / sigma)^n He_n(z).
    let mut g = [1.0, -z / sigma, 0.0, 0.0, 0.0, 0.0];
    for n in 1..5 {
        g[n + 1] = -(z * g[n] + n as f64 * g[n - 1] / sigma) / sigma;
    }
    let derivative = |j: usize, n: usize| {
        let m = n as f64;
        match j {
            0 => g[n],
            1 => a * g[n] + m * g[n - 1],
            _ => {
                let twice = if n > 1 { m * (m - 1.0) * g[n - 2] } else { 0.0 };
                a * a * g[n] + 2.0 * m * a * g[n - 1] + twice
            }
        }
    };
    [0, 1, 2].map(|j| {
        let value = a.powi(j as i32);
        integrals[j] + 0.5 * value - derivative(j, 1) / 12.0 + derivative(j, 3) / 720.0
            - derivative(j, 5) / 30240.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_with_corrections_are_the_sums() {
        for sigma in [1024.0, 5000.5] {
            for a in [0.0, 1.0, 700.0, 12_000.0, 38.0 * 1024.0] {
                let (long, short) = (term_by_term(sigma, a), by_integrals(sigma, a));
                for j in 0..3 {
                    // Up to 50,000 positive roundings, which go both ways.
                    let error = (short[j] / long[j] - 1.0).abs();
                    assert!(error < 1e-12, "{sigma} {a} {j}: {error}");
                }
            }
        }
    }

    /// Starts of more and less than `sigma^2`, where integrals with corrections go wrong.
    #[test]
    fn far_starts_are_the_sums() {
        for sigma in [1024.0_f64, 5000.5, 2f64.powi(25)] {
            let squared = sigma * sigma;
            for share in [0.039, 0.041, 0.3, 1.0, 7.0, 40.0] {
                let a = (share * squared).floor();
                let sums = scaled_tails(sigma, a);
                // From the smallest term on, by the terms themselves.
                let mut direct = [0.0; 3];
                for i in (0..3000).rev().map(f64::from) {
                    let (k, term) = (a + i, libm::exp(-(i * a + 0.5 * i * i) / squared));
                    direct[0] += term;
                    direct[1] += k * term;
                    direct[2] += k * k * term;
                }
                for j in 0..3 {
                    // Some thousand roundings, and 2e-16 of the next derivative.
                    let error = (sums[j] / direct[j] - 1.0).abs();
                    assert!(error < 1e-13, "{sigma} {share} {j}: {error}");
                }
            }
        }
        // 7,000 sigmas: nearly the geometric series of exp(-a / sigma^2).
        let (sum, ratio) = (
            scaled_tails(1024.0, 7000.0 * 1024.0)[0],
            libm::exp(-7000.0 / 1024.0),
        );
        // The second term is exp(-1 / (2 sigma^2)) = 1 - 5e-7 of that, and 1e-3 in size.
        assert!((sum * (1.0 - ratio) - 1.0).abs() < 1e-9, "{sum}");
    }

    /// From `2^53` on a number and the next whole one are the same.
    #[test]
    fn starts_beyond_whole_numbers_end() {
        for a in [2f64.powi(53), 1e17, 1e300, f64::MAX] {
            for sigma in [0.125, 5.0, 2f64.powi(25)] {
                assert_eq!(tails(sigma, a), [0.0; 3]);
                let sum = scaled_tails(sigma, a)[0];
                // A second term is below exp(-8) = 4e-4 at the widest.
                assert!((1.0..1.0004).contains(&sum), "{sigma} {a} {sum}");
            }
        }
        assert_eq!(scaled_tails(5.0, f64::INFINITY), [0.0; 3]);
    }

    #[test]
    fn all_whole_numbers_add_up_to_the_integral() {
        // Poisson's summation: the rest is exp(-2 pi^2 sigma^2), 4e-35 at a sigma of 2.
        for sigma in [2.0_f64, 30.0, 1e5] {
            let [ones, _, squares] = tails(sigma, 1.0);
            let area = sigma * (2.0 * std::f64::consts::PI).sqrt();
            // Some hundred roundings.
            assert!(((1.0 + 2.0 * ones) / area - 1.0).abs() < 1e-13);
            assert!((2.0 * squares / (area * sigma * sigma) - 1.0).abs() < 1e-13);
        }
    }
}
