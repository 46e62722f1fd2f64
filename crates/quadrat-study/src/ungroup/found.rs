//! What came of every population.

use super::around::{Exposed, Standards};
use super::configured::configured;
use super::group::{Group, alike};
use super::refused;
use super::rows::Rows;
use crate::diagnostic::{Problem, Problems};
use crate::numbers::coordinate;
use crate::study::ungroup::Ungroup;
use quadrat::linalg::Mat;
use quadrat::progress::Progress;
use quadrat::ungroup::{
    Answer, Column, Estimate, Exposure, LifeTable, Population, Rates, Standard, Tail, UngroupError,
};

/// A population that was ungrouped.
#[derive(Debug)]
pub struct Found {
    /// Which group it is.
    pub group: usize,
    /// Lower and upper edge of every step.
    pub edges: Vec<(f64, f64)>,
    /// Mean, sd, lower, median and upper of every step.
    pub numbers: [Vec<f64>; 5],
    /// Draws of every step, by draws.
    pub draws: Vec<Vec<f64>>,
    /// Numbers of the whole population, with their names.
    pub answers: Vec<(String, Answer)>,
    pub tail: Option<(Tail, f64, f64)>,
    pub life: Option<LifeTable>,
    pub warnings: Vec<String>,
    pub effective: f64,
    pub effective_settings: f64,
    /// Whether its rates lie around those of others, where that is asked for.
    pub borrowed: Option<bool>,
}

/// All populations.
#[derive(Debug)]
pub struct All {
    /// Those that were ungrouped, in the order of the table.
    pub found: Vec<Found>,
    /// Why others were not.
    pub failed: Vec<(usize, Problem)>,
}

impl All {
    /// Ungroups every population; those of the same bands together. Years that are ungrouped
    /// together tell how far they are.
    ///
    /// # Errors
    /// What cannot be asked of any population.
    pub fn new(args: &Ungroup, rows: &Rows, progress: &dyn Progress) -> Result<Self, Problems> {
        let mut all = Self {
            found: Vec::new(),
            failed: Vec::new(),
        };
        if args.exposure.is_some() {
            all.rates(args, rows)?;
            return Ok(all);
        }
        if args.along.is_some() {
            all.along(args, rows, progress)?;
            all.found.sort_by_key(|found| found.group);
            all.failed.sort_by_key(|(group, _)| *group);
            return Ok(all);
        }
        let groups = rows.groups.iter().enumerate();
        for batch in alike(groups.map(|(at, group)| (group.edges(), at))) {
            let mut members = Vec::new();
            for at in batch {
                match refused::hardly_asked(args, &rows.groups[at]) {
                    Some(problem) => all.failed.push((at, problem)),
                    None => members.push(at),
                }
            }
            if members.is_empty() {
                continue;
            }
            let first = &rows.groups[members[0]];
            let builder = configured(args, &first.lower, &first.upper);
            let populations: Vec<Population<'_>> = members
                .iter()
                .map(|&at| Population {
                    counts: &rows.groups[at].counts,
                    stream: rows.groups[at].stream(),
                })
                .collect();
            let mut failed: Vec<(usize, UngroupError)> = Vec::new();
            let done = builder.estimate_each(&populations, |i, one| match one {
                Ok(estimate) => all.found.push(found(args, members[i], &estimate)),
                Err(error) => failed.push((members[i], error)),
            });
            if let Err(error) = done {
                if refused::is_common(&error) {
                    return Err(refused::common(&error));
                }
                failed.extend(members.iter().map(|&at| (at, error.clone())));
            }
            let told = failed
                .into_iter()
                .map(|(at, error)| (at, refused::of(rows, &rows.groups[at], &error)));
            all.failed.extend(told);
        }
        all.found.sort_by_key(|found| found.group);
        all.failed.sort_by_key(|(group, _)| *group);
        Ok(all)
    }

    /// Rates of every population, one after the other: each takes all threads.
    fn rates(&mut self, args: &Ungroup, rows: &Rows) -> Result<(), Problems> {
        let standards = args.borrow.then(|| Standards::new(args, rows));
        for (at, group) in rows.groups.iter().enumerate() {
            let standard = standards.as_ref().map(|standards| standards.of(at));
            match Self::rates_of(args, (rows, group), standard.and_then(Result::ok)) {
                Ok(rates) => {
                    let mut found = found_rates(args, at, &rates);
                    found.borrowed = standard.map(|standard| standard.is_ok());
                    found
                        .warnings
                        .extend(standard.and_then(Result::err).map(str::to_owned));
                    self.found.push(found);
                }
                Err(Refused::All(problems)) => return Err(problems),
                Err(Refused::One(problem)) => self.failed.push((at, problem)),
            }
        }
        Ok(())
    }

