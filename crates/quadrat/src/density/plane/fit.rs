//! From rows to what estimates of two columns are made of: cells, modes, draws, bands.

use crate::progress::{Watched, Watcher};

use super::super::basis::Kernel;
use super::super::cells::Cells;
use super::super::error::DensityError;
use super::super::kept::Drawing;
use super::super::kinds::{Correction, Integration};
use super::super::lift::LIFTED;
use super::super::loops;
use super::super::scale::{ColumnScale, scale};
use super::super::warned::{missed, told_of_uneven};
use super::super::warning::Warning;
use super::curves::{Curves, add_to_one, curves};
use super::draw::sample;
use super::functions::Functions;
use super::grid::{CellGrid, Normalisation};
use super::hyper::{Component, HyperOptions, MOST_SETTINGS, explore};
use super::kept::{Kept, POLYNOMIALS};
use super::lift::lift;
use super::mask;
use super::pairs::{Pairs, clean, clean_areas, clean_boxes};
use super::plan::{KnownOfPairs, RowsAndSettings};
use super::spread::spread;
use super::{orders, warned};

/// Newton's decrement at which the last step is taken.
const TOLERANCE: f64 = 1e-3;
/// Cells for each function: with fewer the cells, not the functions, say what can be seen.
const CELLS_EACH: usize = 3;
/// Functions that are always taken, where there are as many cells.
const FEWEST: usize = 24;
/// The extent of the given column, in units of its scale, from which its axis bends.
const FAR_APART: f64 = 8.0;
/// The most places of the given column that get a slice each.
const MOST_PLACES: usize = 100;
/// Below so many effective draws, or above the Pareto shape at which weights have no mean, draws
/// are not believed.
const LEAST_EFFECTIVE: f64 = 200.0;
const LARGEST_SHAPE: f64 = 1.0;
/// How often all draws are looked at: to normalise and weigh them, and for their bands.
const LOOKS: usize = 2;

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

/// What estimates are made of.
#[derive(Debug, Clone)]
pub(in super::super) struct Fit {
    pub grid: CellGrid,
    pub curves: Curves,
    pub level: f64,
    /// Probability of each cell.
    pub mass: Vec<f64>,
    /// Middles of the cells of each axis, less the centre and over the scale of the column.
    pub middles: [Vec<f64>; 2],
    pub scales: [ColumnScale; 2],
    pub density: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub sd: Vec<f64>,
    pub settings: Vec<Setting2d>,
    pub warnings: Vec<Warning>,
    pub functions: usize,
    /// Whether numbers are means over draws; else they are those of the average of modes.
    pub is_mean: bool,
    pub is_weighted: bool,
    pub total: f64,
    /// What it is made from again, beside the grid and the scales.
    pub kept: Kept,
}

