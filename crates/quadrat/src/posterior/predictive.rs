//! From latent values to means of responses and to new observations.

mod factor;
mod moments;
mod observation_mixture;
mod quantile;

pub(crate) use observation_mixture::ObservationMixture;

use std::sync::Arc;

use super::amounts::Amounts;
use super::normal_mixture::RowMixtures;
use crate::inference::sites::pair::scale;
use crate::likelihood::adaptive::{Panels, integrate};
use crate::likelihood::crossing::Crossing;
use crate::likelihood::distribution::{Distribution, MOST_TERMS};
use crate::likelihood::local::Circumstances;
use crate::likelihood::{Likelihood, Outcomes};
use crate::link::{CLIP, Link};
use crate::special::scalar::normal_pdf;

/// Standard deviations on either side of a latent mean that are integrated over.
const REACH: f64 = 7.0;
/// Fewest and most nodes of a component: a step of two thirds of a standard deviation is exact to
/// rounding for smooth functions. Where more would be needed, distributions are integrated
/// adaptively.
const NODES: (usize, usize) = (21, 641);
/// Counts of a larger variance are not summed term by term.
const MANY: f64 = 100.0;
/// How far counts are asked for: at latent values of so many sds, so many sds of the counts there.
const FAR: (f64, f64) = (5.0, 20.0);
/// Quantiles of counts are whole numbers, and no closer than this share of themselves, which is
/// beyond what their probabilities tell.
const CLOSEST: f64 = 1e-13;
/// Values of a spread that is a function: this step in standard deviations, which integrates a
/// normal density to 3e-18, and so many of them to either side, which leave out 1e-6.
const SPREAD_STEP: f64 = 0.7;
const SPREAD_STEPS: i32 = 7;

/// What is predicted of a latent value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Predictive {
    likelihood: Arc<Likelihood>,
    /// The likelihood's hyperparameters at every node of their integration.
    own: Vec<Vec<f64>>,
    what: What,
    circumstances: Circumstances,
    /// At which exposure, or among how many trials, every row is predicted.
    amounts: Amounts,
    /// How many times the mean of an observation is predicted, of every row; once where empty.
    sizes: Vec<f64>,
    /// The noise variance or dispersion, where it is a function.
    spread: Option<Spread>,
}

/// A noise variance or dispersion `link(g)`, with what is believed of `g` at every row.
#[derive(Debug, Clone, PartialEq)]
struct Spread {
    g: RowMixtures,
    link: Link,
}

/// The mean of an observation, or an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Mean,
    Observation,
}

/// A component of the latent mixture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LatentComponent {
    pub row: usize,
    pub node: usize,
    pub weight: f64,
    pub mean: f64,
    pub sd: f64,
    /// The likelihood's first hyperparameter, where it is a function.
    pub spread: Option<f64>,
}

impl Predictive {
    /// `variance` is the known part of the noise of a new row.
    pub fn new(likelihood: &Likelihood, own: Vec<Vec<f64>>, what: What, variance: f64) -> Self {
        Self {
            likelihood: Arc::new(likelihood.clone()),
            own,
            what,
            circumstances: Circumstances {
                variance,
                ..Circumstances::default()
            },
            amounts: Amounts::default(),
            sizes: Vec::new(),
            spread: None,
        }
    }

    /// The same at exposures, or among trials, of its rows.
    pub fn with_amounts(mut self, amounts: Amounts) -> Self {
        self.amounts = amounts;
        self
    }

    /// The same of so many times the mean of an observation, row by row: expected successes of so
    /// many trials.
    pub fn with_sizes(mut self, sizes: Vec<f64>) -> Self {
        self.sizes = sizes;
        self
    }

    /// The same of latent values that are told in so many strata at every node.
    pub fn in_strata(mut self, strata: usize) -> Self {
        let own = self.own.into_iter();
        self.own = own.flat_map(|own| vec![own; strata]).collect();
        self
    }

    fn size(&self, row: usize) -> f64 {
        self.sizes.get(row).copied().unwrap_or(1.0)
    }

    fn exposure(&self, row: usize) -> f64 {
        let all = &self.amounts.exposure;
        all.get(row).copied().unwrap_or(self.circumstances.exposure)
    }

    /// The same with a first hyperparameter of the likelihood that is `link(g)`.
    pub fn with_spread(mut self, g: RowMixtures, link: Link) -> Self {
        self.spread = Some(Spread { g, link });
        self
    }

