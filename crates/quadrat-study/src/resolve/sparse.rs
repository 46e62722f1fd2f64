//! What sparse inference needs of tables: inducing points of the user's own, and rows that a form
//! of the expected logarithm is for.

use std::collections::HashSet;

use quadrat::inference::sparse::LogSum;
use quadrat::likelihood::Likelihood;
use quadrat::link::Link;

use super::files::Files;
use super::inputs::Inputs;
use super::{Observed, read_places};
use crate::numbers::count;
use crate::places::Places;
use crate::shapes::Kind;
use crate::study::fields::{Check, Spanned};
use crate::study::support::{Dim, Extent, Support};
use crate::study::{Inducing, Study};

/// The inducing points of the user's own, without repeats.
pub(super) fn inducing(
    files: &Files<'_>,
    study: &Study,
    inputs: &Inputs<'_>,
    warnings: &mut Vec<String>,
) -> Option<Places> {
    let Inducing::File(file) = &study.inference.inducing else {
        return None;
    };
    // What the kernel uses and no table gives is refused at the kernel.
    if !inputs.all_known {
        return None;
    }
    let point = |name: &String| Dim {
        name: Spanned {
            value: name.clone(),
            span: file.span.clone(),
        },
        extent: Extent::Point,
    };
    let support = Support {
        shape: None,
        dims: inputs.dims.iter().map(point).collect(),
        aggregate: None,
        span: file.span.clone(),
    };
    let table = files.table(file)?;
    let mut places = read_places(files, (&table, file), &support, |_| Some(()))?;
    let mut seen = HashSet::new();
    let keep: Vec<bool> = (0..places.len())
        .map(|row| seen.insert(places.key(row)))
        .collect();
    let repeats = keep.iter().filter(|keep| !**keep).count();
    if repeats > 0 {
        warnings.push(format!(
            "{} of {} {} an inducing point that an earlier one gives, and {} left out",
            count(repeats, "row"),
            file.value,
            if repeats == 1 { "repeats" } else { "repeat" },
            if repeats == 1 { "is" } else { "are" },
        ));
        places.retain(&keep);
    }
    Some(places)
}

/// Refuses more inducing points than there are points to be summarised, and forms of the expected
/// logarithm of sums that rows do not have.
pub(super) fn suits(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    inducing: Option<&Places>,
) {
    if let (Inducing::File(file), Some(inducing)) = (&study.inference.inducing, inducing) {
        let seen = tables.iter().map(|table| points(&table.places));
        // Boxes and regions can be summarised by more points than there are rows.
        if let Some(seen) = seen.sum::<Option<usize>>()
            && inducing.len() > seen
        {
            let message = format!(
                "{} gives {} inducing points, more than the {seen} points that rows look at",
                file.value,
                inducing.len()
            );
            let remedy = format!(
                "inducing points stand for many others: give fewer, or write `inducing = {seen}` to take all of those"
            );
            check.refuse(&file.span, message, remedy);
        }
    }
    let Some(form) = &study.inference.log_sum else {
        return;
    };
    let name = match form.value {
        LogSum::Matched => return,
        LogSum::Lemma => "lemma",
        LogSum::Taylor => "taylor",
    };
    for table in tables {
        if table.places.aggregate.is_none() {
            continue;
        }
        let is_soft = table.likelihood.link() == Some(Link::Softplus);
        let what = match &table.likelihood {
            Likelihood::NegativeBinomial(_) => "negative binomial counts",
            Likelihood::Gamma(_) => "gamma values",
            Likelihood::LogNormal(_) => "log-normal values",
            Likelihood::Bernoulli(_) | Likelihood::Binomial(_) => "probabilities",
            Likelihood::Poisson(counts) if counts.lower() != counts.upper() => "ranges of counts",
            _ if is_soft && form.value == LogSum::Lemma => "sums behind `softplus`",
            _ => continue,
        };
        check.refuse(
            &form.span,
            format!(
                "`log_sum = \"{name}\"` is not there for {what}, which {} holds",
                table.table.name()
            ),
            "leave `log_sum` out: the matched moments serve every likelihood, the other forms `poisson` counts that are no ranges, and `exponential`, `lemma` not behind `softplus`",
        );
    }
}

/// How many points rows look at, where they look at points only.
fn points(places: &Places) -> Option<usize> {
    match places.shapes.as_ref().map(|shapes| (&shapes.kind, shapes)) {
        Some((Kind::Bags(bags), shapes)) => {
            let sizes = shapes.of_row.iter().map(|&bag| bags.points.of(bag).len());
            Some(sizes.sum())
        }
        Some((Kind::Regions(_), _)) => None,
        None => places.aggregate.is_none().then(|| places.len()),
    }
}
