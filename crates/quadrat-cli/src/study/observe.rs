//! `[[observe]]`: a table, where its rows looked, and what they reported.

use std::ops::Range;

use super::fields::{Section, Spanned, kind, text};
use super::repeated;
use super::support::{self, Support};

/// One table of observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Observe {
    /// Path of the table, relative to the study.
    pub file: Spanned<String>,
    /// Where its rows looked.
    pub support: Support,
    /// Column of the reported values.
    pub value: Spanned<String>,
    /// Known noise variance.
    pub variance: Option<Variance>,
    /// Whether a noise variance is learned, alone or on top of the known one.
    pub learned: bool,
    /// Whether the learned one is that of the first table.
    pub share_noise: bool,
    /// The section.
    pub span: Range<usize>,
}

/// A known noise variance.
#[derive(Debug, Clone, PartialEq)]
pub enum Variance {
    /// One for all rows.
    Number(Spanned<f64>),
    /// One per row, in a column.
    Column(Spanned<String>),
}

const LIKELIHOODS_LATER: [&str; 10] = [
    "laplace",
    "student_t",
    "interval",
    "censored",
    "ordinal",
    "positive",
    "bernoulli",
    "binomial",
    "poisson",
    "negative_binomial",
];

/// All tables; at least one.
pub fn read(root: &Section<'_>) -> Vec<Observe> {
    if root.get("observe").is_none() {
        root.missing(
            "[[observe]]",
            "add a section [[observe]] with a file, a support and a likelihood",
        );
    }
    repeated(root, "observe").iter().filter_map(table).collect()
}

fn table(section: &Section<'_>) -> Option<Observe> {
    section.keys(
        &["file", "support", "aggregate", "likelihood", "share_noise"],
        &["output", "output_column"],
    );
    if section.get("file").is_none() {
        section.missing("file", "such as `file = \"ages.csv\"`");
    }
    let file = section.text("file");
    let support = support(section);
    let gaussian = likelihood(section);
    let share_noise = section.flag("share_noise").unwrap_or(false);
    let (value, variance, learned) = gaussian?;
    Some(Observe {
        file: file?,
        support: support?,
        value,
        variance,
        learned,
        share_noise,
        span: section.span.clone(),
    })
}

fn support(section: &Section<'_>) -> Option<Support> {
    const LIKE: &str = "such as `support = { point = [\"age\"] }` or `support = { box = { age = [\"from\", \"to\"] } }`";
    let Some(item) = section.get("support") else {
        section.missing("support", LIKE);
        return None;
    };
    let inner = Section::from_item(section.check, "support", item, LIKE)?;
    inner.keys(&["point", "box", "region", "bag"], &[]);
    support::read(&inner, section, LIKE)
}

/// Column of the value, known variance, and whether one is learned.
fn likelihood(section: &Section<'_>) -> Option<(Spanned<String>, Option<Variance>, bool)> {
    const LIKE: &str = "such as `likelihood = { gaussian = { value = \"people\" } }`";
    let Some(item) = section.get("likelihood") else {
        section.missing("likelihood", LIKE);
        return None;
    };
    let choice = Section::from_item(section.check, "likelihood", item, LIKE)?;
    let later: Vec<&str> = LIKELIHOODS_LATER
        .into_iter()
        .chain(["exponential"])
        .collect();
    choice.keys(&["gaussian"], &later);
    let Some(item) = choice.get("gaussian") else {
        if choice.entries().is_empty() {
            section
                .check
                .refuse(&choice.span, "`likelihood` is empty", LIKE);
        }
        return None;
    };
    let gaussian = Section::from_item(
        section.check,
        "gaussian",
        item,
        "`gaussian = { value = \"people\" }`",
    )?;
    gaussian.keys(&["value", "variance", "extra"], &[]);
    if gaussian.get("value").is_none() {
        gaussian.missing(
            "value",
            "name the column of the values: `gaussian = { value = \"people\" }`",
        );
    }
    let extra = gaussian.word("extra", &["learn"], &[]);
    let variance = variance(&gaussian);
    if let (Some(extra), None) = (&extra, gaussian.get("variance")) {
        let message = "`extra = \"learn\"` adds to a known variance, but none is given";
        section.check.refuse(
            &extra.span,
            message,
            "leave `extra` out: without `variance` one is learned",
        );
    }
    if let (Some(Variance::Number(zero)), Some(_)) = (&variance, &extra)
        && zero.value == 0.0
    {
        section.check.refuse(
            &zero.span,
            "a known variance of 0 adds nothing to a learned one",
            "leave `variance` and `extra` out to learn it",
        );
    }
    let learned = gaussian.get("variance").is_none() || extra.is_some();
    Some((gaussian.text("value")?, variance, learned))
}

/// Variances beyond this are refused: sums of their squares do not fit.
const LARGEST_VARIANCE: f64 = 1e150;

fn variance(gaussian: &Section<'_>) -> Option<Variance> {
    let item = gaussian.get("variance")?;
    if item.is_str() {
        return text(gaussian.check, "`variance`", item).map(Variance::Column);
    }
    if item.as_float().is_none() && item.as_integer().is_none() {
        let message = format!(
            "`variance` must be a number or the name of a column, not {}",
            kind(item)
        );
        gaussian.check.refuse(
            &gaussian.span_of("variance"),
            message,
            "leave it out to learn it",
        );
        return None;
    }
    let number = gaussian.number("variance")?;
    if number.value < 0.0 {
        let message = format!(
            "`variance` is {}; a variance cannot be negative",
            number.value
        );
        gaussian.check.refuse(
            &number.span,
            message,
            "give the square of the standard deviation, or leave it out to learn it",
        );
        return None;
    }
    if number.value > LARGEST_VARIANCE {
        let message = format!("`variance` is {:e}, which is too large", number.value);
        gaussian.check.refuse(
            &number.span,
            message,
            "it has the squared unit of the values: change that unit",
        );
        return None;
    }
    Some(Variance::Number(number))
}
