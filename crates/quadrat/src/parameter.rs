//! parameter
