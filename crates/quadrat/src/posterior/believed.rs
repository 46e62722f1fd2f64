//! What a posterior believes of many functionals together, column by column of their covariance.

use super::component::Component;
use super::marginals::Marginals;
use super::mixture::Posterior;
use crate::error::{FitError, InputError};
use crate::likelihood::Noise;
use crate::linalg::{Mat, matvec};
use crate::support::Functionals;

/// Numbers that are kept of whitened covariances at most: 480 MB.
const MOST: usize = 60_000_000;

/// Why there is no joint belief of functionals where draws meet the rows.
const LIFTED: InputError = InputError::Unavailable {
    what: "a joint normal belief where rows are sums after a link",
    remedy: "fit with `method = \"sparse\"`, or rows that report of points",
};

/// A joint normal belief at one value of the hyperparameters.
pub(crate) struct Believed<'a> {
    posterior: &'a Posterior,
    component: &'a Component,
    at: &'a Functionals,
    /// The share of these hyperparameters.
    pub weight: f64,
    /// Means.
    pub mean: Vec<f64>,
    /// Variances, zero or more.
    pub variance: Vec<f64>,
    /// Rows take `W'W` from the prior covariance.
    whitened: Mat<f64>,
    /// What is open of the coefficients of the mean adds `V'V`.
    open: Option<Mat<f64>>,
}

impl Posterior {
    /// The belief of functionals over the kernel's own columns ([`Self::placed`]), at the heaviest
    /// values of the hyperparameters that memory allows, their shares of what is left.
    pub(crate) fn believed<'a>(
        &'a self,
        at: &'a Functionals,
    ) -> Result<Vec<Believed<'a>>, FitError> {
        // Beside sites of rows at points the normal beliefs, of which draws come, are there too.
        if self.has_draws() && !self.has_draws_beside_sites() {
            return Err(LIFTED.into());
        }
        let size = |c: &Component| c.conditioned.factor.size().max(1) * at.len().max(1);
        let mut room = MOST;
        let fits = |c: &&Component| {
            let is_there = size(c) <= room;
            room = room.saturating_sub(size(c));
            is_there
        };
        let kept: Vec<&Component> = self.components.iter().take_while(fits).collect();
        if kept.is_empty() {
            return Err(InputError::Unavailable {
                what: "a joint belief of so many candidates beside so many rows",
                remedy: "take fewer candidates: together with the rows they are too many to be kept in memory",
            }
            .into());
        }
        let total: f64 = kept.iter().map(|c| c.weight).sum();
        let mut all = Vec::with_capacity(kept.len());
        let mut moments = Vec::with_capacity(kept.len());
        for component in kept {
            let (left, prior) = self
                .prior_beside(component, at)
                .given(&component.conditioned);
            let mut marginals = Marginals::default();
            marginals.add(&left, prior);
            moments.push(marginals);
            all.push(Believed {
                posterior: self,
                component,
                at,
                weight: component.weight / total,
                mean: Vec::new(),
                variance: Vec::new(),
                whitened: left.whitened,
                open: left.open,
            });
        }
        self.mend(at, &mut moments);
        for (one, moments) in all.iter_mut().zip(moments) {
            one.mean = moments.mean;
            one.variance = moments.variance;
            one.variance.iter_mut().for_each(|v| *v = v.max(0.0));
        }
        Ok(all)
    }
}

impl Believed<'_> {
    /// The covariance of one functional with all of them.
    pub fn column(&self, row: usize) -> Vec<f64> {
        let (problem, theta) = (&self.posterior.problem, &self.component.theta);
        let one = self.at.rows(&[row]);
        let prior = match &self.open {
            Some(_) => problem.prior().between_apart(theta, self.at, &one),
            None => problem.prior().cross(theta, self.at, &one),
        };
        let mut column = prior.col_as_slice(0).to_vec();
        let seen = matvec(self.whitened.transpose(), self.whitened.col_as_slice(row));
        column.iter_mut().zip(&seen).for_each(|(c, s)| *c -= s);
        if let Some(open) = &self.open {
            let left = matvec(open.transpose(), open.col_as_slice(row));
            column.iter_mut().zip(&left).for_each(|(c, s)| *c += s);
        }
        column
    }

    /// The hyperparameters of the likelihood of a table.
    pub fn own(&self, table: usize) -> Vec<f64> {
        let own = self.posterior.problem.tables().own[table].iter();
        own.map(|&i| self.component.theta[i]).collect()
    }

    /// The noise variance of a new row like those of a table; none where it has none, or where it
    /// differs from row to row.
    pub fn noise(&self, table: usize) -> Option<f64> {
        let problem = &self.posterior.problem;
        problem.likelihood(table).noise().map(Noise::is_learned)?;
        problem.tables().new_row_noise(&self.component.theta, table)
    }
}
