//! Observations that are a factor of `e^f`: `y = e^f G`, where `G` has mean one.
//!
//! Where `f ~ N(m, s^2)` is less certain than `log G`, the average is taken over `log G`:
//!
//! $$ P(Y \le y) = E_G \Phi\left(\frac{\log y - \log G - m}{s}\right) $$
//!
//! is smooth in `log G`, and a mixture of log-normal distributions. Where `G` is log-normal itself,
//! it is one.

use super::{LatentComponent, NODES, Predictive};
use crate::likelihood::distribution::Distribution;
use crate::linalg::dot;
use crate::link::Link;
use crate::special::scalar::normal_pdf;
use crate::special::{elementary, normal_cdf_into};

/// Densities of `log G` below `e^-28` of their largest are left out: less than 1e-12 in all.
const LEFT_OUT: f64 = 28.0;
/// Step of the trapezoidal rule over `log G`, over `(shape + 3 + s^-2)^-1/2`. The transform of the
/// product of the density of `log G` with a normal one of sd `s` falls to 1e-16 at the frequency of
/// steps: for a wide one as `e^(-pi w / 2)` where shapes are small and as `e^(-w^2 / 2 shape)`
/// where they are large, for a narrow one as `e^(-w^2 s^2 / 2)`.
const STEP: f64 = 0.5;
/// Most nodes of `log G`; shapes below 1e-3 need more.
const MOST: f64 = 1e5;

/// How many normal distribution functions take the time of one of a gamma variable, and of an
/// exponential one.
const GAMMA: f64 = 200.0;
const EXPONENTIAL: f64 = 4.0;
/// So many values of the normal distribution function are found at a time.
const BLOCK: usize = 256;

/// Log-normal parts of a mixture: `log y ~ N(mean, sd^2)`.
#[derive(Debug, Clone, Default)]
pub(super) struct LogNormals {
    weight: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

impl LogNormals {
    pub fn is_empty(&self) -> bool {
        self.weight.is_empty()
    }

    /// Sum of the weights.
    pub fn total(&self) -> f64 {
        self.weight.iter().sum()
    }

    /// Means and sds of `log y`.
    pub fn parts(&self) -> impl Iterator<Item = (f64, f64)> {
        self.mean.iter().copied().zip(self.sd.iter().copied())
    }

    fn push(&mut self, weight: f64, mean: f64, sd: f64) {
        self.weight.push(weight);
        self.mean.push(mean);
        self.sd.push(sd);
    }

    /// `P(log Y <= log_y)` times the sum of the weights.
    pub fn at_most(&self, log_y: f64) -> f64 {
        let (mut z, mut below) = ([0.0; BLOCK], [0.0; BLOCK]);
        let blocks = self.weight.chunks(BLOCK).zip(self.mean.chunks(BLOCK));
        let one = |((weight, mean), sd): ((&[f64], &[f64]), &[f64])| {
            let (z, below) = (&mut z[..weight.len()], &mut below[..weight.len()]);
            for ((z, mean), sd) in z.iter_mut().zip(mean).zip(sd) {
                *z = (log_y - mean) / sd;
            }
            normal_cdf_into(z, below);
            dot(weight, below)
        };
        blocks.zip(self.sd.chunks(BLOCK)).map(one).sum()
    }

    /// Log densities at `y`, each with the logarithm of its weight; nats.
    pub fn log_densities(&self, y: f64) -> impl Iterator<Item = f64> {
        let log_y = elementary::log(y.max(0.0));
        self.weight
            .iter()
            .zip(self.parts())
            .map(move |(weight, (mean, sd))| {
                if y <= 0.0 {
                    return f64::NEG_INFINITY;
                }
                let z = (log_y - mean) / sd;
                weight.ln() + normal_pdf(0.0).ln() - 0.5 * z * z - sd.ln() - log_y
            })
    }
}

/// `log G` of a shape: between which places, and how many steps.
struct LogGamma {
    shape: f64,
    low: f64,
    step: f64,
    count: f64,
}

impl LogGamma {
    /// The density of `log G` is `e^(shape (1 + g - e^g))` of its largest, and `e^g - 1 - g` is at
    /// least `k` from `(2k)^1/2` or `log(2 + 2k)` upwards, and from `-(2k)^1/2 - k` downwards.
    fn new(shape: f64, sd: f64) -> Self {
        let k = LEFT_OUT / shape;
        let root = (2.0 * k).sqrt();
        let (low, high) = (-root - k, root.min((2.0 + 2.0 * k).ln()));
        let step = STEP / (shape + 3.0 + (sd * sd).recip()).sqrt();
        Self {
            shape,
            low,
            step,
            count: ((high - low) / step).ceil() + 1.0,
        }
    }

