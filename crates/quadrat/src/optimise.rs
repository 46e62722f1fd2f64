//! optimise
