//! What predictions need beside places: noise for new observations, and points for probabilities.

use quadrat::likelihood::Noise;

use super::{Asked, Observed, reporting};
use crate::study::fields::Check;
use crate::study::likelihood::{Reports, Scale as Means};
use crate::study::{Scale, Study, Where};

/// A prediction of new observations needs one noise variance that holds for them.
pub(super) fn new_rows_have_noise(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    predictions: &[Asked],
) {
    for asked in predictions
        .iter()
        .filter(|asked| asked.scale == Scale::Observation)
    {
        let output = asked.places.output.as_deref();
        let own = || {
            tables
                .iter()
                .filter(move |t| t.places.output.as_deref() == output)
        };
        let is_known = match study.is_exact() {
            true => one_for_all(&own().collect::<Vec<_>>()),
            false => reporting(tables, output).is_none_or(of_reporting),
        };
        if is_known {
            continue;
        }
        let message =
            "the noise differs from row to row, so that of a new observation is not known";
        let remedy = "predict `scale = \"response\"` and add the variance of the new row";
        check.refuse(&study.predict[asked.of].scale_span, message, remedy);
    }
}

/// Exact inference takes the learned noise, and the known noise that all rows share.
fn one_for_all(tables: &[&Observed]) -> bool {
    let known = |table: &Observed, row: usize| {
        let noise = table.likelihood.noise().and_then(Noise::known);
        noise.map_or(0.0, |known| known[row])
    };
    let learned = |table: &&Observed| table.likelihood.noise().is_some_and(Noise::is_learned);
    let first = tables.first().map_or(0.0, |table| known(table, 0));
    let rows = |table: &Observed| 0..table.places.len();
    let same = tables
        .iter()
        .all(|table| rows(table).all(|row| known(table, row) == first));
    let own = tables
        .iter()
        .any(|table| learned(table) && rows(table).any(|row| known(table, row) > 0.0));
    same || (tables.iter().any(learned) && !own)
}

/// The approximations take what the first table that reports values learned, and the known noise that its rows share.
fn of_reporting(table: &Observed) -> bool {
    match (&table.says.reports, table.likelihood.noise()) {
        (_, Some(noise)) => {
            let known = noise.known().unwrap_or(&[]);
            known.iter().all(|variance| *variance == known[0])
        }
        (Reports::Laplace { scale, .. }, None) => scale.column().is_none(),
        _ => true,
    }
}

/// Refuses totals and averages of probabilities.
pub(super) fn behind_a_link(
    check: &Check<'_>,
    study: &Study,
    tables: &[Observed],
    predictions: &[Asked],
) {
    for asked in predictions {
        let Some(table) = reporting(tables, asked.places.output.as_deref()) else {
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
