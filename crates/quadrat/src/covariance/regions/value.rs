//! A covariance with its slopes, as rules of integration add them up.

/// A covariance and its derivatives in the logarithms of the two lengthscales.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CovarianceValue {
    pub k: f64,
    pub d: [f64; 2],
}
