//! Predicting sums after a link.

use std::cell::OnceCell;
use std::collections::HashMap;

use rayon::prelude::*;

use super::amounts::Amounts;
use super::component::Component;
use super::lifted::RowMoments;
use super::marginals::together;
use super::mixture::{Posterior, in_parts};
use super::normal_mixture::not_negative;
use super::prediction::Prediction;
use super::predictive::{Predictive, What};
use super::row_sums::RowSums;
use super::row_sums::TotalNodes;
use super::shared_out::SharedOut;
use super::unions::unions;
use super::within::{Holding, holding};
use crate::error::{FitError, InputError};
use crate::inference::pooled::{OtherSums, SumNodes, Total, total};
use crate::inference::sparse::{Bags, sampled_total};
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, MatRef, dot};
use crate::link::Link;
use crate::problem::checks::AVERAGED;
use crate::problem::pooled::{MAX_NODES, cut};
use crate::support::Functionals;

/// Nodes predicted at a time, where no row has more: bounds memory to this many columns per
/// component.
const CHUNK: usize = 2048;
/// Shares of the draws in strata, the smallest first, finer at both ends: a belief about the lowest
/// eighth of the draws would put the lower end of an interval of 95 % half again as high.
const STRATA: [f64; 12] = [
    0.01, 0.03, 0.085, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.085, 0.03, 0.01,
];
/// All draws together.
const ONE: [f64; 1] = [1.0];
/// Most beliefs of all rows together, where draws are told in strata.
const MOST_NUMBERS: usize = 10_000_000;
/// Nodes of one row, at most, where not every pair of them is used.
const SAMPLED_NODES: usize = 1_000_000;
/// Nodes at most of a total that is cut where observed rows end; where there would be more it stays
/// uncut.
const CUT_NODES: usize = 50_000;
/// Steps that make the nodes of one row fewer, when they would be too many.
const COARSER: [f64; 5] = [1.0, 1.5, 2.25, 3.4, 5.0];

impl Posterior {
    /// Predictions of `sum_i w_i link(f(x_i))` over the nodes of every row, or of observations
    /// about it as a table has them. Of probabilities the average is found, and its sum is so many
    /// times as large: the expected successes.
    ///
    /// Moments of each total come, in this order: from weighted draws, where the fit has them, also
    /// beside inducing points ([`Self::lifted_totals`]); from all pairs of its nodes under a normal
    /// belief, less what rows that are sums themselves say of it ([`OtherSums`]); with inducing
    /// points, for rows of many nodes, from a sample of the pairs. Its distribution is that of a
    /// linked normal value with these moments ([`Link::equivalent`]), as at a point.
    pub(crate) fn predict_totals(
        &self,
        at: &Functionals,
        (table, link): (usize, Link),
        (what, amounts): (What, Amounts),
    ) -> Result<Prediction, FitError> {
        let (likelihood, own) = (
            self.problem.likelihood(table),
            &self.problem.tables().own[table],
        );
        if what == What::Observation && self.problem.seconds().of(likelihood).is_some() {
            return Err(InputError::Unavailable {
                what: "the observation scale of totals whose dispersion is a function",
                remedy: "predict the response, or observations at points",
            }
            .into());
        }
        let known = amounts.known_noise(likelihood, what == What::Observation)?;
        let own = |c: &Component| own.iter().map(|&i| c.theta[i]).collect();
        let own = self.components.iter().map(own).collect();
        let mut predictive = Predictive::new(likelihood, own, what, known[0]).with_amounts(amounts);
        if link.is_probability() {
            let sizes: Vec<f64> = (0..at.len()).map(|row| at.size(row)).collect();
            let is_sum = |row: &usize| (sizes[*row] - 1.0).abs() > AVERAGED;
            if let (What::Observation, Some(row)) = (what, (0..at.len()).find(is_sum)) {
                return Err(InputError::Range {
                    what: "the total weight of the support of a new observation".into(),
                    row,
                    value: sizes[row],
                    requirement: "1, an average: predict trials of an average, or the sum of probabilities on the response scale",
                }
                .into());
            }
            predictive = predictive.with_sizes(sizes);
        }
        let strata = self.strata(at.len());
        if strata.len() > 1 {
            predictive = predictive.in_strata(strata.len());
        }
        Ok(self.latent_strata(at, link, strata)?.through(predictive))
    }

