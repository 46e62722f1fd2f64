//! Gaussian-process inference for data that were only seen through bins, areas,
//! bags, intervals, ranks, caps or samples.
//!
//! Every arrow points down: `acquire`, `validation` -> `model`, `baseline`, `simulate`, `density`,
//! `ungroup`, `reconcile` ->
//! `posterior` -> `problem` -> `inference` -> `covariance` -> `kernel`, `support`, `likelihood`,
//! `link`, `privacy` -> `parameter`, `optimise`, `quadrature`, `score` ->
//! `linalg`, `special`, `error`, `progress`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod acquire;
pub mod baseline;
pub mod covariance;
pub mod density;
pub mod error;
pub mod inference;
pub mod kernel;
pub mod likelihood;
pub mod linalg;
pub mod link;
pub mod model;
pub mod optimise;
pub mod parameter;
mod posterior;
pub mod privacy;
mod problem;
pub mod progress;
pub mod quadrature;
pub mod reconcile;
pub mod score;
mod sealed;
pub mod simulate;
pub mod special;
pub mod support;
pub mod ungroup;
pub mod validation;
