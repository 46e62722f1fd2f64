//! Supports: where an observation looked.
//!
//! An observation sees a linear functional of the latent function: its value at a point, its
//! integral or average over a box or a region, a weighted sum over nodes. A support is turned into
//! a [`Functional`] once, at the border; nothing downstream asks what the shape was.

mod column;
mod distinct;
mod functional;
mod functionals;
mod mend;
mod mends;
mod moments;
pub(crate) mod overlap;
mod placed;
pub mod placement;
mod planar;
mod polygon;
mod projection;
mod region;
mod ring;
mod simplices;
mod topology;
mod triangulate;
mod unique;

pub use functional::{Aggregate, Functional, Side};
pub(crate) use functionals::AtomSpread;
pub(crate) use functionals::changed::Atom;
pub use functionals::{Columns, Functionals};
pub use mends::Mend;
pub(crate) use moments::{ChebyshevMoments, Edge, MAX_MOMENTS, chebyshev_into};
pub(crate) use placed::Placed;
pub(crate) use planar::{Point, common_area, facing, holds};
pub use polygon::Polygon;
pub use projection::{Projection, ProjectionError};
pub use region::Region;
pub use ring::Ring;
pub use ring::{RegionError, RingPlace};
pub use simplices::Simplices;
pub use triangulate::{finer_region_nodes, region_nodes};
pub(crate) use unique::UniqueIntervals;
