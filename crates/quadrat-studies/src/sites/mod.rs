//! Rows that are not Gaussian: what the approximations promise against what they keep.

pub mod calibration;
pub mod mixed;
pub mod ranks;
