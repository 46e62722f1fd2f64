//! What predictions need beside places: averages for new successes.

use super::asked::{Asked, reporting};
use super::observed::Observed;
use crate::study::fields::Check;
use crate::study::likelihood::Scale as Means;
use crate::study::support::Aggregate;
use crate::study::{Study, Where};

/// What there is none of.
pub const SUMMED: &str = "probabilities that were added up have no new observation";

/// Refuses new successes of summed probabilities.
pub(super) fn behind_a_link(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    predictions: &[Asked],
) {
    for asked in predictions {
        let Some(table) = reporting(tables, asked) else {
            continue;
        };
        if table.says.scale() != Means::Probability || !asked.scale.is_observed() {
            continue;
        }
        if asked.places.aggregate != Some(Aggregate::Sum) {
            continue;
        }
        let predict = &study.predict[asked.of];
        let span = match &predict.place {
            Where::Grid { axes, .. } => axes.first().map(|(name, _)| name.span.clone()),
            Where::File { support, .. } => Some(support.span.clone()),
            Where::Rows { .. } => None,
        };
        let span = span.unwrap_or_else(|| predict.name.span.clone());
        check.refuse(
            &span,
            format!(
                "{SUMMED} of `{}`, which are trials of one probability",
                table.says.name.value
            ),
            "write `aggregate = \"mean\"`, with `trials` for more than one; or leave `scale` out for the expected successes of the sum",
        );
    }
}
