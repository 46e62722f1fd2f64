//! Complete grids: when every row is a cell of a product of one-dimensional sets and the kernel
//! is one product over dimensions, `K` is a Kronecker product of small matrices.

use super::Covariance;
use crate::support::Functionals;

/// A complete grid of boxes or points.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// One set per axis, each over all dimensions of the kernel of which it uses one; the first
    /// axis varies slowest in grid order.
    pub axes: Vec<Functionals>,
    /// `position[row]` is the place of a row in grid order.
    pub position: Vec<usize>,
}

impl Grid {
    /// Finds the grid behind a set of boxes, in any order of rows.
    ///
    /// `None` unless every combination of the distinct intervals along the dimensions occurs
    /// exactly once, each with weight equal to its volume or each with weight one, and there are
    /// at least two dimensions with two intervals each.
    #[must_use]
    pub fn find(set: &Functionals) -> Option<Self> {
        let n = set.len();
        if !set.all_single() || set.has_regions() || n < 4 {
            return None;
        }
        let sizes: Vec<usize> = (0..set.dims().len()).map(|d| set.unique(d).len()).collect();
        if sizes.iter().filter(|s| **s > 1).count() < 2
            || sizes.iter().try_fold(1usize, |p, &s| p.checked_mul(s))? != n
        {
            return None;
        }
        let mut seen = vec![false; n];
        let mut position = Vec::with_capacity(n);
        for row in 0..n {
            let at =
                (0..sizes.len()).fold(0, |at, d| at * sizes[d] + set.unique(d).index[row] as usize);
            if std::mem::replace(&mut seen[at], true) {
                return None;
            }
            position.push(at);
        }
        let axes = Self::axes(set, &sizes, &position)?;
        Some(Self { axes, position })
    }

    /// One set per dimension, with weights whose products are the weights of the rows.
    fn axes(set: &Functionals, sizes: &[usize], position: &[usize]) -> Option<Vec<Functionals>> {
        let d = sizes.len();
        let mut by_position = vec![0; position.len()];
        for (row, &at) in position.iter().enumerate() {
            by_position[at] = row;
        }
        let weight = set.weight();
        let base = weight[by_position[0]];
        let mut axes = Vec::with_capacity(d);
        let mut stride = position.len();
        for k in 0..d {
            stride /= sizes[k];
            // Rows that differ from the first one along this axis only.
            let rows: Vec<usize> = (0..sizes[k]).map(|i| by_position[i * stride]).collect();
            let mut axis = set.rows(&rows);
            let scale = if k == 0 { 1.0 } else { base.recip() };
            axis.scale_weights(scale);
            axes.push(axis);
        }
        // A product of axis weights must give every row's weight.
        for (at, &row) in by_position.iter().enumerate() {
            let mut rest = at;
            let mut product = 1.0;
            for k in (0..d).rev() {
                product *= axes[k].weight()[rest % sizes[k]];
                rest /= sizes[k];
            }
            if (product - weight[row]).abs() > 1e-12 * weight[row].abs() {
                return None;
            }
        }
        Some(axes)
    }
}

impl Covariance {
    /// The covariances along every dimension whose Kronecker product is this one, or `None` when
    /// the kernel is a sum or does not factorise over dimensions. The variance goes to the first.
    #[must_use]
    pub fn along_axes(&self, dims: usize) -> Option<Vec<Self>> {
        let [term] = self.terms.as_slice() else {
            return None;
        };
        (0..dims)
            .map(|d| {
                let mut own = super::plan::KernelTerm {
                    variances: if d == 0 {
                        term.variances.clone()
                    } else {
                        Vec::new()
                    },
                    factors: Vec::new(),
                };
                for factor in &term.factors {
                    if factor.dims().contains(&d) {
                        own.factors.push(factor.along(d)?);
                    }
                }
                Some(Self {
                    terms: vec![own],
                    parameters: self.parameters,
                    beside: self.beside.clone(),
                    resolution: self.resolution,
                })
            })
            .collect()
    }
}
