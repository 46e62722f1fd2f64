//! What is asked of predictions that meet totals, and by which way it is answered.

use super::given::GroupTotals;
use super::met::Met;
use super::raked::DRAWS;
use super::{normal, raked};
use crate::error::{FitError, InputError};
use crate::likelihood::Outcomes;
use crate::posterior::mixture::Posterior;
use crate::problem::scale::Scale;
use crate::support::Functionals;

/// Rows that meet totals together, at most: their covariance is factorised.
const MOST_ROWS: usize = 4000;
/// Numbers that are kept for the groups' covariances with rows, at most: 400 MB.
const MOST_KEPT: usize = 50_000_000;

/// Why probabilities meet no totals.
const PROBABILITIES: InputError = InputError::Unavailable {
    what: "a total that probabilities meet",
    remedy: "scaled to a total some would exceed one; report the totals as rows of a table of their own",
};
/// Why ranks do not.
const RANKS: InputError = InputError::Unavailable {
    what: "a total that ranks meet",
    remedy: "the function behind ranks has no unit; totals are of amounts",
};
/// Why errors of totals are not known behind a link.
const NO_VARIANCE: InputError = InputError::Unavailable {
    what: "a total with a variance behind a link",
    remedy: "report such totals as rows of a table of their own, and predict without meeting them",
};

