//! Every likelihood under one contract.

#![allow(clippy::unwrap_used)]

mod brute;
mod continuous;
mod contract;
mod counts;
mod refused;
mod rejected;
