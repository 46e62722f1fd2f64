//! Rates where somebody was exposed: bands at the ends without exposure say nothing.
//!
//! A rate out there would be that of the prior far from all events, and the sum of rates with it.
//! Around a standard it is that of the standard, and is told. Between bands with exposure rates go
//! on as a curve does.

use std::ops::Range;

use super::bands::{Bands, Ends};
use super::builder::{Population, Ungroup};
use super::cells::{Cells, Wanted};
use super::error::{UngroupError, Warning};
use super::exposed::Exposure;
use super::rates::Rates;

/// The bands from the first exposed one to the last.
pub(super) struct Part {
    bands: Range<usize>,
    /// How many bands there are.
    all: usize,
}

impl Ungroup<'_> {
    /// The part with exposure, where that is not all: two bands at least.
    pub(super) fn part(&self, bands: &Bands, exposure: &[f64]) -> Option<Part> {
        let all = bands.len();
        let is_in = |total: &f64| *total > 0.0;
        let first = exposure.iter().position(is_in)?;
        let last = exposure.iter().rposition(is_in)?;
        let is_part = self.standard.is_none() && (first > 0 || last + 1 < all) && last > first;
        let bands = first..last + 1;
        is_part.then_some(Part { bands, all })
    }
}

impl Part {
    /// Rates of the part.
    ///
    /// # Arguments
    /// * `counts` - events, and exposures where their bands are the same, in the order of `bands`
    pub fn rates(
        &self,
        asked: &Ungroup<'_>,
        bands: &Bands,
        (events, people): (&[f64], Option<&Vec<f64>>),
        exposure: Exposure<'_>,
    ) -> Result<Rates, UngroupError> {
        // What is asked for outside of all bands is refused all the same.
        Cells::new(bands, &asked.wanted)?;
        let Range { start, end } = self.bands;
        let (is_first, is_last) = (start == 0, end == self.all);
        let lower = &bands.edges[start..end];
        let mut upper = bands.edges[start + 1..=end].to_vec();
        if is_last && bands.is_open {
            upper[end - start - 1] = f64::INFINITY;
        }
        let (first, last) = (bands.edges[start], bands.edges[end]);
        let mut own = Ungroup {
            lower,
            upper: &upper,
            ..asked.clone()
        };
        own.ends = Ends {
            // The edge says it.
            first: None,
            last: asked.ends.last.filter(|_| is_last),
            tail: asked.ends.tail.filter(|_| is_last),
            log: asked.ends.log,
        };
        if let Wanted::Edges(edges) = &asked.wanted {
            own.wanted = Wanted::Edges(within(edges, first, last, is_last && bands.is_open));
        }
        let of = Population {
            counts: people.map_or(exposure.of.counts, |people| &people[start..end]),
            stream: exposure.of.stream,
        };
        let bands = exposure.bands;
        let mut rates = own.rates_of(&events[start..end], Exposure { of, bands })?;
        let below = (!is_first).then_some(Warning::Unexposed {
            at: first,
            above: false,
        });
        let above = (!is_last).then_some(Warning::Unexposed {
            at: last,
            above: true,
        });
        rates.warnings.extend(below.into_iter().chain(above));
        Ok(rates)
    }
}

/// The edges that are asked for, as far as they lie in the part.
fn within(edges: &[f64], first: f64, last: f64, is_open: bool) -> Vec<f64> {
    let last = if is_open { f64::INFINITY } else { last };
    let mut own: Vec<f64> = edges.iter().map(|edge| edge.clamp(first, last)).collect();
    own.dedup();
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lie_in_the_part() {
        let edges = [0.0, 5.0, 15.0, 30.0, 50.0, f64::INFINITY];
        assert_eq!(within(&edges, 10.0, 40.0, false), [10.0, 15.0, 30.0, 40.0]);
        let open = within(&edges, 10.0, 110.0, true);
        assert_eq!(open, [10.0, 15.0, 30.0, 50.0, f64::INFINITY]);
    }
}
