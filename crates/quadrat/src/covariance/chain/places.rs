//! What happens along the line: where boxes begin, and where rows are observed.

use crate::support::Functionals;

/// Places nearer to each other than so many roundings of the farthest are one place.
const ROUNDINGS: f64 = 4.0;

/// What happens at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Event {
    /// A box begins, over which the function is added up from here on.
    Begin,
    /// A row reports `factor` times the function here.
    Point { row: usize, factor: f64 },
    /// A row reports `factor` times what was added up since the box began.
    End { row: usize, factor: f64 },
}

/// All that happens, from the lowest place to the highest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    /// What happens, and which of the steps leads there from the place before.
    pub events: Vec<(usize, Event)>,
    /// Lengths of the steps, each once; the first is none at all.
    pub steps: Vec<f64>,
    /// Whether there are boxes.
    pub has_boxes: bool,
}

impl Places {
    /// Of rows that look at one point or one box each along a single column; none where one is
    /// something else, or where boxes overlap that are not the same.
    pub fn new(set: &Functionals) -> Option<Self> {
        if set.dims().len() != 1 || set.has_regions() || !set.all_single() {
            return None;
        }
        let (lower, width, weight) = (set.lower(0), set.width(0), set.weight());
        let end = |row: usize| lower[row] + width[row];
        let mut order: Vec<usize> = (0..set.len()).collect();
        // Boxes before the points where they begin, and boxes that begin together as they end.
        let by_place = |a: &usize, b: &usize| {
            let first = lower[*a].total_cmp(&lower[*b]);
            first.then(end(*a).total_cmp(&end(*b)))
        };
        order.sort_by(by_place);
        let most = order
            .iter()
            .map(|&row| lower[row].abs().max(end(row).abs()));
        let same = ROUNDINGS * f64::EPSILON * most.fold(0.0, f64::max);
        let mut found: Vec<(f64, Event)> = Vec::with_capacity(2 * set.len());
        let mut boxes: Vec<usize> = Vec::new();
        for &row in order.iter().filter(|row| width[**row] > 0.0) {
            let before = boxes.last().copied();
            let is_again = before.is_some_and(|other| {
                (lower[row] - lower[other]).abs() <= same && (end(row) - end(other)).abs() <= same
            });
            if !is_again {
                if before.is_some_and(|other| lower[row] < end(other) - same) {
                    return None;
                }
                // A box may begin a rounding before the last one ends.
                let place = before.map_or(lower[row], |other| lower[row].max(end(other)));
                found.push((place, Event::Begin));
            }
            let place = if is_again { end(before?) } else { end(row) };
            let factor = weight[row] / width[row];
            found.push((place, Event::End { row, factor }));
            if !is_again {
                boxes.push(row);
            }
        }
        let has_boxes = !boxes.is_empty();
        let points = order.iter().filter(|row| width[**row] <= 0.0);
        let points = points.map(|&row| {
            let factor = weight[row];
            (lower[row], Event::Point { row, factor })
        });
        found.extend(points);
        // What ends at a place does so before anything begins there: the order of boxes is kept.
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Self::along(&found, same, has_boxes))
    }

    fn along(found: &[(f64, Event)], same: f64, has_boxes: bool) -> Self {
        let mut last = found.first().map_or(0.0, |(place, _)| *place);
        let mut lengths: Vec<f64> = Vec::with_capacity(found.len());
        for (place, _) in found {
            let length = place - last;
            lengths.push(if length <= same { 0.0 } else { length });
            if length > same {
                last = *place;
            }
        }
        let mut ascending = lengths.clone();
        ascending.sort_unstable_by(f64::total_cmp);
        let mut steps = vec![0.0];
        for length in ascending {
            if length > steps[steps.len() - 1] + same {
                steps.push(length);
            }
        }
        let which = |length: &f64| steps.partition_point(|step| step <= length) - 1;
        let events = lengths.iter().zip(found);
        let events = events.map(|(length, (_, event))| (which(length), *event));
        Self {
            events: events.collect(),
            steps,
            has_boxes,
        }
    }
}
