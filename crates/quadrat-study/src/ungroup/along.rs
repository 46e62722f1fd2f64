//! Years of every population, ungrouped together.

use std::collections::HashMap;

use quadrat::progress::Progress;
use quadrat::ungroup::{UngroupError, Year};

use super::configured::configured;
use super::edges::{Edge, edge};
use super::found::{All, found};
use super::group::random_stream;
use super::refused;
use super::rows::{Part, Rows};
use crate::diagnostic::{Problem, Problems, shown};
use crate::numbers::count;
use crate::study::ungroup::Ungroup;
use crate::words::clean;

/// More populations than this are refused: with twenty years each takes about a minute.
const MOST: usize = 100;
/// Bad years that are listed one by one.
const LISTED: usize = 5;

/// One population: its groups, which are its years.
struct Population<'a> {
    /// None of the only one.
    name: &'a [String],
    groups: Vec<usize>,
    /// When they are.
    at: Vec<f64>,
}

impl All {
    /// Ungroups the years of every population together, one population after the other: each takes
    /// all threads.
    ///
    /// # Errors
    /// What cannot be asked of any population.
    pub(super) fn along(
        &mut self,
        args: &Ungroup,
        rows: &Rows,
        progress: &dyn Progress,
    ) -> Result<(), Problems> {
        let populations = populations(rows, args.by.len())?;
        if populations.len() > MOST {
            let many = count(populations.len(), "population");
            let remedy =
                format!("name at most {MOST}, divide the table, or name the years with --by");
            return Err(
                Problem::new(format!("there are {many}, each of several years"))
                    .at(rows.whole())
                    .remedy(remedy)
                    .into(),
            );
        }
        for population in populations {
            let mut hardly = population.groups.iter().filter_map(|&at| {
                refused::hardly_asked(args, &rows.groups[at]).map(|problem| (at, problem))
            });
            if let Some(problem) = hardly.next() {
                self.failed.push(problem);
                continue;
            }
            self.together(args, rows, population, progress)?;
        }
        Ok(())
    }

    /// Ungroups the years of one population. A year that cannot be ungrouped is told, and the
    /// others are ungrouped without it.
    fn together(
        &mut self,
        args: &Ungroup,
        rows: &Rows,
        mut population: Population<'_>,
        progress: &dyn Progress,
    ) -> Result<(), Problems> {
        let builder = configured(args, &[], &[]).progress(progress);
        while !population.groups.is_empty() {
            let each = population.groups.iter().zip(&population.at);
            let years = each.map(|(&group, &at)| {
                let group = &rows.groups[group];
                Year {
                    at,
                    counts: &group.counts,
                    bands: Some((&group.lower, &group.upper)),
                }
            });
            let years: Vec<Year<'_>> = years.collect();
            let error = match builder.estimate_along(&years, random_stream(population.name)) {
                Ok(estimates) => {
                    let each = population.groups.iter().zip(&estimates);
                    let each = each.map(|(&at, estimate)| found(args, at, estimate));
                    self.found.extend(each);
                    return Ok(());
                }
                Err(error) => error,
            };
            if refused::is_common(&error) {
                return Err(refused::common(&error));
            }
            self.failed.push(population.refused(rows, &error));
            match error {
                UngroupError::InYear { year, .. } => {
                    population.groups.remove(year);
                    population.at.remove(year);
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Population<'_> {
    /// Why it was not ungrouped, at the year that is wrong.
    fn refused(&self, rows: &Rows, error: &UngroupError) -> (usize, Problem) {
        match error {
            UngroupError::InYear { year, error, .. } => {
                let at = self.groups[*year];
                (at, refused::of(rows, &rows.groups[at], error))
            }
            UngroupError::YearTwice { year, other, at } => {
                let [first, group] = [*year, *other].map(|year| &rows.groups[self.groups[year]]);
                let fact = format!("`{}` is the year {at} again", group.words());
                let before = rows.address(first, 0);
                let problem = Problem::new(fact)
                    .at(rows.place(group, 0, Part::Year))
                    .remedy(format!("write a year in one way, as {before} does"));
                (self.groups[*other], problem)
            }
            other => {
                let named = match self.name.is_empty() {
                    true => String::new(),
                    false => format!("`{}`: ", clean(&self.name.join(", "))),
                };
                let remedy = match other {
                    UngroupError::TooManyYears { .. } => {
                        "divide the table by years, give a wider --step, or name the years with --by, each of which is then by itself"
                    }
                    UngroupError::NoCurve { .. } => {
                        "look for counts that are wrong, or name the years with --by"
                    }
                    _ => "look at the rows of the table",
                };
                let problem = Problem::new(format!("{named}{other}"));
                (self.groups[0], problem.at(rows.whole()).remedy(remedy))
            }
        }
    }
}

/// What to do with a year that is no number.
fn no_year(year: &str) -> Problem {
    let Ok(Edge::Both(..)) = edge(year) else {
        return Problem::new(format!("`{}` is no year", shown(year))).remedy(
            "write years as numbers, such as 1995 or 1995.5; labels go to --by, which ungroups each by itself",
        );
    };
    Problem::new(format!(
        "`{}` is a band of years, and --along tells years that have rows of their own",
        shown(year)
    ))
    .remedy("years inside of bands are told by a study over boxes of both, `support = { box = { age = [\"age_from\", \"age_to\"], year = [\"year_from\", \"year_to\"] } }`, as in examples/age-by-year")
    .remedy("for every band of years by itself name the column with --by; for all of them together write an average year of each, at its middle")
}

/// Groups that differ in their years alone together, in the order of the table.
///
/// # Arguments
/// * `named` - how many columns name a population
fn populations(rows: &Rows, named: usize) -> Result<Vec<Population<'_>>, Problems> {
    let mut places: HashMap<&[String], usize> = HashMap::new();
    let mut out: Vec<Population<'_>> = Vec::new();
    let (mut problems, mut bad) = (Problems::default(), 0);
    for (at, group) in rows.groups.iter().enumerate() {
        let (name, year) = group.name.split_at(named);
        let year = year.first().map_or("", String::as_str);
        let Some(when) = year.parse::<f64>().ok().filter(|x| x.is_finite()) else {
            bad += 1;
            if bad <= LISTED {
                let place = rows.place(group, 0, Part::Year);
                problems.push(no_year(year).at(place));
            }
            continue;
        };
        let own = *places.entry(name).or_insert_with(|| {
            out.push(Population {
                name,
                groups: Vec::new(),
                at: Vec::new(),
            });
            out.len() - 1
        });
        out[own].groups.push(at);
        out[own].at.push(when);
    }
    if bad > LISTED {
        let rest = count(bad - LISTED, "more year");
        problems.push(Problem::new(format!("{rest} that are no numbers")).tally());
    }
    problems.or(out)
}
