//! Columns of an answer that would have one name.

use crate::answer::Chances;
use crate::places::Places;
use crate::prediction_csv;
use crate::study::Predict;
use crate::study::fields::Check;

/// Refuses a table in which two columns would have one name.
pub(super) fn no_column_twice(
    check: &Check<'_>,
    predict: &Predict,
    places: &Places,
    chances: &Chances,
) {
    // Columns that were asked for are left out where they were.
    let kept = |name: &str| {
        predict
            .beside
            .keep
            .iter()
            .find(|column| column.value == name)
    };
    let span = |name: &str| match (&predict.ranks, &predict.draws) {
        _ if kept(name).is_some() => kept(name).map_or(&predict.name.span, |column| &column.span),
        _ if name.starts_with("above_") && !predict.above.is_empty() => &predict.above_span,
        (Some(ranks), _) if name.starts_with("rank_") => ranks,
        (_, Some(draws)) if name.starts_with("draw_") => &draws.span,
        _ => &predict.name.span,
    };
    if let Some(name) = prediction_csv::property_clash(places, chances) {
        let span = span(&name);
        let message = format!(
            "the features have a property `{name}` already, which would be that of the prediction"
        );
        check.refuse(span, message, "rename or remove that property in the file");
    }
    if let Some(name) = prediction_csv::clash(places, chances) {
        let span = span(&name);
        let message = format!("the table of this prediction would have two columns named `{name}`");
        let remedy = match kept(&name) {
            Some(_) => "leave it out of `keep`: the table has a column of that name without it",
            None => "rename that column in the tables and in the study",
        };
        check.refuse(span, message, remedy);
    }
}
