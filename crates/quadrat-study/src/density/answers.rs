//! What every estimate gives, in the forms in which it is told.

use serde_json::Value;

use super::asked::Of;
use crate::columns::Table;
use crate::diagnostic::Problems;

/// An estimate with all that is told of it.
pub trait Answers {
    /// What it is: "Density of speed".
    fn title(&self) -> String;

    /// Every estimate with the name of its group, one without a name where there are none.
    fn parts(&self) -> Vec<(String, Of<'_>)>;

    /// The table.
    ///
    /// # Errors
    /// Where it would be of more numbers than are written.
    fn table(&self) -> Result<Table, Problems>;

    /// Sentences for a page.
    fn sentences(&self) -> Vec<String>;

    /// What should be known before it is trusted.
    fn warnings(&self) -> Vec<String>;

    /// Everything as JSON.
    fn json(&self) -> Value;
}
