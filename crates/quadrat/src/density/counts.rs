//! What the rows say of the cells: counts, and intervals of several cells.
//!
//! With `u = softmax(eta + log w)` and `N` the sum of all weights,
//!
//! $$ \log p(y | \eta) = \sum_j y_j (\eta_j + \log w_j) + \sum_b Y_b \log \sum_j A_{bj} u_j +
//! \mathrm{const} $$

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use super::error::DensityError;
use super::loops;
use super::rows::Clean;
use super::warning::Warning;

/// More different intervals than this are rounded to edges of cells.
const MOST_INTERVALS: usize = 1500;

/// An interval in cells: whole ones between a first and a last of which it has a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct CellSpan {
    /// First cell.
    pub first: usize,
    /// Last cell.
    pub last: usize,
    /// Share of the first.
    pub head: f64,
    /// Share of the last.
    pub tail: f64,
    /// Weight of the rows.
    pub weight: f64,
}

impl CellSpan {
    /// The share of one of its cells.
    pub fn share(&self, j: usize) -> f64 {
        if j == self.first {
            self.head
        } else if j == self.last {
            self.tail
        } else {
            1.0
        }
    }

    /// Its cells.
    pub fn cells(&self) -> std::ops::RangeInclusive<usize> {
        self.first..=self.last
    }
}

/// Rows as seen by the cells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CellCounts {
    /// Weight of the rows known to lie in each cell.
    pub exact: Vec<f64>,
    /// Intervals of several cells.
    pub spans: Vec<CellSpan>,
    /// All weights.
    pub total: f64,
    /// Those of exact rows.
    pub exact_total: f64,
}

/// The likelihood at one density.
#[derive(Debug, Clone)]
pub(super) struct Look {
    /// Probability of each cell.
    pub u: Vec<f64>,
    /// Log likelihood.
    pub value: f64,
    /// Its slope in `eta`.
    pub slope: Vec<f64>,
    /// `N u` less the weight of spans spread over their cells: what is diagonal in the curvature.
    pub diagonal: Vec<f64>,
    /// Probability of each span.
    pub spans: Vec<f64>,
}

