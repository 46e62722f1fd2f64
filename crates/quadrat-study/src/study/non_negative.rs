//! `non_negative`: what cannot be below zero.

use std::ops::Range;

use quadrat::model::Inference as Way;

use super::fields::{Check, Section, Spanned, kind};
use super::likelihood::{Reports, Scale as Means};
use super::observe::Observe;
use super::predict::Predict;
use super::settings::Inference;

/// How the function is kept from being negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonNegative {
    /// Every predicted marginal is that given that it is not negative.
    Truncate,
    /// Constraints at many places beside the tables; and truncated, since normal marginals still
    /// reach below zero.
    Constrain,
}

impl NonNegative {
    /// The word of the study file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Truncate => "truncate",
            Self::Constrain => "constrain",
        }
    }
}

const REMEDY: &str = "`non_negative` is \"truncate\" (predictions are cut off at zero) or \"constrain\" (the function is held there, at more cost)";

/// The key of `[latent]`, when it is there.
pub fn read(section: &Section<'_>) -> Option<Spanned<NonNegative>> {
    let item = section.get("non_negative")?;
    let span = section.span_of("non_negative");
    if item.as_str().is_none() {
        let message = format!(
            "`non_negative` in [latent] must be a text in quotes, not {}",
            kind(item)
        );
        section.check.refuse(&span, message, REMEDY);
        return None;
    }
    let word = section.word("non_negative", &["truncate", "constrain"], &[])?;
    Some(Spanned {
        value: match word.value.as_str() {
            "truncate" => NonNegative::Truncate,
            _ => NonNegative::Constrain,
        },
        span: word.span,
    })
}

/// Whether a prediction is truncated, given what `[latent]` asks for.
pub fn holds(asked: Option<&Spanned<NonNegative>>, predict: &Predict) -> bool {
    let own = predict.non_negative.as_ref().map(|own| own.value);
    own.unwrap_or(asked.is_some())
}

/// Refuses what has no zero to stop at, and constraints that inference cannot take.
pub fn suits(
    check: &Check<'_>,
    asked: Option<&Spanned<NonNegative>>,
    observe: &[Observe],
    predict: &[Predict],
    inference: &Inference,
) {
    if let Some(asked) = asked {
        if !has_zero(check, &asked.span, observe) {
            return;
        }
        if asked.value == NonNegative::Constrain {
            constrainable(check, &asked.span, inference);
        }
    }
    for predict in predict.iter().filter(|predict| holds(asked, predict)) {
        let own = predict.non_negative.as_ref().map(|own| &own.span);
        if own.is_some_and(|span| !has_zero(check, span, observe)) {
            continue;
        }
        let mut reports = observe.iter().filter(|o| o.likelihood.is_report());
        // Where tables differ, the prediction says which one it is about.
        let reporting = match &predict.like {
            Some(name) => reports.find(|o| o.shown_name() == name.value),
            None => reports.next(),
        };
        let Some(reporting) = reporting.filter(|_| predict.scale.is_observed()) else {
            continue;
        };
        let kind = &reporting.likelihood.name.value;
        let reason = match reporting.likelihood.reports {
            Reports::Ordinal { .. } => "are ranks, which start at 1",
            Reports::Laplace { .. } | Reports::StudentT { .. } => {
                "have noise that is not normal, which is not truncated"
            }
            _ => continue,
        };
        let remedy = if own.is_some() {
            "leave `non_negative` out here"
        } else {
            "write `non_negative = false` in this [[predict]], or predict the response"
        };
        check.refuse(
            own.unwrap_or(&predict.scale_span),
            format!("`non_negative` does nothing here: new observations of `{kind}` {reason}"),
            remedy,
        );
    }
}

/// Whether zero of the function is zero of what it stands for.
fn has_zero(check: &Check<'_>, span: &Range<usize>, observe: &[Observe]) -> bool {
    let other = observe
        .iter()
        .find(|o| o.likelihood.scale() != Means::Linear);
    let Some(other) = other else {
        let without_unit = |o: &&Observe| {
            matches!(
                o.likelihood.reports,
                Reports::Ordinal {
                    thresholds: None,
                    ..
                }
            )
        };
        let mut reports = observe.iter().filter(|o| o.likelihood.is_report());
        if !reports.all(|o| without_unit(&o)) {
            return true;
        }
        check.refuse(
            span,
            "`non_negative` needs a zero: where thresholds are learned and only ranks observed, that of the function is anywhere",
            "leave it out, or give the `thresholds`",
        );
        return false;
    };
    let kind = &other.likelihood.name.value;
    let message = match other.likelihood.scale() {
        Means::Probability => format!(
            "`non_negative` cannot be used with `{kind}`: where the function behind it is zero, the chances are even"
        ),
        _ => format!(
            "`non_negative` cannot be used with `{kind}`: its rates are above zero already, by their link"
        ),
    };
    check.refuse(span, message, "leave it out");
    false
}

/// Constraints are rows that are not normal.
fn constrainable(check: &Check<'_>, span: &Range<usize>, inference: &Inference) {
    if inference.method == Way::Exact {
        check.refuse(
            span,
            "`non_negative = \"constrain\"` adds constraints, which exact inference cannot take",
            "write \"truncate\", or leave `method` out",
        );
    }
}
