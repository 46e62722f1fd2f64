//! What to measure next: Fletcher, *Active learning for Gaussian processes with mixed data*.

pub mod costs;
mod ground;
mod play;
pub mod real;
mod world;
