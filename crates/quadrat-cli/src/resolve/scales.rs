//! What predictions need beside places: points for probabilities.

use super::{Asked, Observed, reporting};
use crate::study::fields::Check;
use crate::study::likelihood::Scale as Means;
use crate::study::{Scale, Study, Where};

/// Refuses totals and averages of probabilities.
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
        if table.says.scale() != Means::Probability || asked.scale == Scale::Latent {
            continue;
        }
        let predict = &study.predict[asked.of];
        let (wide, span) = match &predict.place {
            Where::Grid { axes, .. } => (
                axes.iter().any(|(_, axis)| axis.cells),
                axes.first().map(|(name, _)| name.span.clone()),
            ),
            Where::File { support, .. } => (
                support.has_boxes() || support.shape.is_some(),
                Some(support.span.clone()),
            ),
        };
        if !wide {
            continue;
        }
        let span = span.unwrap_or_else(|| predict.name.span.clone());
        check.later(
            &span,
            &format!(
                "predicting `{}` over boxes, regions or bags",
                table.says.name.value
            ),
            "predict at points (a grid without `cells = true`): probabilities there",
        );
    }
}