    /// Functionals of the function itself where draws answer and its distribution is no normal one,
    /// in the strata of totals, so that ends of intervals are those after the link; none elsewhere.
    pub(super) fn predict_drawn(&self, at: &Functionals) -> Result<Option<Prediction>, FitError> {
        let strata = self.strata(at.len());
        if strata.len() == 1 || !self.components.iter().all(Component::has_draws) {
            return Ok(None);
        }
        let parts = in_parts(at, self.size());
        let one = |component: &Component| -> Result<Vec<RowMoments>, FitError> {
            let lift = self.lift_of(component)?;
            let told = lift.map(|lift| self.lifted_moments(component, &lift, &parts, strata));
            Ok(told.unwrap_or_default())
        };
        let nodes = self.components.par_iter().map(one);
        let moments = nodes.collect::<Result<Vec<_>, FitError>>()?.concat();
        Ok(Some(Prediction::from_moments(
            self.shares(strata),
            &moments,
        )))
    }

    /// Functionals of the function by one normal belief at each node of the hyperparameters, with
    /// the moments of draws where these answer.
    pub(super) fn one_belief_each(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let mut nodes = self.latent_marginals(at)?.nodes;
        for node in &mut nodes {
            let variances = node.variance.iter_mut();
            variances.for_each(|v| *v = not_negative(*v));
        }
        Ok(together(self.weights(), nodes))
    }

    /// Shares of all strata at all nodes of the hyperparameters.
    fn shares(&self, strata: &[f64]) -> Vec<f64> {
        let each = |weight: f64| strata.iter().map(move |share| share * weight);
        self.weights().into_iter().flat_map(each).collect()
    }

