//! Parquet tables; without the feature `parquet` they are refused.

// Tests look at it with the feature too, because they are built with all features.
#[cfg(any(test, not(feature = "parquet")))]
#[cfg_attr(feature = "parquet", allow(dead_code))]
mod disabled;
#[cfg(feature = "parquet")]
mod enabled;

#[cfg(not(feature = "parquet"))]
pub use disabled::Parquet;
#[cfg(feature = "parquet")]
pub use enabled::Parquet;

use crate::diagnostic::Spot;

/// A row (from 0) as a place: rows count from 1, and there is no text to show.
pub fn spot(row: usize) -> Spot {
    Spot {
        line: row + 1,
        column: 1,
        width: 1,
        text: String::new(),
        skipped: 0,
    }
}
