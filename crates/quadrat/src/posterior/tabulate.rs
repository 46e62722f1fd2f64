//! Several quantiles and chances of every row at once.

use rayon::prelude::*;

use super::prediction::Prediction;
use super::stretch::{Interpolated, Stretch};
use crate::special::scalar::normal_quantile;

/// Mixtures of fewer components are asked row by row.
const COMPONENTS: usize = 8;

/// What [`Prediction::tabulate`] found, one list for every level and every limit, each with one
/// number for every row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tabulated {
    /// Quantiles, level by level.
    pub quantiles: Vec<Vec<f64>>,
    /// Probabilities of more than each limit.
    pub exceedances: Vec<Vec<f64>>,
}

impl Prediction {
    /// Quantiles at several levels, and the probabilities to exceed several limits, of every row:
    /// what [`Self::quantile`] and [`Self::exceedance`] tell one by one, but the distribution of a
    /// row is made once.
    ///
    /// # Arguments
    /// * `levels` - between 0 and 1; quantiles of others are NaN
    /// * `limits` - in the unit of the predictions; a probability is NaN where a limit is
    ///
    /// # Numerics
    /// As [`Self::quantile`] and [`Self::exceedance`].
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
    /// let told = p.tabulate(&[0.025, 0.975], &[0.5]);
    /// assert_eq!(told.quantiles[1], p.quantile(0.975));
    /// assert_eq!(told.exceedances[0], p.exceedance(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tabulate(&self, levels: &[f64], limits: &[f64]) -> Tabulated {
        if let (Some(normal), true) = (self.normal_moments(), limits.is_empty()) {
            // Of a million rows in closed form.
            let of_level = |p: &f64| {
                let z = match *p > 0.0 && *p < 1.0 {
                    true => normal_quantile(*p),
                    false => f64::NAN,
                };
                normal.iter().map(|(mean, sd)| mean + sd * z).collect()
            };
            return Tabulated {
                quantiles: levels.iter().map(of_level).collect(),
                exceedances: Vec::new(),
            };
        }
        let mut quantiles = vec![vec![0.0; self.len()]; levels.len()];
        let is_told = self.interpolate(levels, &mut quantiles);
        let is_told = |row: usize| is_told.get(row) == Some(&true);
        let rows = self.each_row(|row, mut marginal| {
            let own = levels.iter().filter(|_| !is_told(row));
            let quantiles: Vec<f64> = own.map(|p| marginal.quantile(*p)).collect();
            let above = |limit: &f64| (1.0 - marginal.cdf(*limit)).clamp(0.0, 1.0);
            (quantiles, limits.iter().map(above).collect::<Vec<f64>>())
        });
        for (row, (own, _)) in rows.iter().enumerate() {
            for (all, own) in quantiles.iter_mut().zip(own) {
                all[row] = *own;
            }
        }
        Tabulated {
            quantiles,
            exceedances: (0..limits.len())
                .map(|limit| rows.iter().map(|row| row.1[limit]).collect())
                .collect(),
        }
    }

    /// Quantiles of rows along a line, where interpolation tells them: which rows these are, or
    /// nothing where there are none.
    ///
    /// # Arguments
    /// * `out` - list by list, one for every level
    fn interpolate(&self, levels: &[f64], out: &mut [Vec<f64>]) -> Vec<bool> {
        let told = self.quantiles_along(levels);
        let mut is_told = vec![false; if told.is_empty() { 0 } else { self.len() }];
        for part in &told {
            part.rows().iter().for_each(|row| is_told[*row] = true);
            for (level, out) in out.iter_mut().enumerate() {
                part.of_level(level).for_each(|(row, q)| out[row] = q);
            }
        }
        is_told
    }

    /// Quantiles of those rows along a line that need not be asked one by one.
    ///
    /// # Numerics
    /// Of latent values within 1e-9 of the smallest sd of a mixture nearby; of means of
    /// observations at such values.
    pub(super) fn quantiles_along(&self, levels: &[f64]) -> Vec<Interpolated> {
        let are_levels = levels.iter().all(|p| *p > 0.0 && *p < 1.0);
        let is_plain = self.noise.is_none() && !self.is_truncated && self.limits.is_none();
        let predictive = self.predictive.as_ref();
        let is_of_latent = predictive.is_none_or(|p| p.is_mean() && p.is_monotone());
        let are_many = self.weights().len() >= COMPONENTS;
        if levels.is_empty() || !(are_levels && is_plain && is_of_latent && are_many) {
            return Vec::new();
        }
        let told = |stretch: &Stretch| stretch.quantiles(self.latent(), levels);
        let each: Vec<Vec<Interpolated>> = self.stretches.par_iter().map(told).collect();
        let mut all: Vec<Interpolated> = each.into_iter().flatten().collect();
        if let Some(predictive) = predictive {
            let means =
                |part: &mut Interpolated| part.map(|row, q| predictive.mean_quantile(row, q));
            all.par_iter_mut().for_each(means);
        }
        all
    }
}
