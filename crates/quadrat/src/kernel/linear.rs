//! Linear kernel.

/// Linear, `k(x, x') = variance sum_d x_d x'_d / lengthscale_d^2`: straight lines through the
/// origin. Over a single column there is no lengthscale: `variance` is the variance of the slope.
///
/// The integral over a box is the value at its centre times its volume.
///
/// # Source
/// Rasmussen and Williams 2006, section 4.2.2 (dot product). Lines pass through the origin of the
/// column: with an unknown constant mean predictions hardly depend on it, evidences do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear;
