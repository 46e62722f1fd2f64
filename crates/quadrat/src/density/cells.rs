//! The axis of a density and its cells: uniform in `v`, of unequal width in the data.
//!
//! | symbol | meaning |
//! |---|---|
//! | `x` | the data; `t = log x` on a logarithmic axis, else `t = x` |
//! | `z` | `(t - centre) / scale` |
//! | `v` | `K asinh(z / K)` where an end is open, `K = 2`; else `v = z` |

use serde::{Deserialize, Serialize};

use super::error::DensityError;
use super::scale::ColumnScale;

/// Beyond so many scales the axis turns logarithmic.
const BEND: f64 = 2.0;
/// How far the range goes beyond the data, in `v`: a factor of `e` in the distance from the centre.
const MARGIN: f64 = 2.0;
/// The same beyond intervals without an end.
const OPEN_MARGIN: f64 = 4.0;
/// How far evenly laid cells go beyond the mean, in standard deviations.
const REACH: f64 = 3.0;
/// Bounds that are further apart in units of the scale get the axis of open ends.
const WIDEST: f64 = 60.0;

/// From the data to `v` and back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Axis {
    log: bool,
    centre: f64,
    scale: f64,
    bent: bool,
}

impl Axis {
    /// Whether it is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// `v` at `x`.
    pub fn forward(&self, x: f64) -> f64 {
        let t = if self.log { x.ln() } else { x };
        let z = (t - self.centre) / self.scale;
        if self.bent {
            BEND * (z / BEND).asinh()
        } else {
            z
        }
    }

    /// `t` at `v`.
    fn measure(&self, v: f64) -> f64 {
        let z = if self.bent {
            BEND * (v / BEND).sinh()
        } else {
            v
        };
        self.centre + self.scale * z
    }

    /// `x` at `v`.
    pub fn backward(&self, v: f64) -> f64 {
        let t = self.measure(v);
        if self.log { t.exp() } else { t }
    }

    /// Whether the axis bends.
    pub fn is_bent(&self) -> bool {
        self.bent
    }
}

/// What cells cover, all in one coordinate: up to bounds that are finite, else over the range that
/// was asked for or, without one, over the margins; data are never left out.
fn ends(
    bounds: (f64, f64),
    range: Option<(f64, f64)>,
    data: (f64, f64),
    margins: (f64, f64),
) -> (f64, f64) {
    let wanted = range.unwrap_or(margins);
    let lower = match bounds.0.is_finite() {
        true => bounds.0,
        false => data.0.min(wanted.0),
    };
    let upper = match bounds.1.is_finite() {
        true => bounds.1,
        false => data.1.max(wanted.1),
    };
    (lower, upper)
}

/// Cells of equal width in `v`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cells {
    /// From the data to `v`.
    pub axis: Axis,
    /// Edges in `x`, one more than cells, strictly ascending.
    pub edges: Vec<f64>,
    /// Centres in `v`.
    pub centres: Vec<f64>,
    /// Logarithm of the width in `t`, which is the measure that densities are relative to.
    pub log_measure: Vec<f64>,
    /// First edge in `v`.
    start: f64,
    /// Width in `v`.
    pub step: f64,
}

impl Cells {
    /// Lays out cells of equal width in the data, the axis in units of the standard deviation of a
    /// uniform distribution over them.
    ///
    /// # Errors
    /// As [`Self::lay`].
    pub fn lay_evenly(
        count: usize,
        scale: &ColumnScale,
        bounds: (f64, f64),
        range: Option<(f64, f64)>,
        log: bool,
    ) -> Result<Self, DensityError> {
        let into = |x: f64| if log { x.ln() } else { x };
        let away = REACH * scale.sd;
        let (lower, upper) = ends(
            (into(bounds.0), into(bounds.1)),
            range.map(|(from, to)| (into(from), into(to))),
            (scale.least, scale.most),
            (scale.mean - away, scale.mean + away),
        );
        let even = ColumnScale {
            centre: 0.5 * (lower + upper),
            scale: (upper - lower) / 12_f64.sqrt(),
            ..*scale
        };
        let back = |t: f64| if log { t.exp() } else { t };
        Self::lay(count, &even, (back(lower), back(upper)), None, log)
    }

