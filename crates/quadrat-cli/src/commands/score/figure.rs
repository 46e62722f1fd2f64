//! The figure of `quadrat score`: do intervals hold, and who is better by how much.

use std::path::Path;

use anyhow::Result;
use quadrat::validation::{HeldOut, LEVELS, Method, RowScore, Score};
use quadrat_plot::{
    Axis, CalibrationFigure, Compared, Coverage, Figure, ForestFigure, ForestRow, Heading, LeftOut,
};

use super::judged::{Judged, LEVEL, Told};
use super::said;
use crate::commands::figures::drawn;

/// The most rows that are drawn as dots.
const DRAWN: usize = 2000;
/// Standard errors on either side of a difference that make its 95 % interval.
const WIDTH: f64 = 1.96;

/// The figures as a file: a page holds both, an image the calibration.
pub fn figure(path: &Path, title: &str, judged: &Judged) -> Result<Vec<u8>> {
    let mut figures = Vec::new();
    if let Some(ours) = judged.methods.first() {
        figures.extend(calibration(judged, ours));
        figures.extend(scores(judged));
    }
    let title = format!("{title}: how good are predictions?");
    drawn(
        path,
        &title,
        said::sentences(judged),
        judged.warnings.clone(),
        figures,
    )
}

/// How often intervals of ours hold, and every row against its prediction.
fn calibration(judged: &Judged, ours: &Method) -> Option<Figure> {
    let told = |row: &RowScore| row.pit.is_some();
    let total = ours.rows.iter().filter(|row| told(row)).count();
    if total == 0 {
        return None;
    }
    let coverage = |nominal: f64| {
        let is_inside = |row: &&RowScore| row.is_inside(nominal) == Some(true);
        Coverage {
            nominal,
            held: ours.rows.iter().filter(is_inside).count(),
            total,
        }
    };
    let is_held_out = judged.rows.iter().any(|row| row.fold.is_some());
    let told = judged.told.first()?;
    let one = |(row, told): (&super::judged::Row, &Told)| {
        let (HeldOut::Value(observed), Some((_, lower, upper))) = (row.reported, told.spread)
        else {
            return None;
        };
        Some(LeftOut {
            label: format!("row {}", row.number),
            observed,
            mean: told.mean,
            lower,
            upper,
        })
    };
    let rows = judged.rows.iter().zip(told).filter_map(one);
    let words = match is_held_out {
        true => "Each row, predicted by a fit that has not seen it",
        false => "True values and predictions",
    };
    Some(Figure::Calibration(CalibrationFigure {
        heading: Heading::new("calibration", words),
        value: Axis::new(&judged.value),
        coverage: LEVELS.into_iter().map(coverage).collect(),
        pit: ours.rows.iter().filter_map(|row| row.pit).collect(),
        rows: rows.take(DRAWN).collect(),
        level: LEVEL,
        compared: match is_held_out {
            true => Compared::LeftOut,
            false => Compared::Truth,
        },
    }))
}

/// The score that most methods have, with its error.
fn scores(judged: &Judged) -> Option<Figure> {
    let of = |score: Score| judged.lines.iter().filter(move |line| line.score == score);
    let score = [Score::Mae, Score::Crps, Score::Nll]
        .into_iter()
        .max_by_key(|score| of(*score).count())?;
    let rows: Vec<ForestRow> = of(score)
        .map(|line| {
            let reach = WIDTH * line.se.unwrap_or(0.0);
            ForestRow {
                label: line.method.clone(),
                mean: line.value,
                lower: line.value - reach,
                upper: line.value + reach,
                ..ForestRow::default()
            }
        })
        .collect();
    (rows.len() > 1).then(|| {
        Figure::Forest(ForestFigure {
            heading: Heading::new("scores", "Scores of all methods").with_caption(
                "Means over all rows with their 95 % intervals; smaller is better. Rows are the same for all methods, so that a difference can be surer than the intervals look.".to_owned(),
            ),
            value: Axis::new(format!("{} (smaller is better)", score.name())),
            rows,
            level: LEVEL,
            label: "Mean score".to_owned(),
            ..ForestFigure::default()
        })
    })
}
