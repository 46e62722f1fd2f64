//! Black-box tests of the program.

#![allow(clippy::unwrap_used)]

mod broken_regions;
mod broken_studies;
mod broken_tables;
mod harness;
mod mcmc;
mod noise;
mod outputs;
mod regions;
