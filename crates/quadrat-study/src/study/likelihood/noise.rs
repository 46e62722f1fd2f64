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
    /// Where it stands in the study.
    pub fn span(&self) -> &std::ops::Range<usize> {
        match self {
            Self::Number(number) => &number.span,
            Self::Column(column) => &column.span,
        }
    }

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
    /// The known variance, or its root where the column holds that.
    pub known: Option<Given>,
    /// Whether the column holds standard deviations.
    pub are_sds: bool,
    /// Whether one is learned, alone or on top of the known one.
    pub learned: bool,
}

/// Variances beyond this are refused: sums of their squares do not fit.
const LARGEST_VARIANCE: f64 = 1e150;

/// The keys `variance` or `sd`, and `extra`; a variance of zero is good for exact values only.
pub fn read(section: &Section<'_>, may_be_exact: bool) -> Noise {
    let check = section.check;
    let extra = section.word("extra", &["learn"], &[]);
    let are_sds = section.get("sd").is_some();
    let key = if are_sds { "sd" } else { "variance" };
    if are_sds && section.get("variance").is_some() {
        let message = format!("`{}` has both `variance` and `sd`", section.title);
        check.refuse(
            &section.span_of("sd"),
            message,
            "keep one: a variance is the square of an sd",
        );
    }
    let mut known = given(section, key, "leave it out to learn it");
    if let (Some(extra), None) = (&extra, section.get(key)) {
        let message = "`extra = \"learn\"` adds to a known variance, but none is given";
        check.refuse(
            &extra.span,
            message,
            "leave `extra` out: without `variance` one is learned",
        );
    }
    if let Some(Given::Number(number)) = &mut known {
        let value = number.value;
        if value < 0.0 {
            check.refuse(
                &number.span,
                format!("`{key}` is {value}; it cannot be negative"),
                "a variance is the square of the standard deviation; leave it out to learn it",
            );
        } else if value > LARGEST_VARIANCE || are_sds && value * value > LARGEST_VARIANCE {
            check.refuse(
                &number.span,
                format!("`{key}` is {value:e}, which is too large"),
                "a variance has the squared unit of the values: change that unit",
            );
        } else if value == 0.0 && extra.is_some() {
            check.refuse(
                &number.span,
                "a known variance of 0 adds nothing to a learned one",
                format!("leave `{key}` and `extra` out to learn it"),
            );
        } else if value == 0.0 && !may_be_exact {
            check.refuse(
                &number.span,
                format!("`{key}` is 0, but `{}` needs some noise", section.title),
                "give the error of a reading, however small (a variance is its square), or leave it out to learn it",
            );
        }
        if are_sds {
            number.value *= value;
        }
    }
    Noise {
        learned: section.get(key).is_none() || extra.is_some(),
        known,
        are_sds,
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
