//! Links: from the latent scale to the scale of the response.

mod form;
mod linked;
mod logit;
mod moment;
mod moments;
mod probit;
mod quasi_mean;
mod scalars;
pub(crate) mod series;
mod softplus;
mod table;

use std::fmt;
use std::str::FromStr;

pub(crate) use form::Form;
pub use linked::Linked;
pub use moment::Moments;
pub use quasi_mean::QuasiMean;
pub(crate) use quasi_mean::log_average;
pub(crate) use scalars::{logistic, softplus};
use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::special::elementary;
use crate::special::log1p_gap;
use crate::special::scalar::normal_cdf;

/// The argument of an exponential is clipped here, so that means, exposures and their products stay
/// finite.
pub(crate) const CLIP: f64 = 600.0;
/// Latent values behind which a link leaves next to nothing, or next to all.
pub(crate) const FAR_OUT: f64 = 40.0;
/// Latent values of the square link nearer to 0 than this are moved to it: its logarithm stays
/// finite.
const NEAREST: f64 = 1e-90;

/// The map from a latent value `f` to the mean of the response.
///
/// | name | mean | note |
/// |---|---|---|
/// | `identity` | `f` | either sign |
/// | `exp` | `e^f` | a change of the latent value multiplies the mean |
/// | `square` | `f^2` | `f` and `-f` mean the same: a posterior keeps the sign it began with |
/// | `softplus` | `log(1 + e^f)` | multiplies below 0, adds above |
/// | `logit` | `1 / (1 + e^-f)` | a probability; `f` is the log of the odds |
/// | `probit` | `Phi(f)` | a probability |
///
/// # Numerics
/// The argument of `e^f` is clipped at 600 and nowhere else: prototypes clipped to `[-40, 30]`,
/// which makes the likelihood flat, so that an optimiser stops there, and is too narrow for
/// exposures of 1e6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The mean is the latent value.
    Identity,
    /// The mean is `e^f`.
    Exp,
    /// The mean is `f^2`.
    Square,
    /// The mean is `log(1 + e^f)`.
    Softplus,
    /// The mean is a probability, `1 / (1 + e^-f)`.
    Logit,
    /// The mean is a probability, `Phi(f)`.
    Probit,
}

impl Link {
    /// All of means without an upper end, which `link` of a study may name.
    pub const ALL: [Self; 4] = [Self::Identity, Self::Exp, Self::Square, Self::Softplus];
    /// Those of probabilities.
    pub const PROBABILITIES: [Self; 2] = [Self::Logit, Self::Probit];