    /// Nodes and their weights, which add up to one.
    fn nodes(&self) -> Vec<(f64, f64)> {
        let one = |i: usize| {
            let g = self.low + self.step * i as f64;
            (g, (self.shape * (g - elementary::expm1(g))).exp())
        };
        let mut all: Vec<(f64, f64)> = (0..self.count as usize).map(one).collect();
        let sum: f64 = all.iter().map(|(_, w)| w).sum();
        all.iter_mut().for_each(|(_, w)| *w /= sum);
        all
    }
}

impl Predictive {
    /// Whether observations are a factor of `e^f`.
    pub(super) fn is_factor(&self) -> bool {
        use crate::likelihood::Likelihood::{Exponential, Gamma, LogNormal};
        let is_one = matches!(*self.likelihood, Exponential(_) | Gamma(_) | LogNormal(_));
        is_one && self.likelihood.link() == Some(Link::Exp)
    }

    /// The shape of that factor.
    fn shape(&self, c: &LatentComponent) -> Option<f64> {
        match self.at(c, c.mean) {
            _ if !self.is_factor() => None,
            Distribution::Exponential(_) => Some(1.0),
            Distribution::Gamma(at) => Some(at.shape),
            _ => None,
        }
    }

    /// How many times less certain a latent value is than an observation at it, where that is a
    /// factor of `e^f`, whose logarithm varies alike at all `f`: by a root of its shape, and by one
    /// above the mean.
    pub(super) fn relative(&self, c: &LatentComponent) -> Option<f64> {
        self.shape(c).map(|shape| c.sd * (1.0 + shape.sqrt()))
    }

    /// How many normal distribution functions take the time of one of an observation.
    fn cost(&self, c: &LatentComponent) -> f64 {
        match self.at(c, c.mean) {
            Distribution::Exponential(_) => EXPONENTIAL,
            _ => GAMMA,
        }
    }

    /// Nodes of the factor, where they are quicker to ask than those of the latent value.
    fn log_factor(&self, c: &LatentComponent) -> Option<LogGamma> {
        let shape = self.shape(c).filter(|shape| *shape > 0.0)?;
        let wanted = NODES.0 as f64 * (c.sd * (1.0 + shape.sqrt())).max(1.0);
        let factor = LogGamma::new(shape, c.sd);
        (factor.count < self.cost(c) * wanted && factor.count <= MOST).then_some(factor)
    }

    /// How many parts [`Self::log_normals`] has, in latent nodes that take as long.
    pub(super) fn factor_count(&self, c: &LatentComponent) -> Option<f64> {
        match self.at(c, c.mean) {
            Distribution::LogNormal(_) => Some(1.0),
            _ => self.log_factor(c).map(|factor| factor.count / self.cost(c)),
        }
    }

    /// Adds the log-normal parts of a component, where they are quicker to ask than its own nodes;
    /// says whether they are.
    pub(super) fn log_normals(&self, c: &LatentComponent, all: &mut LogNormals) -> bool {
        if let Distribution::LogNormal(at) = self.at(c, c.mean) {
            all.push(c.weight, c.mean - 0.5 * at.sd * at.sd, c.sd.hypot(at.sd));
            return true;
        }
        let Some(factor) = self.log_factor(c) else {
            return false;
        };
        // What the mean is beside e^f: an exposure.
        let mean = c.mean + self.at(c, 0.0).mean().ln();
        for (g, weight) in factor.nodes() {
            all.push(c.weight * weight, mean + g, c.sd);
        }
        true
    }
}
