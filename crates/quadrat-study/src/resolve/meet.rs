//! Predictions that meet totals: which rows make up each group, and what its total is.

use std::collections::{HashMap, HashSet};

use quadrat::likelihood::{Likelihood, Outcomes};

use super::columns::find;
use crate::diagnostic::{Place, Problem, Problems, shown};
use crate::keys::canonical;
use crate::numbers::{count, exact};
use crate::places::{Labels, Places};
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::Given;
use crate::study::meet::Meet;
use crate::study::support::Aggregate;
use crate::table::Table;

/// How many rows of one problem are listed, and how many groups are named in a warning.
const SHOWN_ROWS: usize = 20;
const NAMED: usize = 5;
/// Rows that meet totals together, at most, as in the library.
const MOST_ROWS: usize = 4000;

/// The totals of a prediction.
#[derive(Debug, Clone)]
pub struct MeetAsked {
    /// One per group.
    pub groups: Vec<GroupAsked>,
}

/// A group of rows and its total.
#[derive(Debug, Clone)]
pub struct GroupAsked {
    /// What its rows have in common, as `ash` or `ash, 2020`.
    pub name: String,
    /// Its rows, and how often each counts.
    pub rows: Vec<(usize, f64)>,
    /// What they add up to.
    pub total: f64,
    /// Of the total's error.
    pub variance: f64,
    /// Where the total stands.
    pub place: Place,
}

/// Adds to places the number of every row in its table, by which rows are known after some were
/// left out; [`totals`] takes it away.
pub(super) fn number(places: &mut Places) {
    places.labels.push(Labels {
        header: String::new(),
        cells: (0..places.len()).map(|row| row.to_string()).collect(),
    });
}

/// Reads the totals, and finds the rows of each.
///
/// # Arguments
/// * `table`, `given` - that of the places, and that of the totals
/// * `prediction` - its name, for warnings
pub(super) fn totals(
    check: &Check<'_>,
    (table, given): (&Table, &Table),
    (meet, prediction): (&Meet, &str),
    (places, warnings): (&mut Places, &mut Vec<String>),
) -> Option<MeetAsked> {
    let numbers = places.labels.pop()?.cells;
    let rows: Vec<usize> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
    let own = keys(check, table, &meet.by)?;
    let weights = weights(check, table, meet.weight.as_ref())?;
    let given = read(check, given, meet)?;
    let mut groups = given.groups;
    let known: HashMap<&[String], usize> = given.keys.iter().map(Vec::as_slice).zip(0..).collect();
    let mut without: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for (at, &row) in rows.iter().enumerate() {
        let key: Vec<String> = own.iter().map(|column| column[row].clone()).collect();
        match known.get(key.as_slice()) {
            Some(&group) => {
                let weight = weights.as_ref().map_or(1.0, |all| all[row]);
                groups[group].rows.push((at, weight));
            }
            None => {
                let name = key.join(", ");
                if seen.insert(name.clone()) {
                    without.push(name);
                }
            }
        }
    }
    let mut problems = Problems::default();
    for group in &groups {
        let (message, remedy) = match (group.rows.is_empty(), &meet.weight) {
            (true, _) => (
                format!("no row of {} is of `{}`", table.name(), shown(&group.name)),
                "mend the key, add its rows to the places, or delete this total",
            ),
            (false, Some(weight)) if group.rows.iter().all(|(_, w)| *w == 0.0) => (
                format!(
                    "all rows of `{}` have the `{}` 0, and cannot meet a total",
                    shown(&group.name),
                    weight.value
                ),
                "mend the weights, or delete this total",
            ),
            _ => continue,
        };
        problems.push(Problem::new(message).at(group.place.clone()).remedy(remedy));
    }
    let is_fine = problems.0.is_empty();
    check.extend(problems);
    if !without.is_empty() {
        let told = left_as_they_are(meet, &without);
        warnings.push(format!("prediction `{prediction}`: {told}"));
    }
    is_fine.then_some(MeetAsked { groups })
}

fn left_as_they_are(meet: &Meet, names: &[String]) -> String {
    let first: Vec<String> = names.iter().take(NAMED).map(|name| shown(name)).collect();
    let more = if names.len() > NAMED { ", .." } else { "" };
    format!(
        "{} of its rows {} no total in {} and {} none ({}{more})",
        count(names.len(), "group"),
        if names.len() == 1 { "has" } else { "have" },
        meet.file.value,
        if names.len() == 1 { "meets" } else { "meet" },
        first.join("; ")
    )
}

