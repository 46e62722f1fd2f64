//! Discrete Gaussian noise, drawn in integer arithmetic.

use rand::Rng;

use super::gaussian_sums::{scaled_tails, tails};
use super::geometric::{Geometric, exp_minus, gcd};

/// The discrete Gaussian distribution, `P(N = k)` proportional to `exp(-k^2 / (2 sigma^2))` over
/// the integers. Its variance is `sigma^2` to 15 digits from a sigma of 1.5 on, and less below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteGaussian {
    sigma: f64,
    /// `sigma^2 = numerator / denominator` exactly.
    numerator: u128,
    denominator: u128,
    /// `floor(sigma) + 1`, the scale of the proposals.
    proposal: u128,
    ln_norm: f64,
}

/// Smallest and largest `sigma^2`: integers of the sampler then fit 128 bits.
pub(super) const SIGMA_SQUARED: (f64, f64) = (1.0 / 64.0, 1_125_899_906_842_624.0);

/// Significant bits of `sigma^2`, which is rounded up to them.
const BITS: u32 = 40;

/// A proposal with a chance below `exp(-2^20)` is turned down unseen.
const NEVER: u128 = 1 << 20;

impl DiscreteGaussian {
    /// `sigma_squared` must lie inside the limits above; [`Mechanism`](super::Mechanism) checks it.
    pub(super) fn new(sigma_squared: f64) -> Self {
        // sigma^2 = mantissa 2^exponent with a mantissa of 40 bits, rounded up: never less noise
        // than was asked for.
        let exponent = sigma_squared.log2().floor() as i32 + 1 - BITS as i32;
        let mantissa = (sigma_squared * f64::from(-exponent).exp2()).ceil() as u128;
        let (numerator, denominator) = if exponent >= 0 {
            (mantissa << exponent, 1)
        } else {
            (mantissa, 1_u128 << -exponent)
        };
        let common = gcd(numerator, denominator);
        let (numerator, denominator) = (numerator / common, denominator / common);
        let sigma = (numerator as f64 / denominator as f64).sqrt();
        Self {
            sigma,
            numerator,
            denominator,
            proposal: sigma as u128 + 1,
            ln_norm: libm::log1p(2.0 * tails(sigma, 1.0)[0]),
        }
    }

    /// The parameter sigma, in the unit of the counts.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// `sum k^2 exp(-k^2 / (2 sigma^2)) / sum exp(-k^2 / (2 sigma^2))`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        Self::variance_of(self.sigma)
    }

    /// The same of any sigma.
    pub(super) fn variance_of(sigma: f64) -> f64 {
        let [ones, _, squares] = tails(sigma, 1.0);
        2.0 * squares / (1.0 + 2.0 * ones)
    }

    /// `P(N <= x)`, right in the lower tail to a few roundings.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        let k = x.floor();
        if k < 0.0 {
            libm::exp(self.ln_tail(-k))
        } else {
            1.0 - libm::exp(self.ln_tail(k + 1.0))
        }
    }

    /// Log of `P(N = x)`, nats; minus infinity off the integers.
    #[must_use]
    pub fn ln_pmf(&self, x: f64) -> f64 {
        if x.fract() != 0.0 || !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        -0.5 * (x / self.sigma) * (x / self.sigma) - self.ln_norm
    }

    /// Log of `P(N >= x)`, nats; right far into both tails.
    pub(super) fn ln_upper(&self, x: f64) -> f64 {
        let k = x.ceil();
        if k > 0.0 {
            self.ln_tail(k)
        } else {
            libm::log1p(-libm::exp(self.ln_tail(1.0 - k)))
        }
    }

    /// Log of `P(N >= k)` for a whole number `k` of 1 or more.
    fn ln_tail(&self, k: f64) -> f64 {
        let sum = scaled_tails(self.sigma, k)[0];
        libm::log(sum) - 0.5 * (k / self.sigma) * (k / self.sigma) - self.ln_norm
    }

    /// First and second moment of `min(max(N - start, 0), h)` for whole numbers `start >= 0` and
    /// `h`, which may be infinite.
    pub(super) fn beyond(&self, start: f64, h: f64) -> (f64, f64) {
        let from = tails(self.sigma, start + 1.0);
        let end = start + h;
        let to = tails(self.sigma, end);
        let [ones, ks, squares] = [0, 1, 2].map(|j| from[j] - to[j]);
        let (last, last_squared) = if end.is_finite() {
            (h * to[0], h * h * to[0])
        } else {
            (0.0, 0.0)
        };
        let norm = libm::exp(-self.ln_norm);
        let first = ks - start * ones + last;
        let second = squares - 2.0 * start * ks + start * start * ones + last_squared;
        (norm * first, norm * second)
    }

    /// One draw, exactly from the distribution of the rational `sigma^2` that is nearest above the
    /// one asked for: integer arithmetic and rejection only.
    ///
    /// # Numerics
    /// Some thirty random words a draw. The time taken depends on the value drawn.
    ///
    /// # Source
    /// C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*
    /// (2020), algorithm 3.
    pub fn sample(&self, random: &mut impl Rng) -> i128 {
        let wide = Geometric::of_scale(self.proposal);
        loop {
            let proposed = wide.sample(random);
            // exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2)) as a quotient of integers.
            let Some((u, t)) = self.exponent(proposed.unsigned_abs()) else {
                continue;
            };
            if u / t < NEVER && exp_minus_any(random, u, t) {
                return proposed;
            }
        }
    }

    /// `(|Y| - sigma^2 / t)^2 / (2 sigma^2)`; nothing where it does not fit, which is beyond all
    /// chance.
    fn exponent(&self, size: u128) -> Option<(u128, u128)> {
        let (p, q, t) = (self.numerator, self.denominator, self.proposal);
        let gap = size.checked_mul(q * t)?.abs_diff(p);
        Some((gap.checked_mul(gap)?, 2 * p * q * t * t))
    }
}

