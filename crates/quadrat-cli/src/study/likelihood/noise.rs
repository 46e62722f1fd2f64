//! Numbers that may be columns, and what is known of the noise.

use crate::study::fields::{Section, Spanned, kind, text};

/// A number for all rows, or a column of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// One for all rows.
    Number(Spanned<f64>),
    /// One per row, in a column.
    Column(Spanned<String>),
}

impl Given {
    /// The column, if it is one.
    pub fn column(&self) -> Option<&Spanned<String>> {
        match self {
            Self::Column(column) => Some(column),
            Self::Number(_) => None,
        }
    }
}

/// What is known of the noise variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// The known variance.
    pub known: Option<Given>,
    /// Whether one is learned, alone or on top of the known one.
    pub learned: bool,
}

/// Variances beyond this are refused: sums of their squares do not fit.
const LARGEST_VARIANCE: f64 = 1e150;

/// The keys `variance` and `extra`; a variance of zero is good for exact values only.
pub fn read(section: &Section<'_>, may_be_exact: bool) -> Noise {
    let check = section.check;
    let extra = section.word("extra", &["learn"], &[]);
    let known = given(section, "variance", "leave it out to learn it");
    if let (Some(extra), None) = (&extra, section.get("variance")) {
        let message = "`extra = \"learn\"` adds to a known variance, but none is given";
        check.refuse(
            &extra.span,
            message,
            "leave `extra` out: without `variance` one is learned",
        );
    }
    if let Some(Given::Number(number)) = &known {
        let value = number.value;
        if value < 0.0 {
            check.refuse(
                &number.span,
                format!("`variance` is {value}; a variance cannot be negative"),
                "give the square of the standard deviation, or leave it out to learn it",
            );
        } else if value > LARGEST_VARIANCE {
            check.refuse(
                &number.span,
                format!("`variance` is {value:e}, which is too large"),
                "it has the squared unit of the values: change that unit",
            );
        } else if value == 0.0 && extra.is_some() {
            check.refuse(
                &number.span,
                "a known variance of 0 adds nothing to a learned one",
                "leave `variance` and `extra` out to learn it",
            );
        } else if value == 0.0 && !may_be_exact {
            check.refuse(
                &number.span,
                format!("`variance` is 0, but `{}` needs some noise", section.title),
                "give the square of the error of a reading, however small, or leave it out to learn it",
            );
        }
    }
    Noise {
        learned: section.get("variance").is_none() || extra.is_some(),
        known,
    }
}

/// A key that is a number or the name of a column.
pub fn given(section: &Section<'_>, key: &str, otherwise: &str) -> Option<Given> {
    let item = section.get(key)?;
    if item.is_str() {
        return text(section.check, &format!("`{key}`"), item).map(Given::Column);
    }
    if item.as_float().is_none() && item.as_integer().is_none() {
        let message = format!(
            "`{key}` must be a number or the name of a column, not {}",
            kind(item)
        );
        section
            .check
            .refuse(&section.span_of(key), message, otherwise);
        return None;
    }
    section.number(key).map(Given::Number)
}

/// A key that is a number above zero or the word "learn"; absent is the same as that.
pub fn positive_or_learn(section: &Section<'_>, key: &str) -> Option<Option<f64>> {
    let Some(item) = section.get(key) else {
        return Some(None);
    };
    let remedy = format!("write a number above zero, or `{key} = \"learn\"`");
    let span = section.span_of(key);
    if item.as_str() == Some("learn") {
        return Some(None);
    }
    if item.as_float().is_none() && item.as_integer().is_none() {
        let message = format!("`{key}` must be a number or \"learn\", not {}", kind(item));
        section.check.refuse(&span, message, remedy);
        return None;
    }
    let number = section.number(key)?;
    if number.value <= 0.0 {
        let message = format!("`{key}` is {}; it must be above zero", number.value);
        section.check.refuse(&span, message, remedy);
        return None;
    }
    Some(Some(number.value))
}
