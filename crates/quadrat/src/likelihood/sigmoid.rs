//! From a latent value to a probability, and successes and failures at it.

use crate::special::elementary;
use serde::{Deserialize, Serialize};

use super::distribution::log_binomial;
use super::local::{Belief, Expected, Jet, Tilted};
use super::quadrature;
use crate::link::{Link, logistic, softplus};
use crate::special::Hazard;
use crate::special::scalar::{log_cdf, normal_cdf};

/// From the latent value to the probability of a success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sigmoid {
    /// `1 / (1 + e^-f)`: the latent value is the log of the odds.
    #[default]
    Logit,
    /// `Phi(f)`: a success is a latent value plus standard normal noise above 0.
    Probit,
}

/// Trials up to which plain sums lose nothing that counts.
const PLAIN: f64 = 1e4;
impl Sigmoid {
    /// The name in a study file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logit => "logit",
            Self::Probit => "probit",
        }
    }

    /// Probability of a success at the latent value `f`.
    #[must_use]
    pub fn value(self, f: f64) -> f64 {
        match self {
            Self::Logit => logistic(f),
            Self::Probit => normal_cdf(f),
        }
    }

    /// The latent value where the probability is `p`, in (0, 1).
    #[must_use]
    pub fn inverse(self, p: f64) -> f64 {
        match self {
            Self::Logit => elementary::log(p) - elementary::log1p(-p),
            Self::Probit => crate::special::scalar::normal_quantile(p),
        }
    }

    /// The link by which probabilities of an area are averaged.
    #[must_use]
    pub fn link(self) -> Link {
        match self {
            Self::Logit => Link::Logit,
            Self::Probit => Link::Probit,
        }
    }

    /// `log P` of `k` successes and `m` failures, with derivatives in `f`.
    pub(super) fn jet(self, k: f64, m: f64, f: f64) -> Jet {
        match self {
            Self::Logit => {
                let (p, q) = (logistic(f), logistic(-f));
                let curvature = (k + m) * p * q;
                Jet {
                    value: log_binomial(k, m, -softplus(-f), -softplus(f)),
                    first: k * q - m * p,
                    second: -curvature,
                    third: -curvature * (q - p),
                }
            }
            Self::Probit => {
                // 0 times the infinite hazard of the other tail would not be 0.
                let side = |count: f64, x: f64| {
                    if count == 0.0 {
                        return [0.0; 3];
                    }
                    let Hazard { h, sum, rest } = Hazard::new(x);
                    // h' = -h sum, sum' = rest, h'' = h (sum^2 - rest).
                    [count * h, -count * h * sum, count * h * (sum * sum - rest)]
                };
                let (up, down) = (side(k, f), side(m, -f));
                Jet {
                    value: log_binomial(k, m, log_cdf(f), log_cdf(-f)),
                    first: up[0] - down[0],
                    second: up[1] + down[1],
                    third: up[2] - down[2],
                }
            }
        }
    }

    /// A latent value where the row is plausible.
    pub(super) fn guess(self, k: f64, m: f64) -> f64 {
        self.inverse((k + 0.5) / (k + m + 1.0))
    }

    /// Moments of cavity times likelihood.
    ///
    /// One trial under probit is in closed form: with `z = +-mean / sqrt(1 + variance)` and the
    /// hazard `h` at `z`, `log Z = log Phi(z)` and `precision = h (z + h) / (1 + variance (1 - h
    /// (z + h)))`.
    pub(super) fn tilted(self, k: f64, m: f64, cavity: Belief) -> Tilted {
        if k + m == 0.0 {
            return Tilted::default();
        }
        if self == Self::Probit && k + m == 1.0 {
            let sign = if k == 1.0 { 1.0 } else { -1.0 };
            let width = (1.0 + cavity.variance).sqrt();
            let z = sign * cavity.mean / width;
            let Hazard { h, sum, rest } = Hazard::new(z);
            let first = sign * h / width;
            let precision = h * sum / (1.0 + cavity.variance * rest);
            return Tilted {
                log_z: log_cdf(z),
                precision,
                shift: first + precision * (cavity.mean + cavity.variance * first),
            };
        }
        if self == Self::Logit && k + m <= PLAIN {
            // Without the constant, and with one exponential for both tails.
            let jet = |f: f64| {
                let e = elementary::exp(-f.abs());
                let tail = elementary::log1p_short(e);
                let (near, far) = (1.0 / (1.0 + e), e / (1.0 + e));
                let (p, q) = if f > 0.0 { (near, far) } else { (far, near) };
                let curvature = (k + m) * p * q;
                Jet {
                    value: k * f.min(0.0) - m * f.max(0.0) - (k + m) * tail,
                    first: k * q - m * p,
                    second: -curvature,
                    third: -curvature * (q - p),
                }
            };
            let guess = self.guess(k, m);
            let tilted = quadrature::tilted(cavity, guess, jet);
            let constant = self.jet(k, m, guess).value - jet(guess).value;
            return Tilted {
                log_z: tilted.log_z + constant,
                ..tilted
            };
        }
        quadrature::tilted(cavity, self.guess(k, m), |f| self.jet(k, m, f))
    }

    /// Expected log-probability.
    pub(super) fn expected(self, k: f64, m: f64, belief: Belief) -> Expected {
        if k + m == 0.0 {
            return Expected::default();
        }
        quadrature::expected(belief, &[(0.0, 1.0)], |f| self.jet(k, m, f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_quadrature() {
        for (mean, variance) in [(0.3, 1.0), (-4.0, 0.1), (-30.0, 9.0), (10.0, 100.0)] {
            let cavity = Belief { mean, variance };
            // Panels are asked for 1e-11 of every integral; the shift is a sum of two of them.
            let closed = Sigmoid::Probit.tilted(1.0, 0.0, cavity);
            let other = quadrature::tilted(cavity, 0.0, |f| Sigmoid::Probit.jet(1.0, 0.0, f));
            assert!((closed.log_z - other.log_z).abs() < 1e-11 * closed.log_z.abs().max(1.0));
            assert!((closed.precision - other.precision).abs() < 1e-11);
            assert!((closed.shift - other.shift).abs() < 1e-10 * closed.shift.abs().max(1.0));
        }
    }
}
