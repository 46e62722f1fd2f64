//! What an observation tells whose report is a count, an answer, or a value with other than normal
//! noise: by quadrature.

use super::belief_observed::{BeliefObserved, excess};
use super::observed::Observed;
use super::ranks::Ranks;
use crate::likelihood::adaptive::{Panels, integrate};
use crate::likelihood::distribution::{Distribution, Laplace};
use crate::likelihood::local::{Belief, Circumstances, Local};
use crate::likelihood::{Likelihood, Sigmoid, StudentT};
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Sds of a belief, and of a report with double exponential noise, that are integrated over.
const REACH: f64 = 8.0;
const FAR: f64 = 9.5;
/// Nats below which differences of entropies of values have lost their digits, and the first term
/// of the expansion in the variance, `v J / 2`, serves: with Student's noise to a millionth, with
/// double exponential noise, which has a kink, to some parts in ten thousand.
const FEW: f64 = 1e-7;
/// Variances, in units of the latent value squared and of the information in an observation, below
/// which that term is right to a millionth for all others.
const NARROW: (f64, f64) = (1e-7, 1e-7);
/// Sds of a belief beyond which the logistic function is a step: its error is 1e-11.
const WIDE: f64 = 500.0;

/// An observation of any likelihood at a point, at known hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    one: Observed,
}

impl Answers {
    /// # Arguments
    /// * `likelihood` - with any one row
    /// * `own` - its hyperparameters
    /// * `circumstances` - exposure, trials and the known part of the noise of the observation
    #[must_use]
    pub fn new(likelihood: Likelihood, own: Vec<f64>, circumstances: Circumstances) -> Self {
        let one = Observed {
            likelihood,
            own,
            circumstances,
        };
        Self { one }
    }

    /// Nats.
    pub(super) fn information(&self, belief: Belief) -> f64 {
        if belief.variance <= 0.0 {
            return 0.0;
        }
        let first = || 0.5 * belief.variance * self.one.fisher(belief.mean);
        let at = self.one.at(belief.mean);
        if let Distribution::LogNormal(one) = at {
            // Its logarithm is a value with normal noise.
            return 0.5 * (belief.variance / (one.sd * one.sd)).ln_1p();
        }
        if let Distribution::Laplace(_) | Distribution::StudentT(_) = at {
            let told = match at {
                Distribution::Laplace(one) => double_exponential(one, belief.variance),
                Distribution::StudentT(t) => located(&t_of(t.scale, t.degrees), t.scale, belief),
                _ => f64::NAN,
            };
            return match told < FEW {
                true => first().min(FEW),
                false => told,
            };
        }
        if belief.variance < NARROW.0 && first() < NARROW.1 {
            return first();
        }
        match at {
            Distribution::Binomial(one) if one.trials == 1 => self.yes_or_no(belief),
            Distribution::Binomial(_)
            | Distribution::Poisson(_)
            | Distribution::NegativeBinomial(_) => BeliefObserved::new(&self.one, belief).counts(),
            Distribution::Exponential(_) | Distribution::Gamma(_) => {
                BeliefObserved::new(&self.one, belief).positive()
            }
            _ => f64::NAN,
        }
    }

    /// The most that it may tell of a latent value of this variance: one answer of two has log 2;
    /// of others what it tells around the latent value zero.
    pub(super) fn most(&self, variance: f64) -> f64 {
        match self.one.at(0.0) {
            Distribution::Binomial(one) => (one.trials as f64 + 1.0).ln(),
            _ => {
                let mean = 0.0;
                self.information(Belief { mean, variance })
            }
        }
    }

