//! Linear kernel.

/// Linear, `k(x, x') = variance sum_d x_d x'_d / lengthscale_d^2`: straight lines through the
/// origin. Over a single column there is no lengthscale: `variance` is the variance of the slope.
/// `linear(t, origin = c)` has `t - c` in place of `t`.
///
/// The integral over a box is the value at its centre times its volume.
///
/// # Source
/// Rasmussen and Williams 2006, section 4.2.2 (dot product). Lines pass through the origin of the
/// column: with an unknown constant mean predictions hardly depend on it, evidences do. A fit whose
/// rows are far from 0 beside their range moves the origin among them, where the mean is unknown
/// and has no prior of the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear;
