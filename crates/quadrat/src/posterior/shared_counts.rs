//! Rows that are not known exactly, and that draws meet: their parts add up to them too.
//!
//! A row behind a link is a sum over nodes that lie some seven tenths of a lengthscale apart. Where
//! the function varies by much between these, as between a count of thousands and one of zero,
//! parts of the row, which have nodes of their own, are another sum. Where that differs, each box
//! of a row is a cell whose parts are multiplied by one factor in each draw (`shared_out`).

use super::component::Component;
use super::mixture::Posterior;
use super::shared_out::{Making, SharedOut};
use crate::link::Link;
use crate::problem::pooled::{MAX_NODES, cut};
use crate::problem::sparse::is_point;
use crate::support::Functionals;

/// Parts are scaled where they miss a row by more than this part of it: less is not seen beside the
/// errors of draws.
const MISSED: f64 = 0.01;
/// Nodes of all cells at most, as many as are predicted at a time, and pairs of rows and
/// predictions that are compared at most.
const MOST_NODES: usize = 2048;
const MOST_PAIRS: usize = 10_000_000;

impl Posterior {
    /// What rows share out of which predictions are parts, where these would miss them.
    ///
    /// # Arguments
    /// * `at` - what is predicted
    /// * `ends` - where boxes of rows and of predictions begin and end
    pub(super) fn counted(&self, at: &Functionals, ends: &[Vec<f64>]) -> Option<SharedOut> {
        let pooled = self.problem.drawn().pooled()?;
        let observed = &pooled.observed;
        let is_known = pooled.ends.as_slice() == ends;
        if is_known
            || observed.atom_count().saturating_mul(at.atom_count()) > MOST_PAIRS
            || !self.has_draws()
        {
            return None;
        }
        let is_whole = |link: Link| matches!(link, Link::Exp | Link::Softplus);
        let is_asked = |atom: usize| {
            let all = 0..at.atom_count();
            let mut others = all.filter(|&other| at.region(other).is_none());
            others.any(|other| overlap(observed, atom, at, other))
        };
        let mut boxes = Vec::new();
        for row in (0..observed.len()).filter(|&row| is_whole(pooled.pools.link(row))) {
            let own = observed.atoms(row);
            let is_box =
                |&atom: &usize| observed.region(atom).is_none() && !is_point(observed, atom);
            let asked = own.filter(|atom| is_box(atom) && is_asked(*atom));
            boxes.extend(asked.map(|atom| (volume(observed, atom), row, atom)));
        }
        // The smallest first: what lies in it is shared out by it alone.
        boxes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rule = self.finest_rule();
        let mut out = SharedOut::new(observed.dims());
        let mut made = Making::new(&mut out);
        for (_, row, atom) in boxes {
            let piece = observed.atom_alone(atom);
            let seen = rule.apply(&piece);
            let parts = rule.apply(&cut(piece, ends, &rule, MAX_NODES));
            if made.size() + seen.atom_count() + parts.atom_count() > MOST_NODES {
                return None;
            }
            if !made.is_taken(&parts) {
                made.cell(pooled.pools.link(row), &seen, &parts);
            }
        }
        let heaviest = self
            .components
            .iter()
            .max_by(|a, b| a.weight.total_cmp(&b.weight))?;
        let missed = self.parts_missed(heaviest, &out)?;
        (missed > MISSED).then_some(out)
    }

    fn parts_missed(&self, component: &Component, shared: &SharedOut) -> Option<f64> {
        let lift = self.lift_of(component).ok()??;
        let values = shared.values(self, component, &lift);
        Some(shared.missed(lift.weights(), values))
    }
}

/// Whether two boxes have a part in common along every dimension.
fn overlap(a: &Functionals, i: usize, b: &Functionals, j: usize) -> bool {
    (0..a.dims().len()).all(|d| {
        let (low, width) = (a.lower(d)[i], a.width(d)[i]);
        let (from, own) = (b.lower(d)[j], b.width(d)[j]);
        match width > 0.0 && own > 0.0 {
            true => low < from + own && from < low + width,
            false => low == from && width == own,
        }
    })
}

/// Along everything that has a width.
fn volume(set: &Functionals, atom: usize) -> f64 {
    let widths = (0..set.dims().len()).map(|d| set.width(d)[atom]);
    widths.filter(|width| *width > 0.0).product()
}
