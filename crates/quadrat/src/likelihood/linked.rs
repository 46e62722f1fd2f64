//! A value with normal noise around a mean behind a link.

use std::f64::consts::PI;

use super::local::{Belief, Expected, Jet, Tilted};
use super::quadrature::{self, climb};
use crate::link::{CLIP, Form, Link};
use crate::special::elementary;

/// A peak that is narrower than this part of the belief, beyond so many widths of the function, is
/// climbed from both sides.
const APART: f64 = 0.1;

/// `y ~ N(mu, v)`, `mu = size link(f)`, of a variance `v > 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LinkedRow {
    pub value: f64,
    pub size: f64,
    pub variance: f64,
    pub link: Link,
}

impl LinkedRow {
    /// The mean and its first three derivatives in `f`.
    fn mean(&self, f: f64) -> [f64; 4] {
        self.link.jet(f).map(|x| self.size * x)
    }

    /// The latent value whose mean is the value; of a value next to or below zero, that of half a
    /// standard deviation of the noise.
    pub fn guess(&self) -> f64 {
        let least = 0.5 * self.variance.sqrt();
        let mean = self.value.max(least) / self.size;
        self.link.inverse(mean).unwrap_or(0.0)
    }

    /// `log N(y; mu(f), v)`.
    pub fn jet(&self, f: f64) -> Jet {
        let [mean, first, second, third] = self.mean(f);
        let away = self.value - mean;
        Jet {
            value: -0.5
                * (away * (away / self.variance) + elementary::log(2.0 * PI * self.variance)),
            first: first * (away / self.variance),
            second: (away * second - first * first) / self.variance,
            third: (away * third - 3.0 * first * second) / self.variance,
        }
    }

    /// Derivatives of value, first and second of [`Self::jet`] in the variance.
    pub fn slopes(&self, f: f64) -> [f64; 3] {
        let Jet { first, second, .. } = self.jet(f);
        [
            self.slope(self.value - self.mean(f)[0]),
            -first / self.variance,
            -second / self.variance,
        ]
    }

    /// `d log N / dv` at a distance of the value from the mean.
    fn slope(&self, away: f64) -> f64 {
        let z = away / self.variance;
        0.5 * (z * z - self.variance.recip())
    }

    /// Local maxima of cavity times likelihood: at most two.
    fn peaks(&self, cavity: Belief) -> Vec<f64> {
        let jet = |f: f64| self.jet(f);
        let everywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let first = climb(cavity, self.guess(), everywhere, jet);
        let second = climb(cavity, cavity.mean, everywhere, jet);
        let precision = cavity.variance.recip() + jet(first).second.abs();
        match (first - second).abs() > APART * precision.sqrt().recip() {
            true => vec![first, second],
            false => vec![first],
        }
    }

    pub fn tilted(&self, cavity: Belief) -> Tilted {
        quadrature::tilted_at(cavity, &self.peaks(cavity), false, |f| self.jet(f))
    }

    /// `d log Z / dv` at a fixed cavity.
    pub fn tilted_slope(&self, cavity: Belief) -> f64 {
        let jet = |f: f64| self.jet(f);
        let slope = |f: f64, _: f64, _: &Jet| [1.0, self.slopes(f)[0]];
        let peaks = self.peaks(cavity);
        quadrature::tilted_averages(cavity, &peaks, false, jet, slope).2[1]
    }

    /// `E mu` and `E mu^2` behind `exp`, each with its first two derivatives in the mean of the
    /// belief: they grow by factors of one and two.
    fn under(&self, belief: Belief) -> (f64, f64) {
        let Belief { mean, variance } = belief;
        let half = elementary::exp((mean + 0.5 * variance).min(CLIP));
        let square = elementary::exp((2.0 * (mean + variance)).min(CLIP));
        (self.size * half, self.size * self.size * square)
    }

    pub fn expected(&self, belief: Belief) -> Expected {
        if self.link.form() == Form::Exponential {
            let (mean, square) = self.under(belief);
            let (y, v) = (self.value, self.variance);
            let pull = y * mean;
            let away = y * y - 2.0 * pull + square;
            return Expected {
                value: -0.5 * (away / v + elementary::log(2.0 * PI * v)),
                first: (pull - square) / v,
                second: (pull - 2.0 * square) / v,
            };
        }
        quadrature::expected(belief, &self.features(), |f| self.jet(f))
    }

    /// `d E log p / dv` at a fixed belief.
    pub fn expected_slope(&self, belief: Belief) -> f64 {
        if self.link.form() == Form::Exponential {
            let (mean, square) = self.under(belief);
            let away = self.value * self.value - 2.0 * self.value * mean + square;
            return 0.5 * (away / self.variance - 1.0) / self.variance;
        }
        let slope = |f: f64| [self.slopes(f)[0]];
        quadrature::averages(belief, &self.features(), slope).value[0]
    }

    /// Where the log-density bends: at zero, within a width of one, as softplus does.
    fn features(&self) -> [(f64, f64); 1] {
        [(0.0, 1.0)]
    }
}
