//! From rows to an estimate over a plane: cells, modes, draws, bands.

use super::super::cells::Cells;
use super::super::error::{DensityError, Warning};
use super::super::kinds::Correction;
use super::super::scale::{Scale, scale};
use super::builder::Density2d;
use super::curves::{Curves, curves};
use super::draw::sample;
use super::functions::Functions;
use super::grid::Grid;
use super::hyper::{Component, Wanted, explore};
use super::pairs::{Pairs, clean};
use super::{orders, warned};

/// Prior variance of the coefficients of polynomials.
const POLYNOMIALS: f64 = 10.0;
/// Newton's decrement at which the last step is taken.
const TOLERANCE: f64 = 1e-3;
/// Cells for each function: with fewer the cells, not the functions, say what can be seen.
const CELLS_EACH: usize = 3;
/// Functions that are always taken, where there are as many cells.
const FEWEST: usize = 24;
/// Below so many effective draws, or above the Pareto shape at which weights have no mean, draws
/// are not believed.
const LEAST_EFFECTIVE: f64 = 200.0;
const LARGEST_SHAPE: f64 = 1.0;

/// Hyperparameters that were averaged over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting2d {
    /// Lengthscales of the two axes, each in units of the scale of its column within two of it from
    /// the centre, and logarithmic beyond where an end is open.
    pub lengthscales: [f64; 2],
    /// Standard deviation of the log density.
    pub sd: f64,
    /// Posterior probability.
    pub weight: f64,
}

/// A density over a plane with what is known of its error.
///
/// Arrays are over the cells, those of the second column running fastest: cell `(i, j)` is number
/// `i n + j`, with `n` cells along the second axis. Everything with an interval comes from draws of
/// whole densities.
#[derive(Debug, Clone)]
pub struct Estimate2d {
    pub(super) grid: Grid,
    pub(super) curves: Curves,
    pub(super) level: f64,
    /// Probability of each cell.
    pub(super) mass: Vec<f64>,
    /// Middles of the cells of each axis, less the centre and over the scale of the column.
    pub(super) middles: [Vec<f64>; 2],
    pub(super) scales: [Scale; 2],
    density: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    sd: Vec<f64>,
    settings: Vec<Setting2d>,
    warnings: Vec<Warning>,
    functions: usize,
    is_weighted: bool,
}

