//! Law et al. 2018, *Variational learning on aggregate outputs*.

pub mod areas;
pub mod country;
pub mod coverage;
pub mod elevators;
pub mod madagascar;
mod roll;
mod simple;
pub mod swiss_roll;
