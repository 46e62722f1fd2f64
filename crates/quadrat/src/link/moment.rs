//! Mean and variance of a linked value.

/// What is expected of a linked value, and of the derivatives of the link, under a normal belief.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// `E link(f)`.
    pub mean: f64,
    /// `Var link(f)`.
    pub variance: f64,
    /// `E link'(f)`: the derivative of the mean in the mean of the belief.
    pub slope: f64,
    /// `E link''(f)`: twice its derivative in the variance of the belief.
    pub bend: f64,
    /// `E link'''(f)`.
    pub third: f64,
    /// Derivative of the variance in the mean of the belief.
    pub variance_in_mean: f64,
    /// Derivative of the variance in the variance of the belief.
    pub variance_in_variance: f64,
}