    /// In how many beliefs the draws of a functional are told. Beside rows that are known exactly
    /// its distribution ends where these do, which that of one belief does not; beside rows that
    /// leave the function open to one side it is no normal one before the link.
    fn strata(&self, rows: usize) -> &'static [f64] {
        let numbers = rows * self.components.len() * STRATA.len();
        let is_bent = self.has_known_rows() || self.draws_open_rows();
        match is_bent && numbers <= MOST_NUMBERS {
            true => &STRATA,
            false => &ONE,
        }
    }

    /// The latent values that totals amount to: the normal ones with the same means and variances
    /// after the link; of probabilities those of the averages.
    pub(crate) fn latent_totals(
        &self,
        at: &Functionals,
        link: Link,
    ) -> Result<Prediction, FitError> {
        self.latent_strata(at, link, &ONE)
    }

    /// The same in strata of these shares of the draws at each node of the hyperparameters, the
    /// smallest first.
    fn latent_strata(
        &self,
        at: &Functionals,
        link: Link,
        strata: &[f64],
    ) -> Result<Prediction, FitError> {
        if let Some(atom) = (0..at.atom_count()).find(|&a| at.weight()[a] < 0.0) {
            return Err(InputError::Range {
                what: "a weight in the support of a prediction after a link".into(),
                row: (0..at.len())
                    .find(|&r| at.atoms(r).contains(&atom))
                    .unwrap_or(0),
                value: at.weight()[atom],
                requirement: "above zero: a sum after a link has no logarithm else",
            }
            .into());
        }
        let finest = self.finest_rule();
        let (limit, most_cut) = self.most_nodes();
        let pooled = self.problem.drawn().pooled();
        let held_by = pooled.filter(|_| self.has_draws());
        let mut unions = pooled.map_or_else(|| Ok(HashMap::new()), |p| unions(&p.observed, at))?;
        let common = held_by.and_then(|_| self.common_ends(at));
        let ends = match (&common, pooled) {
            (Some(common), _) => Some(common.ends.clone()),
            (None, Some(pooled)) => Some(pooled.ends.clone()),
            (None, None) => RowSums::ends(self, link),
        };
        // Rows are resolved one by one: a country may lie beside its counties.
        let mut parts: Vec<Part> = Vec::new();
        let mut held = usize::MAX;
        for row in 0..at.len() {
            let one = unions.remove(&row).unwrap_or_else(|| at.rows(&[row]));
            let one = match &ends {
                Some(ends) => cut(one, ends, &finest, most_cut),
                None => one,
            };
            let rules = COARSER.iter().map(|factor| finest.coarser(*factor));
            let mut fitting = rules.filter(|rule| rule.demand(&one) <= limit as f64);
            let Some(rule) = fitting.next() else {
                return Err(InputError::TooManyNodes {
                    nodes: finest.coarser(COARSER[COARSER.len() - 1]).demand(&one) as usize,
                    rows: 1,
                    limit,
                    remedy: "ask for smaller places, whose sum is the same".to_owned(),
                }
                .into());
            };
            let nodes = rule.apply(&one);
            let holding = held_by.and_then(|pooled| holding(&pooled.observed, &one));
            match parts.last_mut() {
                Some(part) if held + nodes.atom_count() <= CHUNK => {
                    held += nodes.atom_count();
                    part.nodes.extend(&nodes)?;
                    part.holding.push(holding);
                }
                _ => {
                    held = nodes.atom_count();
                    let holding = vec![holding];
                    parts.push(Part { nodes, holding });
                }
            }
        }
        let predicted = || parts.iter().map(|part| &part.nodes);
        let shared = common.and_then(|common| self.shared_out(predicted(), common, &finest));
        let moments: Vec<Vec<RowMoments>> = self
            .components
            .par_iter()
            .map(|component| self.totals(component, (&parts, shared.as_ref()), (link, strata)))
            .collect::<Result<_, FitError>>()?;
        Ok(Prediction::from_moments(
            self.shares(strata),
            &moments.concat(),
        ))
    }

    /// Nodes of one row at most, and of one that is cut where others end: with a sample of the
    /// pairs there may be many.
    fn most_nodes(&self) -> (usize, usize) {
        match self.problem.sparse() {
            Some(_) => (SAMPLED_NODES, CUT_NODES),
            None => (MAX_NODES, MAX_NODES),
        }
    }

    /// Means and variances of the latent values that totals amount to, at one node of the
    /// hyperparameters, in every stratum of the draws.
    fn totals(
        &self,
        component: &Component,
        (parts, shared): (&[Part], Option<&SharedOut>),
        (link, strata): (Link, &[f64]),
    ) -> Result<Vec<RowMoments>, FitError> {
        let mut out = vec![(Vec::new(), Vec::new()); strata.len()];
        let mut tell = |beliefs: &mut dyn Iterator<Item = Belief>| {
            for ((means, variances), belief) in out.iter_mut().zip(beliefs) {
                means.push(belief.mean);
                variances.push(belief.variance);
            }
        };
        let factor = &component.conditioned.factor;
        let told = OnceCell::new();
        let lift = self.lift_of(component)?;
        let shared = shared.zip(lift.as_ref());
        let shared = shared.map(|(shared, lift)| (shared, shared.lifted(self, component, lift)));
        let shared = shared.as_ref().map(|(shared, factors)| (*shared, factors));
        let rows = OnceCell::new();
        for Part {
            nodes: part,
            holding,
        } in parts
        {
            let count = part.atom_count();
            let points = part.atoms_as_points();
            let lifted = match &lift {
                Some(lift) if count <= MAX_NODES => {
                    let part = (part, &points, &holding[..]);
                    self.lifted_totals(component, (lift, shared), part, (link, strata))
                }
                _ => vec![None; part.len()],
            };
            if lifted.iter().all(Option::is_some) {
                for beliefs in lifted.into_iter().flatten() {
                    tell(&mut beliefs.into_iter());
                }
                continue;
            }
            let theta = &component.theta;
            let of_rows = || {
                self.problem
                    .prior()
                    .covariance(theta, self.problem.supports())
            };
            let told = told.get_or_init(|| OtherSums::new(factor, of_rows));
            let cross = self.problem.cross(theta, &points);
            let alpha = &component.conditioned.alpha;
            let centre: Vec<f64> = (0..count)
                .map(|j| self.problem.mean().mean(&points, j) + dot(cross.col_as_slice(j), alpha))
                .collect();
            let prior = told.as_ref().map(|_| cross.clone());
            let (features, reduced) = factor.features(cross);
            let told = told.as_ref().zip(prior);
            let told = told.map(|(told, prior)| (told, told.cross(&prior, &reduced)));
            for row in 0..part.len() {
                let atoms = part.atoms(row);
                let mut weights = part.weight()[atoms.clone()].to_vec();
                if link.is_probability() {
                    let whole: f64 = weights.iter().sum();
                    weights.iter_mut().for_each(|w| *w /= whole);
                }
                let weights = &weights[..];
                let nodes = TotalNodes {
                    theta,
                    points: &points.rows(&atoms.clone().collect::<Vec<usize>>()),
                    mean: &centre[atoms.clone()],
                    reduced: &reduced,
                    first: atoms.start,
                };
                if let Some(beliefs) = &lifted[row] {
                    tell(&mut beliefs.iter().copied());
                    continue;
                }
                let features = features.as_ref();
                let features = features.map(|a| a.subcols(atoms.start, atoms.len()));
                let belief = features
                    .and_then(|features| self.sampled(&nodes, features, link, weights))
                    .map_or_else(
                        || self.full(&nodes, link, weights, told.as_ref()),
                        |seen| seen.belief,
                    );
                let rows = rows.get_or_init(|| RowSums::new(self, component, link));
                let belief = rows
                    .as_ref()
                    .map_or(belief, |rows| rows.tell(self, &nodes, weights, belief));
                tell(&mut std::iter::repeat_n(belief, strata.len()));
            }
        }
        Ok(out)
    }

    /// From every pair of its nodes, and from what rows that are sums say of it, with the
    /// covariance of their nodes and all of the chunk.
    fn full(
        &self,
        nodes: &TotalNodes<'_>,
        link: Link,
        weights: &[f64],
        told: Option<&(&OtherSums<'_>, Mat<f64>)>,
    ) -> Belief {
        let prior = self.problem.prior().covariance(nodes.theta, nodes.points);
        let covariance = |i: usize, j: usize| prior[(i, j)] - nodes.reduction(i, j);
        let at = nodes.beliefs(|i| prior[(i, i)]);
        // As rows are seen: what they say of a sum holds for its average, and only `softplus` is
        // another function of the whole.
        let whole: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|w| w / whole).collect();
        let seen = total(link, &shares, &at, covariance);
        let belief = match told {
            None => seen.belief,
            Some((told, cross)) => {
                let sum = SumNodes {
                    link,
                    weights: &shares,
                    mean: nodes.mean,
                    cross: cross.as_ref().subcols(nodes.first, weights.len()),
                    reduced: nodes.reduced.subcols(nodes.first, weights.len()),
                };
                told.belief(&seen, &sum, covariance)
            }
        };
        link.scaled(belief, whole)
    }

    /// From all variances, what inducing points explain, and the pairs of a sample; none where a
    /// row has few nodes.
    fn sampled(
        &self,
        nodes: &TotalNodes<'_>,
        features: MatRef<'_, f64>,
        link: Link,
        weights: &[f64],
    ) -> Option<Total> {
        let mut bags = Bags::new(self.problem.sparse()?.within);
        // Weights of totals are above zero: bags refuse none.
        bags.push(link, weights).ok()?;
        if bags.is_full(0) {
            return None;
        }
        let sample = bags.sample(0);
        let mut covariance = self
            .problem
            .prior()
            .covariance(nodes.theta, &nodes.points.rows(&sample));
        for (i, &a) in sample.iter().enumerate() {
            for (j, &b) in sample.iter().enumerate() {
                covariance[(i, j)] -= nodes.reduction(a, b);
            }
        }
        let variances = self.problem.prior().variance(nodes.theta, nodes.points);
        let at = nodes.beliefs(|i| variances[i]);
        let reduced = nodes.reduced.subcols(nodes.first, weights.len());
        let explained = (features, reduced);
        Some(sampled_total(
            link,
            weights,
            &at,
            &sample,
            &covariance,
            explained,
        ))
    }
}

/// Totals that are predicted together.
struct Part {
    /// Their nodes.
    nodes: Functionals,
    /// The observed rows that hold each.
    holding: Vec<Option<Holding>>,
}
