//! Rows that are not Gaussian: what the approximations promise against what they keep.

pub mod agreement;
pub mod amounts;
pub mod calibration;
mod degenerate;
pub mod exactness;
pub mod hidden;
mod kinds;
pub mod mixed;
pub mod prevalence;
pub mod ranks;