impl RowsAndSettings<'_> {
    /// Estimates.
    pub fn fit(&self) -> Result<Fit, DensityError> {
        self.check()?;
        let bounds = self.bounded()?;
        let mut pairs = match self.rows {
            KnownOfPairs::Pairs(columns) => clean(columns, self.weights, bounds, self.log),
            KnownOfPairs::Boxes(ends) => {
                clean_boxes(ends, self.weights.unwrap_or_default(), bounds, self.log)
            }
            KnownOfPairs::Areas(areas) => {
                clean_areas(areas, self.weights.unwrap_or_default(), bounds, self.log)
            }
        }
        .map_err(|error| self.beyond(error, bounds))?;
        let (scales, axes) = self.lay(&pairs, bounds)?;
        let mut warnings = std::mem::take(&mut pairs.warnings);
        for axis in [0, 1] {
            let widened = super::super::warned::widened(self.range[axis], &axes[axis]);
            warnings.extend(widened.map(|w| w.of_column(axis)));
        }
        let areas = match self.rows {
            KnownOfPairs::Areas(areas) => areas,
            KnownOfPairs::Pairs(_) | KnownOfPairs::Boxes(_) => &[],
        };
        let polygons = (self.polygons, areas);
        let grid = CellGrid::new(axes, &pairs, self.kind, polygons, &mut warnings)?;
        warnings.extend(warned::look_out(&pairs, &grid, &scales, self.log));
        let wanted = HyperOptions {
            kernel: self.kernel.unwrap_or(Kernel::Matern52),
            variance: POLYNOMIALS,
            tolerance: TOLERANCE,
            integrate: self.integration != Integration::Map,
        };
        let most = orders::most(grid.total)
            .min(grid.counts.len() / CELLS_EACH)
            .max(FEWEST);
        let watched = Watched::new(self.watcher, MOST_SETTINGS);
        let found = explore(&grid, wanted, most, &start(&grid), &watched);
        let (functions, components) = found?;
        let drawing = Drawing {
            draws: self.draws,
            seed: self.seed,
            level: self.level,
            weigh: self.correction == Correction::ImportanceSampling,
        };
        let kept = Kept::of(wanted.kernel, &functions, &components, drawing, warnings);
        Fit::drawn(
            grid,
            scales,
            kept,
            (&functions, &components[..]),
            self.watcher,
        )
    }

    /// The bounds, which polygons narrow.
    fn bounded(&self) -> Result<[(f64, f64); 2], DensityError> {
        let Some(polygons) = self.polygons else {
            return Ok(self.bounds);
        };
        let extent = mask::extent(polygons);
        let of = |a: usize| {
            let (own, polygons) = (self.bounds[a], extent[a]);
            (own.0.max(polygons.0), own.1.min(polygons.1))
        };
        let bounds = [of(0), of(1)];
        match bounds.iter().all(|(from, to)| from < to) {
            true => Ok(bounds),
            false => Err(DensityError::NoArea),
        }
    }

    /// A row outside of bounds that are those of the polygons lies outside of these.
    fn beyond(&self, error: DensityError, bounds: [(f64, f64); 2]) -> DensityError {
        let DensityError::Column { column, error: own } = &error else {
            return error;
        };
        let (from, to) = self.bounds[*column];
        let DensityError::Outside { row, value, .. } = **own else {
            return error;
        };
        if self.polygons.is_none() || value < from || value > to {
            return error;
        }
        let count = match self.rows {
            KnownOfPairs::Pairs([x, y]) => {
                let is_out = |x: f64, (from, to): (f64, f64)| x < from || x > to;
                let pairs = x
                    .iter()
                    .zip(y)
                    .filter(|(x, y)| x.is_finite() && y.is_finite());
                let out = pairs.filter(|(x, y)| is_out(**x, bounds[0]) || is_out(**y, bounds[1]));
                out.count()
            }
            KnownOfPairs::Boxes(_) | KnownOfPairs::Areas(_) => 1,
        };
        DensityError::Beyond { count, first: row }
    }

    /// Scales and cells of both axes.
    fn lay(
        &self,
        pairs: &Pairs,
        all_bounds: [(f64, f64); 2],
    ) -> Result<([ColumnScale; 2], [Cells; 2]), DensityError> {
        let of = |axis: usize| {
            let log = self.log[axis];
            let scale = scale(&pairs.column(axis, log))?;
            let is_given = axis == 0 && self.kind == Normalisation::Conditional;
            let (mut count, mut bounds) = (self.cells[axis], all_bounds[axis]);
            let mut range = self.range[axis];
            if is_given {
                // No density of the given column is estimated: nothing lies beyond its values.
                // Where some are far from the others the axis bends, so that they do not take all
                // slices.
                let mut ends = loops::extremes(&pairs.values[axis]);
                let far = (scale.most - scale.least) / scale.scale > FAR_APART;
                let places = lattice(&pairs.values[axis]).filter(|(_, n)| {
                    let is_fit = !self.is_asked || *n == count;
                    is_fit && !far && !log && range.is_none()
                });
                if let Some((step, n)) = places {
                    // A slice for each place, with it in the middle.
                    ends = (ends.0 - 0.5 * step, ends.1 + 0.5 * step);
                    count = n;
                }
                let asked = range.unwrap_or(ends);
                ends = (ends.0.min(asked.0), ends.1.max(asked.1));
                (bounds, range) = match far {
                    true => (bounds, Some(ends)),
                    false => (ends, None),
                };
            }
            let mut cells = Cells::lay(count, &scale, bounds, range, log)?;
            if is_given {
                let (least, most) = loops::extremes(&pairs.values[axis]);
                cells.hold(least, most);
            }
            Ok((scale, cells))
        };
        let named = |axis: usize| {
            of(axis).map_err(|error: DensityError| match error {
                DensityError::Constant { rows, value }
                    if axis == 0 && self.kind == Normalisation::Conditional =>
                {
                    DensityError::OnePlace { rows, value }
                }
                other => other.of_column(axis),
            })
        };
        let ((a, b), (c, d)) = (named(0)?, named(1)?);
        Ok(([a, c], [b, d]))
    }
}

