//! Gammelli et al. 2022, *Generalized multi-output Gaussian process censored regression*, section 4.

pub mod agreement;
pub mod coverage;
pub mod models;
pub mod newyork;
pub mod synthetic;
