//! Log-probabilities of counts, and their tails, for real counts: Poisson and negative binomial as
//! one family.
//!
//! Symbols: `k` count, `mu` mean, `alpha` dispersion (variance `mu + alpha mu^2`; 0 is Poisson), `a
//! = 1 / alpha`, `u = log mu`, `w = 1 / (1 + alpha mu)`.
//!
//! With `p(k)` the probability, `dp(k)/du = k p(k) - (k + 1) p(k + 1)` for every alpha. Sums
//! telescope: a tail is the integral of one edge term over `u`, `P(Y >= k; u) = int_{-inf}^u k p(k;
//! u') du'`. The integrand is log-concave in `u'` with mode at `mu = k`, so that on the side away
//! from the mode it falls from its edge, and the ratio of tail to edge term comes from a short
//! Gauss-Legendre sum whatever the size of the numbers. The same integral is the incomplete beta
//! (gamma for alpha = 0) function.

use super::stirling::{
    HALF_LOG_TWO_PI, digamma_gap_difference, log1p_gap, log1p_ratio, stirling_gap,
};
use crate::special::elementary;

/// The integrand is followed until it has fallen by this many nats.
const DEPTH: f64 = 42.0;

/// Nodes and weights of the 20-node Gauss-Legendre rule, positive half.
const RULE: [(f64, f64); 10] = [
    (0.076_526_521_133_497_34, 0.152_753_387_130_725_85),
    (0.227_785_851_141_645_08, 0.149_172_986_472_603_75),
    (0.373_706_088_715_419_56, 0.142_096_109_318_382_05),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_63),
    (0.636_053_680_726_515, 0.118_194_531_961_518_42),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_43),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_75),
    (0.912_234_428_251_326, 0.062_672_048_334_109_06),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];

/// A count's mean with its logarithm, so that neither loses digits; and the dispersion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountMean {
    pub(crate) log_mean: f64,
    pub(crate) mean: f64,
    pub(crate) dispersion: f64,
}

/// A tail at the edge `k`, by its edge term `k p(k)`.
pub(crate) struct EdgeTail {
    /// Tail over edge term.
    pub(crate) ratio: f64,
    /// Slope of the tail in the dispersion, over the edge term.
    pub(crate) slope: f64,
    /// `d/du log (k p(k))` minus `d/du log tail`: both may be large and nearly equal.
    pub(crate) excess: f64,
}

impl CountMean {
    pub(crate) fn new(mean: f64, dispersion: f64) -> Self {
        Self {
            log_mean: elementary::log(mean),
            mean,
            dispersion,
        }
    }

    /// `w = 1 / (1 + alpha mu)`.
    pub(crate) fn weight(&self) -> f64 {
        1.0 / (1.0 + self.dispersion * self.mean)
    }

    /// `log p(k)`, k >= 0 real, every constant included.
    ///
    /// # Numerics
    /// Loader's saddle point form: a relative 1e-15 of the sizes of deviance and logarithm, also
    /// where `log k!` is 1e7, and continuous down to alpha = 0.
    /// # Source
    /// Loader 2000, Fast and accurate computation of binomial probabilities
    pub(crate) fn log_probability(&self, k: f64) -> f64 {
        let alpha = self.dispersion;
        let spread = alpha * self.mean;
        if k == 0.0 {
            return -self.mean * log1p_ratio(spread);
        }
        let w = self.weight();
        // n / (n q) of Loader: r = (1 + alpha k) w = 1 + delta.
        let delta = alpha * w * (k - self.mean);
        let shape = 1.0 / alpha;
        let mut constant = -stirling_gap(k) - HALF_LOG_TWO_PI - 0.5 * elementary::log(k);
        if alpha > 0.0 {
            constant +=
                stirling_gap(shape + k) - stirling_gap(shape) - 0.5 * elementary::log1p(alpha * k);
        }
        // a (delta - log1p delta), and k log(k / (mu r)) - k + mu r with k - mu r = w (k - mu).
        let scaled = w * (k - self.mean);
        let failures = if delta.abs() <= 0.5 {
            delta * scaled * log1p_gap(delta)
        } else {
            (delta - (elementary::log1p(alpha * k) - elementary::log1p(spread))) * shape
        };
        let x = -scaled / k;
        let successes = if x.abs() <= 0.5 {
            scaled * scaled / k * log1p_gap(x)
        } else {
            k * (elementary::log(k) - self.log_mean + elementary::log1p(spread)
                - elementary::log1p(alpha * k))
                - scaled
        };
        constant - failures - successes
    }

