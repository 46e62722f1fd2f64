//! Likelihoods: what the instrument reported about a linear functional of the latent function.

mod gaussian;

pub use gaussian::{Gaussian, Noise};
