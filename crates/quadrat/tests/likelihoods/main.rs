//! Every likelihood under one contract.

#![allow(clippy::unwrap_used)]

mod brute;
mod by_draws;
mod continuous;
mod contract;
mod counts;
mod refused;
mod rejected;
