//! What an estimate of two columns is made from again, beside its cells and counts.
//!
//! As of one column: draws are not kept, the factors about the modes are.

use serde::{Deserialize, Serialize};

use crate::linalg::{Cholesky, dot, packed};

use super::super::basis::Kernel;
use super::super::error::DensityError;
use super::super::kept::{Drawing, are_finite, are_shares, is_scale};
use super::super::warning::Warning;
use super::functions::Functions;
use super::grid::CellGrid;
use super::hyper::Component;
use super::newton::{Mode, look};
use super::orders;
use super::prior::{AxisCovariance, CoefficientPrior};

/// Prior variance of the coefficients of polynomials.
pub(super) const POLYNOMIALS: f64 = 10.0;
/// Settings of the hyperparameters: a design of three has fifteen.
const MOST_MODES: usize = 50;

/// One setting of the hyperparameters with its mode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptMode {
    lengths: [f64; 2],
    sd: f64,
    weight: f64,
    reference: f64,
    theta: Vec<f64>,
    eta: Vec<f64>,
    /// The lower triangle of the factor of the precision, column by column.
    factor: Vec<f64>,
}

/// An estimate before it is drawn from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Kept {
    pub kernel: Kernel,
    /// Orders of the cosines of the products that were taken.
    orders: Vec<(usize, usize)>,
    pub drawing: Drawing,
    /// What was to be told before anything was drawn, each of a column or of both.
    warnings: Vec<(Option<usize>, Warning)>,
    modes: Vec<KeptMode>,
}

impl KeptMode {
    fn of(component: &Component) -> Self {
        let mode = &component.mode;
        Self {
            lengths: component.lengths,
            sd: component.sd,
            weight: component.weight,
            reference: component.reference,
            theta: mode.theta.clone(),
            eta: mode.eta.clone(),
            factor: packed::lower(&mode.factor.lower().to_owned()),
        }
    }
}

impl Kept {
    /// Of what was found.
    pub fn of(
        kernel: Kernel,
        functions: &Functions,
        components: &[Component],
        drawing: Drawing,
        warnings: Vec<Warning>,
    ) -> Self {
        let flat = |warning| match warning {
            Warning::Column { column, warning } => (Some(column), *warning),
            other => (None, other),
        };
        Self {
            kernel,
            orders: (functions.q..functions.len())
                .map(|i| functions.order(i))
                .collect(),
            drawing,
            warnings: warnings.into_iter().map(flat).collect(),
            modes: components.iter().map(KeptMode::of).collect(),
        }
    }

    /// What was to be told before anything was drawn.
    pub fn warnings(&self) -> Vec<Warning> {
        let whole = |(column, warning): (Option<usize>, Warning)| match column {
            Some(column) => warning.of_column(column),
            None => warning,
        };
        self.warnings.iter().cloned().map(whole).collect()
    }

    /// The functions that the logarithm of the density is made of.
    pub fn functions(&self, grid: &CellGrid) -> Functions {
        Functions::new(grid, &self.orders)
    }

    /// The settings again, as they were found.
    ///
    /// # Errors
    /// Numbers that no search leaves: a factor that is none, a prior that is not positive.
    pub fn components(
        &self,
        grid: &CellGrid,
        functions: &Functions,
    ) -> Result<Vec<Component>, DensityError> {
        let modes = self.modes.iter();
        modes.map(|m| self.component(grid, functions, m)).collect()
    }

    fn component(
        &self,
        grid: &CellGrid,
        functions: &Functions,
        kept: &KeptMode,
    ) -> Result<Component, DensityError> {
        let (cosines, cells) = (functions.cosines(), grid.counts.len());
        let axes = [0, 1]
            .map(|a| AxisCovariance::new(self.kernel, &grid.axes[a], kept.lengths[a], cosines[a]));
        let prior = CoefficientPrior::new(functions, &axes, cells, POLYNOMIALS, kept.sd)?;
        let (value, mass) = look(grid, &kept.eta);
        let square = dot(&kept.theta, &prior.pull(&kept.theta));
        let factor = Cholesky::from_packed(&kept.factor, kept.theta.len())?;
        let log_joint = value - 0.5 * square;
        Ok(Component {
            lengths: kept.lengths,
            sd: kept.sd,
            weight: kept.weight,
            reference: kept.reference,
            mode: Mode {
                theta: kept.theta.clone(),
                eta: kept.eta.clone(),
                mass,
                value,
                square,
                log_evidence: log_joint - 0.5 * factor.log_det() + 0.5 * prior.log_det,
                factor,
            },
            prior,
        })
    }

    /// What is wrong with the contents beside those of the grid.
    pub fn fault(&self, grid: &CellGrid) -> Option<&'static str> {
        let shape = grid.shape();
        let mut orders = self.orders.clone();
        orders.sort_unstable();
        let is_order = |(i, j): &(usize, usize)| *i < shape[0] && *j < shape[1];
        let is_once = orders.windows(2).all(|w| w[0] != w[1]);
        if !is_once || orders.len() > orders::MOST_TAKEN || !orders.iter().all(is_order) {
            return Some("its functions are none of its cells");
        }
        let functions = Functions::new(grid, &self.orders).len();
        if !self.drawing.is_possible(functions) {
            return Some("its draws are too few or too many, or their level is none");
        }
        let weights: Vec<f64> = self.modes.iter().map(|m| m.weight).collect();
        if self.modes.len() > MOST_MODES || !are_shares(&weights) {
            return Some("the weights of its settings are not a descending share of one");
        }
        let fits = |m: &KeptMode| {
            m.theta.len() == functions
                && m.eta.len() == grid.counts.len()
                && are_finite(&m.theta)
                && are_finite(&m.eta)
                && m.lengths.iter().all(|l| is_scale(*l))
                && is_scale(m.sd)
                && m.reference.is_finite()
        };
        match self.modes.iter().all(fits) {
            true => None,
            false => Some("a setting of its hyperparameters is incomplete"),
        }
    }
}
