//! `[noise]` and `[dispersion]`: a noise variance or dispersion that is a function of its own.

use std::ops::Range;

use quadrat::inference::sites::Method;
use quadrat::link::Link;
use quadrat::model::{Inference as Way, Varying};

use super::fields::{Check, Section, Spanned};
use super::latent::Latent;
use super::likelihood::Reports;
use super::observe::Observe;
use super::settings::Inference;
use crate::{expressions, suggest};

/// What varies, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// Noise variance or dispersion.
    pub what: Varying,
    /// What asks for it, as people wrote it.
    pub title: String,
    /// The kernel of the function behind it.
    pub kernel: Spanned<String>,
    /// The inputs of that kernel.
    pub columns: Vec<String>,
    /// From the function to the variance or dispersion.
    pub link: Link,
    /// The section.
    pub span: Range<usize>,
}

/// The sections that are there.
pub fn read(root: &Section<'_>) -> Vec<Vary> {
    let noise = section(root, "noise", Varying::Noise);
    let dispersion = section(root, "dispersion", Varying::Dispersion);
    noise.into_iter().chain(dispersion).collect()
}

fn section(root: &Section<'_>, key: &str, what: Varying) -> Option<Vary> {
    let item = root.get(key)?;
    let title = format!("[{key}]");
    let like = format!("{title} above `kernel = \"se(t)\"`");
    let section = Section::from_item(root.check, &title, item, &like)?;
    section.keys(&["kernel", "link"], &[]);
    if section.get("kernel").is_none() {
        section.missing("kernel", "such as `kernel = \"se(t)\"`");
    }
    let link = section.word("link", &["exp", "softplus"], &["identity", "square"]);
    let link = link.and_then(|word| word.value.parse().ok());
    let kernel = section.text("kernel")?;
    let (columns, outputs) = match expressions::kernel_columns(&kernel.value) {
        Ok(found) => found,
        Err((at, message)) => {
            let span = kernel.byte(root.check.source, at);
            let remedy = "a kernel reads like `se(t)`";
            root.check
                .refuse(&span, format!("in the kernel: {message}"), remedy);
            return None;
        }
    };
    if !outputs.is_empty() {
        root.check.refuse(
            &kernel.span,
            format!(
                "`coregion` in {title}: several outputs are mixed here as in [coregionalization]"
            ),
            "leave `coregion` out of this kernel",
        );
        return None;
    }
    Some(Vary {
        what,
        title,
        kernel,
        columns,
        link: link.unwrap_or(Link::Exp),
        span: section.span.clone(),
    })
}

/// Refuses inputs that the model does not have, and methods that cannot let anything vary.
pub fn suits(check: &Check<'_>, vary: &[Vary], latent: Option<&Latent>, inference: &Inference) {
    for Vary {
        title,
        columns,
        kernel,
        ..
    } in vary
    {
        if let Some(latent) = latent
            && let Some(column) = columns.iter().find(|c| !latent.columns.contains(c))
        {
            check.refuse(
                &kernel.span,
                format!("{title} uses `{column}`, which the kernel of [latent] does not"),
                format!("its inputs can be {}", suggest::list(&latent.columns)),
            );
        }
    }
    let refused = match inference.method {
        Way::Exact => Some("exact"),
        Way::Sites(Method::Laplace) => Some("laplace"),
        _ => None,
    };
    if let (Some(method), Some(Vary { title, .. })) = (refused, vary.first()) {
        check.refuse(
            &inference.method_span,
            format!("`method = \"{method}\"` cannot be used with {title}: both functions are inferred together"),
            "leave `method` out, or choose `ep` or `variational`",
        );
    }
}

/// Whether the rows of a table, as it is written, will have it.
pub fn is_of(what: Varying, table: &Observe) -> bool {
    let likelihood = &table.likelihood;
    let learned = likelihood.noise.as_ref().is_some_and(|noise| noise.learned);
    match (what, &likelihood.reports) {
        (Varying::Noise, Reports::Gaussian { .. }) if likelihood.link.is_some() => false,
        (
            Varying::Noise,
            Reports::Gaussian { .. }
            | Reports::StudentT { .. }
            | Reports::Interval(_)
            | Reports::Censored { .. }
            | Reports::Truncated { .. },
        ) => learned,
        (Varying::Dispersion, Reports::Counts { dispersion, .. }) => *dispersion == Some(None),
        _ => false,
    }
}

/// Whether a table holds counts without a dispersion.
pub fn is_poisson(table: &Observe) -> bool {
    matches!(
        table.likelihood.reports,
        Reports::Counts {
            dispersion: None,
            ..
        }
    )
}
