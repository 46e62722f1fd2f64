//! What counts and positive values tell, answer by answer.

use super::observed::Observed;
use crate::likelihood::adaptive::{Panels, integrate};
use crate::likelihood::distribution::{Distribution, log_binomial};
use crate::likelihood::local::Belief;
use crate::link::Link;
use crate::special::CountMean;
use crate::special::scalar::normal_pdf;

/// Sds of a belief, and of a report about its mean, over which answers are looked for.
const REACH: (f64, f64) = (8.0, 9.5);
/// Nats below its largest value where an integrand over `f` ends: 1e-14.
const DEEP: f64 = 32.0;
/// Steps over `f` in sds of what is believed after the answer, and in units of `f`, about which the
/// links are analytic within a quarter of a turn: the second leaves `exp(-pi^2 / 0.35) = 6e-13`.
const STEPS: (f64, f64) = (0.5, 0.35);
/// Sds of a belief beyond which `f` is integrated over adaptively.
const WIDE: f64 = 30.0;
/// Fisher's information beyond which an answer tells `f` but for a normal error, to 1e-12 nats.
const SHARP: f64 = 1e12;
/// Counts that are summed one by one: all of so few, and so many at either end.
const FEW: f64 = 256.0;
const HEAD: f64 = 64.0;

/// One observation of a belief.
pub(super) struct BeliefObserved<'a> {
    of: &'a Observed,
    belief: Belief,
    sd: f64,
}

impl<'a> BeliefObserved<'a> {
    pub fn new(of: &'a Observed, belief: Belief) -> Self {
        let sd = belief.variance.sqrt();
        Self { of, belief, sd }
    }

    /// `log p(y | f)`, of counts continued to real ones.
    fn log_p(&self, y: f64, f: f64) -> f64 {
        let count = |mean: f64, dispersion| match (mean > 0.0, y > 0.0) {
            (true, _) => CountMean::new(mean, dispersion).log_probability(y),
            (false, true) => f64::NEG_INFINITY,
            (false, false) => 0.0,
        };
        match self.of.at(f) {
            Distribution::Poisson(one) => count(one.mean, 0.0),
            Distribution::NegativeBinomial(one) => count(one.mean, one.dispersion),
            Distribution::Binomial(one) => {
                // Both links are odd about one half: of what is nearly one nothing is left.
                let n = one.trials as f64;
                let failing = self.of.at(-f).mean() / n;
                log_binomial(y, n - y, one.probability.ln(), failing.ln())
            }
            // A mean of zero has no density.
            other if other.mean() > 0.0 => other.log_density(y),
            _ => f64::NEG_INFINITY,
        }
    }

    /// Log density of the belief, but for its constant.
    fn log_prior(&self, f: f64) -> f64 {
        let z = (f - self.belief.mean) / self.sd;
        -0.5 * z * z
    }

    /// The slope of `log p(y | f)`: all families here have `(y - mu) mu' / V`.
    fn slope(&self, y: f64, f: f64) -> f64 {
        let at = self.of.at(f);
        let score = (y - at.mean()) * self.of.slope(f) / self.of.variance(f);
        match (score.is_nan(), y > at.mean()) {
            (false, _) => score,
            (true, true) => f64::INFINITY,
            (true, false) if y == at.mean() => 0.0,
            (true, false) => f64::NEG_INFINITY,
        }
    }

