//! The functions that the logarithm of a density over a plane is made of.
//!
//! Products of a function of each axis: of cosines, and of `1`, `v`, `v^2` for the tails. All sums
//! over cells go axis by axis, and a product of two cosines is a sum of two.

use crate::linalg::{Mat, MatRef, gemm, gemm_into};

use super::super::cells::Cells;
use super::grid::{CellGrid, Normalisation};

/// The functions of one axis.
#[derive(Debug, Clone)]
struct Axis {
    /// Orthonormal cosines from the constant on, then `1`, `v` and, where an end is open, `v^2`,
    /// shape `[cells, cosines + 2 or 3]`.
    values: Mat<f64>,
    /// `cos(pi k (j + 1/2) / m)`, shape `[cells, 2 cosines - 1]`.
    plain: Mat<f64>,
    /// Cosines.
    cosines: usize,
}

/// Powers of the axis, as columns: `v` about the middle between two bounds, else `v` and `v^2`.
fn powers(cells: &Cells) -> Vec<Vec<f64>> {
    let v = &cells.centres;
    if cells.axis.is_bent() {
        return vec![v.clone(), v.iter().map(|v| v * v).collect()];
    }
    let middle = 0.5 * (v[0] + v[v.len() - 1]);
    vec![v.iter().map(|v| v - middle).collect()]
}

impl Axis {
    fn new(cells: &Cells, cosines: usize) -> Self {
        let m = cells.len();
        let table: Vec<f64> = (0..4 * m)
            .map(|i| (std::f64::consts::PI * i as f64 / (2.0 * m as f64)).cos())
            .collect();
        let plain = Mat::from_fn(m, 2 * cosines - 1, |j, k| table[k * (2 * j + 1) % (4 * m)]);
        let powers = powers(cells);
        let values = Mat::from_fn(m, cosines + 1 + powers.len(), |j, k| {
            if k < cosines {
                norm(m, k) * plain[(j, k)]
            } else if k == cosines {
                1.0
            } else {
                powers[k - cosines - 1][j]
            }
        });
        Self {
            values,
            plain,
            cosines,
        }
    }
}

/// What makes a cosine a vector of length one.
pub(super) fn norm(m: usize, k: usize) -> f64 {
    (if k == 0 { 1.0 } else { 2.0 } / m as f64).sqrt()
}

/// Orders of the two cosines of a product.
type Order = (usize, usize);

/// Which of the two orders are odd.
fn class_of(order: &Order) -> usize {
    2 * (order.0 % 2) + order.1 % 2
}

/// Functions of the plane: polynomials, then products of cosines.
#[derive(Debug, Clone)]
pub(in super::super) struct Functions {
    axes: [Axis; 2],
    /// Columns of the two axes that each is made of.
    pairs: Vec<(usize, usize)>,
    /// Polynomials.
    pub q: usize,
    /// Products whose cosines are even or odd alike, which the prior parts from all others.
    pub classes: Vec<std::ops::Range<usize>>,
    /// Runs of products that share the first cosine, within a class.
    runs: Vec<std::ops::Range<usize>>,
}

