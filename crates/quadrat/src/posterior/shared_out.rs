//! Parts of rows that are known exactly after a link add up to these in every draw.
//!
//! A row is seen at nodes within it, and parts of it at nodes of their own, which need not add up
//! to it to the last digit. In each draw the nodes within a row are therefore shared out once more:
//! what they add up to is made the known total, by one factor for all that lies in the row.
//!
//! $$ \tilde\psi_i = \psi_i \frac{T_r - \sum_{j \in \text{smaller rows}} w_j \tilde\psi_j}
//!                                {\sum_{j \in r} w_j \psi_j}, \qquad i \in r $$
//!
//! Rows may lie within each other: the smallest one shares out first.

use std::collections::HashMap;

use super::component::Component;
use super::mixture::Posterior;
use crate::covariance::NodeRule;
use crate::inference::pooled::Ready;
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot};
use crate::link::Link;
use crate::problem::pooled::{MAX_NODES, cut};
use crate::support::Functionals;

/// A place, to the last digit.
pub(super) type Place = Vec<u64>;

/// The place of a point.
pub(super) fn place(points: &Functionals, atom: usize) -> Place {
    let dims = 0..points.dims().len();
    dims.map(|d| (points.lower(d)[atom] + 0.0).to_bits())
        .collect()
}

/// A row that is known exactly.
struct Whole {
    /// Its average.
    average: f64,
    link: Link,
    /// Which of all nodes, with shares that sum to one, and the row that shares each out.
    nodes: Vec<(usize, f64, usize)>,
}

/// Rows that are known exactly and reach where something is predicted.
pub(super) struct SharedOut {
    /// The smallest first.
    wholes: Vec<Whole>,
    /// Their nodes, points once each.
    pub nodes: Functionals,
    /// The row that shares out what lies at a place.
    owner: HashMap<Place, usize>,
}

impl Posterior {
    /// Rows that are known exactly, with their averages.
    fn known_rows(&self) -> Vec<(usize, f64, Link)> {
        let drawn = self.problem.drawn();
        let Some(pooled) = drawn.pooled() else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for block in drawn.blocks() {
            let own = block.own_values(&self.components[0].theta);
            for at in 0..block.likelihood.rows() {
                let row = block.first + at;
                if let Some((value, variance)) = block.likelihood.gaussian(&own, at)
                    && variance == 0.0
                {
                    let link = pooled.pools.link(row);
                    out.push((row, link.value(value), link));
                }
            }
        }
        out
    }

    /// Where boxes of rows that are known exactly, and boxes of predictions, begin and end: both
    /// are cut there, so that parts have the nodes of their rows. None where no row is known
    /// exactly, or cuts would be too many.
    pub(super) fn common_ends(&self, at: &Functionals) -> Option<Vec<Vec<f64>>> {
        let pooled = self.problem.drawn().pooled()?;
        if self.known_rows().is_empty() {
            return None;
        }
        let own = at.ends(0..at.len()).into_iter().zip(&pooled.ends);
        let all = own.map(|(own, ends)| {
            let mut all = [own.as_slice(), ends].concat();
            all.sort_unstable_by(f64::total_cmp);
            all.dedup();
            all
        });
        let all: Vec<Vec<f64>> = all.collect();
        (all.iter().map(Vec::len).product::<usize>() <= MAX_NODES).then_some(all)
    }

