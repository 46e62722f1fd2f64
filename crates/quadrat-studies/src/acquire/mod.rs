//! What to measure next: Fletcher, *Active learning for Gaussian processes with mixed data*.

pub mod costs;
mod play;
mod world;
