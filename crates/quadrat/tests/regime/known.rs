//! Cases that fail, with the reason. One that holds again must be taken off.

pub const KNOWN: &[(&str, &str)] = &[];
