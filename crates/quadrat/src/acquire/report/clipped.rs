//! What a value tells that is not recorded beyond limits.

use super::average::{around, average};
use crate::likelihood::local::Belief;
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Sds of the noise beyond a limit where it matters no more.
const NEAR: f64 = 8.5;

/// A noisy value between two limits; beyond a limit only that it lies there.
///
/// $$ I(y; f) = H_{v + s^2}(m) - E\, H_{s^2}(f) $$
///
/// with `H_w(f)` the entropy of the report: of two answers of some probability, and of a density
/// between them,
///
/// $$ H = -P_l \log P_l - P_u \log P_u + (\Phi(b) - \Phi(a)) \log(\sqrt{2 \pi e}\, \sigma) +
/// \tfrac12 (a \phi(a) - b \phi(b)) $$
#[derive(Debug, Clone, PartialEq)]
pub struct Clipped {
    /// Lower limit; infinite where there is none.
    pub lower: f64,
    /// Upper limit; infinite where there is none.
    pub upper: f64,
    /// Variance of the noise, > 0.
    pub noise: f64,
}

impl Clipped {
    fn limits(&self) -> Vec<f64> {
        let both = [self.lower, self.upper];
        both.into_iter().filter(|limit| limit.is_finite()).collect()
    }

    /// The share of noisy values between the limits.
    fn inside(&self, mean: f64, sd: f64) -> f64 {
        let (a, b) = ((self.lower - mean) / sd, (self.upper - mean) / sd);
        match a > 0.0 {
            true => normal_cdf(-a) - normal_cdf(-b),
            false => normal_cdf(b) - normal_cdf(a),
        }
    }

    /// The entropy of a report less that of a value which is surely recorded, times its share.
    fn beside(&self, mean: f64, sd: f64) -> f64 {
        let (a, b) = ((self.lower - mean) / sd, (self.upper - mean) / sd);
        let answer = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let edge = |z: f64| {
            if z.is_finite() {
                z * normal_pdf(z)
            } else {
                0.0
            }
        };
        answer(normal_cdf(a)) + answer(normal_cdf(-b)) + 0.5 * (edge(a) - edge(b))
    }

    /// The entropy of a recorded value of this sd.
    fn recorded(sd: f64) -> f64 {
        0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E * sd * sd).ln()
    }

    /// The average entropy of the report were the latent value known, in nats.
    pub(super) fn known(&self, belief: Belief) -> f64 {
        let (s, sd) = (self.noise.sqrt(), belief.variance.sqrt());
        // Away from the limits the report is a value, or says nothing.
        let windows = around(&self.limits(), NEAR * s);
        let near = average((belief.mean, sd), s, &windows, |f| self.beside(f, s));
        near + Self::recorded(s) * self.inside(belief.mean, s.hypot(sd))
    }

    /// As for [`Ranks`](super::Ranks).
    pub(super) fn open(&self, before: Belief, variance: f64) -> f64 {
        let moved = (before.variance - variance).max(0.0).sqrt();
        let sd = self.noise.sqrt().hypot(variance.sqrt());
        let windows = around(&self.limits(), NEAR * sd);
        let near = average((before.mean, moved), sd, &windows, |f| self.beside(f, sd));
        near + Self::recorded(sd) * self.inside(before.mean, sd.hypot(moved))
    }
}
