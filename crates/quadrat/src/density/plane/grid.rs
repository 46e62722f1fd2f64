//! The cells of a plane, and how many rows lie in each.

use serde::{Deserialize, Serialize};

use crate::linalg::dot;
use crate::support::Polygon;

use super::super::cells::Cells;
use super::super::error::DensityError;
use super::super::loops;
use super::super::warning::Warning;
use super::mask;
use super::pairs::Pairs;
use super::patches::Patches;

/// Logarithm of the size of a cell in which nothing can be: exponentials of it are zero beside any
/// other.
const NOTHING: f64 = -1e5;
/// Areas of cells that probabilities can be divided by, with room for those that are small.
const SIZES: (f64, f64) = (1e-250, 1e250);

/// What is normalised: all cells together, or those of each place along the first axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) enum Normalisation {
    /// A density of both columns.
    Joint,
    /// Densities of the second column given the first.
    Conditional,
}

/// Cells over two axes, the second one running fastest: cell `(i, j)` is number `i n + j`, and line
/// `i` holds those of one place along the first axis.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct CellGrid {
    /// The cells of each axis.
    pub axes: [Cells; 2],
    /// What is normalised.
    pub kind: Normalisation,
    /// Logarithm of the size of every cell, in units of the scales.
    pub log_measure: Vec<f64>,
    /// Weight of the rows known to lie in each cell.
    pub counts: Vec<f64>,
    /// Boxes of several cells that other rows lie in.
    pub patches: Patches,
    /// The share of each cell in which a value can be; empty where that is everywhere.
    inside: Vec<f64>,
    /// Weight of the rows of every part whose probabilities add up to one.
    pub totals: Vec<f64>,
    /// The same of rows whose cells are known.
    pub exact: Vec<f64>,
    /// The sum of all weights.
    pub total: f64,
}

/// Checks that areas of cells are numbers that probabilities can be divided by.
fn measurable(axes: &[Cells; 2]) -> Result<(), DensityError> {
    let ends = [0, 1].map(|a| {
        let widths = (0..axes[a].len()).map(|j| axes[a].width(j));
        widths.fold((f64::INFINITY, 0.0_f64), |e, w| (e.0.min(w), e.1.max(w)))
    });
    let (least, most) = (ends[0].0 * ends[1].0, ends[0].1 * ends[1].1);
    if least > SIZES.0 && most < SIZES.1 {
        return Ok(());
    }
    Err(DensityError::Setting {
        what: "the area of a cell",
        value: if least > SIZES.0 { most } else { least },
        requirement: "from 1e-250 to 1e250: multiply a column by a constant",
    })
}

fn edges(axes: &[Cells; 2]) -> [&[f64]; 2] {
    axes.each_ref().map(|axis| axis.edges.as_slice())
}

