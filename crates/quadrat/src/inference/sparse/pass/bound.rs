//! The result of a pass.

use crate::linalg::Mat;

/// The bound at one `q` and its derivatives.
#[derive(Debug, Clone)]
pub struct Bound {
    /// `F` in nats, every constant included.
    pub value: f64,
    /// `d sum E log p / d mu`; the divergence adds `-mu`.
    pub in_mean: Vec<f64>,
    /// `d sum E log p / dS`, symmetric; the divergence adds `(P - I) / 2`.
    pub in_covariance: Mat<f64>,
    /// `dF / d theta`, natural units; empty unless asked for.
    pub gradient: Vec<f64>,
    /// `dF / dz`, of every inducing point along every column that moves, column by column; empty
    /// unless asked for.
    pub in_places: Vec<f64>,
}
