//! A study from a program: read and checked, fitted, its predictions answered.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::columns::Writer;
use crate::density::study::{CheckedDensity, DensityOutcome};
use crate::diagnostic::Problems;
use crate::engine::Running;
use crate::fit_json;
use crate::function::CheckedFunction;
use crate::outcome::Outcome;
use crate::simple::Simple;
use crate::study::{self, AnyStudy};
use crate::ungroup::study::{CheckedUngroup, UngroupOutcome};

/// Where a study is.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// In a file; paths in it are relative to its folder.
    File(&'a Path),
    /// In a file that people know under another path, the second.
    Copy(&'a Path, &'a Path),
    /// In a text, with the folder that its paths are relative to.
    Text(&'a str, &'a Path),
}

/// What of a study its caller says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Simple methods beside the predictions of a function, in place of those of the study.
    pub baseline: Option<Vec<Simple>>,
    /// Whether nothing is predicted: the outcome has a model, and no tables.
    pub fit_only: bool,
}

/// A study with its tables read and everything compared: what can be refused before anything is
/// computed was. Its caller may refuse more, such as outputs in the place of inputs.
pub enum Checked {
    /// Of a function.
    Function(Box<CheckedFunction>),
    /// Of a density.
    Density(Box<CheckedDensity>),
    /// Of bands.
    Ungroup(Box<CheckedUngroup>),
}

/// What a study gave.
pub enum AnyOutcome {
    /// A function.
    Function(Box<Outcome>),
    /// A density.
    Density(Box<DensityOutcome>),
    /// Bands in smaller steps.
    Ungroup(Box<UngroupOutcome>),
}

/// Runs a study: what `quadrat run` and Python's `quadrat.run` compute.
///
/// # Errors
/// What is wrong with the study or its tables, before anything is computed; and where the fit
/// fails. [`refused`](fn@crate::refused) tells them apart.
pub fn run(source: Source<'_>, options: &Options, running: &Running) -> Result<AnyOutcome> {
    check(open(source)?, options)?.run(running)
}

/// The first step of [`run`]: reads a study, and nothing else. Its caller may refuse one of this
/// kind before tables are read.
///
/// # Errors
/// What is wrong with the study.
pub fn open(source: Source<'_>) -> Result<AnyStudy, Problems> {
    match source {
        Source::File(path) => study::open_any(path, path),
        Source::Copy(path, shown) => study::open_any(path, shown),
        Source::Text(text, folder) => study::any_in(folder, Path::new("study"), text),
    }
}

/// The second step of [`run`]: reads the tables, and compares everything; [`Checked::run`] is the
/// third.
///
/// # Errors
/// What is wrong with the tables, or with the study beside them.
pub fn check(study: AnyStudy, options: &Options) -> Result<Checked> {
    Ok(match study {
        AnyStudy::Function(mut study) => {
            if let Some(simple) = &options.baseline {
                study.baseline.clone_from(simple);
            }
            Checked::Function(Box::new(CheckedFunction::new(*study, options.fit_only)?))
        }
        AnyStudy::Density(study) => {
            Checked::Density(Box::new(CheckedDensity::new(*study, options.fit_only)?))
        }
        AnyStudy::Ungroup(study) if options.fit_only => return Err(study.refused().into()),
        AnyStudy::Ungroup(study) => Checked::Ungroup(Box::new(CheckedUngroup::new(*study)?)),
    })
}

