//! Violins, ready to draw: half-widths in shares of a column.

use super::{Key, evenly, interval_words, padded, range, widened};
use crate::figure::{Violin, ViolinFigure};
use crate::format::count;
use crate::palette::{INK, PREDICTED};

/// Violins drawn of a figure.
const VIOLINS: usize = 60;
/// Places drawn of a violin.
const PLACES: usize = 240;
/// Half of what is drawn, at most, as a share of the column.
const HALF: f64 = 0.48;
/// Bands are cut off at so many times the highest density of all, so that one of few rows does not
/// make all others narrow.
const REACH: f64 = 2.0;

/// A figure ready to draw; the column of violin `i` reaches from `i` to `i + 1`.
pub(crate) struct Violins<'a> {
    pub shown: Vec<Shape<'a>>,
    pub range: (f64, f64),
    pub keys: Vec<Key>,
    pub remarks: Vec<String>,
}

/// A violin ready to draw.
pub(crate) struct Shape<'a> {
    pub violin: &'a Violin,
    /// Middle of the column.
    pub middle: f64,
    /// Value, half-widths of the density and of the ends of its band.
    pub outline: Vec<[f64; 4]>,
    /// The two quartiles with the half-widths of the density there.
    pub quartiles: [(f64, f64); 2],
}

/// Measures a figure.
pub(crate) fn prepare(figure: &ViolinFigure) -> Violins<'_> {
    let mut remarks = Vec::new();
    let all = &figure.violins;
    if all.len() > VIOLINS {
        let (some, all) = (count(VIOLINS), count(all.len()));
        remarks.push(format!("The first {some} of {all} groups are drawn."));
    }
    let rows: Vec<(&Violin, Vec<[f64; 4]>)> = all
        .iter()
        .take(VIOLINS)
        .map(|violin| (violin, finite(violin)))
        .filter(|(_, rows)| rows.len() > 1)
        .collect();
    let all = || rows.iter().flat_map(|(_, rows)| rows);
    let largest = |of: usize| range(all().map(|row| row[of])).map_or(1.0, |ends| ends.1);
    let most = largest(3).min(REACH * largest(1)).max(f64::MIN_POSITIVE);
    let share = |density: f64| HALF * (density / most).min(1.0);
    if all().any(|row| row[3] > most) {
        remarks.push("Bands that are wider are cut off at the column.".to_owned());
    }
    let shown: Vec<Shape<'_>> = rows
        .into_iter()
        .enumerate()
        .map(|(i, (violin, rows))| {
            let outline: Vec<[f64; 4]> = evenly(rows.len(), PLACES)
                .into_iter()
                .map(|at| {
                    let [value, density, lower, upper] = rows[at];
                    [value, share(density), share(lower), share(upper)]
                })
                .collect();
            let [low, _, high] = violin.quartiles;
            Shape {
                violin,
                middle: i as f64 + 0.5,
                quartiles: [low, high].map(|value| (value, between(&outline, value))),
                outline,
            }
        })
        .collect();
    let ends = shown
        .iter()
        .flat_map(|s| s.outline.iter().map(|row| row[0]));
    let keys = match shown.is_empty() {
        true => Vec::new(),
        false => vec![
            Key::new("line", PREDICTED[0], "Density, on one scale"),
            Key::new(
                "band",
                PREDICTED[0],
                format!("Its {}", interval_words(figure.level)),
            ),
            Key::new(
                "dot",
                INK,
                format!("Median, {}", interval_words(figure.level)),
            ),
            Key::new("dashes", INK, "Quartiles"),
        ],
    };
    Violins {
        range: padded(widened(range(ends), false), 0.03),
        keys,
        shown,
        remarks,
    }
}

/// The rows that are finite, densities not below zero and within their band.
fn finite(violin: &Violin) -> Vec<[f64; 4]> {
    let lists = [&violin.density, &violin.lower, &violin.upper];
    let n = lists.iter().map(|l| l.len()).min().unwrap_or(0);
    (0..n.min(violin.at.len()))
        .map(|i| {
            [
                violin.at[i],
                violin.density[i],
                violin.lower[i],
                violin.upper[i],
            ]
        })
        .filter(|row| row.iter().all(|x| x.is_finite()))
        .map(|[at, density, lower, upper]| {
            let density = density.max(0.0);
            [at, density, lower.clamp(0.0, density), upper.max(density)]
        })
        .collect()
}

/// The half-width of the density at a value; zero beyond the outline.
fn between(outline: &[[f64; 4]], value: f64) -> f64 {
    let next = outline.partition_point(|row| row[0] < value);
    match (
        next.checked_sub(1).and_then(|i| outline.get(i)),
        outline.get(next),
    ) {
        (Some(a), Some(b)) => {
            let share = (value - a[0]) / (b[0] - a[0]);
            a[1] + share * (b[1] - a[1])
        }
        (None, Some(b)) if b[0] == value => b[1],
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violin(height: f64) -> Violin {
        Violin {
            at: vec![0.0, 1.0, 2.0],
            density: vec![0.0, height, 0.0],
            lower: vec![0.0, 0.5 * height, 0.0],
            upper: vec![0.0, 3.0 * height, f64::NAN],
            quartiles: [0.5, 1.0, 1.5],
            ..Violin::default()
        }
    }

    #[test]
    fn violins_have_one_scale_and_quartiles_end_at_the_density() {
        let mut whole = violin(1.0);
        whole.upper[2] = 0.0;
        let figure = ViolinFigure {
            violins: vec![violin(1.0), whole, violin(0.25)],
            ..ViolinFigure::default()
        };
        let drawn = prepare(&figure);
        // The row without a number is left out; bands are cut off at the column.
        assert_eq!(drawn.shown[0].outline, [[0.0; 4], [1.0, 0.24, 0.12, 0.48]]);
        assert_eq!(drawn.remarks.len(), 1);
        assert_eq!(drawn.shown[1].quartiles, [(0.5, 0.12), (1.5, 0.12)]);
        assert_eq!(drawn.shown[2].outline[1], [1.0, 0.06, 0.03, 0.18]);
        assert_eq!(drawn.shown[2].middle, 2.5);
    }
}