impl CellGrid {
    /// Distributes rows to cells.
    ///
    /// # Arguments
    /// * `land` - polygons inside of which alone values can be; none where that is everywhere
    /// * `areas` - polygons that rows are known to lie in, as they were given
    ///
    /// # Errors
    /// Rows outside of all polygons, boxes that overlap too often.
    pub fn new(
        axes: [Cells; 2],
        pairs: &Pairs,
        kind: Normalisation,
        (land, areas): (Option<&[Polygon]>, &[Polygon]),
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, DensityError> {
        let (m, n) = (axes[0].len(), axes[1].len());
        if kind == Normalisation::Joint {
            measurable(&axes)?;
        }
        let inside = land.map_or_else(Vec::new, |p| mask::shares(edges(&axes), p));
        let mut counts = vec![0.0; m * n];
        let (x, y) = (&pairs.values[0], &pairs.values[1]);
        let mut outside = (0, 0);
        for (i, (x, y)) in x.iter().zip(y).enumerate() {
            let cell = axes[0].index(*x) * n + axes[1].index(*y);
            counts[cell] += pairs.weight(i);
            if inside.get(cell) == Some(&0.0) {
                outside = (
                    outside.0 + 1,
                    if outside.0 == 0 {
                        pairs.row(i)
                    } else {
                        outside.1
                    },
                );
            }
        }
        if outside.0 > 0 {
            return Err(DensityError::Beyond {
                count: outside.0,
                first: outside.1,
            });
        }
        let patches = match pairs.areas(areas) {
            Some(areas) => Patches::of_areas(&axes, &areas, &inside, &mut counts)?,
            None => Patches::new(&axes, &pairs.boxes, &mut counts, warnings)?,
        };
        if !inside.is_empty() {
            // Boxes within one cell are counts by now.
            let wet = counts.iter().zip(&inside);
            if let Some((weight, _)) = wet
                .into_iter()
                .find(|(n, share)| **n > 0.0 && **share <= 0.0)
            {
                return Err(DensityError::NoReach { weight: *weight });
            }
            if !patches.is_empty() {
                patches.reach(&inside)?;
            }
        }
        let second = &axes[1].log_measure;
        let first = axes[0].log_measure.iter().map(|a| match kind {
            Normalisation::Joint => *a,
            // Of one place: its width cancels.
            Normalisation::Conditional => 0.0,
        });
        let log_measure = first.flat_map(|a| second.iter().map(move |b| a + b));
        let mut log_measure: Vec<f64> = log_measure.collect();
        for (measure, share) in log_measure.iter_mut().zip(&inside) {
            *measure += share.ln().max(NOTHING);
        }
        let size = match kind {
            Normalisation::Joint => m * n,
            Normalisation::Conditional => n,
        };
        let exact: Vec<f64> = counts.chunks_exact(size).map(|c| c.iter().sum()).collect();
        let mut totals = exact.clone();
        // Boxes are of densities of both columns, which have one part.
        totals[0] += patches.weights.iter().sum::<f64>();
        let total = totals.iter().sum();
        if !(total > 0.0 && f64::is_finite(total)) {
            return Err(DensityError::SaysNothing);
        }
        Ok(Self {
            log_measure,
            totals,
            total,
            exact,
            counts,
            patches,
            inside,
            axes,
            kind,
        })
    }

    /// Whether lengths agree and numbers can be those of a grid.
    pub fn is_consistent(&self) -> bool {
        let [m, n] = self.shape();
        let Some(cells) = m.checked_mul(n) else {
            return false;
        };
        let parts = match self.kind {
            Normalisation::Joint => 1,
            Normalisation::Conditional => m,
        };
        let are_counts = |x: &[f64]| x.iter().all(|x| x.is_finite() && *x >= 0.0);
        self.axes.iter().all(Cells::is_consistent)
            && [m, n].iter().all(|m| *m >= 5)
            && self.log_measure.len() == cells
            && self.log_measure.iter().all(|x| x.is_finite())
            && self.counts.len() == cells
            && are_counts(&self.counts)
            && (self.inside.is_empty() || self.inside.len() == cells)
            && self.inside.iter().all(|x| (0.0..=1.0).contains(x))
            && self.totals.len() == parts
            && are_counts(&self.totals)
            && self.exact.len() == parts
            && are_counts(&self.exact)
            && self.total.is_finite()
            && self.total > 0.0
            && self.patches.is_consistent(cells)
            && (self.kind == Normalisation::Joint || self.patches.is_empty())
    }

    /// Edges of the cells along each axis.
    pub fn edges(&self) -> [&[f64]; 2] {
        edges(&self.axes)
    }

    /// Cells along each axis.
    pub fn shape(&self) -> [usize; 2] {
        [self.axes[0].len(), self.axes[1].len()]
    }

    /// Lines of a part whose probabilities add up to one.
    pub fn lines(&self) -> usize {
        self.axes[0].len() / self.totals.len()
    }

    /// Cells of such a part.
    pub fn part(&self) -> usize {
        self.counts.len() / self.totals.len()
    }

    /// A probability of a cell over its size in the data; zero where nothing can be.
    pub fn per_size(&self, cell: usize, mass: f64) -> f64 {
        let n = self.axes[1].len();
        let size = match self.kind {
            Normalisation::Joint => self.axes[0].width(cell / n) * self.axes[1].width(cell % n),
            Normalisation::Conditional => self.axes[1].width(cell % n),
        };
        match self.inside.get(cell) {
            Some(&share) if share <= 0.0 => 0.0,
            Some(share) => mass / (size * share),
            None => mass / size,
        }
    }

    /// The share of a cell in which a value can be.
    pub fn inside(&self, cell: usize) -> f64 {
        self.inside.get(cell).copied().unwrap_or(1.0)
    }

    /// Counts along one axis, boxes spread evenly over their cells.
    pub fn along(&self, axis: usize) -> Vec<f64> {
        let [m, n] = self.shape();
        let even: Vec<f64> = (0..m * n).map(|cell| self.inside(cell)).collect();
        let held = match self.patches.is_empty() {
            true => vec![0.0; m * n],
            false => self.patches.held(&even),
        };
        let mut out = vec![0.0; [m, n][axis]];
        for (cell, (exact, held)) in self.counts.iter().zip(held).enumerate() {
            out[[cell / n, cell % n][axis]] += exact + held;
        }
        out
    }

    /// The log likelihood where the cells have these logarithms, which are turned into
    /// probabilities.
    pub fn look(&self, log: &mut [f64]) -> f64 {
        let size = self.part();
        let parts = log
            .chunks_exact_mut(size)
            .zip(self.counts.chunks_exact(size));
        let mut value = 0.0;
        for ((part, counts), total) in parts.zip(&self.exact) {
            let (_, top) = loops::extremes(part);
            loops::lower(part, top);
            let linear = dot(counts, part);
            crate::special::exp(part);
            let sum = loops::sum(part);
            part.iter_mut().for_each(|x| *x /= sum);
            value += linear - total * sum.ln();
        }
        match self.patches.is_empty() {
            true => value,
            false => value + self.patches.value(log),
        }
    }
}
