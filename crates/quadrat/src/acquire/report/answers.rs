//! What an observation tells whose report is a count, an answer, or a value with other than normal
//! noise: by quadrature.

use super::average::{LINE, average};
use crate::likelihood::adaptive::{Panels, integrate};
use crate::likelihood::distribution::{Distribution, Laplace};
use crate::likelihood::local::{Belief, Circumstances, Local};
use crate::likelihood::{Likelihood, StudentT};
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Sds of a belief on either side that are integrated over.
const REACH: f64 = 8.0;
/// Nodes of a belief, and counts or values, at most: beyond, an asymptotic form serves.
const MOST_NODES: f64 = 4000.0;
const MOST_ANSWERS: f64 = 131_072.0;
/// Nats below which differences of entropies have lost their digits, and the first term of the
/// expansion in the variance, `v J / 2`, is right to a millionth.
const FEW: f64 = 1e-7;
/// Densities that one information may take.
const MOST_WORK: f64 = 5e6;
/// Sds of a belief beyond which the logistic function is a step: its error is 1e-11.
const WIDE: f64 = 500.0;
/// Shares of a node that are left out of sums over answers, in sds of its report.
const FAR: f64 = 9.5;

/// An observation of any likelihood at a point, at known hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// One row of the likelihood.
    likelihood: Likelihood,
    own: Vec<f64>,
    circumstances: Circumstances,
}

impl Answers {
    /// # Arguments
    /// * `likelihood` - with any one row
    /// * `own` - its hyperparameters
    /// * `circumstances` - exposure, trials and the known part of the noise of the observation
    #[must_use]
    pub fn new(likelihood: Likelihood, own: Vec<f64>, circumstances: Circumstances) -> Self {
        Self {
            likelihood,
            own,
            circumstances,
        }
    }

    fn at(&self, f: f64) -> Distribution {
        let local = self.likelihood.local();
        local.observation(&self.own, &self.circumstances, f)
    }

    /// Nats.
    pub(super) fn information(&self, belief: Belief) -> f64 {
        if belief.variance <= 0.0 {
            return 0.0;
        }
        let told = match self.at(belief.mean) {
            Distribution::Binomial(one) if one.trials == 1 => self.yes_or_no(belief),
            Distribution::Binomial(_)
            | Distribution::Poisson(_)
            | Distribution::NegativeBinomial(_) => self.counted(belief),
            Distribution::Exponential(_) | Distribution::Gamma(_) => self.positive(belief),
            Distribution::Laplace(one) => double_exponential(one, belief.variance),
            Distribution::StudentT(t) => located(&t_of(t.scale, t.degrees), t.scale, belief),
            _ => f64::NAN,
        };
        match told < FEW {
            true => (0.5 * belief.variance * self.fisher(belief.mean)).min(FEW),
            false => told,
        }
    }

    /// The most that it may tell of a latent value of this variance: one answer of two has log 2;
    /// of others what it tells around the latent value zero.
    pub(super) fn most(&self, variance: f64) -> f64 {
        match self.at(0.0) {
            Distribution::Binomial(one) => (one.trials as f64 + 1.0).ln(),
            _ => {
                let mean = 0.0;
                self.information(Belief { mean, variance })
            }
        }
    }

    /// Fisher's information about the latent value: the squared slope of the mean over the
    /// variance, as for all families by their mean here; of noise about the value from its own
    /// form.
    fn fisher(&self, f: f64) -> f64 {
        match self.at(f) {
            Distribution::StudentT(t) => {
                return (t.degrees + 1.0) / (t.degrees + 3.0) / (t.scale * t.scale);
            }
            Distribution::Laplace(one) => return 1.0 / (one.scale * one.scale),
            _ => {}
        }
        // Central differences of a smooth mean: the square of the step, and rounding over it.
        let step = 1e-5 * (1.0 + f.abs());
        let slope = (self.at(f + step).mean() - self.at(f - step).mean()) / (2.0 * step);
        let variance = self.at(f).variance();
        if variance > 0.0 {
            slope * slope / variance
        } else {
            0.0
        }
    }

    /// `h(E p) - E h(p)`, of the logistic function: answers behind the probit are ranks.
    fn yes_or_no(&self, belief: Belief) -> f64 {
        use std::f64::consts::PI;
        let sd = belief.variance.sqrt();
        if sd > WIDE {
            // A normal variable of the variance of the logistic one, pi^2 / 3, stands for it, with
            // an error of its fourth cumulant, 13 / (24 sd^4); and the integral of h is pi^2 / 3.
            let all = (belief.variance + PI * PI / 3.0).sqrt();
            let known = PI * PI / 3.0 * normal_pdf(belief.mean / sd) / sd;
            return binary(normal_cdf(belief.mean / all)) - known;
        }
        let p = |f: f64| self.at(f).mean();
        // Averages on one rule: what the two have of its error cancels.
        let at = (belief.mean, belief.variance.sqrt());
        let mean = average(at, 1.0, &LINE, p);
        let known = average(at, 1.0, &LINE, |f| binary(p(f)));
        binary(mean) - known
    }

