//! Densities of one column.

use super::super::basis::{CellBasis, Length, View, covariance, prior_covariance};
use super::super::error::DensityError;
use super::super::estimate::Estimate;
use super::super::hyper::{Component, LEAST_CELLS};
use super::super::kept::{Kept, POLYNOMIALS};
use super::super::map;
use super::super::newton::CellProblem;
use super::super::probable::log_prior;
use super::frame::Frame;
use super::posterior::{Block, Look, Posterior};
use super::{Checked, DensityCheck, Sampled, Setting, possible, weighted};
use crate::error::LinalgError;
use crate::inference::mcmc::McmcOptions;
use crate::linalg::{Cholesky, Mat};
use crate::progress::Progress;

/// Newton's decrement at the mode about which coordinates are chosen.
const TOLERANCE: f64 = 1e-3;

/// The posterior of one column.
pub(super) struct OfColumn<'a> {
    kept: &'a Kept,
    basis: CellBasis,
    /// Cosines.
    r: usize,
}

impl<'a> OfColumn<'a> {
    /// With coordinates about the most probable setting.
    pub fn new(kept: &'a Kept) -> Result<Sampled<Self>, DensityError> {
        let basis = kept.basis();
        let components = kept.components(&basis)?;
        // What the finest setting needs serves for all.
        let r = components.iter().map(|c| c.r).max().unwrap_or(0);
        possible(r, components.len())?;
        let top = &components[0];
        let out = Self { kept, basis, r };
        let view = out.view();
        let problem = CellProblem {
            counts: &kept.counts,
            basis: view,
            log_measure: &kept.cells.log_measure,
        };
        let (q, variance) = out.polynomials();
        let prior = Length::new(kept.kernel, &kept.cells, top.length, r)?;
        let prior = prior.prior(q, r, variance, top.sd)?;
        let mode = problem.mode(&prior, &top.mode.theta, TOLERANCE)?;
        let at = (top.sd, vec![top.length]);
        let frame = Frame::new(&out, at, &mode.theta, mode.factor)?;
        let setting = |c: &Component| Setting {
            sd: c.sd,
            lengths: vec![c.length],
            weight: c.weight,
        };
        Ok(Sampled {
            settings: components.iter().map(setting).collect(),
            posterior: out,
            frame,
        })
    }

    fn view(&self) -> View<'_> {
        self.basis.view(self.r)
    }
}

impl Posterior for OfColumn<'_> {
    fn polynomials(&self) -> (usize, f64) {
        let variance = match self.kept.published {
            true => map::POLYNOMIALS,
            false => POLYNOMIALS,
        };
        (self.view().q, variance)
    }

    fn least_lengths(&self) -> Vec<f64> {
        vec![LEAST_CELLS * self.kept.cells.step]
    }

    /// Cosines that are even about the middle of the cells, and odd ones.
    fn blocks(&self, lengths: &[f64]) -> Result<Vec<Block>, LinalgError> {
        let (q, r) = (self.view().q, self.r);
        let Kept { kernel, cells, .. } = self.kept;
        let lags = (0..cells.len()).map(|d| kernel.at(d as f64 * cells.step / lengths[0]));
        let (values, slopes): (Vec<f64>, Vec<f64>) = lags.unzip();
        let (value, slope) = (prior_covariance(&values, r), covariance(&slopes, r));
        let parts = 0..r.min(2);
        parts
            .map(|of| {
                let size = (r - of).div_ceil(2);
                let part =
                    |m: &Mat<f64>| Mat::from_fn(size, size, |i, j| m[(2 * i + of, 2 * j + of)]);
                Ok(Block {
                    range: q + of..q + r,
                    every: 2,
                    factor: Cholesky::factor_owned(part(&value))?,
                    slopes: vec![part(&slope)],
                })
            })
            .collect()
    }

    fn log_prior(&self, at: &[f64]) -> (f64, Vec<f64>) {
        let at = [at[0], at[1]];
        let (value, slopes) = match self.kept.published {
            true => map::log_prior(at),
            false => log_prior(at),
        };
        (value, slopes.to_vec())
    }

    fn look(&self, theta: &[f64]) -> Look {
        let (view, kept) = (self.view(), self.kept);
        let look = kept.counts.look(&view.eta(theta), &kept.cells.log_measure);
        Look {
            value: look.value,
            slope: view.project(&look.slope),
            mass: look.u,
        }
    }
}

impl Estimate {
    /// Draws from the posterior itself, by the no-U-turn sampler, and sets the estimate beside it.
    ///
    /// Prior, cells and functions are those of the estimate; hyperparameters are sampled too, over
    /// the whole line where the estimate has a grid of them.
    ///
    /// # Arguments
    /// * `options` - chains, draws and seed
    /// * `progress` - told of every draw
    ///
    /// # Errors
    /// [`DensityError::NotSampled`] for more than 600 functions, too few draws, and chains that
    /// cannot begin or end.
    ///
    /// # Numerics
    /// About a millisecond for each of some hundred thousand gradients with a hundred functions.
    pub fn check_by_mcmc(
        &self,
        options: &McmcOptions,
        progress: &dyn Progress,
    ) -> Result<DensityCheck, DensityError> {
        let sampled = OfColumn::new(&self.kept)?;
        let curves = &self.curves;
        let spread = |cell: &usize| weighted(curves.log_mass.col_as_slice(*cell), &curves.weights);
        let spreads = |cells: &[usize]| cells.iter().map(spread).collect();
        let places = self.places();
        let checked = Checked {
            place: &|cell| vec![places[cell]],
            sampled: &sampled,
            mass: &self.mass,
            density: self.density(),
            spreads: &spreads,
        };
        checked.check(options, progress)
    }
}
