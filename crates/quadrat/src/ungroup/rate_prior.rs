//! The prior of log rates, and what bands see of them.

use super::axis::Axis;
use super::bands::Bands;
use super::cells::Cells;
use super::error::UngroupError;
use super::prior::{self, LEVEL_SD, PriorTerm, Setting};
use super::standard::Standard;
use crate::inference::pooled::{NodePrior, Pools};
use crate::inference::sites::{Block, LatentGaussian};
use crate::likelihood::Poisson;
use crate::linalg::{Mat, MatRef};
use crate::link::Link;
use crate::parameter::Parameter;

/// The sd of the slope along the whole axis.
const SLOPE: f64 = 5.0;
/// The sds of the level and of that slope around a standard: of populations of one country, whose
/// life expectancies differ by some years.
const AROUND: (f64, f64) = (1.0, 1.0);
/// The sd of what infants have besides, around a standard.
const INFANT_AROUND: f64 = 0.5;
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
pub(super) struct RateProblem {
    pub prior: NodePrior,
    events: Poisson,
}

impl LatentGaussian for RateProblem {
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
    /// Mean and sd.
    level: (f64, f64),
    terms: Vec<PriorTerm>,
    /// Log rates of the standard, where there is one.
    standard: Option<Vec<f64>>,
}

impl Task<'_> {
    /// The problem of one setting, and what its rows see, given the exposure of the cells.
    pub fn problem(
        &self,
        setting: &Setting,
        exposure: &[f64],
    ) -> Result<(RateProblem, Pools), UngroupError> {
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
        let mut prior = prior::prior(setting, &self.places, self.level, &self.terms);
        if let Some(standard) = &self.standard {
            let each = prior.mean.iter_mut().zip(standard);
            each.for_each(|(mean, standard)| *mean += standard);
        }
        Ok((RateProblem { prior, events }, pools))
    }
}

/// Whether the first band is the first year of life.
pub(super) fn is_infant(bands: &Bands) -> bool {
    bands.axis == Axis::Linear && bands.edges[..2] == [0.0, 1.0]
}

/// # Arguments
/// * `totals` - exposures of the bands
pub(super) fn task<'a>(
    bands: &Bands,
    cells: &'a Cells,
    events: &'a [f64],
    (totals, standard): (&[f64], Option<&Standard>),
) -> Task<'a> {
    let ends: Vec<f64> = cells.edges.iter().map(|x| bands.axis.forward(*x)).collect();
    let places: Vec<f64> = ends
        .windows(2)
        .map(|pair| 0.5 * (pair[0] + pair[1]))
        .collect();
    let length = ends[cells.len()] - ends[0];
    let middle = 0.5 * (ends[cells.len()] + ends[0]);
    let standard = standard.map(|standard| standard.at(bands.axis, &places));
    let mut terms = vec![PriorTerm {
        shape: places.iter().map(|u| (u - middle) / length).collect(),
        mean: 0.0,
        sd: standard.as_ref().map_or(SLOPE, |_| AROUND.1),
    }];
    if is_infant(bands) {
        let first = cells.band[1];
        terms.extend(infants(first, &places, standard.is_some()));
    }
    Task {
        cells,
        events,
        level: match standard.is_some() {
            false => {
                let all: f64 = events.iter().sum();
                ((all / totals.iter().sum::<f64>()).ln(), LEVEL_SD)
            }
            // Rates near those of the standard, unless many events say otherwise.
            true => (0.0, AROUND.0),
        },
        places,
        terms,
        standard,
    }
}

/// What the first years of life have besides.
fn infants(first: usize, places: &[f64], is_around: bool) -> Vec<PriorTerm> {
    let infant = PriorTerm {
        shape: (0..places.len())
            .map(|i| f64::from(u8::from(i < first)))
            .collect(),
        mean: if is_around { 0.0 } else { INFANT.0 },
        sd: if is_around { INFANT_AROUND } else { INFANT.1 },
    };
    if is_around {
        return vec![infant];
    }
    let shape = |(i, u): (usize, &f64)| match i < first {
        true => 0.0,
        false => (-u).exp(),
    };
    let child = PriorTerm {
        shape: places.iter().enumerate().map(shape).collect(),
        mean: CHILD.0,
        sd: CHILD.1,
    };
    vec![infant, child]
}