    /// `d log p(k) / d alpha`, k >= 0 real.
    ///
    /// `a^2 (delta - log(1 + delta)) - a^2 (t(a + k) - t(a))`, `delta = alpha w (k - mu)`, `t(x) =
    /// digamma(x) - log x`; tends to `((k - mu)^2 - k) / 2` as alpha -> 0.
    pub(crate) fn dispersion_slope(&self, k: f64) -> f64 {
        self.deviation_slope(k) - digamma_gap_difference(k, self.dispersion)
    }

    /// The part of [`CountMean::dispersion_slope`] that depends on the mean.
    fn deviation_slope(&self, k: f64) -> f64 {
        self.deviation_slope_at(k, self.mean, elementary::log1p(self.dispersion * self.mean))
    }

    /// The same at another mean, whose `log(1 + alpha mean)` is at hand: the mean itself may be
    /// clipped.
    fn deviation_slope_at(&self, k: f64, mean: f64, log_stretch: f64) -> f64 {
        let alpha = self.dispersion;
        let scaled = (k - mean) / (1.0 + alpha * mean);
        let delta = alpha * scaled;
        if delta.abs() <= 0.5 {
            scaled * scaled * log1p_gap(delta)
        } else {
            (delta - (elementary::log1p(alpha * k) - log_stretch)) / (alpha * alpha)
        }
    }

    /// The smaller tail at the edge `k >= 1` (real, > 0): `P(Y >= k)` where mu <= k, else `P(Y <
    /// k)`.
    ///
    /// The slope in the dispersion is left at 0 for alpha = 0, and where it is not wanted.
    pub(crate) fn tail(&self, k: f64, with_slope: bool) -> EdgeTail {
        let with_slope = with_slope && self.dispersion > 0.0;
        let by_terms = match k.fract() == 0.0 {
            true => self.tail_by_terms(k, with_slope),
            false => None,
        };
        by_terms.unwrap_or_else(|| self.tail_by_quadrature(k, with_slope))
    }

    /// The same by the integral over the logarithm of the mean, for every real edge.
    pub(super) fn tail_by_quadrature(&self, k: f64, with_slope: bool) -> EdgeTail {
        let alpha = self.dispersion;
        let with_slope = with_slope && alpha > 0.0;
        let (mean, w) = (self.mean, self.weight());
        let sign = if mean <= k { -1.0 } else { 1.0 };
        // log p(k; u + sign s) - log p(k; u).
        let rise = (1.0 + alpha * k) * mean * w;
        let q = alpha * mean * w;
        let log_ratio = |s: f64| {
            let t = sign * s;
            // k t - (k + a) log(1 + q (e^t - 1)), or the same after e^t is taken out of the
            // logarithm: where q is nearly 1 nothing large cancels then. Neither may overflow.
            if (w < q && t > -600.0) || (t > 30.0 && alpha > 0.0) {
                let shape = 1.0 / alpha;
                return -shape * t - (k + shape) * elementary::log1p(w * elementary::expm1(-t));
            }
            let growth = elementary::expm1(t);
            k * t - rise * growth * log1p_ratio(q * growth)
        };
        let end = reach(&log_ratio, w * (k - mean).abs(), w * w * (mean + q * k / w));
        // Poles of the integrand: pi away from the real axis where alpha mu = 1.
        let pole = if alpha > 0.0 {
            (-sign * (elementary::log(alpha) + self.log_mean)).clamp(0.0, end)
        } else {
            0.0
        };
        let (mut sum, mut weighted, mut excess) = (0.0, 0.0, 0.0);
        for (from, to) in [(pole, end), (pole, 0.0)] {
            let mut near = from;
            let mut step = 2.0;
            while near != to {
                let far = if (to - near).abs() <= 2.0 * step {
                    to
                } else if to > near {
                    near + step
                } else {
                    near - step
                };
                // Two panels, so that none has to follow the whole fall.
                let middle = 0.5 * (near + far);
                let half = 0.25 * (far - near).abs();
                for centre in [0.5 * (near + middle), 0.5 * (middle + far)] {
                    for (node, weight_of_node) in RULE {
                        for s in [centre - half * node, centre + half * node] {
                            let term = half * weight_of_node * elementary::exp(log_ratio(s));
                            // Everything below has reached its limit long before.
                            let change = (mean * elementary::expm1(sign * s)).min(1e250);
                            sum += term;
                            if with_slope {
                                let log_stretch = if change < 1e200 {
                                    elementary::log1p(alpha * (mean + change))
                                } else {
                                    elementary::log(alpha) + self.log_mean + sign * s
                                };
                                weighted +=
                                    term * self.deviation_slope_at(k, mean + change, log_stretch);
                            }
                            excess += term * change / (1.0 + alpha * (mean + change));
                        }
                    }
                }
                near = far;
                step *= 2.0;
            }
        }
        EdgeTail {
            ratio: sum,
            slope: if with_slope {
                weighted - digamma_gap_difference(k, alpha) * sum
            } else {
                0.0
            },
            excess: (1.0 + alpha * k) * w * excess / sum,
        }
    }

