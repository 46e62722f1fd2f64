//! Law et al. 2018, *Variational learning on aggregate outputs*.

pub mod country;
pub mod swiss_roll;