impl Density2d<'_> {
    /// Estimates the density.
    ///
    /// # Errors
    /// Rows, weights and settings that cannot be used, constant columns, and values that double
    /// precision cannot tell apart.
    ///
    /// # Numerics
    /// `O(n)` in the rows, but for `O(n log n)` to look for ties; then about `100 r^3` operations
    /// for the hyperparameters, with `r = 200` functions up to a thousand rows and 600 from nine
    /// thousand on, and about `100 cells` for every draw. Densities of draws are never held
    /// together: memory is that of their coefficients.
    pub fn estimate(&self) -> Result<Estimate2d, DensityError> {
        self.check()?;
        let mut pairs = clean(self.columns, self.weights, self.bounds, self.log)?;
        let (scales, axes) = self.lay(&pairs)?;
        let mut warnings = std::mem::take(&mut pairs.warnings);
        for axis in [0, 1] {
            let widened = super::super::warned::widened(self.range[axis], &axes[axis]);
            warnings.extend(widened.map(|w| w.of_column(axis)));
        }
        let grid = Grid::new(axes, &pairs);
        warnings.extend(warned::look_out(&pairs, &grid, &scales, self.log));
        let wanted = Wanted {
            kernel: self.kernel,
            variance: POLYNOMIALS,
            tolerance: TOLERANCE,
            integrate: self.integrate,
        };
        let most = orders::most(grid.total)
            .min(grid.counts.len() / CELLS_EACH)
            .max(FEWEST);
        let (functions, components) = explore(&grid, wanted, most, &start(&grid))?;
        let mass = average_of_modes(&components);
        let middles = middles(&grid, &scales);
        let is = self.correction == Correction::ImportanceSampling;
        let (curves, is_weighted) = self.curves(
            &grid,
            &functions,
            &components,
            &mass,
            &middles,
            is,
            &mut warnings,
        )?;
        let settings = components.iter().map(|c| Setting2d {
            lengthscales: c.lengths,
            sd: c.sd,
            weight: c.weight,
        });
        let settings = settings.collect();
        Ok(self.assemble(
            grid,
            curves,
            mass,
            middles,
            scales,
            settings,
            warnings,
            is_weighted,
            functions.len(),
        ))
    }

    /// Scales and cells of both axes.
    fn lay(&self, pairs: &Pairs) -> Result<([Scale; 2], [Cells; 2]), DensityError> {
        let of = |axis: usize| {
            let log = self.log[axis];
            let scale = scale(&pairs.column(axis, log))?;
            let (count, range) = (self.cells[axis], self.range[axis]);
            let cells = Cells::lay(count, &scale, self.bounds[axis], range, log)?;
            Ok((scale, cells))
        };
        let named = |axis: usize| of(axis).map_err(|e: DensityError| e.of_column(axis));
        let ((a, b), (c, d)) = (named(0)?, named(1)?);
        Ok(([a, c], [b, d]))
    }

    /// Draws, without importance weights where these are too uneven.
    fn curves(
        &self,
        grid: &Grid,
        functions: &Functions,
        components: &[Component],
        mass: &[f64],
        middles: &[Vec<f64>; 2],
        is: bool,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Curves, bool), DensityError> {
        let columns = grid.shape()[1];
        let top = (0..mass.len())
            .max_by(|a, b| mass[*a].total_cmp(&mass[*b]))
            .unwrap_or(0);
        let top = (top / columns, top % columns);
        let draw = |is: bool| {
            let sample = sample(grid, functions, components, self.draws, self.seed, is)?;
            Ok::<_, DensityError>(curves(grid, functions, &sample, top, middles, is))
        };
        let found = draw(is)?;
        let least = LEAST_EFFECTIVE.min(self.draws as f64 / 5.0);
        let uneven = is && (found.effective < least || found.shape > LARGEST_SHAPE);
        if !uneven {
            return Ok((found, is));
        }
        let (effective, shape) = (found.effective, found.shape);
        warnings.push(Warning::Uneven {
            effective,
            draws: self.draws,
            pareto_k: shape,
        });
        let mut plain = draw(false)?;
        (plain.effective, plain.shape) = (effective, shape);
        Ok((plain, false))
    }

    /// Bands and the rest.
    fn assemble(
        &self,
        grid: Grid,
        curves: Curves,
        modes: Vec<f64>,
        middles: [Vec<f64>; 2],
        scales: [Scale; 2],
        settings: Vec<Setting2d>,
        warnings: Vec<Warning>,
        is_weighted: bool,
        functions: usize,
    ) -> Estimate2d {
        let tail = 0.5 * (1.0 - self.level);
        let bands = curves.bands(&grid, [tail, 1.0 - tail]);
        let mass = if is_weighted { bands.mean } else { modes };
        let columns = grid.shape()[1];
        let per_area = |x: Vec<f64>| -> Vec<f64> {
            let area = |cell: usize| grid.area(cell / columns, cell % columns);
            x.iter()
                .enumerate()
                .map(|(cell, x)| x / area(cell))
                .collect()
        };
        Estimate2d {
            density: per_area(mass.clone()),
            lower: per_area(bands.lower),
            upper: per_area(bands.upper),
            sd: per_area(bands.sd),
            grid,
            curves,
            level: self.level,
            mass,
            middles,
            scales,
            settings,
            warnings,
            functions,
            is_weighted,
        }
    }
}

/// A normal density in `v` with the moments of each axis where there is a quadratic term; else a
/// flat one. In the order of [`Functions`].
fn start(grid: &Grid) -> Vec<f64> {
    let mut out = Vec::new();
    for axis in [0, 1] {
        let cells = &grid.axes[axis];
        if !cells.axis.is_bent() {
            out.push(0.0);
            continue;
        }
        let counts = grid.along(axis);
        let pairs = || counts.iter().zip(&cells.centres);
        let mean = pairs().map(|(m, v)| m * v).sum::<f64>() / grid.total;
        let variance = pairs().map(|(m, v)| m * (v - mean).powi(2)).sum::<f64>() / grid.total;
        let variance = variance.max(cells.step.powi(2));
        out.extend([mean / variance, -0.5 / variance]);
    }
    out.push(0.0);
    out
}