/// Cells of columns that tell groups apart, row by row; numbers with or without a point are one.
fn keys(check: &Check<'_>, table: &Table, by: &[Spanned<String>]) -> Option<Vec<Vec<String>>> {
    let names: Vec<&Spanned<String>> = by.iter().collect();
    let mut columns = Vec::with_capacity(by.len());
    for at in find(check, table, &names)? {
        let keys = table.keys(at).map_err(|problems| check.extend(problems));
        let keys = keys.ok()?.into_iter();
        columns.push(keys.map(|key| canonical(&key).to_owned()).collect());
    }
    Some(columns)
}

/// The weights of the rows, where a column has them; nothing where they were refused.
fn weights(
    check: &Check<'_>,
    table: &Table,
    name: Option<&Spanned<String>>,
) -> Option<Option<Vec<f64>>> {
    let Some(name) = name else {
        return Some(None);
    };
    let at = find(check, table, &[name])?[0];
    let values = not_negative(check, table, at, "weight")?;
    Some(Some(values))
}

/// A column of numbers of which none is below zero.
fn not_negative(check: &Check<'_>, table: &Table, at: usize, noun: &str) -> Option<Vec<f64>> {
    let read = table.numbers(&[at]);
    let values = read.map_err(|problems| check.extend(problems)).ok()?;
    let values = values.into_iter().next()?;
    let mut problems = Problems::default();
    let bad = values.iter().enumerate().filter(|(_, v)| **v < 0.0);
    for (row, value) in bad.take(SHOWN_ROWS) {
        let message = format!("the {noun} is {}; it must not be negative", exact(*value));
        problems.push(
            Problem::new(message)
                .at(table.place(row, at))
                .remedy("mend it"),
        );
    }
    let is_fine = problems.0.is_empty();
    check.extend(problems);
    is_fine.then_some(values)
}

/// Totals as their table has them.
struct Read {
    keys: Vec<Vec<String>>,
    /// Without rows yet.
    groups: Vec<GroupAsked>,
}

fn read(check: &Check<'_>, table: &Table, meet: &Meet) -> Option<Read> {
    let columns = keys(check, table, &meet.by)?;
    let at = find(check, table, &[&meet.value])?[0];
    let totals = table
        .numbers(&[at])
        .map_err(|problems| check.extend(problems));
    let totals = totals.ok()?.into_iter().next()?;
    let variances = match &meet.variance {
        None => vec![0.0; totals.len()],
        Some(Given::Number(number)) => vec![number.value; totals.len()],
        Some(Given::Column(name)) => {
            let at = find(check, table, &[name])?[0];
            not_negative(check, table, at, "variance")?
        }
    };
    let mut problems = Problems::default();
    let mut seen: HashMap<Vec<String>, usize> = HashMap::new();
    let mut read = Read {
        keys: Vec::new(),
        groups: Vec::new(),
    };
    for (row, (total, variance)) in totals.into_iter().zip(variances).enumerate() {
        let key: Vec<String> = columns.iter().map(|column| column[row].clone()).collect();
        let name = key.join(", ");
        let earlier = *seen.entry(key.clone()).or_insert(row);
        if earlier != row {
            let message = format!(
                "`{}` has a total already, at {}",
                shown(&name),
                table.row_address(earlier)
            );
            let problem = Problem::new(message).at(table.place(row, at));
            problems.push(problem.remedy("keep one row for each group"));
        }
        read.keys.push(key);
        read.groups.push(GroupAsked {
            name,
            rows: Vec::new(),
            total,
            variance,
            place: table.place(row, at),
        });
    }
    let is_fine = problems.0.is_empty();
    check.extend(problems);
    is_fine.then_some(read)
}

/// Refuses totals where there is no table that tells groups apart.
pub(super) fn without_table(check: &Check<'_>, meet: Option<&Meet>) {
    if let Some(meet) = meet {
        let message = "`meet` needs a table of places whose columns tell the groups apart";
        let remedy = "give the places as rows of a table, `support = { file = \"districts.csv\", .. }`, with the columns of `by`";
        check.refuse(&meet.span, message, remedy);
    }
}

