//! Predictions that want draws, their own where they meet totals.

use std::collections::HashSet;

use super::asked::{Asked, reporting};
use super::meet::{self, Meeting};
use super::observed::Observed;
use crate::functionals::apart;
use crate::numbers::count;
use crate::study::fields::Check;
use crate::study::{Scale, Study};

/// Different points that are drawn together, at most.
pub const MOST_POINTS: usize = 4000;

/// Why there are no draws of new observations.
pub const NOT_OBSERVED: &str =
    "draws are of functions and their totals, without the noise of new observations";
/// Why there are none where marginals are truncated.
pub const NOT_TRUNCATED: &str =
    "draws do not know of `non_negative`, which cuts every predicted value by itself";

/// Refuses totals of what meets none, and draws of what is not drawn, and of too many places.
pub(super) fn suits(check: &Check<'_>, study: &Study, tables: &[Observed], predictions: &[Asked]) {
    let mut points: [HashSet<Vec<u64>>; 2] = Default::default();
    for (at, asked) in predictions.iter().enumerate() {
        let predict = &study.predict[asked.of];
        // These have draws of their own.
        if let (Some(meet), Some(totals)) = (&predict.meet, &asked.meet) {
            let meeting = Meeting {
                meet,
                totals,
                places: &asked.places,
                non_negative: asked.non_negative,
                is_again: at > 0 && predictions[at - 1].of == asked.of,
                likelihood: reporting(tables, asked).map(|table| &table.likelihood),
            };
            meet::suits(check, &meeting);
            continue;
        }
        let Some(draws) = &predict.draws else {
            continue;
        };
        let table = reporting(tables, asked);
        let likelihood = table.map(|table| &table.likelihood);
        if predict.scale == Scale::Row {
            continue;
        }
        if predict.scale.is_observed() {
            check.refuse(&draws.span, NOT_OBSERVED, "leave `scale` or `draws` out");
            continue;
        }
        if asked.non_negative {
            check.refuse(
                &draws.span,
                NOT_TRUNCATED,
                "leave `draws` out, or write `non_negative = false` here",
            );
            continue;
        }
        let link = likelihood.and_then(|l| l.mean_link());
        let all = &mut points[usize::from(predict.scale == Scale::Latent)];
        let before = all.len();
        match predict.scale {
            Scale::Response if link.is_some() => nodes(study, asked, all),
            _ => all.extend((0..asked.places.len()).map(|row| vec![asked.of as u64, row as u64])),
        }
        if all.len() > MOST_POINTS && before <= MOST_POINTS {
            let message = format!(
                "functions would be drawn at {} at once, more than {MOST_POINTS}",
                count(all.len(), "point")
            );
            check.refuse(
                &draws.span,
                message,
                "ask for fewer places in the predictions with `draws`, such as a part of the pixels",
            );
        }
    }
}

/// Different points of all rows; boxes and regions as one each.
fn nodes(study: &Study, asked: &Asked, all: &mut HashSet<Vec<u64>>) {
    let places = &asked.places;
    let set = apart(places);
    // What is wrong with it is said where it is predicted.
    let Ok(set) = set.and_then(|set| set.select(&study.latent.columns)) else {
        return;
    };
    let output = places.output.iter().flat_map(|name| name.bytes());
    let output: Vec<u64> = output.map(u64::from).collect();
    for row in 0..set.len() {
        let along = (0..set.dims().len()).map(|d| set.extent(row, d));
        let key = along.flat_map(|(low, high)| [(low + 0.0).to_bits(), (high + 0.0).to_bits()]);
        all.insert(key.chain(output.iter().copied()).collect());
    }
}
