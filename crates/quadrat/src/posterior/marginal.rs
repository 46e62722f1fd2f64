//! The predictive distribution of one row, made once and asked for many values.

use rayon::prelude::*;

use super::limits::Limits;
use super::normal_mixture::{Mixture, Work};
use super::prediction::Prediction;
use super::predictive::{ObservationMixture, Predictive};
use crate::special::scalar::{log_cdf, log_sum_exp};

/// So many rows are one task: fewer would cost more to hand over than to do.
const ROWS_PER_TASK: usize = 16;
/// From here on a distribution function is so near one that its complement has lost digits.
const NEAR_ONE: f64 = 1.0 - 1e-6;
/// Differences of a distribution function below this have lost digits.
const SMALL: f64 = 1e-6;

/// The predictive distribution of one row of a [`Prediction`].
///
/// With integrated hyperparameters it is a mixture, which takes longer to make than to ask: whoever
/// wants several values of a row asks one marginal.
pub struct Marginal<'a> {
    law: Law<'a>,
    limits: Option<Limits>,
    is_count: bool,
    work: Work,
}

/// What is predicted of a row.
enum Law<'a> {
    /// The latent value, or that with normal noise.
    Normals(Mixture<'a>),
    /// The same, given that it is not negative.
    AboveZero(Mixture<'a>),
    /// The mean of an observation of a row, behind its latent value.
    Mean(&'a Predictive, usize, Mixture<'a>),
    /// A new observation.
    Observation(Box<ObservationMixture<'a>>),
}

impl Prediction {
    /// The distribution of one row.
    ///
    /// # Panics
    /// If there is no such row.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
    /// use quadrat::support::Functionals;
    ///
    /// let x = Functionals::points("x", &[0.0, 1.0, 2.0])?;
    /// let table = Observations::gaussian(x.clone(), vec![0.1, 0.4, 1.0], Noise::Learned)?;
    /// let posterior = Model::new(Kernel::se(["x"])).observe(table).fit(&FitOptions::default())?;
    /// let p = posterior.predict(&x, Scale::Observation)?;
    /// let mut first = p.marginal(0);
    /// let median = first.quantile(0.5);
    /// assert!((first.cdf(median) - 0.5).abs() < 1e-10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn marginal(&self, row: usize) -> Marginal<'_> {
        let law = match &self.predictive {
            None if self.is_truncated => Law::AboveZero(self.row(row)),
            None => Law::Normals(self.row(row)),
            Some(predictive) if predictive.is_mean() => Law::Mean(predictive, row, self.row(row)),
            Some(predictive) => {
                Law::Observation(Box::new(predictive.row(&self.normals(predictive, row))))
            }
        };
        Marginal {
            law,
            limits: self.limits,
            is_count: self.predictive.as_ref().is_some_and(Predictive::is_count),
            work: Work::default(),
        }
    }

    /// The `p`-quantile of every row, `0 < p < 1`; NaN outside.
    ///
    /// # Numerics
    /// Exact for a single node; else the root of the mixture's distribution function, to `1e-12`
    /// of the standard deviation. Of thousands of points along a line interpolated between some
    /// of them, to `1e-9` of the smallest standard deviation nearby.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Vec<f64> {
        self.tabulate(&[p], &[]).quantiles.remove(0)
    }

    /// `P(Y_i <= y_i)` for every row.
    ///
    /// # Panics
    /// If `y` has another length.
    #[must_use]
    pub fn cdf(&self, y: &[f64]) -> Vec<f64> {
        assert_eq!(y.len(), self.len(), "one value per row");
        self.each_row(|row, mut marginal| marginal.cdf(y[row]))
    }

    /// Log predictive density of `y_i` in nats (of a count: log probability), for every row; NaN
    /// for the response of a link.
    ///
    /// # Panics
    /// If `y` has another length.
    #[must_use]
    pub fn log_density(&self, y: &[f64]) -> Vec<f64> {
        assert_eq!(y.len(), self.len(), "one value per row");
        self.each_row(|row, mut marginal| marginal.log_density(y[row]))
    }

    /// Log of `P(lower_i < Y_i <= upper_i)` in nats for every row; ends may be infinite.
    ///
    /// Minus infinity of an interval without a number, NaN where an end is.
    ///
    /// # Numerics
    /// Of values that are mixtures of normal distributions, with or without the condition that
    /// they are not negative, right in far tails, to a share of `1e-9` of the probability. Of
    /// others the difference of two values of [`Self::cdf`], where nothing below some `1e-7` is
    /// told apart from nothing, and no less than the log of the smallest number, -708.4.
    ///
    /// # Panics
    /// If there are not as many ends as rows.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
    /// use quadrat::support::Functionals;
    ///
    /// let x = Functionals::points("x", &[0.0, 1.0, 2.0])?;
    /// let table = Observations::gaussian(x.clone(), vec![0.1, 0.4, 1.0], Noise::Learned)?;
    /// let posterior = Model::new(Kernel::se(["x"])).observe(table).fit(&FitOptions::default())?;
    /// let p = posterior.predict(&x, Scale::Observation)?;
    /// let half = p.log_between(&[f64::NEG_INFINITY; 3], &p.quantile(0.5));
    /// assert!(half.iter().all(|log| (log - 0.5_f64.ln()).abs() < 1e-9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn log_between(&self, lower: &[f64], upper: &[f64]) -> Vec<f64> {
        assert_eq!(lower.len(), self.len(), "one lower end per row");
        assert_eq!(upper.len(), self.len(), "one upper end per row");
        self.each_row(|row, mut marginal| marginal.log_between(lower[row], upper[row]))
    }

    /// Something of the distribution of every row.
    pub(crate) fn each_row<T: Send>(
        &self,
        one: impl Fn(usize, Marginal<'_>) -> T + Sync,
    ) -> Vec<T> {
        let together = match self.predictive.is_some() {
            true => 1,
            false => ROWS_PER_TASK,
        };
        let rows = (0..self.len()).into_par_iter().with_min_len(together);
        rows.map(|row| one(row, self.marginal(row))).collect()
    }
}

