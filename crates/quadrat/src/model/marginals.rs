//! Posterior means and variances of functionals.

use std::collections::BTreeMap;

use super::prediction::Prediction;
use crate::inference::Conditioned;
use crate::linalg::{Mat, dot};
use crate::support::Functionals;

/// Shares of the prior variance below which a difference is looked at: half of all digits are lost.
const LOST: f64 = 1e-8;

/// Weight of the hyperparameters for which a row's variance is not known, from which that is told.
const WEIGHTY: f64 = 0.05;

/// What the prior says of some functionals: covariance with the rows, variance, mean.
pub(super) struct Prior {
    pub cross: Mat<f64>,
    pub variance: Vec<f64>,
    pub mean: Vec<f64>,
}

/// Means and variances at one value of the hyperparameters.
#[derive(Debug, Default)]
pub(super) struct Marginals {
    pub mean: Vec<f64>,
    /// Where little is left of the prior's it may be below zero until it is mended; not a number
    /// where arithmetic failed.
    pub variance: Vec<f64>,
    /// Of which functionals little is left, in order.
    pub(super) lost: Vec<usize>,
    /// Of which the variance is rounding, though observations are known better.
    pub(super) unresolved: Vec<usize>,
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
}

/// Posterior means and variances, part by part.
pub(super) fn marginals(
    conditioned: &Conditioned,
    parts: &[Functionals],
    prior: impl Fn(&Functionals) -> Prior,
) -> Marginals {
    let mut out = Marginals::default();
    for part in parts {
        let Prior {
            cross,
            variance,
            mean,
        } = prior(part);
        for (j, mean) in mean.iter().enumerate() {
            let shift = dot(cross.col_as_slice(j), &conditioned.alpha);
            out.mean.push(mean + shift);
        }
        let whitened = conditioned.factor.whiten(cross);
        for (j, variance) in variance.into_iter().enumerate() {
            let w = whitened.col_as_slice(j);
            let left = variance - dot(w, w);
            if left <= LOST * variance {
                out.lost.push(out.variance.len());
            }
            out.variance.push(left);
        }
    }
    out
}

/// All values of the hyperparameters together.
pub(super) fn together(weights: Vec<f64>, nodes: Vec<Marginals>) -> Prediction {
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
