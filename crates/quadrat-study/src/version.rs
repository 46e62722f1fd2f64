//! The version of the program.

/// As the package has it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
