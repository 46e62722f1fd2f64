//! Which nodes a row looks at.

use crate::linalg::{Mat, MatRef};
use crate::link::{Link, QuasiMean, log_average};

/// Rows as shares of nodes: `z_r = link^-1(sum_i p_ri link(f_i))`.
///
/// Nodes may be shared between rows. Nothing here knows where they lie, nor what was reported.
///
/// # Examples
/// ```
/// use quadrat::{inference::pooled::Pools, link::Link};
/// let mut pools = Pools::new(3);
/// pools.push(Link::Exp, [(0, 2.0), (2, 6.0)]);
/// let (nodes, shares) = pools.row(0);
/// assert_eq!((nodes, shares), ([0, 2].as_slice(), [0.25, 0.75].as_slice()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pools {
    /// Entries of row `r` are `offsets[r]..offsets[r + 1]`.
    offsets: Vec<usize>,
    node: Vec<usize>,
    share: Vec<f64>,
    link: Vec<Link>,
    nodes: usize,
}

impl Pools {
    /// No rows yet, over a number of nodes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self {
            offsets: vec![0],
            node: Vec::new(),
            share: Vec::new(),
            link: Vec::new(),
            nodes,
        }
    }

    /// Adds a row.
    ///
    /// # Arguments
    /// * `entries` - nodes and their weights, above zero, which are divided by their sum
    ///
    /// # Panics
    /// If there is no such node, or none at all.
    pub fn push(&mut self, link: Link, entries: impl IntoIterator<Item = (usize, f64)>) {
        let first = self.node.len();
        for (node, weight) in entries {
            assert!(node < self.nodes, "node {node} of {}", self.nodes);
            self.node.push(node);
            self.share.push(weight);
        }
        assert!(first < self.node.len(), "a row looks at one node at least");
        let total: f64 = self.share[first..].iter().sum();
        self.share[first..].iter_mut().for_each(|p| *p /= total);
        self.offsets.push(self.node.len());
        self.link.push(link);
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.link.len()
    }

    /// Some of the rows, over the same nodes.
    pub(super) fn only(&self, rows: &[usize]) -> Self {
        let mut out = Self::new(self.nodes);
        for &row in rows {
            let (nodes, shares) = self.row(row);
            out.node.extend_from_slice(nodes);
            out.share.extend_from_slice(shares);
            out.offsets.push(out.node.len());
            out.link.push(self.link[row]);
        }
        out
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The nodes of a row and their shares, which sum to one.
    #[must_use]
    pub fn row(&self, row: usize) -> (&[usize], &[f64]) {
        let entries = self.entries(row);
        (&self.node[entries.clone()], &self.share[entries])
    }

    /// The link of a row.
    #[must_use]
    pub fn link(&self, row: usize) -> Link {
        self.link[row]
    }

    pub(super) fn entries(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// `z` of every row and its derivatives.
    pub(crate) fn means(&self, f: &[f64]) -> Vec<QuasiMean> {
        let one = |row: usize| {
            let (nodes, shares) = self.row(row);
            let values: Vec<f64> = nodes.iter().map(|&i| f[i]).collect();
            QuasiMean::new(self.link[row], shares, &values)
        };
        (0..self.rows()).map(one).collect()
    }

    /// `z` of every row and the entries of `J`, without what [`Self::means`] tells besides; nothing
    /// is allocated where all rows are behind `exp`.
    pub(in crate::inference) fn average(&self, f: &[f64], out: &mut Averages) {
        out.z.clear();
        out.slopes.clear();
        out.slopes.extend(self.node.iter().map(|&i| f[i]));
        for row in 0..self.rows() {
            let entries = self.entries(row);
            let (shares, values) = (&self.share[entries.clone()], &mut out.slopes[entries]);
            out.z.push(match (self.link[row], &*values) {
                (_, &[one]) => {
                    values[0] = 1.0;
                    one
                }
                (Link::Exp, _) => log_average(shares, values),
                (link, _) => {
                    let mean = QuasiMean::new(link, shares, values);
                    values.copy_from_slice(&mean.slopes);
                    mean.value
                }
            });
        }
    }

    /// The entries of `J`, row by row.
    pub(in crate::inference) fn slopes(&self, means: &[QuasiMean]) -> Slopes {
        Slopes(
            means
                .iter()
                .flat_map(|z| z.slopes.iter().copied())
                .collect(),
        )
    }
}

/// `z` of every row, and the entries of `J` in the order of the pools.
#[derive(Debug, Clone, Default)]
pub(in crate::inference) struct Averages {
    pub z: Vec<f64>,
    pub slopes: Vec<f64>,
}

/// The entries of `J`, in the order of the pools.
#[derive(Debug, Clone, PartialEq)]
pub struct Slopes(pub Vec<f64>);

impl Slopes {
    /// Those of some of the rows.
    pub(super) fn only(&self, pools: &Pools, rows: &[usize]) -> Self {
        let entries = rows.iter().flat_map(|&row| pools.entries(row));
        Self(entries.map(|e| self.0[e]).collect())
    }

    /// `J x`, length `rows`.
    pub fn gather(&self, pools: &Pools, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; pools.rows()];
        gathered(&self.0, pools, x, &mut out);
        out
    }

    /// `J' a`, length `nodes`.
    pub fn scatter(&self, pools: &Pools, a: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; pools.nodes];
        for (row, a) in a.iter().enumerate() {
            for e in pools.entries(row) {
                out[pools.node[e]] += self.0[e] * a;
            }
        }
        out
    }

    /// `K J'`, shape `[nodes, rows]`.
    pub fn columns(&self, pools: &Pools, k: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(pools.nodes, pools.rows());
        for row in 0..pools.rows() {
            let column = out.col_as_slice_mut(row);
            for e in pools.entries(row) {
                let j = self.0[e];
                let from = k.col(pools.node[e]);
                match from.try_as_col_major() {
                    Some(from) => {
                        let each = column.iter_mut().zip(from.as_slice());
                        each.for_each(|(o, k)| *o += j * k);
                    }
                    None => {
                        let each = column.iter_mut().zip(from.iter());
                        each.for_each(|(o, k)| *o += j * k);
                    }
                }
            }
        }
        out
    }

    /// `J X`, shape `[rows, X.ncols()]`, of `X` with as many rows as there are nodes.
    pub fn rows(&self, pools: &Pools, x: MatRef<'_, f64>) -> Mat<f64> {
        rows_of(&self.0, pools, x)
    }

    /// `J' X`, shape `[nodes, X.ncols()]`.
    pub fn spread(&self, pools: &Pools, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(pools.nodes, x.ncols());
        for column in 0..x.ncols() {
            for row in 0..pools.rows() {
                for e in pools.entries(row) {
                    out[(pools.node[e], column)] += self.0[e] * x[(row, column)];
                }
            }
        }
        out
    }
}

/// `J X` for the entries of `J`.
pub(super) fn rows_of(slopes: &[f64], pools: &Pools, x: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(pools.rows(), x.ncols());
    for column in 0..x.ncols() {
        let from = x.col(column);
        let to = out.col_as_slice_mut(column);
        match from.try_as_col_major() {
            Some(from) => gathered(slopes, pools, from.as_slice(), to),
            None => {
                let from: Vec<f64> = from.iter().copied().collect();
                gathered(slopes, pools, &from, to);
            }
        }
    }
    out
}

/// `J x`.
fn gathered(slopes: &[f64], pools: &Pools, x: &[f64], out: &mut [f64]) {
    for (row, out) in out.iter_mut().enumerate() {
        let entries = pools.entries(row);
        let nodes = pools.node[entries.clone()].iter();
        *out = slopes[entries]
            .iter()
            .zip(nodes)
            .map(|(j, &i)| j * x[i])
            .sum();
    }
}
