//! Values without a link: the totals are further rows.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::conditioning::{ConditionedTotals, RowsAndSums};
use super::given::GroupTotals;
use super::met::{Met, MetMarginals};
use super::pivots::{Pivots, pivots};
use crate::error::FitError;
use crate::inference::Factor;
use crate::linalg::Mat;
use crate::posterior::component::Component;
use crate::posterior::draws::factor_with_jitter;
use crate::posterior::mixture::Posterior;
use crate::posterior::prediction::Prediction;
use crate::special::scalar::log_sum_exp;
use crate::support::Functionals;

/// Covariances are differences of numbers of the size of the prior's, known to some `n eps` of
/// that; weights of several rows add up.
const ROUNDINGS: f64 = 16.0;

/// Rows that meet the totals.
///
/// # Arguments
/// * `at` - of the kernel's columns
pub(super) fn met(
    posterior: &Posterior,
    at: &Functionals,
    totals: &GroupTotals,
    (draws, seed): (usize, u64),
) -> Result<Met, FitError> {
    let joints = joints(posterior, at, totals)?;
    let Pivots { kept, determined } = new_totals(&joints, totals);
    let given = joints.iter().map(|joint| joint.given(totals, &kept));
    let given: Vec<ConditionedTotals> = given.collect::<Result<_, FitError>>()?;
    // The heaviest: what rows determine they determine under all hyperparameters.
    if let (Some(joint), Some(given)) = (joints.first(), given.first()) {
        joint.agrees(totals, (given, &kept), &determined)?;
    }
    let logs = joints.iter().zip(&given);
    let logs: Vec<f64> = logs.map(|(j, g)| j.weight.ln() + g.log_density).collect();
    let whole = log_sum_exp(&logs);
    let weights: Vec<f64> = logs.iter().map(|log| (log - whole).exp()).collect();
    let moments = joints.iter().zip(&given).map(|(j, g)| g.moments(j, totals));
    let moments: Vec<(Vec<f64>, Vec<f64>)> = moments.collect();
    let prediction = Prediction::from_moments(weights.clone(), &moments);
    let drawn = Drawing {
        posterior,
        at,
        totals,
        kept: &kept,
        weights: &weights,
    };
    Ok(Met {
        mean: prediction.mean().to_vec(),
        sd: prediction.sd().to_vec(),
        before: before(&joints, totals),
        marginals: MetMarginals::Normal(Box::new(prediction)),
        draws: drawn.draws(&joints, &given, draws, seed)?,
    })
}

/// What every value of the hyperparameters says of the rows.
fn joints(
    posterior: &Posterior,
    at: &Functionals,
    totals: &GroupTotals,
) -> Result<Vec<RowsAndSums>, FitError> {
    let marginals = posterior.variances(at)?;
    let one = |(component, known): (&Component, Vec<f64>)| {
        let (mean, covariance) = posterior.joint(component, at)?;
        let prior = &posterior.problem.prior();
        let prior = match component.conditioned.factor {
            Factor::Basis(_) => prior.variance_apart(&component.theta, at),
            _ => prior.variance(&component.theta, at),
        };
        let rows = component.conditioned.alpha.len() + at.len();
        let rounding = ROUNDINGS * (rows as f64 * f64::EPSILON + component.conditioned.jitter);
        Ok(RowsAndSums::new(
            (component.weight, rounding),
            (mean, &covariance),
            (known, prior),
            totals,
        ))
    };
    posterior
        .components
        .iter()
        .zip(marginals)
        .map(one)
        .collect()
}

/// Which totals say something new: the same at all hyperparameters, so that their densities are of
/// the same numbers.
fn new_totals(joints: &[RowsAndSums], totals: &GroupTotals) -> Pivots {
    let groups = &totals.groups;
    let mut mean = Mat::zeros(groups.len(), groups.len());
    let mut rounding: f64 = 0.0;
    for joint in joints {
        let scale: Vec<f64> = groups.iter().map(|group| joint.scale(group)).collect();
        for g in 0..groups.len() {
            for h in 0..groups.len() {
                mean[(g, h)] += joint.weight * joint.of_sums[(g, h)] / scale[g] / scale[h];
            }
        }
        rounding = rounding.max(joint.rounding);
    }
    pivots(&mean, 0, rounding)
}

/// Mean and sd of the sums without the totals.
fn before(joints: &[RowsAndSums], totals: &GroupTotals) -> Vec<(f64, f64)> {
    let one = |g: usize| {
        let group = &totals.groups[g];
        let moments = joints.iter().map(|joint| {
            let variance = joint.of_sums[(g, g)] - group.variance;
            (vec![group.sum(&joint.mean)], vec![variance])
        });
        let weights = joints.iter().map(|joint| joint.weight).collect();
        let sum = Prediction::from_moments(weights, &moments.collect::<Vec<_>>());
        (sum.mean()[0], sum.sd()[0])
    };
    (0..totals.len()).map(one).collect()
}

/// Draws that meet the totals.
struct Drawing<'a> {
    posterior: &'a Posterior,
    at: &'a Functionals,
    totals: &'a GroupTotals,
    kept: &'a [usize],
    /// Of the values of the hyperparameters, given the totals.
    weights: &'a [f64],
}

impl Drawing<'_> {
    fn draws(
        &self,
        joints: &[RowsAndSums],
        given: &[ConditionedTotals],
        draws: usize,
        seed: u64,
    ) -> Result<Mat<f64>, FitError> {
        let m = self.at.len();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let last = self.weights.len().saturating_sub(1);
        let nodes: Vec<usize> = (0..draws)
            .map(|_| {
                let mut u: f64 = rand_distr::StandardUniform.sample(&mut random);
                let chosen = self.weights.iter().position(|w| {
                    u -= w;
                    u < 0.0
                });
                chosen.unwrap_or(last)
            })
            .collect();
        let mut out = Mat::zeros(m, draws);
        for (node, component) in self.posterior.components.iter().enumerate() {
            let own: Vec<usize> = (0..draws).filter(|draw| nodes[*draw] == node).collect();
            if own.is_empty() {
                continue;
            }
            let (mean, covariance) = self.posterior.joint(component, self.at)?;
            let factor = factor_with_jitter(covariance)?;
            for draw in own {
                let z: Vec<f64> = (0..m).map(|_| StandardNormal.sample(&mut random)).collect();
                let errors = self.kept.iter().map(|&g| {
                    let z: f64 = StandardNormal.sample(&mut random);
                    self.totals.groups[g].variance.sqrt() * z
                });
                let errors: Vec<f64> = errors.collect();
                let values = out.col_as_slice_mut(draw);
                for ((value, mean), z) in values.iter_mut().zip(&mean).zip(factor.multiply(&z)) {
                    *value = mean + z;
                }
                let totals = (self.totals, self.kept);
                given[node].carry(&joints[node], totals, &errors, values);
            }
        }
        Ok(out)
    }
}
