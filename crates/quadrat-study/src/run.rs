//! A study from a program: opened, checked, fitted, its predictions answered.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use quadrat::error::FitError;
use quadrat::model::Posterior;
use quadrat::progress::{Keeper, Progress, Silent};

use crate::answer::Answer;
use crate::beside;
use crate::density;
use crate::diagnostic::{Paint, Problem, Problems};
use crate::engine::{self, NotConverged, Running};
use crate::fit_json;
use crate::numbers::own_number;
use crate::outcome::Outcome;
use crate::overlap::once;
use crate::places::Places;
use crate::prediction_csv::{self, Cell};
use crate::redundant::distinct;
use crate::resolve::{Resolved, resolve};
use crate::study::{self, AnyStudy, DensityStudy, Study, UngroupStudy};
use crate::ungroup;

/// Where a study is.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// In a file; paths in it are relative to its folder.
    File(&'a Path),
    /// In a text, with the folder that its paths are relative to.
    Text(&'a str, &'a Path),
}

/// Who hears of a fit, and who may stop it.
#[derive(Clone, Default)]
pub struct Hooks {
    /// Told of progress.
    pub progress: Option<Arc<dyn Progress + Send + Sync>>,
    /// May stop the fit between two of its steps, where it takes such.
    pub stopper: Option<Arc<dyn Keeper + Send + Sync>>,
}

/// What a study gave.
#[derive(Debug)]
pub struct Found {
    /// The title of the study.
    pub title: String,
    /// The text of `fit.json`.
    pub json: String,
    /// Everything people should know.
    pub warnings: Vec<String>,
    /// The tables of its predictions, in order.
    pub tables: Vec<Table>,
    /// The same of regions as GeoJSON: a name and the text.
    pub maps: Vec<(String, String)>,
    /// The posterior of a function; none of a density or of bands.
    pub posterior: Option<Posterior>,
    /// The bytes of the model file; empty of bands, which have none.
    pub model: Vec<u8>,
}

/// The table of a prediction, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of the prediction.
    pub name: String,
    /// Its columns, in the order of the CSV.
    pub columns: Vec<(String, Column)>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Keys, labels and names of outputs.
    Texts(Vec<String>),
}

/// Why a study gave nothing.
#[derive(Debug)]
pub enum Refused {
    /// What the user gave is at fault: every problem, and all of them as the program tells them.
    Input(Vec<Fault>, String),
    /// The search for hyperparameters, or the approximation, did not converge.
    NotConverged(String),
    /// It was stopped before there was an answer.
    Stopped,
    /// Anything else.
    Failed(String),
}

/// One thing that is wrong, where, and how to mend it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// The fact.
    pub message: String,
    /// The file, as it was named.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<usize>,
    /// The column of that line, from 1, in characters.
    pub column: Option<usize>,
    /// The column of a table.
    pub column_name: Option<String>,
    /// How to mend it.
    pub remedies: Vec<String>,
}

/// Runs a study: the numbers are those of `quadrat run`.
///
/// # Errors
/// [`Refused::Input`] for what is wrong with the study or its tables, before anything is computed;
/// the others where the fit fails.
pub fn run(source: Source<'_>, hooks: &Hooks) -> Result<Found, Refused> {
    let found = || -> Result<Found> {
        let study = match opened(source)? {
            AnyStudy::Function(study) => *study,
            AnyStudy::Density(study) => return of_density(&study),
            AnyStudy::Ungroup(study) => return of_bands(&study),
        };
        let running = Running {
            progress: hooks.progress.clone(),
            keeper: None,
            stopper: hooks.stopper.clone(),
        };
        let resolved = resolved(study)?;
        let model = engine::model(&resolved)?;
        let mut outcome = Outcome::compute(resolved, &model, &running)?;
        beside::add(&mut outcome);
        gathered(outcome)
    };
    found().map_err(|error| refused(&error))
}

fn opened(source: Source<'_>) -> Result<AnyStudy, Problems> {
    match source {
        Source::File(path) => study::open_any(path, path),
        Source::Text(text, folder) => study::any_in(folder, Path::new("study"), text),
    }
}

