//! Numbers that may be columns, and what is known of the noise.

use quadrat::privacy::Family;
use toml_edit::Item;

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
    /// The table that tells the known one, before it is read.
    pub summary: Option<Summary>,
}

/// A row of a table of mechanisms that tells what noise a column was released with.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The table.
    pub file: Spanned<String>,
    /// The column that was released, as the table names it; that of the values when absent.
    pub column: Option<Spanned<String>>,
    /// The aggregate, where the table has several of the column.
    pub aggregate: Option<Spanned<String>>,
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
    let (mut known, summary) = match section.get(key) {
        Some(item) if item.is_table_like() && !are_sds => released(section, item),
        _ => (given(section, key, "leave it out to learn it"), None),
    };
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
        summary,
    }
}

/// A variance that is that of a mechanism of privacy, of a scale that is known or in a table.
fn released(section: &Section<'_>, item: &Item) -> (Option<Given>, Option<Summary>) {
    const LIKE: &str = "such as `variance = { mechanism = \"geometric\", scale = 10 }` or `variance = { summary = \"summary.csv\" }`";
    let Some(own) = Section::from_item(section.check, "variance", item, LIKE) else {
        return (None, None);
    };
    let words = Family::ALL.map(Family::name);
    if own.get("summary").is_some() {
        own.keys(&["summary", "column", "aggregate"], &[]);
        let summary = own.text("summary").map(|file| Summary {
            file,
            column: own.text("column"),
            aggregate: own.text("aggregate"),
        });
        return (None, summary);
    }
    own.keys(&["mechanism", "scale", "summary"], &[]);
    for key in ["mechanism", "scale"] {
        if own.get(key).is_none() {
            own.missing(key, LIKE);
        }
    }
    let family = own.word("mechanism", &words, &[]);
    let family = family.and_then(|word| Family::named(&word.value));
    let (Some(family), Some(mut scale)) = (family, own.number("scale")) else {
        return (None, None);
    };
    match family.variance(scale.value) {
        Ok(variance) => scale.value = variance,
        Err(error) => {
            let remedy = "give the scale of the noise: b of Laplace and geometric noise, sigma of Gaussian, in the unit of the counts";
            section.check.refuse(&scale.span, error.to_string(), remedy);
            return (None, None);
        }
    }
    (Some(Given::Number(scale)), None)
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
