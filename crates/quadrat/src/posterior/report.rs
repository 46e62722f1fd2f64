//! What an instrument with limits reports: nothing below the lower one, nothing above the upper.

use rayon::prelude::*;

use crate::posterior::limits::Limits;
use crate::posterior::prediction::{Prediction, Work};

/// Counts up to which the chances of a report are added up one by one.
const ONE_BY_ONE: f64 = 512.0;
/// Steps in which the others are added up: some 36 for a standard deviation.
const STEPS: usize = 512;

impl Prediction {
    /// What an instrument with limits reports in place of new observations: one below the lower
    /// limit is reported as that, one above the upper limit as that.
    ///
    /// $$ r = \min(\max(y, l), u) $$
    ///
    /// Means and quantiles are those of `r`, which has heaps at the limits; the log density there
    /// is the log of their probability. Of counts a hidden one stands as the largest number that it
    /// may be: a cell that says `<5` as 4. A prediction of what is no observation stays as it is.
    ///
    /// # Numerics
    /// Moments in closed form where values have normal noise, else from distribution functions.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::likelihood::{Censored, Noise, Side};
    /// use quadrat::model::{FitOptions, Limits, Model, Observations, Scale};
    /// use quadrat::support::Functionals;
    ///
    /// // A gauge that reads 0 on dry days.
    /// let days = Functionals::points("day", &[0.0, 1.0, 2.0, 3.0])?;
    /// let sides = [Side::None, Side::Left, Side::Left, Side::None];
    /// let rain = Censored::new(vec![4.0, 0.0, 0.0, 1.0], &sides, Noise::Known(vec![1.0; 4]))?;
    /// let limits = Limits::shown(&rain.clone().into())?;
    /// let posterior = Model::new(Kernel::se(["day"]))
    ///     .observe(Observations::new(days.clone(), rain)?)
    ///     .fit(&FitOptions::default())?;
    /// let value = posterior.predict(&days, Scale::Observation)?;
    /// let report = value.clone().reported(limits);
    /// assert!(value.quantile(0.025)[1] < 0.0 && report.quantile(0.025)[1] == 0.0);
    /// assert!(report.mean()[1] > value.mean()[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reported(mut self, limits: Limits) -> Self {
        let is_mean = self.predictive.as_ref().is_some_and(|p| p.is_mean());
        if limits.is_none() || is_mean {
            return self;
        }
        let one = |row: usize| match &self.predictive {
            None if !self.is_truncated => self.normal_report(row, limits),
            _ => self.other_report(row, limits),
        };
        let moments: Vec<(f64, f64)> = (0..self.len()).into_par_iter().map(one).collect();
        for (row, (mean, variance)) in moments.into_iter().enumerate() {
            self.mean[row] = mean;
            self.sd[row] = variance.max(0.0).sqrt();
        }
        self.limits = Some(limits);
        self
    }

    fn normal_report(&self, row: usize, limits: Limits) -> (f64, f64) {
        let mixture = self.row(row);
        let about = |centre: f64| {
            let each = mixture.components().map(|(w, m, s)| {
                let (first, second) = limits.normal_moments((m, s), centre);
                (w * first, w * second)
            });
            each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let centre = limits.clip(self.mean[row]);
        let mean = centre + about(centre).0;
        (mean, about(mean).1)
    }

    /// From the distribution function: with `G = 1 - F`, over counts or a grid of values,
    ///
    /// $$ E g(r) = g(l) + \int_l^u G \, dg $$
    fn other_report(&self, row: usize, limits: Limits) -> (f64, f64) {
        let mut work = Work::default();
        let is_count = self.predictive.as_ref().is_some_and(|p| p.is_count());
        if is_count && limits.upper() == f64::INFINITY && limits.lower() <= ONE_BY_ONE {
            // Only counts below the limit change: by one for every number from them to it.
            let (mut first, mut second) = (self.mean[row], self.sd[row].powi(2));
            second += first * first;
            for y in 0..limits.lower().max(0.0) as usize {
                let below = self.row_cdf(row, y as f64, &mut work);
                first += below;
                second += below * (2.0 * y as f64 + 1.0);
            }
            return (first, second - first * first);
        }
        let ends = [1e-12, 1.0 - 1e-12].map(|p| self.row_quantile(row, p, &mut work));
        let low = limits.lower().max(ends[0]);
        let high = limits.upper().min(ends[1]).max(low);
        let steps: Vec<(f64, f64)> = match is_count && high - low <= ONE_BY_ONE {
            true => (0..(high - low) as usize)
                .map(|i| (low + i as f64, low + i as f64 + 1.0))
                .collect(),
            false => {
                let step = (high - low) / STEPS as f64;
                let edge = |i: usize| low + step * i as f64;
                (0..STEPS).map(|i| (edge(i), edge(i + 1))).collect()
            }
        };
        let (mut first, mut second) = (0.0, 0.0);
        for (from, to) in steps {
            // A count is above every number from one to the next, but not above the next.
            let at = match is_count && to - from == 1.0 {
                true => from,
                false => 0.5 * (from + to),
            };
            let share = 1.0 - self.row_cdf(row, at, &mut work);
            first += share * (to - from);
            second += share * ((to - low).powi(2) - (from - low).powi(2));
        }
        (low + first, second - first * first)
    }

    pub(crate) fn reported_values(&self, mut values: Vec<f64>) -> Vec<f64> {
        if let Some(limits) = &self.limits {
            values
                .iter_mut()
                .for_each(|value| *value = limits.clip(*value));
        }
        values
    }

    pub(crate) fn reported_cdf(&self, y: &[f64], mut below: Vec<f64>) -> Vec<f64> {
        if let Some(limits) = &self.limits {
            for (below, &y) in below.iter_mut().zip(y) {
                if y < limits.lower() {
                    *below = 0.0;
                } else if y >= limits.upper() {
                    *below = 1.0;
                }
            }
        }
        below
    }

    pub(crate) fn reported_log_density(&self, y: &[f64], mut logs: Vec<f64>) -> Vec<f64> {
        let Some(limits) = &self.limits else {
            return logs;
        };
        let is_count = self.predictive.as_ref().is_some_and(|p| p.is_count());
        let mut work = Work::default();
        for (row, (log, &y)) in logs.iter_mut().zip(y).enumerate() {
            if y < limits.lower() || y > limits.upper() {
                *log = f64::NEG_INFINITY;
            } else if y == limits.lower() {
                *log = self.row_cdf(row, y, &mut work).ln();
            } else if y == limits.upper() {
                let before = if is_count { y - 1.0 } else { y };
                *log = (1.0 - self.row_cdf(row, before, &mut work)).ln();
            }
        }
        logs
    }
}
