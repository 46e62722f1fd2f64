//! What a fit says of a quantity beside what sampling says of it.

use serde::Serialize;

use super::Marginal;

/// R-hat above which chains disagree (Vehtari et al. 2021).
const R_HAT: f64 = 1.01;
/// Effective sample size below which means, sds and R-hat themselves are not known well (Vehtari et
/// al. 2021).
const EFFECTIVE: f64 = 400.0;
/// Means that are farther apart than this, in sds, are told.
const APART: f64 = 0.5;
/// Sds that differ by more than this factor are told.
const RATIO: f64 = 1.5;

/// Mean and spread of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

impl From<&Marginal> for Spread {
    fn from(at: &Marginal) -> Self {
        Self {
            mean: at.mean,
            sd: at.sd,
        }
    }
}

/// A quantity of the function (the latent value of a row, the log density of a cell), by the fit
/// and by sampling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RowCheck {
    /// By the fit, hyperparameters integrated where the fit does.
    pub fit: Spread,
    /// By sampling.
    pub sampled: Spread,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
    /// Effective sample size.
    pub effective_size: f64,
}

impl RowCheck {
    /// What a fit says beside draws.
    #[must_use]
    pub fn new(fit: Spread, at: &Marginal) -> Self {
        Self {
            fit,
            sampled: at.into(),
            r_hat: at.r_hat,
            effective_size: at.effective_size,
        }
    }

    /// By how many of its sampled sds the mean of the fit is off.
    #[must_use]
    pub fn mean_difference(&self) -> f64 {
        (self.fit.mean - self.sampled.mean) / self.sampled.sd
    }

    /// The sd of the fit over the sampled sd.
    #[must_use]
    pub fn sd_ratio(&self) -> f64 {
        self.fit.sd / self.sampled.sd
    }

    fn is_apart(&self) -> bool {
        self.mean_difference().abs() > APART || self.sd_ratio().ln().abs() > RATIO.ln()
    }
}

/// One free hyperparameter, by the fit and by sampling.
///
/// Means and sds are those of its logarithm where it is positive, since that is where its posterior
/// is nearly symmetric; intervals are in its own unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HyperCheck {
    /// Its public name.
    pub name: String,
    /// Whether means and sds are those of its logarithm.
    pub logarithm: bool,
    /// Its most probable value, in its own unit.
    pub map: f64,
    /// By the fit: over the nodes where hyperparameters are integrated, else the normal
    /// approximation; an sd of NaN where the fit has no interval.
    pub fit: Spread,
    /// Central 95 % interval by the fit, in its own unit; NaN where it has none.
    pub fit_interval: (f64, f64),
    /// By sampling.
    pub sampled: Spread,
    /// Central 95 % interval by sampling, in its own unit.
    pub sampled_interval: (f64, f64),
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
    /// Effective sample size.
    pub effective_size: f64,
}

/// How well the draws of a check are known, over everything that they tell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trust {
    /// Largest R-hat of any quantity.
    pub worst_r_hat: f64,
    /// Smallest effective sample size of any quantity.
    pub smallest_size: f64,
    /// Divergent trajectories, and trajectories.
    pub divergences: (usize, usize),
}

impl Trust {
    /// Of R-hat and effective sample size of every quantity.
    pub fn of(
        quantities: impl Iterator<Item = (f64, f64)> + Clone,
        divergences: (usize, usize),
    ) -> Self {
        // What is not known of one quantity is not known of the worst.
        let unless_nan = |a: f64, b: f64, of: fn(f64, f64) -> f64| match a.is_nan() || b.is_nan() {
            true => f64::NAN,
            false => of(a, b),
        };
        let worse = |a, b| unless_nan(a, b, f64::max);
        let less = |a, b| unless_nan(a, b, f64::min);
        Self {
            worst_r_hat: quantities.clone().map(|q| q.0).fold(0.0, worse),
            smallest_size: quantities.map(|q| q.1).fold(f64::INFINITY, less),
            divergences,
        }
    }

    /// Where the fit is wrong by the draws, as far as these can be trusted; and why they cannot, if
    /// so: chains that disagree, few effective draws, divergences.
    ///
    /// # Arguments
    /// * `checks` - the quantities of the function
    /// * `what` - what they are, as "rows"
    /// * `remedies` - how more draws are taken, where to look for which quantities these are, and
    ///   what helps against divergences
    pub fn warnings(
        &self,
        checks: impl Iterator<Item = RowCheck>,
        what: &str,
        [more, which, narrower]: [&str; 3],
    ) -> Vec<String> {
        let mut out = Vec::new();
        let (r_hat, size) = (self.worst_r_hat, self.smallest_size);
        if r_hat.is_nan() || r_hat > R_HAT {
            out.push(format!(
                "the chains of the check do not agree (R-hat up to {r_hat:.3}, above {R_HAT}): {more} before judging the fit by them"
            ));
        }
        if size.is_nan() || size < EFFECTIVE {
            out.push(format!(
                "the check has few effective draws (down to {size:.0}, below {EFFECTIVE:.0}): its own means and sds are rough; {more}"
            ));
        }
        let (mut all, mut apart) = (0, 0);
        for check in checks {
            all += 1;
            apart += usize::from(check.is_apart());
        }
        if r_hat <= R_HAT && size >= EFFECTIVE && apart > 0 {
            out.push(format!(
                "by the check the fit is wrong at {apart} of {all} {what} (means more than {APART} sd apart, or sds by more than a factor of {RATIO}): trust the draws, and {which}"
            ));
        }
        let (diverged, draws) = self.divergences;
        if diverged > 0 {
            out.push(format!(
                "{diverged} of {draws} trajectories of the check diverged: it may have missed a part of the posterior; {narrower}"
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_one_quantity_is_not_lost_among_others() {
        let known = [(1.0, 900.0), (1.02, 500.0)];
        let of = |all: &[(f64, f64)]| {
            let trust = Trust::of(all.iter().copied(), (0, 1));
            (trust.worst_r_hat, trust.smallest_size)
        };
        assert_eq!(of(&known), (1.02, 500.0));
        for at in 0..=known.len() {
            let mut all = known.to_vec();
            all.insert(at, (f64::NAN, f64::NAN));
            let (r_hat, size) = of(&all);
            assert!(r_hat.is_nan() && size.is_nan(), "{at}: {r_hat}, {size}");
        }
    }
}
