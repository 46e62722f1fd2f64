//! `[latent] link`: how the mean of what was reported follows from the latent function.

use quadrat::link::Link;

use super::fields::{Check, Section, Spanned, kind};
use super::likelihood::{Reports, Scale};
use super::observe::Observe;
use super::outputs::Output;
use crate::suggest;

/// The key `link`, when it is there.
pub fn read(section: &Section<'_>) -> Option<Spanned<Link>> {
    let names = Link::ALL.map(Link::name);
    let item = section.get("link")?;
    if item.as_str().is_none() {
        let message = format!("`link` must be a text in quotes, not {}", kind(item));
        let remedy = format!("`link` is one of {}", suggest::list(&names));
        section
            .check
            .refuse(&section.span_of("link"), message, remedy);
        return None;
    }
    let word = section.word("link", &names, &[])?;
    Some(Spanned {
        value: word.value.parse().ok()?,
        span: word.span,
    })
}

/// The link of a study: `exp` for counts and waiting times unless it says otherwise.
pub fn chosen(link: Option<&Spanned<Link>>, observe: &[Observe]) -> Link {
    let linked = |o: &Observe| o.likelihood.scale() == Scale::Linked;
    match link {
        Some(link) => link.value,
        None if observe.iter().any(linked) => Link::Exp,
        None => Link::Identity,
    }
}

/// Refuses links that the tables cannot have, and tables that cannot share one.
pub fn suits(check: &Check<'_>, link: Option<&Spanned<Link>>, observe: &[Observe]) {
    let first = |scale: Scale| observe.iter().find(|o| o.likelihood.scale() == scale);
    // Every output is a function of its own.
    let linear = observe
        .iter()
        .filter(|o| o.likelihood.scale() == Scale::Linear);
    let beside = |linear: &Observe| {
        observe.iter().find(|o| {
            o.likelihood.scale() == Scale::Linked && same_output(&o.output, &linear.output)
        })
    };
    let mut pairs = linear.filter_map(|linear| Some((linear, beside(linear)?)));
    if let Some((linear, linked)) = pairs.next() {
        let name = &linear.likelihood.name;
        check.later(
            &name.span,
            &format!(
                "`{}` beside `{}`: the link between the latent function and its mean",
                name.value, linked.likelihood.name.value
            ),
            "write two studies, or give the counts a `gaussian` likelihood with known variance",
        );
        return;
    }
    let Some(Spanned { value: link, span }) = link else {
        return;
    };
    let Some(linked) = first(Scale::Linked) else {
        if *link != Link::Identity {
            own_or_none(check, *link, span, observe);
        }
        return;
    };
    let kind = &linked.likelihood.name.value;
    if *link == Link::Identity {
        let message =
            format!("`link = \"identity\"` would let the mean of `{kind}` become negative");
        check.refuse(
            span,
            message,
            "leave `link` out for `exp`, or use `softplus` or `square`",
        );
    } else if *link == Link::Square
        && let Some(table) = observe
            .iter()
            .find(|o| matches!(o.likelihood.reports, Reports::Exponential { .. }))
    {
        let message = format!(
            "`link = \"square\"` cannot be used with `{}`: its mean would touch zero",
            table.likelihood.name.value
        );
        check.refuse(
            span,
            message,
            "leave `link` out for `exp`, or use `softplus`",
        );
    }
}

/// Whether rows of two tables may be of one output.
fn same_output(a: &Output, b: &Output) -> bool {
    match (a, b) {
        (Output::Named(a), Output::Named(b)) => a.value == b.value,
        _ => true,
    }
}

/// A link that no table can take.
fn own_or_none(check: &Check<'_>, link: Link, span: &std::ops::Range<usize>, observe: &[Observe]) {
    let Some(table) = observe.first() else {
        return;
    };
    let (kind, link) = (&table.likelihood.name.value, link.name());
    if table.likelihood.scale() == Scale::Probability {
        let message =
            format!("`{kind}` has a link of its own, so `link = \"{link}\"` means nothing");
        let remedy =
            format!("leave it out; write `{kind} = {{ .., link = \"probit\" }}` for the other one");
        check.refuse(span, message, remedy);
        return;
    }
    check.later(
        span,
        &format!("`link = \"{link}\"` with `{kind}`"),
        "leave it out; for values that are positive and multiply, take their logarithms as the values",
    );
}
