//! Errors and warnings of one of two columns.

use super::error::DensityError;
use super::warning::Warning;

impl DensityError {
    /// The same of one of two columns.
    pub(super) fn of_column(self, column: usize) -> Self {
        Self::Column {
            column,
            error: Box::new(self),
        }
    }
}

impl Warning {
    /// The same of one of two columns.
    pub(super) fn of_column(self, column: usize) -> Self {
        Self::Column {
            column,
            warning: Box::new(self),
        }
    }
}