fn of_density(study: &DensityStudy) -> Result<Found> {
    let computed = density::study::compute(study)?;
    let tables = computed.tables.iter();
    let tables = tables.map(|(name, csv)| of_text(name, csv));
    Ok(Found {
        title: study.written.title.clone(),
        json: computed.json,
        warnings: computed.warnings,
        tables: tables.collect::<Result<_>>()?,
        maps: Vec::new(),
        posterior: None,
        model: computed.model,
    })
}

fn of_bands(study: &UngroupStudy) -> Result<Found> {
    let computed = ungroup::study::compute(study, &Silent)?;
    let left_out = computed.left_out(study);
    let tables = computed.tables.iter();
    let tables = tables.map(|(name, csv)| of_text(name, csv));
    Ok(Found {
        title: study.written.title.clone(),
        tables: tables.collect::<Result<_>>()?,
        maps: Vec::new(),
        posterior: None,
        model: Vec::new(),
        warnings: computed.warnings.into_iter().chain(left_out).collect(),
        json: computed.json,
    })
}

/// A table from the text that we have written.
fn of_text(name: &str, csv: &str) -> Result<Table> {
    Ok(Table {
        name: name.to_owned(),
        columns: columns_of_text(csv)?,
    })
}

/// The columns of a table that we have written: every number reads back as the same number.
fn columns_of_text(text: &str) -> Result<Vec<(String, Column)>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); header.len()];
    for record in reader.records() {
        let record = record?;
        let own = record.iter().map(str::to_owned);
        cells
            .iter_mut()
            .zip(own)
            .for_each(|(all, cell)| all.push(cell));
    }
    let number = |cell: &String| own_number(cell);
    let column = |cells: Vec<String>| {
        let numbers: Option<Vec<f64>> = cells.iter().map(number).collect();
        numbers.map_or_else(|| Column::Texts(cells), Column::Numbers)
    };
    Ok(header
        .into_iter()
        .zip(cells.into_iter().map(column))
        .collect())
}

/// A study with its tables read, as it is fitted: without rows that follow from others, and with
/// every event counted once.
pub fn resolved(study: Study) -> Result<Resolved> {
    once(distinct(resolve(study)?)?)
}

fn gathered(outcome: Outcome) -> Result<Found> {
    let mut maps = Vec::new();
    let mut tables = Vec::new();
    for group in outcome.groups() {
        let parts = group.iter();
        let parts: Vec<_> = parts
            .map(|(asked, answer)| (&asked.places, *answer))
            .collect();
        tables.push(Table {
            name: group[0].0.name.clone(),
            columns: columns(&parts),
        });
        for (asked, answer) in group {
            if prediction_csv::has_regions(&asked.places) {
                let mut text = Vec::new();
                prediction_csv::write_geo(&mut text, &asked.places, answer)?;
                maps.push((asked.id.clone(), String::from_utf8(text)?));
            }
        }
    }
    Ok(Found {
        title: outcome.resolved.study.title.clone(),
        json: fit_json::text(&outcome)?,
        warnings: outcome.warnings,
        tables,
        maps,
        model: outcome.posterior.to_bytes(),
        posterior: Some(outcome.posterior),
    })
}

/// The columns of a table that stands in parts, one below the other.
fn columns(parts: &[(&Places, &Answer)]) -> Vec<(String, Column)> {
    let Some((places, answer)) = parts.first() else {
        return Vec::new();
    };
    let header = prediction_csv::whole_header(places, answer);
    let mut columns: Vec<Vec<Cell>> = vec![Vec::new(); header.len()];
    for (places, answer) in parts {
        for at in 0..places.len() {
            let cells = prediction_csv::whole_row(places, answer, at);
            columns
                .iter_mut()
                .zip(cells)
                .for_each(|(all, cell)| all.push(cell));
        }
    }
    header
        .into_iter()
        .zip(columns.into_iter().map(column))
        .collect()
}

/// Numbers, unless a cell is a text.
fn column(cells: Vec<Cell>) -> Column {
    let numbers: Option<Vec<f64>> = cells.iter().map(Cell::number).collect();
    numbers.map_or_else(
        || Column::Texts(cells.into_iter().map(text).collect()),
        Column::Numbers,
    )
}

