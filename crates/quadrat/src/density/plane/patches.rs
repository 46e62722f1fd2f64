//! Boxes, and areas with any outline, that rows are known to lie in.
//!
//! With `u` the probabilities of the cells and `A` the share of each cell that lies in each box,
//!
//! $$ \log p(y | u) = \sum_j y_j \log u_j + \sum_b Y_b \log p_b, \qquad p_b = \sum_j A_{bj} u_j $$
//!
//! and with `r_b = A_b u / p_b` the density within a box, its slope in `log u` is `Y_b r_b` beside
//! that of the intercept, and what is missing of the information `Y_b (diag r_b - r_b r_b')`.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::linalg::{Mat, add_scaled};

use super::super::cells::Cells;
use super::super::counts::{CellSpan, covers, rounded, span};
use super::super::error::DensityError;
use super::super::warning::Warning;
use super::mask;
use crate::support::Polygon;

/// More different boxes than this are rounded to edges of cells.
const MOST_BOXES: usize = 1500;
/// Cells that boxes may hold, all together, and boxes that may be left after rounding.
const MOST_ENTRIES: usize = 4_000_000;
const MOST: usize = 6000;

/// A box in the data with the weight of its rows: ends along both axes.
pub(super) type Boxed = ([(f64, f64); 2], f64);

/// Boxes or areas of several cells.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in super::super) struct Patches {
    /// Weight of the rows of each.
    pub weights: Vec<f64>,
    /// Of every cell: the first and one behind the last of its entries.
    starts: Vec<usize>,
    /// A box, and the share of the cell that lies in it.
    entries: Vec<(usize, f64)>,
}

/// Shares of a cell below this are what rounding leaves of none.
const ROUNDING: f64 = 1e-9;

/// A span without cells at its ends of which it has nothing.
fn trimmed(mut span: CellSpan) -> CellSpan {
    if span.first < span.last && span.head < ROUNDING {
        span.first += 1;
        span.head = 1.0;
    }
    if span.first < span.last && span.tail < ROUNDING {
        span.last -= 1;
        span.tail = 1.0;
    }
    span
}

/// The share of a cell of a span; all of it where there is but one, since shares that are common to
/// a box say nothing.
fn within(span: &CellSpan, cell: usize) -> f64 {
    match span.first == span.last {
        true => 1.0,
        false => span.share(cell),
    }
}

/// The cells of which something that can hold a value lies in an area, with the share that does.
fn held(axes: &[Cells; 2], area: &Polygon, inside: &[f64]) -> Vec<(usize, f64)> {
    let columns = axes[1].len();
    let ends = area.bounds();
    let reach = [0, 1].map(|a| {
        let (edges, (from, to)) = (&axes[a].edges, ends[a]);
        let first = edges.partition_point(|e| *e <= from).max(1) - 1;
        let last = edges.partition_point(|e| *e < to).min(axes[a].len());
        (first, last)
    });
    let [(top, bottom), (left, right)] = reach;
    if top >= bottom || left >= right {
        return Vec::new();
    }
    let edges = [&axes[0].edges[top..=bottom], &axes[1].edges[left..=right]];
    let shares = mask::shares(edges, std::slice::from_ref(area));
    let width = right - left;
    let place = |at: usize| (top + at / width) * columns + left + at % width;
    let of_land = |(at, share): (usize, f64)| (place(at), mask::of_land(share, inside[place(at)]));
    let all = shares.into_iter().enumerate().map(of_land);
    all.filter(|(_, share)| *share > 0.0).collect()
}

/// Refuses boxes and areas that hold more cells, all together, or are more than can be borne.
fn check(reach: usize, kept: usize) -> Result<(), DensityError> {
    if reach > MOST_ENTRIES {
        return Err(DensityError::Setting {
            what: "the number of cells that boxes or areas hold, all together",
            value: reach as f64,
            requirement: "at most 4000000: take fewer cells, or join those that overlap",
        });
    }
    if kept > MOST {
        return Err(DensityError::Setting {
            what: "the number of different boxes or areas of several cells",
            value: kept as f64,
            requirement: "at most 6000: take fewer cells, or join those that are neighbours",
        });
    }
    Ok(())
}

/// A box in cells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Patch {
    spans: [CellSpan; 2],
    weight: f64,
}

impl Patch {
    fn is_cell(&self) -> bool {
        self.spans.iter().all(|s| s.first == s.last)
    }

    fn key(&self) -> [usize; 4] {
        let [a, b] = self.spans;
        [a.first, a.last, b.first, b.last]
    }

    fn cells(&self) -> usize {
        let sides = self.spans.map(|s| s.last - s.first + 1);
        sides[0] * sides[1]
    }
}