    /// The components of a row, for every one of them and each of some values of its spread.
    pub fn spread_out(&self, row: usize, components: Vec<LatentComponent>) -> Vec<LatentComponent> {
        let Some(Spread { g, link }) = &self.spread else {
            return components;
        };
        let g: Vec<_> = g.row(row).components().collect();
        let one = |c: LatentComponent| {
            let (_, mean, sd) = g[c.node];
            let count = if sd > 0.0 { SPREAD_STEPS } else { 0 };
            (-count..=count).map(move |i| {
                let z = SPREAD_STEP * f64::from(i);
                let share = if sd > 0.0 {
                    SPREAD_STEP * normal_pdf(z)
                } else {
                    1.0
                };
                LatentComponent {
                    weight: c.weight * share,
                    spread: Some(scale(*link, mean + sd * z)),
                    ..c
                }
            })
        };
        components.into_iter().flat_map(one).collect()
    }

    /// Noise variance at every node of the hyperparameters, where an observation is the latent
    /// value plus normal noise: of every row in turn, or of all rows where it is the same.
    pub fn normal_noise(&self) -> Option<Vec<f64>> {
        let one = |row: usize, node: usize| match self.seen(row, node, None, 0.0) {
            Distribution::Normal(normal) if normal.mean == 0.0 => Some(normal.sd * normal.sd),
            _ => None,
        };
        let nodes = self.own.len();
        let rows = 0..self.amounts.variance.len().max(1);
        let all = rows.flat_map(|row| (0..nodes).map(move |node| (row, node)));
        (self.what == What::Observation && self.spread.is_none())
            .then(|| all.map(|(row, node)| one(row, node)).collect())
            .flatten()
    }

    /// The distribution of an observation, at a latent value of a component.
    fn at(&self, c: &LatentComponent, f: f64) -> Distribution {
        self.seen(c.row, c.node, c.spread, f)
    }

    /// The slope of the mean of an observation, at a latent value of a component.
    fn slope(&self, c: &LatentComponent, f: f64) -> f64 {
        let h = 1e-4 * c.sd;
        (self.at(c, f + h).mean() - self.at(c, f - h).mean()) / (2.0 * h)
    }

    fn seen(&self, row: usize, node: usize, spread: Option<f64>, f: f64) -> Distribution {
        let own = &self.own[node];
        let local = self.likelihood.local();
        let usual = self.circumstances.trials;
        let own_noise = self.amounts.variance.get(row);
        let circumstances = Circumstances {
            exposure: self.exposure(row),
            trials: self.amounts.trials.get(row).copied().unwrap_or(usual),
            variance: *own_noise.unwrap_or(&self.circumstances.variance),
        };
        match spread {
            None => local.observation(own, &circumstances, f),
            Some(spread) => {
                let own: Vec<f64> = std::iter::once(spread).chain(own.iter().copied()).collect();
                local.observation(&own, &circumstances, f)
            }
        }
    }

    /// How many nodes of a component are exact to rounding: more where the latent value is less
    /// certain than an observation at it. Infinitely many where that cannot be told, as without a
    /// variance.
    fn wanted(&self, c: LatentComponent) -> f64 {
        if let Some(ratio) = self.relative(&c) {
            return NODES.0 as f64 * ratio;
        }
        let (low, high) = (self.at(&c, c.mean - c.sd), self.at(&c, c.mean + c.sd));
        let moved = (high.mean() - low.mean()).abs();
        let noise = self.at(&c, c.mean).variance().sqrt();
        let ratio = moved / noise.max(f64::MIN_POSITIVE);
        if noise.is_finite() && ratio.is_finite() {
            NODES.0 as f64 * ratio
        } else {
            f64::INFINITY
        }
    }

    /// So many of them are taken.
    fn count(&self, c: LatentComponent) -> usize {
        self.wanted(c).clamp(NODES.0 as f64, NODES.1 as f64) as usize | 1
    }

    /// Latent values and weights that stand for a component.
    fn nodes(&self, c: LatentComponent) -> Vec<(f64, f64)> {
        if c.sd == 0.0 {
            return vec![(c.mean, c.weight)];
        }
        let count = self.count(c);
        let step = 2.0 * REACH / (count - 1) as f64;
        let all = (0..count).map(|i| -REACH + step * i as f64);
        all.map(|z| (c.mean + c.sd * z, c.weight * step * normal_pdf(z)))
            .collect()
    }

