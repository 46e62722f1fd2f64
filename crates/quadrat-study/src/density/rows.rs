//! The rows of `quadrat density`, from a table.

use std::path::Path;
use std::sync::Arc;

use quadrat::density::{Conditional, Density as Builder, Density2d};

use super::polygons::Polygons;
use crate::diagnostic::{Place, Problem, Problems};
use crate::study::density::Density;
use crate::suggest;
use crate::table::{Reading, Table, open_geo};

/// Names that --bins has for boxes over a plane.
const BOXES: usize = 5;
/// Rows that are marked on maps.
const MOST_MARKS: usize = 500;

/// What each row says.
#[derive(Debug)]
enum Said {
    Values(Vec<f64>),
    Pairs(Vec<f64>, Vec<f64>),
    Intervals(Vec<f64>, Vec<f64>),
    /// Lower and upper ends along both axes, and counts.
    Boxes([Vec<f64>; 4], Vec<f64>),
    /// Areas, and counts.
    Areas(Polygons, Vec<f64>),
}

/// The rows, and where they stand.
#[derive(Debug)]
pub struct Rows {
    /// The name of the value, or of both; a given column comes first.
    pub names: Vec<String>,
    said: Said,
    weights: Option<Vec<f64>>,
    table: Arc<Table>,
    /// Of some of the rows: where each stands in the table.
    members: Vec<usize>,
    /// Positions of the columns read.
    columns: Vec<usize>,
    /// Inside of which alone values can be.
    inside: Option<Polygons>,
}

fn builder<'a>(said: &'a Said, weights: Option<&'a [f64]>) -> Builder<'a> {
    let density = match said {
        Said::Values(values) | Said::Pairs(values, _) => Builder::new(values),
        Said::Intervals(lower, upper) => Builder::from_intervals(lower, upper),
        Said::Boxes([lower, upper, ..], counts) => {
            return Builder::from_bins(lower, upper, counts);
        }
        // Areas have no axis of their own.
        Said::Areas(..) => Builder::new(&[]),
    };
    match weights {
        Some(weights) => density.weights(weights),
        None => density,
    }
}

impl Rows {
    /// Reads the columns that are asked for.
    ///
    /// # Arguments
    /// * `path` - of the table, which people see as it is in the arguments
    pub fn read(args: &Density, path: &Path) -> Result<Self, Problems> {
        if let Some(counts) = &args.areas {
            return Self::of_areas(counts, path, &args.table);
        }
        let table = Table::open(path, &args.table)?;
        let (names, readings) = wanted(args, &table)?;
        let mut problems = Problems::default();
        let mut columns = Vec::new();
        for name in &names {
            match table.named(name) {
                Ok(at) => columns.push(at),
                Err(problem) => problems.push(problem),
            }
        }
        problems.or(())?;
        let readings: Vec<(usize, Reading)> = columns.iter().copied().zip(readings).collect();
        let mut read = table.cells(&readings)?.into_iter().map(|column| {
            column
                .into_iter()
                .map(|(value, _)| value)
                .collect::<Vec<f64>>()
        });
        let first = read.next().unwrap_or_default();
        let is_value = args.interval.is_empty() && args.bins.is_empty();
        let valued = args.column.len().max(1) + usize::from(args.given.is_some());
        let is_pair = is_value && valued == 2;
        let said = if args.bins.len() == BOXES {
            let mut next = || read.next().unwrap_or_default();
            Said::Boxes([first, next(), next(), next()], next())
        } else if is_pair {
            Said::Pairs(first, read.next().unwrap_or_default())
        } else if is_value {
            Said::Values(first)
        } else {
            Said::Intervals(first, read.next().unwrap_or_default())
        };
        let weights = read.next();
        let names = if is_value {
            names[..valued].to_vec()
        } else if args.bins.len() == BOXES {
            vec!["x".to_owned(), "y".to_owned()]
        } else {
            vec!["value".to_owned()]
        };
        Ok(Self {
            names,
            said,
            weights,
            table: Arc::new(table),
            columns,
            members: Vec::new(),
            inside: None,
        })
    }

    /// Reads areas and their counts, which stand under a name.
    fn of_areas(counts: &str, path: &Path, shown: &Path) -> Result<Self, Problems> {
        let file = open_geo(path, shown)?;
        let table = Table::from_geo(Arc::clone(&file));
        let at = table.named(counts)?;
        let cells = table.cells(&[(at, Reading::Number)])?;
        let counts = cells.into_iter().flatten().map(|(value, _)| value);
        Ok(Self {
            names: vec!["x".to_owned(), "y".to_owned()],
            said: Said::Areas(Polygons::of(&file)?, counts.collect()),
            weights: None,
            table: Arc::new(table),
            columns: vec![at],
            members: Vec::new(),
            inside: None,
        })
    }

