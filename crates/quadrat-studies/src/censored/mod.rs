//! Gammelli et al. 2022, *Generalized multi-output Gaussian process censored regression*, section
//! 4.

pub mod agreement;
pub mod correlation;
pub mod coverage;
pub mod models;
pub mod newyork;
mod stations;
pub mod synthetic;
