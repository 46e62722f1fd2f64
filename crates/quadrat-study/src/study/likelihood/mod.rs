//! `likelihood`: what the rows of a table reported, and in which columns.

mod counts;
mod noise;
mod reports;
mod values;

use quadrat::link::Link;

use super::fields::{Section, Spanned};
use super::link;
use crate::limits::Said;
use crate::suggest;
use crate::table::Reading;

pub use noise::{Given, Noise, Summary, given};
pub use reports::{Counts, Ends, Law, Limits, Reports};
pub use values::MOST_RANKS;

/// What a table reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// Its kind, as it is written.
    pub name: Spanned<String>,
    /// What is known of the noise, for kinds that have one.
    pub noise: Option<Noise>,
    /// What the columns hold.
    pub reports: Reports,
    /// A link of counts or waiting times that is not that of the study, or one of amounts.
    pub link: Option<Spanned<Link>>,
    /// The preset, if one does, that takes what was recorded for exact, whatever is censored.
    pub ignores_limits: Option<&'static str>,
}

/// How the observed mean follows from the latent function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// It is the latent function, or an integral of it.
    Linear,
    /// By the link of the study.
    Linked,
    /// It is a probability, by a link of the table's own.
    Probability,
}

/// The key `likelihood` of a table.
pub fn read(section: &Section<'_>) -> Option<Likelihood> {
    const LIKE: &str = "such as `likelihood = { gaussian = { value = \"people\" } }`";
    let Some(item) = section.get("likelihood") else {
        section.missing("likelihood", LIKE);
        return None;
    };
    let choice = Section::from_item(section.check, "likelihood", item, LIKE)?;
    let kinds = quadrat::likelihood::Likelihood::NAMES;
    choice.keys(kinds, &[]);
    let mut known = choice
        .entries()
        .into_iter()
        .filter(|(name, _)| kinds.contains(&name.value.as_str()));
    let Some((name, item)) = known.next() else {
        if choice.entries().is_empty() {
            let remedy = format!("{LIKE}; the kinds are {}", suggest::list(kinds));
            section
                .check
                .refuse(&choice.span, "`likelihood` is empty", remedy);
        }
        return None;
    };
    if let Some((second, _)) = known.next() {
        let message = format!(
            "`likelihood` is both `{}` and `{}`",
            name.value, second.value
        );
        let remedy = "write two [[observe]] sections, with a table each";
        section.check.refuse(&second.span, message, remedy);
        return None;
    }
    let own = Section::from_item(section.check, &name.value, item, LIKE)?;
    let reports = match name.value.as_str() {
        "gaussian" => values::gaussian(&own),
        "laplace" => values::laplace(&own),
        "student_t" => values::student_t(&own),
        "interval" => values::interval(&own),
        "censored" => values::censored(&own),
        "truncated" => values::truncated(&own),
        "ordinal" => values::ordinal(&own),
        "positive" => values::positive(&own),
        "bernoulli" => counts::bernoulli(&own),
        "binomial" => counts::binomial(&own),
        "poisson" => counts::poisson(&own),
        "negative_binomial" => counts::negative_binomial(&own),
        "gamma" => counts::gamma(&own),
        "lognormal" => counts::lognormal(&own),
        _ => counts::exponential(&own),
    };
    let noise = match name.value.as_str() {
        "gaussian" => Some(noise::read(&own, true)),
        "student_t" | "interval" | "censored" | "truncated" | "ordinal" => {
            Some(noise::read(&own, false))
        }
        _ => None,
    };
    let link = match name.value.as_str() {
        "poisson" | "negative_binomial" | "exponential" | "gaussian" => link::read(&own),
        _ => None,
    };
    Some(Likelihood {
        name,
        noise,
        link,
        reports: reports?,
        ignores_limits: None,
    })
}

