//! The function on the cells of many draws, a line of cells at a time.

use crate::linalg::{Mat, MatRef, gemm, gemm_into};

use super::functions::Functions;
use super::patches::Patches;

/// Lines of cells that are begun together: their coefficients are read once.
const LINES: usize = 8;

/// How draws are raised within bins beside their functions.
#[derive(Debug, Clone)]
pub(super) struct Raised {
    /// The bins of each cell.
    pub bins: Patches,
    /// By how much, shape `[draws, bins]`.
    pub by: Mat<f64>,
}

/// Coefficients of draws, ordered by the function of the second axis.
#[derive(Debug, Clone)]
pub(super) struct CoefficientLines {
    /// Shape `[draws, functions]`.
    theta: Mat<f64>,
    /// The function of the second axis of each group, and the columns of its coefficients.
    groups: Vec<(usize, std::ops::Range<usize>)>,
    /// Values of the function of the first axis for every column, shape `[functions, cells]`.
    first: Mat<f64>,
    /// Values of the functions of the second axis, one for each group, shape `[groups, cells]`.
    second: Mat<f64>,
    raised: Option<Raised>,
}

/// Draws that are turned from columns to rows at a time: their coefficients stay in the cache.
const TURNED: usize = 16;

/// The transpose of a matrix, its rows in another order.
fn turned(theta: &Mat<f64>, order: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(theta.ncols(), order.len());
    for draws in crate::linalg::cut(theta.ncols(), TURNED) {
        for (k, from) in order.iter().enumerate() {
            let target = &mut out.col_as_slice_mut(k)[draws.clone()];
            for (t, draw) in target.iter_mut().zip(draws.clone()) {
                *t = theta[(*from, draw)];
            }
        }
    }
    out
}

impl CoefficientLines {
    /// Lays out draws.
    ///
    /// # Arguments
    /// * `theta` - shape `[functions, draws]`
    pub fn new(functions: &Functions, theta: &Mat<f64>) -> Self {
        let mut order: Vec<usize> = (0..functions.len()).collect();
        order.sort_by_key(|i| (functions.pair(*i).1, functions.pair(*i).0));
        let mut from = 0;
        let groups: Vec<(usize, std::ops::Range<usize>)> = order
            .chunk_by(|a, b| functions.pair(*a).1 == functions.pair(*b).1)
            .map(|chunk| {
                from += chunk.len();
                (functions.pair(chunk[0]).1, from - chunk.len()..from)
            })
            .collect();
        let (one, two) = (functions.axis(0), functions.axis(1));
        Self {
            theta: turned(theta, &order),
            first: Mat::from_fn(order.len(), one.nrows(), |k, i| {
                one[(i, functions.pair(order[k]).0)]
            }),
            second: Mat::from_fn(groups.len(), two.nrows(), |g, j| two[(j, groups[g].0)]),
            groups,
            raised: None,
        }
    }

    /// The same draws, raised.
    pub fn raised(mut self, raised: Option<Raised>) -> Self {
        self.raised = raised;
        self
    }

    /// Draws.
    pub fn len(&self) -> usize {
        self.theta.nrows()
    }

    /// Calls `visit(i, function)` for cells `(i, 0..)` of each wanted `i`, with the function of
    /// some draws in rows, shape `[draws, cells of the second axis]`.
    pub fn visit(
        &self,
        draws: std::ops::Range<usize>,
        lines: std::ops::Range<usize>,
        mut visit: impl FnMut(usize, &mut Mat<f64>),
    ) {
        let (n, groups) = (draws.len(), self.groups.len());
        let theta = self.theta.subrows(draws.start, n);
        let mut out = Mat::zeros(n, self.second.ncols());
        for chunk in crate::linalg::cut(lines.len(), LINES) {
            let (from, size) = (lines.start + chunk.start, chunk.len());
            let mut partial = vec![0.0; n * groups * size];
            for (g, (_, columns)) in self.groups.iter().enumerate() {
                let part = &mut partial[g * size * n..(g + 1) * size * n];
                gemm_into(
                    crate::linalg::MatMut::from_column_major_slice_mut(part, n, size),
                    false,
                    1.0,
                    theta.subcols(columns.start, columns.len()),
                    self.first
                        .submatrix(columns.start, from, columns.len(), size),
                );
            }
            for line in 0..size {
                let left = MatRef::from_column_major_slice_with_stride(
                    &partial[line * n..],
                    n,
                    groups,
                    size * n,
                );
                gemm_into(out.as_mut(), false, 1.0, left, self.second.as_ref());
                if let Some(raised) = &self.raised {
                    let columns = out.ncols();
                    for j in 0..columns {
                        let cell = (from + line) * columns + j;
                        let (by, column) = (&raised.by, out.col_as_slice_mut(j));
                        raised.bins.raise(by, cell, draws.clone(), column);
                    }
                }
                visit(from + line, &mut out);
            }
        }
    }

    /// The function of every draw at one cell.
    pub fn at(&self, i: usize, j: usize) -> Vec<f64> {
        let by = Mat::from_fn(self.theta.ncols(), 1, |k, _| {
            let group = self
                .groups
                .iter()
                .position(|(_, columns)| columns.contains(&k));
            self.first[(k, i)] * group.map_or(0.0, |g| self.second[(g, j)])
        });
        let mut out = gemm(self.theta.as_ref(), by.as_ref());
        let function = out.col_as_slice_mut(0);
        if let Some(raised) = &self.raised {
            let cell = i * self.second.ncols() + j;
            raised.bins.raise(&raised.by, cell, 0..self.len(), function);
        }
        function.to_vec()
    }
}
