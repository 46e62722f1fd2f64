//! `[coregionalization]`: how several outputs are mixed.

use std::ops::Range;

use super::fields::{Check, Section, kind};
use super::latent::Latent;
use super::observe::Observe;
use super::outputs::Output;

/// How outputs share latent processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Coregionalization {
    /// Latent processes, each with the kernel of the study.
    pub latents: usize,
    /// Columns of the mixing matrix of each.
    pub rank: usize,
    /// Where it stands, when the study says.
    pub span: Option<Range<usize>>,
    /// Where the rank stands, when the study says.
    pub rank_span: Option<Range<usize>>,
}

/// The most latent processes: each repeats the kernel.
const MOST: usize = 16;

/// The section `[coregionalization]`.
pub fn read(root: &Section<'_>) -> Coregionalization {
    let default = Coregionalization {
        latents: 1,
        rank: 1,
        span: None,
        rank_span: None,
    };
    let Some(item) = root.get("coregionalization") else {
        return default;
    };
    let like = "[coregionalization] above `latents = 1` and `rank = 1`";
    let Some(section) = Section::from_item(root.check, "[coregionalization]", item, like) else {
        return default;
    };
    section.keys(&["latents", "rank"], &[]);
    let whole = |key: &str, least: usize| -> usize {
        let Some(item) = section.get(key) else {
            return 1;
        };
        let value = item.as_integer().and_then(|n| usize::try_from(n).ok());
        match value.filter(|n| (least..=MOST).contains(n)) {
            Some(value) => value,
            None => {
                let message = format!(
                    "`{key}` must be a whole number from {least} to {MOST}, not {}",
                    kind(item)
                );
                let remedy = format!("such as `{key} = 1`");
                section.check.refuse(&section.span_of(key), message, remedy);
                1
            }
        }
    };
    Coregionalization {
        latents: whole("latents", 1),
        rank: whole("rank", 0),
        span: Some(section.span.clone()),
        rank_span: section.get("rank").map(|_| section.span_of("rank")),
    }
}

/// Refuses outputs that only some tables name, and a coregionalisation of nothing.
pub fn suits(
    check: &Check<'_>,
    latent: Option<&Latent>,
    coregionalization: &Coregionalization,
    observe: &[Observe],
) {
    let named = |o: &&Observe| o.output != Output::Only;
    let several = observe.iter().any(|o| named(&o));
    if several && let Some(table) = observe.iter().find(|o| !named(o)) {
        check.refuse(
            &table.span,
            "other tables say which output their rows are of, and this one does not",
            "add `output = \"..\"` or `output_column = \"..\"`",
        );
    }
    let own = latent.is_some_and(|latent| !latent.outputs.is_empty());
    if let Some(span) = &coregionalization.span {
        if own {
            check.refuse(
                span,
                "the kernel mixes the outputs itself (`coregion`)",
                "leave [coregionalization] out, or `coregion` out of the kernel",
            );
        } else if !several && !observe.is_empty() {
            check.refuse(
                span,
                "no table says which output its rows are of, so there is nothing to mix",
                "add `output = \"..\"` or `output_column = \"..\"` to the [[observe]] sections",
            );
        }
    }
    if own
        && !several
        && let Some(table) = observe.first()
    {
        check.refuse(
            &table.span,
            "the kernel mixes several outputs, and this table does not say which one its rows are of",
            "add `output = \"..\"` or `output_column = \"..\"`",
        );
    }
}
