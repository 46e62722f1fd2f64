//! Parts of rows that are known exactly after a link, or that draws meet, add up to these in every
//! draw.
//!
//! Rows that are known exactly are cut at each other's ends into cells; other rows are one cell for
//! each of their boxes (`shared_counts`). A draw says what lies in
//! every cell, seen at the nodes of the fit, and the rows' totals are met. Parts have nodes of
//! their own, which need not add up to that to the last digit. What they say of a cell is therefore
//! multiplied by one factor in each draw, near one,
//!
//! $$ \tilde\psi_i = \psi_i \frac{T_c}{\sum_{j \in c} w_j \psi_j}, \qquad i \in c $$
//!
//! with `T_c` what the nodes of the fit say of the cell, scaled so that cells add up to every row
//! that is known exactly: draws have rounding and jitter.

use std::collections::{HashMap, HashSet};

use super::component::Component;
use super::mixture::Posterior;
use crate::covariance::NodeRule;
use crate::inference::pooled::Ready;
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot};
use crate::link::Link;
use crate::problem::pooled::{MAX_NODES, cut};
use crate::support::Functionals;

/// Rows are met to this part of them.
const MET: f64 = 1e-13;
/// Sweeps over rows at most: one where none overlap.
const SWEEPS: usize = 100;

/// A place, to the last digit.
pub(super) type PlaceKey = Vec<u64>;

/// The place of a point.
pub(super) fn place(points: &Functionals, atom: usize) -> PlaceKey {
    let dims = 0..points.dims().len();
    dims.map(|d| (points.lower(d)[atom] + 0.0).to_bits())
        .collect()
}

/// What lies between neighbouring ends of rows that are known exactly.
struct Cell {
    link: Link,
    /// Nodes of the fit, by their places among all, with shares that sum to one.
    seen: Vec<(usize, f64)>,
    /// Nodes of parts.
    parts: Vec<(usize, f64)>,
}

/// A row that is known exactly.
struct Known {
    /// Its average.
    average: f64,
    /// Its cells, with shares that sum to one.
    cells: Vec<(usize, f64)>,
}

/// Rows that share out what is predicted inside them.
pub(super) struct SharedOut {
    rows: Vec<Known>,
    cells: Vec<Cell>,
    /// Nodes of all cells, points once each.
    pub nodes: Functionals,
    /// The cell in which a place lies.
    owner: HashMap<PlaceKey, usize>,
}

/// Where boxes of rows and of predictions are cut alike.
pub(super) struct Common {
    /// Along each dimension, ascending.
    pub ends: Vec<Vec<f64>>,
    /// What rows share out that are not known exactly, where parts of them would miss them.
    pub counted: Option<SharedOut>,
}

impl Posterior {
    /// Whether some are.
    pub(super) fn has_known_rows(&self) -> bool {
        let drawn = self.problem.drawn().pooled();
        drawn.is_some_and(|pooled| pooled.exact_ends.is_some())
    }

