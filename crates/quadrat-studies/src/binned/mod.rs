//! Smith, Alvarez, Lawrence, *Gaussian process regression for binned data*, section 5.

pub mod ages;
pub mod audience;
pub mod citibike;

pub mod polygons;
pub mod population;
pub mod privacy_ages;
pub mod robot;
pub mod spheres;
pub mod stand_ins;
pub mod sums;
pub mod tracts;
pub mod trips;
pub mod ungroup;
