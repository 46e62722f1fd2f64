//! The contract of `quadrat::covariance`: values and slopes against an mpmath table, gradients
//! against differences, structure, positive definiteness, grids.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod common;
mod coregion;
mod extremes;
mod gradient;
mod grid;
mod labels;
mod psd;
mod reference;
mod regions;
mod structure;
