//! Probabilities of what a prediction may turn out to be: above a limit, or each of some ranks.

use super::prediction::Prediction;
use super::predictive::Predictive;

impl Prediction {
    /// One number for every row, without any uncertainty.
    pub(crate) fn certain(means: Vec<f64>) -> Self {
        let variances = vec![0.0; means.len()];
        Self::from_moments(vec![1.0], &[(means, variances)])
    }

    /// Whether every row is one number, without any uncertainty, as simple methods tell it.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.predictive.is_none() && self.sd.iter().all(|sd| *sd == 0.0)
    }

    /// Whether the latent values of every row are one normal distribution.
    pub(crate) fn is_one_normal(&self) -> bool {
        self.weights().len() == 1 && self.noise.is_none()
    }

    /// Whether whole numbers are predicted: counts, successes, answers or ranks.
    #[must_use]
    pub fn is_discrete(&self) -> bool {
        self.predictive
            .as_ref()
            .is_some_and(Predictive::is_discrete)
    }

    /// Mean and standard deviation of every row, where each is one normal distribution.
    #[must_use]
    pub fn normal_moments(&self) -> Option<Vec<(f64, f64)>> {
        let moments = || self.mean.iter().copied().zip(self.sd.iter().copied());
        let is_plain = self.predictive.is_none() && !self.is_truncated && self.limits.is_none();
        (is_plain && self.is_one_normal()).then(|| moments().collect())
    }

    /// The probability that the predicted quantity exceeds a limit,
    ///
    /// $$ P(Y_i > t) = 1 - \sum_k w_k F_{ik}(t) $$
    ///
    /// for every row, with `w_k` the shares of the hyperparameters' nodes; for a count strictly
    /// more than `limit`. As exact as [`Self::cdf`], to an absolute `1e-7`; NaN for a limit that is
    /// not a number.
    #[must_use]
    pub fn exceedance(&self, limit: f64) -> Vec<f64> {
        self.exceedance_of_each(&vec![limit; self.len()])
    }

    /// The same as [`Self::exceedance`], where every row has a limit of its own.
    ///
    /// # Panics
    /// If there are not as many limits as rows.
    #[must_use]
    pub fn exceedance_of_each(&self, limits: &[f64]) -> Vec<f64> {
        let below = self.cdf(limits);
        below
            .into_iter()
            .map(|p| (1.0 - p).clamp(0.0, 1.0))
            .collect()
    }

    /// The probability of every rank of a new observation, in the order of the ranks: one list per
    /// row, each with sum one; nothing unless new ranks are predicted
    /// ([`Scale::Observation`](crate::model::Scale::Observation) of an ordinal likelihood).
    ///
    /// $$ P(Y_i = k) = \sum_j w_j \left[ \Phi\!\left(\frac{t_{jk} - m_{ij}}{s_{ij}}\right) -
    /// \Phi\!\left(\frac{t_{j,k-1} - m_{ij}}{s_{ij}}\right) \right], \qquad s_{ij}^2 =
    /// \mathrm{Var}_j f_i + v_j $$
    #[must_use]
    pub fn rank_probabilities(&self) -> Option<Vec<Vec<f64>>> {
        let ranks = self.predictive.as_ref()?.ranks()?;
        Some(self.each_row(|_, mut marginal| {
            let mut before = 0.0;
            let one = |rank: usize| {
                let now = match rank == ranks {
                    true => 1.0,
                    false => marginal.cdf(rank as f64),
                };
                let p = now - std::mem::replace(&mut before, now);
                // Not a number stays so.
                if p < 0.0 { 0.0 } else { p }
            };
            (1..=ranks).map(one).collect()
        }))
    }
}

#[cfg(test)]
#[path = "probabilities_tests.rs"]
mod tests;
