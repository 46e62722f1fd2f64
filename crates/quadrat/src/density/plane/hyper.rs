//! Hyperparameters of a density over a plane: the most probable ones, and a design about them.

use crate::linalg::{Mat, dot};
use crate::optimise::{Options, minimise};
use crate::progress::Watched;

use super::super::basis::Kernel;
use super::super::design::{HyperPosterior, design, directions, heaviest, looked_at};
use super::super::error::DensityError;
use super::functions::Functions;
use super::grid::CellGrid;
use super::newton::{CellProblem, Mode};
use super::orders;
use super::prior::{AxisCovariance, CoefficientPrior};

/// Median and standard deviation of the logarithm of lengthscales, in units of `v`.
const MEDIAN_LENGTH: f64 = 1.5;
const LENGTH_SPREAD: f64 = 1.0;
/// Scale of the half-Student-t prior with four degrees of freedom of the standard deviation.
const SD_SCALE: f64 = 1.0;
/// Limits of standard deviation and lengthscale, the latter also above so many cells.
const SDS: (f64, f64) = (0.02, 50.0);
const LONGEST: f64 = 50.0;
const LEAST_CELLS: f64 = 1.5;
/// Slope of the log posterior at which the search ends: the design about the mode does the rest.
const SLOPE: f64 = 0.03;
/// Rounds of the search, and how many settings one of usual length looks at.
const ROUNDS: usize = 2;
const EACH: usize = 20;
/// Settings that are looked at once the search has ended.
const AFTER: usize = looked_at(3);
/// All of them, as far as can be told before.
pub(super) const MOST_SETTINGS: usize = ROUNDS * EACH + AFTER;

/// One setting of the hyperparameters.
#[derive(Debug, Clone)]
pub(super) struct Component {
    /// Lengthscales in `v`.
    pub lengths: [f64; 2],
    /// Standard deviation of the function.
    pub sd: f64,
    /// Posterior probability.
    pub weight: f64,
    /// Prior of the coefficients.
    pub prior: CoefficientPrior,
    /// The mode, or the centre of another normal about which draws are made.
    pub mode: Mode,
    /// What the log joint density of draws is compared with: that at the mode, so that settings are
    /// drawn by their evidence, and half of how much the determinant of the precision is larger
    /// than there.
    pub reference: f64,
}

/// Prior and accuracy.
#[derive(Debug, Clone, Copy)]
pub(super) struct HyperOptions {
    /// The kernel of both axes.
    pub kernel: Kernel,
    /// Prior variance of the coefficients of polynomials.
    pub variance: f64,
    /// Newton's decrement.
    pub tolerance: f64,
    /// Whether to average over hyperparameters.
    pub integrate: bool,
}

/// The evidence at logarithms of standard deviation and lengthscales.
pub(super) struct EvidenceAt {
    pub mode: Mode,
    pub prior: CoefficientPrior,
    /// Slopes of the log evidence, where they were asked for.
    pub slopes: [f64; 3],
}

/// Laplace's evidence, and its exact gradient in the logarithms of standard deviation and
/// lengthscales, the movement of the mode included.
///
/// # Numerics
/// As in one dimension (`density/map.rs`), with `diag (Phi A^-1 Phi')` from the adjoint of the
/// transforms that make `A`.
pub(super) fn evidence(
    problem: CellProblem<'_>,
    wanted: HyperOptions,
    at: [f64; 3],
    start: &[f64],
    sloped: bool,
) -> Result<EvidenceAt, DensityError> {
    let CellProblem { grid, functions } = problem;
    let (sd, lengths) = (at[0].exp(), [at[1].exp(), at[2].exp()]);
    let cosines = functions.cosines();
    let axes =
        [0, 1].map(|a| AxisCovariance::new(wanted.kernel, &grid.axes[a], lengths[a], cosines[a]));
    let cells = grid.counts.len();
    let prior = CoefficientPrior::new(functions, &axes, cells, wanted.variance, sd)?;
    let mode = problem.mode(&prior, start, wanted.tolerance)?;
    let mut slopes = [0.0; 3];
    if sloped {
        let inverse = mode.factor.inverse();
        let alpha = prior.pull(&mode.theta);
        let pushed = {
            let s = shift(problem, &mode, &inverse);
            prior.pull(&mode.factor.solve(&functions.project(&s)))
        };
        slopes = prior.slopes(functions, &axes, cells, sd, &alpha, &pushed, &inverse);
    }
    Ok(EvidenceAt {
        mode,
        prior,
        slopes,
    })
}

