//! Kinds that report something about the values of the latent function themselves.

use super::noise::{Given, given, positive_or_learn};
use super::reports::{Ends, Limits, Reports};
use crate::study::fields::{Section, Spanned, kind};

/// Learned thresholds are for so many ranks, as in the library: each has a hyperparameter of its
/// own. More are years or amounts, not grades.
pub const MOST_RANKS: f64 = 1000.0;

/// A key that names a column and must be there.
pub(super) fn column(section: &Section<'_>, key: &str, like: &str) -> Option<Spanned<String>> {
    if section.get(key).is_none() {
        section.missing(key, like);
    }
    section.text(key)
}

fn value(section: &Section<'_>) -> Option<Spanned<String>> {
    let like = format!(
        "name the column of the values: `{} = {{ value = \"people\" }}`",
        section.title
    );
    column(section, "value", &like)
}

pub(super) fn gaussian(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "variance", "sd", "extra", "link"], &[]);
    value(section).map(|value| Reports::Gaussian { value })
}

pub(super) fn laplace(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "scale"], &[]);
    if section.get("scale").is_none() {
        section.missing(
            "scale",
            "the mean absolute error, a number or a column: `laplace = { value = \"people\", scale = 10 }`",
        );
    }
    let scale = given(section, "scale", "give the mean absolute error");
    if let Some(Given::Number(number)) = &scale
        && number.value <= 0.0
    {
        section.check.refuse(
            &number.span,
            format!("`scale` is {}; it must be above zero", number.value),
            "exact values belong to `gaussian` with `variance = 0`",
        );
    }
    Some(Reports::Laplace {
        value: value(section)?,
        scale: scale?,
    })
}

pub(super) fn student_t(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "variance", "sd", "extra", "degrees"], &[]);
    let degrees = positive_or_learn(section, "degrees");
    Some(Reports::StudentT {
        value: value(section)?,
        degrees: degrees?,
    })
}

/// The keys `lower` and `upper`, of which one may be absent.
pub(super) fn ends(section: &Section<'_>, like: &str) -> Option<Ends> {
    if section.get("lower").is_none() && section.get("upper").is_none() {
        section.missing("lower", like);
        return None;
    }
    let end = |key: &str| match section.get(key) {
        None => Some(None),
        Some(_) => given(section, key, like).map(Some),
    };
    let (lower, upper) = (end("lower"), end("upper"));
    let ends = Ends {
        lower: lower?,
        upper: upper?,
    };
    if let (Some(Given::Number(lower)), Some(Given::Number(upper))) = (&ends.lower, &ends.upper)
        && upper.value <= lower.value
    {
        let message = format!(
            "`upper` is {}, which is not above `lower`, {}",
            upper.value, lower.value
        );
        section.check.refuse(&upper.span, message, "exchange them");
    }
    Some(ends)
}

pub(super) fn interval(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["lower", "upper", "variance", "sd", "extra"], &[]);
    ends(
        section,
        "name the columns of the ends: `interval = { lower = \"from\", upper = \"to\" }`; one may be absent",
    )
    .map(Reports::Interval)
}

pub(super) fn censored(section: &Section<'_>) -> Option<Reports> {
    /// Keys that name a column which says what is censored.
    const TOLD: [&str; 4] = ["side", "left", "right", "event"];
    let mut keys = vec!["value", "lower", "upper", "variance", "sd", "extra"];
    keys.extend(TOLD);
    section.keys(&keys, &[]);
    let value = value(section);
    let has_limits = section.get("lower").is_some() || section.get("upper").is_some();
    let told: Vec<&str> = TOLD
        .into_iter()
        .filter(|key| section.get(key).is_some())
        .collect();
    if let (Some(key), true) = (told.first(), has_limits) {
        section.check.refuse(
            &section.span_of(key),
            format!("`censored` has both `{key}` and limits"),
            format!("keep `{key}` where a column says which values are censored, or the limits where the values themselves tell"),
        );
        return None;
    }
    if let [first, second, ..] = told[..] {
        section.check.refuse(
            &section.span_of(second),
            format!("`censored` has both `{first}` and `{second}`"),
            "keep one; where values are censored on both sides, a column `side` of none, left and right says it",
        );
        return None;
    }
    let limits = if let [key] = told[..] {
        let column = section.text(key)?;
        match key {
            "side" => Limits::Side(column),
            _ => Limits::Flag {
                column,
                is_left: key == "left",
                when: key != "event",
            },
        }
    } else if has_limits {
        Limits::Of(ends(section, "a limit is a number or a column")?)
    } else {
        Limits::Written
    };
    Some(Reports::Censored {
        value: value?,
        limits,
    })
}

