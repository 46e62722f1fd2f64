//! What a fitted study found, in words, and what people call its values.

use quadrat::likelihood::{Likelihood as Reported, Thresholds};
use quadrat::link::Link;
use quadrat::model::Slope;

use crate::numbers::human;
use crate::outcome::Outcome;
use crate::resolve::Observed;
use crate::study::likelihood::{Likelihood, Reports};

/// A sentence for every slope of a linear part of the kernel, or of the mean.
pub fn slopes(outcome: &Outcome) -> Vec<String> {
    let study = &outcome.resolved.study;
    let sentence = |slope: &Slope| {
        let of = match &slope.output {
            Some(output) => format!(" of {output}"),
            None => String::new(),
        };
        let mut own = outcome.resolved.tables_of(slope.output.as_deref());
        let link = own
            .find_map(|table| study.observe.get(table.of))
            .map(|o| study.link_of(o));
        let rise = match link {
            Some(Link::Exp) => format!(
                "; one more multiplies the rate by {} ({} to {})",
                human(slope.mean.exp()),
                human(slope.lower.exp()),
                human(slope.upper.exp())
            ),
            _ => String::new(),
        };
        format!(
            "along {}{of} {} per unit, sd {}, 95 % interval {} to {}{rise}",
            slope.input,
            human(slope.mean),
            human(slope.sd),
            human(slope.lower),
            human(slope.upper)
        )
    };
    outcome.slopes.iter().map(sentence).collect()
}

/// The learned thresholds of a table of ranks, at the most probable hyperparameters.
pub fn learned_thresholds(outcome: &Outcome, table: usize) -> Option<Vec<f64>> {
    let Reported::Ordinal(ordinal) = &outcome.resolved.tables.get(table)?.likelihood else {
        return None;
    };
    let Thresholds::Learned(ranks) = ordinal.thresholds_setting() else {
        return None;
    };
    let leaf = match table {
        0 => "ordinal".to_owned(),
        later => format!("ordinal#{}", later + 1),
    };
    let value = |rest: String| {
        let name = format!("{leaf}.{rest}");
        let known = outcome.summary().hyperparameters.iter();
        known
            .filter(|hyper| hyper.name == name)
            .map(|hyper| hyper.value)
            .next()
    };
    let mut thresholds = vec![value("threshold".to_owned())?];
    for k in 2..*ranks {
        let last = thresholds.last().copied()?;
        thresholds.push(last + value(format!("gap.{k}"))?);
    }
    Some(thresholds)
}

/// A sentence for every table of ranks whose thresholds were learned.
pub fn thresholds(outcome: &Outcome) -> Vec<String> {
    let tables = outcome.resolved.tables.iter().enumerate();
    let sentence = |(at, table): (usize, &Observed)| {
        let thresholds = learned_thresholds(outcome, at)?;
        let listed: Vec<String> = thresholds.iter().map(|t| human(*t)).collect();
        Some(format!(
            "between the ranks 1 to {} of `{}`: {}",
            thresholds.len() + 1,
            table.says.value_name(),
            listed.join(", ")
        ))
    };
    tables.filter_map(sentence).collect()
}

/// What people call the values of an output: those of the tables that hold some, else of the first
/// that reports.
pub fn value_name(outcome: &Outcome, output: Option<&str>) -> String {
    name_of(outcome.resolved.tables_of(output))
}

/// What people call the values of all outputs.
pub fn value_names(outcome: &Outcome) -> String {
    name_of(outcome.resolved.tables.iter())
}

fn name_of<'a>(tables: impl Iterator<Item = &'a Observed>) -> String {
    let all: Vec<&Likelihood> = tables.map(|table| &table.says).collect();
    let says = || all.iter().copied();
    let is_value = |says: &&Likelihood| {
        matches!(
            says.reports,
            Reports::Gaussian { .. }
                | Reports::Laplace { .. }
                | Reports::StudentT { .. }
                | Reports::Censored { .. }
                | Reports::Truncated { .. }
        )
    };
    let mut names: Vec<String> = says()
        .filter(is_value)
        .map(Likelihood::value_name)
        .collect();
    names.dedup();
    if names.is_empty() {
        let first = says().find(|says| says.is_report());
        return first.map(Likelihood::value_name).unwrap_or_default();
    }
    names.join(" / ")
}
