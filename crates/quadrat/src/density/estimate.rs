//! From rows to an estimate: cells, modes, draws, bands.

use crate::progress::Watched;

use super::basis::{CellBasis, Kernel};
use super::cells::Cells;
use super::counts::CellCounts;
use super::curves::{Curves, Work, curves};
use super::error::DensityError;
use super::hyper::{Component, explore};
use super::kept::{Drawing, Kept, KeptMode, POLYNOMIALS};
use super::kinds::Integration;
use super::lift::LIFTED;
use super::lift_column::lift;
use super::loops;
use super::map::most_probable;
use super::probable::probable;
use super::rows::{Clean, clean};
use super::scale::scale;
use super::shared::answers;
use super::split::sample;
use super::warned::{beyond_all, look_out, missed, told_of_uneven, widened};
use super::warning::Warning;
use super::{Correction, Density, Prior, hyper, probable};

/// Newton's decrement at which the last step is taken: the mode then errs by about its square in
/// standard deviations, the evidence by about it, in nats.
pub(super) const TOLERANCE: f64 = 3e-3;
/// Below so many effective draws, or above the Pareto shape at which weights have no mean, draws
/// are not believed.
const LEAST_EFFECTIVE: f64 = 200.0;
const LARGEST_SHAPE: f64 = 1.0;
/// Mass over which the simultaneous band holds.
const CENTRAL: f64 = 0.9;
/// Hyperparameters that were averaged over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Lengthscale, in units of the scale of the data within two of it from their centre, and
    /// logarithmic beyond where an end is open.
    pub lengthscale: f64,
    /// Standard deviation of the log density.
    pub sd: f64,
    /// Posterior probability.
    pub weight: f64,
}

/// A density with what is known of its error.
///
/// Arrays are over the cells. Everything with an interval comes from draws of whole densities.
#[derive(Debug, Clone)]
pub struct Estimate {
    pub(super) cells: Cells,
    pub(super) curves: Curves,
    pub(super) level: f64,
    /// Probability of each cell.
    pub(super) mass: Vec<f64>,
    density: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    simultaneous: (Vec<f64>, Vec<f64>),
    settings: Vec<Setting>,
    warnings: Vec<Warning>,
    total: f64,
    is_weighted: bool,
    /// What it is made from again.
    pub(super) kept: Kept,
}

impl Density<'_> {
    /// Estimates the density.
    ///
    /// # Errors
    /// Rows, weights and settings that cannot be used, constant rows, and values that double
    /// precision cannot tell apart.
    ///
    /// # Numerics
    /// `O(n)` in the rows for values of equal weight, `O(n log n)` else; then about `60 (cells r +
    /// r^3)` operations with `r = 100` for the hyperparameters and `cells r` for every draw.
    pub fn estimate(&self) -> Result<Estimate, DensityError> {
        self.check()?;
        let mut rows = clean(self.rows, self.weights, self.bounds, self.log)?;
        let scale = scale(&into_axis(&rows, self.log))?;
        let published = self.prior == Prior::Published;
        let lay = if published {
            Cells::lay_evenly
        } else {
            Cells::lay
        };
        let cells = lay(self.cells, &scale, self.bounds, self.range, self.log)?;
        let mut warnings = std::mem::take(&mut rows.warnings);
        warnings.extend(widened(self.range, &cells));
        let counts = CellCounts::new(&rows, &cells, &mut warnings)?;
        look_out(&rows, &scale, &cells, &counts, self.log, &mut warnings);
        let mut kept = Kept {
            cells,
            counts,
            published,
            kernel: self.kernel.unwrap_or(match published {
                true => Kernel::Se,
                false => Kernel::default(),
            }),
            drawing: Drawing {
                draws: self.draws,
                seed: self.seed,
                level: self.level,
                weigh: self.correction == Correction::ImportanceSampling,
            },
            warnings,
            modes: Vec::new(),
        };
        let basis = kept.basis();
        let components = self.components(&kept, &basis)?;
        kept.modes = components.iter().map(KeptMode::of).collect();
        Estimate::drawn(kept, &basis, &components)
    }

    /// Settings of the hyperparameters that matter, with their modes.
    fn components(&self, kept: &Kept, basis: &CellBasis) -> Result<Vec<Component>, DensityError> {
        let (cells, counts, kernel) = (&kept.cells, &kept.counts, kept.kernel);
        let start = start(counts, cells, basis.view(basis.r()).q);
        let watched = |most| Watched::new(self.watcher, most);
        if kept.published {
            let watched = watched(probable::MOST_SETTINGS);
            let found = most_probable(counts, basis, cells, kernel, &start, &watched)?;
            return Ok(vec![found]);
        }
        match self.integration {
            Integration::Auto => {
                let watched = watched(hyper::MOST_SETTINGS);
                let start = (&*start, TOLERANCE);
                explore(counts, basis, cells, kernel, POLYNOMIALS, start, &watched)
            }
            way => {
                let watched = watched(probable::MOST_SETTINGS);
                let way = (POLYNOMIALS, way);
                probable(counts, basis, cells, kernel, way, &start, &watched)
            }
        }
    }
}

