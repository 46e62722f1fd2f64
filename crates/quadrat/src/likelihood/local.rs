//! What inference asks of a likelihood: one row at a time, as a function of one latent value.

use super::distribution::Distribution;
use crate::parameter::Parameter;

/// A normal belief about the latent value of one row: a cavity, or a marginal of the approximation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Belief {
    /// Mean.
    pub mean: f64,
    /// Variance, > 0.
    pub variance: f64,
}

/// `log p(y | f)` and its first three derivatives in `f`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Jet {
    /// `log p(y | f)` in nats, every constant included.
    pub value: f64,
    /// First derivative.
    pub first: f64,
    /// Second derivative.
    pub second: f64,
    /// Third derivative.
    pub third: f64,
}

/// `log Z = log E p(y | f)` under a cavity, and the Gaussian site that reproduces the moments of
/// cavity times likelihood.
///
/// The site is `exp(shift f - precision f^2 / 2)`: the tilted variance is
/// `1 / (1 / variance + precision)`, the tilted mean that times `mean / variance + shift`. It is
/// returned rather than the moments, because the moments cancel where the likelihood is much
/// narrower, or much wider, than the cavity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tilted {
    /// `log Z` in nats.
    pub log_z: f64,
    /// Precision of the site; never negative for a log-concave likelihood.
    pub precision: f64,
    /// Precision times location of the site.
    pub shift: f64,
}

/// What a likelihood makes of a cavity.
///
/// Unlike [`Tilted`] these are the moments themselves, right to rounding of those of the cavity,
/// for mixtures of several likelihoods.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Change {
    /// `log Z` in nats.
    pub log_z: f64,
    /// Mean of cavity times likelihood less that of the cavity.
    pub moved: f64,
    /// Variance of the cavity less that of cavity times likelihood.
    pub lost: f64,
}

impl Change {
    /// Of a site that reproduces the moments.
    #[must_use]
    pub fn of(tilted: Tilted, cavity: Belief) -> Self {
        let Belief { mean, variance } = cavity;
        let growth = 1.0 + variance * tilted.precision;
        Self {
            log_z: tilted.log_z,
            moved: variance * (tilted.shift - tilted.precision * mean) / growth,
            lost: variance * variance * tilted.precision / growth,
        }
    }
}

/// `E log p(y | f)` under a belief, and its derivatives in the mean of the belief.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Expected {
    /// `E log p(y | f)` in nats.
    pub value: f64,
    /// `d / d mean = E (log p)'`.
    pub first: f64,
    /// `d^2 / d mean^2 = E (log p)''`, twice the derivative in the variance.
    pub second: f64,
}

/// What else is known of a value that is to be predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circumstances {
    /// Exposure of a count, 1 unless told.
    pub exposure: f64,
    /// Trials of a binomial, 1 unless told.
    pub trials: u64,
    /// Known part of the noise variance, 0 unless told.
    pub variance: f64,
}

impl Default for Circumstances {
    fn default() -> Self {
        Self {
            exposure: 1.0,
            trials: 1,
            variance: 0.0,
        }
    }
}

/// `log p = constant + log log Z + linear Z + inverse / Z`, as a function of the linked value `Z`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumTerms {
    /// Nats that do not depend on `Z`.
    pub constant: f64,
    /// Coefficient of `log Z`.
    pub log: f64,
    /// Coefficient of `Z`.
    pub linear: f64,
    /// Coefficient of `1 / Z`; not above zero.
    pub inverse: f64,
}

