//! The states of all parts, and where steps lead them.

use std::borrow::Cow;

use super::events::LineEvents;
use super::matern::MOST;
use super::step::{ProcessPart, Step};
use crate::linalg::Dual;

/// Most states of all parts together, with what a box adds up.
pub(super) const MOST_STATES: usize = 16;
/// Steps that are computed once and kept, at most: with slopes one takes 2 kB and more.
const MOST_KEPT: usize = 4096;

/// What a row looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LookedAt {
    /// The function at a place.
    Function,
    /// What a box added up.
    Sum,
}

/// Where the states of every part stand, and what a box adds up after them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Number of states of every part, and where they begin.
    pub parts: Vec<(usize, usize)>,
    /// The number of all, with the sum where there is one, the last.
    pub size: usize,
    /// Whether sums are added up.
    pub has_sums: bool,
}

impl Layout {
    pub fn new<const P: usize>(parts: &[ProcessPart<P>], has_sums: bool) -> Self {
        let mut size = 0;
        let each = parts.iter().map(|part| {
            let own = (part.states(), size);
            size += part.states();
            own
        });
        Self {
            parts: each.collect(),
            size: size + usize::from(has_sums),
            has_sums,
        }
    }

    /// What a row looks at, of some states.
    pub fn seen<const P: usize>(&self, what: LookedAt, states: &[Dual<P>]) -> Dual<P> {
        match what {
            LookedAt::Function => {
                let each = self.parts.iter().map(|(_, first)| states[*first]);
                each.fold(Dual::constant(0.0), |sum, state| sum + state)
            }
            LookedAt::Sum => states[self.size - 1],
        }
    }

    /// Overwrites states with where a step leads them: `A x`, and for what is added up
    /// `x + phi x`.
    pub fn lead<const P: usize>(&self, steps: &[Step<P>], states: &mut [Dual<P>]) {
        for (&(own, first), step) in self.parts.iter().zip(steps) {
            if self.has_sums {
                for i in 0..own {
                    let added = step.sum[i] * states[first + i];
                    states[self.size - 1] += added;
                }
            }
            let states = &mut states[first..];
            match own {
                1 => lead_part::<1, P>(step, states),
                2 => lead_part::<2, P>(step, states),
                _ => lead_part::<MOST, P>(step, states),
            }
        }
    }
}

/// `A x` of the `S` states of one part. The compiler unrolls what it knows the length of.
#[inline]
fn lead_part<const S: usize, const P: usize>(step: &Step<P>, states: &mut [Dual<P>]) {
    let mut next = [Dual::constant(0.0); S];
    for i in 0..S {
        for j in 0..S {
            next[i] += step.lead[i][j] * states[j];
        }
    }
    states[..S].copy_from_slice(&next);
}

/// What the parts do over every step, each length once.
pub(super) struct Steps<'a, const P: usize> {
    parts: &'a [ProcessPart<P>],
    places: &'a LineEvents,
    /// None where there are too many lengths: most are then those of one step.
    kept: Option<Vec<Vec<Step<P>>>>,
}

impl<'a, const P: usize> Steps<'a, P> {
    pub fn new(parts: &'a [ProcessPart<P>], places: &'a LineEvents) -> Self {
        let of = |length: &f64| steps(parts, *length, places.has_boxes);
        let is_few = places.steps.len() <= MOST_KEPT;
        Self {
            parts,
            places,
            kept: is_few.then(|| places.steps[1..].iter().map(of).collect()),
        }
    }

    /// Of a step of some length; none where it has none.
    pub fn at(&self, step: usize) -> Option<Cow<'_, [Step<P>]>> {
        let at = step.checked_sub(1)?;
        Some(match &self.kept {
            Some(kept) => Cow::Borrowed(&kept[at][..]),
            None => Cow::Owned(steps(
                self.parts,
                self.places.steps[step],
                self.places.has_boxes,
            )),
        })
    }
}

/// What every part does over a step of this length.
fn steps<const P: usize>(parts: &[ProcessPart<P>], length: f64, has_boxes: bool) -> Vec<Step<P>> {
    parts
        .iter()
        .map(|part| part.step(length, has_boxes))
        .collect()
}
