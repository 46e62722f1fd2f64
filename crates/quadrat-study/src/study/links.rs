//! How the means of what was reported follow from the latent function: which links tables have, and
//! which can share a function.

use quadrat::link::Link;

use super::fields::{Check, Spanned};
use super::likelihood::{Law, Reports, Scale};
use super::observe::Observe;
use super::outputs::Output;

/// The link of a table: its own, else that of the study, else `exp` for counts and waiting times.
pub fn of(study: Option<&Spanned<Link>>, table: &Observe) -> Link {
    if table.likelihood.scale() != Scale::Linked {
        return Link::Identity;
    }
    let said = table.likelihood.link.as_ref().or(study);
    said.map_or(Link::Exp, |link| link.value)
}

/// Refuses links that the tables cannot have, and tables that cannot share one.
pub fn suits(check: &Check<'_>, link: Option<&Spanned<Link>>, observe: &[Observe]) {
    let tables = |scale: Scale| {
        observe
            .iter()
            .filter(move |o| o.likelihood.scale() == scale)
    };
    // Every output is a function of its own. Those of a column are not known before it is read.
    let mut told: Vec<&Output> = Vec::new();
    for table in observe {
        let own = &table.output;
        if matches!(own, Output::Column(_)) || told.iter().any(|other| same_output(other, own)) {
            continue;
        }
        told.push(own);
        let of_own: Vec<&Observe> = observe
            .iter()
            .filter(|other| same_output(&other.output, own))
            .collect();
        if !share_a_function(check, link, &of_own) {
            return;
        }
    }
    let is_average = |table: &&Observe| table.support.aggregate.is_some();
    let average = tables(Scale::Probability).find(is_average);
    if let (Some(linear), Some(average)) = (tables(Scale::Linear).next(), average) {
        let name = &linear.likelihood.name;
        check.later(
            &name.span,
            &format!(
                "`{}` beside `{}` over boxes, regions or bags: values of the function beside averages of probabilities",
                name.value, average.likelihood.name.value
            ),
            "write two studies, or give the answers at points",
        );
        return;
    }
    for table in tables(Scale::Linked) {
        if let Some(own) = &table.likelihood.link {
            possible(check, own, table);
        }
    }
    if let Some(said) = link {
        for table in tables(Scale::Linked).filter(|table| table.likelihood.link.is_none()) {
            if !possible(check, said, table) {
                // Told once.
                break;
            }
        }
    }
    if let Some(Spanned { value: link, span }) = link
        && tables(Scale::Linked).next().is_none()
        && *link != Link::Identity
    {
        own_or_none(check, *link, span, observe);
    }
}

/// Refuses tables of one output that report their function in ways that exclude each other;
/// whether counts are not beside values.
pub fn share_a_function(
    check: &Check<'_>,
    link: Option<&Spanned<Link>>,
    tables: &[&Observe],
) -> bool {
    let of_scale = |scale: Scale| {
        tables
            .iter()
            .filter(move |table| table.likelihood.scale() == scale)
    };
    let first = of_scale(Scale::Linked).next();
    if let (Some(linear), Some(linked)) = (of_scale(Scale::Linear).next(), first) {
        let name = &linear.likelihood.name;
        check.later(
            &name.span,
            &format!(
                "`{}` beside `{}`: the link between the latent function and its mean",
                name.value, linked.likelihood.name.value
            ),
            match matches!(linked.likelihood.reports, Reports::Gaussian { .. }) {
                true => "a function has one link: give both tables the same one, or write two studies",
                false => "write two studies, or give the counts a `gaussian` likelihood with known variance",
            },
        );
        return false;
    }
    for table in of_scale(Scale::Linked) {
        if let Some(first) = first
            && of(link, first) != of(link, table)
        {
            let name = &table.likelihood.name;
            let own = table.likelihood.link.as_ref();
            let message = format!(
                "`link` is `{}` here and `{}` in an earlier table of the same function",
                of(link, table).name(),
                of(link, first).name()
            );
            check.refuse(
                own.map_or(&name.span, |link| &link.span),
                message,
                "a function has one link; give these rows another `output`, or the same link",
            );
        }
    }
    true
}

/// Refuses a link that a table cannot have; whether it can.
fn possible(check: &Check<'_>, link: &Spanned<Link>, table: &Observe) -> bool {
    let kind = &table.likelihood.name.value;
    let is_amount = matches!(table.likelihood.reports, Reports::Gaussian { .. });
    let (message, remedy) = match link.value {
        Link::Identity | Link::Square if is_amount => (
            format!(
                "`link = \"{}\"` cannot be used with `{kind}`",
                link.value.name()
            ),
            "leave `link` out where values may be negative; use `exp`, or `softplus`, where not",
        ),
        Link::Identity => (
            format!("`link = \"identity\"` would let the mean of `{kind}` become negative"),
            "leave `link` out for `exp`, or use `softplus` or `square`",
        ),
        Link::Square | Link::Softplus
            if matches!(
                table.likelihood.reports,
                Reports::Amounts {
                    law: Law::Gamma(_) | Law::LogNormal(_),
                    ..
                }
            ) =>
        {
            (
                format!(
                    "`link = \"{}\"` cannot be used with `{kind}`",
                    link.value.name()
                ),
                "leave `link` out: the mean of such values is `exp` of the function",
            )
        }
        Link::Square if matches!(table.likelihood.reports, Reports::Amounts { .. }) => (
            format!("`link = \"square\"` cannot be used with `{kind}`: its mean would touch zero"),
            "leave `link` out for `exp`, or use `softplus`",
        ),
        _ => return true,
    };
    check.refuse(&link.span, message, remedy);
    false
}

/// Whether rows of two tables are of one output, as far as the study says it.
fn same_output(a: &Output, b: &Output) -> bool {
    match (a, b) {
        (Output::Named(a), Output::Named(b)) => a.value == b.value,
        (Output::Only, Output::Only) => true,
        _ => false,
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
        "leave it out, and give the logarithms of the values; amounts that are added up have a link in their table: `gaussian = { .., link = \"exp\" }`",
    );
}
