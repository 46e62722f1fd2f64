//! Errors of the library as Python exceptions, which are defined in `quadrat._errors`.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use quadrat::error::{FitError, InputError, LoadError};
use quadrat::support::RegionError;
use quadrat_study::{Fault, Refused};

/// Whatever the library says no with.
#[derive(Debug)]
pub enum Failure {
    /// The input.
    Input(InputError),
    /// A fit or a prediction.
    Fit(FitError),
    /// A saved model.
    Load(LoadError),
    /// A study.
    Study(Refused),
    /// What the user gave, in words.
    Data(String),
    /// A fit that found nothing to be told, in words.
    NotConverged(String),
}

/// Results of work in the library.
pub type Outcome<T> = Result<T, Failure>;

macro_rules! from {
    ($($kind:ident $error:ty),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$kind(error)
            }
        })+
    };
}

from!(Input InputError, Fit FitError, Load LoadError, Study Refused);

impl From<RegionError> for Failure {
    fn from(error: RegionError) -> Self {
        Self::Data(error.to_string())
    }
}

impl Failure {
    /// The exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Input(error) => of_input(py, &error),
            Self::Fit(FitError::Input(error)) => of_input(py, &error),
            Self::Fit(FitError::Stopped) => stopped(),
            Self::Fit(error) => {
                let name = match error {
                    FitError::NotConverged { .. } | FitError::NotSettled { .. } => "NotConverged",
                    FitError::Contradiction { .. } | FitError::Total { .. } => "DataError",
                    _ => "FitError",
                };
                exception(py, name, &error.to_string())
            }
            Self::Load(error) => exception(py, "LoadError", &error.to_string()),
            Self::Data(message) => exception(py, "DataError", &message),
            Self::NotConverged(message) => exception(py, "NotConverged", &message),
            Self::Study(Refused::Input(faults, text)) => of_faults(py, &faults, &text),
            Self::Study(Refused::NotConverged(message)) => exception(py, "NotConverged", &message),
            Self::Study(Refused::Stopped) => stopped(),
            Self::Study(Refused::Failed(message)) => exception(py, "FitError", &message),
        }
    }
}

/// Refuses more draws than anyone has the memory for.
pub fn few_enough(draws: usize, rows: usize) -> Outcome<()> {
    const MOST: usize = 1 << 31;
    match draws.checked_mul(rows.max(1)) {
        Some(numbers) if numbers <= MOST => Ok(()),
        _ => Err(Failure::Data(format!(
            "{draws} draws of {rows} rows are too many to hold; take fewer, or rows in parts"
        ))),
    }
}

/// A refusal of the library, after the name of the argument that it is about where it does not
/// begin with that. "The first band" is no word of an argument `first`.
pub fn named(argument: &str, message: &str) -> Failure {
    let begun = message.strip_prefix(argument).or_else(|| {
        let of = message.strip_prefix("the ")?.strip_prefix(argument)?;
        (of.starts_with(" is ") || of.starts_with(" of ")).then_some(of)
    });
    let follows = [": ", ", ", " is ", " of ", " must ", " has "];
    let is_named = begun.is_some_and(|rest| follows.iter().any(|word| rest.starts_with(word)));
    Failure::Data(match is_named {
        true => message.to_owned(),
        false => format!("{argument}: {message}"),
    })
}

fn stopped() -> PyErr {
    PyKeyboardInterrupt::new_err("the fit was stopped before there was an answer")
}

/// An exception of `quadrat._errors`.
pub fn exception(py: Python<'_>, name: &str, message: &str) -> PyErr {
    let made = || {
        py.import("quadrat._errors")?
            .getattr(name)?
            .call1((message,))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// With the row, where one is at fault.
fn of_input(py: Python<'_>, error: &InputError) -> PyErr {
    let message = error.to_string();
    let row = match error {
        InputError::NotFinite { row, value, .. } | InputError::Range { row, value, .. } => {
            Some((*row, Some(*value)))
        }
        InputError::ZeroWidth { row, .. } => Some((*row, None)),
        _ => None,
    };
    let Some((row, value)) = row else {
        return exception(py, "DataError", &message);
    };
    let problem = || {
        let problem = PyDict::new(py);
        problem.set_item("message", &message)?;
        problem.set_item("row", row)?;
        problem.set_item("value", value)?;
        Ok(problem)
    };
    with_problems(py, &message, [problem()])
}

fn of_faults(py: Python<'_>, faults: &[Fault], text: &str) -> PyErr {
    let problem = |fault: &Fault| {
        let problem = PyDict::new(py);
        problem.set_item("message", &fault.message)?;
        problem.set_item("file", &fault.file)?;
        problem.set_item("line", fault.line)?;
        problem.set_item("column", fault.column)?;
        problem.set_item("column_name", &fault.column_name)?;
        problem.set_item("remedies", &fault.remedies)?;
        Ok(problem)
    };
    with_problems(py, text, faults.iter().map(problem))
}

fn with_problems<'py>(
    py: Python<'py>,
    message: &str,
    problems: impl IntoIterator<Item = PyResult<Bound<'py, PyDict>>>,
) -> PyErr {
    let made = || {
        let all: Vec<Bound<'py, PyDict>> = problems.into_iter().collect::<PyResult<_>>()?;
        let class = py.import("quadrat._errors")?.getattr("DataError")?;
        class.call1((message.trim_end(), all))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}
