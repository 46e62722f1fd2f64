//! Observations that are a factor of `e^f`: `y = e^f G`, where `G` has mean one.
//!
//! Where `f ~ N(m, s^2)` is less certain than `log G`, the average is taken over `log G`:
//!
//! $$ P(Y \le y) = E_G \Phi\left(\frac{\log y - \log G - m}{s}\right) $$
//!
//! is smooth in `log G`, and a mixture of log-normal distributions. Where `G` is log-normal itself,
//! it is one.

use super::{NODES, Normal, Predictive};
use crate::likelihood::distribution::Distribution;
use crate::link::Link;
use crate::special::elementary;
use crate::special::scalar::{normal_cdf, normal_pdf};

/// Densities of `log G` below `e^-28` of their largest are left out: less than 1e-12 in all.
const LEFT_OUT: f64 = 28.0;
/// Step of the trapezoidal rule over `log G`, over `(shape + 3)^-1/2`. The characteristic function
/// of `log G` falls to 1e-16 at the frequency of steps: as `e^(-pi w / 2)` for small shapes, as
/// `e^(-w^2 / 2 shape)` for large ones.
const STEP: f64 = 0.5;
/// Most nodes of `log G`; shapes below 1e-3 need more.
const MOST: f64 = 1e5;

/// A log-normal part of a mixture: `log y ~ N(mean, sd^2)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogNormal {
    pub weight: f64,
    pub mean: f64,
    pub sd: f64,
}

impl LogNormal {
    /// `P(log Y <= log_y)`.
    pub fn cdf(&self, log_y: f64) -> f64 {
        normal_cdf((log_y - self.mean) / self.sd)
    }

    /// Log density at `y`; nats.
    pub fn log_density(&self, y: f64) -> f64 {
        if y <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let log_y = elementary::log(y);
        let z = (log_y - self.mean) / self.sd;
        normal_pdf(0.0).ln() - 0.5 * z * z - self.sd.ln() - log_y
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
    fn new(shape: f64) -> Self {
        let k = LEFT_OUT / shape;
        let root = (2.0 * k).sqrt();
        let (low, high) = (-root - k, root.min((2.0 + 2.0 * k).ln()));
        let step = STEP / (shape + 3.0).sqrt();
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
    fn shape(&self, c: &Normal) -> Option<f64> {
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
    pub(super) fn relative(&self, c: &Normal) -> Option<f64> {
        self.shape(c).map(|shape| c.sd * (1.0 + shape.sqrt()))
    }

    /// Nodes of the factor, where they are fewer than those of the latent value.
    fn log_factor(&self, c: &Normal) -> Option<LogGamma> {
        let shape = self.shape(c).filter(|shape| *shape > 0.0)?;
        let wanted = NODES.0 as f64 * c.sd * (1.0 + shape.sqrt());
        let factor = LogGamma::new(shape);
        (factor.count < wanted && factor.count <= MOST).then_some(factor)
    }

    /// How many parts [`Self::log_normals`] has.
    pub(super) fn factor_count(&self, c: &Normal) -> Option<usize> {
        match self.at(c, c.mean) {
            Distribution::LogNormal(_) => Some(1),
            _ => self.log_factor(c).map(|factor| factor.count as usize),
        }
    }

    /// The log-normal parts of a component, where they are fewer than its own nodes.
    pub(super) fn log_normals(&self, c: &Normal) -> Option<Vec<LogNormal>> {
        if let Distribution::LogNormal(at) = self.at(c, c.mean) {
            return Some(vec![LogNormal {
                weight: c.weight,
                mean: c.mean - 0.5 * at.sd * at.sd,
                sd: c.sd.hypot(at.sd),
            }]);
        }
        let factor = self.log_factor(c)?;
        // What the mean is beside e^f: an exposure.
        let mean = c.mean + self.at(c, 0.0).mean().ln();
        let nodes = factor.nodes().into_iter();
        let one = |(g, weight): (f64, f64)| LogNormal {
            weight: c.weight * weight,
            mean: mean + g,
            sd: c.sd,
        };
        Some(nodes.map(one).collect())
    }
}
