//! `output` and `output_column` of a table: which output its rows are of.

use super::fields::{Section, Spanned};

/// Which output the rows of a table are of.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// There is one, without a name.
    Only,
    /// All of the same.
    Named(Spanned<String>),
    /// As a column says.
    Column(Spanned<String>),
}

impl Output {
    /// The column that names the output of each row.
    pub fn column(&self) -> Option<&Spanned<String>> {
        match self {
            Self::Column(name) => Some(name),
            Self::Only | Self::Named(_) => None,
        }
    }
}

/// The keys `output` and `output_column` of a table.
pub fn of_table(section: &Section<'_>) -> Option<Output> {
    match (section.get("output"), section.get("output_column")) {
        (None, None) => Some(Output::Only),
        (Some(_), None) => section.text("output").map(Output::Named),
        (None, Some(_)) => section.text("output_column").map(Output::Column),
        (Some(_), Some(_)) => {
            section.check.refuse(
                &section.span_of("output_column"),
                "`output` and `output_column` both say which output the rows are of",
                "keep one of them",
            );
            None
        }
    }
}
