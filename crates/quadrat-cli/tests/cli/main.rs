//! Black-box tests of the program.

#![allow(clippy::unwrap_used)]

mod broken_kinds;
mod broken_regions;
mod broken_studies;
mod broken_tables;
mod harness;
mod kinds;
mod methods;
mod noise;
mod outputs;
mod pooled;
mod regions;