fn middles(grid: &Grid, scales: &[Scale; 2]) -> [Vec<f64>; 2] {
    [0, 1].map(|axis| {
        let cells = &grid.axes[axis];
        let (centre, scale) = cells.unit(&scales[axis]);
        let middle = |e: &[f64]| (e[0] + 0.5 * (e[1] - e[0]) - centre) / scale;
        cells.edges.windows(2).map(middle).collect()
    })
}

fn average_of_modes(components: &[Component]) -> Vec<f64> {
    let cells = components.first().map_or(0, |c| c.mode.mass.len());
    let mut out = vec![0.0; cells];
    for c in components {
        out.iter_mut()
            .zip(&c.mode.mass)
            .for_each(|(o, u)| *o += c.weight * u);
    }
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|x| *x /= sum);
    out
}

impl Estimate2d {
    /// Numbers of cells along the two axes.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.grid.shape()
    }

    /// Edges of the cells of an axis (0 or 1), one more than cells, ascending.
    ///
    /// # Panics
    /// Where there is no such axis.
    #[must_use]
    pub fn edges(&self, axis: usize) -> &[f64] {
        &self.grid.axes[axis].edges
    }

    /// The middle of each cell of an axis (0 or 1), on the axis of the estimate.
    ///
    /// # Panics
    /// Where there is no such axis.
    #[must_use]
    pub fn places(&self, axis: usize) -> Vec<f64> {
        let cells = &self.grid.axes[axis];
        cells
            .centres
            .iter()
            .map(|v| cells.axis.backward(*v))
            .collect()
    }

    /// The density in each cell, per unit of both columns: the posterior mean, or the average of
    /// modes where draws are not weighted.
    #[must_use]
    pub fn density(&self) -> &[f64] {
        &self.density
    }

    /// Lower ends of the pointwise band.
    #[must_use]
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// Upper ends of the pointwise band.
    #[must_use]
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// The standard deviation of the density in each cell.
    #[must_use]
    pub fn sd(&self) -> &[f64] {
        &self.sd
    }

    /// Probability of each cell.
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.mass
    }

    /// The cell that a place lies in; none outside of all.
    #[must_use]
    pub fn cell(&self, x: f64, y: f64) -> Option<usize> {
        let along = |axis: usize, x: f64| {
            let edges = self.edges(axis);
            let m = edges.len() - 1;
            let inside = x >= edges[0] && x <= edges[m];
            inside.then(|| edges.partition_point(|e| *e <= x).clamp(1, m) - 1)
        };
        Some(along(0, x)? * self.shape()[1] + along(1, y)?)
    }

    /// The density at a place; zero outside of the cells.
    #[must_use]
    pub fn density_at(&self, x: f64, y: f64) -> f64 {
        self.cell(x, y).map_or(0.0, |cell| self.density[cell])
    }

    /// Probability of bands and intervals.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.level
    }

    /// What should be known before the answer is trusted.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Hyperparameters that were averaged over, the most probable first.
    #[must_use]
    pub fn settings(&self) -> &[Setting2d] {
        &self.settings
    }

    /// Effective number of draws, `1 / sum w^2` of their importance weights.
    #[must_use]
    pub fn effective_size(&self) -> f64 {
        self.curves.effective
    }

    /// Shape of the tail of the importance weights; minus infinity where they have no tail.
    #[must_use]
    pub fn pareto_k(&self) -> f64 {
        self.curves.shape
    }

    /// Whether draws carry importance weights; else draws are those of the Laplace approximation,
    /// and the density is the average of modes.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.is_weighted
    }

    /// Functions that the logarithm of the density is made of.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// The sum of the weights of the rows.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.grid.total
    }
}
