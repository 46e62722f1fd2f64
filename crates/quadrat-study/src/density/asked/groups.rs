//! Which of the densities of several groups answers for a row.

use anyhow::Result;

use super::answer::answer;
use super::{Named, Of, Wanted, beyond, within};
use crate::answer::Answer;
use crate::places::{Labels, Places};
use crate::study::fields::{Check, Spanned};
use crate::suggest;
use crate::table::Table;

/// Densities of one table, or of every group of its rows.
pub trait Densities {
    /// The names of the groups; one without a name where there are none.
    fn names(&self) -> Vec<String>;

    /// Hands out one of them.
    fn with(&self, at: usize, visit: &mut dyn FnMut(Of<'_>) -> Result<()>) -> Result<()>;
}

/// Whose density answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Which {
    /// Those of all groups, one after the other.
    All,
    /// That of one group, by its number.
    One(usize),
    /// That of the group that each row names.
    OfRow(Vec<usize>),
}

/// Reads who answers: the group that is asked for, else the one that each row of the table names,
/// else all.
///
/// # Arguments
/// * `groups` - their names
pub fn which(
    check: &Check<'_>,
    named: Named<'_>,
    groups: &[String],
    asked: Option<&Spanned<String>>,
    table: Option<&Table>,
) -> Option<Which> {
    let find = |name: &str| groups.iter().position(|group| group == name);
    let Some(column) = named.group else {
        if let Some(asked) = asked {
            let message = "there is one density, without groups";
            check.refuse(&asked.span, message, "leave the name of a group out");
            return None;
        }
        return Some(Which::All);
    };
    if let Some(asked) = asked {
        let found = find(&asked.value);
        if found.is_none() {
            let message = format!("`{column}` has no group `{}`", asked.value);
            let remedy = format!("its groups are {}", suggest::list(groups));
            check.refuse(&asked.span, message, remedy);
        }
        return found.map(Which::One);
    }
    let Some((table, at)) = table.and_then(|t| Some((t, t.find(column).ok()?))) else {
        return Some(Which::All);
    };
    let texts = table.texts(at).map_err(|problems| check.extend(problems));
    let mut out = Vec::new();
    for (row, name) in texts.ok()?.iter().enumerate() {
        let Some(group) = find(name) else {
            let message = format!("`{column}` is `{name}`, of which there is no density");
            let remedy = format!("its groups are {}", suggest::list(groups));
            let problem = crate::diagnostic::Problem::new(message);
            check.add(problem.at(table.place(row, at)).remedy(remedy));
            return None;
        };
        out.push(group);
    }
    Some(Which::OfRow(out))
}

/// Answers at places, one group after the other.
pub type Parts = Vec<(Places, Answer)>;

/// Answers at places that suit the densities, part by part, and what was noticed.
pub fn answers(
    densities: &dyn Densities,
    named: Named<'_>,
    places: &Places,
    which: &Which,
    wanted: &Wanted,
) -> Result<(Parts, Vec<String>)> {
    let names = densities.names();
    let mut warnings = Vec::new();
    let mut one = |at: usize, places: &Places| -> Result<Answer> {
        let mut out = Answer::default();
        densities.with(at, &mut |of| {
            within(of, &named.names[0], places)?;
            warnings.extend(beyond(of, named, places));
            out = answer(of, named.names, places, wanted);
            Ok(())
        })?;
        Ok(out)
    };
    let labelled = |cells: Vec<String>| {
        let mut places = places.clone();
        if let Some(column) = named.group {
            let header = column.to_owned();
            places.labels.insert(0, Labels { header, cells });
        }
        places
    };
    let mut parts = Vec::new();
    match which {
        Which::OfRow(of_row) => {
            let mut whole = Answer::default();
            for at in 0..names.len() {
                let rows: Vec<usize> = (0..places.len()).filter(|r| of_row[*r] == at).collect();
                if !rows.is_empty() {
                    let mut own = places.clone();
                    own.keep(&rows);
                    scatter(&mut whole, &one(at, &own)?, &rows, places.len());
                }
            }
            let cells = of_row.iter().map(|at| names[*at].clone()).collect();
            parts.push((labelled(cells), whole));
        }
        Which::One(at) => {
            let cells = vec![names[*at].clone(); places.len()];
            parts.push((labelled(cells), one(*at, places)?));
        }
        Which::All => {
            for (at, name) in names.iter().enumerate() {
                let cells = vec![name.clone(); places.len()];
                parts.push((labelled(cells), one(at, places)?));
            }
        }
    }
    let mut said = std::collections::BTreeSet::new();
    warnings.retain(|warning| said.insert(warning.clone()));
    Ok((parts, warnings))
}

/// Writes the answers of some rows into those of all.
fn scatter(whole: &mut Answer, part: &Answer, rows: &[usize], all: usize) {
    let put = |to: &mut Vec<f64>, from: &[f64]| {
        to.resize(all, f64::NAN);
        rows.iter().zip(from).for_each(|(row, x)| to[*row] = *x);
    };
    put(&mut whole.mean, &part.mean);
    put(&mut whole.sd, &part.sd);
    put(&mut whole.lower, &part.lower);
    put(&mut whole.median, &part.median);
    put(&mut whole.upper, &part.upper);
    for (k, (name, column)) in part.chances.iter().enumerate() {
        if whole.chances.len() == k {
            whole.chances.push((name.clone(), Vec::new()));
        }
        put(&mut whole.chances[k].1, column);
    }
    whole.draws.resize(part.draws.len(), Vec::new());
    let draws = whole.draws.iter_mut().zip(&part.draws);
    draws.for_each(|(to, from)| put(to, from));
}