    /// Nodes and weights of a belief that follow the report, if not too many.
    fn nodes(&self, belief: Belief) -> Option<Vec<(f64, f64)>> {
        let sd = belief.variance.sqrt();
        let sharpest = (-12..=12)
            .map(|k| self.fisher(belief.mean + 0.5 * f64::from(k) * sd))
            .fold(0.0, f64::max);
        let step = (0.7 * sd).min(0.5).min(0.5 / sharpest.sqrt().max(1e-300));
        let each = REACH * sd / step;
        if each.is_nan() || 2.0 * each > MOST_NODES {
            return None;
        }
        let n = each.ceil() as i32;
        let z = |i: i32| f64::from(i) * step / sd;
        let total: f64 = (-n..=n).map(|i| normal_pdf(z(i))).sum();
        let all = (-n..=n).map(|i| (belief.mean + sd * z(i), normal_pdf(z(i)) / total));
        Some(all.collect())
    }

    /// `E log(1 + v J) / 2`: what remains where the report is far sharper than the belief.
    fn asymptotic(&self, belief: Belief) -> f64 {
        let at = (belief.mean, belief.variance.sqrt());
        // Thirty nodes: the form is right to some parts in a thousand.
        average(at, at.1, &LINE, |f| {
            0.5 * (belief.variance * self.fisher(f)).ln_1p()
        })
    }

    /// Counts, summed one by one, or by the trapezoid rule where all are smooth over many.
    fn counted(&self, belief: Belief) -> f64 {
        let Some(nodes) = self.nodes(belief) else {
            return self.asymptotic(belief);
        };
        let reach: Vec<(f64, f64, f64)> = nodes
            .iter()
            .map(|(f, _)| {
                let at = self.at(*f);
                let (mean, sd) = (at.mean(), at.variance().sqrt());
                // Beyond the mean tails of the negative binomial fall as exp(-y / (alpha mu)).
                let high = mean + FAR * sd + 36.0 * (sd * sd / mean.max(1e-300)).max(1.0);
                ((mean - FAR * sd - 36.0).max(0.0).floor(), high.ceil(), sd)
            })
            .collect();
        let most = match self.at(belief.mean) {
            Distribution::Binomial(one) => one.trials as f64,
            _ => f64::INFINITY,
        };
        let low = reach.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
        let high = reach.iter().map(|r| r.1).fold(0.0, f64::max).min(most);
        let finest = reach.iter().map(|r| r.2).fold(f64::INFINITY, f64::min);
        // Sixteen steps for a standard deviation leave nothing; only far from zero.
        let stride = if low > 0.0 {
            (finest / 16.0).floor().max(1.0)
        } else {
            1.0
        };
        let count = (high - low) / stride + 1.0;
        let work: f64 = reach.iter().map(|(from, to, _)| (to - from) / stride).sum();
        if !(count <= MOST_ANSWERS && work <= MOST_WORK) {
            return self.asymptotic(belief);
        }
        let all: Vec<f64> = (0..count as usize)
            .map(|k| low + stride * k as f64)
            .collect();
        let mut open = vec![0.0; all.len()];
        let mut known = 0.0;
        for ((f, w), (from, to, _)) in nodes.iter().zip(&reach) {
            let at = self.at(*f);
            let first = ((from - low) / stride).floor().max(0.0) as usize;
            let last = (((to - low) / stride).ceil() as usize).min(all.len() - 1);
            for k in first..=last {
                let log = at.log_density(all[k]);
                let p = log.exp();
                if p > 0.0 {
                    open[k] += w * p;
                    known -= w * p * log;
                }
            }
        }
        stride * (entropy(&open) - known)
    }

    /// Positive values, over their logarithm.
    fn positive(&self, belief: Belief) -> f64 {
        let Some(nodes) = self.nodes(belief) else {
            return self.asymptotic(belief);
        };
        let at: Vec<(Distribution, f64)> = nodes.iter().map(|(f, w)| (self.at(*f), *w)).collect();
        let spread = |d: &Distribution| d.variance().sqrt() / d.mean();
        let logs: Vec<f64> = at.iter().map(|(d, _)| d.mean().ln()).collect();
        let wide = at.iter().map(|(d, _)| spread(d)).fold(0.0, f64::max);
        let fine = at
            .iter()
            .map(|(d, _)| spread(d))
            .fold(f64::INFINITY, f64::min);
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = logs.iter().copied().filter(|x| x.is_finite());
        let low = low.fold(f64::INFINITY, f64::min) - 37.0 * wide * wide - FAR * wide;
        let high = top + (1.0 + 40.0 * wide * wide + FAR * wide).ln();
        // Densities of logarithms are analytic within half a turn, or some of their own widths.
        let step = 0.2 * fine.min(1.0);
        let count = (high - low) / step;
        if !(count <= MOST_ANSWERS && count * at.len() as f64 <= MOST_WORK) {
            return self.asymptotic(belief);
        }
        let mut all = vec![0.0; count.ceil() as usize];
        let mut known = 0.0;
        for (own, w) in at.iter().filter(|(d, _)| d.mean() > 0.0) {
            for (k, open) in all.iter_mut().enumerate() {
                let t = low + step * k as f64;
                let log = own.log_density(t.exp()) + t;
                let p = log.exp();
                if p > 0.0 {
                    *open += w * p;
                    known -= w * p * log;
                }
            }
        }
        step * (entropy(&all) - known)
    }
}

/// `-p log p - (1 - p) log(1 - p)`.
fn binary(p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return 0.0;
    }
    -p * p.ln() - (1.0 - p) * (-p).ln_1p()
}

fn entropy(p: &[f64]) -> f64 {
    let each = p.iter().filter(|p| **p > 0.0);
    each.map(|p| -p * p.ln()).sum()
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
