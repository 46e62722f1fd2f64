//! Covariances with their slopes, as rules of integration add them up.

/// A covariance and its derivatives in the logarithms of the two lengthscales.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CovarianceValue {
    pub k: f64,
    pub d: [f64; 2],
}

/// A [`CovarianceValue`] over the members of a mixture, and its derivative in `alpha`.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::covariance) struct Total {
    pub k: f64,
    pub d: [f64; 2],
    pub alpha: f64,
}
