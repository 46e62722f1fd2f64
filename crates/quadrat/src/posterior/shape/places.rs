//! The places that functions of a shape are drawn at.

use super::super::mixture::Posterior;
use crate::error::InputError;

/// Steps of the grid at least, and at most.
const STEPS: [usize; 2] = [128, 512];
/// So many times the range of the rows has steps of its own within a range that is longer.
const MUCH_LONGER: f64 = 1.5;
/// So many to the shortest distance over which the function changes.
const STEPS_PER_LENGTH: f64 = 6.0;
/// By how much each step beyond the rows is longer than the one before it.
const GROWTH: f64 = 1.25;
/// The first of these of rough functions as a part of the range of the rows: over shorter steps
/// their slopes are steeper, and a bend goes on along the steepest.
const NEAR: f64 = 1.0 / 16.0;
/// The first of them as a part of the longest, at least, so that they are not too many.
const LEAST: f64 = 1e-18;
/// Least distance of the places beside the only one, as a part of how large it is.
const BESIDE: f64 = 1e-3;
/// Shortest step, as a share of the range of the rows, and beyond them of the distance besides.
const ROUNDING: f64 = 1e-9;

impl Posterior {
    /// From the first to the last place of the rows.
    pub(super) fn observed_range(&self) -> (f64, f64) {
        let column = self.problem.kernel().output_column();
        let own = (0..self.kernel().columns().len()).find(|d| column != Some(*d));
        self.problem.observed().range(own.unwrap_or(0))
    }

    /// Even places over what was observed and what is asked, and the ends of the rows. Where much
    /// more is asked than was observed: even ones among the rows, and beyond them steps that grow,
    /// so that places beside the rows are told as they are without far ones.
    pub(super) fn places_of_shape(
        &self,
        observed: (f64, f64),
        range: Option<(f64, f64)>,
    ) -> Result<Vec<f64>, InputError> {
        let (mut from, mut to) = observed;
        if let Some((a, b)) = range {
            (from, to) = (from.min(a.min(b)), to.max(a.max(b)));
        }
        let shortest = self.dims().first().and_then(|dim| self.shortest(dim));
        if from == to {
            // At one place a shape says nothing, whatever lies beside it.
            let beside = shortest.map_or(1.0, |(at, _)| at).max(from.abs() * BESIDE);
            (from, to) = (from - beside, to + beside);
        }
        let length = to - from;
        if !(length > 0.0 && length.is_finite()) {
            return Err(InputError::Unavailable {
                what: "a shape over a range whose length is no number",
                remedy: "give the input in another unit",
            });
        }
        let steps = |length: f64| {
            let wanted = shortest.map_or(0.0, |(at, _)| STEPS_PER_LENGTH * length / at);
            (wanted.ceil() as usize).clamp(STEPS[0], STEPS[1])
        };
        let even = |(from, to): (f64, f64)| {
            let steps = steps(to - from);
            (0..=steps).map(move |i| from + (to - from) * (i as f64 / steps as f64))
        };
        let own = observed.1 - observed.0;
        let mut places: Vec<f64> = if own > 0.0 && MUCH_LONGER * own < length {
            let longest = length / steps(length) as f64;
            let first = shortest.map_or(NEAR, |_| 1.0 / STEPS[0] as f64) * own;
            let first = first.max(LEAST * longest);
            let before = growing((first, longest), observed.0 - from);
            let after = growing((first, longest), to - observed.1);
            let before = before.iter().map(|by| observed.0 - by);
            let after = after.iter().map(|by| observed.1 + by);
            before.chain(even(observed)).chain(after).collect()
        } else {
            even((from, to)).collect()
        };
        places.extend([from, to]);
        places.extend([observed.0, observed.1]);
        places.sort_by(f64::total_cmp);
        // Steps that are next to nothing have slopes that are rounding.
        places.dedup_by(|b, a| *b - *a <= shortest_step(*a, observed));
        Ok(places)
    }
}

/// Distances beyond the rows up to a reach, in steps that grow from the first to the longest.
fn growing((first, longest): (f64, f64), reach: f64) -> Vec<f64> {
    let (mut step, mut at) = (first, first);
    let mut all = Vec::new();
    // The last step to the reach is no shorter than half of those before it.
    while at + 0.5 * step < reach {
        all.push(at);
        step = (GROWTH * step).min(longest.max(first));
        at += step;
    }
    all
}

/// The length of steps that are next to nothing at a place.
pub(super) fn shortest_step(at: f64, (from, to): (f64, f64)) -> f64 {
    ROUNDING * (to.max(at) - from.min(at))
}

/// The places among the rows, the nearest to their middle at least.
pub(super) fn inside(places: &[f64], (from, to): (f64, f64)) -> std::ops::Range<usize> {
    let room = ROUNDING * (to - from);
    let first = places.partition_point(|x| *x < from - room);
    let end = places.partition_point(|x| *x <= to + room);
    let first = first.min(places.len() - 1);
    first..end.max(first + 1)
}