impl Patches {
    /// Lays boxes over cells; those within one cell are added to its count, and those that cover
    /// all are left out.
    ///
    /// # Errors
    /// Boxes that overlap too often, or of which too many are left.
    pub fn new(
        axes: &[Cells; 2],
        boxes: &[Boxed],
        counts: &mut [f64],
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, DensityError> {
        let columns = axes[1].len();
        let merge = boxes.len() > MOST_BOXES;
        if merge {
            warnings.push(Warning::Merged {
                intervals: boxes.len(),
                cells: counts.len(),
            });
        }
        let mut kept: Vec<Patch> = Vec::new();
        for (ends, weight) in boxes {
            let spans = [0, 1].map(|a| {
                let own = trimmed(span(&axes[a], ends[a].0, ends[a].1, *weight));
                // What lies within one cell is no nearer to another.
                if merge && own.first < own.last {
                    rounded(own)
                } else {
                    own
                }
            });
            let patch = Patch {
                spans,
                weight: *weight,
            };
            if patch.is_cell() {
                counts[spans[0].first * columns + spans[1].first] += weight;
            } else if ![0, 1].into_iter().all(|a| covers(&spans[a], axes[a].len())) {
                kept.push(patch);
            }
        }
        if merge {
            kept.sort_unstable_by_key(Patch::key);
            kept.dedup_by(|next, first| {
                let same = next.key() == first.key();
                if same {
                    first.weight += next.weight;
                }
                same
            });
        }
        check(kept.iter().map(Patch::cells).sum(), kept.len())?;
        let cells_of = |patch: &Patch| {
            let [a, b] = patch.spans;
            let cell = move |i: usize, j: usize| (i * columns + j, within(&a, i) * within(&b, j));
            let line = move |i: usize| b.cells().map(move |j| cell(i, j));
            a.cells().flat_map(line)
        };
        let all = kept.iter().map(|patch| (patch.weight, cells_of(patch)));
        Ok(Self::index(all, counts.len()))
    }

    /// Lays areas over cells; what lies within one cell is added to its count.
    ///
    /// # Arguments
    /// * `areas` - with the weight of the rows of each and where it stands among those given
    /// * `inside` - the share of every cell in which a value can be
    ///
    /// # Errors
    /// The first area of which no cell can hold a value, and too many of several cells.
    pub fn of_areas(
        axes: &[Cells; 2],
        areas: &[(&Polygon, f64, usize)],
        inside: &[f64],
        counts: &mut [f64],
    ) -> Result<Self, DensityError> {
        let mut kept: Vec<(f64, Vec<(usize, f64)>)> = Vec::new();
        let mut reach = 0;
        for &(area, weight, row) in areas {
            let cells = held(axes, area, inside);
            match cells.as_slice() {
                [] => {
                    return Err(DensityError::Beyond {
                        count: 1,
                        first: row,
                    });
                }
                [(cell, _)] => counts[*cell] += weight,
                _ => {
                    reach += cells.len();
                    kept.push((weight, cells));
                    check(reach, kept.len())?;
                }
            }
        }
        Ok(Self::index(kept, counts.len()))
    }

    /// # Arguments
    /// * `all` - the weight of each box with its cells and the share of each
    fn index<I>(all: impl IntoIterator<Item = (f64, I)>, cells: usize) -> Self
    where
        I: IntoIterator<Item = (usize, f64)>,
    {
        let mut of_cell: Vec<Vec<(usize, f64)>> = vec![Vec::new(); cells];
        let mut out = Self::default();
        for (b, (weight, held)) in all.into_iter().enumerate() {
            out.weights.push(weight);
            for (cell, share) in held {
                if share > 0.0 {
                    of_cell[cell].push((b, share));
                }
            }
        }
        out.starts.push(0);
        for entries in of_cell {
            out.entries.extend(entries);
            out.starts.push(out.entries.len());
        }
        out
    }

    /// These, cells with many rows, and as one more, where there is any, what they leave of the
    /// cells that can hold a value; weights are at least one.
    ///
    /// # Arguments
    /// * `exact` - weights of the rows of each cell
    /// * `is_heavy` - whether a cell has many
    pub fn with_rest(
        &self,
        exact: &[f64],
        is_heavy: impl Fn(usize) -> bool,
        inside: impl Fn(usize) -> f64,
    ) -> Self {
        let mut out = Self {
            weights: self.weights.clone(),
            starts: vec![0],
            entries: Vec::with_capacity(self.entries.len()),
        };
        let heavy: Vec<usize> = (0..exact.len()).filter(|cell| is_heavy(*cell)).collect();
        out.weights.extend(heavy.iter().map(|cell| exact[*cell]));
        let rest = out.weights.len();
        let mut any = false;
        for cell in 0..self.starts.len().saturating_sub(1) {
            let own = self.of(cell);
            out.entries.extend_from_slice(own);
            let left = 1.0 - own.iter().map(|(_, share)| share).sum::<f64>();
            if let Ok(at) = heavy.binary_search(&cell) {
                out.entries.push((self.weights.len() + at, 1.0));
            } else if left > ROUNDING && inside(cell) > 0.0 {
                out.entries.push((rest, left));
                any = true;
            }
            out.starts.push(out.entries.len());
        }
        if any {
            let held: f64 = heavy.iter().map(|cell| exact[*cell]).sum();
            out.weights.push(exact.iter().sum::<f64>() - held);
        }
        out.weights.iter_mut().for_each(|w| *w = w.max(1.0));
        out
    }

    /// Raises the function of some draws at a cell.
    ///
    /// # Arguments
    /// * `by` - what draws are raised by within boxes, shape `[draws, boxes]`
    pub fn raise(&self, by: &Mat<f64>, cell: usize, draws: Range<usize>, function: &mut [f64]) {
        for (b, share) in self.evened(cell) {
            add_scaled(share, &by.col_as_slice(b)[draws.clone()], function);
        }
    }

    /// The boxes that a cell lies in, with shares that add up to at most one.
    pub fn evened(&self, cell: usize) -> impl Iterator<Item = (usize, f64)> {
        let entries = self.of(cell);
        let all: f64 = entries.iter().map(|(_, share)| share).sum();
        let by = 1.0 / all.max(1.0);
        entries.iter().map(move |(b, share)| (*b, by * share))
    }

    /// Whether these can be boxes of so many cells.
    pub fn is_consistent(&self, cells: usize) -> bool {
        let boxes = self.weights.len();
        let ends = (self.starts.first(), self.starts.last());
        let is_entry = |(b, share): &(usize, f64)| *b < boxes && (0.0..=1.0).contains(share);
        boxes <= MOST
            && self.weights.iter().all(|w| w.is_finite() && *w > 0.0)
            && self.starts.len() == cells + 1
            && ends == (Some(&0), Some(&self.entries.len()))
            && self.starts.is_sorted()
            && self.entries.iter().all(is_entry)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Checks that something of each box can hold a value.
    ///
    /// # Errors
    /// The first box of which no cell can.
    pub fn reach(&self, inside: &[f64]) -> Result<(), DensityError> {
        match self.sums(inside).iter().position(|sum| *sum <= 0.0) {
            Some(b) => Err(DensityError::NoReach {
                weight: self.weights[b],
            }),
            None => Ok(()),
        }
    }

    /// The boxes that a cell lies in, with its share.
    pub fn of(&self, cell: usize) -> &[(usize, f64)] {
        match self.is_empty() {
            true => &[],
            false => &self.entries[self.starts[cell]..self.starts[cell + 1]],
        }
    }

    /// `p_b`: the sum of numbers of the cells within each box.
    pub fn sums(&self, u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.weights.len()];
        for (cell, u) in u.iter().enumerate() {
            for (b, share) in self.of(cell) {
                out[*b] += share * u;
            }
        }
        out
    }

    /// The log likelihood of all boxes.
    pub fn value(&self, u: &[f64]) -> f64 {
        let sums = self.sums(u);
        let terms = self.weights.iter().zip(sums);
        terms.map(|(w, p)| w * p.max(f64::MIN_POSITIVE).ln()).sum()
    }

    /// `sum_b Y_b r_b`: where the rows of boxes are expected to lie.
    pub fn held(&self, u: &[f64]) -> Vec<f64> {
        let by: Vec<f64> = self.per(&self.sums(u), |_| 1.0);
        self.spread(u, &by)
    }

    /// `Y_b of(b) / p_b`.
    pub fn per(&self, sums: &[f64], of: impl Fn(usize) -> f64) -> Vec<f64> {
        let pairs = self.weights.iter().zip(sums).enumerate();
        pairs
            .map(|(b, (w, p))| w * of(b) / p.max(f64::MIN_POSITIVE))
            .collect()
    }

    /// `u_j sum_b A_bj by_b`.
    fn spread(&self, u: &[f64], by: &[f64]) -> Vec<f64> {
        let of = |(cell, u): (usize, &f64)| {
            let entries = self.of(cell).iter();
            u * entries.map(|(b, share)| share * by[*b]).sum::<f64>()
        };
        u.iter().enumerate().map(of).collect()
    }
}
