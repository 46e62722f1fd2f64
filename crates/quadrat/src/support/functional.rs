//! One linear functional.

use serde::{Deserialize, Serialize};

/// Whether a support reports the integral or the average over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregate {
    /// Integral: counts, totals (extensive).
    Sum,
    /// Average (intensive).
    #[default]
    Mean,
}

/// A linear functional `L[f]` of a function over named inputs.
///
/// | variant | `L[f]` |
/// |---|---|
/// | `Box`, `Sum` | integral of `f` over the box |
/// | `Box`, `Mean` | average of `f` over the box |
/// | `Nodes` | `sum_j weights[j] f(points[j])` |
///
/// In a box a dimension of equal edges is a point: it is neither integrated nor counted in the
/// volume of a mean. A point is a box of equal edges in every dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Functional {
    /// An axis-parallel box.
    Box {
        /// Both edges of every dimension, in either order.
        edges: Vec<(f64, f64)>,
        /// Integral or average.
        aggregate: Aggregate,
        /// Dimensions (indices) that are points by intention, so that their zero width is
        /// allowed beside a sum.
        points: Vec<usize>,
    },
    /// Weighted points.
    Nodes {
        /// Locations, each with one coordinate per dimension.
        points: Vec<Vec<f64>>,
        /// One weight per point, any sign, not all zero.
        weights: Vec<f64>,
    },
}

impl Functional {
    /// The value at `x`.
    #[must_use]
    pub fn point(x: &[f64]) -> Self {
        Self::Box {
            edges: x.iter().map(|&v| (v, v)).collect(),
            aggregate: Aggregate::Mean,
            points: (0..x.len()).collect(),
        }
    }

    /// The integral or average over a box; edges in either order.
    #[must_use]
    pub fn boxed(edges: &[(f64, f64)], aggregate: Aggregate) -> Self {
        Self::Box {
            edges: edges.to_vec(),
            aggregate,
            points: Vec::new(),
        }
    }

    /// A weighted sum of values.
    #[must_use]
    pub fn nodes(points: Vec<Vec<f64>>, weights: Vec<f64>) -> Self {
        Self::Nodes { points, weights }
    }
}