    /// The name in a study file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Exp => "exp",
            Self::Square => "square",
            Self::Softplus => "softplus",
            Self::Logit => "logit",
            Self::Probit => "probit",
        }
    }

    /// Whether the mean is a probability, which ends at one.
    #[must_use]
    pub fn is_probability(self) -> bool {
        Self::PROBABILITIES.contains(&self)
    }

    /// The mean of the response at the latent value `f`.
    ///
    /// # Examples
    /// ```
    /// use quadrat::link::Link;
    /// assert_eq!(Link::Square.value(-3.0), 9.0);
    /// assert!((Link::Softplus.value(-800.0) - 0.0).abs() < 1e-300);
    /// ```
    #[must_use]
    pub fn value(self, f: f64) -> f64 {
        match self {
            Self::Identity => f,
            Self::Exp => elementary::exp(f.min(CLIP)),
            Self::Square => f * f,
            Self::Softplus => softplus(f),
            Self::Logit => logistic(f),
            Self::Probit => normal_cdf(f),
        }
    }

    /// The mean of the response and its first three derivatives in `f`.
    #[must_use]
    pub fn jet(self, f: f64) -> [f64; 4] {
        match self {
            Self::Identity => [f, 1.0, 0.0, 0.0],
            Self::Exp => [elementary::exp(f.min(CLIP)); 4],
            Self::Square => [f * f, 2.0 * f, 2.0, 0.0],
            Self::Softplus => {
                let (p, q) = (logistic(f), logistic(-f));
                [softplus(f), p, p * q, p * q * (q - p)]
            }
            Self::Logit => logit::jet(f),
            Self::Probit => probit::jet(f),
        }
    }

    /// Logarithm of the mean and its first three derivatives in `f`; NaN for a negative mean.
    ///
    /// # Numerics
    /// A relative 1e-15 each, where both parts are tiny too. The square link is evaluated at least
    /// 1e-90 away from 0.
    #[must_use]
    pub fn log_jet(self, f: f64) -> [f64; 4] {
        match self {
            Self::Identity => {
                let r = 1.0 / f;
                [elementary::log(f), r, -r * r, 2.0 * r * r * r]
            }
            Self::Exp => [f, 1.0, 0.0, 0.0],
            Self::Square => {
                let f = if f.abs() < NEAREST {
                    NEAREST.copysign(f)
                } else {
                    f
                };
                let r = 1.0 / f;
                [
                    2.0 * elementary::log(f.abs()),
                    2.0 * r,
                    -2.0 * r * r,
                    4.0 * r * r * r,
                ]
            }
            Self::Softplus => log_softplus(f),
            Self::Logit => logit::log_jet(f),
            Self::Probit => probit::log_jet(f),
        }
    }

    /// The latent value whose mean is `mean`; the positive one of two.
    ///
    /// `None` where there is none: a negative mean, zero under `exp` and `softplus`, or one of a
    /// probability that is not inside (0, 1).
    #[must_use]
    pub fn inverse(self, mean: f64) -> Option<f64> {
        match self {
            Self::Identity => Some(mean),
            Self::Exp => (mean > 0.0).then(|| elementary::log(mean)),
            Self::Square => (mean >= 0.0).then(|| mean.sqrt()),
            // log(e^s - 1) = s + log(1 - e^-s).
            Self::Softplus => (mean > 0.0).then(|| {
                if mean > 1.0 {
                    mean + elementary::log1p(-elementary::exp(-mean))
                } else {
                    elementary::log(elementary::expm1(mean))
                }
            }),
            Self::Logit => logit::inverse(mean),
            Self::Probit => probit::inverse(mean),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Link {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        Self::ALL
            .into_iter()
            .find(|link| link.name() == text)
            .ok_or_else(|| InputError::UnknownLink {
                name: text.to_owned(),
            })
    }
}

/// Derivatives of `log softplus(f)`.
///
/// With `s = softplus`, `p = s'` and `r = p / s`: `r' = r (1 - p - r) = -r^2 d` with `d = 1 - s
/// e^-f`, and `d' = p - d`. In this form nothing cancels for `f` far below 0, where `r` tends to 1.
fn log_softplus(f: f64) -> [f64; 4] {
    let s = softplus(f);
    let p = logistic(f);
    let (log, d) = if f < -0.7 {
        let x = elementary::exp(f);
        let gap = x * log1p_gap(x);
        // s = x (1 - gap).
        (f + elementary::log1p(-gap), gap)
    } else {
        (elementary::log(s), 1.0 - s * elementary::exp(-f))
    };
    let r = if f < -0.7 {
        (1.0 - p) / (1.0 - d)
    } else {
        p / s
    };
    let square = r * r;
    [log, r, -square * d, square * (2.0 * r * d * d - (p - d))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central difference of order four.
    fn slope(g: impl Fn(f64) -> f64, f: f64, h: f64) -> f64 {
        (8.0 * (g(f + h) - g(f - h)) - (g(f + 2.0 * h) - g(f - 2.0 * h))) / (12.0 * h)
    }

    #[test]
    fn jets_are_derivatives() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for f in [-30.0_f64, -3.0, -0.71, -0.69, -0.2, 0.3, 2.0, 9.0, 40.0] {
                let h = 1e-3 * f64::min(1.0, f.abs());
                if link == Link::Probit && f.abs() > 9.0 {
                    // Nothing is left of it on one side, and differences are none on the other.
                    continue;
                }
                // Derivatives of the normal density grow by a factor of its argument each.
                let most = if link == Link::Probit { 1e-8 } else { 1e-10 };
                for order in 0..3 {
                    let want = slope(|f| link.jet(f)[order], f, h);
                    let got = link.jet(f)[order + 1];
                    // Fourth order differences: h^4 / 30 of the fifth derivative, plus eps / h.
                    let scale = link.jet(f).iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                    assert!((got - want).abs() < most * scale, "{link} {f} {order}");
                    if link == Link::Identity && f < 0.0 {
                        continue;
                    }
                    let want = slope(|f| link.log_jet(f)[order], f, h);
                    let got = link.log_jet(f)[order + 1];
                    let scale = link.log_jet(f).iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                    // As above; derivatives of logarithms are larger beside their size.
                    assert!((got - want).abs() < 1e-9 * scale, "log {link} {f} {order}");
                }
                if link != Link::Identity || f > 0.0 {
                    let log = elementary::log(link.value(f));
                    // A few roundings of a logarithm.
                    assert!((link.log_jet(f)[0] - log).abs() < 1e-14 * log.abs().max(1.0));
                }
            }
        }
    }

    #[test]
    fn log_softplus_keeps_its_digits_far_below_zero() {
        // Series in x = e^f: r = 1 - x/2 + 5x^2/12.., r' = -x/2 + 5x^2/6.., r'' = -x/2 + 5x^2/3..
        for f in [-10.0, -30.0, -300.0] {
            let x = elementary::exp(f);
            let [log, first, second, third] = Link::Softplus.log_jet(f);
            assert!((log - (f - 0.5 * x)).abs() <= 1e-15 * f.abs() + x * x);
            assert!((first - (1.0 - 0.5 * x)).abs() < 1e-15 + x * x);
            assert!((second / (-0.5 * x) - 1.0 + 5.0 / 3.0 * x).abs() < 1e-14 + 10.0 * x * x);
            assert!((third / (-0.5 * x) - 1.0 + 10.0 / 3.0 * x).abs() < 1e-14 + 30.0 * x * x);
        }
    }

    #[test]
    fn the_inverse_inverts() {
        for link in Link::ALL {
            for mean in [1e-6, 0.3, 1.0, 7.0, 1e6] {
                let f = link.inverse(mean).unwrap();
                // Rounding of an inverse of up to 14, which `exp` makes as many roundings.
                assert!((link.value(f) / mean - 1.0).abs() < 1e-13, "{link} {mean}");
            }
        }
        assert_eq!(Link::Exp.inverse(0.0), None);
        assert_eq!(Link::Square.inverse(-1.0), None);
    }

    #[test]
    fn names_round_trip_and_others_are_refused_with_the_list() {
        for link in Link::ALL {
            assert_eq!(link.to_string().parse::<Link>().unwrap(), link);
        }
        let message = "log".parse::<Link>().unwrap_err().to_string();
        for link in Link::ALL {
            assert!(message.contains(link.name()), "{message}");
        }
    }
}
