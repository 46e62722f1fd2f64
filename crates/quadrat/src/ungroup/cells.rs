//! What is inferred and what is told: cells of the curve, and steps made of them.

use super::bands::Bands;
use super::error::{UngroupError, Warning};

/// More cells than this are refused: a setting costs their cube.
const MOST: usize = 600;
/// Cells are at most about this part of the axis wide (a fifth more, where one is enough so).
const FINEST: f64 = 0.01;
/// Steps of which whole numbers of years are a table.
const YEARS: f64 = 200.0;
/// Parts that bands are told in where no step is asked for, and they are not of years.
const PARTS: usize = 5;
/// Edges nearer than this part of the axis are the same.
const SAME: f64 = 1e-9;

/// Edges of steps.
type Steps = Vec<(f64, f64)>;

/// What is to be told.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Wanted {
    /// Single years where all edges are whole numbers of at most 200, else five parts of every
    /// band.
    #[default]
    Own,
    /// Steps of one width.
    Step(f64),
    /// Between given edges.
    Edges(Vec<f64>),
}

/// Cells of the curve, each within one band and one step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cells {
    /// Edges in `x`, one more than cells.
    pub edges: Vec<f64>,
    /// The cells of every band: band `b` has `band[b]..band[b + 1]`.
    pub band: Vec<usize>,
    /// Edges of what is told, in `x`; the last one is infinite where a band was open and nobody
    /// asked inside it.
    pub told: Vec<(f64, f64)>,
    /// The cells of every step.
    pub step: Vec<std::ops::Range<usize>>,
}

impl Cells {
    /// # Errors
    /// What is asked for outside of the bands, or too finely.
    pub fn new(bands: &Bands, wanted: &Wanted) -> Result<(Self, Option<Warning>), UngroupError> {
        let (told, warning) = steps(bands, wanted)?;
        let (first, last) = (bands.edges[0], bands.edges[bands.len()]);
        let same = SAME * (last - first);
        let mut all: Vec<f64> = bands.edges.clone();
        for edge in told.iter().flat_map(|(from, to)| [*from, to.min(last)]) {
            if !all.iter().any(|known| (known - edge).abs() <= same) {
                all.push(edge);
            }
        }
        all.sort_by(f64::total_cmp);
        let u = |x: f64| bands.axis.forward(x);
        let widest = FINEST * (u(last) - u(first)) * (1.0 + SAME);
        let mut edges = vec![first];
        for pair in all.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let parts = ((u(to) - u(from)) / widest - 0.2).ceil().max(1.0) as usize;
            let inner = (1..parts).map(|i| bands.axis.within((from, to), i as f64 / parts as f64));
            edges.extend(inner.chain([to]));
        }
        let cells = edges.len() - 1;
        if cells > MOST {
            return Err(UngroupError::TooFine { cells, most: MOST });
        }
        let narrow = bands
            .edges
            .windows(2)
            .position(|pair| pair[1] - pair[0] <= 2.0 * same);
        if let Some(band) = narrow {
            return Err(UngroupError::Narrow {
                row: bands.rows[band],
                lower: bands.edges[band],
                upper: bands.edges[band + 1],
            });
        }
        let index = |x: f64| {
            let above = edges.partition_point(|edge| *edge < x - same);
            above.min(cells)
        };
        Ok((
            Self {
                band: bands.edges.iter().map(|x| index(*x)).collect(),
                step: told
                    .iter()
                    .map(|(a, b)| index(*a)..index(b.min(last)))
                    .collect(),
                told,
                edges,
            },
            warning,
        ))
    }

    /// How many cells.
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// The two edges of a cell.
    pub fn cell(&self, i: usize) -> (f64, f64) {
        (self.edges[i], self.edges[i + 1])
    }
}

/// Edges of what is told.
fn steps(bands: &Bands, wanted: &Wanted) -> Result<(Steps, Option<Warning>), UngroupError> {
    let n = bands.len();
    let (first, last) = (bands.edges[0], bands.edges[n]);
    let is_years = bands.edges.iter().all(|x| x.fract() == 0.0) && last - first <= YEARS;
    let is_linear = bands.axis == super::axis::Axis::Linear;
    match wanted {
        Wanted::Own if is_years && is_linear => evenly(first, last, 1.0),
        Wanted::Own => Ok((parts(bands), None)),
        Wanted::Step(step) if *step > 0.0 && step.is_finite() => evenly(first, last, *step),
        Wanted::Step(step) => Err(UngroupError::Setting {
            what: "the step",
            value: *step,
            requirement: "above zero".to_owned(),
        }),
        Wanted::Edges(edges) => between(bands, edges).map(|told| (told, None)),
    }
}

fn evenly(first: f64, last: f64, step: f64) -> Result<(Steps, Option<Warning>), UngroupError> {
    let count = (last - first) / step;
    if count > MOST as f64 + 0.5 {
        return Err(UngroupError::TooFine {
            cells: count.min(1e15) as usize,
            most: MOST,
        });
    }
    let whole = count.round();
    let divides = (count - whole).abs() <= SAME * count && whole >= 1.0;
    let steps = if divides { whole } else { count.ceil() } as usize;
    let edge = |i: usize| match i == steps {
        true => last,
        false => first + i as f64 * step,
    };
    let told = (0..steps).map(|i| (edge(i), edge(i + 1))).collect();
    let warning = (!divides).then_some(Warning::ShortStep {
        step,
        from: first,
        to: last,
    });
    Ok((told, warning))
}

/// Parts of every band of the same width; an open last band is one.
fn parts(bands: &Bands) -> Vec<(f64, f64)> {
    let mut told = Vec::new();
    // Of many bands fewer parts, so that cells stay within their bounds.
    let parts = (MOST / 2 / bands.len()).clamp(1, PARTS);
    for (b, pair) in bands.edges.windows(2).enumerate() {
        if bands.is_open && b + 1 == bands.len() {
            told.push((pair[0], f64::INFINITY));
            break;
        }
        let edge = |i: usize| match i == parts {
            true => pair[1],
            false => pair[0] + (pair[1] - pair[0]) * i as f64 / parts as f64,
        };
        told.extend((0..parts).map(|i| (edge(i), edge(i + 1))));
    }
    told
}

/// Between edges that were asked for.
fn between(bands: &Bands, edges: &[f64]) -> Result<Vec<(f64, f64)>, UngroupError> {
    let (first, last) = (bands.edges[0], bands.edges[bands.len()]);
    let refused = |value: f64, requirement: String| {
        Err(UngroupError::Setting {
            what: "an edge that is asked for",
            value,
            requirement,
        })
    };
    if edges.len() < 2 {
        let value = edges.first().copied().unwrap_or(f64::NAN);
        return refused(value, "one of two at least".to_owned());
    }
    for (i, edge) in edges.iter().enumerate() {
        if i > 0 && (edge.is_nan() || *edge <= edges[i - 1]) {
            return refused(*edge, format!("above the one before, {}", edges[i - 1]));
        }
        let is_end = *edge == f64::INFINITY && i + 1 == edges.len() && bands.is_open;
        if !is_end && !(first..=last).contains(edge) {
            return refused(
                *edge,
                format!("from {first} to {last}, which the bands cover"),
            );
        }
    }
    let told = edges.windows(2).map(|pair| (pair[0], pair[1]));
    match told.clone().find(|(from, _)| *from >= last) {
        Some((from, _)) => refused(from, format!("below {last}, where the last band ends")),
        None => Ok(told.collect()),
    }
}
