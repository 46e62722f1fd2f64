//! The outputs of tables, by the names that the study or a column gives them.

use super::Observed;
use crate::study::fields::Check;
use crate::study::{Observe, Output, Study, links};

/// The outputs of the tables in order of appearance, or in that of the kernel where it mixes them.
pub(super) fn outputs(
    check: &Check<'_>,
    study: &Study,
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
        let observe = table.and_then(|t| study.observe.get(t.of));
        observe.map_or(0..0, |observe| match &observe.output {
            Output::Named(name) | Output::Column(name) => name.span.clone(),
            Output::Only => observe.span.clone(),
        })
    };
    let own = &study.latent.outputs;
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
            check.refuse(&study.latent.kernel.span, message, remedy);
        }
        return own.clone();
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
    let mixing = &study.coregionalization;
    if let Some(at) = &mixing.rank_span
        && mixing.rank > found.len()
    {
        let message = format!(
            "`rank` is {}, more than the {} outputs",
            mixing.rank,
            found.len()
        );
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

/// Refuses tables that turn out to be of one output, which a column names, and cannot share its
/// function.
pub(super) fn links_of_columns(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    outputs: &[String],
) {
    for output in outputs {
        let own = |table: &&Observed| table.places.output.as_ref() == Some(output);
        let own: Vec<&Observe> = tables
            .iter()
            .filter(own)
            .filter_map(|table| study.observe.get(table.of))
            .collect();
        let is_named = |table: &&Observe| matches!(table.output, Output::Named(_));
        // Those that are named have been looked at before any table was read.
        if !own.iter().all(is_named)
            && !links::share_a_function(check, study.latent.link.as_ref(), &own)
        {
            return;
        }
    }
}