impl Estimate {
    /// Draws from the modes that were found, and all that follows.
    ///
    /// # Errors
    /// Linear algebra that fails.
    pub(super) fn drawn(
        kept: Kept,
        basis: &CellBasis,
        components: &[Component],
    ) -> Result<Self, DensityError> {
        let Drawing {
            draws, seed, weigh, ..
        } = kept.drawing;
        let (counts, measure) = (&kept.counts, &kept.cells.log_measure);
        let mut warnings = kept.warnings.clone();
        let draw = |weigh: bool, draws: usize| {
            sample(counts, basis, measure, components, draws, seed, weigh)
        };
        let mut found = curves(counts, draw(weigh, draws)?, weigh);
        let uneven = weigh
            && (found.effective < LEAST_EFFECTIVE.min(draws as f64 / 5.0)
                || found.shape > LARGEST_SHAPE);
        let is_weighted = weigh && !uneven;
        let mut modes = average_of_modes(components);
        if uneven {
            let (effective, pareto_k) = (found.effective, found.shape);
            let few = match counts.spans.is_empty() {
                true => draws,
                false => draws.min(LIFTED),
            };
            let mut plain = draw(false, few)?;
            let log_mass = &mut plain.log_mass;
            let moved = lift(counts, basis, measure, components, log_mass, &mut modes)?;
            warnings.extend(told_of_uneven((effective, pareto_k), draws, moved));
            warnings.extend(beyond_all(counts, &kept.cells));
            found = Curves {
                effective,
                shape: pareto_k,
                ..curves(counts, plain, false)
            };
        }
        let mass = match is_weighted {
            true => found.mean.clone(),
            false => modes,
        };
        let setting = |c: &Component| Setting {
            lengthscale: c.length,
            sd: c.sd,
            weight: c.weight,
        };
        let settings = components.iter().map(setting).collect();
        Ok(assemble(kept, found, mass, settings, warnings, is_weighted))
    }
}

/// Rows with their logarithms where the axis is logarithmic.
fn into_axis(rows: &Clean, log: bool) -> std::borrow::Cow<'_, Clean> {
    if !log {
        return std::borrow::Cow::Borrowed(rows);
    }
    let mut out = rows.clone();
    out.values.iter_mut().for_each(|x| *x = x.ln());
    for (a, b, _) in &mut out.intervals {
        *a = a.max(0.0).ln();
        *b = b.ln();
    }
    std::borrow::Cow::Owned(out)
}

/// A normal density in `v` with the moments of the rows where there is a quadratic term; else a
/// flat one.
pub(super) fn start(counts: &CellCounts, cells: &Cells, polynomials: usize) -> Vec<f64> {
    if polynomials < 2 {
        return Vec::new();
    }
    let mut mass = counts.exact.clone();
    for span in &counts.spans {
        let each = span.weight / (span.last - span.first + 1) as f64;
        span.cells().for_each(|j| mass[j] += each);
    }
    let pairs = || mass.iter().zip(&cells.centres);
    let mean = pairs().map(|(m, v)| m * v).sum::<f64>() / counts.total;
    let variance = pairs().map(|(m, v)| m * (v - mean).powi(2)).sum::<f64>() / counts.total;
    let variance = variance.max(cells.step.powi(2));
    vec![mean / variance, -0.5 / variance]
}

