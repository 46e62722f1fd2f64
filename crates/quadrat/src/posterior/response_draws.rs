//! Joint draws after the link.

use std::collections::HashMap;

use super::mixture::Posterior;
use super::shared_out::{PlaceKey, SharedOut, place};
use super::unions::unions;
use crate::covariance::NodeRule;
use crate::error::{FitError, InputError};
use crate::linalg::Mat;
use crate::link::Link;
use crate::problem::pooled::{MAX_NODES, cut};
use crate::problem::scale::Scale;
use crate::problem::sparse::is_point;
use crate::support::Functionals;

/// Different places and nodes that are drawn together, at most: their covariance is factorised,
/// once for every value of the hyperparameters.
const MAX_DRAWN: usize = 4000;

impl Posterior {
    /// Joint draws of responses, shape `[m, draws]`, reproducible for a seed.
    ///
    /// $$ r_j = \sum_i w_{ji} \psi(f(x_{ji})), \qquad f \sim p(f \mid y) $$
    ///
    /// One function is drawn for all rows of `at`, so that draws are consistent: a draw of a bag is
    /// the sum of the same draw at its points, where these stand in `at` too. Without a link these
    /// are the draws of [`Self::sample`].
    ///
    /// # Arguments
    /// * `at` - supports as [`Self::predict`] takes them, also of several outputs; boxes and
    ///   regions after a link are replaced by nodes
    /// * `draws` - how many
    ///
    /// # Errors
    /// As [`Self::sample`]; [`InputError::TooManyTogether`] above 4,000 different places and
    /// nodes.
    ///
    /// # Numerics
    /// Draws meet what rows report of their sums after a link, but behind a square, and where rows
    /// or nodes are very many (in sparse inference, more than 1,000 nodes): there the normal
    /// posterior of the function is drawn from, and totals are predicted with a smaller variance
    /// than their draws have ([`Self::predict`]).
    pub fn sample_responses(
        &self,
        at: &Functionals,
        draws: usize,
        seed: u64,
    ) -> Result<Mat<f64>, FitError> {
        let at = self.place(at)?;
        let link = |row: usize| {
            let output = self.problem.mean().output(&at, row);
            let table = self.problem.reporting(output, Scale::Response, None)?;
            Ok(self.problem.likelihood(table).mean_link())
        };
        self.sample_linked(&at, link, draws, seed)
    }

