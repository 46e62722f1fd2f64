//! Densities with bands, from values, from counts in bins, and from intervals.
//!
//! A density on cells is `p_j = u_j / width_j` with `u = softmax(eta + log w)`: `eta` a Gaussian
//! process, `w` the measure of the cells (Riihimaki & Vehtari 2014). A density with its band, in
//! five lines:
//!
//! ```
//! use quadrat::density::Density;
//! # use quadrat::special::scalar::normal_quantile;
//! # let share = |i| (f64::from(i) + 0.5) / 200.0;
//! # let values: Vec<f64> = (0..200).map(|i| normal_quantile(share(i))).collect();
//! let estimate = Density::new(&values).estimate()?;
//! let (density, lower, upper) = (estimate.density(), estimate.lower(), estimate.upper());
//! let median = estimate.quantile(0.5);
//! assert!(median.lower < 0.0 && median.upper > 0.0 && median.value.abs() < 0.05);
//! # let middle = estimate.cell(0.0).unwrap_or_default();
//! # assert!(lower[middle] < 0.3989 && upper[middle] > 0.3989);
//! # assert!((density[middle] - 0.3989).abs() < 0.05);
//! # Ok::<(), quadrat::density::DensityError>(())
//! ```

mod answers;
mod asked;
mod basis;
mod cells;
mod column;
mod compare;
mod counts;
mod curves;
mod design;
mod drawn;
mod error;
mod estimate;
mod hyper;
mod kept;
mod kinds;
mod lift;
mod lift_column;
mod loops;
mod map;
mod newton;
mod odds;
mod pareto;
mod plane;
mod probable;
mod rows;
#[cfg(feature = "mcmc")]
mod sampled;
mod saved;
mod scale;
mod shared;
mod split;
#[cfg(test)]
mod tests;
mod warned;
mod warning;

pub use answers::{Answer, Mode};
pub use asked::Question;
pub use basis::Kernel;
pub use compare::Comparison;
pub use drawn::Drawn;
pub use error::DensityError;
pub use estimate::{Estimate, Setting};
pub use kinds::{Correction, Integration};
pub use plane::{
    Conditional, ConditionalEstimate, Curve, Density2d, Estimate2d, Marginal, MedianDifference,
    Moments, Question2d, QuestionGiven, Region, Setting2d,
};
#[cfg(feature = "mcmc")]
pub use sampled::DensityCheck;
pub use saved::{AnyEstimate, SAVED_FORMAT, Saved, SavedEstimate};
pub use warning::Warning;

use crate::progress::{Silent, Watcher};
use kinds::{DRAWS, LEVEL, check_axis};
use rows::KnownOfRows;
use shared::settings;

/// Cells unless another number is asked for.
const CELLS: usize = 400;

/// What is believed of a density before the rows are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Prior {
    /// An axis that turns logarithmic beyond two scales where an end is open, with a linear and a
    /// quadratic term; between two bounds the data's own axis with a linear term. A once
    /// differentiable function (or another kernel); averages over hyperparameters.
    #[default]
    Integrated,
    /// The data's own axis, a squared exponential with a linear and a quadratic term, the most
    /// probable hyperparameters: Riihimaki & Vehtari 2014, for comparison. Its tails and its bands
    /// are worse.
    Published,
}

/// What a density is estimated from, and how: a builder whose end is [`Density::estimate`].
#[derive(Debug, Clone)]
pub struct Density<'a> {
    rows: KnownOfRows<'a>,
    weights: Option<&'a [f64]>,
    bounds: (f64, f64),
    range: Option<(f64, f64)>,
    cells: usize,
    level: f64,
    log: bool,
    prior: Prior,
    kernel: Option<Kernel>,
    correction: Correction,
    integration: Integration,
    draws: usize,
    seed: u64,
    watcher: Watcher<'a>,
}

settings!(Density);

impl<'a> Density<'a> {
    fn of(rows: KnownOfRows<'a>) -> Self {
        Self {
            rows,
            weights: None,
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
            range: None,
            cells: CELLS,
            level: LEVEL,
            log: false,
            prior: Prior::default(),
            kernel: None,
            correction: Correction::default(),
            integration: Integration::default(),
            draws: DRAWS,
            seed: 1,
            watcher: Watcher(&Silent),
        }
    }

    /// From values; those that are not finite are left out, which a warning tells.
    #[must_use]
    pub fn new(values: &'a [f64]) -> Self {
        Self::of(KnownOfRows::Values(values))
    }

    /// From intervals that values are known to lie in: rounded, censored or heaped ones. An end may
    /// be infinite; where both are equal the value is known.
    #[must_use]
    pub fn from_intervals(lower: &'a [f64], upper: &'a [f64]) -> Self {
        Self::of(KnownOfRows::Intervals(lower, upper))
    }

    /// From counts in bins, which may be unequal, overlap, and be open at the ends.
    #[must_use]
    pub fn from_bins(lower: &'a [f64], upper: &'a [f64], counts: &'a [f64]) -> Self {
        Self::from_intervals(lower, upper).weights(counts)
    }

    /// Bounds beyond which no value can lie; infinite where there is none, as is the default.
    #[must_use]
    pub fn bounds(mut self, lower: f64, upper: f64) -> Self {
        self.bounds = (lower, upper);
        self
    }

    /// What the cells cover at open ends, in place of a margin of `e` times the distance of the
    /// farthest value; data beyond it widen it. The density is zero outside.
    #[must_use]
    pub fn range(mut self, lower: f64, upper: f64) -> Self {
        self.range = Some((lower, upper));
        self
    }

    /// Number of cells, 400 by default.
    #[must_use]
    pub fn cells(mut self, cells: usize) -> Self {
        self.cells = cells;
        self
    }

    /// Estimates on a logarithmic axis, for positive values of many sizes; the answer is a density
    /// of the values all the same.
    #[must_use]
    pub fn log(mut self, log: bool) -> Self {
        self.log = log;
        self
    }

    /// The prior.
    #[must_use]
    pub fn prior(mut self, prior: Prior) -> Self {
        self.prior = prior;
        self
    }

    fn check(&self) -> Result<(), DensityError> {
        let setting = |what, value, requirement| {
            Err(DensityError::Setting {
                what,
                value,
                requirement,
            })
        };
        if !(20..=5000).contains(&self.cells) {
            return setting("the number of cells", self.cells as f64, "from 20 to 5000");
        }
        if !(100..=1_000_000).contains(&self.draws) {
            return setting(
                "the number of draws",
                self.draws as f64,
                "from 100 to 1000000",
            );
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return setting("the level", self.level, "between 0 and 1");
        }
        check_axis(self.bounds, self.range, self.log)
    }
}