impl Checked {
    /// The files that the study reads, but itself.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        match self {
            Self::Function(checked) => checked.resolved.inputs(),
            Self::Density(checked) => checked.inputs(),
            Self::Ungroup(checked) => checked.inputs(),
        }
    }

    /// The names of the files that its tables and maps are written to: those of
    /// [`AnyOutcome::files`], but where it is only fitted, which gives none.
    #[must_use]
    pub fn outputs(&self) -> Vec<String> {
        match self {
            Self::Function(checked) => checked.outputs(),
            Self::Density(checked) => checked.tables().map(csv).collect(),
            Self::Ungroup(checked) => checked.tables().map(csv).collect(),
        }
    }

    /// Whether it tells how far it is while it runs.
    #[must_use]
    pub fn reports_progress(&self) -> bool {
        match self {
            Self::Function(_) | Self::Density(_) => true,
            Self::Ungroup(checked) => checked.study.args.along.is_some(),
        }
    }

    /// The last step of [`run`].
    ///
    /// # Errors
    /// Where the fit fails.
    pub fn run(self, running: &Running) -> Result<AnyOutcome> {
        Ok(match self {
            Self::Function(checked) => AnyOutcome::Function(Box::new(checked.run(running)?)),
            Self::Density(checked) => {
                AnyOutcome::Density(Box::new(checked.run(running.watcher())?))
            }
            Self::Ungroup(checked) => {
                AnyOutcome::Ungroup(Box::new(checked.run(running.watcher())?))
            }
        })
    }
}

impl AnyOutcome {
    /// The title of the study.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Function(outcome) => &outcome.resolved.study.title,
            Self::Density(outcome) => &outcome.study.written.title,
            Self::Ungroup(outcome) => &outcome.study.written.title,
        }
    }

    /// The text of `fit.json`.
    ///
    /// # Errors
    /// A number that JSON cannot hold.
    pub fn json(&self) -> Result<Cow<'_, str>> {
        Ok(match self {
            Self::Function(outcome) => fit_json::text(outcome)?.into(),
            Self::Density(outcome) => fit_json::pretty(&outcome.json)?.into(),
            Self::Ungroup(outcome) => outcome.json.as_str().into(),
        })
    }

    /// Everything people should know.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Function(outcome) => outcome.warnings.clone(),
            Self::Density(outcome) => [outcome.warnings(), outcome.noticed.clone()].concat(),
            Self::Ungroup(outcome) => outcome.warnings(),
        }
    }

    /// The bytes of the model file; empty of bands, which have none.
    #[must_use]
    pub fn model(&self) -> Vec<u8> {
        match self {
            Self::Function(outcome) => outcome.posterior.to_bytes(),
            Self::Density(outcome) => outcome.model(),
            Self::Ungroup(_) => Vec::new(),
        }
    }

    /// The tables and maps as files: the name of each, and what writes it.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Writer<'_>)> {
        let tables = match self {
            Self::Function(outcome) => return outcome.files(),
            Self::Density(outcome) => &outcome.tables,
            Self::Ungroup(outcome) => &outcome.tables,
        };
        let files = tables.iter().map(|table| {
            let write: Writer<'_> = Box::new(move |out| table.write(out));
            (csv(&table.name), write)
        });
        files.collect()
    }
}

/// The file of a table.
fn csv(table: &str) -> String {
    format!("{table}.csv")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use quadrat::progress::{Event, Progress};

    use super::*;
    use crate::{Column, Found, Refused, refused};

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
        let outcome = run(source, &Options::default(), &Running::default()).unwrap();
        let found = Found::of(outcome).unwrap();
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

    /// Counts the events it hears.
    #[derive(Default)]
    struct Heard(AtomicUsize);

    impl Progress for Heard {
        fn report(&self, _: Event) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn studies_of_densities_tell_how_far_they_are() {
        let rows: String = (0..40).map(|i| format!("{i},{}\n", i % 2)).collect();
        let folder = folder(&format!("x,g\n{rows}"));
        for more in ["", "group = \"g\"\n", "given = \"g\"\n"] {
            let study = format!("[density]\nfile = \"a.csv\"\ncolumn = \"x\"\ngrid = 30\n{more}");
            let heard = Arc::new(Heard::default());
            let running = Running {
                progress: Some(Arc::clone(&heard) as _),
                ..Running::default()
            };
            run(
                Source::Text(&study, folder.path()),
                &Options::default(),
                &running,
            )
            .unwrap();
            assert!(heard.0.load(Ordering::Relaxed) > 5, "{more}");
        }
    }

    #[test]
    fn what_is_wrong_comes_with_its_place() {
        let folder = folder("x,y\n0,1\n1,two\n");
        let study = open(Source::Text(STUDY, folder.path())).unwrap();
        let refused = refused(&check(study, &Options::default()).err().unwrap());
        let Refused::Input(faults, text) = refused else {
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
