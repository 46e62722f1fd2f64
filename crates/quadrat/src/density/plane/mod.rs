//! Densities of two columns, of both or of one given the other, with bands.
//!
//! A density on cells is `p_ij = u_ij / area_ij` with `u = softmax(eta + log w)`, `eta` a Gaussian
//! process with a kernel for each axis and a quadratic polynomial for the tails (Riihimaki &
//! Vehtari 2014). As in one dimension the axes bend where an end is open, and the function is a
//! sum of cosines: here of products of one for each axis.
//!
//! A conditional density is normalised at every place of the given column instead of once, as if
//! there were an intercept for each (equations 22 and 23). All else is one.

mod answers;
mod asked;
mod boxed;
mod builder;
mod contrast;
mod curves;
mod draw;
mod drawn;
mod estimate;
mod fit;
mod functions;
mod grid;
mod hyper;
mod kept;
mod left_out;
mod lift;
mod mask;
mod newton;
mod orders;
mod pairs;
mod patches;
mod plan;
mod prior;
#[cfg(feature = "mcmc")]
mod sampled;
mod saved;
mod slices;
mod spread;
mod sweep;
#[cfg(test)]
mod tests;
mod warned;
mod whole;

pub use answers::{Marginal, Moments, Region};
pub use asked::{Question2d, QuestionGiven};
pub use builder::{Conditional, Density2d};
pub use contrast::MedianDifference;
pub use estimate::{ConditionalEstimate, Estimate2d};
pub use fit::Setting2d;
pub(super) use saved::KeptPlane;
pub use slices::Curve;