impl Functions {
    /// Polynomials, and products of cosines of the orders that are given. What does not vary along
    /// the second axis is left out where densities are conditional, which do not see it.
    pub fn new(grid: &CellGrid, orders: &[(usize, usize)]) -> Self {
        let axes = &grid.axes;
        let cosines = [
            1 + orders.iter().map(|o| o.0).max().unwrap_or(0),
            1 + orders.iter().map(|o| o.1).max().unwrap_or(0),
        ];
        let axes = [0, 1].map(|a| Axis::new(&axes[a], cosines[a]));
        let [one, other] = [axes[0].cosines, axes[1].cosines];
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        if grid.kind == Normalisation::Joint {
            pairs.extend((one + 1..axes[0].values.ncols()).map(|k| (k, other)));
        }
        pairs.extend((other + 1..axes[1].values.ncols()).map(|k| (one, k)));
        pairs.push((one + 1, other + 1));
        let q = pairs.len();
        let mut orders = orders.to_vec();
        orders.sort_unstable_by_key(|o| (class_of(o), o.0, o.1));
        let ranges = |same: fn(&Order, &Order) -> bool| {
            let mut first = q;
            let chunks = orders.chunk_by(same);
            let range = |c: &[Order]| {
                first += c.len();
                first - c.len()..first
            };
            chunks.map(range).collect::<Vec<_>>()
        };
        let classes = ranges(|a, b| class_of(a) == class_of(b));
        let runs = ranges(|a, b| class_of(a) == class_of(b) && a.0 == b.0);
        pairs.extend(&orders);
        Self {
            axes,
            pairs,
            q,
            classes,
            runs,
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Orders of the cosines of a product.
    pub fn order(&self, i: usize) -> (usize, usize) {
        self.pairs[i]
    }

    /// Whether these are the very functions of others on the same cells.
    pub fn is_same(&self, other: &Self) -> bool {
        self.pairs == other.pairs
    }

    /// Columns of the two axes that a function is made of.
    pub fn pair(&self, i: usize) -> (usize, usize) {
        self.pairs[i]
    }

    /// Cosines of each axis.
    pub fn cosines(&self) -> [usize; 2] {
        [self.axes[0].cosines, self.axes[1].cosines]
    }

    /// Values of the functions of an axis, shape `[cells, columns]`.
    pub fn axis(&self, axis: usize) -> MatRef<'_, f64> {
        self.axes[axis].values.as_ref()
    }

    /// The function on the cells from coefficients.
    pub fn eta(&self, theta: &[f64]) -> Vec<f64> {
        self.combine(theta.iter().copied().enumerate())
    }

    /// A sum of functions given by their numbers and coefficients.
    fn combine(&self, terms: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let [a, b] = &self.axes;
        let mut table = Mat::zeros(b.values.ncols(), a.values.ncols());
        terms.for_each(|(i, t)| table[(self.pairs[i].1, self.pairs[i].0)] += t);
        flat(&gemm(
            gemm(b.values.as_ref(), table.as_ref()).as_ref(),
            a.values.transpose(),
        ))
    }

    /// The functions at one cell.
    ///
    /// # Arguments
    /// * `out` - shape `[functions]`
    pub fn at(&self, cell: usize, out: &mut [f64]) {
        let [a, b] = &self.axes;
        let columns = b.values.nrows();
        let (i, j) = (cell / columns, cell % columns);
        for (out, (k, l)) in out.iter_mut().zip(&self.pairs) {
            *out = a.values[(i, *k)] * b.values[(j, *l)];
        }
    }

    /// `Phi' x`.
    pub fn project(&self, x: &[f64]) -> Vec<f64> {
        let all = self.axes[0].values.nrows();
        self.project_parts(x, all).col_as_slice(0).to_vec()
    }

    /// The same of every part of so many lines of cells, shape `[functions, parts]`.
    pub fn project_parts(&self, x: &[f64], lines: usize) -> Mat<f64> {
        let [a, b] = &self.axes;
        let (m, n) = (a.values.nrows(), b.values.nrows());
        let along = gemm(
            b.values.transpose(),
            MatRef::from_column_major_slice(x, n, m),
        );
        let mut out = Mat::zeros(self.len(), m / lines);
        for part in 0..m / lines {
            let first = a.values.subrows(part * lines, lines);
            let table = gemm(along.subcols(part * lines, lines), first);
            let column = out.col_as_slice_mut(part).iter_mut();
            column
                .zip(&self.pairs)
                .for_each(|(o, p)| *o = table[(p.1, p.0)]);
        }
        out
    }

    /// The function on the cells, where every part of so many lines has coefficients of its own,
    /// shape `[functions, parts]`.
    pub fn eta_parts(&self, theta: &Mat<f64>, lines: usize) -> Vec<f64> {
        let [a, b] = &self.axes;
        let mut along = Mat::zeros(b.values.ncols(), a.values.nrows());
        for part in 0..theta.ncols() {
            let mut table = Mat::zeros(b.values.ncols(), a.values.ncols());
            let terms = self.pairs.iter().zip(theta.col_as_slice(part));
            terms.for_each(|(p, t)| table[(p.1, p.0)] += t);
            let first = a.values.subrows(part * lines, lines);
            let target = along.as_mut().subcols_mut(part * lines, lines);
            gemm_into(target, false, 1.0, table.as_ref(), first.transpose());
        }
        flat(&gemm(b.values.as_ref(), along.as_ref()))
    }

    /// A function on the cells, shape `[second, first]` as a column.
    fn product(&self, i: usize) -> Vec<f64> {
        self.combine(std::iter::once((i, 1.0)))
    }

    /// The lower triangle of `Phi' diag(d) Phi`; zero above.
    ///
    /// # Numerics
    /// One transform of `d` to twice as many frequencies, of which every product of two products of
    /// cosines is a sum of four; one more for each polynomial. `O(cells cosines + functions^2)`.
    pub fn curvature(&self, d: &[f64]) -> Mat<f64> {
        let [a, b] = &self.axes;
        let (m, n) = (a.values.nrows(), b.values.nrows());
        let mut out = Mat::zeros(self.len(), self.len());
        for i in 0..self.q {
            let mut weighted = self.product(i);
            weighted.iter_mut().zip(d).for_each(|(w, d)| *w *= d);
            for (k, value) in self.project(&weighted).into_iter().enumerate() {
                if k >= i {
                    out[(k, i)] = value;
                }
            }
        }
        let d = MatRef::from_column_major_slice(d, n, m);
        let sums = gemm(gemm(b.plain.transpose(), d).as_ref(), a.plain.as_ref());
        let norms: Vec<f64> = (0..self.len())
            .map(|i| {
                let (k, l) = self.pairs[i];
                if i < self.q {
                    0.0
                } else {
                    norm(m, k) * norm(n, l)
                }
            })
            .collect();
        let mut both = vec![0.0; sums.nrows()];
        for (at, right) in self.runs.iter().enumerate() {
            let k = self.pairs[right.start].0;
            for left in &self.runs[at..] {
                let l = self.pairs[left.start].0;
                let (low, high) = (sums.col_as_slice(k.abs_diff(l)), sums.col_as_slice(k + l));
                let pair = low.iter().zip(high);
                both.iter_mut().zip(pair).for_each(|(o, (x, y))| *o = x + y);
                for column in right.clone() {
                    let (order, by) = (self.pairs[column].1, 0.25 * norms[column]);
                    let rows = left.start.max(column)..left.end;
                    let pairs = &self.pairs[rows.clone()];
                    let entries = &mut out.col_as_slice_mut(column)[rows.clone()];
                    for ((entry, pair), norm) in entries.iter_mut().zip(pairs).zip(&norms[rows]) {
                        *entry = by * norm * (both[order.abs_diff(pair.1)] + both[order + pair.1]);
                    }
                }
            }
        }
        out
    }

    /// The diagonal of `Phi s Phi'` on the cells for a symmetric `s`: the adjoint of
    /// [`Self::curvature`], at its cost.
    pub fn diagonal(&self, s: &Mat<f64>) -> Vec<f64> {
        let [a, b] = &self.axes;
        let (m, n) = (a.values.nrows(), b.values.nrows());
        let mut table = Mat::zeros(b.plain.ncols(), a.plain.ncols());
        for column in self.q..self.len() {
            let (k, l) = self.pairs[column];
            let by = 0.25 * norm(m, k) * norm(n, l);
            for row in column..self.len() {
                let (i, j) = self.pairs[row];
                let twice = if row == column { 1.0 } else { 2.0 };
                let value = twice * by * norm(m, i) * norm(n, j) * s[(row, column)];
                for first in [k.abs_diff(i), k + i] {
                    table[(l.abs_diff(j), first)] += value;
                    table[(l + j, first)] += value;
                }
            }
        }
        let mut out = flat(&gemm(
            gemm(b.plain.as_ref(), table.as_ref()).as_ref(),
            a.plain.transpose(),
        ));
        for i in 0..self.q {
            let along = self.combine((0..self.len()).map(|k| {
                let twice = if k < self.q { 1.0 } else { 2.0 };
                (k, twice * s[(k, i)])
            }));
            let product = self.product(i);
            let terms = along.iter().zip(&product);
            out.iter_mut()
                .zip(terms)
                .for_each(|(o, (x, h))| *o += x * h);
        }
        out
    }
}

/// The columns of a matrix one after the other.
fn flat(a: &Mat<f64>) -> Vec<f64> {
    (0..a.ncols())
        .flat_map(|j| a.col_as_slice(j))
        .copied()
        .collect()
}