    /// Latent values and weights that stand for all components: one grid, as fine as the finest of
    /// them needs. Nothing where their likelihoods differ or are too narrow for one, or where nodes
    /// of their own would be fewer.
    fn nodes_of_all(&self, components: &[LatentComponent]) -> Option<Vec<(f64, f64)>> {
        let first = components.first()?;
        let is_alike = |c: &LatentComponent| {
            let wide = c.sd > 0.0 && self.wanted(*c) <= NODES.1 as f64;
            wide && c.spread.is_none() && self.own[c.node] == self.own[first.node]
        };
        if components.len() < 2 || !components.iter().all(is_alike) {
            return None;
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut step, mut apart) = (f64::INFINITY, 0.0);
        for &c in components {
            let count = self.count(c);
            (low, high) = (
                low.min(c.mean - REACH * c.sd),
                high.max(c.mean + REACH * c.sd),
            );
            step = step.min(2.0 * REACH * c.sd / (count - 1) as f64);
            apart += self.factor_count(&c).unwrap_or(count as f64);
        }
        let steps = ((high - low) / step).ceil();
        if steps + 1.0 >= apart {
            return None;
        }
        let density = |f: f64| -> f64 {
            let each = components.iter();
            each.map(|c| c.weight / c.sd * normal_pdf((f - c.mean) / c.sd))
                .sum()
        };
        let all = (0..=steps as usize).map(|i| low + step * i as f64);
        Some(all.map(|f| (f, step * density(f))).collect())
    }

    /// The average of a function of the distribution of an observation over a component, where that
    /// is narrow in `f`: by adaptive integration around the latent values at which `y` is the mean.
    fn average(&self, c: LatentComponent, y: f64, value: impl Fn(&Distribution) -> f64) -> f64 {
        let (low, high) = (c.mean - REACH * c.sd, c.mean + REACH * c.sd);
        let centres = self.centres(c, y, (low, high));
        let low = centres.iter().fold(low, |low, x| low.min(x - c.sd));
        let high = centres.iter().fold(high, |high, x| high.max(x + c.sd));
        let mut panels = Panels::new(low, high);
        panels.around(c.mean, c.sd);
        for centre in centres {
            let at = self.at(&c, centre);
            let slope = match self.likelihood.is_linear() {
                true => 1.0,
                false => self.slope(&c, centre),
            };
            // As wide as its density is high, whether it has a variance or not.
            let width = (-at.log_density(y)).exp() / slope.abs();
            if width.is_finite() && width > 0.0 {
                panels.around(centre, width);
            }
        }
        let weighted = |f: f64| {
            let z = (f - c.mean) / c.sd;
            [normal_pdf(z) / c.sd * value(&self.at(&c, f))]
        };
        integrate(&panels, weighted).value[0]
    }