impl Posterior {
    /// Predictions of the response whose groups add up to given totals, in every draw and in the
    /// mean: benchmarking.
    ///
    /// **Without a link** the totals `t` are what they are in the model, further rows: with `z`
    /// normal of mean `m` and covariance `V` at each value of the hyperparameters, `A` the weights
    /// of the groups and `R` the variances of the totals,
    ///
    /// $$ z^* = z + V A' (A V A' + R)^{-1} (t - A z) $$
    ///
    /// and these values are weighted anew by the density of the totals, `N(t; A m, A V A' + R)`.
    /// They are not learned again.
    ///
    /// **Behind a link** values are positive, and every joint draw `r` is scaled in each group,
    ///
    /// $$ r^*_i = r_i \frac{t_g}{\sum_{j \in g} w_j r_j}, \qquad i \in g $$
    ///
    /// Rows that are known exactly keep their values: groups and these are scaled in turn until
    /// both hold. Draws keep their weights: what the fit says of the shares of each group stays as
    /// it is, and the totals, which are known from elsewhere, say how much is shared out.
    ///
    /// # Arguments
    /// * `at` - supports as [`Self::predict`] takes them, of one output, at most 4,000
    /// * `totals` - groups of these rows; rows of no group stay as they are behind a link, and
    ///   learn from the totals without one
    /// * `table` - as for [`Self::predict_as`]
    /// * `draws`, `seed` - joint draws that are kept
    ///
    /// # Errors
    /// As [`Self::predict_as`] and [`Self::sample_responses`]; [`FitError::Total`] for a total that
    /// contradicts what rows or other totals determine, or that no scaling meets;
    /// [`InputError::Unavailable`] for probabilities and ranks, and for a variance behind a link;
    /// [`InputError::Range`] for more rows or groups than fit into memory, and for a negative total
    /// behind a link.
    ///
    /// # Numerics
    /// Totals are met to `1e-12` of them. Without a link moments and quantiles are exact; behind
    /// one they are those of 4,000 draws, or of `draws` if these are more. A sum counts as
    /// determined where its variance is below what rounding leaves of it, `16 n eps` of that under
    /// the prior; a total must then agree to twice the root of that, about `1e-6` of the prior sd.
    ///
    /// # Source
    /// Datta, Ghosh, Steorts and Maples 2011, Bayesian benchmarking with applications to small area
    /// estimation; Deming and Stephan 1940 for scaling in turn.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, GroupTotals, Model, Noise, Observations};
    /// use quadrat::support::{Aggregate, Functionals};
    ///
    /// let bands = [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0), (30.0, 40.0)];
    /// let bands = Functionals::intervals("x", &bands, Aggregate::Sum)?;
    /// let noise = Noise::Known(vec![25.0; 4]);
    /// let posterior = Model::new(Kernel::se(["x"]))
    ///     .observe(Observations::gaussian(bands, vec![52.0, 61.0, 48.0, 40.0], noise)?)
    ///     .fit(&FitOptions::default())?;
    /// let fifths: Vec<_> = (0..8).map(|i| (5.0 * i as f64, 5.0 * i as f64 + 5.0)).collect();
    /// let fifths = Functionals::intervals("x", &fifths, Aggregate::Sum)?;
    /// let group = |rows: std::ops::Range<usize>| rows.map(|row| (row, 1.0)).collect();
    /// let totals = GroupTotals::new()
    ///     .add("first half", group(0..4), (110.0, 0.0))?
    ///     .add("second half", group(4..8), (90.0, 0.0))?;
    /// let met = posterior.meet(&fifths, &totals, None, (10, 1))?;
    /// assert!((met.mean()[..4].iter().sum::<f64>() - 110.0).abs() < 1e-9);
    /// let seventh: f64 = (4..8).map(|row| met.draws()[(row, 6)]).sum();
    /// assert!((seventh - 90.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn meet(
        &self,
        at: &Functionals,
        totals: &GroupTotals,
        table: Option<usize>,
        (draws, seed): (usize, u64),
    ) -> Result<Met, FitError> {
        let placed = self.place(at)?;
        totals.suit(placed.len())?;
        let of_groups = placed.len() * totals.len().max(1) * self.components.len();
        let of_draws = placed.len().saturating_mul(draws.max(DRAWS));
        for (what, value, most, requirement) in [
            (
                "the number of rows that meet totals together",
                placed.len(),
                MOST_ROWS,
                "at most 4,000: ask for fewer rows at a time, whole groups of them",
            ),
            (
                "the number of rows times that of groups and of values of the hyperparameters",
                of_groups,
                MOST_KEPT,
                "at most 5e7: ask for fewer rows or groups at a time, or for the most probable hyperparameters",
            ),
            (
                "the number of rows times that of draws",
                of_draws,
                MOST_KEPT,
                "at most 5e7: ask for fewer rows or draws at a time",
            ),
        ] {
            if value > most {
                return Err(InputError::Range {
                    what: what.into(),
                    row: 0,
                    value: value as f64,
                    requirement,
                }
                .into());
            }
        }
        // Refuses rows of several outputs, and what has no such scale, before any draw is made.
        let prediction = self.predict_as(at, Scale::Response, table)?;
        let output = match placed.is_empty() {
            true => 0,
            false => self.problem.mean().output(&placed, 0),
        };
        let table = self.problem.reporting(output, Scale::Response, table)?;
        let likelihood = self.problem.likelihood(table);
        match likelihood.outcomes() {
            Outcomes::Answers(_) | Outcomes::Successes { .. } => Err(PROBABILITIES.into()),
            Outcomes::Ranks(_) => Err(RANKS.into()),
            Outcomes::Values(_)
            | Outcomes::Intervals(_)
            | Outcomes::Counts(_)
            | Outcomes::Bounds => {
                if likelihood.is_linear() {
                    return normal::met(self, &placed, totals, (draws, seed));
                }
                if let Some(row) = totals.groups.iter().position(|g| g.total < 0.0) {
                    return Err(InputError::Range {
                        what: format!("the total of `{}`", totals.groups[row].name),
                        row,
                        value: totals.groups[row].total,
                        requirement: "zero or more: what lies behind a link is never negative",
                    }
                    .into());
                }
                if totals.groups.iter().any(|group| group.variance > 0.0) {
                    return Err(NO_VARIANCE.into());
                }
                raked::met(self, (&placed, &prediction), totals, (draws, seed))
            }
        }
    }
}
