//! Two-sided geometric noise (the discrete Laplace distribution), drawn in integer arithmetic.

use rand::Rng;

/// The two-sided geometric distribution, `P(N = k) = (1 - alpha) / (1 + alpha) alpha^|k|` over the
/// integers, with `alpha = exp(-1 / scale)`; variance `2 alpha / (1 - alpha)^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometric {
    /// `sensitivity / epsilon`.
    scale: f64,
    /// `1 / scale = numerator / denominator` exactly.
    numerator: u128,
    denominator: u128,
}

/// Smallest and largest epsilon, largest sensitivity: their quotient then fits 128 bits with room
/// to draw in.
pub(super) const EPSILON: (f64, f64) = (1.0 / 1_073_741_824.0, 1024.0);
pub(super) const SENSITIVITY: f64 = 1_073_741_824.0;

impl Geometric {
    /// Both must lie inside the limits above; [`Mechanism`](super::Mechanism) checks them.
    pub(super) fn new(sensitivity: u32, epsilon: f64) -> Self {
        // A double is a fraction: epsilon = mantissa / 2^shift, at most 53 bits over at most 2^82.
        let (mut mantissa, mut shift) = (epsilon, 0_u32);
        while mantissa.fract() != 0.0 {
            mantissa *= 2.0;
            shift += 1;
        }
        let numerator = mantissa as u128;
        let denominator = u128::from(sensitivity) << shift;
        let common = gcd(numerator, denominator);
        Self {
            scale: f64::from(sensitivity) / epsilon,
            numerator: numerator / common,
            denominator: denominator / common,
        }
    }

    /// Of a whole scale.
    pub(super) fn of_scale(scale: u128) -> Self {
        Self {
            scale: scale as f64,
            numerator: 1,
            denominator: scale,
        }
    }

    /// `sensitivity / epsilon`, in the unit of the counts.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Ratio of neighbouring probabilities, `exp(-epsilon / sensitivity)`.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        libm::exp(-1.0 / self.scale)
    }

    /// `1 - alpha` without cancellation.
    fn beta(&self) -> f64 {
        -libm::expm1(-1.0 / self.scale)
    }

    /// `2 alpha / (1 - alpha)^2`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        2.0 * self.alpha() / (self.beta() * self.beta())
    }

    /// `P(N <= x)`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        let k = x.floor();
        let power = |n: f64| libm::exp(-n / self.scale);
        if k < 0.0 {
            power(-k) / (1.0 + self.alpha())
        } else {
            1.0 - power(k + 1.0) / (1.0 + self.alpha())
        }
    }

    /// Log of `P(N = x)`, nats; minus infinity off the integers.
    #[must_use]
    pub fn ln_pmf(&self, x: f64) -> f64 {
        if x.fract() != 0.0 || !x.is_finite() {
            return f64::NEG_INFINITY;
        }
        -x.abs() / self.scale + libm::log(self.beta()) - libm::log1p(self.alpha())
    }

    /// Log of `P(N >= x)`, nats; right far into both tails.
    pub(super) fn ln_upper(&self, x: f64) -> f64 {
        let k = x.ceil();
        if k > 0.0 {
            -k / self.scale - libm::log1p(self.alpha())
        } else {
            libm::log1p(-libm::exp((k - 1.0) / self.scale) / (1.0 + self.alpha()))
        }
    }

    /// One draw, exactly from the distribution whose `1 / scale` is the quotient of the integer
    /// sensitivity and of epsilon as the double it is: integer arithmetic and rejection only, no
    /// rounding and no cut tail.
    ///
    /// # Numerics
    /// About a dozen random words a draw. The time taken depends on the value drawn, so an observer
    /// who can time single draws learns something of them.
    ///
    /// # Source
    /// C. Canonne, G. Kamath and T. Steinke, *The Discrete Gaussian for Differential Privacy*
    /// (2020), algorithms 1, 2.
    pub fn sample(&self, random: &mut impl Rng) -> i128 {
        let (s, t) = (self.numerator, self.denominator);
        loop {
            // X = U + t V is geometric with ratio exp(-1/t); floor(X / s) has ratio exp(-s/t).
            let u = below(random, t);
            if !exp_minus(random, u, t) {
                continue;
            }
            let mut v = 0_u128;
            while exp_minus(random, 1, 1) {
                v += 1;
            }
            // Saturates from v = 2^15 on: probability exp(-32768).
            let size = u.saturating_add(t.saturating_mul(v)) / s;
            let negative = random.next_u32() & 1 == 1;
            // Zero would come twice.
            if size == 0 && negative {
                continue;
            }
            let size = i128::try_from(size).unwrap_or(i128::MAX);
            return if negative { -size } else { size };
        }
    }

    /// First and second moment of `min(max(N, 0), h)` for an integer or infinite `h`.
    pub(super) fn half_moments(&self, h: f64) -> (f64, f64) {
        let (alpha, beta) = (self.alpha(), self.beta());
        // sum_{k=1}^h alpha^k and sum_{k=1}^h k alpha^k
        let (ones, ks) = if h.is_finite() {
            self.sums(h)
        } else {
            (alpha / beta, alpha / (beta * beta))
        };
        (ones / (1.0 + alpha), (2.0 * ks - ones) / (1.0 + alpha))
    }

    /// By doubling, because every term is positive then: the closed form cancels for small `h /
    /// scale`.
    fn sums(&self, h: f64) -> (f64, f64) {
        if h < 1.0 {
            return (0.0, 0.0);
        }
        let half = (0.5 * h).floor();
        let (ones, ks) = self.sums(half);
        let power = libm::exp(-half / self.scale);
        let doubled = (ones + power * ones, ks + power * (ks + half * ones));
        if 2.0 * half == h {
            return doubled;
        }
        let last = libm::exp(-h / self.scale);
        (doubled.0 + last, doubled.1 + h * last)
    }
}

