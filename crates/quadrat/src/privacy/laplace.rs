//! Laplace noise.

use rand::Rng;

/// The Laplace distribution around zero, density `exp(-|x| / scale) / (2 scale)`, variance `2
/// scale^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    scale: f64,
}

impl Laplace {
    /// The scale must be positive and finite; [`Mechanism`](super::Mechanism) checks it.
    pub(super) fn new(scale: f64) -> Self {
        Self { scale }
    }

    /// The scale `b`, in the unit of the counts.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// `2 b^2`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        2.0 * self.scale * self.scale
    }

    /// `P(N <= x)`, to a few units in the last place in the lower tail.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        let tail = 0.5 * libm::exp(-x.abs() / self.scale);
        if x < 0.0 { tail } else { 1.0 - tail }
    }

    /// Log density at `x`, nats.
    #[must_use]
    pub fn ln_pdf(&self, x: f64) -> f64 {
        -x.abs() / self.scale - libm::log(2.0 * self.scale)
    }

    /// Log of `P(N >= x)`, nats; right far into both tails.
    pub(super) fn ln_upper(&self, x: f64) -> f64 {
        let tail = 0.5 * libm::exp(-x.abs() / self.scale);
        if x > 0.0 {
            -x / self.scale - std::f64::consts::LN_2
        } else {
            libm::log1p(-tail)
        }
    }

    /// One draw: a sign and `-b log(U)`, `U` uniform over the multiples of `2^-53` in `(0, 1]`.
    ///
    /// The magnitude never exceeds `53 log(2) b = 36.7 b`. The spacing of the reachable values is
    /// the weakness that the documentation of [`Mechanism::laplace`](super::Mechanism::laplace)
    /// describes.
    pub fn sample(&self, random: &mut impl Rng) -> f64 {
        let bits = random.next_u64();
        let uniform = ((bits >> 11) + 1) as f64 * f64::EPSILON * 0.5;
        // libm, because the logarithm of the platform may differ in its last digit between
        // platforms.
        let size = -self.scale * libm::log(uniform);
        if bits & 1 == 0 { size } else { -size }
    }

    /// First and second moment of `min(max(N, 0), h)`: `b (1 - e^-x) / 2` and `b^2 (1 - (1 + x)
    /// e^-x)`, `x = h / b`.
    pub(super) fn half_moments(&self, h: f64) -> (f64, f64) {
        let b = self.scale;
        let x = h / b;
        (-0.5 * b * libm::expm1(-x), b * b * lower_gamma_two(x))
    }
}

/// `int_0^x t e^-t dt = 1 - (1 + x) e^-x`; a series where the difference cancels.
fn lower_gamma_two(x: f64) -> f64 {
    if x == f64::INFINITY {
        return 1.0;
    }
    if x > 0.5 {
        return -libm::expm1(-x) - x * libm::exp(-x);
    }
    // sum_n (-1)^n x^(n+2) / (n! (n+2)); at 0.5 the 16th term is below 1e-19 of the sum.
    let (mut power, mut sum) = (x * x, 0.0);
    for n in 0..16 {
        sum += power / f64::from(n + 2);
        power *= -x / f64::from(n + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_meets_the_closed_form() {
        // At 0.5 the closed form loses a factor of about 6 to cancellation.
        let (a, b) = (lower_gamma_two(0.5), lower_gamma_two(0.5 + 1e-15));
        assert!((a - b).abs() < 1e-14 * a, "{a} {b}");
        // x^2 / 2 - x^3 / 3 + ..
        assert!((lower_gamma_two(1e-9) / 5e-19 - 1.0).abs() < 1e-8);
        assert_eq!(lower_gamma_two(f64::INFINITY), 1.0);
    }

    #[test]
    fn the_tails_are_right() {
        let noise = Laplace::new(2.0);
        assert_eq!(noise.cdf(0.0), 0.5);
        // Exponentials and logarithms to an ulp or two, which beside 1500 are 2.3e-13 each.
        assert!((noise.cdf(-80.0) / (0.5 * (-40f64).exp()) - 1.0).abs() < 1e-14);
        assert!((noise.ln_upper(3000.0) + 1500.0 + 2f64.ln()).abs() < 1e-12);
        assert!((noise.ln_upper(-2.0) - (1.0 - 0.5 * (-1f64).exp()).ln()).abs() < 1e-15);
    }
}
