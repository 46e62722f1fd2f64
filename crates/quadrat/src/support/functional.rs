//! One linear functional.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Region;

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

/// Where a box lies along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Side {
    /// At a point: not integrated, and no part of the volume.
    Point(f64),
    /// Between two edges, in either order.
    Interval(f64, f64),
}

/// A linear functional `L[f]` of a function over named inputs.
///
/// | variant | `L[f]` |
/// |---|---|
/// | `Box`, `Sum` | integral of `f` over the box |
/// | `Box`, `Mean` | average of `f` over the box |
/// | `Region`, `Sum` or `Mean` | integral or average over the product of a region and a box |
/// | `Nodes` | `sum_j weights[j] f(points[j])` |
///
/// A point is a box that is a point along every dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Functional {
    /// An axis-parallel box.
    Box {
        /// One side per dimension.
        sides: Vec<Side>,
        /// Integral or average.
        aggregate: Aggregate,
    },
    /// A region over some inputs times a box over the others.
    Region {
        /// The region, over the inputs without a side, in order.
        region: Arc<Region>,
        /// One entry per dimension.
        sides: Vec<Option<Side>>,
        /// Integral or average.
        aggregate: Aggregate,
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
            sides: x.iter().map(|&v| Side::Point(v)).collect(),
            aggregate: Aggregate::Mean,
        }
    }

    /// The integral or average over a box; edges in either order.
    #[must_use]
    pub fn boxed(edges: &[(f64, f64)], aggregate: Aggregate) -> Self {
        Self::Box {
            sides: edges.iter().map(|&(a, b)| Side::Interval(a, b)).collect(),
            aggregate,
        }
    }

    /// The integral or average over a region that extends over all inputs.
    #[must_use]
    pub fn region(region: impl Into<Region>, aggregate: Aggregate) -> Self {
        let region = Arc::new(region.into());
        Self::Region {
            sides: vec![None; region.dim()],
            region,
            aggregate,
        }
    }

    /// A weighted sum of values.
    #[must_use]
    pub fn nodes(points: Vec<Vec<f64>>, weights: Vec<f64>) -> Self {
        Self::Nodes { points, weights }
    }
}