    fn rates_of(
        args: &Ungroup,
        (rows, group): (&Rows, &Group),
        standard: Option<&Standard>,
    ) -> Result<Rates, Refused> {
        let exposed = Exposed::of(rows, group).map_err(Refused::One)?;
        let of = Population {
            counts: exposed.counts,
            stream: group.stream(),
        };
        let bands = exposed.bands();
        let mut builder = configured(args, &group.lower, &group.upper);
        if let Some(standard) = standard {
            builder = builder.around(standard);
        }
        let rates = builder.rates_of(&group.counts, Exposure { of, bands });
        rates.map_err(|error| match (error, exposed.own) {
            (error, _) if refused::is_common(&error) => Refused::All(refused::common(&error)),
            (UngroupError::Exposure(error), Some((exposed, own))) => {
                Refused::One(refused::of(exposed, own, &error))
            }
            (UngroupError::Exposure(error), None) => Refused::One(refused::of(rows, group, &error)),
            (error, _) => Refused::One(refused::of(rows, group, &error)),
        })
    }

    /// The failures, or nothing.
    ///
    /// # Errors
    /// Where a population failed.
    pub fn whole(&self) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for (_, problem) in &self.failed {
            problems.push(problem.clone());
        }
        problems.or(())
    }
}

/// What could not be told: of one population, or of any.
enum Refused {
    One(Problem),
    All(Problems),
}

pub(super) fn found(args: &Ungroup, group: usize, estimate: &Estimate) -> Found {
    let mut answers = vec![
        ("median", estimate.quantile(0.5)),
        ("mean", estimate.mean_value()),
    ];
    if args.log {
        answers.push(("10 %", estimate.quantile(0.1)));
        answers.push(("90 %", estimate.quantile(0.9)));
        answers.extend(estimate.gini().map(|gini| ("Gini", gini)));
        let top = estimate.top_share(0.1);
        answers.extend(top.map(|top| ("share of the top tenth", top)));
    }
    let answers = answers.into_iter().map(|(name, a)| (name.to_owned(), a));
    let answers = answers.collect();
    let draws = drawn(args, |n| estimate.draws(n));
    Found {
        group,
        edges: estimate.edges().to_vec(),
        numbers: [
            estimate.mean(),
            estimate.sd(),
            estimate.lower(),
            estimate.median(),
            estimate.upper(),
        ],
        draws,
        answers,
        tail: estimate.tail(),
        life: None,
        warnings: estimate
            .warnings()
            .iter()
            .map(ToString::to_string)
            .collect(),
        effective: estimate.effective(),
        effective_settings: estimate.effective_settings(),
        borrowed: None,
    }
}

/// Draws of every step, by draws, as many as are asked for.
fn drawn(args: &Ungroup, of: impl FnOnce(usize) -> Mat<f64>) -> Vec<Vec<f64>> {
    let Some(n) = args.draws.map(usize::from) else {
        return Vec::new();
    };
    let draws = of(n);
    (0..n).map(|k| draws.col_as_slice(k).to_vec()).collect()
}

/// What the first `ex` of a life table is.
fn expectancy(life: &LifeTable) -> String {
    let first = life.edges.first().map_or(0.0, |edge| edge.0);
    match (life.until, first == 0.0) {
        (None, true) => "life expectancy".to_owned(),
        (None, false) => format!("life expectancy at {}", coordinate(first)),
        (Some(end), _) => {
            let [first, end] = [first, end].map(coordinate);
            format!("years lived from {first} to {end}")
        }
    }
}

fn at_first(column: &Column) -> Answer {
    Answer {
        value: column.value[0],
        lower: column.lower[0],
        upper: column.upper[0],
    }
}

fn found_rates(args: &Ungroup, group: usize, rates: &Rates) -> Found {
    let life = args.life_table.then(|| rates.life_table());
    let answers = match &life {
        Some(life) => vec![(expectancy(life), at_first(&life.e))],
        None => vec![("sum of the rates".to_owned(), rates.sum())],
    };
    let draws = drawn(args, |n| rates.draws(n));
    Found {
        group,
        edges: rates.edges().to_vec(),
        numbers: [
            rates.mean(),
            rates.sd(),
            rates.lower(),
            rates.median(),
            rates.upper(),
        ],
        draws,
        answers,
        tail: rates.tail(),
        life,
        warnings: rates.warnings().iter().map(ToString::to_string).collect(),
        effective: rates.effective(),
        effective_settings: rates.effective_settings(),
        borrowed: None,
    }
}
