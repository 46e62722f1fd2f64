//! `[[observe]]`: a table, where its rows looked, and what they reported.

use std::ops::Range;

use super::cumulative::{self, Cumulative};
use super::fields::{Section, Spanned, repeated};
use super::likelihood::{self, Given, Likelihood, Scale};
use super::outputs::{self, Output};
use super::support::{self, Aggregate, Support};

/// One table of observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Observe {
    /// Path of the table, relative to the study.
    pub file: Spanned<String>,
    /// What predictions call it, where that is not the file.
    pub name: Option<Spanned<String>>,
    /// Where its rows looked.
    pub support: Support,
    /// What they reported.
    pub likelihood: Likelihood,
    /// Where it says that the learned noise is that of another table, if it does.
    pub share_noise: Option<Range<usize>>,
    /// Which output the rows are of.
    pub output: Output,
    /// How often each row was seen, where that is said.
    pub times: Option<Given>,
    /// How its rows tell running totals, if they do.
    pub cumulative: Option<Cumulative>,
    /// The section.
    pub span: Range<usize>,
}

/// All tables; at least one.
pub fn read(root: &Section<'_>) -> Vec<Observe> {
    if root.get("observe").is_none() {
        root.missing(
            "[[observe]]",
            "add a section [[observe]] with a file, a support and a likelihood",
        );
    }
    let tables: Vec<Observe> = repeated(root, "observe").iter().filter_map(table).collect();
    names_apart(root, &tables);
    tables
}

/// Refuses a `name` that another table has.
fn names_apart(root: &Section<'_>, tables: &[Observe]) {
    for (at, table) in tables.iter().enumerate() {
        let Some(name) = &table.name else {
            continue;
        };
        let is_same = |(other, table): (usize, &Observe)| {
            other != at && table.shown_name() == name.value && (table.name.is_none() || other < at)
        };
        if tables.iter().enumerate().any(is_same) {
            root.check.refuse(
                &name.span,
                format!("another table is called `{}` too", name.value),
                "give each table a name of its own",
            );
        }
    }
}

impl Observe {
    /// The name by which predictions and people call it.
    pub fn shown_name(&self) -> &str {
        &self.name.as_ref().unwrap_or(&self.file).value
    }
}

fn table(section: &Section<'_>) -> Option<Observe> {
    section.keys(
        &[
            "file",
            "name",
            "support",
            "aggregate",
            "likelihood",
            "share_noise",
            "output",
            "output_column",
            "times",
            "cumulative",
        ],
        &[],
    );
    if section.get("file").is_none() {
        section.missing("file", "such as `file = \"ages.csv\"`");
    }
    let file = section.text("file");
    let name = section.text("name");
    let totals = cumulative::read(section)?;
    let support = support(section, totals.is_some());
    let likelihood = likelihood::read(section);
    let output = outputs::of_table(section);
    let times = times(section);
    let share_noise = section.flag("share_noise").unwrap_or(false);
    let (mut support, likelihood) = (support?, likelihood?);
    let cumulative = match totals {
        Some(said) => Some(cumulative::of(section, said, &mut support, &likelihood)?),
        None => None,
    };
    averages(section, &support, &likelihood);
    if share_noise && !likelihood.noise.as_ref().is_some_and(|noise| noise.learned) {
        section.check.refuse(
            &section.span_of("share_noise"),
            "`share_noise` needs a noise variance that is learned, and this table has none",
            "leave `share_noise` out, or leave `variance` out to learn it",
        );
    }
    Some(Observe {
        file: file?,
        name,
        support,
        likelihood,
        share_noise: share_noise.then(|| section.span_of("share_noise")),
        output: output?,
        times: times?,
        cumulative,
        span: section.span.clone(),
    })
}

/// The key `times`: a column, or a number for all rows.
fn times(section: &Section<'_>) -> Option<Option<Given>> {
    const LIKE: &str = "name the column that says how often each row was seen: `times = \"n\"`";
    if section.get("times").is_none() {
        return Some(None);
    }
    let times = likelihood::given(section, "times", LIKE)?;
    if let Given::Number(number) = &times
        && !(number.value.fract() == 0.0 && (1.0..=MOST_TIMES).contains(&number.value))
    {
        let message = format!(
            "`times` is {}; it must be a whole number from 1 to 1e15",
            number.value
        );
        section.check.refuse(&number.span, message, LIKE);
        return None;
    }
    Some(Some(times))
}

/// The most times that a row may have been seen, as in the library.
pub const MOST_TIMES: f64 = 1e15;

/// Refuses sums of probabilities.
fn averages(section: &Section<'_>, support: &Support, likelihood: &Likelihood) {
    if likelihood.scale() != Scale::Probability || support.aggregate != Some(Aggregate::Sum) {
        return;
    }
    let kind = &likelihood.name.value;
    section.check.refuse(
        &section.span_of("aggregate"),
        format!("`aggregate = \"sum\"` adds up probabilities, and `{kind}` reports one"),
        "write `aggregate = \"mean\"`: the probability of a success is then the average over the support, by the weights of a bag; for counts beyond their trials take `poisson`",
    );
}

fn support(section: &Section<'_>, is_running: bool) -> Option<Support> {
    const LIKE: &str = "such as `support = { point = [\"age\"] }` or `support = { box = { age = [\"from\", \"to\"] } }`";
    let Some(item) = section.get("support") else {
        section.missing("support", LIKE);
        return None;
    };
    let inner = Section::from_item(section.check, "support", item, LIKE)?;
    inner.keys(&["point", "box", "region", "bag"], &[]);
    match is_running {
        true => support::read_as(&inner, LIKE, |_| cumulative::adds_up(section)),
        false => support::read(&inner, section, LIKE),
    }
}
