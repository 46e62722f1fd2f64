//! likelihood
