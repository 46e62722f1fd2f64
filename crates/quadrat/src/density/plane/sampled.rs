//! Estimates of two columns beside draws from their posterior.

use super::super::basis::Kernel;
use super::super::cells::Cells;
use super::super::error::DensityError;
use super::super::hyper::LEAST_CELLS;
use super::super::sampled::{
    Block, Checked, DensityCheck, Frame, Look, Posterior, Sampled, Setting, possible, weighted,
};
use super::estimate::{ConditionalEstimate, Estimate2d};
use super::fit::Fit;
use super::functions::Functions;
use super::grid::CellGrid;
use super::hyper::{Component, log_prior};
use super::kept::POLYNOMIALS;
use super::newton::{CellProblem, look};
use super::prior::{AxisCovariance, JITTER, product};
use crate::error::LinalgError;
use crate::inference::mcmc::McmcOptions;
use crate::linalg::Cholesky;
use crate::progress::Progress;

/// The posterior of two columns.
struct OfPlane<'a> {
    grid: &'a CellGrid,
    functions: Functions,
    kernel: Kernel,
}

impl<'a> OfPlane<'a> {
    /// With coordinates about the most probable setting.
    pub fn new(fit: &'a Fit) -> Result<Sampled<Self>, DensityError> {
        let (grid, kept) = (&fit.grid, &fit.kept);
        let functions = kept.functions(grid);
        let mut components = kept.components(grid, &functions)?;
        possible(functions.len(), components.len())?;
        let setting = |c: &Component| Setting {
            sd: c.sd,
            lengths: c.lengths.to_vec(),
            weight: c.weight,
        };
        let settings = components.iter().map(setting).collect();
        let top = components.swap_remove(0);
        let posterior = Self {
            grid,
            functions,
            kernel: kept.kernel,
        };
        let at = (top.sd, top.lengths.to_vec());
        let frame = Frame::new(&posterior, at, &top.mode.theta, top.mode.factor)?;
        Ok(Sampled {
            posterior,
            frame,
            settings,
        })
    }
}

impl Posterior for OfPlane<'_> {
    fn polynomials(&self) -> (usize, f64) {
        (self.functions.q, POLYNOMIALS)
    }

    fn least_lengths(&self) -> Vec<f64> {
        let axes = self.grid.axes.iter();
        axes.map(|axis| LEAST_CELLS * axis.step).collect()
    }

    fn blocks(&self, lengths: &[f64]) -> Result<Vec<Block>, LinalgError> {
        let cosines = self.functions.cosines();
        let axis =
            |a: usize| AxisCovariance::new(self.kernel, &self.grid.axes[a], lengths[a], cosines[a]);
        let [one, two] = [axis(0), axis(1)];
        let jitter = JITTER * self.grid.counts.len() as f64;
        let classes = self.functions.classes.iter();
        classes
            .map(|class| {
                let of = |one, two| product(&self.functions, class, one, two);
                let mut covariance = of(&one.value, &two.value);
                (0..class.len()).for_each(|i| covariance[(i, i)] += jitter);
                Ok(Block {
                    range: class.clone(),
                    every: 1,
                    factor: Cholesky::factor_owned(covariance)?,
                    slopes: vec![of(&one.slope, &two.value), of(&one.value, &two.slope)],
                })
            })
            .collect()
    }

    fn log_prior(&self, at: &[f64]) -> (f64, Vec<f64>) {
        let (value, slopes) = log_prior([at[0], at[1], at[2]]);
        (value, slopes.to_vec())
    }

    fn look(&self, theta: &[f64]) -> Look {
        let grid = self.grid;
        let functions = &self.functions;
        let (value, mass) = look(grid, &functions.eta(theta));
        let expected = CellProblem { grid, functions }.expected(&mass);
        let pairs = grid.counts.iter().zip(expected);
        let mut slope: Vec<f64> = pairs.map(|(y, e)| y - e).collect();
        if !grid.patches.is_empty() {
            let held = grid.patches.held(&mass);
            slope.iter_mut().zip(held).for_each(|(s, h)| *s += h);
        }
        Look {
            value,
            slope: self.functions.project(&slope),
            mass,
        }
    }
}

