//! The expected logarithm of a weighted sum of squares of normal values, from its moments.
//!
//! `Z = sum_i w_i f_i^2` is matched by `a X`, `X` noncentral chi-square with `k` degrees of
//! freedom, not whole ones, and noncentrality `lambda`:
//!
//! $$ a = \frac{\mathrm{Var} Z}{2 (E Z + N)}, \qquad a k = E Z - N, \qquad a \lambda = N = \sum_i
//! w_i E[f_i]^2 $$
//!
//! so that mean, variance and the part of the mean that the means of the values bring are those of
//! `Z`. That is exact where all values move together about one mean (`k = 1`), and where they are
//! independent with one `w_i Var f_i` about zero (`k` their number). `k` is never below one, as
//! `Var Z <= 2 (E Z - N)(E Z + N)`; it exceeds the number of values where those that vary little
//! have most of the mean.

use crate::special::{elementary, scalar};

/// The gap between `E log Z` and `log E Z`, as a function of `u = a / E Z` and `n = N / E Z`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JensenGap {
    /// `E log(Z / E Z)`.
    pub value: f64,
    /// Its derivatives in `u` and `n`.
    pub in_scale: f64,
    pub in_share: f64,
}

/// Below this `u` the expansion in it is exact to rounding: the term left out is some `100 u^4`.
const SMALL: f64 = 1.0 / 8000.0;
/// Weights below this part of the sum so far end a sum over them.
const NEGLIGIBLE: f64 = 1e-18;
/// From here on the asymptotic series of the trigamma function is exact to rounding.
const ASYMPTOTIC: f64 = 14.0;

/// `E log(Z / E Z)` of the match.
///
/// $$ E \log X = \log 2 + \sum_j p_j \psi(k / 2 + j), \qquad p = \mathrm{Poisson}(\lambda / 2),
/// \qquad k = (1 - n) / u, \quad \lambda = n / u $$
///
/// # Arguments
/// * `u` - `Var Z / (2 (E Z)^2 (1 + n))`, above zero
/// * `n` - `N / E Z`, from 0 to below 1
/// # Returns
/// Not a number where one of them is none.
///
/// # Numerics
/// Some `20 / sqrt(u)` terms, each a division or two; 1e-13 of the value, 1e-11 of its derivatives.
/// # Source
/// Johnson, Kotz and Balakrishnan 1995, eq. 29.2 for the mixture; the expansion is that of the
/// logarithm in cumulants.
pub(super) fn expected_log(u: f64, n: f64) -> JensenGap {
    if !(u.is_finite() && n.is_finite()) {
        // For sums that are not numbers the weights would never end.
        return JensenGap {
            value: f64::NAN,
            in_scale: f64::NAN,
            in_share: f64::NAN,
        };
    }
    if u < SMALL {
        return expansion(u, n);
    }
    let (k, h) = ((1.0 - n) / u, 0.5 * n / u);
    // Summed from the largest weight, upwards and downwards.
    let first = h.floor();
    let start = 0.5 * k + first;
    let (psi, psi_1) = (scalar::digamma(start), trigamma(start));
    let mut sums = Sums::default();
    sums.add(1.0, psi, psi_1, start);
    let (mut weight, mut x, mut value, mut slope) = (1.0, start, psi, psi_1);
    let mut j = first;
    loop {
        weight *= h / (j + 1.0);
        if weight < NEGLIGIBLE * sums.weight {
            break;
        }
        value += 1.0 / x;
        slope -= 1.0 / (x * x);
        (x, j) = (x + 1.0, j + 1.0);
        sums.add(weight, value, slope, x);
    }
    (weight, x, value, slope, j) = (1.0, start, psi, psi_1, first);
    while j > 0.0 {
        weight *= j / h;
        if weight < NEGLIGIBLE * sums.weight {
            break;
        }
        (x, j) = (x - 1.0, j - 1.0);
        value -= 1.0 / x;
        slope += 1.0 / (x * x);
        sums.add(weight, value, slope, x);
    }
    let log = std::f64::consts::LN_2 + sums.digamma / sums.weight;
    // Derivatives in k and lambda, with psi(x + 1) - psi(x) = 1 / x.
    let (in_k, in_lambda) = (
        0.5 * sums.trigamma / sums.weight,
        0.5 * sums.inverse / sums.weight,
    );
    JensenGap {
        value: log + elementary::log(u),
        in_scale: (1.0 - k * in_k - 2.0 * h * in_lambda) / u,
        in_share: (in_lambda - in_k) / u,
    }
}

#[derive(Default)]
struct Sums {
    weight: f64,
    digamma: f64,
    trigamma: f64,
    inverse: f64,
}

impl Sums {
    fn add(&mut self, weight: f64, digamma: f64, trigamma: f64, x: f64) {
        self.weight += weight;
        self.digamma += weight * digamma;
        self.trigamma += weight * trigamma;
        self.inverse += weight / x;
    }
}