/// A prediction that meets totals, and what it is about.
pub(super) struct Meeting<'a> {
    /// What the study says.
    pub meet: &'a Meet,
    pub totals: &'a MeetAsked,
    pub places: &'a Places,
    pub non_negative: bool,
    /// Whether it is of a second output.
    pub is_again: bool,
    /// Of the table that it is about.
    pub likelihood: Option<&'a Likelihood>,
}

/// Refuses totals of what has none.
pub(super) fn suits(check: &Check<'_>, meeting: &Meeting<'_>) {
    let span = &meeting.meet.span;
    if meeting.is_again {
        let message = "`meet` is of one output, and this prediction is of several";
        let remedy = "name the output of the totals, such as `output = \"men\"`, and write a [[predict]] for each";
        check.refuse(span, message, remedy);
    } else if meeting.places.len() > MOST_ROWS {
        let message = format!(
            "{} would meet totals together, more than {MOST_ROWS}",
            count(meeting.places.len(), "row")
        );
        let remedy = "ask for whole groups of them in several predictions";
        check.refuse(span, message, remedy);
    } else if meeting.non_negative {
        let message =
            "`meet` does not know of `non_negative`, which cuts every predicted value by itself";
        let remedy = "write `non_negative = false` here; `link = \"exp\"` in the likelihood keeps totals and values above zero";
        check.refuse(span, message, remedy);
    } else if let Some(likelihood) = meeting.likelihood {
        of_likelihood(check, meeting, likelihood);
    }
}

fn of_likelihood(check: &Check<'_>, meeting: &Meeting<'_>, likelihood: &Likelihood) {
    let (meet, places) = (meeting.meet, meeting.places);
    let refuse = |message: &str, remedy: &str| {
        check.refuse(&meet.span, message.to_owned(), remedy);
    };
    match likelihood.outcomes() {
        Outcomes::Answers(_) | Outcomes::Successes { .. } => {
            return refuse(
                "probabilities meet no totals: scaled to one, some would exceed 1",
                "report the totals as rows of an [[observe]] of their own, as successes among trials",
            );
        }
        Outcomes::Ranks(_) => {
            return refuse(
                "the function behind ranks has no unit, and meets no totals",
                "leave `meet` out",
            );
        }
        Outcomes::Values(_) | Outcomes::Intervals(_) | Outcomes::Counts(_) | Outcomes::Bounds => {}
    }
    let has_exposure = likelihood
        .counts()
        .is_some_and(|counts| counts.exposure.iter().any(|e| *e != 1.0));
    let is_rate = has_exposure && places.amounts.is_none();
    let is_average = places.aggregate == Some(Aggregate::Mean);
    if meet.weight.is_none() && (is_rate || is_average) {
        let (what, remedy) = match is_rate {
            true => (
                "rates add up to nothing",
                "add `exposure = \"population\"` to the prediction, whose counts add up; or `weight = \"population\"` in `meet`, whose weighted sums meet the totals",
            ),
            false => (
                "averages add up to nothing",
                "write `aggregate = \"sum\"`, or `weight = \"population\"` in `meet`, a column whose weighted sums meet the totals",
            ),
        };
        return refuse(what, remedy);
    }
    if !likelihood.is_linear() {
        behind_a_link(check, meeting.totals, meet);
    }
}

/// Refuses totals below zero, and errors of totals.
fn behind_a_link(check: &Check<'_>, totals: &MeetAsked, meet: &Meet) {
    if totals.groups.iter().any(|group| group.variance > 0.0) {
        let span = meet.variance.as_ref().map_or(&meet.span, Given::span);
        let message = "behind a link totals are met exactly, without a `variance`";
        let remedy =
            "leave `variance` out, or report these totals as rows of an [[observe]] of their own";
        check.refuse(span, message, remedy);
    }
    let negative = totals.groups.iter().filter(|group| group.total < 0.0);
    for group in negative.take(SHOWN_ROWS) {
        let message = format!(
            "the total is {}, and what lies behind a link is never negative",
            exact(group.total)
        );
        let problem = Problem::new(message).at(group.place.clone());
        check.add(problem.remedy("mend it, or delete the row"));
    }
}
