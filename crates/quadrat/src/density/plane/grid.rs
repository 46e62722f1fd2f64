//! The cells of a plane, and how many rows lie in each.

use crate::linalg::dot;

use super::super::cells::Cells;
use super::super::loops;
use super::pairs::Pairs;

/// What is normalised: all cells together, or those of each place along the first axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// A density of both columns.
    Joint,
    /// Densities of the second column given the first.
    Conditional,
}

/// Cells over two axes, the second one running fastest: cell `(i, j)` is number `i n + j`, and line
/// `i` holds those of one place along the first axis.
#[derive(Debug, Clone)]
pub(in super::super) struct Grid {
    /// The cells of each axis.
    pub axes: [Cells; 2],
    /// What is normalised.
    pub kind: Kind,
    /// Logarithm of the size of every cell, in units of the scales.
    pub log_measure: Vec<f64>,
    /// Weight of the rows in every cell.
    pub counts: Vec<f64>,
    /// The same of every part whose probabilities add up to one.
    pub totals: Vec<f64>,
    /// The sum of all weights.
    pub total: f64,
}

impl Grid {
    /// Distributes rows to cells.
    pub fn new(axes: [Cells; 2], pairs: &Pairs, kind: Kind) -> Self {
        let (m, n) = (axes[0].len(), axes[1].len());
        let mut counts = vec![0.0; m * n];
        let (x, y) = (&pairs.values[0], &pairs.values[1]);
        for (i, (x, y)) in x.iter().zip(y).enumerate() {
            counts[axes[0].index(*x) * n + axes[1].index(*y)] += pairs.weight(i);
        }
        let second = &axes[1].log_measure;
        let first = axes[0].log_measure.iter().map(|a| match kind {
            Kind::Joint => *a,
            // Of one place: its width cancels.
            Kind::Conditional => 0.0,
        });
        let log_measure = first.flat_map(|a| second.iter().map(move |b| a + b));
        let size = match kind {
            Kind::Joint => m * n,
            Kind::Conditional => n,
        };
        Self {
            log_measure: log_measure.collect(),
            totals: counts.chunks_exact(size).map(|c| c.iter().sum()).collect(),
            total: counts.iter().sum(),
            counts,
            axes,
            kind,
        }
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

    /// The size of a cell in the data, which probabilities are divided by.
    pub fn size(&self, i: usize, j: usize) -> f64 {
        match self.kind {
            Kind::Joint => self.axes[0].width(i) * self.axes[1].width(j),
            Kind::Conditional => self.axes[1].width(j),
        }
    }

    /// Counts along one axis.
    pub fn along(&self, axis: usize) -> Vec<f64> {
        let [m, n] = self.shape();
        let mut out = vec![0.0; [m, n][axis]];
        for i in 0..m {
            for j in 0..n {
                out[[i, j][axis]] += self.counts[i * n + j];
            }
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
        for ((part, counts), total) in parts.zip(&self.totals) {
            let (_, top) = loops::extremes(part);
            loops::lower(part, top);
            let linear = dot(counts, part);
            crate::special::exp(part);
            let sum = loops::sum(part);
            part.iter_mut().for_each(|x| *x /= sum);
            value += linear - total * sum.ln();
        }
        value
    }
}
