//! The outputs of tables, by the names that the study or a column gives them.

use std::ops::Range;

use super::observed::Observed;
use crate::study::fields::Check;

/// What a study says of outputs.
pub(super) struct Said<'a> {
    /// Those that the kernel mixes itself, and where it stands.
    pub kernel: (&'a [String], &'a Range<usize>),
    /// Where each [[observe]] names its output.
    pub tables: Vec<Range<usize>>,
    /// The rank of their mixing, and where it is said.
    pub rank: (usize, Option<&'a Range<usize>>),
}

/// The outputs of the tables in order of appearance, or in that of the kernel where it mixes them.
pub(super) fn outputs(
    check: &Check<'_>,
    said: &Said<'_>,
    tables: &[Observed],
    unread: bool,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for output in tables.iter().filter_map(|t| t.places.output.as_ref()) {
        if !found.contains(output) {
            found.push(output.clone());
        }
    }
    if unread || found.is_empty() {
        return found;
    }
    let span = |output: &str| {
        let table = tables
            .iter()
            .find(|t| t.places.output.as_deref() == Some(output));
        table.map_or(0..0, |t| said.tables[t.of].clone())
    };
    let (own, kernel) = said.kernel;
    if !own.is_empty() {
        for output in found.iter().filter(|output| !own.contains(output)) {
            let message = format!("the kernel has no output `{output}`");
            let remedy = format!("its outputs are {}", crate::suggest::list(own));
            check.refuse(&span(output), message, remedy);
        }
        for output in own.iter().filter(|output| !found.contains(output)) {
            let message = format!("the kernel mixes the output `{output}`, but no row is of it");
            let remedy = format!(
                "observe it, or leave it out of `coregion`; the tables have {}",
                crate::suggest::list(&found)
            );
            check.refuse(kernel, message, remedy);
        }
        return own.to_vec();
    }
    if let [only] = found.as_slice() {
        let message = format!("`{only}` is the only output; mixing needs at least two");
        // A column that tells outputs apart is easily given as the name of one.
        let is_column = tables.iter().any(|table| table.table.find(only).is_ok());
        let remedy = match is_column {
            true => {
                "it is a column of the table too: `output_column` takes the output of each row from there"
            }
            false => "leave its name out, or observe another output",
        };
        check.refuse(&span(only), message, remedy);
    }
    if let (rank, Some(at)) = said.rank
        && rank > found.len()
    {
        let message = format!("`rank` is {}, more than the {} outputs", rank, found.len());
        check.refuse(
            at,
            message,
            "a rank up to the number of outputs says all there is",
        );
    }
    let both = |name: &&String| name.contains('\'') && name.contains('"');
    for output in found.iter().filter(both) {
        let message = format!("the name of the output `{output}` has both kinds of quotes");
        check.refuse(&span(output), message, "rename it, with one kind or none");
    }
    found
}