    /// Where the mean of an observation is `y`, if anywhere.
    fn centres(&self, c: LatentComponent, y: f64, (low, high): (f64, f64)) -> Vec<f64> {
        if self.likelihood.is_linear() {
            return vec![y];
        }
        if !self.is_monotone() {
            let root = (y.max(0.0) / self.exposure(c.row)).sqrt();
            return vec![-root, root];
        }
        let (mut inside, mut outside) = (low, high);
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            if self.at(&c, middle).mean() <= y {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        vec![inside]
    }

    /// How many ranks there are, where ranks are asked for.
    pub fn ranks(&self) -> Option<usize> {
        self.likelihood.rank_count().filter(|_| !self.is_mean())
    }

    /// Whether new counts are asked for.
    pub fn is_count(&self) -> bool {
        self.likelihood.counts().is_some() && !self.is_mean()
    }

    /// Whether new observations are whole numbers.
    pub fn is_discrete(&self) -> bool {
        let is_whole = match self.likelihood.outcomes() {
            Outcomes::Counts(_)
            | Outcomes::Answers(_)
            | Outcomes::Successes { .. }
            | Outcomes::Ranks(_) => true,
            Outcomes::Values(_) | Outcomes::Intervals(_) | Outcomes::Bounds => false,
        };
        is_whole && !self.is_mean()
    }

    /// Whether means of observations are asked for.
    pub fn is_mean(&self) -> bool {
        self.what == What::Mean
    }

    /// The mean of an observation of a row at the latent value `f`.
    pub fn mean_at(&self, row: usize, f: f64) -> f64 {
        self.size(row) * self.seen(row, 0, None, f).mean()
    }

    /// The quantile of the mean from that of the latent value, where that is monotone.
    pub fn mean_quantile(&self, row: usize, latent: f64) -> f64 {
        // Links know no larger values.
        match latent > CLIP && self.likelihood.link() == Some(Link::Exp) {
            true => f64::INFINITY,
            false => self.mean_at(row, latent),
        }
    }

    /// Whether a larger latent value always means a larger mean.
    pub fn is_monotone(&self) -> bool {
        self.likelihood.link() != Some(Link::Square)
    }

    /// The latent values between which the mean is at most `y`, searched between `low` and `high`.
    pub fn below(&self, row: usize, y: f64, low: f64, high: f64) -> (f64, f64) {
        let root = |mut inside: f64, mut outside: f64| {
            for _ in 0..200 {
                let middle = 0.5 * (inside + outside);
                if self.mean_at(row, middle) <= y {
                    inside = middle;
                } else {
                    outside = middle;
                }
            }
            inside
        };
        if self.is_monotone() {
            let top = if self.mean_at(row, high) <= y {
                f64::INFINITY
            } else {
                root(low, high)
            };
            let top = if self.mean_at(row, low) > y {
                f64::NEG_INFINITY
            } else {
                top
            };
            return (f64::NEG_INFINITY, top);
        }
        let edge = (y.max(0.0) / self.exposure(row)).sqrt();
        (-edge, edge)
    }

    /// The distribution of an observation over a component, where it is in closed form.
    fn blurred(&self, c: LatentComponent) -> Option<Distribution> {
        match self.at(&c, c.mean) {
            Distribution::Ranks(mut ranks) => {
                // The latent value is uncertain as the noise is: one normal distribution.
                ranks.sd = ranks.sd.hypot(c.sd);
                Some(Distribution::Ranks(ranks))
            }
            Distribution::Laplace(mut laplace) if !c.sd.is_nan() => {
                laplace.blur = c.sd;
                Some(Distribution::Laplace(laplace))
            }
            _ => None,
        }
    }

    /// Puts a component with those whose counts are many, if its are.
    fn crossed(&self, c: LatentComponent, all: &mut Vec<Crossed>) -> bool {
        let Some((crossing, step)) = self.crossing(c) else {
            return false;
        };
        let latent = [c.weight, c.mean, c.sd];
        match all.iter_mut().rev().find(|all| all.crossing == crossing) {
            Some(alike) => {
                alike.step = alike.step.min(step);
                alike.latent.push(latent);
                alike.components.push(c);
            }
            None => all.push(Crossed {
                crossing,
                step,
                latent: vec![latent],
                components: vec![c],
            }),
        }
        true
    }

    /// Whether the terms of overdispersed counts are few enough to be added up, which takes less
    /// than crossings of every dispersion.
    fn has_terms(&self, c: &LatentComponent) -> bool {
        let far = self.at(c, c.mean + FAR.0 * c.sd);
        let reach = far.mean() + FAR.1 * far.variance().sqrt();
        reach < MOST_TERMS && self.wanted(*c) <= NODES.1 as f64
    }

    /// What is counted behind a component, where that is many, and the step that it takes.
    fn crossing(&self, c: LatentComponent) -> Option<(Crossing, f64)> {
        let at = self.at(&c, c.mean);
        if !(c.sd > 0.0 && at.variance() > MANY) {
            return None;
        }
        let dispersion = match at {
            Distribution::Poisson(_) => Some(0.0),
            Distribution::NegativeBinomial(at) => Some(at.dispersion),
            _ => None,
        };
        if dispersion.is_some_and(|alpha| alpha > 0.0) && self.has_terms(&c) {
            return None;
        }
        let crossing = match (&at, dispersion) {
            (_, Some(dispersion)) => Crossing::Counts {
                link: self.likelihood.link()?,
                exposure: self.exposure(c.row),
                dispersion,
            },
            (Distribution::Binomial(at), None) => Crossing::Successes {
                sigmoid: self.likelihood.sigmoid()?,
                trials: at.trials as f64,
            },
            _ => return None,
        };
        Some((crossing, crossing.step((c.mean, c.sd), at.mean())?))
    }
}

/// Components whose counts are many, and what is counted.
struct Crossed {
    crossing: Crossing,
    step: f64,
    /// Weight, mean and sd of each.
    latent: Vec<[f64; 3]>,
    components: Vec<LatentComponent>,
}

#[cfg(test)]
#[path = "predictive_tests.rs"]
mod tests;
