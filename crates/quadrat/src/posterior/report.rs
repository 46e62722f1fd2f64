//! What an instrument with limits reports: nothing below the lower one, nothing above the upper.

use rayon::prelude::*;

use crate::posterior::limits::Limits;
use crate::posterior::prediction::Prediction;

/// Counts up to which the chances of a report are added up one by one.
const ONE_BY_ONE: f64 = 512.0;
/// Steps to either side in which the others are added up, growing with their distance: quantiles of
/// heavy tails lie thousands of standard deviations away.
const STEPS: usize = 512;
/// What lies beyond these quantiles is left out.
const LEFT_OUT: f64 = 1e-12;

impl Prediction {
    /// What an instrument with limits reports in place of new observations: one below the lower
    /// limit is reported as that, one above the upper limit as that.
    ///
    /// $$ r = \min(\max(y, l), u) $$
    ///
    /// Means and quantiles are those of `r`, which has heaps at the limits; the log density there
    /// is the log of their probability. Of counts a hidden one stands as the largest number that it
    /// may be: a cell that says `<5` as 4. To be asked of predictions of observations
    /// ([`Scale::Observation`](crate::model::Scale::Observation)): the mean behind a link stays as
    /// it is, but a function is reported as if it were observed without noise.
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

    /// From the distribution function `F`, about any `c` between the limits:
    ///
    /// $$ E r - c = \int_c^u (1 - F) - \int_l^c F, \qquad \tfrac12 E (r - c)^2 = \int_c^u (t - c)
    ///    (1 - F) + \int_l^c (c - t) F $$
    ///
    /// Without an upper limit the tail is that of the value, in its mean and variance:
    ///
    /// $$ E r - E y = \int_{-\infty}^l F, \qquad \tfrac12 (E (r - c)^2 - E (y - c)^2) =
    ///    \int_{-\infty}^l (t - c) F $$
    fn other_report(&self, row: usize, limits: Limits) -> (f64, f64) {
        let mut marginal = self.marginal(row);
        let (mean, variance) = (self.mean[row], self.sd[row].powi(2));
        let [low, near, middle, far, high] =
            [LEFT_OUT, 0.25, 0.5, 0.75, 1.0 - LEFT_OUT].map(|p| marginal.quantile_of_value(p));
        let steps = Steps {
            unit: far - near,
            is_count: self.predictive.as_ref().is_some_and(|p| p.is_count()),
        };
        if limits.upper() == f64::INFINITY && variance.is_finite() {
            let (mut first, mut second) = (0.0, variance);
            for (from, to) in steps.away(limits.lower(), low.min(limits.lower())) {
                let share = (to - from) * marginal.cdf_of_value(0.5 * (from + to));
                first += share;
                second += share * (to + from - 2.0 * mean);
            }
            return (mean + first, second - first * first);
        }
        let centre = limits.clip(middle);
        let (mut first, mut second) = (0.0, 0.0);
        for (from, to) in steps.away(centre, limits.clip(low).min(centre)) {
            let share = (to - from) * marginal.cdf_of_value(0.5 * (from + to));
            first -= share;
            second += share * (2.0 * centre - to - from);
        }
        for (from, to) in steps.away(centre, limits.clip(high).max(centre)) {
            let above = 1.0 - marginal.cdf_of_value(0.5 * (from + to));
            let share = (to - from) * above;
            first += share;
            second += share * (to + from - 2.0 * centre);
        }
        (centre + first, second - first * first)
    }
}

/// Steps along a line from a limit or a middle outwards.
struct Steps {
    /// Between the quartiles.
    unit: f64,
    is_count: bool,
}

impl Steps {
    /// From one value to another, which may lie on either side: pairs `(lower, upper)`. Of counts
    /// one by one where there are not too many, else in lengths that grow from some 1/50 of the
    /// unit on.
    fn away(&self, from: f64, to: f64) -> Vec<(f64, f64)> {
        let reach = (to - from).abs();
        if reach == 0.0 || !reach.is_finite() {
            return Vec::new();
        }
        let sign = (to - from).signum();
        let (count, edge): (usize, Box<dyn Fn(usize) -> f64>) =
            match self.is_count && reach <= ONE_BY_ONE && reach.fract() == 0.0 {
                true => (reach as usize, Box::new(|k| k as f64)),
                false => {
                    let unit = if self.unit > 0.0 { self.unit } else { reach };
                    let rate = (reach / unit).ln_1p() / STEPS as f64;
                    (STEPS, Box::new(move |k| unit * (rate * k as f64).exp_m1()))
                }
            };
        let pair = |k: usize| {
            let (a, b) = (from + sign * edge(k), from + sign * edge(k + 1));
            (a.min(b), a.max(b))
        };
        (0..count).map(pair).collect()
    }
}