impl CellCounts {
    /// Distributes rows to cells.
    ///
    /// # Errors
    /// Where nothing is left that says anything.
    pub fn new(
        rows: &Clean,
        cells: &Cells,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, DensityError> {
        let mut exact = vec![0.0; cells.len()];
        if rows.weights.is_empty() {
            rows.values
                .iter()
                .for_each(|x| exact[cells.index(*x)] += 1.0);
        } else {
            let pairs = rows.values.iter().zip(&rows.weights);
            pairs.for_each(|(x, w)| exact[cells.index(*x)] += w);
        }
        let merge = rows.intervals.len() > MOST_INTERVALS;
        if merge {
            warnings.push(Warning::Merged {
                intervals: rows.intervals.len(),
                cells: cells.len(),
            });
        }
        let mut spans: Vec<CellSpan> = Vec::new();
        for &(a, b, weight) in &rows.intervals {
            let mut span = span(cells, a, b, weight);
            if merge && span.first < span.last {
                span = rounded(span);
            }
            if span.first == span.last {
                exact[span.first] += weight;
            } else if !covers(&span, cells.len()) {
                spans.push(span);
            }
        }
        if merge {
            spans.sort_unstable_by_key(|s| (s.first, s.last));
            spans.dedup_by(|next, kept| {
                let same = (next.first, next.last) == (kept.first, kept.last);
                if same {
                    kept.weight += next.weight;
                }
                same
            });
        }
        let exact_total = exact.iter().sum::<f64>();
        let total = exact_total + spans.iter().map(|s| s.weight).sum::<f64>();
        if total <= 0.0 || !total.is_finite() {
            return Err(DensityError::SaysNothing);
        }
        Ok(Self {
            exact,
            spans,
            total,
            exact_total,
        })
    }

    /// Whether these can be counts of so many cells.
    pub fn is_consistent(&self, cells: usize) -> bool {
        let is_count = |x: f64| x.is_finite() && x >= 0.0;
        let is_share = |x: f64| (0.0..=1.0).contains(&x);
        let fits = |s: &CellSpan| {
            s.first <= s.last
                && s.last < cells
                && is_share(s.head)
                && is_share(s.tail)
                && is_count(s.weight)
        };
        self.exact.len() == cells
            && self.exact.iter().all(|x| is_count(*x))
            && self.spans.iter().all(fits)
            && is_count(self.exact_total)
            && self.total.is_finite()
            && self.total > 0.0
    }

    /// The log likelihood where `log u`, but for a constant, is given, shape `[cells]`; what is
    /// given is lost.
    pub fn value(&self, log_mass: &mut [f64]) -> f64 {
        let linear = crate::linalg::dot(&self.exact, log_mass);
        let top = below_top(log_mass);
        crate::special::exp(log_mass);
        let log_sum = loops::sum(log_mass).ln();
        let exact: f64 = self.exact_total * (log_sum + top);
        let spans = self.spans.iter().map(|span| {
            let inside: f64 = span.cells().map(|j| span.share(j) * log_mass[j]).sum();
            span.weight * (inside.ln() - log_sum)
        });
        linear - exact + spans.sum::<f64>()
    }

    /// Evaluates at `eta`, shape `[cells]`.
    pub fn look(&self, eta: &[f64], log_measure: &[f64]) -> Look {
        let mut u: Vec<f64> = eta.iter().zip(log_measure).map(|(e, w)| e + w).collect();
        let top = below_top(&mut u);
        crate::special::exp(&mut u);
        let sum = loops::sum(&u);
        u.iter_mut().for_each(|x| *x /= sum);
        let log_sum = sum.ln() + top;
        let dense =
            |(y, (e, w)): (&f64, (&f64, &f64))| if *y > 0.0 { y * (e + w - log_sum) } else { 0.0 };
        let pairs = || eta.iter().zip(log_measure);
        let mut value: f64 = self.exact.iter().zip(pairs()).map(dense).sum();
        let mut diagonal: Vec<f64> = u.iter().map(|u| self.total * u).collect();
        let mut slope: Vec<f64> = self
            .exact
            .iter()
            .zip(&diagonal)
            .map(|(y, m)| y - m)
            .collect();
        let mut spans = Vec::with_capacity(self.spans.len());
        for span in &self.spans {
            let inside: f64 = span.cells().map(|j| span.share(j) * u[j]).sum();
            spans.push(inside);
            value += span.weight * inside.ln();
            for j in span.cells() {
                let part = span.weight * span.share(j) * u[j] / inside;
                slope[j] += part;
                diagonal[j] -= part;
            }
        }
        Look {
            u,
            value,
            slope,
            diagonal,
            spans,
        }
    }
}

/// Takes the largest number off all, and returns it.
fn below_top(x: &mut [f64]) -> f64 {
    let (_, top) = loops::extremes(x);
    loops::lower(x, top);
    top
}

pub(super) fn span(cells: &Cells, a: f64, b: f64, weight: f64) -> CellSpan {
    let n = cells.len();
    let (from, to) = (cells.edges[0], cells.edges[n]);
    let (a, b) = (a.max(from), b.min(to));
    let first = cells.index(a);
    let mut last = cells.index(b);
    if last > first && b <= cells.edges[last] {
        last -= 1;
    }
    let head = ((cells.edges[first + 1] - a) / cells.width(first)).clamp(0.0, 1.0);
    let tail = ((b - cells.edges[last]) / cells.width(last)).clamp(0.0, 1.0);
    CellSpan {
        first,
        last,
        head,
        tail,
        weight,
    }
}

/// To the nearest edges of cells.
pub(super) fn rounded(mut span: CellSpan) -> CellSpan {
    if span.head < 0.5 {
        span.first += 1;
    }
    if span.tail < 0.5 && span.last > span.first {
        span.last -= 1;
    }
    span.last = span.last.max(span.first);
    CellSpan {
        head: 1.0,
        tail: 1.0,
        ..span
    }
}

/// Whether a span is all that is possible.
pub(super) fn covers(span: &CellSpan, cells: usize) -> bool {
    span.first == 0 && span.last + 1 == cells && span.head == 1.0 && span.tail == 1.0
}
