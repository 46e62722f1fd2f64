//! Supports: where an observation looked.
//!
//! An observation sees a linear functional of the latent function: its value at a point, its
//! integral or average over a box or a region, a weighted sum over nodes. A support is turned into a
//! [`Functional`] once, at the border; nothing downstream asks what the shape was.

mod functional;
mod functionals;
mod placed;
mod polygon;
mod region;
mod simplices;
mod unique;

pub use functional::{Aggregate, Functional, Side};
pub use functionals::Functionals;
pub(crate) use functionals::Spread;
pub(crate) use placed::Placed;
pub use polygon::{Polygon, Ring};
pub use region::{Region, RegionError};
pub use simplices::Simplices;
pub(crate) use unique::UniqueIntervals;
