//! Kinds whose mean lies behind a link: counts, probabilities, waiting times.

use quadrat::likelihood::Sigmoid;
use toml_edit::Item;

use super::noise::{Given, given, positive_or_learn};
use super::reports::{Counts, Law, Reports};
use super::values::{column, ends};
use crate::study::fields::{Section, Spanned};

/// The key `link` of a probability.
fn sigmoid(section: &Section<'_>) -> Sigmoid {
    match section.word("link", &["logit", "probit"], &[]) {
        Some(word) if word.value == "probit" => Sigmoid::Probit,
        _ => Sigmoid::Logit,
    }
}

pub(super) fn bernoulli(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "link"], &[]);
    let sigmoid = sigmoid(section);
    let like = "name the column of 0 and 1, or of yes and no: `bernoulli = { value = \"ill\" }`";
    let value = column(section, "value", like)?;
    Some(Reports::Bernoulli { value, sigmoid })
}

pub(super) fn binomial(section: &Section<'_>) -> Option<Reports> {
    const LIKE: &str = "such as `binomial = { successes = \"ill\", trials = \"asked\" }`";
    section.keys(&["successes", "trials", "link"], &[]);
    let sigmoid = sigmoid(section);
    let successes = column(section, "successes", LIKE);
    if section.get("trials").is_none() {
        section.missing("trials", LIKE);
    }
    let trials = given(section, "trials", LIKE)?;
    if let Given::Number(number) = &trials
        && (number.value < 0.0 || number.value.fract() != 0.0)
    {
        let message = format!("`trials` is {}; it must be a whole number", number.value);
        section.check.refuse(&number.span, message, LIKE);
    }
    Some(Reports::Binomial {
        successes: successes?,
        trials,
        sigmoid,
    })
}

pub(super) fn poisson(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["count", "lower", "upper", "exposure", "link"], &[]);
    counts(section, None)
}

pub(super) fn negative_binomial(section: &Section<'_>) -> Option<Reports> {
    const KEYS: [&str; 6] = ["count", "lower", "upper", "exposure", "dispersion", "link"];
    section.keys(&KEYS, &[]);
    let dispersion = positive_or_learn(section, "dispersion");
    counts(section, Some(dispersion?))
}

fn counts(section: &Section<'_>, dispersion: Option<Option<f64>>) -> Option<Reports> {
    let like = format!(
        "name the column of the counts: `{0} = {{ count = \"cases\" }}`, or those of the ends of ranges: `{0} = {{ lower = \"from\", upper = \"to\" }}`",
        section.title
    );
    let has_ends = section.get("lower").is_some() || section.get("upper").is_some();
    let counts = match (section.get("count"), has_ends) {
        (Some(_), true) => {
            section.check.refuse(
                &section.span_of("count"),
                format!("`{}` has both a `count` and ends of a range", section.title),
                "keep one of them",
            );
            None
        }
        (None, false) => {
            section.missing("count", &like);
            None
        }
        (Some(_), false) => section.text("count").map(Counts::One),
        (None, true) => ends(section, &like).map(Counts::Between),
    };
    let exposure = match section.get("exposure") {
        None => None,
        Some(_) => Some(given(
            section,
            "exposure",
            "name the column of what rates are multiplied by, such as the population",
        )?),
    };
    if let Some(Given::Number(number)) = &exposure
        && number.value <= 0.0
    {
        section.check.refuse(
            &number.span,
            format!("`exposure` is {}; it must be above zero", number.value),
            "leave it out for an exposure of 1",
        );
    }
    Some(Reports::Counts {
        counts: counts?,
        exposure,
        dispersion,
    })
}

pub(super) fn exponential(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "link"], &[]);
    let like = "name the column of the values: `exponential = { value = \"minutes\" }`";
    let value = column(section, "value", like)?;
    Some(Reports::Amounts {
        value,
        law: Law::Exponential,
    })
}

pub(super) fn gamma(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "shape"], &[]);
    let like = "name the column of the values: `gamma = { value = \"cost\" }`";
    let shape = positive_or_learn(section, "shape");
    let value = column(section, "value", like)?;
    Some(Reports::Amounts {
        value,
        law: Law::Gamma(shape?),
    })
}

/// Positive values with a normal logarithm.
pub(super) fn lognormal(section: &Section<'_>) -> Option<Reports> {
    section.keys(&["value", "sd"], &[]);
    let like = "name the column of the values: `lognormal = { value = \"income\" }`";
    let is_column = section
        .get("sd")
        .and_then(Item::as_str)
        .is_some_and(|word| word != "learn");
    let sd = match is_column {
        true => section.text("sd").map(|column| Some(Given::Column(column))),
        false => positive_or_learn(section, "sd").map(|sd| {
            let span = section.span_of("sd");
            sd.map(|value| Given::Number(Spanned { value, span }))
        }),
    };
    let value = column(section, "value", like)?;
    Some(Reports::Amounts {
        value,
        law: Law::LogNormal(sd?),
    })
}
