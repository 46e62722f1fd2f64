//! Which rows are judged, and which of them are held out together.

use quadrat::error::InputError;
use quadrat::validation::Folds;
use quadrat_study::diagnostic::{Problem, Problems, shown};
use quadrat_study::engine;
use quadrat_study::keys::canonical;
use quadrat_study::resolve::{Observed, Resolved};
use quadrat_study::study::{Observe, Study};
use quadrat_study::suggest;

use crate::args::Score;

/// Folds unless another number is asked for.
const FOLDS: usize = 10;

/// The rows of one [[observe]].
#[derive(Debug)]
pub struct Scored {
    /// Which [[observe]] it is.
    pub of: usize,
    /// Its tables, one for each output.
    pub tables: Vec<usize>,
    /// Table (by its place in `tables`) and row of everything that is judged.
    pub rows: Vec<(usize, usize)>,
}

/// Which [[observe]] is judged: the one that is named, else the first that reports values.
pub fn which(study: &Study, named: Option<&str>) -> Result<usize, Problems> {
    let reports = |observe: &Observe| observe.likelihood.is_report();
    let found = match named {
        None => study.observe.iter().position(reports),
        Some(name) => {
            let is_it = |o: &Observe| o.shown_name() == name || o.file.value == name;
            study.observe.iter().position(is_it)
        }
    };
    match (found, named) {
        (Some(of), _) if reports(&study.observe[of]) => Ok(of),
        (Some(_), _) => {
            let message = "--table names rows that only say that the function is positive, which no prediction can be held against";
            Err(Problem::new(message)
                .remedy("name a table that reports values")
                .into())
        }
        (None, named) => {
            let all: Vec<String> = study
                .observe
                .iter()
                .map(|o| o.shown_name().to_owned())
                .collect();
            let message = format!("no table is called `{}`", shown(named.unwrap_or("")));
            let remedy = format!("--table may be {}", suggest::list(&all));
            Err(Problem::new(message).remedy(remedy).into())
        }
    }
}

/// The name of the column of what is judged.
pub fn value_name(study: &Study, of: usize) -> String {
    let columns = study.observe[of].likelihood.columns();
    let first = columns.first();
    first.map_or_else(|| "value".to_owned(), |(name, _)| name.value.clone())
}

impl Scored {
    /// The rows of an [[observe]] that report something.
    pub fn new(resolved: &Resolved, of: usize) -> Result<Self, Problems> {
        let own = |(_, table): &(usize, &Observed)| table.of == of;
        let all = resolved.tables.iter().enumerate();
        let tables: Vec<usize> = all.filter(own).map(|(at, _)| at).collect();
        let rows_of = |(part, &table): (usize, &usize)| {
            let observed = &resolved.tables[table];
            let rows = (0..observed.places.len()).filter(|row| !observed.says_nothing(*row));
            rows.map(move |row| (part, row)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = tables.iter().enumerate().flat_map(rows_of).collect();
        match rows.len() {
            0 | 1 => {
                let file = &resolved.study.observe[of].file;
                let message = format!(
                    "`{}` has {} row that says anything: nothing is left to predict it from",
                    file.value,
                    rows.len()
                );
                let remedy =
                    "judge the fit by true values (--truth), or by another table (--table)";
                let place = resolved.study.source.place(&file.span);
                Err(Problem::new(message).at(place).remedy(remedy).into())
            }
            _ => Ok(Self { of, tables, rows }),
        }
    }

    /// Its rows in folds.
    pub fn folds(&self, resolved: &Resolved, args: &Score) -> Result<Folds, Problems> {
        let asked = args.folds.map(|k| k as usize);
        let count = |most: usize| asked.unwrap_or(FOLDS.min(most));
        let rows = self.rows.len();
        match args.by.as_str() {
            "rows" => Folds::random(rows, count(rows), args.seed)
                .map_err(|error| few(&error, rows, "rows")),
            "block" => {
                let places = self.places(resolved)?;
                Folds::blocks(&places, count(rows)).map_err(|error| few(&error, rows, "rows"))
            }
            column => {
                let labels = self.labels(resolved, column)?;
                let mut known: Vec<&String> = labels.iter().collect();
                known.sort_unstable();
                known.dedup();
                let groups = known.len();
                Folds::by_label(&labels, count(groups), args.seed)
                    .map_err(|error| few(&error, groups, "groups"))
            }
        }
    }

    /// The cell of every row in a column.
    fn labels(&self, resolved: &Resolved, column: &str) -> Result<Vec<String>, Problems> {
        let mut cells = Vec::new();
        for &table in &self.tables {
            let observed = &resolved.tables[table];
            let at = observed.table.find(column).map_err(|mut problem| {
                problem.message = format!("--by: {}", problem.message);
                problem
            })?;
            cells.push(observed.table.keys(at)?);
        }
        let cell = |&(part, row): &(usize, usize)| {
            let kept = &resolved.tables[self.tables[part]].kept;
            canonical(&cells[part][kept.get(row).copied().unwrap_or(row)]).to_owned()
        };
        Ok(self.rows.iter().map(cell).collect())
    }

    /// The middle of every row along the inputs of the model.
    fn places(&self, resolved: &Resolved) -> Result<Vec<Vec<f64>>, Problems> {
        let mut middles = Vec::new();
        for &table in &self.tables {
            let rows = engine::observations(&resolved.tables[table]);
            let rows = rows.map_err(|error| Problem::new(error.to_string()))?;
            let at = rows.supports();
            let middle = |row: usize, d: usize| {
                let (lower, upper) = at.extent(row, d);
                lower + (upper - lower) / 2.0
            };
            // Codes of labels are no coordinates.
            let is_place = |d: &usize| !resolved.codes.holds(&at.dims()[*d]);
            let mut dims: Vec<usize> = (0..at.dims().len()).filter(is_place).collect();
            if dims.is_empty() {
                dims = (0..at.dims().len()).collect();
            }
            let place = |row| dims.iter().map(|&d| middle(row, d)).collect();
            middles.push((0..at.len()).map(place).collect::<Vec<Vec<f64>>>());
        }
        let rows = self.rows.iter();
        Ok(rows
            .map(|&(part, row)| middles[part][row].clone())
            .collect())
    }
}

fn few(error: &InputError, count: usize, what: &str) -> Problems {
    let folds = match error {
        InputError::Range { value, .. } => *value,
        _ => f64::NAN,
    };
    let message = format!(
        "{folds} folds cannot be made of {count} {what} that are held out together or alone"
    );
    let remedy = match count {
        0 | 1 => "hold out by another column, or `--by rows`".to_owned(),
        most => format!("take --folds 2 to {most}"),
    };
    Problem::new(message).remedy(remedy).into()
}