/// True with probability `exp(-u / t)`.
fn exp_minus_any(random: &mut impl Rng, u: u128, t: u128) -> bool {
    (0..u / t).all(|_| exp_minus(random, 1, 1)) && exp_minus(random, u % t, t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_is_a_fraction_from_above() {
        for wanted in [1.0 / 64.0, 0.3, 1.0, 50.0, 1e6 / 3.0, 1.1e15] {
            let noise = DiscreteGaussian::new(wanted);
            let made = noise.numerator as f64 / noise.denominator as f64;
            // Forty bits: 2^-39.
            assert!(
                made >= wanted && made <= wanted * (1.0 + 1.9e-12),
                "{wanted}"
            );
            // Proposals of 40 scales are looked at.
            assert!(noise.exponent(40 * noise.proposal).is_some(), "{wanted}");
        }
    }

    #[test]
    fn tails_add_up_to_one() {
        for sigma_squared in [0.2, 7.0, 900.0, 4e6] {
            let noise = DiscreteGaussian::new(sigma_squared);
            for k in -40..40 {
                // Probabilities up to one, of some thousand positive terms.
                let x = f64::from(k);
                assert!((noise.cdf(x - 1.0) + noise.ln_upper(x).exp() - 1.0).abs() < 1e-13);
                let step = noise.cdf(x) - noise.cdf(x - 1.0);
                assert!(
                    (step - noise.ln_pmf(x).exp()).abs() < 1e-13,
                    "{sigma_squared} {k}"
                );
            }
        }
    }

    #[test]
    fn ends_and_values_far_away_are_answered() {
        use crate::privacy::Mechanism;
        let noise = Mechanism::discrete_gaussian(1.0, 0.02).unwrap();
        for far in [2f64.powi(53), 1e17, f64::MAX] {
            assert_eq!((noise.cdf(-far, 0.0), noise.cdf(far, 0.0)), (0.0, 1.0));
        }
        let end = 2f64.powi(53);
        let (clipped, open) = (noise.clipped(0.0, end), noise.clipped(0.0, f64::INFINITY));
        let (clipped, open) = (clipped.unwrap(), open.unwrap());
        // An end that no draw reaches is none.
        assert_eq!(clipped.moments(0.0), open.moments(0.0));
        // The chance of that end is exp(-end^2 / (2 sigma^2)), but for a constant.
        let right = -0.5 * end * end / 25.0;
        assert!((clipped.ln_pdf(end, 0.0) / right - 1.0).abs() < 1e-12);
        assert!(noise.cdf(f64::NAN, 0.0).is_nan());
    }

    #[test]
    fn the_variance_is_that_of_the_paper() {
        // Fact 21 of Canonne et al.: below sigma^2, and nearly that from 1.5 on.
        let variance = |s: f64| DiscreteGaussian::new(s).variance();
        // sum k^2 e^(-2 k^2) / sum e^(-2 k^2): two terms on each side.
        let (a, b) = ((-2f64).exp(), (-8f64).exp());
        let near = (2.0 * a + 8.0 * b) / (1.0 + 2.0 * a + 2.0 * b);
        // The next term, 18 e^-18.
        assert!((variance(0.25) - near).abs() < 5e-7, "{}", variance(0.25));
        assert!(variance(0.25) < 0.25);
        // 8 pi^2 sigma^4 exp(-2 pi^2 sigma^2) is 1e-17 at 1.5; sigma^2 has forty bits.
        for s in [2.25, 50.0, 1e6] {
            assert!((variance(s) / s - 1.0).abs() < 2e-12, "{s}");
        }
    }
}
