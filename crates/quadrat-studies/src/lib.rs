//! The papers' experiments, one file each: every study prints the published numbers beside ours,
//! with standard errors or intervals, the data it read, its seed and the time it took.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod acquire;
pub mod bags;
pub mod binned;
pub mod censored;
pub mod data;
pub mod density;
pub mod parquet;
pub mod report;
mod settings;
pub mod sites;
pub mod slopes;
pub mod statistics;
pub mod steps;
pub mod study;
pub mod ungroup;

pub use settings::Settings;
pub use study::{STUDIES, Study};
