//! What shapes need of the kernel, the tables and the predictions.

use std::ops::Range;

use quadrat::link::Link;
use quadrat::model::Shape;

use super::{Held, NOT_OBSERVED};
use crate::expressions;
use crate::study::fields::Check;
use crate::study::likelihood::{Reports, Scale as Means};
use crate::study::{Latent, Observe, Predict, Scale, Vary, links};
use crate::suggest;

/// Refuses shapes that the kernel, the tables or the predictions do not suit.
pub fn suits(
    check: &Check<'_>,
    latent: &Latent,
    (observe, predict): (&[Observe], &[Predict]),
    vary: &[Vary],
) {
    let Some(first) = latent.shapes.first() else {
        return;
    };
    for (i, held) in latent.shapes.iter().enumerate() {
        if !of_one_input(check, held, latent) || !links_keep(check, held, latent, observe) {
            return;
        }
        let mut before = latent.shapes[..i].iter();
        if let Some(other) = before.find(|other| !other.shape.suits(held.shape)) {
            check.refuse(
                &held.span,
                format!("`{}` cannot be used with `{}`", held.key, other.key),
                "leave one of the two out; `monotone` goes with each of the others",
            );
            return;
        }
    }
    if let Some(vary) = vary.first() {
        check.refuse(
            &first.span,
            format!("`{}` cannot be used with {}", first.key, vary.title),
            "leave one of the two out",
        );
    }
    alone(
        check,
        first.key,
        latent.non_negative.as_ref().map(|own| &own.span),
    );
    for asked in predict {
        alone(
            check,
            first.key,
            asked.non_negative.as_ref().map(|own| &own.span),
        );
        if !matches!(asked.scale, Scale::Latent | Scale::Response) {
            let why = match asked.scale {
                Scale::Row => "shapes hold the function, not what stands behind rows",
                _ => NOT_OBSERVED,
            };
            check.refuse(
                &asked.scale_span,
                why,
                format!("leave `scale` out, or `{}` in [latent]", first.key),
            );
        }
        if let Some(meet) = &asked.meet {
            check.refuse(
                &meet.span,
                format!(
                    "`meet` scales functions, which `{}` does not know of",
                    first.key
                ),
                "leave one of the two out",
            );
        }
    }
}

/// Refuses `non_negative` beside a shape.
fn alone(check: &Check<'_>, key: &str, non_negative: Option<&Range<usize>>) {
    if let Some(span) = non_negative {
        check.refuse(
            span,
            format!("`non_negative` cannot be used with `{key}`"),
            "leave it out; `between = [0, inf]` in [latent] keeps the function above zero",
        );
    }
}

/// Whether the function has one input, a number, and the key names it.
fn of_one_input(check: &Check<'_>, held: &Held, latent: &Latent) -> bool {
    let key = held.key;
    let (span, named) = match &held.input {
        Some(input) => (&input.span, Some(input.value.as_str())),
        None => (&held.span, None),
    };
    if let Some(named) = named
        && !latent.columns.iter().any(|column| column == named)
    {
        let message = format!("`{key}` is along `{named}`, which is no input of the kernel");
        let near = suggest::nearest(named, latent.columns.iter().map(String::as_str));
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the inputs are {}", suggest::list(&latent.columns)),
        };
        check.refuse(span, message, remedy);
        return false;
    }
    if latent.columns.len() != 1 {
        check.refuse(
            span,
            format!(
                "`{key}` needs a function of one input, and this one has {}: {}",
                latent.columns.len(),
                suggest::list(&latent.columns)
            ),
            "take a kernel of that input alone, or leave the key out",
        );
        return false;
    }
    if !expressions::kernel_labels(&latent.kernel.value).is_empty() {
        check.refuse(
            span,
            format!("`{key}` needs an order, which labels do not have"),
            "take a kernel over a number, or leave the key out",
        );
        return false;
    }
    true
}

/// Whether what the function is follows for what the tables report.
fn links_keep(check: &Check<'_>, held: &Held, latent: &Latent, observe: &[Observe]) -> bool {
    let (key, span) = (held.key, &held.span);
    let refuse = |message: String, remedy: &str| {
        check.refuse(span, message, remedy);
        false
    };
    for table in observe {
        let kind = &table.likelihood.name.value;
        let link = links::of(latent.link.as_ref(), table);
        let is_behind = table.likelihood.scale() != Means::Linear && link != Link::Identity
            || table.likelihood.scale() == Means::Probability;
        if link == Link::Square {
            return refuse(
                format!(
                    "`{key}` cannot be used with the link `square`, behind which what rises may fall"
                ),
                "take `link = \"exp\"` or `\"softplus\"`",
            );
        }
        if is_behind && table.support.aggregate.is_some() {
            return refuse(
                format!(
                    "`{key}` cannot be used with `{kind}` over boxes, regions or bags, whose sums stand behind a link"
                ),
                "report points, or values without a link",
            );
        }
        if is_behind && !matches!(held.shape, Shape::Rising | Shape::Falling) {
            let what = match held.shape {
                Shape::Between { .. } => "bounds are those of the function, and",
                _ => "bends are those of the function, and",
            };
            return refuse(
                format!("`{key}` cannot be used with `{kind}`: {what} its means are behind a link"),
                "leave it out; `monotone` holds behind a link too",
            );
        }
        let has_no_unit = matches!(
            table.likelihood.reports,
            Reports::Ordinal {
                thresholds: None,
                ..
            }
        );
        if has_no_unit && matches!(held.shape, Shape::Between { .. }) {
            return refuse(
                "`between` needs a unit: where thresholds are learned, the function has none"
                    .into(),
                "give the `thresholds`, or leave it out",
            );
        }
    }
    true
}
