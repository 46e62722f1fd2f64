//! What was observed and how it was inferred, in words for the terminal and the report.

mod outcome;

pub use outcome::{learned_thresholds, slopes, thresholds, value_name, value_names};

use quadrat::likelihood::{Interval, Likelihood as Reported, Noise, Thresholds};
use quadrat::model::FitSummary;

use crate::diagnostic::brief;
use crate::numbers::{count, human};
use crate::resolve::Observed;
use crate::study::likelihood::{Given, Law, Limits, Reports};
use crate::study::support::Aggregate;

/// A method of inference in words.
pub fn method_in_words(name: &str) -> &str {
    match name {
        "ep" => "expectation propagation",
        "variational" => "variational inference",
        "laplace" => "Laplace's method",
        "sparse" => "sparse variational inference",
        other => other,
    }
}

/// One table of observations in words.
pub fn observed(table: &Observed) -> String {
    let mut parts = vec![format!("{}{}", reports(table), place(table))];
    if let Some(times) = &table.times {
        let all: f64 = times.iter().sum();
        parts.push(format!("seen {} times together", human(all)));
    }
    if table.are_increments {
        parts.push("increments of running totals".to_owned());
    }
    parts.extend(details(table));
    parts.extend(noise(table));
    let output = table.places.output.as_ref();
    format!(
        "{} of {}{}: {}",
        count(table.places.len(), "row"),
        table.table.name(),
        output.map_or_else(String::new, |name| format!(" ({name})")),
        parts.join(", ")
    )
}

/// Where the rows looked: " at points of t".
fn place(table: &Observed) -> String {
    let places = &table.places;
    let along: Vec<&str> = places.dims.iter().map(|dim| dim.name.as_str()).collect();
    let mut over: Vec<String> = Vec::new();
    if let Some(shapes) = &places.shapes {
        // A region is in a plane; the points of a bag have coordinates.
        let between = match shapes.regions() {
            Some(_) => " x ",
            None => ", ",
        };
        over.push(format!(
            "{} of {} ({})",
            count(shapes.distinct(), shapes.noun()),
            shapes.dims.join(between),
            shapes.file()
        ));
    }
    if !along.is_empty() {
        let boxes = places.dims.iter().any(|dim| dim.second.is_some());
        over.push(format!(
            "{} of {}",
            if boxes { "boxes" } else { "points" },
            along.join(" x ")
        ));
    }
    let word = if places.aggregate.is_some() {
        "over"
    } else {
        "at"
    };
    format!(" {word} {}", over.join(" and "))
}

/// What the rows hold: "`people`", "totals of `people`", "ranks `grade` from 1 to 5".
fn reports(table: &Observed) -> String {
    let rows = table.places.len();
    let name = format!("`{}`", table.says.value_name());
    let what = match (&table.says.reports, &table.likelihood) {
        (Reports::Interval(_), _) => count(rows, "interval") + &format!(" {name}"),
        (Reports::Censored { .. } | Reports::Truncated { .. }, _) => {
            count(rows, "value") + &format!(" {name}")
        }
        (_, Reported::Ordinal(x)) => format!(
            "{} {name} from 1 to {}",
            count(rows, "rank"),
            x.thresholds_setting().ranks()
        ),
        (Reports::Positive { margin, .. }, _) => format!("known to be above {}", human(*margin)),
        (_, Reported::Bernoulli(x)) => {
            let yes = x.values().iter().filter(|yes| **yes).count();
            format!("{yes} of {rows} {name}")
        }
        (Reports::Binomial { trials, .. }, Reported::Binomial(x)) => {
            let (k, n): (f64, f64) = (x.successes().iter().sum(), x.trials().iter().sum());
            let of = match trials {
                Given::Column(column) => format!(" of `{}`", column.value),
                Given::Number(_) => String::new(),
            };
            format!(
                "{name}{of}, {} successes among {} trials",
                human(k),
                human(n)
            )
        }
        (Reports::Counts { .. }, _) => count(rows, "count") + &format!(" {name}"),
        _ => name,
    };
    match table.places.aggregate {
        None => what,
        Some(Aggregate::Sum) => format!("totals of {what}"),
        Some(Aggregate::Mean) => format!("averages of {what}"),
    }
}

