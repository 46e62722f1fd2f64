//! How finely covariances over regions are computed, and how many are made at once.

/// Atoms per tile along the lanes and along the columns: a tile and its slopes stay in the
/// second-level cache.
pub(super) const LANES: usize = 192;

pub(super) const COLUMNS: usize = 16;

/// How planar regions are integrated under kernels that have a rule for their edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlanarRule {
    /// The cheapest that reaches the tolerance: nodes on a grid for squared exponentials, nodes in
    /// the area for regions that are small against the lengthscale, else edges.
    #[default]
    Automatic,
    /// Nodes on the edges only.
    Edges,
}

/// [`PlanarRule`] and [`Covariance::tolerance`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::covariance) struct Resolution {
    pub tolerance: f64,
    pub rule: PlanarRule,
}
