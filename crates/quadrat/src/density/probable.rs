//! The most probable hyperparameters of the default prior, and a central composite design about
//! them, in place of the grid of all.

use std::cell::RefCell;

use crate::optimise::{Options, minimise};
use crate::progress::Watched;

use super::basis::{CellBasis, Kernel, Length};
use super::cells::Cells;
use super::counts::CellCounts;
use super::design::{HyperPosterior, design, directions, heaviest, looked_at};
use super::error::DensityError;
use super::hyper::{Component, LEAST_CELLS, LENGTH_SPREAD, MEDIAN_LENGTH, SD_SCALE};
use super::kinds::Integration;
use super::map::{Sloped, evidence};
use super::newton::CellProblem;

/// Newton's decrement: the gradient of the evidence errs by about as much.
const TOLERANCE: f64 = 1e-7;
/// Slope of the log posterior at which the search ends.
const SLOPE: f64 = 1e-3;
/// Settings that are looked at once the search has ended.
const AFTER: usize = looked_at(2);
/// And with those of a search of usual length.
pub(super) const MOST_SETTINGS: usize = 40 + AFTER;
/// Limits of standard deviation and lengthscale: those of the grid.
const SDS: (f64, f64) = (0.05, 20.0);
const LENGTHS: (f64, f64) = (0.1, 25.6);

/// Log prior density of the logarithms of standard deviation and lengthscale, and its slopes.
pub(super) fn log_prior(at: [f64; 2]) -> (f64, [f64; 2]) {
    let ratio = (at[0].exp() / SD_SCALE).powi(2) / 4.0;
    let z = (at[1] - MEDIAN_LENGTH.ln()) / LENGTH_SPREAD;
    let value = at[0] - 2.5 * ratio.ln_1p() - 0.5 * z * z;
    (
        value,
        [1.0 - 5.0 * ratio / (1.0 + ratio), -z / LENGTH_SPREAD],
    )
}

/// The log posterior of the logarithms of standard deviation and lengthscale.
struct Search<'a> {
    counts: &'a CellCounts,
    basis: &'a CellBasis,
    cells: &'a Cells,
    kernel: Kernel,
    /// Prior variance of the coefficients of polynomials.
    variance: f64,
    /// Who is told of every setting, and how many follow the search.
    watched: &'a Watched<'a>,
    after: usize,
    /// Where the next mode is searched from.
    last: RefCell<Vec<f64>>,
}

impl Search<'_> {
    fn look(&self, at: [f64; 2]) -> Result<Sloped, DensityError> {
        let view = self.basis.view(self.basis.r());
        let start = self.last.borrow().clone();
        let (counts, cells) = (self.counts, self.cells);
        let found = evidence(
            counts,
            view,
            cells,
            self.kernel,
            self.variance,
            at,
            &start,
            TOLERANCE,
        )?;
        self.last.replace(found.mode.theta.clone());
        self.watched.searched(self.after);
        Ok(found)
    }

    /// The most probable values.
    fn top(&self) -> Result<[f64; 2], DensityError> {
        let mut failure = None;
        let mut objective = |at: &[f64], gradient: &mut [f64]| match self.sloped([at[0], at[1]]) {
            Ok((value, slopes)) => {
                gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g = -s);
                Some(-value)
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
        let from = self.clamp([0.0, MEDIAN_LENGTH.ln()]);
        let report = minimise(&mut objective, &from, &self.bounds(), &options);
        if !report.value.is_finite() {
            return Err(failure.unwrap_or(DensityError::NoMode {
                reason: report.reason,
            }));
        }
        Ok([report.x[0], report.x[1]])
    }

    /// A setting with its mode, and the log posterior.
    fn component(&self, at: [f64; 2]) -> Result<(f64, Component), DensityError> {
        let view = self.basis.view(self.basis.r());
        let length = Length::new(self.kernel, self.cells, at[1].exp(), view.r())?;
        let prior = length.prior(view.q, view.r(), self.variance, at[0].exp())?;
        let problem = CellProblem {
            counts: self.counts,
            basis: view,
            log_measure: &self.cells.log_measure,
        };
        let mode = problem.mode(&prior, &self.last.borrow(), TOLERANCE)?;
        self.watched.searched(self.after);
        let value = mode.log_evidence + log_prior(at).0;
        let component = Component {
            length: at[1].exp(),
            sd: at[0].exp(),
            weight: 1.0,
            r: view.r(),
            prior,
            mode,
        };
        Ok((value, component))
    }
}

impl HyperPosterior<2> for Search<'_> {
    fn bounds(&self) -> [(f64, f64); 2] {
        let shortest = (LEAST_CELLS * self.cells.step).clamp(LENGTHS.0, LENGTHS.1);
        [(SDS.0.ln(), SDS.1.ln()), (shortest.ln(), LENGTHS.1.ln())]
    }

    fn value(&self, at: [f64; 2]) -> f64 {
        self.component(at)
            .map_or(f64::NEG_INFINITY, |found| found.0)
    }

    fn sloped(&self, at: [f64; 2]) -> Result<(f64, [f64; 2]), DensityError> {
        let (found, (value, slopes)) = (self.look(at)?, log_prior(at));
        let slopes = [0, 1].map(|a| slopes[a] + found.slope[a]);
        Ok((value + found.value, slopes))
    }
}

