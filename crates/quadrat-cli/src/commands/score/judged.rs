//! Predictions of rows that are known, scored.

use anyhow::Result;
use quadrat::model::Prediction;
use quadrat::validation::{HeldOut, Line, Method, RowScore, point_scores, row_scores, summary};
use quadrat_study::simple::Simple;

/// The level of the intervals that are written.
pub const LEVEL: f64 = 0.95;

/// What one method says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// Its mean.
    pub mean: f64,
    /// Standard deviation and ends of the interval; none of a method that tells one number.
    pub spread: Option<(f64, f64, f64)>,
}

/// A row that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number in the table, counted from 1.
    pub number: usize,
    /// The fold in which it was held out, counted from 1.
    pub fold: Option<usize>,
    /// What it reported.
    pub reported: HeldOut,
}

/// All methods, judged by the same rows.
#[derive(Debug)]
pub struct Judged {
    /// The rows.
    pub rows: Vec<Row>,
    /// Scores of every row; ours first.
    pub methods: Vec<Method>,
    /// What every method says of every row.
    pub told: Vec<Vec<Told>>,
    /// Means of scores.
    pub lines: Vec<Line>,
    /// What the rows report, in words.
    pub value: String,
    /// What people should know.
    pub warnings: Vec<String>,
}

/// What a method says of some rows, and how good that is.
pub type Part = (Vec<Told>, Vec<RowScore>);

/// What is predicted of a fold, by the parts of its table, and the warnings of its fit.
pub type Predicted = (Vec<(usize, Part)>, Vec<String>);

/// From a distribution of every row, of which `first` is the number.
pub fn of_prediction(prediction: &Prediction, reported: &[HeldOut], first: usize) -> Result<Part> {
    let scores = row_scores(prediction, reported, first)?;
    if prediction.is_certain() {
        return Ok((of_means(prediction.mean()), scores));
    }
    let tail = (1.0 - LEVEL) / 2.0;
    let ends = prediction.tabulate(&[tail, 1.0 - tail], &[]).quantiles;
    let one = |row: usize| Told {
        mean: prediction.mean()[row],
        spread: Some((prediction.sd()[row], ends[0][row], ends[1][row])),
    };
    Ok(((0..reported.len()).map(one).collect(), scores))
}

/// From one number for every row.
pub fn of_points(means: &[f64], reported: &[HeldOut]) -> Result<Part> {
    Ok((of_means(means), point_scores(means, reported)?))
}

fn of_means(means: &[f64]) -> Vec<Told> {
    let one = |&mean: &f64| Told { mean, spread: None };
    means.iter().map(one).collect()
}

impl Judged {
    /// Ours and the simple methods, each with what it says of every row.
    pub fn new(
        (rows, units): (Vec<Row>, Vec<usize>),
        ours: Part,
        simple: Vec<(Simple, Part)>,
        (value, warnings): (String, Vec<String>),
    ) -> Result<Self> {
        let own = std::iter::once((quadrat_study::simple::OURS, ours));
        let others = simple
            .into_iter()
            .map(|(simple, part)| (simple.name(), part));
        let (mut methods, mut told) = (Vec::new(), Vec::new());
        for (name, (says, scores)) in own.chain(others) {
            methods.push(Method {
                name: name.to_owned(),
                rows: scores,
            });
            told.push(says);
        }
        let lines = summary(&methods, &units)?;
        Ok(Self {
            rows,
            methods,
            told,
            lines,
            value,
            warnings,
        })
    }
}
