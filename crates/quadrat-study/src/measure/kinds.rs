//! Which table of the study a kind of measurement is like.

use crate::diagnostic::{Problem, Problems};
use crate::engine::{Posterior, table_names};
use crate::resolve::{Resolved, names};
use crate::suggest;
use quadrat::likelihood::Likelihood;
use quadrat::model::{Observations, Scale};

/// Other words for likelihoods.
const ALIASES: [(&str, &str); 3] = [
    ("point", "gaussian"),
    ("value", "gaussian"),
    ("rank", "ordinal"),
];
/// The kind that asks for an interval of a value.
const INTERVAL: &str = "interval";

/// A kind of measurement at a price.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// The kind.
    pub kind: String,
    /// What one costs.
    pub cost: f64,
    /// The width of an interval, or a noise variance.
    pub amount: Option<f64>,
}

/// The tables of a study, as far as kinds are told apart by them.
pub struct Tables<'a> {
    names: Vec<String>,
    likelihoods: Vec<&'a Likelihood>,
    outputs: Vec<Option<&'a str>>,
}

impl<'a> Tables<'a> {
    /// Those of a saved model.
    pub fn of(posterior: &'a Posterior) -> Self {
        let tables = || posterior.observations().iter();
        Self {
            names: table_names(posterior),
            likelihoods: tables().map(Observations::likelihood).collect(),
            outputs: tables().map(Observations::output).collect(),
        }
    }

    /// Those of a study that is not fitted yet.
    pub fn read(resolved: &'a Resolved) -> Self {
        Self {
            names: names(&resolved.study, &resolved.tables),
            likelihoods: resolved.tables.iter().map(|t| &t.likelihood).collect(),
            outputs: resolved
                .tables
                .iter()
                .map(|t| t.places.output.as_deref())
                .collect(),
        }
    }

    /// Refuses kinds that no table is like, and kinds that are given twice.
    pub fn check(&self, prices: &[Price]) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for (i, price) in prices.iter().enumerate() {
            if prices[..i].iter().any(|earlier| earlier.kind == price.kind) {
                let message = format!("the kind `{}` has two costs", price.kind);
                problems.push(Problem::new(message).remedy("give each kind once"));
            } else if let Err(problem) = self.like(&price.kind) {
                problems.push(problem);
            }
        }
        problems.or(())
    }

    /// The tables that a kind may be like, and whether only intervals of their values are told.
    fn like(&self, kind: &str) -> Result<(Vec<usize>, bool), Problem> {
        let all = 0..self.names.len().min(self.likelihoods.len());
        let of = |test: &dyn Fn(usize) -> bool| -> Vec<usize> {
            all.clone().filter(|table| test(*table)).collect()
        };
        let named = of(&|t| self.names[t] == kind || stem(&self.names[t]) == kind);
        if !named.is_empty() {
            return Ok((named, false));
        }
        let of_output = of(&|t| self.outputs[t] == Some(kind));
        if !of_output.is_empty() {
            return Ok((of_output, false));
        }
        let alias = ALIASES.iter().find(|(alias, _)| *alias == kind);
        let word = alias.map_or(kind, |(_, name)| name);
        let like = of(&|t| self.likelihoods[t].name() == word);
        if !like.is_empty() {
            return Ok((like, false));
        }
        let is_value =
            |l: &Likelihood| matches!(l, Likelihood::Gaussian(_) | Likelihood::Censored(_));
        let values = of(&|t| word == INTERVAL && is_value(self.likelihoods[t]));
        if !values.is_empty() {
            return Ok((values, true));
        }
        Err(self.unknown(kind))
    }

    fn unknown(&self, kind: &str) -> Problem {
        let mut known: Vec<String> = Vec::new();
        let tables = self.likelihoods.iter().zip(&self.names);
        for ((likelihood, name), output) in tables.zip(&self.outputs) {
            for word in [likelihood.name(), name].into_iter().chain(*output) {
                if !known.iter().any(|k| k == word) {
                    known.push(word.to_owned());
                }
            }
        }
        let near = suggest::nearest(kind, known.iter().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let message = format!("the study cannot observe `{kind}`: it has no rows like that{hint}");
        Problem::new(message).remedy(format!("the kinds are {}", suggest::list(&known)))
    }
}

/// The table of a kind, and whether only intervals of its values are told.
pub fn table_of(posterior: &Posterior, kind: &str) -> Result<(usize, bool), Problem> {
    let tables = Tables::of(posterior);
    let (like, as_interval) = tables.like(kind)?;
    Ok((one(posterior, &tables.names, kind, &like)?, as_interval))
}

/// A file without its folder and extension.
fn stem(name: &str) -> &str {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// The first of several tables whose new rows are alike.
fn one(
    posterior: &Posterior,
    names: &[String],
    kind: &str,
    found: &[usize],
) -> Result<usize, Problem> {
    let first = found[0];
    let output = posterior.observations()[first].output();
    let groups = posterior.instruments(output, Scale::Observation);
    let own = groups.iter().find(|group| group.contains(&first));
    let is_alike = |table: &usize| *table == first || own.is_some_and(|own| own.contains(table));
    if found.iter().all(is_alike) {
        return Ok(first);
    }
    let own: Vec<&String> = found.iter().map(|&table| &names[table]).collect();
    let message = format!("the kind `{kind}` may be like several tables, whose new rows differ");
    Err(Problem::new(message).remedy(format!(
        "name the table in its place ({}), or the output; tables of one name need a `name` of their own in [[observe]]",
        suggest::list(&own)
    )))
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn tables_are_known_without_folder_and_extension() {
        assert_eq!(stem("data/strip.csv"), "strip");
        assert_eq!(stem("strip"), "strip");
    }
}