/// A likelihood whose rows each depend on one latent value `f`: the value of the row's linear
/// functional.
///
/// `own` are its hyperparameters in natural units, in the order of [`Local::parameters`]; `row`
/// counts from 0. Implementations are pure: no caches, no interior mutability, any thread. They
/// never panic; impossible values (a NaN belief) give NaN.
///
/// # Accuracy
/// `log_z`, site and expectations to a relative 1e-10 of the tilted standard deviation, for any
/// belief with mean and sd between 1e-6 and 1e6 of the likelihood's own scale; closed forms where
/// they exist, one-dimensional quadrature else.
pub trait Local: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Its hyperparameters with starts and weakly informative priors. Names without the table's
    /// number: `noise.variance`, `ordinal.threshold`, `negative_binomial.dispersion`.
    ///
    /// `spread` is the typical size of a change of the latent value. None unless told.
    fn parameters(&self, _spread: f64) -> Vec<Parameter> {
        Vec::new()
    }

    /// Value and variance of a row that is Gaussian in `f`: its site is known, and never updated.
    fn gaussian(&self, _own: &[f64], _row: usize) -> Option<(f64, f64)> {
        None
    }

    /// Nats that the density of a row that is Gaussian in `f` has beside the normal one: of values
    /// known behind a link, the change of variables.
    fn gaussian_rest(&self, _row: usize) -> f64 {
        0.0
    }

    /// Whether `log p(y | f)` is concave in `f` on every row, so that every approximation has one
    /// optimum.
    fn is_log_concave(&self) -> bool;

    /// A latent value at which the row is plausible, where a search may begin.
    fn guess(&self, own: &[f64], row: usize) -> f64;

    /// The level, as it may be thought beforehand, where no row has an event, or every trial
    /// succeeds; `weights` say how often each row counts.
    fn seldom(&self, _weights: &[f64]) -> Option<Belief> {
        None
    }

    /// `log p(y | f)` and its derivatives.
    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet;

    /// Derivatives of value, first and second of [`Local::log_density`] in every own parameter,
    /// `out.len() == own.len()`; nothing to do where there are none.
    fn log_density_slopes(&self, _own: &[f64], _row: usize, _f: f64, _out: &mut [[f64; 3]]) {}

    /// Moments of cavity times likelihood.
    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted;

    /// Moments of cavity times likelihood for many values of the first own hyperparameter, one
    /// after the other.
    ///
    /// # Arguments
    /// * `first` - the values, of the shape of `out`
    /// * `rest` - the own hyperparameters but the first
    /// * `is_coarse` - whether moments to 1e-6 of the cavity's will do
    fn tilted_over(
        &self,
        first: &[f64],
        rest: &[f64],
        row: usize,
        cavity: Belief,
        _is_coarse: bool,
        out: &mut [Change],
    ) {
        let mut own = Vec::with_capacity(1 + rest.len());
        own.push(f64::NAN);
        own.extend_from_slice(rest);
        for (&value, out) in first.iter().zip(out) {
            own[0] = value;
            *out = Change::of(self.tilted(&own, row, cavity), cavity);
        }
    }

    /// `d log Z / d own` at a fixed cavity.
    fn tilted_slopes(&self, _own: &[f64], _row: usize, _cavity: Belief, _out: &mut [f64]) {}

    /// Expected log-density.
    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected;

    /// Expected log-densities for many values of the first own hyperparameter, one after the other.
    ///
    /// # Arguments
    /// * `first` - the values, of the shape of `out`
    /// * `rest` - the own hyperparameters but the first
    fn expected_over(
        &self,
        first: &[f64],
        rest: &[f64],
        row: usize,
        belief: Belief,
        out: &mut [Expected],
    ) {
        let mut own = Vec::with_capacity(1 + rest.len());
        own.push(f64::NAN);
        own.extend_from_slice(rest);
        for (&value, out) in first.iter().zip(out) {
            own[0] = value;
            *out = self.expected(&own, row, belief);
        }
    }

    /// `d E log p / d own` at a fixed belief.
    fn expected_slopes(&self, _own: &[f64], _row: usize, _belief: Belief, _out: &mut [f64]) {}

    /// The log-density as a function of the linked value, where it is made of such terms.
    fn sum_terms(&self, _row: usize) -> Option<SumTerms> {
        None
    }

    /// The distribution of a new observation where the latent value is `f`.
    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution;
}
