//! Why a study gave nothing, for those who do not read our errors.

use quadrat::error::FitError;

use crate::diagnostic::{Paint, Problem, Problems};
use crate::engine::NotConverged;

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
