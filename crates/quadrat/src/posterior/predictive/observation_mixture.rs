//! The distribution of a new observation, as a mixture.

use super::factor::LogNormals;
use super::{Crossed, LatentComponent, NODES, Predictive};
use crate::likelihood::distribution::{Distribution, PanjerMixture};
use crate::special::scalar::{log_sum_exp, normal_pdf};

/// Densities beyond so many standard deviations are no numbers.
const FAR: f64 = 38.0;

impl Predictive {
    /// What a row predicts, ready to be asked.
    pub fn row(&self, components: &[LatentComponent]) -> ObservationMixture<'_> {
        let mut seen = ObservationMixture {
            predictive: self,
            points: Vec::new(),
            whole: None,
            factors: LogNormals::default(),
            narrow: Vec::new(),
            crossed: Vec::new(),
            total: 0.0,
        };
        let components: Vec<LatentComponent> = components
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

    /// Density of observations `y = h(f)` without noise: `sum_f p(f) / |h'(f)|` over the latent
    /// values `f` at which `y` is observed.
    fn density_without_noise(&self, c: LatentComponent, y: f64) -> f64 {
        let range = (c.mean - FAR * c.sd, c.mean + FAR * c.sd);
        let at = |f: f64| {
            let slope = self.slope(&c, f);
            normal_pdf((f - c.mean) / c.sd) / (c.sd * slope.abs())
        };
        self.centres(c, y, range).into_iter().map(at).sum()
    }
}

/// A mixture of distributions of observations.
pub(crate) struct ObservationMixture<'a> {
    pub(super) predictive: &'a Predictive,
    pub(super) points: Vec<(Distribution, f64)>,
    /// The points once more, where their probabilities follow from each other.
    whole: Option<PanjerMixture>,
    /// Components whose observations are a factor of `e^f`.
    pub(super) factors: LogNormals,
    /// Components of the latent mixture that are far wider than an observation is uncertain.
    pub(super) narrow: Vec<LatentComponent>,
    /// Those of many counts.
    crossed: Vec<Crossed>,
    /// Sum of all weights.
    total: f64,
}

impl ObservationMixture<'_> {
    /// Makes parts of components whose counts are not many.
    fn take(&mut self, components: &[LatentComponent]) {
        let predictive = self.predictive;
        let exact = components
            .iter()
            .map(|c| Some((predictive.blurred(*c)?, c.weight)));
        if let Some(points) = exact.collect() {
            self.points = points;
            return;
        }
        if let Some(nodes) = predictive.nodes_of_all(components) {
            let LatentComponent { row, node, .. } = components[0];
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
    pub(super) fn wide(&self) -> impl Iterator<Item = &LatentComponent> {
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
    pub(super) fn share(&self, y: f64, log_y: f64) -> f64 {
        let factors = self.factors.at_most(log_y);
        if y == f64::INFINITY {
            return 1.0 - (self.factors.total() - factors) / self.total;
        }
        let whole = self.whole.as_ref().and_then(|whole| whole.at_most(y));
        let points = || self.points.iter().map(|(at, w)| w * at.cdf(y)).sum();
        let points: f64 = whole.unwrap_or_else(points);
        let one = |c: &LatentComponent| c.weight * self.predictive.average(*c, y, |at| at.cdf(y));
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
            let average = match self.predictive.at(c, c.mean).is_certain() {
                true => self.predictive.density_without_noise(*c, y),
                false => self.predictive.average(*c, y, |at| at.log_density(y).exp()),
            };
            vec![(c.weight / total).ln() + average.ln()]
        });
        let factors = self.factors.log_densities(y);
        let factors = factors.map(|log| log - total.ln());
        let logs: Vec<f64> = points.chain(factors).chain(wide).collect();
        log_sum_exp(&logs)
    }
}