impl Fit {
    fn check_by_mcmc(
        &self,
        options: &McmcOptions,
        progress: &dyn Progress,
    ) -> Result<DensityCheck, DensityError> {
        let sampled = OfPlane::new(self)?;
        let grid = &self.grid;
        let spreads = |cells: &[usize]| {
            let (mut out, mut next) = (Vec::with_capacity(cells.len()), cells.iter().peekable());
            self.curves.each_log(grid, |cell, logs| {
                if next.next_if(|wanted| **wanted == cell).is_some() {
                    let mut spread = weighted(logs, &self.curves.weights);
                    spread.mean += grid.log_measure[cell];
                    out.push(spread);
                }
            });
            out
        };
        let places = grid.axes.each_ref().map(Cells::places);
        let columns = places[1].len();
        let checked = Checked {
            place: &|cell| vec![places[0][cell / columns], places[1][cell % columns]],
            sampled: &sampled,
            mass: &self.mass,
            density: &self.density,
            spreads: &spreads,
        };
        checked.check(options, progress)
    }
}

impl Estimate2d {
    /// Draws from the posterior itself, by the no-U-turn sampler, and sets the estimate beside it.
    ///
    /// # Arguments
    /// * `options`, `progress` - as for [`Estimate::check_by_mcmc`]
    ///
    /// [`Estimate::check_by_mcmc`]: crate::density::Estimate::check_by_mcmc
    ///
    /// # Errors
    /// As there.
    ///
    /// # Numerics
    /// Milliseconds per gradient with some hundred functions: minutes.
    pub fn check_by_mcmc(
        &self,
        options: &McmcOptions,
        progress: &dyn Progress,
    ) -> Result<DensityCheck, DensityError> {
        self.fit.check_by_mcmc(options, progress)
    }
}

impl ConditionalEstimate {
    /// As [`Estimate2d::check_by_mcmc`]; probabilities are those of a cell of the second column
    /// given the slice that it lies in.
    ///
    /// # Errors
    /// As there.
    pub fn check_by_mcmc(
        &self,
        options: &McmcOptions,
        progress: &dyn Progress,
    ) -> Result<DensityCheck, DensityError> {
        self.fit.check_by_mcmc(options, progress)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::super::sampled::tests::{slopes_are_differences, two_groups};
    use super::*;
    use crate::density::{Conditional, Density2d};

    #[test]
    fn gradients_are_differences() {
        let x = two_groups(90);
        let moved = |(i, x): (usize, &f64)| x + (i as f64).sin();
        let y: Vec<f64> = x.iter().enumerate().map(moved).collect();
        let joint = Density2d::new(&x, &y).cells(12, 14).estimate().unwrap();
        slopes_are_differences(&OfPlane::new(&joint.fit).unwrap(), "joint");
        let wide: Vec<Vec<f64>> = [&x, &x, &y, &y]
            .iter()
            .enumerate()
            .map(|(k, of)| {
                of.iter()
                    .map(|x| x.floor() + 1.4 * (k % 2) as f64)
                    .collect()
            })
            .collect();
        let (one, other) = ([&wide[0][..], &wide[1]], [&wide[2][..], &wide[3]]);
        let ones = vec![1.0; x.len()];
        let boxes = Density2d::from_bins(one, other, &ones);
        let boxes = boxes.cells(12, 14).estimate().unwrap();
        slopes_are_differences(&OfPlane::new(&boxes.fit).unwrap(), "boxes");
        let given = Conditional::new(&x, &y).cells(9, 20).estimate().unwrap();
        slopes_are_differences(&OfPlane::new(&given.fit).unwrap(), "conditional");
    }
}