impl Likelihood {
    /// Every column that is named, and how its cells are read.
    pub fn columns(&self) -> Vec<(&Spanned<String>, Reading)> {
        let mut columns = Vec::new();
        match &self.reports {
            Reports::Gaussian { value } | Reports::StudentT { value, .. } => {
                columns.push((value, Reading::Number));
            }
            Reports::Amounts { value, law } => {
                columns.push((value, Reading::Wait));
                if let Law::LogNormal(Some(sd)) = law {
                    columns.extend(sd.column().map(|c| (c, Reading::Known)));
                }
            }
            Reports::Laplace { value, scale } => {
                columns.push((value, Reading::Number));
                columns.extend(scale.column().map(|c| (c, Reading::Number)));
            }
            Reports::Interval(ends)
            | Reports::Counts {
                counts: Counts::Between(ends),
                ..
            } => {
                columns.extend(ends.columns());
            }
            Reports::Censored { value, limits } => {
                let reading = match limits {
                    Limits::Written => Reading::Limited,
                    _ => Reading::Number,
                };
                columns.push((value, reading));
                match limits {
                    Limits::Side(side) => columns.push((side, Reading::Side)),
                    Limits::Flag { column, .. } => columns.push((column, Reading::Flag)),
                    Limits::Of(ends) => columns.extend(ends.columns()),
                    Limits::Written => {}
                }
            }
            Reports::Truncated { value, limits } => {
                columns.push((value, Reading::Number));
                columns.extend(limits.columns());
            }
            Reports::Ordinal { rank, .. } => columns.push((rank, Reading::Number)),
            Reports::Positive { .. } => {}
            Reports::Bernoulli { value, .. } => columns.push((value, Reading::Flag)),
            Reports::Binomial {
                successes, trials, ..
            } => {
                columns.push((successes, Reading::Number));
                columns.extend(trials.column().map(|c| (c, Reading::Number)));
            }
            Reports::Counts {
                counts: Counts::One(count),
                ..
            } => {
                columns.push((count, Reading::Count));
            }
        }
        if let Reports::Counts { exposure, .. } = &self.reports {
            let column = exposure.as_ref().and_then(Given::column);
            columns.extend(column.map(|c| (c, Reading::Number)));
        }
        let known = self.noise.as_ref().and_then(|noise| noise.known.as_ref());
        let variance = known.and_then(Given::column);
        columns.extend(variance.map(|c| (c, Reading::Known)));
        columns
    }

    /// How the observed mean follows from the latent function.
    pub fn scale(&self) -> Scale {
        match self.reports {
            Reports::Counts { .. } | Reports::Amounts { .. } => Scale::Linked,
            Reports::Gaussian { .. } if self.link.is_some() => Scale::Linked,
            Reports::Bernoulli { .. } | Reports::Binomial { .. } => Scale::Probability,
            _ => Scale::Linear,
        }
    }

    /// The table that tells its noise, if one does.
    pub fn summary(&self) -> Option<&Summary> {
        self.noise.as_ref()?.summary.as_ref()
    }

    /// Whether it reports something about values, rather than only bounding them.
    pub fn is_report(&self) -> bool {
        !matches!(self.reports, Reports::Positive { .. })
    }

    /// What the keys say of the limits of the instrument.
    pub fn limits(&self) -> Said {
        let Reports::Censored {
            limits: Limits::Of(ends),
            ..
        } = &self.reports
        else {
            return Said::default();
        };
        let number = |given: &Option<Given>| match given {
            Some(Given::Number(number)) => Some(number.value),
            _ => None,
        };
        let is_column = |given: &Option<Given>| matches!(given, Some(Given::Column(_)));
        Said {
            lower: number(&ends.lower),
            upper: number(&ends.upper),
            differ: is_column(&ends.lower) || is_column(&ends.upper),
        }
    }

    /// Whether exact inference can take it.
    pub fn is_gaussian(&self) -> bool {
        match self.reports {
            Reports::Gaussian { .. } => self.link.is_none(),
            Reports::Censored { .. } => self.ignores_limits.is_some(),
            _ => false,
        }
    }

    /// What people call the values.
    pub fn value_name(&self) -> String {
        let ends = |ends: &Ends| {
            let names: Vec<&str> = ends.columns().map(|(c, _)| c.value.as_str()).collect();
            names.join("..")
        };
        match &self.reports {
            Reports::Gaussian { value }
            | Reports::Laplace { value, .. }
            | Reports::StudentT { value, .. }
            | Reports::Censored { value, .. }
            | Reports::Truncated { value, .. }
            | Reports::Bernoulli { value, .. }
            | Reports::Amounts { value, .. } => value.value.clone(),
            Reports::Ordinal { rank, .. } => rank.value.clone(),
            Reports::Binomial { successes, .. } => successes.value.clone(),
            Reports::Interval(between)
            | Reports::Counts {
                counts: Counts::Between(between),
                ..
            } => ends(between),
            Reports::Counts {
                counts: Counts::One(count),
                ..
            } => count.value.clone(),
            Reports::Positive { .. } => String::new(),
        }
    }
}
