//! Rates by single year, and what they say.

use std::ops::Range;

use super::answer::Answer;
use super::cells::Cells;
use super::error::Warning;
use super::life::{LifeSpan, LifeTable};
use super::tail::Tail;
use super::weighted::{self, DrawSummary};
use crate::linalg::Mat;

/// Rates in the steps that were asked for, with intervals.
#[derive(Debug, Clone)]
pub struct Rates {
    pub(super) cells: Cells,
    /// The rate of every cell, and the exposure there, by draws, shape `[cells, draws]`.
    pub(super) rates: Mat<f64>,
    pub(super) exposure: Mat<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) level: f64,
    pub(super) told: Vec<DrawSummary>,
    pub(super) warnings: Vec<Warning>,
    pub(super) effective: f64,
    /// The same of settings, in numbers.
    pub(super) settings: f64,
    /// The first cell of the open band; none where the last band was closed.
    pub(super) open: Option<usize>,
    pub(super) tail: Option<(Tail, f64, f64)>,
}

/// The rate of a step, by draws: that of its cells by their exposure.
pub(super) fn of_step(step: &Range<usize>, rates: &Mat<f64>, exposure: &Mat<f64>) -> Vec<f64> {
    let one = |k: usize| {
        let (mut events, mut people) = (0.0, 0.0);
        for i in step.clone() {
            events += exposure[(i, k)] * rates[(i, k)];
            people += exposure[(i, k)];
        }
        events / people
    };
    (0..rates.ncols()).map(one).collect()
}

impl Rates {
    /// Lower and upper edge of every step, ascending.
    #[must_use]
    pub fn edges(&self) -> &[(f64, f64)] {
        &self.cells.told
    }

    fn column(&self, of: impl Fn(&DrawSummary) -> f64) -> Vec<f64> {
        self.told.iter().map(of).collect()
    }

    /// Means of the rates.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        self.column(|told| told.mean)
    }

    /// Standard deviations.
    #[must_use]
    pub fn sd(&self) -> Vec<f64> {
        self.column(|told| told.sd)
    }

    /// Lower ends of the intervals.
    #[must_use]
    pub fn lower(&self) -> Vec<f64> {
        self.column(|told| told.lower)
    }

    /// Medians.
    #[must_use]
    pub fn median(&self) -> Vec<f64> {
        self.column(|told| told.median)
    }

    /// Upper ends of the intervals.
    #[must_use]
    pub fn upper(&self) -> Vec<f64> {
        self.column(|told| told.upper)
    }

    /// Rates drawn from the posterior, of equal weight, shape `[steps, count]`.
    #[must_use]
    pub fn draws(&self, count: usize) -> Mat<f64> {
        let (all, chosen) = (self.weighted(), weighted::chosen(&self.weights, count));
        Mat::from_fn(all.nrows(), count, |step, k| all[(step, chosen[k])])
    }

    /// The sum of the rates over the steps that are told, times their widths: of births by all ages
    /// of mothers the children that a woman has.
    #[must_use]
    pub fn sum(&self) -> Answer {
        let all = self.weighted();
        let ends = &self.cells.edges;
        let widths: Vec<f64> = self
            .cells
            .step
            .iter()
            .map(|s| ends[s.end] - ends[s.start])
            .collect();
        let sum = |k: usize| {
            let own = all.col_as_slice(k).iter().zip(&widths);
            own.map(|(rate, width)| rate * width).sum()
        };
        let values: Vec<f64> = (0..all.ncols()).map(sum).collect();
        weighted::answer(&values, &self.weights, self.level)
    }

    /// Rates of every step, by weighted draws, shape `[steps, draws]`.
    fn weighted(&self) -> Mat<f64> {
        let steps = self.cells.step.iter();
        let columns: Vec<Vec<f64>> = steps
            .map(|s| of_step(s, &self.rates, &self.exposure))
            .collect();
        Mat::from_fn(columns.len(), self.weights.len(), |step, k| {
            columns[step][k]
        })
    }

    /// A life table of a hundred thousand who are alive where the steps begin, from the rates as
    /// rates of dying. It is made of all cells up to the end of the axis, whatever steps are told.
    #[must_use]
    pub fn life_table(&self) -> LifeTable {
        let first = self.cells.step.first().map_or(0, |step| step.start);
        let all = first..self.cells.len();
        let cells: Vec<(f64, f64)> = all.map(|i| self.cells.cell(i)).collect();
        let steps = self.cells.step.iter();
        let span = LifeSpan {
            steps: steps.map(|s| s.start - first..s.end - first).collect(),
            open: self.open.map(|open| open.saturating_sub(first)),
            has_infants: cells.first() == Some(&(0.0, 1.0)),
            cells,
        };
        let of = |all: &Mat<f64>| {
            let one = |i: usize, k: usize| all[(first + i, k)];
            Mat::from_fn(span.cells.len(), self.weights.len(), one)
        };
        let drawn = (&of(&self.rates), &of(&self.exposure));
        span.table(self.cells.told.clone(), drawn, &self.weights, self.level)
    }

    /// How the exposure falls off in the last band, where that begins, and where it ends.
    #[must_use]
    pub fn tail(&self) -> Option<(Tail, f64, f64)> {
        self.tail
    }

    /// What should be known before the result is trusted.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How many draws of equal weight say as much as the weighted ones, over how many there are.
    #[must_use]
    pub fn effective(&self) -> f64 {
        self.effective
    }

    /// How many settings of equal weight say as much as those that are averaged over.
    #[must_use]
    pub fn effective_settings(&self) -> f64 {
        self.settings
    }
}