/// Up to `u^3`: cumulants of `Z / E Z` are `2^(r-1) (r-1)! u^(r-1) (1 + (r - 1) n)`.
fn expansion(u: f64, n: f64) -> JensenGap {
    let (one, two, three) = (1.0 + n, 1.0 + 2.0 * n, 1.0 + 3.0 * n);
    let second = 8.0 / 3.0 * two - 3.0 * one * one;
    let third = -12.0 * three + 32.0 * one * two - 20.0 * one * one * one;
    let in_second = 16.0 / 3.0 - 6.0 * one;
    let in_third = -36.0 + 32.0 * (two + 2.0 * one) - 60.0 * one * one;
    JensenGap {
        value: u * (-one + u * (second + u * third)),
        in_scale: -one + u * (2.0 * second + 3.0 * u * third),
        in_share: u * (-1.0 + u * (in_second + u * in_third)),
    }
}

/// The derivative of the digamma function, for `x` above zero (DLMF 5.5.3, 5.15.8).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < ASYMPTOTIC {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let (i, s) = (1.0 / x, 1.0 / (x * x));
    let tail = 1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s * (1.0 / 30.0 - s * 5.0 / 66.0)));
    sum + i + 0.5 * s + i * s * tail
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::likelihood::local::Belief;
    use crate::likelihood::log_square::expected_log_square;

    /// `E log Z = int_0^inf (e^-t - E e^-tZ) / t dt`, by the trapezoid rule in `log t`; `terms` has
    /// of every eigenvalue of the squares its value and the squared mean along it.
    pub fn by_quadrature(terms: &[[f64; 2]]) -> f64 {
        let h = 0.01;
        let at = |i: i32| {
            let t = (h * f64::from(i)).exp();
            let log =
                |&[l, c]: &[f64; 2]| -0.5 * (2.0 * t * l).ln_1p() - t * c / (1.0 + 2.0 * t * l);
            // Differences of values near one, where t is small.
            (-t).exp_m1() - terms.iter().map(log).sum::<f64>().exp_m1()
        };
        h * (-4000..12000).map(at).sum::<f64>()
    }

    /// Of one term of `k` degrees, which need not be whole: `k` times the eigenvalue, with the
    /// noncentrality.
    pub fn chi_square(scale: f64, k: f64, centre: f64) -> f64 {
        let h = 0.01;
        let at = |i: i32| {
            let t = (h * f64::from(i)).exp();
            let log = -0.5 * k * (2.0 * t * scale).ln_1p() - t * centre / (1.0 + 2.0 * t * scale);
            (-t).exp_m1() - log.exp_m1()
        };
        h * (-4000..12000).map(at).sum::<f64>()
    }

    #[test]
    fn values_are_those_of_quadrature_and_slopes_their_differences() {
        for n in [0.0, 0.05, 0.5, 0.97, 0.999_99] {
            for u in [1e-5, 1e-4, 1.2e-4, 1.3e-4, 1e-3, 0.02, 0.2, 0.9] {
                let k = (1.0 - n) / u;
                let found = expected_log(u, n);
                // Sums have no fewer degrees than one; and the tail of e^-kt/2 must have died
                // within the range.
                if k < 0.5 {
                    continue;
                }
                let want = chi_square(u, k, n);
                let error = (found.value - want).abs();
                // The rule to rounding of its 16,000 terms.
                assert!(error < 1e-11, "{u} {n}: {} {want}", found.value);
                let slope = |at: &dyn Fn(f64) -> f64, h: f64| {
                    (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h)
                };
                let h = 3e-3 * u;
                let close = |got: f64, want: f64, h: f64| {
                    // Fourth order; rounding of terms of size ten, of each of which a step has
                    // four, over the step.
                    let off = (got - want).abs();
                    assert!(off < 1e-8 * want.abs() + 5e-14 / h, "{u} {n}: {got} {want}");
                };
                close(
                    found.in_scale,
                    slope(&|x| expected_log(u + x, n).value, h),
                    h,
                );
                let h = 1e-3 * n.min(1.0 - n);
                if h > 0.0 {
                    close(
                        found.in_share,
                        slope(&|x| expected_log(u, n + x).value, h),
                        h,
                    );
                }
            }
        }
    }

    /// Whose weights would never be small.
    #[test]
    fn what_is_no_number_ends() {
        for (u, n) in [(f64::NAN, 0.5), (0.5, f64::NAN), (f64::INFINITY, 0.5)] {
            assert!(expected_log(u, n).value.is_nan());
        }
    }

    /// One squared normal value, of which all is known.
    #[test]
    fn one_value_is_exact() {
        for (mean, variance) in [(0.0, 1.0), (0.3, 0.5), (2.0, 0.1), (5.0, 3.0)] {
            let (total, centre) = (mean * mean + variance, mean * mean);
            let spread = 2.0 * variance * (variance + 2.0 * centre);
            let n = centre / total;
            let u = spread / (2.0 * total * total * (1.0 + n));
            let got = expected_log(u, n).value + f64::ln(total);
            let want = expected_log_square(Belief { mean, variance }).value;
            assert!(
                // Rounding of logarithms up to 3.4 and of what is added to them.
                (got - want).abs() < 1e-13,
                "{mean} {variance}: {got} {want}"
            );
        }
    }
}
