//! Successes among trials.

use crate::special::elementary;
use rand::Rng;
use rand_distr::{Binomial as Sampler, Distribution as _};

use crate::special::scalar::regularised_beta;
use crate::special::{HALF_LOG_TWO_PI, log1p_gap, stirling_gap};

/// The binomial distribution, `P(y) = C(n, y) p^y (1 - p)^(n - y)`; one trial is a Bernoulli.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binomial {
    /// Number of trials `n`.
    pub trials: u64,
    /// Probability `p` of a success, in [0, 1].
    pub probability: f64,
}

impl Binomial {
    /// `n p`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.trials as f64 * self.probability
    }

    /// `n p (1 - p)`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.mean() * (1.0 - self.probability)
    }

    /// `P(Y <= y)`, to 1e-12.
    #[must_use]
    pub fn cdf(&self, y: f64) -> f64 {
        let n = self.trials as f64;
        if y.is_nan() {
            return y;
        }
        if y < 0.0 {
            return 0.0;
        }
        if y >= n {
            return 1.0;
        }
        let k = y.floor();
        // P(Y > k) = I_p(k + 1, n - k).
        regularised_beta(k + 1.0, n - k, self.probability, 1.0 - self.probability).1
    }

    /// `log P(y)` in nats; minus infinity off `0, 1, .., n`.
    #[must_use]
    pub fn log_density(&self, y: f64) -> f64 {
        let n = self.trials as f64;
        if y.is_nan() {
            return y;
        }
        if y < 0.0 || y > n || y.fract() != 0.0 {
            return f64::NEG_INFINITY;
        }
        let p = self.probability;
        log_binomial(y, n - y, elementary::log(p), elementary::log1p(-p))
    }

    /// One draw.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        Sampler::new(self.trials, self.probability)
            .map_or(f64::NAN, |sampler| sampler.sample(rng) as f64)
    }
}

/// `log P` of `k` successes and `m` failures, by the logarithms of their probabilities.
///
/// # Numerics
/// Loader's saddle point form: nothing of the size of `log n!` cancels.
/// # Source
/// Loader 2000, Fast and accurate computation of binomial probabilities
pub(crate) fn log_binomial(k: f64, m: f64, log_p: f64, log_q: f64) -> f64 {
    // 0 log 0 = 0.
    if k == 0.0 {
        return if m == 0.0 { 0.0 } else { m * log_q };
    }
    if m == 0.0 {
        return k * log_p;
    }
    let n = k + m;
    let constant = stirling_gap(n)
        - stirling_gap(k)
        - stirling_gap(m)
        - HALF_LOG_TWO_PI
        - 0.5 * (elementary::log(k) + elementary::log(m / n));
    // Counts against their means n p and n q; both differ by the same amount.
    let excess = if log_p < log_q {
        k - n * elementary::exp(log_p)
    } else {
        n * elementary::exp(log_q) - m
    };
    constant
        - deviance(k, excess, log_p + elementary::log(n))
        - deviance(m, -excess, log_q + elementary::log(n))
}

/// `k log(k / mean) - (k - mean)`.
fn deviance(k: f64, excess: f64, log_mean: f64) -> f64 {
    let x = -excess / k;
    if x.abs() <= 0.5 {
        excess * excess / k * log1p_gap(x)
    } else {
        k * (elementary::log(k) - log_mean) - excess
    }
}