    /// Rows that are known exactly, with their averages.
    pub(super) fn known_rows(&self) -> Vec<(usize, f64, Link)> {
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
    /// are cut there, so that parts have the nodes of their rows. The same of other rows of which
    /// parts miss more than a little. None where there are no such rows, or cuts would be too many.
    pub(super) fn common_ends(&self, at: &Functionals) -> Option<Common> {
        let pooled = self.problem.drawn().pooled()?;
        let own = at.ends(0..at.len()).into_iter().zip(&pooled.ends);
        let all = own.map(|(own, ends)| {
            let mut all = [own.as_slice(), ends].concat();
            all.sort_unstable_by(f64::total_cmp);
            all.dedup();
            all
        });
        let ends: Vec<Vec<f64>> = all.collect();
        if ends.iter().map(Vec::len).product::<usize>() > MAX_NODES {
            return None;
        }
        let has_known = !self.known_rows().is_empty();
        let counted = match has_known {
            true => None,
            false => self.counted(at, &ends),
        };
        (has_known || counted.is_some()).then_some(Common { ends, counted })
    }

    /// What is shared out among predictions.
    ///
    /// # Arguments
    /// * `predicted` - nodes of what is predicted
    /// * `common` - where parts are cut
    pub(super) fn shared_out<'a>(
        &self,
        predicted: impl IntoIterator<Item = &'a Functionals>,
        common: Common,
        rule: &NodeRule,
    ) -> Option<SharedOut> {
        if common.counted.is_some() {
            return common.counted;
        }
        let ends = &common.ends[..];
        let pooled = self.problem.drawn().pooled()?;
        let exact_ends = pooled.exact_ends.as_ref()?;
        let mut places = HashSet::new();
        for nodes in predicted {
            places.extend((0..nodes.atom_count()).map(|atom| place(nodes, atom)));
        }
        let mut out = SharedOut::new(pooled.observed.dims());
        let mut made = Making::new(&mut out);
        for (row, average, link) in self.known_rows() {
            // The fit cut it so.
            let pieces = pooled.observed.rows(&[row]).cut(exact_ends, MAX_NODES)?;
            let mut cells = Vec::with_capacity(pieces.atom_count());
            for atom in 0..pieces.atom_count() {
                let piece = pieces.atom_alone(atom);
                let seen = rule.apply(&piece);
                let parts = match piece.has_regions() {
                    true => seen.clone(),
                    false => rule.apply(&cut(piece, ends, rule, MAX_NODES)),
                };
                cells.push((made.cell(link, &seen, &parts), pieces.weight()[atom]));
            }
            made.out.rows.push(Known { average, cells });
        }
        let is_asked = places.iter().any(|place| out.owner.contains_key(place));
        is_asked.then_some(out)
    }
}

/// Cells as they are found.
pub(super) struct Making<'a> {
    out: &'a mut SharedOut,
    /// By the places of their nodes in the fit.
    cells: HashMap<Vec<PlaceKey>, usize>,
    index: HashMap<PlaceKey, usize>,
}

impl<'a> Making<'a> {
    pub fn new(out: &'a mut SharedOut) -> Self {
        Self {
            out,
            cells: HashMap::new(),
            index: HashMap::new(),
        }
    }

    /// Whether a node of a piece lies in a cell that was made before.
    pub fn is_taken(&self, parts: &Functionals) -> bool {
        let mut atoms = 0..parts.atom_count();
        atoms.any(|atom| self.out.owner.contains_key(&place(parts, atom)))
    }

    /// How many nodes the cells have.
    pub fn size(&self) -> usize {
        self.out.nodes.len()
    }

    /// A piece of rows, as the fit and as parts see it.
    pub fn cell(&mut self, link: Link, seen: &Functionals, parts: &Functionals) -> usize {
        let key: Vec<PlaceKey> = (0..seen.atom_count())
            .map(|atom| place(seen, atom))
            .collect();
        if let Some(&known) = self.cells.get(&key) {
            return known;
        }
        let cell = self.out.cells.len();
        let (seen, parts) = (self.nodes(seen), self.nodes(parts));
        for &(node, _) in &parts {
            let key = place(&self.out.nodes, node);
            self.out.owner.entry(key).or_insert(cell);
        }
        self.out.cells.push(Cell { link, seen, parts });
        self.cells.insert(key, cell);
        cell
    }

    fn nodes(&mut self, of: &Functionals) -> Vec<(usize, f64)> {
        let one = |atom: usize| {
            let next = self.out.nodes.len();
            let at = *self.index.entry(place(of, atom)).or_insert(next);
            if at == next {
                let x: Vec<f64> = (0..of.dims().len()).map(|d| of.lower(d)[atom]).collect();
                // Coordinates of existing atoms are finite.
                let _ = self.out.nodes.push_point(&x);
            }
            (at, of.weight()[atom])
        };
        (0..of.atom_count()).map(one).collect()
    }
}

impl SharedOut {
    /// Nothing yet.
    pub fn new(dims: &[String]) -> Self {
        Self {
            rows: Vec::new(),
            cells: Vec::new(),
            nodes: Functionals::new(dims.to_vec()),
            owner: HashMap::new(),
        }
    }

