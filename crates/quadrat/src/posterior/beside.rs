//! The prior of functionals in the form in which the rows of a fit were conditioned on.

use super::component::Component;
use super::marginals::PriorMarginals;
use super::mixture::Posterior;
use crate::inference::Factor;
use crate::support::Functionals;

impl Posterior {
    /// The prior of functionals at one node, in the form in which its rows were conditioned on.
    pub(crate) fn prior_beside(&self, component: &Component, at: &Functionals) -> PriorMarginals {
        let (problem, theta) = (&self.problem, &component.theta);
        let mean = problem.mean().means(at);
        match component.conditioned.factor {
            Factor::Basis(_) => {
                let parted = problem.cross_apart(theta, at);
                PriorMarginals {
                    cross: parted.kernel,
                    variance: problem.prior().variance_apart(theta, at),
                    mean,
                    coefficients: Some(parted.constants),
                }
            }
            _ => PriorMarginals {
                cross: problem.cross(theta, at),
                variance: problem.prior().variance(theta, at),
                mean,
                coefficients: None,
            },
        }
    }
}
