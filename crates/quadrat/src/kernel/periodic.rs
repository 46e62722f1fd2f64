//! Periodic kernel.

use std::f64::consts::PI;

/// Periodic, `kappa(u) = exp(-2 sin^2(pi u / period) / lengthscale^2)`; the lengthscale has no
/// unit. Over several columns it is the product of one such factor per column.
///
/// Its Fourier series `kappa(u) = sum_m a_m cos(2 pi m u / period)` has positive coefficients
/// `a_0 = e^(-x) I_0(x)`, `a_m = 2 e^(-x) I_m(x)`, `x = lengthscale^-2`, so box integrals are
/// sums of products of sines over widths, at every width, without cancellation.
///
/// # Source
/// MacKay 1998; Rasmussen and Williams 2006, eq. 4.31; Abramowitz and Stegun 9.6.34.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periodic;

impl Periodic {
    /// `(kappa, d kappa / d lengthscale, d kappa / d period)` at `u = x - x'`.
    #[must_use]
    pub fn value(u: f64, lengthscale: f64, period: f64) -> (f64, f64, f64) {
        Self::between(u, 0.0, lengthscale, period)
    }

    /// As [`Self::value`] at `x - y`, whose rounding does not count however many periods it spans.
    #[must_use]
    pub fn between(x: f64, y: f64, lengthscale: f64, period: f64) -> (f64, f64, f64) {
        let separation = remainder(x, period) - remainder(y, period);
        Self::across(separation, x - y, lengthscale, period)
    }

    /// As [`Self::between`], of places `u` apart whose [`remainder`]s are `separation` apart.
    pub(crate) fn across(
        separation: f64,
        u: f64,
        lengthscale: f64,
        period: f64,
    ) -> (f64, f64, f64) {
        let (sine, cosine) = (PI * (separation / period)).sin_cos();
        let z = sine / lengthscale;
        let k = (-2.0 * z * z).exp();
        if k == 0.0 {
            return (0.0, 0.0, 0.0);
        }
        let slope = 4.0 * k * z / lengthscale;
        if slope == 0.0 {
            return (k, 0.0, 0.0);
        }
        let d_period = slope * cosine * PI * (u / period) / period;
        (k, slope * z, d_period)
    }

    /// The kernel alone, of places whose [`remainder`]s are `separation` apart.
    pub(crate) fn kernel_across(separation: f64, lengthscale: f64, period: f64) -> f64 {
        let z = (PI * (separation / period)).sin() / lengthscale;
        (-2.0 * z * z).exp()
    }

    /// Fourier coefficients `a_0, a_1, ..` and their derivatives in the lengthscale, up to the
    /// last one above `1e-18`.
    ///
    /// # Numerics
    /// Downward recurrence `I_(m-1) = I_(m+1) + 2m/x I_m`, normalised by `a_0 + a_1 + .. = 1`
    /// (Miller's algorithm): relative error about `1e-15` for every coefficient that counts.
    ///
    /// There are `9.5 / lengthscale + 20` of them, and no more than for a lengthscale of 0.01:
    /// callers go another way long before.
    #[must_use]
    pub fn coefficients(lengthscale: f64) -> (Vec<f64>, Vec<f64>) {
        let x = lengthscale.max(1e-2).powi(-2);
        if x < FLAT {
            return flat_coefficients(lengthscale);
        }
        // a_m ~ exp(-m^2 / (2x)) for large x and (x/2)^m / m! for small x.
        let count = (9.5 * x.sqrt()).ceil() as usize + 20;
        let start = count + 30;
        let mut bessel = vec![0.0; start + 2];
        bessel[start] = 1e-280;
        for m in (1..=start).rev() {
            bessel[m - 1] = bessel[m + 1] + 2.0 * m as f64 / x * bessel[m];
            if bessel[m - 1] > 1e250 {
                for b in &mut bessel[m - 1..] {
                    *b *= 1e-270;
                }
            }
        }
        let sum = bessel[0] + 2.0 * bessel[1..].iter().sum::<f64>();
        for b in &mut bessel {
            *b /= sum;
        }
        // First differences I_m - I_(m+1) by their own recurrence: formed from the rounded I_m they
        // would lose digits in proportion to x.
        let mut difference = vec![0.0; start + 1];
        difference[start] = bessel[start];
        for m in (1..=start).rev() {
            difference[m - 1] = 2.0 * m as f64 / x * bessel[m] - difference[m];
        }
        let mut a = vec![bessel[0]];
        let mut slope = vec![-difference[0]];
        for m in 1..count {
            if 2.0 * bessel[m] < 1e-18 {
                break;
            }
            a.push(2.0 * bessel[m]);
            slope.push(difference[m - 1] - difference[m]);
        }
        let dx = -2.0 * x / lengthscale;
        slope.iter_mut().for_each(|s| *s *= dx);
        (a, slope)
    }
}