fn average_of_modes(components: &[Component]) -> Vec<f64> {
    let cells = components.first().map_or(0, |c| c.mode.look.u.len());
    let mut out = vec![0.0; cells];
    for c in components {
        out.iter_mut()
            .zip(&c.mode.look.u)
            .for_each(|(o, u)| *o += c.weight * u);
    }
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|x| *x /= sum);
    out
}

/// Bands and the rest.
fn assemble(
    kept: Kept,
    curves: Curves,
    mass: Vec<f64>,
    settings: Vec<Setting>,
    mut warnings: Vec<Warning>,
    is_weighted: bool,
) -> Estimate {
    let (cells, level) = (&kept.cells, kept.drawing.level);
    let m = cells.len();
    let tail = 0.5 * (1.0 - level);
    let widths: Vec<f64> = (0..m).map(|j| cells.width(j)).collect();
    let density: Vec<f64> = mass.iter().zip(&widths).map(|(u, w)| u / w).collect();
    let (mut lower, mut upper) = (vec![0.0; m], vec![0.0; m]);
    let mut work = Work::default();
    for j in 0..m {
        let [a, b] = curves.quantiles(j, [tail, 1.0 - tail], &mut work);
        lower[j] = a.exp() / widths[j];
        upper[j] = b.exp() / widths[j];
    }
    warnings.extend(missed(&warnings, &mass, [&density, &lower, &upper]));
    let (a, b) = simultaneous(&curves, &mass, level, &mut work);
    let scaled = |log: Vec<f64>| log.iter().zip(&widths).map(|(l, w)| l.exp() / w).collect();
    Estimate {
        level,
        simultaneous: (scaled(a), scaled(b)),
        cells: kept.cells.clone(),
        total: kept.counts.total,
        kept,
        curves,
        mass,
        density,
        lower,
        upper,
        settings,
        warnings,
        is_weighted,
    }
}

/// Mean plus and minus `c` standard deviations of the log probability, `c` such that the whole
/// curve lies within over the central mass at the level; elsewhere the same `c` is used.
fn simultaneous(
    curves: &Curves,
    mass: &[f64],
    level: f64,
    work: &mut Work,
) -> (Vec<f64>, Vec<f64>) {
    let m = mass.len();
    let (mut means, mut sds) = (vec![0.0; m], vec![0.0; m]);
    for j in 0..m {
        let column = curves.log_mass.col_as_slice(j);
        let mean = crate::linalg::dot(column, &curves.weights);
        let second = loops::spread(column, &curves.weights, mean);
        means[j] = mean;
        sds[j] = second.max(0.0).sqrt();
    }
    let mut largest = vec![0.0_f64; curves.len()];
    let mut before = 0.0;
    for j in 0..m {
        let middle = before + 0.5 * mass[j];
        before += mass[j];
        if (middle - 0.5).abs() <= 0.5 * CENTRAL && sds[j] > 0.0 {
            let by = 1.0 / sds[j];
            let column = curves.log_mass.col_as_slice(j);
            loops::farther(&mut largest, column, means[j], by);
        }
    }
    let [c] = work.quantiles(&largest, &curves.weights, [level]);
    let at = |sign: f64| {
        means
            .iter()
            .zip(&sds)
            .map(|(m, s)| m + sign * c * s)
            .collect()
    };
    (at(-1.0), at(1.0))
}

answers!(Estimate);

impl Estimate {
    /// Edges of the cells, one more than cells, ascending.
    #[must_use]
    pub fn edges(&self) -> &[f64] {
        &self.cells.edges
    }

    /// The middle of each cell on the axis of the estimate: the place that the density of the cell
    /// stands for.
    #[must_use]
    pub fn places(&self) -> Vec<f64> {
        self.cells.places()
    }

    /// The band that holds the whole curve at the level, over the central 90 % of the mass.
    #[must_use]
    pub fn simultaneous(&self) -> (&[f64], &[f64]) {
        (&self.simultaneous.0, &self.simultaneous.1)
    }

    /// The cell that a place lies in; none outside of all.
    #[must_use]
    pub fn cell(&self, x: f64) -> Option<usize> {
        self.cells.find(x)
    }

    /// The density at a place; zero outside of the cells.
    #[must_use]
    pub fn density_at(&self, x: f64) -> f64 {
        self.cell(x).map_or(0.0, |j| self.density[j])
    }

    /// Hyperparameters that were averaged over, the most probable first.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }
}
