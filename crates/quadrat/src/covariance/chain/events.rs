//! What happens along the line: where boxes begin, and where rows are observed.

use crate::support::Functionals;

/// Places nearer to each other than so many of their own roundings are one place.
const ROUNDINGS: f64 = 4.0;
/// A box narrower than so many times that has no width to speak of.
const NARROWEST: f64 = 1e4;

/// What happens at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LineEvent {
    /// A box begins, over which the function is added up from here on.
    Begin,
    /// A row reports `weight` times the function here.
    Point { row: usize, weight: f64 },
    /// A row reports `weight` times the average since the box began, over a length.
    End {
        row: usize,
        weight: f64,
        length: f64,
    },
}

/// All that happens, from the lowest place to the highest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LineEvents {
    /// What happens, and which of the steps leads there from the place before.
    pub events: Vec<(usize, LineEvent)>,
    /// Lengths of the steps, each once; the first is none at all.
    pub steps: Vec<f64>,
    /// Whether there are boxes.
    pub has_boxes: bool,
}

impl LineEvents {
    /// Of rows that look at one point or one box each along a single column; none where one is
    /// something else, where boxes overlap that are not the same, or where one is as narrow as
    /// roundings of its place.
    pub fn new(set: &Functionals) -> Option<Self> {
        if set.dims().len() != 1 || set.has_regions() || !set.all_single() {
            return None;
        }
        let (lower, width, weight) = (set.lower(0), set.width(0), set.weight());
        // Zeros have one sign.
        let begin = |row: usize| lower[row] + 0.0;
        let end = |row: usize| lower[row] + width[row];
        let mut order: Vec<usize> = (0..set.len()).collect();
        // Boxes that begin together as they end.
        order.sort_by(|&a, &b| {
            let first = begin(a).total_cmp(&begin(b));
            first.then(end(a).total_cmp(&end(b)))
        });
        let mut found: Vec<(f64, LineEvent)> = Vec::with_capacity(2 * set.len());
        let mut before: Option<usize> = None;
        for &row in order.iter().filter(|row| width[**row] > 0.0) {
            if width[row] < NARROWEST * rounding(begin(row), end(row)) {
                return None;
            }
            let same = |a: f64, b: f64| (a - b).abs() <= rounding(a, b);
            let again = before
                .filter(|&other| same(begin(row), begin(other)) && same(end(row), end(other)));
            if again.is_none() {
                // A box may begin a rounding before the last one ends.
                let free = before.map_or(f64::NEG_INFINITY, end);
                if begin(row) < free && !same(begin(row), free) {
                    return None;
                }
                found.push((begin(row).max(free), LineEvent::Begin));
                before = Some(row);
            }
            let event = LineEvent::End {
                row,
                weight: weight[row],
                length: 0.0,
            };
            found.push((end(again.unwrap_or(row)), event));
        }
        let has_boxes = before.is_some();
        let points = order.iter().filter(|row| width[**row] <= 0.0);
        let points = points.map(|&row| {
            let weight = weight[row];
            (begin(row), LineEvent::Point { row, weight })
        });
        found.extend(points);
        // What ends at a place does so before anything begins there: the order of boxes is kept.
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Self::along(found, has_boxes))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        let is_row = |(_, event): &&(usize, LineEvent)| *event != LineEvent::Begin;
        self.events.iter().filter(is_row).count()
    }

    fn along(found: Vec<(f64, LineEvent)>, has_boxes: bool) -> Self {
        let mut last = found.first().map_or(0.0, |(place, _)| *place);
        let mut since = 0.0;
        let mut lengths: Vec<f64> = Vec::with_capacity(found.len());
        let mut events: Vec<LineEvent> = Vec::with_capacity(found.len());
        for (place, event) in found {
            let step = if place - last <= rounding(place, last) {
                0.0
            } else {
                place - last
            };
            if step > 0.0 {
                last = place;
            }
            since += step;
            let event = match event {
                LineEvent::Begin => {
                    since = 0.0;
                    event
                }
                // What was added up is told over the length of its own steps.
                LineEvent::End { row, weight, .. } => LineEvent::End {
                    row,
                    weight,
                    length: since,
                },
                LineEvent::Point { .. } => event,
            };
            lengths.push(step);
            events.push(event);
        }
        let mut steps = lengths.clone();
        steps.push(0.0);
        steps.sort_unstable_by(f64::total_cmp);
        steps.dedup();
        let which = |length: &f64| steps.partition_point(|step| step < length);
        Self {
            events: lengths.iter().map(which).zip(events).collect(),
            steps,
            has_boxes,
        }
    }
}

/// Two places so far apart are one.
fn rounding(a: f64, b: f64) -> f64 {
    ROUNDINGS * f64::EPSILON * a.abs().max(b.abs())
}
