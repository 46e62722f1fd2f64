//! The cells of a plane, and how many rows lie in each.

use super::super::cells::Cells;
use super::pairs::Pairs;

/// Cells over two axes, the second one running fastest: cell `(i, j)` is number `i n + j`.
#[derive(Debug, Clone)]
pub(in super::super) struct Grid {
    /// The cells of each axis.
    pub axes: [Cells; 2],
    /// Logarithm of the area of every cell, in units of the scales.
    pub log_measure: Vec<f64>,
    /// Weight of the rows in every cell.
    pub counts: Vec<f64>,
    /// The sum of all weights.
    pub total: f64,
}

impl Grid {
    /// Distributes rows to cells.
    pub fn new(axes: [Cells; 2], pairs: &Pairs) -> Self {
        let (m, n) = (axes[0].len(), axes[1].len());
        let mut counts = vec![0.0; m * n];
        let (x, y) = (&pairs.values[0], &pairs.values[1]);
        for (i, (x, y)) in x.iter().zip(y).enumerate() {
            counts[axes[0].index(*x) * n + axes[1].index(*y)] += pairs.weight(i);
        }
        let second = &axes[1].log_measure;
        let rows = axes[0].log_measure.iter();
        let log_measure = rows.flat_map(|a| second.iter().map(move |b| a + b));
        Self {
            log_measure: log_measure.collect(),
            total: counts.iter().sum(),
            counts,
            axes,
        }
    }

    /// Cells along each axis.
    pub fn shape(&self) -> [usize; 2] {
        [self.axes[0].len(), self.axes[1].len()]
    }

    /// The area of a cell in the data.
    pub fn area(&self, i: usize, j: usize) -> f64 {
        self.axes[0].width(i) * self.axes[1].width(j)
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
}