    /// Lays out cells.
    ///
    /// # Arguments
    /// * `count` - how many
    /// * `scale` - of the rows, in `t`
    /// * `bounds` - of the data in `x`, infinite where there are none
    /// * `range` - what the cells cover at least, where the user said so
    /// * `log` - whether `t = log x`
    ///
    /// # Errors
    /// Where double precision cannot tell edges apart.
    pub fn lay(
        count: usize,
        scale: &ColumnScale,
        bounds: (f64, f64),
        range: Option<(f64, f64)>,
        log: bool,
    ) -> Result<Self, DensityError> {
        let into = |x: f64| if log { x.ln() } else { x };
        let (lo, hi) = (into(bounds.0), into(bounds.1));
        let bounded = (lo.is_finite(), hi.is_finite());
        let wide = (hi - lo) / scale.scale > WIDEST;
        let centre = match bounded {
            (true, false) => lo,
            (false, true) => hi,
            _ => scale.centre,
        };
        let bent = bounded != (true, true) || wide;
        let axis = Axis {
            log,
            centre,
            scale: scale.scale,
            bent,
        };
        let inner = Axis { log: false, ..axis };
        let margin = |open: f64| if open > 0.0 { OPEN_MARGIN } else { MARGIN };
        let at = |t: f64| inner.forward(t);
        let (least, most) = (at(scale.least), at(scale.most));
        let (low, high) = ends(
            (at(lo), at(hi)),
            range.map(|(from, to)| (at(into(from)), at(into(to)))),
            (least, most),
            (
                least - margin(scale.open_below),
                most + margin(scale.open_above),
            ),
        );
        let step = (high - low) / count as f64;
        let unresolved = || DensityError::Unresolved {
            spread: scale.scale,
            centre: scale.centre,
        };
        let at = |i: usize| low + step * i as f64;
        let mut edges: Vec<f64> = (0..=count).map(|i| axis.backward(at(i))).collect();
        let mut measure: Vec<f64> = (0..=count).map(|i| axis.measure(at(i))).collect();
        if bounded.0 {
            edges[0] = bounds.0;
            measure[0] = lo;
        }
        if bounded.1 {
            edges[count] = bounds.1;
            measure[count] = hi;
        }
        let ascending = |x: &[f64]| {
            x.windows(2)
                .all(|w| w[0] < w[1] && (w[1] - w[0]).is_finite())
        };
        if !(edges[0].is_finite() && edges[count].is_finite()) {
            return Err(DensityError::TooWide);
        }
        if !ascending(&edges) || !ascending(&measure) {
            return Err(unresolved());
        }
        // In units of the scale, so that no unit of the data over- or underflows.
        let log_measure = measure
            .windows(2)
            .map(|w| ((w[1] - w[0]) / scale.scale).ln())
            .collect();
        let steps = (0..count).map(|j| low + step * (j as f64 + 0.5));
        Ok(Self {
            axis,
            centres: steps.collect(),
            edges,
            log_measure,
            start: low,
            step,
        })
    }

    /// Whether lengths agree and edges ascend, as those that were laid out do.
    pub fn is_consistent(&self) -> bool {
        let m = self.centres.len();
        let all = [&self.edges, &self.centres, &self.log_measure];
        let (axis, step) = (self.axis, self.step);
        m > 0
            && self.edges.len() == m + 1
            && self.log_measure.len() == m
            && all.iter().all(|x| x.iter().all(|x| x.is_finite()))
            && self.edges.is_sorted_by(|a, b| a < b)
            && [axis.centre, axis.scale, self.start, step]
                .iter()
                .all(|x| x.is_finite())
            && axis.scale > 0.0
            && step > 0.0
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// A centre and a scale in `x` for sums over the cells: those of the rows, and on a logarithmic
    /// axis about the same in `x`.
    pub fn unit(&self, scale: &ColumnScale) -> (f64, f64) {
        match self.axis.log {
            true => (0.0, scale.centre.exp()),
            false => (scale.centre, scale.scale),
        }
    }

    /// The cell of a value within the range.
    pub fn index(&self, x: f64) -> usize {
        let at = (self.axis.forward(x) - self.start) / self.step;
        // Saturates: a value on the last edge belongs to the last cell.
        (at as usize).min(self.len() - 1)
    }

    /// The cell that a place lies in; none outside of all.
    pub fn find(&self, x: f64) -> Option<usize> {
        let m = self.len();
        let inside = x >= self.edges[0] && x <= self.edges[m];
        inside.then(|| self.edges.partition_point(|e| *e <= x).clamp(1, m) - 1)
    }

    /// Moves the outer edges out to values that only rounding leaves beyond them.
    pub fn hold(&mut self, least: f64, most: f64) {
        let m = self.len();
        self.edges[0] = self.edges[0].min(least);
        self.edges[m] = self.edges[m].max(most);
    }

    /// The middle of each cell in `v`, in `x`.
    pub fn places(&self) -> Vec<f64> {
        self.centres
            .iter()
            .map(|v| self.axis.backward(*v))
            .collect()
    }

    /// The middle of a cell.
    pub fn middle(&self, j: usize) -> f64 {
        self.edges[j] + 0.5 * (self.edges[j + 1] - self.edges[j])
    }

    /// Width of a cell in `x`.
    pub fn width(&self, j: usize) -> f64 {
        self.edges[j + 1] - self.edges[j]
    }
}
