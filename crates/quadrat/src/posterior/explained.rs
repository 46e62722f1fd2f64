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
/// Inducing points explain the function where they leave no more than this share of its posterior
/// variance open.
const LEFT_OPEN: f64 = 0.02;
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
    /// function is known: the largest share and the largest sd in the middles of the rows, or of
    /// some hundreds of them. None where there are no inducing points.
    pub(crate) fn explained(&self) -> Result<Option<Explained>, InputError> {
        let observed = self.problem.observed();
        let mut at = Functionals::new(observed.dims().to_vec());
        let apart = observed.atom_count().div_ceil(LOOKED_AT).max(1);
        for atom in (0..observed.atom_count()).step_by(apart) {
            at.push_point(&middle(observed, atom))?;
        }
        let component = self.components.first();
        let open = component.and_then(|component| self.left_open(component, &at));
        Ok(open.map(|open| {
            let believed = self.normal_beliefs(&at);
            let shares = open
                .iter()
                .zip(believed.sd())
                .map(|(open, sd)| open / (sd * sd));
            Explained {
                share_left: shares.fold(0.0, f64::max),
                sd: believed.sd().iter().copied().fold(0.0, f64::max),
            }
        }))
    }
}

/// How well inducing points explain the function, and how well the rows tell it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explained {
    /// Largest share of the posterior variance that inducing points leave open.
    share_left: f64,
    /// Largest posterior sd.
    sd: f64,
}

impl Explained {
    /// Whether inducing points tell sds to one in a hundred.
    pub fn is_whole(self) -> bool {
        self.share_left <= LEFT_OPEN
    }

    /// Whether a normal belief about the logarithm of a mean holds.
    pub fn is_nearly_normal(self) -> bool {
        self.sd <= UNCERTAIN
    }
}