    /// An answer of two, of probabilities `p` and `q`; behind the probit it is a rank:
    ///
    /// $$ I = E \left( p \log \frac{p}{E p} + q \log \frac{q}{E q} \right) $$
    fn yes_or_no(&self, belief: Belief) -> f64 {
        use std::f64::consts::PI;
        if let Likelihood::Bernoulli(one) = &self.one.likelihood
            && one.sigmoid() == Sigmoid::Probit
        {
            let rank = Ranks::new(vec![0.0], 1.0);
            return (rank.open(belief, belief.variance) - rank.known(belief)).max(0.0);
        }
        let Belief { mean, variance } = belief;
        let sd = variance.sqrt();
        if sd > WIDE {
            // A normal variable of the variance of the logistic one, pi^2 / 3, stands for it, with
            // an error of its fourth cumulant, 13 / (24 sd^4); and the integral of h is pi^2 / 3.
            let all = (variance + PI * PI / 3.0).sqrt();
            let known = PI * PI / 3.0 * normal_pdf(mean / sd) / sd;
            return (binary(normal_cdf(mean / all)) - known).max(0.0);
        }
        // Rare answers come of latent values up to a variance from the mean.
        let high = (mean + REACH * sd).max((mean + variance).min(0.0) + REACH * sd);
        let low = (mean - REACH * sd).min((mean - variance).max(0.0) - REACH * sd);
        let step = (0.7 * sd).min(0.5);
        let range = ((low - mean) / step).floor() as i32..=((high - mean) / step).ceil() as i32;
        let nodes = range.map(|i| {
            let x = f64::from(i) * step;
            let (p, q) = (self.one.at(mean + x).mean(), self.one.at(-mean - x).mean());
            (step / sd * normal_pdf(x / sd), p, q)
        });
        let nodes: Vec<(f64, f64, f64)> = nodes.collect();
        let all: f64 = nodes.iter().map(|(w, ..)| w).sum();
        let p: f64 = nodes.iter().map(|(w, p, _)| w * p).sum::<f64>() / all;
        let q: f64 = nodes.iter().map(|(w, _, q)| w * q).sum::<f64>() / all;
        // Of one answer `(1 + x) log(1 + x) - x`, `x` its excess: never negative.
        let one = |own: f64, other: f64, mean: f64, rest: f64| match mean > 0.0 {
            // The difference of what is smaller has its digits.
            true if mean > 0.5 => mean * excess((rest - other) / mean),
            true => mean * excess((own - mean) / mean),
            false => 0.0,
        };
        let each = nodes
            .iter()
            .map(|(w, a, b)| w * (one(*a, *b, p, q) + one(*b, *a, q, p)));
        each.sum::<f64>() / all
    }
}

/// `-p log p - (1 - p) log(1 - p)`.
fn binary(p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return 0.0;
    }
    -p * p.ln() - (1.0 - p) * (-p).ln_1p()
}

/// Values with double exponential noise: `H(y) - log(2 e b)`, over one half of the line, on which
/// the density bends within the sd of the belief.
fn double_exponential(noise: Laplace, variance: f64) -> f64 {
    let sd = variance.sqrt();
    let open = Laplace {
        location: 0.0,
        blur: sd,
        ..noise
    };
    let open = Distribution::Laplace(open);
    let mut panels = Panels::new(0.0, 40.0 * noise.scale + FAR * sd);
    panels.around(0.0, sd);
    panels.around(0.0, noise.scale);
    let one = |y: f64| {
        let log = open.log_density(y);
        [if log > -700.0 { -log.exp() * log } else { 0.0 }]
    };
    2.0 * integrate(&panels, one).value[0] - (2.0 * std::f64::consts::E * noise.scale).ln()
}

/// Student's t about zero, of one row.
fn t_of(scale: f64, degrees: f64) -> Option<StudentT> {
    use crate::likelihood::{Degrees, Noise};
    let noise = Noise::Known(vec![scale * scale]);
    StudentT::new(vec![0.0], noise, Degrees::Known(degrees)).ok()
}

/// Values about the latent value, with noise of heavy tails: `H(y) - H(e)`, both over `y = scale
/// sinh(t)` about the mean.
fn located(noise: &Option<StudentT>, scale: f64, belief: Belief) -> f64 {
    let Some(noise) = noise else {
        return f64::NAN;
    };
    // Where the belief is wide, the middle is as wide; both densities are smooth over a quarter.
    let wide = scale.hypot(belief.variance.sqrt());
    let both = |unit: f64, log_density: &dyn Fn(f64) -> f64| {
        let step = 0.05;
        let one = |k: i32| {
            let t = step * f64::from(k);
            let (y, slope) = (unit * t.sinh(), unit * t.cosh());
            let log = log_density(y);
            -log.exp() * log * slope
        };
        // A tail of one degree of freedom holds 1e-15 beyond.
        let last = (36.0 / step) as i32;
        let beside: f64 = (1..=last).map(one).sum();
        step * (one(0) + 2.0 * beside)
    };
    let open = both(wide, &|y| {
        let moved = Belief {
            mean: y,
            variance: belief.variance,
        };
        noise.tilted(&[], 0, moved).log_z
    });
    let known = both(scale, &|y| noise.log_density(&[], 0, y).value);
    open - known
}
