//! One observation of a latent value.

use crate::likelihood::Likelihood;
use crate::likelihood::distribution::Distribution;
use crate::likelihood::local::Circumstances;

/// An observation at known hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observed {
    /// One row of the likelihood.
    pub likelihood: Likelihood,
    /// Its hyperparameters.
    pub own: Vec<f64>,
    pub circumstances: Circumstances,
}

impl Observed {
    /// Of which distribution it is at a latent value.
    pub fn at(&self, f: f64) -> Distribution {
        let local = self.likelihood.local();
        local.observation(&self.own, &self.circumstances, f)
    }

    /// Where slope and variance are the same: sigmoids are odd about one half, and beyond it their
    /// differences have lost their digits.
    fn folded(&self, f: f64) -> f64 {
        match self.at(f) {
            Distribution::Binomial(_) => -f.abs(),
            _ => f,
        }
    }

    /// The variance at a latent value.
    pub fn variance(&self, f: f64) -> f64 {
        self.at(self.folded(f)).variance()
    }

    /// The slope of the mean.
    pub fn slope(&self, f: f64) -> f64 {
        let f = self.folded(f);
        // Central differences of a smooth mean: the square of the step, and rounding over it.
        let step = 1e-5 * (1.0 + f.abs());
        (self.at(f + step).mean() - self.at(f - step).mean()) / (2.0 * step)
    }

    /// Fisher's information about the latent value: the squared slope of the mean over the
    /// variance, as for all families by their mean here; of noise about the value from its own
    /// form.
    pub fn fisher(&self, f: f64) -> f64 {
        match self.at(f) {
            Distribution::StudentT(t) => {
                return (t.degrees + 1.0) / (t.degrees + 3.0) / (t.scale * t.scale);
            }
            Distribution::Laplace(one) => return 1.0 / (one.scale * one.scale),
            Distribution::LogNormal(one) => return 1.0 / (one.sd * one.sd),
            _ => {}
        }
        let slope = self.slope(f);
        let variance = self.variance(f);
        if variance > 0.0 {
            slope * slope / variance
        } else {
            0.0
        }
    }
}
