//! What a question tells that is answered by an interval.

use std::sync::OnceLock;

use crate::special::elementary::log;
use crate::special::scalar::normal_cdf;

/// In which of the bins `[o + k L, o + (k + 1) L)` a noisy value `f + e` lies, with an offset `o`
/// drawn evenly from a bin: an answer of known width `L` that prefers no place.
///
/// $$ I(y; f) = g(\sqrt{v + noise} / L) - g(\sqrt{noise} / L) $$
///
/// with `g(tau)` the differential entropy of a normal variable of sd `tau` plus one even over an
/// interval of width one: given the offset, the middle of the bin is that sum seen at the bins'
/// spacing, so that its average entropy is `g`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bins {
    /// Width `L`, > 0.
    pub width: f64,
    /// Variance of the noise, zero or more.
    pub noise: f64,
}

impl Bins {
    /// The average entropy of an answer where the latent value has this variance, in nats, less
    /// that of a middle known to its bin.
    pub(super) fn open(self, variance: f64) -> f64 {
        entropy((variance + self.noise).sqrt() / self.width)
    }
}

/// `2 int -Phi log Phi`: two edges far apart, each of this entropy per sd.
const EDGES: f64 = 1.806_394_571_137_250_7;
/// Below the first the edges are 16 sds apart; beyond the second the fourth cumulant of the sum is
/// 8e-7 of its squared variance, and its entropy that of a normal variable less 1e-14.
const LIMITS: (f64, f64) = (0.06, 10.0);
/// Chebyshev nodes in `log tau` between the limits: 2e-14.
const NODES: usize = 96;

/// The differential entropy of a normal variable of sd `tau` plus one even over an interval of
/// width one, in nats.
pub(super) fn entropy(tau: f64) -> f64 {
    if tau <= LIMITS.0 {
        return EDGES * tau;
    }
    if tau >= LIMITS.1 {
        let spread = std::f64::consts::PI * 2.0 * std::f64::consts::E;
        return 0.5 * log(spread * (tau * tau + 1.0 / 12.0));
    }
    let (low, high) = (LIMITS.0.ln(), LIMITS.1.ln());
    let x = (2.0 * log(tau) - low - high) / (high - low);
    // Clenshaw's sum.
    let (mut one, mut two) = (0.0, 0.0);
    let coefficients = coefficients();
    for c in coefficients[1..].iter().rev() {
        (one, two) = (c + 2.0 * x * one - two, one);
    }
    coefficients[0] + x * one - two
}

/// Chebyshev coefficients of [`entropy`] between its limits.
fn coefficients() -> &'static [f64; NODES] {
    static ALL: OnceLock<[f64; NODES]> = OnceLock::new();
    ALL.get_or_init(|| {
        let (low, high) = (LIMITS.0.ln(), LIMITS.1.ln());
        let angle = |k: usize| std::f64::consts::PI * (k as f64 + 0.5) / NODES as f64;
        let values: Vec<f64> = (0..NODES)
            .map(|k| integrated((0.5 * (low + high + (high - low) * angle(k).cos())).exp()))
            .collect();
        std::array::from_fn(|j| {
            let each = values.iter().enumerate();
            let sum: f64 = each.map(|(k, v)| v * (j as f64 * angle(k)).cos()).sum();
            sum * if j == 0 { 1.0 } else { 2.0 } / NODES as f64
        })
    })
}

/// The same by the trapezoid rule: `-q log q` with `q(x) = Phi((x + 1/2) / tau) - Phi((x - 1/2) /
/// tau)` is analytic within 2.3 `tau` of the line, so that a step of a quarter leaves nothing.
fn integrated(tau: f64) -> f64 {
    let step = 0.25 * tau;
    // Beyond, less than 1e-17.
    let last = ((0.5 + 8.5 * tau) / step).ceil() as i32;
    let one = |k: i32| {
        let x = f64::from(k) * step;
        // On the right side the tails are differences of small numbers.
        let q = normal_cdf((0.5 - x) / tau) - normal_cdf((-0.5 - x) / tau);
        if q > 0.0 { -q * q.ln() } else { 0.0 }
    };
    let beside: f64 = (1..=last).map(one).sum();
    step * (one(0) + 2.0 * beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `entropy` by mpmath 1.3 to 40 digits: `2 quad(-q log q)`, see the constant for the first.
    const KNOWN: [(f64, f64); 7] = [
        (0.03, 0.054_191_837_134_117_52),
        (0.06, 0.108_383_674_268_235_04),
        (0.1, 0.180_639_457_113_710_26),
        (0.3, 0.540_452_617_757_038),
        (1.0, 1.458_958_824_105_099_2),
        (3.0, 2.522_159_149_212_676_7),
        (12.0, 3.904_134_451_152_314_5),
    ];

    #[test]
    fn the_one_function_has_known_values() {
        for (tau, known) in KNOWN {
            // Rounding of a sum of a hundred coefficients.
            assert!((entropy(tau) - known).abs() < 1e-13, "{tau}");
        }
    }

    /// Between the nodes of the table too, and across its limits.
    #[test]
    fn the_table_is_the_integral() {
        for k in 0..400 {
            let tau = 0.04 * (f64::from(k) * 0.015).exp();
            let whole = integrated(tau);
            assert!(
                (entropy(tau) - whole).abs() < 2e-14 * (1.0 + whole),
                "{tau}"
            );
        }
    }

    /// Of narrow bins an answer tells what a value does, of wide ones nothing.
    #[test]
    fn widths_have_their_limits() {
        let told = |width: f64, noise: f64, variance: f64| {
            let bins = Bins { width, noise };
            bins.open(variance) - bins.open(0.0)
        };
        let value = 0.5 * (1.0_f64 + 2.0 / 0.25).ln();
        // The next term is (L^2 / 12) (1 / (v + s^2) - 1 / s^2) / 2.
        assert!((told(1e-4, 0.25, 2.0) - value).abs() < 2e-9);
        assert!(told(1e6, 0.25, 2.0) < 1e-5);
        assert_eq!(told(0.3, 0.25, 0.0), 0.0);
        assert!(told(0.5, 0.0, 1.0) > told(0.5, 0.25, 1.0));
    }
}
