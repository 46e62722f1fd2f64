//! `meet` in `[[predict]]`: totals that groups of predicted rows add up to.

use std::ops::Range;

use super::fields::{Section, Spanned, distinct, kind, text};
use super::likelihood::{Given, given};

const LIKE: &str = "`meet = { file = \"provinces.csv\", by = \"province\", value = \"total\" }`";

/// Totals that predictions meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Meet {
    /// The table of totals, relative to the study.
    pub file: Spanned<String>,
    /// Columns, of this table and of that of the places, whose cells tell groups apart.
    pub by: Vec<Spanned<String>>,
    /// The column of the totals.
    pub value: Spanned<String>,
    /// Of the errors of the totals; none: they are met exactly.
    pub variance: Option<Given>,
    /// By which rows are weighted: a column of the places.
    pub weight: Option<Spanned<String>>,
    /// Where all that is said.
    pub span: Range<usize>,
}

/// The totals of a prediction, where it has some; nothing where they were refused.
///
/// # Arguments
/// * `is_response` - whether the prediction is on that scale
pub(super) fn read(section: &Section<'_>, is_response: bool) -> Option<Option<Meet>> {
    let Some(item) = section.get("meet") else {
        return Some(None);
    };
    let check = section.check;
    let inner = Section::from_item(check, "meet", item, LIKE)?;
    inner.keys(&["file", "by", "value", "variance", "weight"], &[]);
    if !is_response {
        let message = "`meet` is of the scale `response`, the mean of what is observed";
        let remedy = "leave `scale` out: the function has no totals behind a link, and new observations scatter about theirs";
        check.refuse(&section.span_of("scale"), message, remedy);
        return None;
    }
    if section.get("rows").is_some() {
        let message = "`meet` is of predictions at places, and `rows` asks for observed rows";
        check.refuse(&inner.span, message, "leave one of them out");
        return None;
    }
    for (key, why) in [
        ("file", "the table of the totals"),
        ("by", "the column whose cells tell groups apart"),
        ("value", "the column of the totals"),
    ] {
        if inner.get(key).is_none() {
            inner.missing(key, &format!("it is {why}, such as in {LIKE}"));
        }
    }
    let (file, by, value) = (inner.text("file"), by(&inner), inner.text("value"));
    let variance = match inner.get("variance") {
        None => None,
        Some(_) => Some(given(
            &inner,
            "variance",
            "give the variance of the totals' errors, or its column",
        )?),
    };
    if let Some(Given::Number(number)) = &variance
        && number.value < 0.0
    {
        let message = format!("`variance` is {}; it must not be negative", number.value);
        check.refuse(
            &number.span,
            message,
            "leave it out for totals that are met exactly",
        );
        return None;
    }
    let weight = match inner.get("weight") {
        None => None,
        Some(_) => Some(inner.text("weight")?),
    };
    Some(Some(Meet {
        file: file?,
        by: by?,
        value: value?,
        variance,
        weight,
        span: inner.span.clone(),
    }))
}

/// One column or several.
fn by(section: &Section<'_>) -> Option<Vec<Spanned<String>>> {
    let item = section.get("by")?;
    if item.is_str() {
        return Some(vec![text(section.check, "`by`", item)?]);
    }
    let array = item.as_array().filter(|array| !array.is_empty());
    let Some(array) = array else {
        let message = match item.as_array() {
            Some(_) => "`by` names no column".to_owned(),
            None => format!(
                "`by` must be a column or an array of columns, not {}",
                kind(item)
            ),
        };
        let remedy = "such as `by = \"province\"` or `by = [\"province\", \"year\"]`";
        section
            .check
            .refuse(&section.span_of("by"), message, remedy);
        return None;
    };
    distinct(section, "by", array)
}
