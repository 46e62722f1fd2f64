//! Quantiles of a new observation under a mixture.

use super::CLOSEST;
use super::observation_mixture::ObservationMixture;
use crate::likelihood::distribution::Distribution;
use crate::link::Link;
use crate::special::root::crossing;

/// Ends of a bracket of counts this many times apart are halved on a logarithmic scale.
const FAR_APART: f64 = 100.0;

impl ObservationMixture<'_> {
    /// The smallest value that at least a share `p` lies at or below.
    pub fn quantile(&self, p: f64) -> f64 {
        if self.predictive.is_factor() {
            return self.quantile_of_factor(p);
        }
        let bracket = self.bracket(p);
        if bracket.0.is_nan() {
            return bracket.0;
        }
        let wide = || self.wide().map(|c| self.predictive.at(c, c.mean));
        let is_discrete =
            self.points.iter().any(|(at, _)| at.is_discrete()) || wide().any(|at| at.is_discrete());
        if is_discrete {
            return self.quantile_of_counts(bracket, p);
        }
        if self.predictive.likelihood.link() == Some(Link::Exp) {
            return match self.noise() {
                Some(noise) => self.quantile_beyond_noise(noise, bracket, p),
                None => self.quantile_of_factor(p),
            };
        }
        let width = |y: f64| 1e-10 * (2.0 * y.abs() + 1e-300);
        crossing(bracket, width, |y| self.cdf(y) - p)
    }

    /// That of `e^f`, or of what is a factor of it, searched on the logarithmic scale: values may
    /// be tens of powers of ten apart.
    fn quantile_of_factor(&self, p: f64) -> f64 {
        let bracket = self.log_bracket(p);
        if bracket.0.is_nan() {
            return bracket.0;
        }
        crossing(bracket, |_| 2e-10, |l| self.share(l.exp(), l) - p).exp()
    }

    /// That of `e^f` with noise, searched on the scale of `asinh(y / noise)`, which is logarithmic
    /// beyond the noise.
    fn quantile_beyond_noise(&self, unit: f64, (lo, hi): (f64, f64), p: f64) -> f64 {
        let bracket = ((lo / unit).asinh(), (hi / unit).asinh());
        let value = |u: f64| self.cdf(unit * u.sinh()) - p;
        unit * crossing(bracket, |_| 1e-10, value).sinh()
    }

    /// That of counts, which may be tens of powers of ten apart.
    fn quantile_of_counts(&self, (lo, hi): (f64, f64), p: f64) -> f64 {
        let (mut lo, mut hi) = (lo.floor() - 1.0, hi.ceil());
        for _ in 0..200 {
            if hi - lo <= hi.abs().mul_add(CLOSEST, 1.0) {
                break;
            }
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

    /// The smallest sd of an observation at a latent value; none where there is no noise.
    fn noise(&self) -> Option<f64> {
        let points = self.points.iter().map(|(at, _)| at.variance().sqrt());
        let narrow = self.narrow.iter();
        let narrow = narrow.map(|c| self.predictive.at(c, c.mean).variance().sqrt());
        let least = points.chain(narrow).filter(|sd| *sd > 0.0);
        let least = least.fold(f64::INFINITY, f64::min);
        least.is_finite().then_some(least)
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
