//! Means and sds of what is predicted.

use super::{LatentComponent, Predictive, What};
use crate::likelihood::distribution::Distribution;
use crate::likelihood::local::Belief;
use crate::link::{CLIP, Link};

/// Numbers beyond `e^` this, on either side of 1, have squares that are no numbers or none of 16
/// digits.
const SQUARED: f64 = 300.0;

impl Predictive {
    /// Mean and sd: in closed form where there is a link, else by nodes.
    ///
    /// # Numerics
    /// Behind `exp` the squares of means far from 1 are no numbers, though the sds are: both are
    /// then found in units of their own. What is too large for a number is infinite.
    pub fn moments(&self, components: &[LatentComponent]) -> (f64, f64) {
        if let Some((of_mean, of_sd)) = self.units(components) {
            let (scaled, _) = self.in_units(components, of_mean);
            let log_mean = scaled.ln() + of_mean;
            // Links know no more than this, and so quantiles do not.
            let mean = if log_mean > CLIP {
                f64::INFINITY
            } else {
                log_mean.exp()
            };
            let (_, second) = self.in_units(components, of_sd);
            // The mean in the unit of the sd, which may be none beside it.
            let scaled = (log_mean - of_sd).exp();
            let variance = (second - scaled * scaled).max(0.0);
            // As one power: that of the unit alone may be no number where the product is one.
            return (mean, (0.5 * variance.ln() + of_sd).exp());
        }
        let (mean, second) = self.in_units(components, 0.0);
        (mean, (second - mean * mean).max(0.0).sqrt())
    }

    /// Mean and mean square in units of `e^shift` and its square.
    fn in_units(&self, components: &[LatentComponent], shift: f64) -> (f64, f64) {
        let (mut total, mut mean, mut second) = (0.0, 0.0, 0.0);
        for &c in components {
            if let Some((m, square)) = self.through_link(c, shift) {
                total += c.weight;
                mean += c.weight * m;
                second += c.weight * square;
                continue;
            }
            for (f, w) in self.nodes(c) {
                let at = self.at(&c, f);
                let m = self.size(c.row) * at.mean();
                total += w;
                mean += w * m;
                second += w * match self.what {
                    What::Mean => m * m,
                    What::Observation => m * m + at.variance(),
                };
            }
        }
        (mean / total, second / total)
    }

    /// Logarithms of the units of mean and sd: `E e^f = e^(m + v / 2)` and `(E e^2f)^(1/2) = e^(m +
    /// v)`, or that of the noise, at the component where they are largest. None where squares are
    /// numbers.
    fn units(&self, components: &[LatentComponent]) -> Option<(f64, f64)> {
        if self.likelihood.link() != Some(Link::Exp) {
            return None;
        }
        let largest = |part: f64| {
            let each = components.iter().map(|c| c.mean + part * c.sd * c.sd);
            each.fold(f64::NEG_INFINITY, f64::max)
        };
        let (of_mean, of_sd) = (largest(0.5), largest(1.0));
        let of_sd = of_sd.max(self.log_noise(components, of_mean));
        (of_sd.abs() > SQUARED && of_mean.is_finite() && of_sd.is_finite())
            .then_some((of_mean, of_sd))
    }

    /// The logarithm of the sd of an observation around its mean, where that is not in proportion
    /// to the mean.
    fn log_noise(&self, components: &[LatentComponent], of_mean: f64) -> f64 {
        let one = |c: &LatentComponent| match self.at(c, c.mean) {
            Distribution::Normal(at) => at.sd.ln(),
            Distribution::Poisson(_) | Distribution::NegativeBinomial(_) => 0.5 * of_mean,
            _ => f64::NEG_INFINITY,
        };
        match self.what {
            What::Mean => f64::NEG_INFINITY,
            What::Observation => components.iter().map(one).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Mean and mean square of one component in units of `e^shift`, where a link makes the mean of
    /// an observation.
    fn through_link(&self, c: LatentComponent, shift: f64) -> Option<(f64, f64)> {
        let link = self.likelihood.link()?;
        let (m, v) = if c.sd == 0.0 {
            (link.value(c.mean - shift), 0.0)
        } else {
            let seen = link.moments(Belief {
                mean: c.mean - shift,
                variance: c.sd * c.sd,
            });
            (seen.mean, seen.variance)
        };
        let exposure = self.exposure(c.row);
        let (m, square) = (exposure * m, exposure * exposure * (v + m * m));
        let noise = match (self.what, self.at(&c, c.mean)) {
            (What::Mean, _) => 0.0,
            (_, Distribution::Normal(at)) => (at.sd * (-shift).exp()).powi(2),
            (_, Distribution::Poisson(_)) => m * (-shift).exp(),
            (_, Distribution::NegativeBinomial(at)) => m * (-shift).exp() + at.dispersion * square,
            (_, Distribution::Exponential(_)) => square,
            (_, Distribution::Gamma(at)) => square / at.shape,
            (_, Distribution::LogNormal(at)) => square * (at.sd * at.sd).exp_m1(),
            _ => return None,
        };
        Some((m, square + noise))
    }
}