pub(super) fn truncated(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "lower", "upper", "variance", "sd", "extra"], &[]);
    const LIKE: &str = "name the limit beyond which nothing was recorded, a number or a column: `truncated = { value = \"size\", lower = 30 }`";
    let value = value(section);
    let limits = ends(section, LIKE)?;
    Some(Reports::Truncated {
        value: value?,
        limits,
    })
}

pub(super) fn ordinal(section: &Section<'_>) -> Option<Reports> {
    section.keys(
        &["rank", "ranks", "thresholds", "variance", "sd", "extra"],
        &[],
    );
    let rank = column(
        section,
        "rank",
        "name the column of the ranks: `ordinal = { rank = \"grade\" }`",
    );
    let thresholds = thresholds(section);
    let ranks = match section.get("ranks") {
        None => None,
        Some(_) => Some(number_of_ranks(section, thresholds.as_ref())?),
    };
    Some(Reports::Ordinal {
        rank: rank?,
        thresholds: thresholds?,
        ranks,
    })
}

/// How many ranks the scale has, also where the highest was not given yet.
fn number_of_ranks(section: &Section<'_>, known: Option<&Option<Vec<f64>>>) -> Option<usize> {
    let ranks = section.number("ranks")?;
    let refuse = |message: String, remedy: &str| {
        section.check.refuse(&ranks.span, message, remedy);
        None
    };
    if ranks.value.fract() != 0.0 || !(2.0..=MOST_RANKS).contains(&ranks.value) {
        let message = format!("`ranks` is {}", ranks.value);
        return refuse(
            message,
            "it is a whole number from 2 to 1,000: how many ranks the scale has",
        );
    }
    if let Some(Some(thresholds)) = known
        && ranks.value != thresholds.len() as f64 + 1.0
    {
        let message = format!(
            "`ranks` is {}, but {} thresholds tell {} ranks apart",
            ranks.value,
            thresholds.len(),
            thresholds.len() + 1
        );
        return refuse(message, "leave `ranks` out, or mend the thresholds");
    }
    Some(ranks.value as usize)
}

fn thresholds(section: &Section<'_>) -> Option<Option<Vec<f64>>> {
    const LIKE: &str = "write `thresholds = [1.5, 2.5]`, rising, one fewer than there are ranks, or `thresholds = \"learn\"`";
    let Some(item) = section.get("thresholds") else {
        return Some(None);
    };
    if item.as_str() == Some("learn") {
        return Some(None);
    }
    let span = section.span_of("thresholds");
    let Some(array) = item.as_array() else {
        let message = format!(
            "`thresholds` must be an array of numbers or \"learn\", not {}",
            kind(item)
        );
        section.check.refuse(&span, message, LIKE);
        return None;
    };
    if array.is_empty() {
        let message = "`thresholds` is empty, so that there is only one rank";
        section.check.refuse(&span, message, LIKE);
        return None;
    }
    let mut known: Vec<f64> = Vec::new();
    for value in array {
        let item = toml_edit::Item::Value(value.clone());
        let at = value.span().unwrap_or_else(|| span.clone());
        let number = value
            .as_float()
            .or_else(|| value.as_integer().map(|i| i as f64));
        let Some(number) = number.filter(|number| number.is_finite()) else {
            let message = format!("a threshold must be a finite number, not {}", kind(&item));
            section.check.refuse(&at, message, LIKE);
            return None;
        };
        if let Some(&last) = known.last()
            && number <= last
        {
            let message = format!("the threshold {number} is not above the one before it, {last}");
            section
                .check
                .refuse(&at, message, "sort them, and take out repetitions");
            return None;
        }
        known.push(number);
    }
    Some(Some(known))
}

pub(super) fn positive(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["margin", "sd"], &[]);
    let margin = match section.get("margin") {
        None => 0.0,
        Some(_) => section.number("margin")?.value,
    };
    let sd = section.number("sd");
    if let Some(sd) = &sd
        && sd.value <= 0.0
    {
        section.check.refuse(
            &sd.span,
            format!("`sd` is {}; it must be above zero", sd.value),
            "give a number that is small beside the values, or leave it out",
        );
    }
    Some(Reports::Positive {
        margin,
        sd: sd.map(|sd| sd.value),
    })
}