/// The slope of `-1/2 log |A|` in the function on the cells.
fn shift(problem: CellProblem<'_>, mode: &Mode, inverse: &Mat<f64>) -> Vec<f64> {
    let size = problem.grid.part();
    let mut out = problem.variances(&mode.mass, inverse);
    let parts = out.chunks_exact_mut(size).zip(mode.mass.chunks_exact(size));
    for ((v, u), n) in parts.zip(&problem.grid.totals) {
        let mean = dot(u, v);
        let terms = v.iter_mut().zip(u);
        terms.for_each(|(v, u)| *v = -0.5 * n * u * (*v - mean));
    }
    let CellProblem { grid, functions } = problem;
    if !grid.patches.is_empty() {
        let patches = &grid.patches;
        patches.add_shift(&mut out, functions, &mode.mass, inverse);
    }
    out
}

/// Log prior density of the logarithms, and its slopes.
pub(super) fn log_prior(at: [f64; 3]) -> (f64, [f64; 3]) {
    let ratio = (at[0].exp() / SD_SCALE).powi(2) / 4.0;
    let mut value = at[0] - 2.5 * ratio.ln_1p();
    let mut slopes = [1.0 - 5.0 * ratio / (1.0 + ratio), 0.0, 0.0];
    for a in [1, 2] {
        let z = (at[a] - MEDIAN_LENGTH.ln()) / LENGTH_SPREAD;
        value -= 0.5 * z * z;
        slopes[a] = -z / LENGTH_SPREAD;
    }
    (value, slopes)
}

/// The log posterior and its slopes.
struct Looked {
    value: f64,
    slopes: [f64; 3],
    found: EvidenceAt,
}

/// What is searched.
struct Search<'a> {
    problem: CellProblem<'a>,
    wanted: HyperOptions,
    bounds: [(f64, f64); 3],
    /// Who is told of every setting, and how many follow the search.
    watched: &'a Watched<'a>,
    after: usize,
}

impl Search<'_> {
    fn look(&self, at: [f64; 3], start: &[f64], sloped: bool) -> Result<Looked, DensityError> {
        let found = evidence(self.problem, self.wanted, at, start, sloped)?;
        self.watched.searched(self.after);
        let (value, mut slopes) = log_prior(at);
        slopes
            .iter_mut()
            .zip(found.slopes)
            .for_each(|(s, f)| *s += f);
        Ok(Looked {
            value: value + found.mode.log_evidence,
            slopes,
            found,
        })
    }

    /// The most probable hyperparameters, from a place.
    fn top(&self, from: [f64; 3], start: &[f64]) -> Result<([f64; 3], Vec<f64>), DensityError> {
        let mut last = start.to_vec();
        let mut failure = None;
        let mut objective = |at: &[f64], gradient: &mut [f64]| match self.look(
            [at[0], at[1], at[2]],
            &last,
            true,
        ) {
            Ok(looked) => {
                gradient
                    .iter_mut()
                    .zip(looked.slopes)
                    .for_each(|(g, s)| *g = -s);
                last = looked.found.mode.theta;
                Some(-looked.value)
            }
            Err(error) => {
                failure = Some(error);
                None
            }
        };
        let options = Options {
            gradient_tolerance: SLOPE,
            ..Options::default()
        };
        let report = minimise(&mut objective, &from, &self.bounds, &options);
        if !report.value.is_finite() {
            return Err(failure.unwrap_or(DensityError::NoMode {
                reason: report.reason,
            }));
        }
        Ok(([report.x[0], report.x[1], report.x[2]], last))
    }

    fn clamp(&self, at: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|a| at[a].clamp(self.bounds[a].0, self.bounds[a].1))
    }

    fn component(&self, at: [f64; 3], start: &[f64]) -> Result<(f64, Component), DensityError> {
        let looked = self.look(at, start, false)?;
        let component = Component {
            lengths: [at[1].exp(), at[2].exp()],
            sd: at[0].exp(),
            weight: 1.0,
            reference: looked.found.mode.log_joint(),
            prior: looked.found.prior,
            mode: looked.found.mode,
        };
        Ok((looked.value, component))
    }
}