    /// The same of functionals over the kernel's columns, each with its link (none for what has no
    /// link).
    pub(crate) fn sample_linked(
        &self,
        at: &Functionals,
        link: impl Fn(usize) -> Result<Option<Link>, InputError>,
        draws: usize,
        seed: u64,
    ) -> Result<Mat<f64>, FitError> {
        let mut drawn = Drawn::new(at.dims());
        let mut rows = Vec::with_capacity(at.len());
        let mut rule = None;
        let pooled = self.problem.drawn().pooled();
        // Parts of rows add up to these.
        let common = self.common_ends(at);
        let mut unions = pooled.map_or_else(|| Ok(HashMap::new()), |p| unions(&p.observed, at))?;
        for row in 0..at.len() {
            let one = at.rows(&[row]);
            rows.push(match link(row)? {
                None => (Link::Identity, drawn.functional(&one)?),
                Some(link) if (0..one.atom_count()).all(|atom| is_point(&one, atom)) => {
                    (link, drawn.nodes(&one)?)
                }
                Some(link) => {
                    let rule = rule.get_or_insert_with(|| self.finest_rule());
                    let one = unions.remove(&row).unwrap_or(one);
                    let one = match pooled {
                        Some(pooled) => {
                            let ends = common.as_ref().map_or(&pooled.ends, |common| &common.ends);
                            cut(one, ends, rule, MAX_NODES)
                        }
                        None => one,
                    };
                    let demand = rule.demand(&one);
                    if demand > MAX_DRAWN as f64 {
                        return Err(too_many_together(demand as usize).into());
                    }
                    (link, drawn.nodes(&rule.apply(&one))?)
                }
            });
            if drawn.set.len() > MAX_DRAWN {
                return Err(too_many_together(drawn.set.len().max(at.len())).into());
            }
        }
        let shared = match (common, &rule) {
            (Some(common), Some(rule)) => {
                let is_counted = common.counted.is_some();
                let shared = self.shared_out([&drawn.points], common, rule);
                // Counts are drawn without their sums rather than not at all.
                let is_small = |shared: &SharedOut| {
                    !is_counted || drawn.set.len() + shared.nodes.len() <= MAX_DRAWN
                };
                shared.filter(is_small)
            }
            _ => None,
        };
        // Places, and the row that shares out what lies there.
        let mut owner = vec![None; drawn.set.len()];
        let mut of_rows = Vec::new();
        if let Some(shared) = &shared {
            of_rows = drawn.nodes(&shared.nodes)?;
            if drawn.set.len() > MAX_DRAWN {
                return Err(too_many_together(drawn.set.len()).into());
            }
            owner.resize(drawn.set.len(), None);
            for (key, &at) in &drawn.at {
                owner[at] = shared.owner(key);
            }
        }
        let latent = self.sample(&drawn.set, draws, seed)?;
        let factors = shared.map(|shared| {
            shared.factors(draws, |node, draw, link| {
                link.value(latent[(of_rows[node].0, draw)])
            })
        });
        let factor = |i: usize, draw: usize| match (&factors, owner[i]) {
            (Some(factors), Some(row)) => factors[(row, draw)],
            _ => 1.0,
        };
        Ok(Mat::from_fn(rows.len(), draws, |row, draw| {
            let (link, parts) = &rows[row];
            let column = latent.col_as_slice(draw);
            let value = |&(i, w): &(usize, f64)| match link {
                Link::Identity => w * column[i],
                _ => w * factor(i, draw) * link.value(column[i]),
            };
            parts.iter().map(value).sum()
        }))
    }

    /// How boxes and regions after a link are replaced by nodes: as observed rows were, if some
    /// were.
    pub(crate) fn finest_rule(&self) -> NodeRule {
        let problem = &self.problem;
        match problem.drawn().pooled() {
            // An observed row has the nodes again by which it was seen: what it says of its sum
            // holds for these.
            Some(pooled) => pooled.rule.clone(),
            None => problem.prior().node_rule(&self.components[0].theta),
        }
    }
}

fn too_many_together(places: usize) -> InputError {
    InputError::TooManyTogether {
        places,
        limit: MAX_DRAWN,
    }
}

/// What is drawn together, points once each.
struct Drawn {
    set: Functionals,
    /// Those that are points of what lies behind a link.
    points: Functionals,
    at: HashMap<PlaceKey, usize>,
}

impl Drawn {
    fn new(dims: &[String]) -> Self {
        Self {
            set: Functionals::new(dims.to_vec()),
            points: Functionals::new(dims.to_vec()),
            at: HashMap::new(),
        }
    }

    /// A functional as it is.
    fn functional(&mut self, one: &Functionals) -> Result<Vec<(usize, f64)>, InputError> {
        let at = self.set.len();
        self.set.extend(one)?;
        Ok(vec![(at, 1.0)])
    }

    /// The points of a row and their weights.
    fn nodes(&mut self, one: &Functionals) -> Result<Vec<(usize, f64)>, InputError> {
        let mut parts = Vec::with_capacity(one.atom_count());
        for atom in 0..one.atom_count() {
            let x: Vec<f64> = (0..one.dims().len()).map(|d| one.lower(d)[atom]).collect();
            let key = place(one, atom);
            let next = self.set.len();
            let at = *self.at.entry(key).or_insert(next);
            if at == next {
                self.set.push_point(&x)?;
                self.points.push_point(&x)?;
            }
            parts.push((at, one.weight()[atom]));
        }
        Ok(parts)
    }
}