    /// The same with the polygons of a file inside of which alone values can be; it is read under a
    /// path, and people see it as it is in the arguments.
    ///
    /// # Errors
    /// A file without polygons, and where there is but one column.
    pub fn inside(self, path: &Path, shown: &Path) -> Result<Self, Problems> {
        if self.names.len() < 2 {
            let problem =
                Problem::new("--inside is of two columns, and the density is of one".to_owned());
            return Err(problem
                .remedy("leave --inside out, or give --column twice")
                .into());
        }
        Ok(Self {
            inside: Some(Polygons::read(path, shown)?),
            ..self
        })
    }

    /// Polygons that rows lie in, and inside of which alone values can be.
    fn polygons(&self) -> impl Iterator<Item = &Polygons> {
        let areas = match &self.said {
            Said::Areas(areas, _) => Some(areas),
            Said::Values(..) | Said::Pairs(..) | Said::Intervals(..) | Said::Boxes(..) => None,
        };
        areas.into_iter().chain(&self.inside)
    }

    /// What was mended of the polygons.
    pub fn told(&self) -> Vec<String> {
        self.polygons()
            .flat_map(Polygons::warnings)
            .cloned()
            .collect()
    }

    /// Whether rows are counts in areas.
    pub fn are_areas(&self) -> bool {
        matches!(self.said, Said::Areas(..))
    }

    /// Outlines of the polygons.
    pub fn borders(&self) -> Vec<Vec<[f64; 2]>> {
        self.polygons().flat_map(Polygons::borders).collect()
    }

    /// A builder over the rows.
    pub fn density(&self) -> Builder<'_> {
        builder(&self.said, self.weights.as_deref())
    }

    /// The cells of a column, each of which names the group of its row.
    pub fn labels(&self, column: &str) -> Result<Vec<String>, Problems> {
        let at = self.table.named(column)?;
        let labels = self.table.texts(at)?;
        match labels.iter().position(String::is_empty) {
            None => Ok(labels),
            Some(row) => Err(Problem::new("the group of a row is empty".to_owned())
                .at(self.table.place(row, at))
                .remedy("name a group, or delete the row")
                .into()),
        }
    }

    /// Some of the rows.
    pub fn part(&self, members: &[usize]) -> Self {
        let of = |values: &[f64]| members.iter().map(|i| values[*i]).collect::<Vec<f64>>();
        let said = match &self.said {
            Said::Values(values) => Said::Values(of(values)),
            Said::Pairs(x, y) => Said::Pairs(of(x), of(y)),
            Said::Intervals(lower, upper) => Said::Intervals(of(lower), of(upper)),
            Said::Boxes(ends, counts) => Said::Boxes(ends.each_ref().map(|e| of(e)), of(counts)),
            // Groups are of one column.
            Said::Areas(..) => Said::Values(Vec::new()),
        };
        Self {
            names: self.names.clone(),
            said,
            weights: self.weights.as_deref().map(of),
            table: Arc::clone(&self.table),
            columns: self.columns.clone(),
            members: members.iter().map(|i| self.origin(*i)).collect(),
            inside: None,
        }
    }

    /// Where a row stands in the table.
    fn origin(&self, row: usize) -> usize {
        self.members.get(row).copied().unwrap_or(row)
    }

    /// A builder over two columns.
    ///
    /// # Errors
    /// Where there is but one.
    pub fn plane(&self) -> Result<Density2d<'_>, Problems> {
        let density = match &self.said {
            Said::Boxes([a, b, c, d], counts) => Density2d::from_bins([a, b], [c, d], counts),
            Said::Areas(areas, counts) => Density2d::from_areas(areas.as_slice(), counts),
            Said::Values(..) | Said::Pairs(..) | Said::Intervals(..) => {
                let [x, y] = self.two()?;
                Density2d::new(x, y)
            }
        };
        let density = match &self.inside {
            Some(inside) => density.inside(inside.as_slice()),
            None => density,
        };
        Ok(match &self.weights {
            Some(weights) => density.weights(weights),
            None => density,
        })
    }

    /// The same of the second column given the first.
    ///
    /// # Errors
    /// Where there is but one.
    pub fn conditional(&self) -> Result<Conditional<'_>, Problems> {
        let [x, y] = self.two()?;
        let density = Conditional::new(x, y);
        Ok(match &self.weights {
            Some(weights) => density.weights(weights),
            None => density,
        })
    }

    fn two(&self) -> Result<[&[f64]; 2], Problems> {
        self.pairs().ok_or_else(|| {
            let problem = Problem::new("two columns are needed".to_owned());
            problem.remedy("give --column twice, or --given").into()
        })
    }

    /// How many.
    #[allow(clippy::len_without_is_empty)] // Nobody asks.
    pub fn len(&self) -> usize {
        match &self.said {
            Said::Values(values) | Said::Pairs(values, _) => values.len(),
            Said::Intervals(lower, _) | Said::Boxes([lower, ..], _) => lower.len(),
            Said::Areas(_, counts) => counts.len(),
        }
    }

    /// The values, none where rows are intervals.
    pub fn values(&self) -> &[f64] {
        match &self.said {
            Said::Values(values) => values,
            Said::Pairs(..) | Said::Intervals(..) | Said::Boxes(..) | Said::Areas(..) => &[],
        }
    }

    /// The values of both columns.
    pub fn pairs(&self) -> Option<[&[f64]; 2]> {
        match &self.said {
            Said::Pairs(x, y) => Some([x, y]),
            _ => None,
        }
    }

    /// The rows of both columns, where they are few enough to be seen on a map.
    pub fn marks(&self) -> Vec<[f64; 2]> {
        let Some([x, y]) = self.pairs().filter(|[x, _]| x.len() <= MOST_MARKS) else {
            return Vec::new();
        };
        let pairs = x.iter().zip(y).map(|(x, y)| [*x, *y]);
        pairs
            .filter(|pair| pair.iter().all(|x| x.is_finite()))
            .collect()
    }

    /// Where a row stands, in one of the columns read.
    pub fn place(&self, row: usize, column: usize) -> Place {
        let boxed = matches!(self.said, Said::Boxes(..)) && column < 2;
        let column = if boxed { 2 * column } else { column };
        let column = column.min(self.columns.len() - 1);
        self.table.place(self.origin(row), self.columns[column])
    }

    /// A row in words.
    pub fn address(&self, row: usize) -> String {
        self.table.row_address(self.origin(row))
    }

    /// The last of the columns read, which is that of weights where there is one.
    pub fn last(&self) -> usize {
        self.columns.len() - 1
    }
}