/// Below this `lengthscale^-2` the first terms of power series are all.
const FLAT: f64 = 1e-5;

/// The coefficients for `x = lengthscale^-2` below [`FLAT`], where the recurrence would overflow:
/// `a_0 = 1 - x + 3 x^2 / 4 - 5 x^3 / 12`, `a_1 = x - x^2 + 5 x^3 / 8`, `a_2 = x^2 / 4 - x^3 / 4`,
/// `a_3 = x^3 / 24`.
fn flat_coefficients(lengthscale: f64) -> (Vec<f64>, Vec<f64>) {
    let x = lengthscale.powi(-2);
    let a = vec![
        1.0 - x + 0.75 * x * x - 5.0 / 12.0 * x * x * x,
        x * (1.0 - x + 0.625 * x * x),
        0.25 * x * x * (1.0 - x),
        x * x * x / 24.0,
    ];
    let slope = [
        -1.0 + 1.5 * x - 1.25 * x * x,
        1.0 - 2.0 * x + 1.875 * x * x,
        0.5 * x - 0.75 * x * x,
        0.125 * x * x,
    ];
    let dx = -2.0 * x / lengthscale;
    (a, slope.iter().map(|s| s * dx).collect())
}

/// `x - n period` for the whole `n` that brings it into `[-period/2, period/2]`, exactly: far from
/// zero the phase keeps all its digits.
pub(crate) fn remainder(x: f64, period: f64) -> f64 {
    let rest = x % period;
    if rest.abs() <= 0.5 * period {
        rest
    } else {
        rest - period.copysign(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourier_series_sums_to_the_kernel_with_its_slope() {
        for lengthscale in [
            0.02, 0.1, 0.5, 1.0, 3.0, 50.0, 310.0, 320.0, 1e4, 1e8, 1e300,
        ] {
            let (a, da) = Periodic::coefficients(lengthscale);
            for u in [0.0, 0.013, 0.21, 0.5, 0.77] {
                let (k, dk, _) = Periodic::value(u, lengthscale, 1.0);
                let series = |c: &[f64]| -> f64 {
                    c.iter()
                        .enumerate()
                        .map(|(m, c)| c * (2.0 * PI * m as f64 * u).cos())
                        .sum()
                };
                // Coefficients are right to some 1e-15 of themselves and add up to one; as much is
                // rounding of the phases.
                assert!((series(&a) - k).abs() < 1e-14, "{lengthscale} {u}");
                // Rounding of x d a_m / dx, eps x / 50 a term, alternating with m: coherent at u =
                // 1/2.
                let tolerance = (2e-15 + 1.6e-16 * lengthscale.powi(-2)) / lengthscale;
                assert!((series(&da) - dk).abs() < tolerance, "{lengthscale} {u}");
            }
        }
    }

    #[test]
    fn the_remainder_is_exact_far_from_zero() {
        for x in [0.0, 0.3, -0.3, 0.61, 7.3e9, -1.1e15] {
            let r = remainder(x, 0.7);
            assert!(r.abs() <= 0.35, "{x}: {r}");
        }
        assert_eq!(remainder(1_000_000.25, 0.5), 0.25);
        assert_eq!(remainder(-1_000_000.125, 0.5), -0.125);
        assert_eq!(remainder(1_000_000.375, 0.5), -0.125);
    }

    #[test]
    fn slopes_are_central_differences() {
        let (u, l, p) = (0.37, 0.8, 1.3);
        let (_, dl, dp) = Periodic::value(u, l, p);
        let h = 1e-6;
        let fl = (Periodic::value(u, l + h, p).0 - Periodic::value(u, l - h, p).0) / (2.0 * h);
        let fp = (Periodic::value(u, l, p + h).0 - Periodic::value(u, l, p - h).0) / (2.0 * h);
        // Rounding eps / h = 2e-10 of values below one, truncation h^2 = 1e-12 times third
        // derivatives.
        assert!((dl - fl).abs() < 1e-9 && (dp - fp).abs() < 1e-9);
    }
}
