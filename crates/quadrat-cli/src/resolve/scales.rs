//! What predictions need beside places: noise for new observations, and points for probabilities.

use quadrat::likelihood::Noise;

use super::Observed;
use crate::study::fields::Check;
use crate::study::likelihood::{Reports, Scale as Means};
use crate::study::{Scale, Study, Where};

/// A prediction of new observations needs one noise variance that holds for them.
pub(super) fn new_rows_have_noise(check: &Check<'_>, study: &Study, tables: &[Observed]) {
    let message = if study.is_exact() {
        if one_for_all(tables) {
            return;
        }
        "the noise variances differ from row to row, so that of a new observation is not known"
    } else {
        if of_reporting(tables) {
            return;
        }
        "the noise of the rows is given and not learned, so that of a new observation is not known"
    };
    for predict in study
        .predict
        .iter()
        .filter(|predict| predict.scale == Scale::Observation)
    {
        let remedy = "predict `scale = \"response\"` and add the variance of the new row";
        check.refuse(&predict.scale_span, message, remedy);
    }
}

/// Exact inference takes the learned noise, and the known noise that all rows share.
fn one_for_all(tables: &[Observed]) -> bool {
    let known = |table: &Observed, row: usize| {
        let noise = table.likelihood.noise().and_then(Noise::known);
        noise.map_or(0.0, |known| known[row])
    };
    let learned = |table: &Observed| table.likelihood.noise().is_some_and(Noise::is_learned);
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

/// The approximations take what the first table that reports values learned.
fn of_reporting(tables: &[Observed]) -> bool {
    let Some(table) = tables.iter().find(|table| table.says.is_report()) else {
        return true;
    };
    match (&table.says.reports, table.likelihood.noise()) {
        (_, Some(Noise::Learned)) => true,
        (_, Some(_)) => false,
        (Reports::Laplace { scale, .. }, None) => scale.column().is_none(),
        _ => true,
    }
}

/// Refuses totals and averages of probabilities.
pub(super) fn behind_a_link(check: &Check<'_>, study: &Study) {
    let Some(table) = study.reporting() else {
        return;
    };
    if table.likelihood.scale() != Means::Probability {
        return;
    }
    for predict in &study.predict {
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
        if !wide || predict.scale == Scale::Latent {
            continue;
        }
        let span = span.unwrap_or_else(|| predict.name.span.clone());
        check.later(
            &span,
            &format!(
                "predicting `{}` over boxes, regions or bags",
                table.likelihood.name.value
            ),
            "predict at points (a grid without `cells = true`): probabilities there",
        );
    }
}