    /// The latent value that is likeliest after an answer.
    fn peak(&self, y: f64) -> f64 {
        let Belief { mean, variance } = self.belief;
        let (mut low, mut high) = (mean - 40.0 * self.sd, mean + 40.0 * self.sd);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            match self.slope(y, middle) > (middle - mean) / variance {
                true => low = middle,
                false => high = middle,
            }
            let own = (self.of.fisher(middle) + 1.0 / variance).sqrt();
            // A tenth of a step.
            if (high - low) * own < 0.05 {
                break;
            }
        }
        0.5 * (low + high)
    }

    /// Whether two latent values have the same mean.
    fn is_even(&self) -> bool {
        self.of.likelihood.link() == Some(Link::Square)
    }

    /// `p(y) KL(f | y || f)`, never negative: what the answer `y` tells, times its probability.
    fn term(&self, y: f64) -> f64 {
        let is_even = self.is_even();
        if is_even || self.sd > WIDE {
            return self.adaptively(y, is_even);
        }
        let peak = self.peak(y);
        let own = 1.0 / (self.of.fisher(peak) + 1.0 / self.belief.variance).sqrt();
        let step = (STEPS.0 * own).min(STEPS.1);
        let mut nodes: Vec<(f64, f64)> = Vec::with_capacity(64);
        let mut top = f64::NEG_INFINITY;
        for (first, side) in [(0, 1.0), (1, -1.0)] {
            for k in first..4000 {
                let f = peak + side * step * f64::from(k);
                let (log, prior) = (self.log_p(y, f), self.log_prior(f));
                if log + prior < top - DEEP && k > 3 {
                    break;
                }
                top = top.max(log + prior);
                let z = (f - self.belief.mean) / self.sd;
                nodes.push((step * normal_pdf(z) / self.sd, log));
            }
        }
        told(&nodes)
    }

    /// The same, where one step is not enough for all.
    fn adaptively(&self, y: f64, is_even: bool) -> f64 {
        let mean = self.belief.mean;
        let (low, high) = (mean - 9.0 * self.sd, mean + 9.0 * self.sd);
        let mut panels = Panels::new(low, high);
        panels.around(mean, self.sd);
        let around = |panels: &mut Panels, f: f64| {
            let own = (self.of.fisher(f) + 1.0 / self.belief.variance).sqrt();
            panels.around(f, 2.0 / own);
        };
        if is_even {
            // The likeliest values to either side of zero, of the answer alone.
            let unit = self.of.at(1.0).mean();
            let root = (y / unit).sqrt();
            // Between them `f^2 log |f|` bends.
            panels.split(0.0);
            around(&mut panels, root);
            around(&mut panels, -root);
        } else {
            around(&mut panels, self.peak(y));
        }
        let one = |f: f64| {
            let (log, z) = (self.log_p(y, f), (f - mean) / self.sd);
            let p = normal_pdf(z) / self.sd * log.exp();
            [p, if p > 0.0 { p * log } else { 0.0 }]
        };
        let [p, known] = integrate(&panels, one).value;
        match p > 0.0 {
            true => (known - p * p.ln()).max(0.0),
            false => 0.0,
        }
    }

    /// The latent values that are looked at, up to where all is told; and what those beyond tell.
    fn ends(&self) -> ([f64; 2], f64) {
        let Belief { mean, variance } = self.belief;
        let (low, mut high) = (mean - REACH.0 * self.sd, mean + REACH.0 * self.sd);
        let is_sharp = |f: f64| self.of.fisher(f) > SHARP;
        // Where information is as large everywhere nothing grows without bounds.
        if is_sharp(low) || !is_sharp(high) {
            return ([low, high], 0.0);
        }
        let (mut from, top) = (low, high);
        for _ in 0..100 {
            let middle = 0.5 * (from + high);
            match is_sharp(middle) {
                true => high = middle,
                false => from = middle,
            }
        }
        let mut panels = Panels::new(high, top.max(high + self.sd));
        panels.split(mean);
        let beyond = |f: f64| {
            let z = (f - mean) / self.sd;
            let nats = 0.5 * ((variance * self.of.fisher(f)).ln() + z * z - 1.0);
            [normal_pdf(z) / self.sd * nats]
        };
        ([low, high], integrate(&panels, beyond).value[0])
    }

    /// Counts: `sum_y p(y) KL(f | y || f)`.
    pub fn counts(&self) -> f64 {
        let ([from, to], beyond) = self.ends();
        let window = |f: f64| {
            let at = self.of.at(f);
            let (mean, sd) = (at.mean(), at.variance().sqrt());
            // Beyond the mean tails of the negative binomial fall as exp(-y / (alpha mu)).
            let more = 36.0 * (sd * sd / mean.max(1e-300)).max(1.0);
            let reach = REACH.1 * sd;
            (
                (mean - reach - 36.0).max(0.0).floor(),
                (mean + reach + more).ceil(),
            )
        };
        let all = (0..=32).map(|k| window(from + (to - from) * f64::from(k) / 32.0));
        let (mut low, mut high) = all.fold((f64::INFINITY, 0.0_f64), |(l, h), (a, b)| {
            (l.min(a), h.max(b))
        });
        let trials = match self.of.at(self.belief.mean) {
            Distribution::Binomial(one) => one.trials as f64,
            _ => f64::INFINITY,
        };
        high = high.min(trials);
        // Of a square the least may lie between.
        if low < HEAD || self.is_even() {
            low = 0.0;
        }
        let one_by_one = |from: f64, to: f64| -> f64 {
            let count = (to - from + 1.0).max(0.0) as u32;
            (0..count).map(|k| self.term(from + f64::from(k))).sum()
        };
        if high - low < FEW {
            return beyond + one_by_one(low, high);
        }
        let (mut sum, mut first, mut last) = (0.0, low, high);
        if low == 0.0 {
            sum += one_by_one(0.0, HEAD - 1.0);
            first = HEAD;
        }
        if high > trials - HEAD {
            sum += one_by_one(trials - HEAD + 1.0, trials);
            last = trials - HEAD;
        }
        beyond + sum + self.between(first, last, trials)
    }

    /// The sum over many counts, whose terms are smooth, by its integral and the corrections of
    /// Euler and Maclaurin at its ends, with a relative error of the order of `HEAD^-5`.
    fn between(&self, first: f64, last: f64, trials: f64) -> f64 {
        let (from, to) = (first - 0.5, last + 0.5);
        // Over the logarithm of counts, of successes over that of their odds.
        let of = |y: f64| y.ln() - (1.0 - y / trials).ln();
        let back = |t: f64| 1.0 / ((-t).exp() + 1.0 / trials);
        let one = |t: f64| {
            let y = back(t);
            [self.term(y) * y * (1.0 - y / trials)]
        };
        let mut panels = even(of(from), of(to));
        let at = self.of.at(self.belief.mean);
        let wide = at
            .variance()
            .sqrt()
            .hypot(self.of.slope(self.belief.mean) * self.sd);
        let wide = wide / (at.mean() * (1.0 - at.mean() / trials));
        if wide > 0.0 && wide < 1.0 {
            panels.around(of(at.mean()), wide);
        }
        let all = integrate(&panels, one).value[0];
        let end = |x: f64| {
            let g = [-1.5, -0.5, 0.5, 1.5].map(|d| self.term(x + d));
            let third = g[3] - 3.0 * g[2] + 3.0 * g[1] - g[0];
            (g[1] - g[2]) / 24.0 + 17.0 / 5760.0 * third
        };
        all + end(to) - end(from)
    }

    /// Positive values: the integral over their logarithm.
    pub fn positive(&self) -> f64 {
        let ([from, to], beyond) = self.ends();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 0..=32 {
            let at = self.of.at(from + (to - from) * f64::from(k) / 32.0);
            let (log, spread) = (at.mean().ln(), at.variance().sqrt() / at.mean());
            if log.is_finite() && spread.is_finite() {
                low = low.min(log - 37.0 * spread * spread - REACH.1 * spread);
                high = high.max(log + (1.0 + 40.0 * spread * spread + REACH.1 * spread).ln());
            }
        }
        if low >= high {
            return f64::NAN;
        }
        let mut panels = even(low, high);
        let at = self.of.at(self.belief.mean);
        let spread = at.variance().sqrt() / at.mean();
        if at.mean() > 0.0 && spread > 0.0 {
            panels.around(at.mean().ln(), spread.min(1.0));
        }
        let one = |t: f64| [self.term(t.exp()) * t.exp()];
        beyond + integrate(&panels, one).value[0]
    }
}

