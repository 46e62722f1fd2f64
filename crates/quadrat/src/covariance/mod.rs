//! covariance