fn text(cell: Cell) -> String {
    match cell {
        Cell::Text(text) => text,
        other => other.number().map_or_else(String::new, |x| x.to_string()),
    }
}

/// What an error within says to those outside.
#[must_use]
pub fn refused(error: &anyhow::Error) -> Refused {
    let problems = error.downcast_ref::<Problems>();
    if let (Some(problems), Some(_)) = (problems, error.downcast_ref::<NotConverged>()) {
        return Refused::NotConverged(problems.render(Paint::plain()));
    }
    if let Some(problems) = problems {
        let faults = problems.0.iter().map(fault).collect();
        return Refused::Input(faults, problems.render(Paint::plain()));
    }
    let told = format!("{error:#}");
    let fit = error.chain().find_map(|e| e.downcast_ref::<FitError>());
    match fit {
        Some(FitError::Stopped) => return Refused::Stopped,
        Some(FitError::NotConverged { .. } | FitError::NotSettled { .. }) => {
            return Refused::NotConverged(told);
        }
        Some(FitError::Input(_)) => {
            let fault = Fault {
                message: told.clone(),
                ..Fault::default()
            };
            return Refused::Input(vec![fault], told);
        }
        _ => {}
    }
    Refused::Failed(told)
}

fn fault(problem: &Problem) -> Fault {
    let place = problem.place.as_ref();
    let spot = place.and_then(|place| place.spot.as_ref());
    Fault {
        message: problem.message.clone(),
        file: place.map(|place| place.file.clone()),
        line: spot.map(|spot| spot.line),
        // There is no text to count in where a table is binary.
        column: spot.filter(|s| !s.text.is_empty()).map(|spot| spot.column),
        column_name: place.and_then(|place| place.column_name.clone()),
        remedies: problem.remedies.iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"
[latent]
kernel = "se(x)"
[[observe]]
file = "a.csv"
support = { point = ["x"] }
likelihood = { gaussian = { value = "y", variance = 0.1 } }
[[predict]]
name = "at"
support = { grid = { x = { from = 0, to = 2, step = 1 } } }
"#;

    fn folder(table: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), table).unwrap();
        folder
    }

    #[test]
    fn a_study_in_a_text_gives_tables_by_column() {
        let folder = folder("x,y\n0,1\n1,2\n2,1.5\n3,0.5\n");
        let source = Source::Text(STUDY, folder.path());
        let found = run(source, &Hooks::default()).unwrap();
        let table = &found.tables[0];
        let names: Vec<&str> = table
            .columns
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["x", "mean", "sd", "lower", "median", "upper"]);
        assert_eq!(table.columns[0].1, Column::Numbers(vec![0.0, 1.0, 2.0]));
        assert!(found.json.contains("\"converged\": true"), "{}", found.json);
        assert_eq!((found.maps.len(), table.name.as_str()), (0, "at"));
    }

    #[test]
    fn labels_that_look_like_numbers_stay_as_they_are() {
        let table = columns_of_text("code,x\n007,0.5\n010,-0.25\n").unwrap();
        let texts = ["007", "010"].map(str::to_owned).to_vec();
        assert_eq!(table[0], ("code".to_owned(), Column::Texts(texts)));
        assert_eq!(table[1].1, Column::Numbers(vec![0.5, -0.25]));
    }

    #[test]
    fn what_is_wrong_comes_with_its_place() {
        let folder = folder("x,y\n0,1\n1,two\n");
        let refused = run(Source::Text(STUDY, folder.path()), &Hooks::default());
        let Err(Refused::Input(faults, text)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((faults[0].line, faults[0].column), (Some(3), Some(3)));
        assert_eq!(faults[0].column_name.as_deref(), Some("y"));
        assert!(
            faults[0]
                .file
                .as_ref()
                .is_some_and(|f| f.ends_with("a.csv"))
        );
        assert!(
            text.contains("a.csv:3:3") && !faults[0].remedies.is_empty(),
            "{text}"
        );
    }
}
