//! Densities over a plane, with bands.
//!
//! A density on cells is `p_ij = u_ij / area_ij` with `u = softmax(eta + log w)`, `eta` a Gaussian
//! process with a kernel for each axis and a quadratic polynomial for the tails (Riihimaki &
//! Vehtari 2014). As in one dimension the axes bend where an end is open, and the function is a
//! sum of cosines: here of products of one for each axis.

mod answers;
mod builder;
mod curves;
mod draw;
mod estimate;
mod functions;
mod grid;
mod hyper;
mod newton;
mod orders;
mod pairs;
mod prior;
mod sweep;
#[cfg(test)]
mod tests;
mod warned;

pub use answers::{Marginal, Moments, Region};
pub use builder::Density2d;
pub use estimate::{Estimate2d, Setting2d};
