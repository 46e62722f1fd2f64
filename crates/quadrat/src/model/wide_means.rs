//! Priors of the mean that are wider than approximate inference bears.
//!
//! Exact inference keeps the coefficients of the mean apart, whatever is believed of them.
//! Elsewhere their prior variances are part of a covariance: beside one that is 1e16 times that of
//! the function nothing is left of the function in double precision. A prior that is flat wherever
//! the rows may put a coefficient says no more than a narrower one that is flat there too.

use super::Model;
use crate::posterior::mixture::Posterior;
use crate::problem::mean::MeanPrior;
use crate::problem::mean_settings::MeanSettings;

/// How many times the spread of the values (per range of the column for a slope) the prior sd of a
/// coefficient may be: what rows know to the spread then moves by 1e-8 of itself.
const WIDEST: f64 = 1e4;
/// The same beside inducing points, whose rounding must stay below their jitter: 1e-4.
const WIDEST_SPARSE: f64 = 1e2;

/// How wide priors of the mean may be, in spreads of the values; none where it does not matter.
pub(super) fn widest(is_exact: bool, is_sparse: bool) -> Option<f64> {
    match (is_sparse, is_exact) {
        (true, _) => Some(WIDEST_SPARSE),
        (false, true) => None,
        (false, false) => Some(WIDEST),
    }
}

/// What stands for a prior: itself, unless it is wider than `most`.
///
/// # Arguments
/// * `likely` - where the rows may put the coefficient
pub(super) fn within(prior: MeanPrior, likely: f64, most: f64) -> MeanPrior {
    match prior.sd > most && most > 0.0 {
        true => MeanPrior {
            mean: likely,
            sd: most,
        },
        false => prior,
    }
}

impl Model {
    /// What to say of priors of the mean that others stand for.
    pub(super) fn narrowed_means(&self, posterior: &Posterior) -> Vec<String> {
        let outputs = self.kernel.outputs();
        let mean = posterior.problem.mean();
        let told = mean.unknown().into_iter().filter_map(|coefficient| {
            let column = coefficient.line.map(|l| &self.mean.columns()[l]);
            let (settings, name) = match column {
                None => (
                    MeanSettings::new(&self.settings, None, outputs),
                    "the mean".to_owned(),
                ),
                Some(column) => (
                    MeanSettings::of_line(&self.settings, column, outputs),
                    format!("the slope along {column}"),
                ),
            };
            let said = settings.prior(coefficient.output).ok()??;
            let own = coefficient.prior;
            (said != own).then(|| {
                format!(
                    "the prior normal({}, {}) of {name} is so wide that this inference would lose all digits beside it: normal({:.3e}, {:.3e}) stands in its place, beside which rows say as much, and log evidence and posterior are those under it",
                    said.mean, said.sd, own.mean, own.sd
                )
            })
        });
        told.collect()
    }
}