/// What else there is to say of the rows.
fn details(table: &Observed) -> Vec<String> {
    let mut details = Vec::new();
    let some = |n: usize, words: &str| (n > 0).then(|| format!("{n} {words}"));
    match (&table.says.reports, &table.likelihood) {
        (Reports::Censored { limits, .. }, Reported::Censored(x)) => {
            let [_, left, right, _] = kinds(x.readings());
            let limit = if matches!(limits, Limits::Side(_) | Limits::Flag { .. }) {
                "the number given"
            } else {
                "their limit"
            };
            details.extend(some(left, &format!("below {limit}")));
            details.extend(some(right, &format!("above {limit}")));
        }
        (Reports::Truncated { limits, .. }, _) => {
            let of = |limit: &Given| match limit {
                Given::Column(column) => format!("`{}`", column.value),
                Given::Number(number) => human(number.value),
            };
            let ends = [("below", &limits.lower), ("above", &limits.upper)];
            let none = ends
                .into_iter()
                .filter_map(|(side, limit)| Some(format!("{side} {}", of(limit.as_ref()?))));
            let none: Vec<String> = none.collect();
            details.push(format!("none recorded {}", none.join(" or ")));
        }
        (_, Reported::Interval(x)) => {
            let [exact, left, right, _] = kinds(x);
            details.extend(some(exact, "exact"));
            details.extend(some(left, "open below"));
            details.extend(some(right, "open above"));
        }
        (_, Reported::Ordinal(x)) => details.push(match x.thresholds_setting() {
            Thresholds::Known(_) => "thresholds known".to_owned(),
            Thresholds::Learned(_) => "thresholds learned".to_owned(),
        }),
        (Reports::Counts { exposure, .. }, likelihood) => {
            details.extend(some(suppressed(likelihood), "suppressed"));
            match exposure {
                Some(Given::Column(column)) => {
                    details.push(format!("exposure from `{}`", column.value));
                }
                Some(Given::Number(number)) => {
                    details.push(format!("exposure {}", human(number.value)));
                }
                None => {}
            }
        }
        _ => {}
    }
    details
}

/// How many readings are exact, open below, open above, and between two ends.
fn kinds(x: &Interval) -> [usize; 4] {
    let mut kinds = [0; 4];
    for (&lower, &upper) in x.lower().iter().zip(x.upper()) {
        let kind = match (lower == upper, lower.is_finite(), upper.is_finite()) {
            (true, ..) => 0,
            (_, false, _) => 1,
            (_, _, false) => 2,
            _ => 3,
        };
        kinds[kind] += 1;
    }
    kinds
}

/// How many counts are only known as ranges.
fn suppressed(likelihood: &Reported) -> usize {
    likelihood.counts().map_or(0, |counts| {
        let ends = counts.lower.iter().zip(counts.upper);
        ends.filter(|(l, u)| l != u).count()
    })
}

/// What is known of the noise.
fn noise(table: &Observed) -> Option<String> {
    let learned = |value: &Option<f64>, what: &str| match value {
        Some(value) => format!("{what} {}", human(*value)),
        None => format!("{what} learned"),
    };
    let own = match &table.says.reports {
        Reports::Laplace { .. } => Some("double exponential noise of known scale".to_owned()),
        Reports::StudentT { degrees, .. } => {
            Some(learned(degrees, "Student's t noise, degrees of freedom"))
        }
        Reports::Counts {
            dispersion: Some(dispersion),
            ..
        } => Some(learned(dispersion, "negative binomial, dispersion")),
        Reports::Amounts { law, .. } => Some(match law {
            Law::Exponential => "exponentially distributed".to_owned(),
            Law::Gamma(shape) => learned(shape, "gamma distributed, shape"),
            Law::LogNormal(Some(Given::Column(column))) => format!(
                "log-normal, sd of the logarithm in `{}`",
                clean(&column.value)
            ),
            Law::LogNormal(sd) => {
                let number = match sd {
                    Some(Given::Number(sd)) => Some(sd.value),
                    _ => None,
                };
                learned(&number, "log-normal, sd of the logarithm")
            }
        }),
        _ => None,
    };
    let noise = match table.likelihood.noise() {
        None => None,
        Some(Noise::Known(known)) if known.iter().all(|variance| *variance == 0.0) => {
            Some("known exactly")
        }
        Some(Noise::Known(_)) => Some("known noise variance"),
        Some(Noise::KnownPlusLearned(_)) => Some("known noise variance and more to be learned"),
        Some(Noise::Learned) => Some("noise learned"),
    };
    match (own, noise) {
        (Some(own), Some(noise)) => Some(format!("{own}, {noise}")),
        (own, noise) => own.or(noise.map(str::to_owned)),
    }
}

/// How the posterior was found.
pub fn inference(summary: &FitSummary) -> String {
    match summary.inference.as_str() {
        "exact" => "exact inference".to_owned(),
        other => method_in_words(other).to_owned(),
    }
}

/// A sentence for every pair of outputs.
pub fn correlations(summary: &FitSummary) -> Vec<String> {
    let sentence = |c: &quadrat::model::OutputCorrelation| {
        format!(
            "{} and {}: correlation {:.2}, 95 % interval {:.2} to {:.2}",
            c.first, c.second, c.median, c.lower, c.upper
        )
    };
    summary.correlations.iter().map(sentence).collect()
}

/// Which approximation the log evidence is.
pub fn evidence(summary: &FitSummary) -> String {
    match summary.evidence.as_str() {
        "ep" => "by expectation propagation".to_owned(),
        "elbo" => "variational lower bound".to_owned(),
        "laplace" => "by Laplace's method".to_owned(),
        other => other.to_owned(),
    }
}

/// A text with names from the user's files, without control characters and long words: neither must
/// reach the terminal.
pub fn clean(text: &str) -> String {
    brief(&printable(text))
}

/// A text from the user's files with spaces in place of control characters.
pub fn printable(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(clean).collect()
}
