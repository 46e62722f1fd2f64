//! Posterior means and variances of functionals.

use std::collections::BTreeMap;

use super::prediction::Prediction;
use super::stretch::Stretch;
use crate::inference::{Conditioned, Factor};
use crate::linalg::{Mat, dot};
use crate::support::Functionals;

/// Shares of the prior variance below which a difference is looked at: half of all digits are lost.
pub(super) const LOST: f64 = 1e-8;

/// A row is unresolved where it is so at hyperparameters of more than this weight together.
const WEIGHTY: f64 = 0.05;

/// What the prior says of some functionals.
pub(crate) struct PriorMarginals {
    /// Covariance with what was conditioned on.
    pub cross: Mat<f64>,
    pub variance: Vec<f64>,
    pub mean: Vec<f64>,
    /// What they see of the coefficients of the mean, shape `[m, coefficients]`, where these are no
    /// part of the covariances above.
    pub coefficients: Option<Mat<f64>>,
}

/// What is left of it.
pub(crate) struct Left {
    /// Posterior means.
    pub mean: Vec<f64>,
    /// `W`, shape `[n, m]`: rows take `W'W` from the prior covariance.
    pub whitened: Mat<f64>,
    /// `V`, shape `[coefficients, m]`: what is open of these adds `V'V` to it.
    pub open: Option<Mat<f64>>,
}

impl PriorMarginals {
    /// Conditions it.
    pub fn given(self, conditioned: &Conditioned) -> (Left, Vec<f64>) {
        let Self {
            cross,
            variance,
            mut mean,
            coefficients,
        } = self;
        let alpha = &conditioned.alpha;
        let (shift, whitened, open) = match (&conditioned.factor, coefficients) {
            (Factor::Basis(basis), Some(columns)) => {
                let levels = &conditioned.levels;
                let given = basis.given(cross, columns.as_ref(), alpha, levels);
                (given.shift, given.whitened, Some(given.open))
            }
            (factor, _) => {
                let shift = (0..mean.len()).map(|j| dot(cross.col_as_slice(j), alpha));
                (shift.collect(), factor.whiten(cross), None)
            }
        };
        mean.iter_mut().zip(&shift).for_each(|(m, s)| *m += s);
        let left = Left {
            mean,
            whitened,
            open,
        };
        (left, variance)
    }
}

/// Means and variances at one value of the hyperparameters.
#[derive(Debug, Default, Clone)]
pub(crate) struct Marginals {
    pub mean: Vec<f64>,
    /// Where little is left of the prior's it may be below zero until it is mended; not a number
    /// where arithmetic failed.
    pub variance: Vec<f64>,
    /// Of which functionals little is left, in order.
    pub(crate) lost: Vec<usize>,
    /// Of which the variance is rounding, though observations are known better.
    pub(crate) unresolved: Vec<usize>,
}

/// Means and variances at every node of the hyperparameters.
pub(super) struct Told {
    pub nodes: Vec<Marginals>,
    /// Stretches of a line on which they were interpolated.
    pub stretches: Vec<Stretch>,
}

impl Marginals {
    /// Where no digits were lost.
    pub fn known(mean: Vec<f64>, variance: Vec<f64>) -> Self {
        Self {
            mean,
            variance,
            ..Self::default()
        }
    }

    /// Adds what is left of some functionals of these prior variances.
    pub fn add(&mut self, left: &Left, variance: Vec<f64>) {
        self.mean.extend_from_slice(&left.mean);
        for (j, mut variance) in variance.into_iter().enumerate() {
            if let Some(open) = &left.open {
                let v = open.col_as_slice(j);
                variance += dot(v, v);
            }
            let w = left.whitened.col_as_slice(j);
            self.add_variance(variance - dot(w, w), variance);
        }
    }

    /// Adds a variance, of which so much was open before.
    fn add_variance(&mut self, rest: f64, before: f64) {
        if rest <= LOST * before {
            self.lost.push(self.variance.len());
        }
        self.variance.push(rest);
    }

    /// Adds means and variances, of functionals of these prior variances.
    pub fn add_known(&mut self, (mean, variance): (Vec<f64>, Vec<f64>), before: &[f64]) {
        self.mean.extend(mean);
        for (rest, before) in variance.into_iter().zip(before) {
            self.add_variance(rest, *before);
        }
    }
}

/// Posterior means and variances, part by part.
pub(crate) fn marginals(
    conditioned: &Conditioned,
    parts: &[Functionals],
    prior: impl Fn(&Functionals) -> PriorMarginals,
) -> Marginals {
    let mut out = Marginals::default();
    for part in parts {
        let (left, variance) = prior(part).given(conditioned);
        out.add(&left, variance);
    }
    out
}

/// All values of the hyperparameters together.
pub(crate) fn together(weights: Vec<f64>, nodes: Vec<Marginals>) -> Prediction {
    let mut share = BTreeMap::<usize, f64>::new();
    for (node, weight) in nodes.iter().zip(&weights) {
        for row in &node.unresolved {
            *share.entry(*row).or_default() += weight;
        }
    }
    let unresolved = share.into_iter().filter(|(_, share)| *share > WEIGHTY);
    let unresolved = unresolved.map(|(row, _)| row).collect();
    let moments = nodes.into_iter().map(|at| (at.mean, at.variance));
    let moments: Vec<(Vec<f64>, Vec<f64>)> = moments.collect();
    Prediction::from_moments(weights, &moments).leaving(unresolved)
}
