//! Means and sds of what is predicted.

use super::{Normal, Predictive, What};
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
    /// then found in units of `e^shift`. What is too large for a number is infinite.
    pub fn moments(&self, components: &[Normal]) -> (f64, f64) {
        let (mut total, mut mean, mut second) = (0.0, 0.0, 0.0);
        let shift = self.shift(components);
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
        mean /= total;
        let sd = (second / total - mean * mean).max(0.0).sqrt();
        match shift == 0.0 {
            true => (mean, sd),
            // As one power: e^shift alone may be no number where the product is one.
            false => {
                let [mean, sd] = [mean, sd].map(|scaled| scaled.ln() + shift);
                // Links know no more than this, and so quantiles do not.
                let mean = if mean > CLIP {
                    f64::INFINITY
                } else {
                    mean.exp()
                };
                (mean, sd.exp())
            }
        }
    }

    /// The logarithm of the unit of moments: 0 where squares are numbers.
    fn shift(&self, components: &[Normal]) -> f64 {
        if self.likelihood.link() != Some(Link::Exp) {
            return 0.0;
        }
        let largest = components.iter().map(|c| c.mean + c.sd * c.sd);
        let largest = largest.fold(f64::NEG_INFINITY, f64::max);
        match largest.abs() > SQUARED && largest.is_finite() {
            true => largest,
            false => 0.0,
        }
    }

    /// Mean and mean square of one component in units of `e^shift`, where a link makes the mean of
    /// an observation.
    fn through_link(&self, c: Normal, shift: f64) -> Option<(f64, f64)> {
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
            (_, Distribution::Poisson(_)) => m * (-shift).exp(),
            (_, Distribution::NegativeBinomial(at)) => m * (-shift).exp() + at.dispersion * square,
            (_, Distribution::Exponential(_)) => square,
            (_, Distribution::Gamma(at)) => square / at.shape,
            _ => return None,
        };
        Some((m, square + noise))
    }
}
