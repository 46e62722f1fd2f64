//! Noisy counts of areas within areas, made to add up.
//!
//! A country is the sum of its provinces, a province that of its districts, and each was measured
//! with a known variance: censuses with privacy noise, registers, samples. The best linear unbiased
//! estimate of every area meets all sums, and uses what its parts and what is around it say.
//!
//! $$ \hat{x} = \arg\min_{x} \sum_i (y_i - x_{a(i)})^2 / \sigma_i^2 \quad \text{where every area
//!    is the sum of its parts} $$
//!
//! The tree makes it cheap: one pass from the leaves to the roots and one back, linear in their
//! number, and exact.
//!
//! # Source
//! M. Hay, V. Rastogi, G. Miklau and D. Suciu, *Boosting the accuracy of differentially private
//! histograms through consistency* (2010), for equal variances; the passes are those of Gaussian
//! belief propagation on a tree.

mod draw;
mod error;
mod passes;
#[cfg(test)]
mod tests;
mod tree;

pub use error::ReconcileError;
pub use passes::{Gap, Measurement, Reconciled};
pub use tree::Tree;
