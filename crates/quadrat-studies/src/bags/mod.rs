//! Law et al. 2018, *Variational learning on aggregate outputs*.

pub mod country;
pub mod elevators;
pub mod swiss_roll;
