//! Places as warnings speak of them: what their rows are called, and are for the library.

use quadrat::error::InputError;
use quadrat::model::Posterior;
use quadrat::support::Functionals;

use crate::functionals::functionals;
use crate::places::Places;
use crate::study::support::Aggregate;

/// Where predictions were asked for, as warnings speak of it.
pub trait Where {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// What a row is called: "row 3 (x = 2)".
    fn called(&self, row: usize) -> String;

    /// The output of all rows, where there are several.
    fn output(&self) -> Option<&str>;

    /// Sum or average over what has a width; `None` for points.
    fn aggregate(&self) -> Option<Aggregate>;

    /// All rows at their output, as the library takes them.
    ///
    /// # Errors
    /// Where they cannot be made.
    fn functionals(&self, posterior: &Posterior) -> Result<Functionals, InputError>;
}

impl Where for Places {
    fn rows(&self) -> usize {
        self.len()
    }

    fn called(&self, row: usize) -> String {
        format!("row {} ({})", row + 1, self.describe(row))
    }

    fn output(&self) -> Option<&str> {
        self.output.as_deref()
    }

    fn aggregate(&self) -> Option<Aggregate> {
        self.aggregate
    }

    fn functionals(&self, posterior: &Posterior) -> Result<Functionals, InputError> {
        let at = functionals(self, 0..self.len())?;
        match &self.output {
            Some(output) => posterior.at_output(&at, output),
            None => Ok(at),
        }
    }
}