    /// `P(Y < k)` and `P(Y >= k)`, k >= 0 real.
    pub(crate) fn tails(&self, k: f64) -> (f64, f64) {
        if k <= 0.0 {
            return (0.0, 1.0);
        }
        if self.mean == 0.0 {
            return (1.0, 0.0);
        }
        let edge = elementary::exp(self.log_probability(k) + elementary::log(k));
        let small = (edge * self.tail(k, false).ratio).min(1.0);
        if self.mean <= k {
            (1.0 - small, small)
        } else {
            (small, 1.0 - small)
        }
    }
}

/// Where a concave function that starts at 0 with slope `-slope <= 0` and second derivative
/// `-curvature` has fallen by `DEPTH`, to within a factor that costs at most a few nats more.
fn reach(log_ratio: &impl Fn(f64) -> f64, slope: f64, curvature: f64) -> f64 {
    let mut outside = (DEPTH / slope).min((2.0 * DEPTH / curvature).sqrt());
    if !(outside > 0.0 && outside.is_finite()) {
        outside = 1.0;
    }
    let mut inside = 0.0;
    for _ in 0..1100 {
        // NaN, where the exponential overflows, counts as fallen.
        let alive = log_ratio(outside) >= -DEPTH;
        if !alive {
            break;
        }
        inside = outside;
        outside *= 2.0;
    }
    for _ in 0..60 {
        if log_ratio(outside) > -DEPTH - 8.0 {
            break;
        }
        let middle = 0.5 * (inside + outside);
        if log_ratio(middle) >= -DEPTH {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    outside
}

/// Regularised incomplete gamma functions $P(a, x)$ and $Q(a, x) = 1 - P$.
///
/// # Arguments
/// * `a` - shape, > 0 and finite
/// * `x` - upper end of $P = \frac{1}{\Gamma(a)} \int_0^x t^{a-1} e^{-t} dt$, >= 0
/// # Returns
/// `(P, Q)`; NaN outside the domain
/// # Numerics
/// The smaller of the two to a relative 1e-12 for a up to 1e6; for whole edges a sum of up to 400
/// terms, else one quadrature of some 80 to 300 nodes.
/// # Source
/// DLMF 8.2.4; the integral over log x
/// # Examples
/// ```
/// let (p, q) = quadrat::special::scalar::regularised_gamma(1.0, 2.0);
/// assert!((q - (-2f64).exp()).abs() < 1e-14 && (p + q - 1.0).abs() < 1e-15);
/// ```
pub fn regularised_gamma(a: f64, x: f64) -> (f64, f64) {
    if !(a > 0.0 && a.is_finite() && x >= 0.0) {
        return (f64::NAN, f64::NAN);
    }
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    let (below, above) = CountMean::new(x, 0.0).tails(a);
    (above, below)
}

/// Regularised incomplete beta functions $I_x(a, b)$ and $1 - I_x(a, b)$.
///
/// # Arguments
/// * `a`, `b` - shapes, > 0 and finite
/// * `x` - upper end of $I_x = \frac{1}{B(a, b)} \int_0^x t^{a-1} (1 - t)^{b-1} dt$, in [0, 1]
/// * `y` - `1 - x`, given apart so that neither end loses digits
/// # Returns
/// `(I, 1 - I)`; NaN outside the domain
/// # Numerics
/// The smaller of the two to a relative 1e-12 for shapes up to 1e6; for whole edges a sum of up to
/// 400 terms, else one quadrature of some 80 to 300 nodes.
/// # Source
/// DLMF 8.17.2; the integral over the log odds of x
/// # Examples
/// ```
/// let (i, _) = quadrat::special::scalar::regularised_beta(2.0, 1.0, 0.3, 0.7);
/// assert!((i - 0.09).abs() < 1e-15);
/// ```
pub fn regularised_beta(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    let shapes = a > 0.0 && a.is_finite() && b > 0.0 && b.is_finite();
    if !(shapes && (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)) {
        return (f64::NAN, f64::NAN);
    }
    if y == 0.0 {
        return (1.0, 0.0);
    }
    // P(Y >= a) of a negative binomial with alpha = 1/b and alpha mu = x / (1 - x).
    let (below, above) = CountMean::new(b * x / y, 1.0 / b).tails(a);
    (above, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `dispersion, mean, k, log p, log P(Y < k), log P(Y >= k)`, 22 digits from mpmath.
    const TABLE: &str = include_str!("../../tests/reference/count.csv");

    fn rows() -> Vec<[f64; 6]> {
        TABLE
            .lines()
            .skip(1)
            .map(|line| {
                let mut row = [0.0; 6];
                for (slot, field) in row.iter_mut().zip(line.split(',')) {
                    *slot = field.parse().unwrap();
                }
                row
            })
            .collect()
    }

    #[test]
    fn log_probabilities_and_tails_match_the_table() {
        let (mut worst_p, mut worst_tail) = (0.0f64, 0.0f64);
        for [dispersion, mean, k, log_p, below, above] in rows() {
            let count = CountMean::new(mean, dispersion);
            let got = count.log_probability(k);
            // The argument's own rounding: the mean is a double, its logarithm another.
            let conditioning =
                f64::EPSILON * (4.0 + k.abs() + log_p.abs()) / (1.0 + dispersion * mean.min(k));
            let scale = 1e-14 * log_p.abs().max(1.0) + conditioning;
            worst_p = worst_p.max((got - log_p).abs() / log_p.abs().max(1.0));
            assert!(
                (got - log_p).abs() < 10.0 * scale,
                "{dispersion} {mean} {k}: {got} {log_p}"
            );

            let small = if mean <= k { above } else { below };
            let tail = got + elementary::log(k) + elementary::log(count.tail(k, false).ratio);
            let error = (tail - small).abs() / small.abs().max(1.0);
            worst_tail = worst_tail.max(error);
            // What the documentation of tails states.
            assert!(error < 1e-12, "{dispersion} {mean} {k}: {tail} {small}");
            let (p, q) = count.tails(k);
            assert!(
                (p - elementary::exp(below)).abs() < 1e-12
                    && (q - elementary::exp(above)).abs() < 1e-12
            );
        }
        println!("worst relative errors: log p {worst_p:e}, log tail {worst_tail:e}");
    }

    #[test]
    fn probabilities_sum_to_tails() {
        for (mean, dispersion) in [(3.0, 0.0), (0.2, 5.0), (40.0, 0.01), (7.0, 100.0)] {
            let count = CountMean::new(mean, dispersion);
            let mut below = 0.0;
            for k in 0..300 {
                let (p, q) = count.tails(f64::from(k));
                // 300 roundings of a sum near 1.
                assert!(
                    (p - below).abs() < 1e-13 && (p + q - 1.0).abs() < 1e-15,
                    "{mean} {dispersion} {k}"
                );
                below += elementary::exp(count.log_probability(f64::from(k)));
            }
        }
    }

    #[test]
    fn the_beta_function_is_symmetric_and_the_domain_is_kept() {
        for (a, b, x) in [
            (0.5, 3.0, 0.2),
            (1e-3, 1e-3, 0.5),
            (1e6, 30.0, 0.999_97),
            (2.0, 1e5, 1e-5),
        ] {
            // What the documentation states, of values up to one.
            let (i, j) = regularised_beta(a, b, x, 1.0 - x);
            let (mirrored, rest) = regularised_beta(b, a, 1.0 - x, x);
            assert!(
                (i - rest).abs() < 1e-12 && (j - mirrored).abs() < 1e-12,
                "{a} {b} {x}: {i} {rest}"
            );
        }
        assert!(regularised_gamma(-1.0, 1.0).0.is_nan());
        assert!(regularised_beta(1.0, 0.0, 0.5, 0.5).0.is_nan());
        assert_eq!(regularised_gamma(2.0, f64::INFINITY), (1.0, 0.0));
        assert_eq!(regularised_gamma(2.0, 0.0), (0.0, 1.0));
        assert_eq!(regularised_beta(2.0, 3.0, 1.0, 0.0), (1.0, 0.0));
    }
}