    /// The largest part of a cell that its parts add to it or lack, averaged over weighted draws.
    ///
    /// # Arguments
    /// * `value` - what lies at a node in a draw, after the link
    pub fn missed(&self, weights: &[f64], value: impl Fn(usize, usize, Link) -> f64) -> f64 {
        let one = |cell: &Cell| {
            let (mut missed, mut whole) = (0.0, 0.0);
            for (draw, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let sum = |nodes: &[(usize, f64)]| -> f64 {
                    let each = nodes.iter();
                    each.map(|(node, share)| share * value(*node, draw, cell.link))
                        .sum()
                };
                let total = sum(&cell.seen);
                missed += weight * (sum(&cell.parts) - total).abs();
                whole += weight * total;
            }
            missed / whole
        };
        // What is not a number misses nothing that could be mended.
        self.cells.iter().map(one).fold(0.0, f64::max)
    }

    /// The cell in which a place lies, if it lies in one.
    pub fn owner(&self, place: &PlaceKey) -> Option<usize> {
        self.owner.get(place).copied()
    }

    /// Of nodes in these cells, whether all that lies in the cell is among them: no draw leaves any
    /// of it open.
    pub fn are_whole(&self, owners: &[Option<usize>]) -> Vec<bool> {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for &cell in owners.iter().flatten() {
            *counts.entry(cell).or_default() += 1;
        }
        let is_whole = |cell: &usize| counts[cell] == self.cells[*cell].parts.len();
        owners
            .iter()
            .map(|owner| owner.as_ref().is_some_and(is_whole))
            .collect()
    }

    /// The factor of every cell in every draw, shape `[cells, draws]`.
    ///
    /// # Arguments
    /// * `value` - what lies at a node in a draw, after the link
    pub fn factors(&self, draws: usize, value: impl Fn(usize, usize, Link) -> f64) -> Mat<f64> {
        let mut out = Mat::from_fn(self.cells.len(), draws, |_, _| 1.0);
        for draw in 0..draws {
            let sum = |link: Link, nodes: &[(usize, f64)]| -> f64 {
                let each = nodes.iter();
                each.map(|(node, share)| share * value(*node, draw, link))
                    .sum()
            };
            let mut totals: Vec<f64> = self
                .cells
                .iter()
                .map(|cell| sum(cell.link, &cell.seen))
                .collect();
            self.meet(&mut totals);
            for (at, (cell, total)) in self.cells.iter().zip(&totals).enumerate() {
                let factor = total / sum(cell.link, &cell.parts);
                // Draws of no weight need not be numbers that matter.
                if factor.is_finite() && factor > 0.0 {
                    out[(at, draw)] = factor;
                }
            }
        }
        out
    }

    /// Scales cells until they add up to every row, one row after the other: these nearly hold, and
    /// rows may overlap.
    fn meet(&self, totals: &mut [f64]) {
        for _ in 0..SWEEPS {
            let mut most: f64 = 0.0;
            for row in &self.rows {
                let sum: f64 = row
                    .cells
                    .iter()
                    .map(|(cell, share)| share * totals[*cell])
                    .sum();
                let factor = row.average / sum;
                if !(factor.is_finite() && factor > 0.0) {
                    return;
                }
                row.cells
                    .iter()
                    .for_each(|(cell, _)| totals[*cell] *= factor);
                most = most.max((factor - 1.0).abs());
            }
            if most < MET {
                return;
            }
        }
    }

    /// The factors of cells given each weighted draw, in which what is left open of nodes is
    /// averaged over.
    pub fn lifted(
        &self,
        posterior: &Posterior,
        component: &Component,
        lift: &Ready<'_>,
    ) -> Mat<f64> {
        let values = self.values(posterior, component, lift);
        self.factors(lift.weights().len(), values)
    }

    /// What lies at every node in each weighted draw, after the link: what is left open of nodes is
    /// averaged over; of draws of no weight no number.
    pub fn values(
        &self,
        posterior: &Posterior,
        component: &Component,
        lift: &Ready<'_>,
    ) -> impl Fn(usize, usize, Link) -> f64 {
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
        let weights = lift.weights().to_vec();
        move |node: usize, draw: usize, link: Link| {
            if weights[draw] == 0.0 {
                return f64::NAN;
            }
            let (mean, variance) = (values[(node, draw)], open[node]);
            match link {
                Link::Exp => link.value(mean + 0.5 * variance),
                _ => link.moments(Belief { mean, variance }).mean,
            }
        }
    }
}