impl Fit {
    /// Draws from the modes that were found, and all that follows.
    ///
    /// # Errors
    /// Linear algebra that fails.
    pub fn drawn(
        grid: CellGrid,
        scales: [ColumnScale; 2],
        kept: Kept,
        (functions, components): (&Functions, &[Component]),
        watcher: Watcher<'_>,
    ) -> Result<Self, DensityError> {
        let mut modes = average_of_modes(&grid, components);
        let middles = middles(&grid, &scales);
        let mut warnings = kept.warnings();
        let watched = Watched::of_draws(watcher, LOOKS * kept.drawing.draws);
        let draws = Draws {
            drawing: kept.drawing,
            kernel: kept.kernel,
            grid: &grid,
            functions,
            components,
            watched: &watched,
        };
        let (curves, how) = draws.curves(&mut modes, &middles, &mut warnings)?;
        let level = kept.drawing.level;
        let tail = 0.5 * (1.0 - level);
        let bands = curves.bands(&grid, [tail, 1.0 - tail], &watched);
        let mass = match how {
            How::Modes => modes,
            How::Weighted | How::Plain => bands.mean,
        };
        if grid.kind == Normalisation::Conditional {
            warnings.extend(warned::look_at(&grid, &mass));
        }
        let per_size = |x: &[f64]| -> Vec<f64> {
            let cells = x.iter().enumerate();
            cells.map(|(cell, x)| grid.per_size(cell, *x)).collect()
        };
        let (density, lower, upper) = (
            per_size(&mass),
            per_size(&bands.lower),
            per_size(&bands.upper),
        );
        let missed = missed(&warnings, &mass, [&density, &lower, &upper]);
        warnings.extend(missed);
        Ok(Self {
            density,
            lower,
            upper,
            sd: per_size(&bands.sd),
            settings: components.iter().map(setting).collect(),
            functions: functions.len(),
            total: grid.total,
            level,
            grid,
            curves,
            mass,
            middles,
            scales,
            warnings,
            is_mean: how != How::Modes,
            is_weighted: how == How::Weighted,
            kept,
        })
    }
}

/// What draws are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Laplace's, beside the average of modes.
    Modes,
    /// With importance weights.
    Weighted,
    /// Of the variational normals, without weights.
    Plain,
}

/// What draws are made from.
struct Draws<'a> {
    drawing: Drawing,
    kernel: Kernel,
    grid: &'a CellGrid,
    functions: &'a Functions,
    components: &'a [Component],
    watched: &'a Watched<'a>,
}