/// The log posterior about its top, with the mode there to begin from.
struct About<'a> {
    search: &'a Search<'a>,
    start: &'a [f64],
}

impl HyperPosterior<3> for About<'_> {
    fn bounds(&self) -> [(f64, f64); 3] {
        self.search.bounds
    }

    fn value(&self, at: [f64; 3]) -> f64 {
        let looked = self.search.look(at, self.start, false);
        looked.map_or(f64::NEG_INFINITY, |looked| looked.value)
    }

    fn sloped(&self, at: [f64; 3]) -> Result<(f64, [f64; 3]), DensityError> {
        let looked = self.search.look(at, self.start, true)?;
        Ok((looked.value, looked.slopes))
    }
}

/// Modes at the settings that matter, and the functions they are made of.
///
/// # Errors
/// Where no mode is found at the first setting.
pub(super) fn explore(
    grid: &CellGrid,
    wanted: HyperOptions,
    most: usize,
    start: &[f64],
    watched: &Watched<'_>,
) -> Result<(Functions, Vec<Component>), DensityError> {
    let shortest = [0, 1].map(|a| (LEAST_CELLS * grid.axes[a].step).ln());
    let longest = LONGEST.ln();
    let bounds = [
        (SDS.0.ln(), SDS.1.ln()),
        (shortest[0].min(longest), longest),
        (shortest[1].min(longest), longest),
    ];
    let first = MEDIAN_LENGTH.ln();
    let (mut at, mut theta) = ([0.0, first, first], start.to_vec());
    let mut functions = Functions::new(grid, &[]);
    // What functions are needed depends on the lengthscales, which are found with some.
    for round in 0..ROUNDS {
        let after = (ROUNDS - 1 - round) * EACH + AFTER;
        watched.left(EACH + after);
        let lengths = [at[1].exp(), at[2].exp()];
        let taken = orders::choose(grid, wanted.kernel, at[0].exp(), lengths, most);
        let next = Functions::new(grid, &taken);
        if round > 0 && functions.is_same(&next) {
            break;
        }
        theta = orders::moved(&functions, &theta, &next);
        functions = next;
        let problem = CellProblem {
            grid,
            functions: &functions,
        };
        let search = Search {
            problem,
            wanted,
            bounds,
            watched,
            after,
        };
        let from = search.clamp(at);
        (at, theta) = search.top(from, &theta)?;
    }
    let problem = CellProblem {
        grid,
        functions: &functions,
    };
    let search = Search {
        problem,
        wanted,
        bounds,
        watched,
        after: 0,
    };
    watched.left(if wanted.integrate { AFTER } else { 1 });
    let components = about(&search, at, &theta)?;
    Ok((functions, components))
}

/// The setting at the top, and those of the design about it.
fn about(
    search: &Search<'_>,
    top: [f64; 3],
    theta: &[f64],
) -> Result<Vec<Component>, DensityError> {
    let (best, component) = search.component(top, theta)?;
    if !search.wanted.integrate {
        return Ok(vec![component]);
    }
    let around = About {
        search,
        start: theta,
    };
    let directions = directions(&around, top)?;
    let theta = component.mode.theta.clone();
    let mut out = Vec::new();
    for (z, weight) in design::<3>() {
        let moved = |a: usize| top[a] + (0..3).map(|k| z[k] * directions[k][a]).sum::<f64>();
        if z == [0.0; 3] {
            out.push((weight, component.clone()));
        } else if let Ok((value, c)) = search.component(search.clamp([0, 1, 2].map(moved)), &theta)
        {
            out.push((weight * (value - best).exp(), c));
        }
    }
    let all = heaviest(out).into_iter();
    Ok(all.map(|(weight, c)| Component { weight, ..c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_the_prior_are_differences() {
        let at = [0.3, -0.4, 1.2];
        let (_, slopes) = log_prior(at);
        for a in 0..3 {
            let moved = |h: f64| {
                let mut at = at;
                at[a] += h;
                log_prior(at).0
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            // Central differences err by h^2 and by eps / h.
            assert!((slopes[a] - difference).abs() < 1e-9);
        }
    }
}
