//! Correlations as the cells of a square.

use crate::figure::CorrelationFigure;
use crate::format::{count, fixed, rounded};
use crate::palette::{SIDES, at};

use super::interval_words;

/// Things drawn of a figure: cells for more could not hold their values.
pub(crate) const CORRELATED: usize = 16;
/// Colours this dark take white letters: luminance, 0 to 255.
const DARK: f64 = 128.0;

/// A cell with a value.
pub(crate) struct Cell {
    /// Row, from the top.
    pub row: usize,
    /// Column, from the left.
    pub column: usize,
    /// The value with two decimals.
    pub words: String,
    /// The value with its interval.
    pub told: String,
    /// Its colour.
    pub fill: (u8, u8, u8),
    /// Whether letters on it are white.
    pub dark: bool,
}

/// What is drawn.
pub(crate) struct Square<'a> {
    pub names: &'a [String],
    /// Without the diagonal; a pair has two.
    pub cells: Vec<Cell>,
    /// What the diagonal tells, one per name.
    pub diagonal: Vec<String>,
    /// What the values are.
    pub quantity: &'static str,
    pub remarks: Vec<String>,
}

impl Square<'_> {
    /// Whether there is something to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

/// The cells of the first things; pairs without a finite value, or of things without a name, are
/// left out.
pub(crate) fn prepare(figure: &CorrelationFigure) -> Square<'_> {
    let names = &figure.names[..figure.names.len().min(CORRELATED)];
    let mut remarks = Vec::new();
    if names.len() < figure.names.len() {
        remarks.push(format!(
            "The first {} of {} are drawn.",
            count(names.len()),
            count(figure.names.len())
        ));
    }
    let told = match figure.covariances.is_empty() {
        true => correlations(figure, names.len()),
        false => covariances(figure, names.len()),
    };
    let cells = told.cells.into_iter().flat_map(|told| {
        let fill = at(&SIDES, 0.5 * (told.correlation + 1.0));
        let luminance =
            0.2126 * f64::from(fill.0) + 0.7152 * f64::from(fill.1) + 0.0722 * f64::from(fill.2);
        let (first, second) = told.pair;
        [(first, second), (second, first)].map(|(row, column)| Cell {
            row,
            column,
            words: told.words.clone(),
            told: told.told.clone(),
            fill,
            dark: luminance < DARK,
        })
    });
    Square {
        names,
        cells: cells.collect(),
        diagonal: told.diagonal,
        quantity: told.quantity,
        remarks,
    }
}

/// What the cells of a square say.
struct Told {
    cells: Vec<Pair>,
    diagonal: Vec<String>,
    quantity: &'static str,
}

/// What the two cells of a pair say.
struct Pair {
    pair: (usize, usize),
    correlation: f64,
    words: String,
    told: String,
}

fn correlations(figure: &CorrelationFigure, names: usize) -> Told {
    let shown = figure
        .pairs
        .iter()
        .filter(|p| p.value.is_finite() && p.first != p.second && p.first.max(p.second) < names);
    let cells = shown.map(|pair| {
        let value = pair.value.clamp(-1.0, 1.0);
        let mut told = fixed(value, 2);
        if pair.lower <= pair.upper {
            let (lower, upper) = (fixed(pair.lower, 2), fixed(pair.upper, 2));
            let interval = interval_words(figure.level);
            told = format!("{told} ({interval}: {lower} to {upper})");
        }
        Pair {
            pair: (pair.first, pair.second),
            correlation: value,
            words: fixed(value, 2),
            told,
        }
    });
    Told {
        cells: cells.collect(),
        diagonal: vec!["1".to_owned(); names],
        quantity: "correlation",
    }
}

fn covariances(figure: &CorrelationFigure, names: usize) -> Told {
    let count = figure.names.len();
    let entry = |i: usize, j: usize| {
        let known = figure.covariances.get(i * count + j);
        known.copied().unwrap_or(f64::NAN)
    };
    let pairs = (0..names).flat_map(|i| (i + 1..names).map(move |j| (i, j)));
    let cells = pairs.filter_map(|(i, j)| {
        let value = entry(i, j);
        let size = (entry(i, i) * entry(j, j)).sqrt();
        let correlation = if size > 0.0 { value / size } else { 0.0 };
        let words = rounded(value);
        value.is_finite().then(|| Pair {
            pair: (i, j),
            correlation: correlation.clamp(-1.0, 1.0),
            told: format!("{words} (correlation {})", fixed(correlation, 2)),
            words,
        })
    });
    Told {
        cells: cells.collect(),
        diagonal: (0..names).map(|i| rounded(entry(i, i))).collect(),
        quantity: "covariance",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Correlated, Heading};

    fn figure(names: usize, pairs: Vec<Correlated>) -> CorrelationFigure {
        CorrelationFigure {
            heading: Heading::default(),
            names: (0..names).map(|i| i.to_string()).collect(),
            pairs,
            level: 0.95,
            covariances: Vec::new(),
        }
    }

    #[test]
    fn covariances_are_told_and_coloured_by_their_correlation() {
        let mut figure = figure(2, Vec::new());
        figure.covariances = vec![4.0, -3.0, -3.0, 9.0];
        let square = prepare(&figure);
        assert_eq!(square.diagonal, ["4", "9"]);
        assert_eq!(square.cells[1].words, "\u{2212}3");
        assert_eq!(square.cells[1].told, "\u{2212}3 (correlation \u{2212}0.50)");
        assert_eq!(square.cells[0].fill, at(&SIDES, 0.25));
        // Too few entries leave nothing to tell.
        figure.covariances.truncate(1);
        assert!(prepare(&figure).is_empty());
    }

    fn pair(first: usize, second: usize, value: f64) -> Correlated {
        Correlated {
            first,
            second,
            value,
            lower: value - 0.1,
            upper: value + 0.1,
        }
    }

    #[test]
    fn a_pair_has_two_cells_of_one_colour() {
        let figure = figure(2, vec![pair(0, 1, -0.75)]);
        let square = prepare(&figure);
        let at = |i: usize| (square.cells[i].row, square.cells[i].column);
        assert_eq!((at(0), at(1)), ((0, 1), (1, 0)));
        assert_eq!(square.cells[0].fill, square.cells[1].fill);
        assert_eq!(square.cells[0].words, "\u{2212}0.75");
        assert_eq!(
            square.cells[1].told,
            "\u{2212}0.75 (95\u{a0}% interval: \u{2212}0.85 to \u{2212}0.65)"
        );
        assert!(square.cells[0].dark);
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out_and_the_cut_is_told() {
        let odd = vec![pair(0, 0, 1.0), pair(0, 9, 0.5), pair(0, 1, f64::NAN)];
        assert!(prepare(&figure(2, odd)).is_empty());
        let many = figure(20, vec![pair(0, 19, 0.5), pair(0, 1, 0.0)]);
        let square = prepare(&many);
        assert_eq!((square.names.len(), square.cells.len()), (16, 2));
        assert_eq!(square.remarks, ["The first 16 of 20 are drawn."]);
        assert!(!square.cells[0].dark);
    }
}