/// Panels of one size.
fn even(from: f64, to: f64) -> Panels {
    let count = ((to - from) / 1.5).ceil().clamp(6.0, 48.0);
    let mut panels = Panels::new(from, to);
    (1..count as u32).for_each(|k| panels.split(from + (to - from) * f64::from(k) / count));
    panels
}

/// `sum w p (log p - log sum w p)` of weights and logs of `p`; where the weights are those of the
/// whole belief every term is taken as one that is not negative, and small ones keep their digits.
fn told(nodes: &[(f64, f64)]) -> f64 {
    let all: f64 = nodes.iter().map(|(w, _)| w).sum();
    let base = nodes[0].1;
    if !base.is_finite() {
        return 0.0;
    }
    if (all - 1.0).abs() < 1e-11 {
        let beside: f64 = nodes.iter().map(|(w, l)| w * (l - base).exp_m1()).sum();
        let mean = 1.0 + beside / all;
        let each = nodes.iter().map(|(w, l)| {
            let x = ((l - base).exp_m1() - beside / all) / mean;
            w * excess(x)
        });
        return base.exp() * mean * each.sum::<f64>() / all;
    }
    let p: f64 = nodes.iter().map(|(w, l)| w * (l - base).exp()).sum();
    let log = p.ln();
    let each = nodes.iter().map(|(w, l)| match (l - base).exp() {
        p if p > 0.0 => w * p * (l - base - log),
        _ => 0.0,
    });
    (base.exp() * each.sum::<f64>()).max(0.0)
}

/// `(1 + x) log(1 + x) - x`, zero or more.
pub(super) fn excess(x: f64) -> f64 {
    if x.abs() < 1e-3 {
        // The next term is 1e-13 of the first.
        return x * x * (0.5 + x * (-1.0 / 6.0 + x * (1.0 / 12.0 + x * (-0.05 + x / 30.0))));
    }
    if x <= -1.0 {
        return 1.0;
    }
    (1.0 + x) * x.ln_1p() - x
}
