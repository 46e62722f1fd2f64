//! Probabilities of counts and successes behind an uncertain latent value, without their terms.
//!
//! The probability of at most `y` falls in the latent value as a distribution function does: with
//! gamma variables `G_s` of shape `s`,
//!
//! $$ P(Y \le y \mid \mu) = P(G_{y+1} > \mu), \quad P(\alpha \mu < G_{y+1} / G_{1/\alpha}), \quad
//! P(p / (1 - p) < G_{y+1} / G_{n-y}) $$
//!
//! of Poisson and negative binomial counts and of successes. So it is that of `f < T`, `T` the
//! latent value at which such a ratio is the mean or the odds, and behind `f ~ N(m, s^2)` it is the
//! average of `Phi((T - m) / s)`, whatever the size of the count.
//!
//! # Numerics
//! The trapezoid rule over the logarithm of the ratio, in steps of 0.6 of what is narrower, the
//! logarithm or `f`: the transform of the product of two normal curves is below 1e-12 there. The
//! density is taken from its mode, so that nothing of the size of the count cancels.

use super::sigmoid::Sigmoid;
use crate::link::{Link, logistic};
use crate::special::scalar::normal_quantile;
use crate::special::{elementary, log1p_gap, log1p_ratio, normal_cdf_into};

/// Steps, in standard deviations of the logarithm or of `f`.
const STEP: f64 = 0.6;
/// Longest step of the logarithm itself: its density is analytic up to `pi i / 2`.
const LONGEST: f64 = 0.25;
/// Densities of less than `e^-40` of the largest are left out.
const LEFT_OUT: f64 = -40.0;
/// The logarithm of the ratio may have this sd, so that tails end soon.
const WIDEST: f64 = 2.0;
/// It may be so many times as wide as `f`: 30 nodes for each.
const WIDER: f64 = 20.0;
/// Below this logarithm `e^x` and `log(1 + e^x)` are the same.
const ALIKE: f64 = -40.0;

/// What is counted behind a latent value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Crossing {
    /// Events, with a mean of `exposure link(f)`.
    Counts {
        link: Link,
        exposure: f64,
        dispersion: f64,
    },
    /// Successes among trials.
    Successes { sigmoid: Sigmoid, trials: f64 },
}

/// Latent values `T`, and how much each counts; the weights add up to one.
struct Thresholds {
    at: Vec<f64>,
    weight: Vec<f64>,
}

/// `e^u - 1 - u` for `|u| <= 1`.
fn exp_gap(u: f64) -> f64 {
    // The 19th term is below 1e-17 of the first.
    let sum = (3..=20)
        .rev()
        .fold(0.0, |sum, k| (sum + 1.0) * u / f64::from(k));
    0.5 * u * u * (1.0 + sum)
}

/// Log density of `log(G_a / G_b)` at `u` from its mode, less that at the mode, `a <= b`.
fn log_density(a: f64, share: f64, u: f64) -> f64 {
    let growth = elementary::expm1(u);
    let part = share * growth;
    if u.abs() > 1.0 {
        return a * (u - growth * log1p_ratio(part));
    }
    a * (growth * part * log1p_gap(part) - exp_gap(u))
}

/// Values of `log(G_a / G_b)` with weights that add up to one, steps at most `step`; `b` may be
/// infinite, for `log G_a`.
fn log_ratios(a: f64, b: f64, step: f64) -> Thresholds {
    let (small, large) = (a.min(b), a.max(b));
    let sign = if a <= b { 1.0 } else { -1.0 };
    let share = small / (small + large);
    let centre = match b.is_finite() {
        true => elementary::log(a) - elementary::log(b),
        false => elementary::log(a),
    };
    let step = step.min(STEP * width(a, b)).min(LONGEST);
    let mut made = Thresholds {
        at: vec![centre],
        weight: vec![1.0],
    };
    for side in [-step, step] {
        let mut u = side;
        loop {
            let density = log_density(small, share, u);
            if density.is_nan() || density < LEFT_OUT {
                break;
            }
            made.at.push(centre + sign * u);
            made.weight.push(elementary::exp(density));
            u += side;
        }
    }
    let total: f64 = made.weight.iter().sum();
    made.weight.iter_mut().for_each(|weight| *weight /= total);
    made
}

