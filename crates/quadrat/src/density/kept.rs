//! What an estimate of one column is made from again: cells, counts, and the modes that were found.
//!
//! Draws are not kept. The factors about the modes are, since draws follow them to the last digit;
//! priors and likelihoods are computed again, from the same numbers and so to the same result.

use serde::{Deserialize, Serialize};

use crate::linalg::{Cholesky, dot, matvec, packed};

use super::basis::{CellBasis, Kernel, Length};
use super::cells::Cells;
use super::counts::CellCounts;
use super::error::DensityError;
use super::hyper::Component;
use super::map;
use super::newton::Mode;
use super::warning::Warning;

/// Cosines that the function of up to a thousand values is made of.
const COSINES: f64 = 100.0;
/// Prior variance of the coefficients of polynomials.
pub(super) const POLYNOMIALS: f64 = 10.0;

/// What draws are made by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Drawing {
    pub draws: usize,
    pub seed: u64,
    /// Probability of bands and intervals.
    pub level: f64,
    /// Whether they get importance weights.
    pub weigh: bool,
}

/// One setting of the hyperparameters with its mode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptMode {
    length: f64,
    sd: f64,
    weight: f64,
    /// Cosines.
    r: usize,
    theta: Vec<f64>,
    eta: Vec<f64>,
    /// The lower triangle of the factor of the precision, column by column.
    factor: Vec<f64>,
}

/// An estimate before it is drawn from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    pub cells: Cells,
    pub counts: CellCounts,
    /// Whether the prior is the published one.
    pub published: bool,
    pub kernel: Kernel,
    pub drawing: Drawing,
    /// What was to be told before anything was drawn.
    pub warnings: Vec<Warning>,
    pub modes: Vec<KeptMode>,
}

/// Cosines that may be needed: the finest detail of a function with square-integrable second
/// derivatives shrinks with the fourth root of the number of values.
fn cosines(total: f64) -> usize {
    (COSINES * (total / 1000.0).max(1.0).sqrt().sqrt()).min(1e6) as usize
}

/// Linear between two bounds, linear and quadratic in `v` where an end is open or it is asked for.
pub(super) fn polynomials(cells: &Cells, quadratic: bool) -> Vec<Vec<f64>> {
    let v = &cells.centres;
    if quadratic || cells.axis.is_bent() {
        return vec![v.clone(), v.iter().map(|v| v * v).collect()];
    }
    let middle = 0.5 * (v[0] + v[v.len() - 1]);
    vec![v.iter().map(|v| v - middle).collect()]
}

impl KeptMode {
    /// Of a setting that was found.
    pub fn of(component: &Component) -> Self {
        let mode = &component.mode;
        Self {
            length: component.length,
            sd: component.sd,
            weight: component.weight,
            r: component.r,
            theta: mode.theta.clone(),
            eta: mode.eta.clone(),
            factor: packed::lower(&mode.factor.lower().to_owned()),
        }
    }
}

impl Kept {
    /// The functions that the logarithm of the density is made of.
    pub fn basis(&self) -> CellBasis {
        let polynomials = polynomials(&self.cells, self.published);
        CellBasis::new(self.cells.len(), &polynomials, cosines(self.counts.total))
    }

    /// The settings again, as they were found.
    ///
    /// # Errors
    /// Numbers that no search leaves: a factor that is none, a prior that is not positive.
    pub fn components(&self, basis: &CellBasis) -> Result<Vec<Component>, DensityError> {
        self.modes
            .iter()
            .map(|m| self.component(basis, m))
            .collect()
    }

    fn component(&self, basis: &CellBasis, kept: &KeptMode) -> Result<Component, DensityError> {
        let (cells, view) = (&self.cells, basis.view(kept.r));
        let length = Length::new(self.kernel, cells, kept.length, basis.r())?;
        let variance = match self.published {
            true => map::POLYNOMIALS,
            false => POLYNOMIALS,
        };
        let prior = length.prior(view.q, kept.r, variance, kept.sd)?;
        let look = self.counts.look(&kept.eta, &cells.log_measure);
        let square = dot(&kept.theta, &matvec(prior.precision.as_ref(), &kept.theta));
        let factor = Cholesky::from_packed(&kept.factor, kept.theta.len())?;
        let log_evidence = look.value - 0.5 * square - 0.5 * factor.log_det() + 0.5 * prior.log_det;
        Ok(Component {
            length: kept.length,
            sd: kept.sd,
            weight: kept.weight,
            r: kept.r,
            prior,
            mode: Mode {
                theta: kept.theta.clone(),
                eta: kept.eta.clone(),
                look,
                square,
                factor,
                log_evidence,
            },
        })
    }
}

/// Numbers of draws that are made again at most: those of 8,000 draws of 5,000 cells are 4e7.
const MOST_NUMBERS: usize = 50_000_000;
/// Draws that an estimate can have.
const MOST_DRAWS: usize = 1_000_000;
/// Settings of the hyperparameters: fewer than a hundred lie on the grid.
const MOST_MODES: usize = 200;

/// Whether all are finite.
pub(super) fn are_finite(x: &[f64]) -> bool {
    x.iter().all(|x| x.is_finite())
}

/// Whether all are finite and at least zero.
pub(super) fn are_counts(x: &[f64]) -> bool {
    x.iter().all(|x| x.is_finite() && *x >= 0.0)
}

/// Whether weights are a descending share of one.
pub(super) fn are_shares(weights: &[f64]) -> bool {
    // Sums of some hundred weights are one to far better than this.
    let is_one = (weights.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    is_one && are_counts(weights) && weights.is_sorted_by(|a, b| a >= b)
}

/// Whether a number can be a scale.
pub(super) fn is_scale(x: f64) -> bool {
    x.is_finite() && x > 0.0
}

impl Drawing {
    /// Whether these are settings that an estimate may have, of so many numbers for each draw.
    pub fn is_possible(&self, numbers: usize) -> bool {
        let most = (MOST_NUMBERS / numbers.max(1)).min(MOST_DRAWS);
        (100..=most).contains(&self.draws) && self.level > 0.0 && self.level < 1.0
    }
}

impl Kept {
    /// What is wrong with the contents: a file with a valid checksum may still be made up.
    pub fn fault(&self) -> Option<&'static str> {
        let (cells, counts) = (&self.cells, &self.counts);
        if !cells.is_consistent() || !(20..=5000).contains(&cells.len()) {
            return Some("its cells are none");
        }
        if !counts.is_consistent(cells.len()) {
            return Some("its counts do not suit its cells");
        }
        if !self.drawing.is_possible(cells.len()) {
            return Some("its draws are too few or too many, or their level is none");
        }
        let weights: Vec<f64> = self.modes.iter().map(|m| m.weight).collect();
        if self.modes.len() > MOST_MODES || !are_shares(&weights) {
            return Some("the weights of its settings are not a descending share of one");
        }
        let polynomials = polynomials(cells, self.published).len();
        let most = cosines(counts.total).min(cells.len() - 1);
        let fits = |m: &KeptMode| {
            (1..=most).contains(&m.r)
                && m.theta.len() == polynomials + m.r
                && m.eta.len() == cells.len()
                && are_finite(&m.theta)
                && are_finite(&m.eta)
                && is_scale(m.length)
                && is_scale(m.sd)
        };
        match self.modes.iter().all(fits) {
            true => None,
            false => Some("a setting of its hyperparameters is incomplete"),
        }
    }
}
