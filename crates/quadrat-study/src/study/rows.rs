//! `rows` in `[[predict]]`: rows of an observed table, each given what it reported.

use super::fields::{Section, Spanned, distinct, kind, text};

const LIKE: &str =
    "such as `rows = \"cells.csv\"` and `scale = \"row\"`, with the file of an [[observe]]";
const BY: &str = "such as `by = \"region\"`, `by = [\"region\", \"year\"]`, or `by = []` for the sum of all rows";

/// Keys of predictions at places that say nothing of observed rows, and why.
const OTHERS: &[(&str, &str)] = &[
    ("support", "the rows have their places already"),
    ("aggregate", "rows are added up with `by`"),
    ("exposure", "the rows have their exposures already"),
    ("trials", "the rows have their trials already"),
    ("as", "`rows` names the table already"),
    ("ranks", "the rank of an observed row is known"),
];

/// The table, and the columns that tell groups apart where its rows are added up.
pub(super) type Rows = (Spanned<String>, Option<Vec<Spanned<String>>>);

/// The rows that a prediction asks for, where it asks for rows; nothing where that was refused.
pub(super) fn read(section: &Section<'_>, is_row: bool) -> Option<Option<Rows>> {
    let check = section.check;
    if section.get("rows").is_none() {
        if is_row {
            let message = "`scale = \"row\"` is of observed rows, and no table is named";
            check.refuse(&section.span_of("scale"), message, LIKE);
            return None;
        }
        if section.get("by").is_some() {
            let message = "`by` adds up observed rows, and no table is named";
            check.refuse(&section.span_of("by"), message, LIKE);
            return None;
        }
        return Some(None);
    }
    let file = section.text("rows")?;
    if !is_row {
        let (span, message) = match section.get("scale") {
            None => (&file.span, "`rows` needs `scale = \"row\"`"),
            Some(_) => (
                &section.span_of("scale"),
                "`rows` asks what stands behind observed rows, which is the scale `row`",
            ),
        };
        check.refuse(
            span,
            message,
            "write `scale = \"row\"`; a new row at the same places is predicted with `support`",
        );
        return None;
    }
    let mut is_fine = true;
    for (key, why) in OTHERS {
        if section.get(key).is_some() {
            let message = format!("`{key}` has no meaning beside `rows`: {why}");
            check.refuse(&section.span_of(key), message, "leave it out");
            is_fine = false;
        }
    }
    let by = by(section)?;
    if let (Some(_), Some(_)) = (&by, section.get("keep")) {
        let message = "`keep` copies columns of rows, and `by` adds rows up";
        let remedy = "leave `keep` out; the columns of `by` stand in the answer";
        check.refuse(&section.span_of("keep"), message, remedy);
        is_fine = false;
    }
    is_fine.then_some(Some((file, by)))
}

/// The columns whose cells tell groups apart, where rows are added up.
fn by(section: &Section<'_>) -> Option<Option<Vec<Spanned<String>>>> {
    let Some(item) = section.get("by") else {
        return Some(None);
    };
    let span = section.span_of("by");
    if item.is_str() {
        return Some(Some(vec![text(section.check, "`by`", item)?]));
    }
    let Some(array) = item.as_array() else {
        let message = format!(
            "`by` must be a column or an array of columns, not {}",
            kind(item)
        );
        section.check.refuse(&span, message, BY);
        return None;
    };
    Some(Some(distinct(section, "by", array)?))
}