/// About the standard deviation of `log(G_a / G_b)`.
fn width(a: f64, b: f64) -> f64 {
    (1.0 / a + 1.0 / b).sqrt()
}

impl Crossing {
    /// The sd of the logarithm of the mean, or of the odds, that goes with an sd of the latent
    /// value; of less than that where it varies.
    fn spread(&self, mean: f64, sd: f64) -> f64 {
        match self {
            Self::Counts { link, .. } => match link {
                Link::Square => 2.0 * sd / (mean.abs() + 6.0 * sd),
                link => sd * link.log_jet(mean + 3.0 * sd)[1],
            },
            Self::Successes { .. } => sd,
        }
    }

    /// The longest step of [`Self::at_most`] for a latent value of this mean and sd, about which
    /// `count` is expected; `None` where there would be too many.
    pub fn step(&self, (mean, sd): (f64, f64), count: f64) -> Option<f64> {
        let (a, b) = self.shapes(count);
        let (width, spread) = (width(a, b), self.spread(mean, sd));
        let few = width <= WIDEST && width <= WIDER * spread;
        few.then_some(STEP * spread)
    }

    /// Shapes of the two gamma variables.
    fn shapes(&self, y: f64) -> (f64, f64) {
        match *self {
            Self::Counts { dispersion, .. } => (y + 1.0, 1.0 / dispersion),
            Self::Successes { trials, .. } => (y + 1.0, trials - y),
        }
    }

    /// `P(Y <= y)` of a mixture of latent values, given by weight, mean and sd.
    ///
    /// # Numerics
    /// Some thirty values of the normal distribution function for each; an absolute 1e-12.
    pub fn at_most(&self, y: f64, step: f64, latent: &[[f64; 3]]) -> f64 {
        let all = || latent.iter().map(|[weight, ..]| weight).sum::<f64>();
        let y = y.floor();
        match *self {
            _ if y < 0.0 => return 0.0,
            _ if y.is_nan() => return y,
            Self::Counts { .. } if y == f64::INFINITY => return all(),
            Self::Successes { trials, .. } if y >= trials => return all(),
            _ => {}
        }
        let (a, b) = self.shapes(y);
        let ratios = log_ratios(a, b, step);
        let mut arguments = Vec::with_capacity(2 * latent.len() * ratios.at.len());
        let mut weights = Vec::with_capacity(arguments.capacity());
        for (log, weight) in ratios.at.iter().zip(&ratios.weight) {
            let (from, to) = self.latent(*log);
            for [share, mean, sd] in latent {
                arguments.push((to - mean) / sd);
                weights.push(share * weight);
                if from > f64::NEG_INFINITY {
                    arguments.push((from - mean) / sd);
                    weights.push(-share * weight);
                }
            }
        }
        let mut below = vec![0.0; arguments.len()];
        normal_cdf_into(&arguments, &mut below);
        let sum: f64 = below.iter().zip(&weights).map(|(p, w)| p * w).sum();
        sum.clamp(0.0, all())
    }

    /// The latent values between which the mean or the odds are below a ratio of gamma variables.
    fn latent(&self, log_ratio: f64) -> (f64, f64) {
        match *self {
            Self::Counts {
                link,
                exposure,
                dispersion,
            } => {
                let shape = if dispersion > 0.0 { dispersion } else { 1.0 };
                let log_rate = log_ratio - elementary::log(shape) - elementary::log(exposure);
                match link {
                    Link::Square => {
                        let root = elementary::exp(0.5 * log_rate);
                        (-root, root)
                    }
                    Link::Softplus if log_rate > ALIKE => {
                        let rate = elementary::exp(log_rate);
                        let at = Link::Softplus.inverse(rate);
                        (f64::NEG_INFINITY, at.unwrap_or(log_rate))
                    }
                    _ => (f64::NEG_INFINITY, log_rate),
                }
            }
            Self::Successes { sigmoid, .. } => {
                let at = match sigmoid {
                    Sigmoid::Logit => log_ratio,
                    Sigmoid::Probit if log_ratio > 0.0 => -normal_quantile(logistic(-log_ratio)),
                    Sigmoid::Probit => normal_quantile(logistic(log_ratio)),
                };
                (f64::NEG_INFINITY, at)
            }
        }
    }
}

#[cfg(test)]
#[path = "crossing_tests.rs"]
mod tests;