/// The most probable setting, alone or with those of the design about it.
///
/// # Arguments
/// * `variance` - prior variance of the coefficients of polynomials
///
/// # Errors
/// Where no mode is found at the most probable setting.
pub(super) fn probable(
    counts: &CellCounts,
    basis: &CellBasis,
    cells: &Cells,
    kernel: Kernel,
    (variance, integration): (f64, Integration),
    start: &[f64],
    watched: &Watched<'_>,
) -> Result<Vec<Component>, DensityError> {
    let search = Search {
        counts,
        basis,
        cells,
        kernel,
        variance,
        watched,
        after: AFTER,
        last: RefCell::new(start.to_vec()),
    };
    let top = search.top()?;
    watched.left(AFTER);
    let search = Search { after: 0, ..search };
    let (best, component) = search.component(top)?;
    if integration == Integration::Map {
        return Ok(vec![component]);
    }
    let directions = directions(&search, top)?;
    search.last.replace(component.mode.theta.clone());
    let mut out = Vec::new();
    for (z, weight) in design::<2>() {
        let moved = |a: usize| top[a] + (0..2).map(|k| z[k] * directions[k][a]).sum::<f64>();
        let at = search.clamp([0, 1].map(moved));
        if let Ok((value, c)) = search.component(at) {
            out.push((weight * (value - best).exp(), c));
        }
    }
    let all = heaviest(out).into_iter();
    Ok(all.map(|(weight, c)| Component { weight, ..c }).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::normals;
    use super::super::{Density, Estimate};
    use super::*;

    #[test]
    fn slopes_of_the_prior_are_differences() {
        let at = [0.3, -0.4];
        for a in [0, 1] {
            let moved = |h: f64| {
                let mut at = at;
                at[a] += h;
                log_prior(at).0
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            // Central differences err by h^2 and by eps / h.
            assert!((log_prior(at).1[a] - difference).abs() < 1e-9);
        }
    }

    fn of(values: &[f64], integration: Integration) -> Estimate {
        let density = Density::new(values).cells(100).integrate(integration);
        density.estimate().unwrap()
    }

    /// Two clusters: the evidence has a clear top.
    fn clusters() -> Vec<f64> {
        let all = normals(240, 3);
        let apart = |(i, x): (usize, &f64)| if i % 3 == 0 { x - 3.0 } else { 0.5 * x + 2.0 };
        all.iter().enumerate().map(apart).collect()
    }

    #[test]
    fn a_design_and_a_grid_average_alike_and_the_most_probable_values_are_surer() {
        let values = clusters();
        let ways = [Integration::Auto, Integration::Map, Integration::Ccd];
        let [grid, map, ccd] = ways.map(|way| of(&values, way));
        let apart = |a: &Estimate, b: &Estimate| {
            let pairs = a.masses().iter().zip(b.masses());
            0.5 * pairs.map(|(a, b)| (a - b).abs()).sum::<f64>()
        };
        // Beside a posterior standard deviation of the mass of a half of about 0.03.
        assert!(apart(&grid, &ccd) < 0.01, "{}", apart(&grid, &ccd));
        assert!(apart(&grid, &map) < 0.03, "{}", apart(&grid, &map));
        assert_eq!((map.settings().len(), map.settings()[0].weight), (1, 1.0));
        assert!((5..=9).contains(&ccd.settings().len()));
        // The posterior mean of the logarithm of the standard deviation: the grid has steps of two
        // thirds, the design of about one standard deviation.
        let mean = |e: &Estimate| {
            e.settings()
                .iter()
                .map(|s| s.weight * s.sd.ln())
                .sum::<f64>()
        };
        assert!(
            (mean(&grid) - mean(&ccd)).abs() < 0.2,
            "{} {}",
            mean(&grid),
            mean(&ccd)
        );
        let width = |e: &Estimate| {
            let bands = e.lower().iter().zip(e.upper());
            bands.map(|(l, u)| u - l).sum::<f64>()
        };
        assert!(
            width(&map) < width(&grid),
            "{} {}",
            width(&map),
            width(&grid)
        );
    }

    #[test]
    fn the_most_probable_values_are_a_top() {
        let values = clusters();
        let best = of(&values, Integration::Map).settings()[0];
        // No setting of the grid is more probable by its density: their weights are masses of cells
        // of log(2) by log(1.95), but at the ends.
        let grid = of(&values, Integration::Auto);
        let top = grid.settings()[0];
        assert!(
            (best.sd / top.sd).ln().abs() < 0.67
                && (best.lengthscale / top.lengthscale).ln().abs() < 0.7,
            "{best:?} {top:?}"
        );
    }
}
