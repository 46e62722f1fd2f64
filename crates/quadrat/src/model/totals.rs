//! Predicting sums after a link.

use rayon::prelude::*;

use super::lens::{Lens, What};
use super::pooled::MAX_NODES;
use super::posterior::{Component, Posterior};
use super::prediction::Prediction;
use crate::error::{FitError, InputError};
use crate::inference::pooled::total;
use crate::inference::sparse::{Bags, sampled_total};
use crate::likelihood::local::Belief;
use crate::linalg::dot;
use crate::link::Link;
use crate::support::Functionals;

/// Nodes predicted at a time: bounds memory to this many columns per component.
const CHUNK: usize = 2048;
/// Nodes of one row, at most, where not every pair of them is used.
const SAMPLED_NODES: usize = 1_000_000;
/// Steps that make the nodes of one row fewer, when they would be too many.
const COARSER: [f64; 5] = [1.0, 1.5, 2.25, 3.4, 5.0];

impl Posterior {
    /// Predictions of `sum_i w_i link(f(x_i))` over the nodes of every row, or of observations about it.
    ///
    /// Mean and variance of each total are those of the joint normal distribution of its nodes, in closed form; its
    /// distribution is that of a linked normal value with these moments ([`Link::equivalent`]), as at a point.
    pub(super) fn predict_totals(
        &self,
        at: &Functionals,
        (output, link): (usize, Link),
        what: What,
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
        let theta = &self.components[0].theta;
        let finest = self.problem.covariance.node_rule(theta, self.dims().len());
        // With a sample of the pairs there may be many nodes.
        let limit = match &self.problem.sparse {
            Some(_) => SAMPLED_NODES,
            None => MAX_NODES,
        };
        // Rows are resolved one by one: a country may lie beside its counties.
        let mut parts: Vec<Functionals> = Vec::new();
        let mut held = usize::MAX;
        for row in 0..at.len() {
            let one = at.rows(&[row]);
            let rules = COARSER.iter().map(|factor| finest.coarser(*factor));
            let mut fitting = rules.filter(|rule| rule.demand(&one) <= limit as f64);
            let Some(rule) = fitting.next() else {
                return Err(InputError::TooManyNodes {
                    nodes: finest.coarser(COARSER[COARSER.len() - 1]).demand(&one) as usize,
                    rows: 1,
                    limit,
                }
                .into());
            };
            let nodes = rule.apply(&one);
            match parts.last_mut() {
                Some(part) if held + nodes.atom_count() <= CHUNK => {
                    held += nodes.atom_count();
                    part.extend(&nodes)?;
                }
                _ => {
                    held = nodes.atom_count();
                    parts.push(nodes);
                }
            }
        }
        let moments: Vec<(Vec<f64>, Vec<f64>)> = self
            .components
            .par_iter()
            .map(|component| self.totals(component, &parts, link))
            .collect();
        let (likelihood, own) = self.problem.reporting(output);
        let second = self.problem.second.as_ref();
        if what == What::Observation && second.is_some_and(|s| s.spec.varying.is_of(likelihood)) {
            return Err(InputError::Unavailable {
                what: "the observation scale of totals whose dispersion is a function",
                remedy: "predict the response, or observations at points",
            }
            .into());
        }
        let own = |c: &Component| own.iter().map(|&i| c.theta[i]).collect();
        let own = self.components.iter().map(own).collect();
        let latent = Prediction::from_moments(self.weights(), &moments);
        Ok(latent.through(Lens::new(likelihood, own, what, 0.0)))
    }

    /// Means and variances of the latent values that totals amount to, at one node of the hyperparameters.
    fn totals(
        &self,
        component: &Component,
        parts: &[Functionals],
        link: Link,
    ) -> (Vec<f64>, Vec<f64>) {
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for part in parts {
            // Every atom is a point: rows of their own.
            let count = part.atom_count();
            let mut points = Functionals::new(part.dims().to_vec());
            for atom in 0..count {
                let x: Vec<f64> = (0..part.dims().len())
                    .map(|d| part.lower(d)[atom])
                    .collect();
                // Coordinates of existing atoms are finite.
                let _ = points.push_point(&x);
            }
            let theta = &component.theta;
            let cross = self.problem.cross(theta, &points);
            let alpha = &component.conditioned.alpha;
            let centre: Vec<f64> = (0..count)
                .map(|j| self.problem.mean.mean(&points, j) + dot(cross.col_as_slice(j), alpha))
                .collect();
            let reduced = component.conditioned.factor.whiten(cross);
            for row in 0..part.len() {
                let atoms: Vec<usize> = part.atoms(row).collect();
                let weights: Vec<f64> = atoms.iter().map(|&a| part.weight()[a]).collect();
                if let Some(sparse) = &self.problem.sparse
                    && atoms.len() > sparse.within.full
                {
                    let mut bags = Bags::new(sparse.within);
                    if bags.push(link, &weights).is_ok() && !bags.is_full(0) {
                        let sample = bags.sample(0);
                        let own: Vec<usize> = sample.iter().map(|&i| atoms[i]).collect();
                        let mut covariance =
                            self.problem.prior_covariance(theta, &points.rows(&own));
                        for (i, &a) in own.iter().enumerate() {
                            for (j, &b) in own.iter().enumerate() {
                                covariance[(i, j)] -=
                                    dot(reduced.col_as_slice(a), reduced.col_as_slice(b));
                            }
                        }
                        let variance = self.problem.prior_variance(theta, &points.rows(&atoms));
                        let pairs = atoms.iter().zip(variance);
                        let at: Vec<Belief> = pairs
                            .map(|(&a, v)| {
                                let seen = reduced.col_as_slice(a);
                                Belief {
                                    mean: centre[a],
                                    variance: (v - dot(seen, seen)).max(0.0),
                                }
                            })
                            .collect();
                        let seen = sampled_total(link, &weights, &at, &sample, &covariance);
                        means.push(seen.belief.mean);
                        variances.push(seen.belief.variance);
                        continue;
                    }
                }
                let prior = self.problem.prior_covariance(theta, &points.rows(&atoms));
                let covariance = |i: usize, j: usize| {
                    let (a, b) = (atoms[i], atoms[j]);
                    prior[(i, j)] - dot(reduced.col_as_slice(a), reduced.col_as_slice(b))
                };
                let at: Vec<Belief> = (0..atoms.len())
                    .map(|i| Belief {
                        mean: centre[atoms[i]],
                        variance: covariance(i, i).max(0.0),
                    })
                    .collect();
                let seen = total(link, &weights, &at, covariance);
                means.push(seen.belief.mean);
                variances.push(seen.belief.variance);
            }
        }
        (means, variances)
    }
}
