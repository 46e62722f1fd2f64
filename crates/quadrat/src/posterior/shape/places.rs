//! The places that functions of a shape are drawn at.

use super::super::mixture::Posterior;
use crate::error::InputError;

/// Steps of the grid at least, and at most.
const STEPS: [usize; 2] = [128, 512];
/// So many times the range of the rows has steps of its own within a range that is longer.
const MUCH_LONGER: f64 = 1.5;
/// So many to the shortest distance over which the function changes.
const STEPS_PER_LENGTH: f64 = 6.0;
/// Shortest step, as a share of the range.
pub(super) const ROUNDING: f64 = 1e-9;

impl Posterior {
    /// From the first to the last place of the rows.
    pub(super) fn observed_range(&self) -> (f64, f64) {
        let column = self.problem.kernel().output_column();
        let own = (0..self.kernel().columns().len()).find(|d| column != Some(*d));
        self.problem.observed().range(own.unwrap_or(0))
    }

    /// Even places over what was observed and what is asked, and the ends of the rows.
    pub(super) fn places_of_shape(
        &self,
        observed: (f64, f64),
        range: Option<(f64, f64)>,
    ) -> Result<Vec<f64>, InputError> {
        let (mut from, mut to) = observed;
        if let Some((a, b)) = range {
            (from, to) = (from.min(a.min(b)), to.max(a.max(b)));
        }
        let length = to - from;
        if !(length > 0.0 && length.is_finite()) {
            return Err(InputError::Unavailable {
                what: "a shape over a range without length",
                remedy: "observe or ask for more than one place",
            });
        }
        let shortest = self.dims().first().and_then(|dim| self.shortest(dim));
        let even = |(from, to): (f64, f64)| {
            let length = to - from;
            let wanted = shortest.map_or(0.0, |(at, _)| STEPS_PER_LENGTH * length / at);
            let steps = (wanted.ceil() as usize).clamp(STEPS[0], STEPS[1]);
            (0..=steps).map(move |i| from + length * (i as f64 / steps as f64))
        };
        let mut places: Vec<f64> = even((from, to)).collect();
        let own = observed.1 - observed.0;
        if own > ROUNDING * length && MUCH_LONGER * own < length {
            places.extend(even(observed));
        }
        places.extend([observed.0, observed.1]);
        places.sort_by(f64::total_cmp);
        // Steps that are next to nothing have slopes that are rounding.
        places.dedup_by(|b, a| *b - *a < ROUNDING * length);
        Ok(places)
    }
}

/// The places among the rows, the nearest to their middle at least.
pub(super) fn inside(places: &[f64], (from, to): (f64, f64)) -> std::ops::Range<usize> {
    let room = ROUNDING * (places[places.len() - 1] - places[0]);
    let first = places.partition_point(|x| *x < from - room);
    let end = places.partition_point(|x| *x <= to + room);
    let first = first.min(places.len() - 1);
    first..end.max(first + 1)
}