impl Marginal<'_> {
    /// The `p`-quantile, `0 < p < 1`; NaN outside. See [`Prediction::quantile`].
    pub fn quantile(&mut self, p: f64) -> f64 {
        if !(p > 0.0 && p < 1.0) {
            return f64::NAN;
        }
        let value = self.quantile_of_value(p);
        self.limits.map_or(value, |limits| limits.clip(value))
    }

    /// `P(Y <= y)`.
    pub fn cdf(&mut self, y: f64) -> f64 {
        match &self.limits {
            Some(limits) if y < limits.lower() => 0.0,
            Some(limits) if y >= limits.upper() => 1.0,
            _ => self.cdf_of_value(y),
        }
    }

    /// Log predictive density at `y` in nats (of a count: log probability); NaN for the response of
    /// a link.
    pub fn log_density(&mut self, y: f64) -> f64 {
        let Some(limits) = self.limits else {
            return self.log_density_of_value(y);
        };
        if y < limits.lower() || y > limits.upper() {
            f64::NEG_INFINITY
        } else if y == limits.lower() {
            self.cdf_of_value(y).ln()
        } else if y == limits.upper() {
            self.log_above(if self.is_count { y - 1.0 } else { y })
        } else {
            self.log_density_of_value(y)
        }
    }

    /// Log of `P(lower < Y <= upper)` in nats; see [`Prediction::log_between`].
    pub(crate) fn log_between(&mut self, lower: f64, upper: f64) -> f64 {
        if lower.is_nan() || upper.is_nan() {
            return f64::NAN;
        }
        if lower >= upper {
            return f64::NEG_INFINITY;
        }
        let mut share = |end: f64| match end.is_finite() {
            true => self.cdf(end),
            false => f64::from(u8::from(end > 0.0)),
        };
        let share = share(upper) - share(lower);
        match &self.law {
            Law::Normals(mixture) if self.limits.is_none() && share < SMALL => {
                mixture.log_between(lower, upper)
            }
            Law::AboveZero(mixture) if self.limits.is_none() && share < SMALL => {
                // Zero itself is not negative.
                let zero = -f64::MIN_POSITIVE;
                match upper < 0.0 {
                    true => f64::NEG_INFINITY,
                    false => {
                        mixture.log_between(lower.max(zero), upper)
                            - mixture.log_between(zero, f64::INFINITY)
                    }
                }
            }
            _ => share.max(f64::MIN_POSITIVE).ln(),
        }
    }

    /// The quantile before limits of an instrument.
    pub(super) fn quantile_of_value(&mut self, p: f64) -> f64 {
        let work = &mut self.work;
        match &self.law {
            Law::Normals(mixture) => mixture.quantile(p, work),
            Law::AboveZero(mixture) => mixture.quantile_above_zero(p, work),
            Law::Mean(predictive, row, mixture) => {
                mean_quantile(predictive, *row, mixture, p, work)
            }
            Law::Observation(seen) => seen.quantile(p),
        }
    }

    /// The distribution function before limits of an instrument.
    pub(super) fn cdf_of_value(&mut self, y: f64) -> f64 {
        let work = &mut self.work;
        match &self.law {
            Law::Normals(mixture) => mixture.cdf(y, work),
            Law::AboveZero(mixture) => mixture.cdf_above_zero(y, work),
            Law::Mean(predictive, row, mixture) => mean_cdf(predictive, *row, mixture, y, work),
            Law::Observation(seen) => seen.cdf(y),
        }
    }

    fn log_density_of_value(&mut self, y: f64) -> f64 {
        match &self.law {
            Law::Normals(mixture) => mixture.log_density(y),
            Law::AboveZero(mixture) => mixture.log_density_above_zero(y, &mut self.work),
            Law::Mean(..) => f64::NAN,
            Law::Observation(seen) => seen.log_density(y),
        }
    }

    /// Log of the probability of more than `y`.
    fn log_above(&mut self, y: f64) -> f64 {
        let below = self.cdf_of_value(y);
        let Law::Normals(mixture) = &self.law else {
            return (1.0 - below).ln();
        };
        if below < NEAR_ONE {
            return (1.0 - below).ln();
        }
        let logs = mixture.components().map(|(w, m, s)| match s > 0.0 {
            true => w.ln() + log_cdf((m - y) / s),
            false if m > y => w.ln(),
            false => f64::NEG_INFINITY,
        });
        log_sum_exp(&logs.collect::<Vec<f64>>())
    }
}

/// The quantile of the mean of an observation.
fn mean_quantile(
    predictive: &Predictive,
    row: usize,
    latent: &Mixture<'_>,
    p: f64,
    work: &mut Work,
) -> f64 {
    if predictive.is_monotone() {
        return predictive.mean_quantile(row, latent.quantile(p, work));
    }
    let (_, far) = latent.range();
    let (mut lo, mut hi) = (0.0, predictive.mean_at(row, far));
    for _ in 0..100 {
        let middle = 0.5 * (lo + hi);
        if mean_cdf(predictive, row, latent, middle, work) < p {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    hi
}

/// Probability that the mean of an observation is at most `y`.
fn mean_cdf(
    predictive: &Predictive,
    row: usize,
    latent: &Mixture<'_>,
    y: f64,
    work: &mut Work,
) -> f64 {
    let (low, high) = latent.range();
    let (from, to) = predictive.below(row, y, low, high);
    let below = |f: f64, work: &mut Work| match f {
        f64::NEG_INFINITY => 0.0,
        f64::INFINITY => 1.0,
        f => latent.cdf(f, work),
    };
    (below(to, work) - below(from, work)).max(0.0)
}
