//! What is wanted of a posterior at some places, and what it answers.

use quadrat::model::{Finer, Limits};

use crate::simple::Simple;
use crate::study::Scale;

/// What is wanted at some places.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// What for.
    pub scale: Scale,
    /// Probability of the interval.
    pub level: f64,
    /// Whether marginals are those given that they are not negative.
    pub non_negative: bool,
    /// Which probabilities, besides.
    pub chances: Chances,
    /// Which table it is about, where that is said.
    pub table: Option<usize>,
    /// Between which numbers it reports, where its reports are asked for.
    pub limits: Option<Limits>,
}

/// Probabilities wanted of every row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chances {
    /// Limits to exceed.
    pub above: Vec<f64>,
    /// The number of ranks, where that of each is wanted; else zero.
    pub ranks: usize,
    /// Simple methods whose means stand beside.
    pub simple: Vec<Simple>,
    /// How many functions are drawn.
    pub draws: usize,
}

impl Chances {
    /// The names of their columns, in the order of [`Answer::chances`].
    pub fn columns(&self) -> Vec<String> {
        let above = self.above.iter().map(|&limit| match limit.abs() {
            0.0 | 1e-5..1e15 => format!("above_{limit}"),
            _ => format!("above_{limit:e}"),
        });
        let ranks = (1..=self.ranks).map(|rank| format!("rank_{rank}"));
        above.chain(ranks).collect()
    }

    /// The names of all columns behind those of the marginals: draws come last.
    pub fn all_columns(&self) -> Vec<String> {
        let mut columns = self.columns();
        columns.extend(self.simple.iter().map(|simple| simple.name().to_owned()));
        columns.extend((1..=self.draws).map(draw_name));
        columns
    }
}

/// The name of a draw, counted from 1.
pub fn draw_name(draw: usize) -> String {
    format!("draw_{draw}")
}

/// Marginals at some places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub sd: Vec<f64>,
    /// Lower ends of the interval.
    pub lower: Vec<f64>,
    /// Medians.
    pub median: Vec<f64>,
    /// Upper ends of the interval.
    pub upper: Vec<f64>,
    /// Names and values of the columns of [`Chances`].
    pub chances: Vec<(String, Vec<f64>)>,
    /// Means of simple methods.
    pub simple: Vec<(Simple, Vec<f64>)>,
    /// Joint draws of all rows.
    pub draws: Vec<Vec<f64>>,
    /// Means before they were cut off at zero; empty where they were not.
    pub uncut: Vec<f64>,
    /// Rows far outside the data.
    pub far: Vec<usize>,
    /// Rows with a label that no row was observed with.
    pub new_labels: Vec<usize>,
    /// Rows finer than what was observed, where the fit is smooth, by input.
    pub finer: Vec<Finer>,
    /// Rows whose sds are not known, but that they are not larger.
    pub unresolved: Vec<usize>,
    /// New observations at the same places, where their noise varies and the response was asked.
    pub noisy: Option<Box<Answer>>,
}

impl Answer {
    /// The answers of some rows, ascending, to be drawn: without what is told of rows.
    pub fn rows(&self, rows: &[usize]) -> Self {
        let some = |all: &Vec<f64>| -> Vec<f64> {
            let own = rows.iter();
            own.filter_map(|&row| all.get(row).copied()).collect()
        };
        let chances = self.chances.iter();
        Self {
            mean: some(&self.mean),
            sd: some(&self.sd),
            lower: some(&self.lower),
            median: some(&self.median),
            upper: some(&self.upper),
            chances: chances
                .map(|(name, all)| (name.clone(), some(all)))
                .collect(),
            simple: (self.simple.iter())
                .map(|(simple, all)| (*simple, some(all)))
                .collect(),
            draws: self.draws.iter().map(some).collect(),
            uncut: some(&self.uncut),
            noisy: self.noisy.as_ref().map(|noisy| Box::new(noisy.rows(rows))),
            ..Self::default()
        }
    }
}