/// The columns, and how each is read.
fn wanted(args: &Density, table: &Table) -> Result<(Vec<String>, Vec<Reading>), Problems> {
    let ends = [Reading::Lower, Reading::Upper];
    let weights = args.weights.iter().cloned();
    let (mut names, mut readings) = match (args.interval.as_slice(), args.bins.as_slice()) {
        ([], []) => {
            let names = match (&args.given, args.column.as_slice()) {
                (Some(given), [one]) if one == given => return Err(twice(one)),
                (Some(given), [one]) => vec![given.clone(), one.clone()],
                (Some(given), columns) => return Err(given_what(given, columns.len())),
                (None, []) => vec![only(table)?],
                (None, [one]) => vec![one.clone()],
                (None, [one, other]) if one != other => args.column.clone(),
                (None, [one, _]) => return Err(twice(one)),
                (None, more) => return Err(too_many(more.len())),
            };
            let readings = vec![Reading::NumberOrMissing; names.len()];
            (names, readings)
        }
        ([_, _], []) => (args.interval.clone(), ends.to_vec()),
        ([], [_, _, _]) => {
            let readings = ends.into_iter().chain([Reading::Number]);
            (args.bins.clone(), readings.collect())
        }
        ([], [_, _, _, _, _]) => {
            let readings = ends.into_iter().chain(ends).chain([Reading::Number]);
            (args.bins.clone(), readings.collect())
        }
        ([], given) => {
            return Err(arity(
                "--bins",
                "LO,HI,COUNT or XLO,XHI,YLO,YHI,COUNT",
                given,
            ));
        }
        (given, _) => return Err(arity("--interval", "LO,HI", given)),
    };
    names.extend(weights);
    if args.weights.is_some() {
        readings.push(Reading::Number);
    }
    Ok((names, readings))
}

fn twice(name: &str) -> Problems {
    Problem::new(format!("column `{name}` is given twice"))
        .remedy("give two different columns, or the one once")
        .into()
}

fn given_what(given: &str, columns: usize) -> Problems {
    let message = match columns {
        0 => format!("the density of which column is wanted, given `{given}`?"),
        _ => format!("--column is given {columns} times, and a density given `{given}` is of one"),
    };
    let remedy = "give one --column beside --given";
    Problem::new(message).remedy(remedy).into()
}

fn too_many(n: usize) -> Problems {
    Problem::new(format!("--column is given {n} times"))
        .remedy("a density takes one column, or two")
        .into()
}

fn arity(flag: &str, wanted: &str, given: &[String]) -> Problems {
    let message = format!("{flag} takes {wanted}, and got `{}`", given.join(","));
    Problem::new(message)
        .remedy("give the names of the columns, with commas and without spaces between them")
        .into()
}

/// The only column of numbers.
fn only(table: &Table) -> Result<String, Problems> {
    let headers = table.headers();
    let numbers: Vec<&String> = (0..headers.len())
        .filter(|at| table.has_numbers(*at))
        .map(|at| &headers[at])
        .collect();
    match numbers.as_slice() {
        [only] => Ok((*only).clone()),
        _ => {
            let found = suggest::list(headers);
            let message = format!(
                "which column? {} of those of {} hold numbers",
                if numbers.is_empty() {
                    "none".to_owned()
                } else {
                    numbers.len().to_string()
                },
                table.name()
            );
            let remedy = format!("give it with --column; its columns are {found}");
            Err(Problem::new(message)
                .at(table.whole())
                .remedy(remedy)
                .into())
        }
    }
}