impl Draws<'_> {
    /// Draws; where importance weights are too uneven those of the variational normals, without
    /// weights.
    fn curves(
        &self,
        modes: &mut [f64],
        middles: &[Vec<f64>; 2],
        warnings: &mut Vec<Warning>,
    ) -> Result<(Curves, How), DensityError> {
        let Self {
            drawing,
            kernel,
            grid,
            functions,
            components,
            watched,
        } = *self;
        let Drawing {
            draws, seed, weigh, ..
        } = drawing;
        let draw = |components: &[Component], modes: &[f64], is: bool| {
            let sample = sample(grid, functions, components, draws, seed, is)?;
            let found = curves(grid, functions, &sample, modes, middles, is, watched);
            Ok::<_, DensityError>(found)
        };
        if !weigh {
            return Ok((draw(components, modes, false)?, How::Modes));
        }
        let found = draw(components, modes, true)?;
        let least = LEAST_EFFECTIVE.min(draws as f64 / 5.0);
        if found.effective >= least && found.shape <= LARGEST_SHAPE {
            return Ok((found, How::Weighted));
        }
        let (effective, pareto_k) = (found.effective, found.shape);
        drop(found);
        if !grid.patches.is_empty() {
            // Variational normals are those of rows whose cells are known.
            let few = draws.min(LIFTED);
            let mut lifted = sample(grid, functions, components, few, seed, false)?;
            let theta = &mut lifted.theta;
            let on = (grid, functions, kernel);
            let (raised, told) = lift(on, components, theta, modes)?.unzip();
            lifted.raised = raised;
            warnings.extend(told_of_uneven((effective, pareto_k), draws, told));
            let mut plain = curves(grid, functions, &lifted, modes, middles, false, watched);
            (plain.effective, plain.shape) = (effective, pareto_k);
            return Ok((plain, How::Modes));
        }
        warnings.push(Warning::Unweighted {
            effective,
            draws,
            pareto_k,
        });
        let mut plain = draw(&spread(grid, functions, components)?, modes, false)?;
        (plain.effective, plain.shape) = (effective, pareto_k);
        Ok((plain, How::Plain))
    }
}

fn setting(component: &Component) -> Setting2d {
    Setting2d {
        lengthscales: component.lengths,
        sd: component.sd,
        weight: component.weight,
    }
}

/// The distance of equally spaced values and the number of their places, from the smallest to the
/// largest; none where they are not, or more than a hundred.
fn lattice(values: &[f64]) -> Option<(f64, usize)> {
    let mut places: Vec<f64> = Vec::new();
    for x in values {
        let at = places.partition_point(|p| p < x);
        if places.get(at) != Some(x) {
            places.insert(at, *x);
            if places.len() > MOST_PLACES {
                return None;
            }
        }
    }
    let (first, last) = (*places.first()?, *places.last()?);
    if places.len() < 2 {
        return None;
    }
    let gaps = places.windows(2).map(|w| w[1] - w[0]);
    let step = gaps.fold(f64::INFINITY, f64::min);
    let number = (last - first) / step;
    // Decimal fractions are no doubles.
    let is_whole = |steps: f64| (steps - steps.round()).abs() < 1e-6;
    let is_even = places.iter().all(|p| is_whole((p - first) / step));
    (is_even && number < MOST_PLACES as f64).then(|| (step, number.round() as usize + 1))
}

/// A normal density in `v` with the moments of each axis where there is a quadratic term; else a
/// flat one. In the order of [`Functions`].
fn start(grid: &CellGrid) -> Vec<f64> {
    let mut out = Vec::new();
    let axes = match grid.kind {
        Normalisation::Joint => 0..2,
        Normalisation::Conditional => 1..2,
    };
    for axis in axes {
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

fn middles(grid: &CellGrid, scales: &[ColumnScale; 2]) -> [Vec<f64>; 2] {
    [0, 1].map(|axis| {
        let cells = &grid.axes[axis];
        let (centre, scale) = cells.unit(&scales[axis]);
        let middle = |e: &[f64]| (e[0] + 0.5 * (e[1] - e[0]) - centre) / scale;
        cells.edges.windows(2).map(middle).collect()
    })
}

fn average_of_modes(grid: &CellGrid, components: &[Component]) -> Vec<f64> {
    let mut out = vec![0.0; grid.counts.len()];
    for c in components {
        out.iter_mut()
            .zip(&c.mode.mass)
            .for_each(|(o, u)| *o += c.weight * u);
    }
    out.chunks_exact_mut(grid.part()).for_each(add_to_one);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lattices_are_equally_spaced() {
        assert_eq!(lattice(&[3.0, 1.0, 7.0, 1.0]), Some((2.0, 4)));
        assert_eq!(lattice(&[0.1, 0.2, 0.7]).map(|l| l.1), Some(7));
        assert_eq!(lattice(&[0.0, 1.0, 1.5, 2.2]), None);
        assert_eq!(lattice(&[0.0, 1.0, 1000.0]), None);
        let many: Vec<f64> = (0..300).map(|i| f64::from(i).sqrt()).collect();
        assert_eq!(lattice(&many), None);
        assert_eq!(lattice(&[2.0, 2.0]), None);
    }
}
