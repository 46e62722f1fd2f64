//! The prior of log rates, and what bands see of them.

use super::axis::Axis;
use super::bands::Bands;
use super::cells::Cells;
use super::error::UngroupError;
use super::prior::{self, Setting, Term};
use crate::inference::pooled::{NodePrior, Pools};
use crate::inference::sites::{Block, LatentGaussian};
use crate::likelihood::Poisson;
use crate::linalg::{Mat, MatRef};
use crate::link::Link;
use crate::parameter::Parameter;

/// The sd of the slope along the whole axis.
const SLOPE: f64 = 5.0;
/// By how much the log rate of the first year of life is above that of later childhood, and its sd:
/// infants die at some twenty times the rate of children of ten, and where none died in a small
/// population their rate is still of that order. A hundred events in that year leave nothing of it.
const INFANT: (f64, f64) = (3.0, 2.0);
/// After the first year of life the log rate falls as `a e^{-x}`: `a`, and its sd. Those who are
/// two die at some three fifths of the rate of those who are one.
const CHILD: (f64, f64) = (3.5, 2.0);
/// Cells have at least this part of the exposure of their band.
const LEAST: f64 = 1e-9;

/// The prior of the cells, and the events of the bands.
pub(super) struct Problem {
    pub prior: NodePrior,
    events: Poisson,
}

impl LatentGaussian for Problem {
    fn prior_mean(&self) -> &[f64] {
        &self.prior.mean
    }
    fn covariance(&self, _: &[f64]) -> Mat<f64> {
        self.prior.covariance.clone()
    }
    /// There are no parameters: settings are drawn from their prior.
    fn contract_covariance(&self, _: &[f64], _: MatRef<'_, f64>, _: &mut [f64]) {}
    fn blocks(&self) -> Vec<Block<'_>> {
        vec![Block {
            likelihood: &self.events,
            first: 0,
            own: &[],
            second: None,
        }]
    }
    fn parameters(&self) -> &[Parameter] {
        &[]
    }
    fn describe(&self) -> String {
        "matern32 + matern12".to_owned()
    }
}

/// What all settings share.
pub(super) struct Task<'a> {
    pub cells: &'a Cells,
    events: &'a [f64],
    places: Vec<f64>,
    level: f64,
    terms: Vec<Term>,
}

impl Task<'_> {
    /// The problem of one setting, and what its rows see, given the exposure of the cells.
    pub fn problem(
        &self,
        setting: &Setting,
        exposure: &[f64],
    ) -> Result<(Problem, Pools), UngroupError> {
        let mut pools = Pools::new(self.cells.len());
        let mut totals = Vec::new();
        for pair in self.cells.band.windows(2) {
            let own = &exposure[pair[0]..pair[1]];
            let total: f64 = own.iter().sum();
            totals.push(total);
            // Nobody says nothing, wherever they are not.
            let least = if total > 0.0 { LEAST * total } else { 1.0 };
            pools.push(
                Link::Exp,
                own.iter()
                    .enumerate()
                    .map(|(i, w)| (pair[0] + i, w.max(least))),
            );
        }
        let events = Poisson::new(self.events.to_vec(), totals, Link::Exp);
        let events = events.map_err(|error| UngroupError::NoCurve {
            reason: error.to_string(),
        })?;
        let prior = prior::prior(setting, &self.places, self.level, &self.terms);
        Ok((Problem { prior, events }, pools))
    }
}

/// Whether the first band is the first year of life.
pub(super) fn is_infant(bands: &Bands) -> bool {
    bands.axis == Axis::Linear && bands.edges[..2] == [0.0, 1.0]
}

pub(super) fn task<'a>(
    bands: &'a Bands,
    cells: &'a Cells,
    events: &'a [f64],
    totals: &[f64],
) -> Task<'a> {
    let ends: Vec<f64> = cells.edges.iter().map(|x| bands.axis.forward(*x)).collect();
    let places: Vec<f64> = ends
        .windows(2)
        .map(|pair| 0.5 * (pair[0] + pair[1]))
        .collect();
    let length = ends[cells.len()] - ends[0];
    let middle = 0.5 * (ends[cells.len()] + ends[0]);
    let mut terms = vec![Term {
        shape: places.iter().map(|u| (u - middle) / length).collect(),
        mean: 0.0,
        sd: SLOPE,
    }];
    if is_infant(bands) {
        let first = cells.band[1];
        terms.push(Term {
            shape: (0..cells.len())
                .map(|i| f64::from(u8::from(i < first)))
                .collect(),
            mean: INFANT.0,
            sd: INFANT.1,
        });
        let shape = |(i, u): (usize, &f64)| match i < first {
            true => 0.0,
            false => (-u).exp(),
        };
        terms.push(Term {
            shape: places.iter().enumerate().map(shape).collect(),
            mean: CHILD.0,
            sd: CHILD.1,
        });
    }
    let all: f64 = events.iter().sum();
    Task {
        cells,
        events,
        places,
        level: (all / totals.iter().sum::<f64>()).ln(),
        terms,
    }
}
