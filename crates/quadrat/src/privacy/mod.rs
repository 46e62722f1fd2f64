//! Differential privacy by noise: tables released so that no single person can be recognised in
//! them.
//!
//! A release `Y` is `epsilon`-differentially private when for all tables `c`, `c'` that differ by
//! one person and all sets `A`: `P(Y(c) in A) <= e^epsilon P(Y(c') in A)`. Adding noise of scale `b
//! = sensitivity / epsilon` to counts achieves it, where `sensitivity` is the most by which one
//! person changes the counts, all rows together (the L1 distance): 1 for a histogram in which
//! everybody is in one bin.
//!
//! Gaussian noise gives `rho`-zero-concentrated privacy with `rho = sensitivity^2 / (2 sigma^2)`,
//! where the sensitivity is Euclidean (L2); [`concentrated`] says what that is in epsilon and
//! delta.
//!
//! The distribution of the noise is public, and is what inference needs to undo it: give
//! [`Mechanism::variance`] as the known noise variance of the released values.
//!
//! # Source
//! C. Dwork and A. Roth, *The Algorithmic Foundations of Differential Privacy* (2014), section 3.3;
//! A. Ghosh, T. Roughgarden and M. Sundararajan, *Universally utility-maximizing privacy
//! mechanisms*, SIAM J. Comput. 41 (2012), for the two-sided geometric one; C. Canonne, G. Kamath
//! and T. Steinke, *The Discrete Gaussian for Differential Privacy* (2020).

mod clip;
mod concentrated;
mod discrete_gaussian;
mod error;
mod family;
mod gaussian_sums;
mod geometric;
mod laplace;
mod law;
mod mechanism;
mod source;

pub use clip::Moments;
pub use concentrated::concentrated;
pub use discrete_gaussian::DiscreteGaussian;
pub use error::PrivacyError;
pub use family::Family;
pub use geometric::Geometric;
pub use laplace::Laplace;
pub use law::Law;
pub use mechanism::Mechanism;
pub use source::NoiseSource;
