//! What inducing points explain of the function.

use super::component::Component;
use super::mixture::Posterior;
use crate::error::InputError;
use crate::inference::Factor;
use crate::linalg::dot;
use crate::problem::sparse::middle;
use crate::support::Functionals;

/// Rows that are looked at, at most.
const LOOKED_AT: usize = 500;
/// Multiples of this are spread evenly over a line when only their fractions are taken.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Inducing points explain the function where they leave no more than this share of its posterior
/// variance open in any row; on average it is then some tenth of that.
const LEFT_OPEN: f64 = 0.05;
/// A normal belief about the logarithm of a mean holds where its sd is at most this, as it is
/// beside some four events.
const UNCERTAIN: f64 = 0.5;

impl Posterior {
    /// What inducing points leave open of the prior variance of functionals, at one value of the
    /// hyperparameters; none where there are no inducing points.
    ///
    /// $$ r = k - a'a, \qquad a = L^{-1} k_u, \qquad L L' = K_{uu} $$
    pub(super) fn left_open(&self, component: &Component, at: &Functionals) -> Option<Vec<f64>> {
        let Factor::Sparse { factor, .. } = &component.conditioned.factor else {
            return None;
        };
        let mut cross = self.problem.cross(&component.theta, at);
        factor.half_solve_in_place(cross.as_mut());
        let prior = self.problem.prior().variance(&component.theta, at);
        let open = prior.iter().enumerate().map(|(row, k)| {
            let a = cross.col_as_slice(row);
            (k - dot(a, a)).max(0.0)
        });
        Some(open.collect())
    }

    /// What inducing points leave open of the posterior variance of the function, and how well the
    /// function is known: in the middles of the rows, or of some hundreds of them, at the most
    /// probable hyperparameters. None where there are no inducing points.
    pub(crate) fn explained(&self) -> Result<Option<Explained>, InputError> {
        let observed = self.problem.observed();
        let count = observed.atom_count();
        let mut at = Functionals::new(observed.dims().to_vec());
        for k in 0..count.min(LOOKED_AT) {
            // Of many rows those that no period of a raster keeps apart from others.
            let share = match count <= LOOKED_AT {
                true => k as f64 / count as f64,
                false => (GOLDEN * k as f64).fract(),
            };
            let atom = ((share * count as f64) as usize).min(count - 1);
            at.push_point(&middle(observed, atom))?;
        }
        let component = self.components.first();
        let open = component.and_then(|component| self.left_open(component, &at));
        Ok(open.map(|open| {
            let believed = self.normal_beliefs(&at);
            let mut both = open.iter().zip(believed.sd());
            Explained {
                // What is no number is not explained.
                is_whole: both.all(|(open, sd)| *open <= LEFT_OPEN * sd * sd),
                is_nearly_normal: believed.sd().iter().all(|sd| *sd <= UNCERTAIN),
            }
        }))
    }
}

/// How well inducing points explain the function, and how well the rows tell it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explained {
    /// Whether inducing points tell sds to one in forty.
    pub is_whole: bool,
    /// Whether a normal belief about the logarithm of a mean holds.
    pub is_nearly_normal: bool,
}