/// Uniform over `0..n`, `n >= 1`: bits, masked and rejected.
fn below(random: &mut impl Rng, n: u128) -> u128 {
    let mask = u128::MAX.checked_shr((n - 1).leading_zeros()).unwrap_or(0);
    loop {
        let low = u128::from(random.next_u64());
        let high = if mask >> 64 == 0 {
            0
        } else {
            u128::from(random.next_u64())
        };
        let bits = (high << 64 | low) & mask;
        if bits < n {
            return bits;
        }
    }
}

/// True with probability `exp(-u / t)`, `u <= t`: von Neumann's alternating series.
pub(super) fn exp_minus(random: &mut impl Rng, u: u128, t: u128) -> bool {
    let mut k = 1_u128;
    // t is at most 2^112, and k passes 2^15 with probability 1 / (2^15)!.
    while below(random, t.saturating_mul(k)) < u {
        k += 1;
    }
    k % 2 == 1
}

pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::NoiseSource;

    #[test]
    fn a_double_becomes_the_fraction_it_is() {
        let noise = Geometric::new(3, 0.75);
        assert_eq!((noise.numerator, noise.denominator), (1, 4));
        let noise = Geometric::new(1, 0.1);
        // 0.1 is 3602879701896397 / 2^55.
        assert_eq!(
            (noise.numerator, noise.denominator),
            (3_602_879_701_896_397, 1 << 55)
        );
        let small = Geometric::new(1 << 30, EPSILON.0 * (1.0 + f64::EPSILON));
        assert_eq!(small.denominator, 1 << 112);
        assert_eq!(Geometric::new(1, EPSILON.1).numerator, 1024);
    }

    #[test]
    fn below_is_uniform_and_below() {
        let mut random = NoiseSource::seeded(5);
        for n in [1_u128, 2, 3, 7, 8] {
            let mut seen = [0_i32; 8];
            for _ in 0..8000 {
                seen[below(&mut random, n) as usize] += 1;
            }
            let expected = 8000 / n as i32;
            for (k, count) in seen.into_iter().enumerate() {
                // Six standard deviations: a false alarm once in 10^7 of these 40 looks.
                let slack = 6.0 * f64::from(expected).sqrt();
                let want = if (k as u128) < n { expected } else { 0 };
                assert!(f64::from((count - want).abs()) <= slack, "{n} {k} {count}");
            }
        }
        assert!((0..100).any(|_| below(&mut random, 1 << 100) >> 64 != 0));
    }

    #[test]
    fn sums_are_those_of_the_terms() {
        for (scale_of, h) in [(0.1, 37.0), (2.0, 6.0), (0.5, 1.0), (1e-9, 100.0)] {
            let noise = Geometric::new(1, scale_of);
            let (mut ones, mut ks) = (0.0, 0.0);
            for k in 1..=h as i32 {
                let term = (-f64::from(k) * scale_of).exp();
                ones += term;
                ks += f64::from(k) * term;
            }
            let (a, b) = noise.sums(h);
            // Forty terms, all positive.
            assert!((a / ones - 1.0).abs() < 1e-14 && (b / ks - 1.0).abs() < 1e-14);
        }
        // The closed form of the infinite sums.
        let noise = Geometric::new(1, 0.1);
        let (ones, ks) = noise.sums(10_000.0);
        let alpha = (-0.1f64).exp();
        // 1 - alpha = 0.095 loses a digit, its square two.
        assert!((ones * (1.0 - alpha) / alpha - 1.0).abs() < 1e-13);
        assert!((ks * (1.0 - alpha).powi(2) / alpha - 1.0).abs() < 1e-13);
    }

    #[test]
    fn tails_add_up_to_one() {
        let noise = Geometric::new(2, 0.3);
        for k in -40..40 {
            // A few roundings of probabilities up to one; of exponentials by way of logarithms up
            // to six, as many eps of what is then e^-6.
            let x = f64::from(k);
            assert!((noise.cdf(x - 1.0) + noise.ln_upper(x).exp() - 1.0).abs() < 1e-14);
            let step = noise.cdf(x) - noise.cdf(x - 1.0);
            assert!((step - noise.ln_pmf(x).exp()).abs() < 1e-15);
        }
        assert_eq!(noise.ln_pmf(0.5), f64::NEG_INFINITY);
        assert_eq!(noise.cdf(2.9), noise.cdf(2.0));
    }
}
