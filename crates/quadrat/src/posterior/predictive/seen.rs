//! The distribution of a new observation, as a mixture.

use super::factor::LogNormals;
use super::{CLOSEST, Crossed, NODES, Normal, Predictive};
use crate::likelihood::distribution::{Distribution, PanjerMixture};
use crate::link::Link;
use crate::special::root::crossing;
use crate::special::scalar::normal_pdf;

/// Densities beyond so many standard deviations are no numbers.
const FAR: f64 = 38.0;
/// Ends of a bracket of counts this many times apart are halved on a logarithmic scale.
const FAR_APART: f64 = 100.0;

impl Predictive {
    /// What a row predicts, ready to be asked.
    pub fn row(&self, components: &[Normal]) -> Seen<'_> {
        let mut seen = Seen {
            predictive: self,
            points: Vec::new(),
            whole: None,
            factors: LogNormals::default(),
            narrow: Vec::new(),
            crossed: Vec::new(),
            total: 0.0,
        };
        let components: Vec<Normal> = components
            .iter()
            .filter(|c| !self.crossed(**c, &mut seen.crossed))
            .copied()
            .collect();
        seen.take(&components);
        seen.whole = PanjerMixture::new(&seen.points);
        let points: f64 = seen.points.iter().map(|(_, w)| w).sum();
        let wide: f64 = seen.wide().map(|c| c.weight).sum();
        seen.total = points + seen.factors.total() + wide;
        seen
    }
}

impl Predictive {
    /// Density of observations `y = h(f)` without noise: `sum_f p(f) / |h'(f)|` over the latent
    /// values `f` at which `y` is observed.
    fn density_without_noise(&self, c: Normal, y: f64) -> f64 {
        let range = (c.mean - FAR * c.sd, c.mean + FAR * c.sd);
        let at = |f: f64| {
            let h = 1e-4 * c.sd;
            let slope = (self.at(&c, f + h).mean() - self.at(&c, f - h).mean()) / (2.0 * h);
            normal_pdf((f - c.mean) / c.sd) / (c.sd * slope.abs())
        };
        self.centres(c, y, range).into_iter().map(at).sum()
    }
}

/// A mixture of distributions of observations.
pub(crate) struct Seen<'a> {
    predictive: &'a Predictive,
    points: Vec<(Distribution, f64)>,
    /// The points once more, where their probabilities follow from each other.
    whole: Option<PanjerMixture>,
    /// Components whose observations are a factor of `e^f`.
    factors: LogNormals,
    /// Components of the latent mixture that are far wider than an observation is uncertain.
    narrow: Vec<Normal>,
    /// Those of many counts.
    crossed: Vec<Crossed>,
    /// Sum of all weights.
    total: f64,
}