    /// What is shared out among predictions.
    ///
    /// # Arguments
    /// * `predicted` - nodes of what is predicted
    /// * `ends` - where rows are cut, see [`Self::common_ends`]
    pub(super) fn shared_out<'a>(
        &self,
        predicted: impl IntoIterator<Item = &'a Functionals>,
        ends: &[Vec<f64>],
        rule: &NodeRule,
    ) -> Option<SharedOut> {
        let pooled = self.problem.drawn().pooled()?;
        let mut places = std::collections::HashSet::new();
        for nodes in predicted {
            places.extend((0..nodes.atom_count()).map(|atom| place(nodes, atom)));
        }
        let mut found = Vec::new();
        for (row, average, link) in self.known_rows() {
            let one = cut(pooled.observed.rows(&[row]), ends, rule);
            if rule.demand(&one) > MAX_NODES as f64 {
                continue;
            }
            let nodes = rule.apply(&one);
            if (0..nodes.atom_count()).any(|atom| places.contains(&place(&nodes, atom))) {
                found.push((row, average, link, nodes));
            }
        }
        let extent = |row: usize| -> f64 {
            let sides = (0..pooled.observed.dims().len()).map(|d| {
                let (low, high) = pooled.observed.extent(row, d);
                (high - low).max(f64::MIN_POSITIVE).ln()
            });
            sides.sum()
        };
        found.sort_by(|a, b| extent(a.0).total_cmp(&extent(b.0)));
        let mut out = SharedOut {
            wholes: Vec::new(),
            nodes: Functionals::new(pooled.observed.dims().to_vec()),
            owner: HashMap::new(),
        };
        let mut index: HashMap<Place, usize> = HashMap::new();
        for (whole, (_, average, link, nodes)) in found.into_iter().enumerate() {
            let mut own = Vec::with_capacity(nodes.atom_count());
            for atom in 0..nodes.atom_count() {
                let key = place(&nodes, atom);
                let next = out.nodes.len();
                let at = *index.entry(key.clone()).or_insert(next);
                if at == next {
                    let dims = 0..nodes.dims().len();
                    let x: Vec<f64> = dims.map(|d| nodes.lower(d)[atom]).collect();
                    // Coordinates of existing atoms are finite.
                    let _ = out.nodes.push_point(&x);
                }
                let owner = *out.owner.entry(key).or_insert(whole);
                own.push((at, nodes.weight()[atom], owner));
            }
            out.wholes.push(Whole {
                average,
                link,
                nodes: own,
            });
        }
        (!out.wholes.is_empty()).then_some(out)
    }
}

impl SharedOut {
    /// The row that shares out what lies at a place, if one does.
    pub fn owner(&self, place: &Place) -> Option<usize> {
        self.owner.get(place).copied()
    }

    /// The factor of every row in every draw, shape `[rows, draws]`.
    ///
    /// # Arguments
    /// * `value` - what lies at a node in a draw, after the link
    pub fn factors(&self, draws: usize, value: impl Fn(usize, usize, Link) -> f64) -> Mat<f64> {
        let mut out = Mat::from_fn(self.wholes.len(), draws, |_, _| 1.0);
        for draw in 0..draws {
            for (row, whole) in self.wholes.iter().enumerate() {
                let (mut own, mut rest) = (0.0, whole.average);
                for &(node, share, owner) in &whole.nodes {
                    let part = share * value(node, draw, whole.link);
                    match owner == row {
                        true => own += part,
                        false => rest -= part * out[(owner, draw)],
                    }
                }
                let factor = rest / own;
                // Draws of no weight need not be numbers that matter.
                if factor.is_finite() && factor > 0.0 {
                    out[(row, draw)] = factor;
                }
            }
        }
        out
    }

    /// The factors of rows given each weighted draw, in which what is left open of nodes is
    /// averaged over.
    pub fn lifted(
        &self,
        posterior: &Posterior,
        component: &Component,
        lift: &Ready<'_>,
    ) -> Mat<f64> {
        let (problem, theta) = (&posterior.problem, &component.theta);
        let prior = problem.mean().means(&self.nodes);
        let cross = problem.drawn().parted_cross(theta, &self.nodes);
        let (values, whitened) = lift.given(&prior, cross);
        let before = problem.prior().kernel_variance(theta, &self.nodes);
        let open: Vec<f64> = before
            .iter()
            .enumerate()
            .map(|(i, before)| {
                let w = whitened.col_as_slice(i);
                (before - dot(w, w)).max(0.0)
            })
            .collect();
        let weights = lift.weights();
        self.factors(values.ncols(), |node, draw, link| {
            if weights[draw] == 0.0 {
                return f64::NAN;
            }
            let (mean, variance) = (values[(node, draw)], open[node]);
            match link {
                Link::Exp => link.value(mean + 0.5 * variance),
                _ => link.moments(Belief { mean, variance }).mean,
            }
        })
    }
}