impl Seen<'_> {
    /// Makes parts of components whose counts are not many.
    fn take(&mut self, components: &[Normal]) {
        let predictive = self.predictive;
        let exact = components
            .iter()
            .map(|c| Some((predictive.blurred(*c)?, c.weight)));
        if let Some(points) = exact.collect() {
            self.points = points;
            return;
        }
        if let Some(nodes) = predictive.nodes_of_all(components) {
            let Normal { row, node, .. } = components[0];
            let one = |(f, w)| (predictive.seen(row, node, None, f), w);
            self.points = nodes.into_iter().map(one).collect();
            return;
        }
        for &c in components {
            if predictive.log_normals(&c, &mut self.factors) {
                continue;
            }
            if c.sd > 0.0 && predictive.wanted(c) > NODES.1 as f64 {
                self.narrow.push(c);
            } else {
                let nodes = predictive.nodes(c).into_iter();
                self.points
                    .extend(nodes.map(|(f, w)| (predictive.at(&c, f), w)));
            }
        }
    }

    /// Components without points.
    fn wide(&self) -> impl Iterator<Item = &Normal> {
        let crossed = self.crossed.iter().flat_map(|all| &all.components);
        self.narrow.iter().chain(crossed)
    }

    pub fn cdf(&self, y: f64) -> f64 {
        match self.factors.is_empty() {
            true => self.share(y, 0.0),
            false => self.share(y, y.max(0.0).ln()),
        }
    }

    /// `P(Y <= y)`, of what is a factor by the logarithm of `y`, which may be a number where `y` is
    /// none.
    fn share(&self, y: f64, log_y: f64) -> f64 {
        let factors = self.factors.at_most(log_y);
        if y == f64::INFINITY {
            return 1.0 - (self.factors.total() - factors) / self.total;
        }
        let whole = self.whole.as_ref().and_then(|whole| whole.at_most(y));
        let points = || self.points.iter().map(|(at, w)| w * at.cdf(y)).sum();
        let points: f64 = whole.unwrap_or_else(points);
        let one = |c: &Normal| c.weight * self.predictive.average(*c, y, |at| at.cdf(y));
        let narrow: f64 = self.narrow.iter().map(one).sum();
        let many = |all: &Crossed| all.crossing.at_most(y, all.step, &all.latent);
        let many: f64 = self.crossed.iter().map(many).sum();
        (points + factors + narrow + many) / self.total
    }

    /// Log density of a new observation, or log probability of a count.
    pub fn log_density(&self, y: f64) -> f64 {
        let total = self.total;
        let points = self
            .points
            .iter()
            .map(|(at, w)| (w / total).ln() + at.log_density(y));
        let wide = self.wide().flat_map(|c| {
            if self.predictive.wanted(*c) <= NODES.1 as f64 {
                let at =
                    |(f, w): (f64, f64)| (w / total).ln() + self.predictive.at(c, f).log_density(y);
                return self.predictive.nodes(*c).into_iter().map(at).collect();
            }
            let average = match self.predictive.at(c, c.mean).variance() == 0.0 {
                true => self.predictive.density_without_noise(*c, y),
                false => self.predictive.average(*c, y, |at| at.log_density(y).exp()),
            };
            vec![(c.weight / total).ln() + average.ln()]
        });
        let factors = self.factors.log_densities(y);
        let factors = factors.map(|log| log - total.ln());
        let logs: Vec<f64> = points.chain(factors).chain(wide).collect();
        crate::posterior::prediction::log_sum_exp(&logs)
    }

    /// The smallest value that at least a share `p` lies at or below.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.predictive.is_factor() {
            let (lo, hi) = self.log_bracket(p);
            if lo.is_nan() {
                return lo;
            }
            // Values may be tens of powers of ten apart.
            return crossing((lo, hi), |_| 2e-10, |l| self.share(l.exp(), l) - p).exp();
        }
        let is_discrete = self.points.iter().any(|(at, _)| at.is_discrete())
            || self
                .wide()
                .any(|c| self.predictive.at(c, c.mean).is_discrete());
        let (lo, hi) = self.bracket(p);
        if lo.is_nan() {
            return lo;
        }
        if !is_discrete && self.predictive.likelihood.link() == Some(Link::Exp) {
            // Beyond the noise on a logarithmic scale: values may be tens of powers of ten apart.
            let unit = self.noise();
            let [lo, hi] = [lo, hi].map(|y| (y / unit).asinh());
            let value = |u: f64| self.cdf(unit * u.sinh()) - p;
            return unit * crossing((lo, hi), |_| 1e-10, value).sinh();
        }
        if !is_discrete {
            let width = |y: f64| 1e-10 * (2.0 * y.abs() + 1e-300);
            return crossing((lo, hi), width, |y| self.cdf(y) - p);
        }
        let (mut lo, mut hi) = (lo.floor() - 1.0, hi.ceil());
        for _ in 0..200 {
            if hi - lo <= hi.abs().mul_add(CLOSEST, 1.0) {
                break;
            }
            // Counts may be tens of powers of ten apart.
            let middle = match hi > FAR_APART * lo.max(1.0) {
                true => (lo.max(1.0) * hi).sqrt().floor(),
                false => (0.5 * (lo + hi)).floor(),
            };
            if self.cdf(middle) >= p {
                hi = middle;
            } else {
                lo = middle;
            }
        }
        hi
    }

    /// The smallest sd of an observation at a latent value.
    fn noise(&self) -> f64 {
        let points = self.points.iter().map(|(at, _)| at.variance().sqrt());
        let narrow = self.narrow.iter();
        let narrow = narrow.map(|c| self.predictive.at(c, c.mean).variance().sqrt());
        let least = points.chain(narrow).filter(|sd| *sd > 0.0);
        let least = least.fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 1.0 }
    }

    /// An interval that holds the logarithm of the quantile of a factor.
    fn log_bracket(&self, p: f64) -> (f64, f64) {
        let factors = self.factors.parts();
        let points = self.points.iter().map(|(at, _)| (at.mean().ln(), 1.0));
        let narrow = self.narrow.iter();
        let narrow = narrow.map(|c| (self.predictive.at(c, c.mean).mean().ln(), c.sd));
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for (mean, sd) in factors.chain(points).chain(narrow) {
            (lo, hi) = (lo.min(mean - sd), hi.max(mean + sd));
        }
        if !(lo.is_finite() && hi.is_finite()) {
            return (f64::NAN, f64::NAN);
        }
        self.widened((lo, hi), |l| self.share(l.exp(), l), p)
    }

    /// The same interval, wider until its ends have less and more than a share of `p` below them.
    fn widened(
        &self,
        (mut lo, mut hi): (f64, f64),
        share: impl Fn(f64) -> f64,
        p: f64,
    ) -> (f64, f64) {
        let mut width = (hi - lo).max(1e-300);
        for _ in 0..200 {
            if share(lo) < p {
                break;
            }
            lo -= width;
            width *= 2.0;
        }
        let mut width = (hi - lo).max(1e-300);
        for _ in 0..200 {
            if share(hi) >= p {
                break;
            }
            hi += width;
            width *= 2.0;
        }
        (lo, hi)
    }

    /// An interval that holds the quantile.
    fn bracket(&self, p: f64) -> (f64, f64) {
        let spread = |at: &Distribution| (at.mean(), at.variance().sqrt());
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        let ends = self.wide().flat_map(|c| {
            let end = |z: f64| self.predictive.at(c, c.mean + z * c.sd);
            [end(-1.0), end(0.0), end(1.0)]
        });
        let ends: Vec<Distribution> = ends.collect();
        for at in self.points.iter().map(|(at, _)| at).chain(&ends) {
            let (mean, sd) = spread(at);
            if mean.is_finite() && sd.is_finite() {
                (lo, hi) = (lo.min(mean - sd), hi.max(mean + sd));
            }
        }
        if self.predictive.likelihood.is_linear() {
            // There may be neither mean nor variance.
            for c in &self.narrow {
                (lo, hi) = (lo.min(c.mean - c.sd), hi.max(c.mean + c.sd));
            }
        }
        if lo > hi {
            return (f64::NAN, f64::NAN);
        }
        self.widened((lo, hi), |y| self.cdf(y), p)
    }
}
