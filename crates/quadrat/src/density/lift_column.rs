//! Draws of one column that are moved to where intervals hold what is known of them
//! ([`super::lift`]).

use crate::error::LinalgError;
use crate::linalg::{Mat, dot, gemm, gemm_into};

use super::basis::CellBasis;
use super::counts::{CellCounts, CellSpan};
use super::hyper::Component;
use super::lift::{ALONG, AS_THEY_ARE, HEAVY, MOST, Wanted, project, settle};
use super::odds::Held;
use super::split::shares;
use super::warning::Warning;

/// The most intervals times cells of one column, whose product every step takes of all draws.
const MOST_SHARES: usize = 200_000;

/// Intervals, and what they leave.
struct Bins {
    /// The share of every cell in each, shape `[cells, bins]`.
    share: Mat<f64>,
    /// The same of each cell.
    of: Vec<Vec<(usize, f64)>>,
    /// The weight of the rows of each, of which those of intervals come first.
    weights: Vec<f64>,
}

impl Bins {
    /// Intervals, cells with many rows and, as one more where there is any, what they leave.
    fn new(counts: &CellCounts) -> Self {
        let cells = counts.exact.len();
        let mut weights: Vec<f64> = counts.spans.iter().map(|span| span.weight).collect();
        let mut of = vec![Vec::new(); cells];
        let mut rest = vec![1.0; cells];
        let add = |(b, span): (usize, &CellSpan)| {
            for j in span.cells() {
                rest[j] -= span.share(j);
                of[j].push((b, span.share(j)));
            }
        };
        counts.spans.iter().enumerate().for_each(add);
        let mut left = counts.exact_total;
        for j in 0..cells {
            if counts.exact[j] > HEAVY * counts.total {
                of[j].push((weights.len(), 1.0));
                weights.push(counts.exact[j]);
                left -= counts.exact[j];
                rest[j] = 0.0;
            }
        }
        // What rounding leaves of a cell is nothing.
        let is_left = |j: &usize| rest[*j] > 1e-9;
        let held: Vec<usize> = (0..cells).filter(is_left).collect();
        if !held.is_empty() {
            held.iter()
                .for_each(|j| of[*j].push((weights.len(), rest[*j])));
            weights.push(left.max(1.0));
        }
        let mut share = Mat::zeros(cells, weights.len());
        for (j, entries) in of.iter().enumerate() {
            entries.iter().for_each(|(b, s)| share[(j, *b)] += s);
        }
        Self { share, of, weights }
    }

    /// Shares of which those of a cell add up to at most one.
    fn evened(&self) -> Mat<f64> {
        let all = |j: usize| self.of[j].iter().map(|(_, share)| share).sum::<f64>();
        let by: Vec<f64> = (0..self.of.len()).map(|j| all(j).max(1.0)).collect();
        Mat::from_fn(self.share.nrows(), self.share.ncols(), |j, b| {
            self.share[(j, b)] / by[j]
        })
    }

    /// What each of them should hold in draws about modes.
    fn wanted(
        &self,
        counts: &CellCounts,
        basis: &CellBasis,
        log_measure: &[f64],
        components: &[Component],
        log_mass: &Mat<f64>,
    ) -> Wanted {
        let bins = self.weights.len();
        let mut rows = vec![0.0; bins];
        let pairs = rows.iter_mut().zip(&counts.spans);
        pairs.for_each(|(row, span)| *row = span.weight);
        let held = Held {
            of: &|cell| &self.of[cell],
            weights: &rows,
            exact: &counts.exact,
        };
        let mut wanted = Wanted::new(log_mass.nrows(), self.weights.clone());
        let mut done = 0;
        let number = shares(components.iter().map(|c| c.weight), log_mass.nrows());
        for (component, number) in components.iter().zip(number) {
            if number == 0 {
                continue;
            }
            let u = &component.mode.look.u;
            let odds = held.odds(u);
            let by: Vec<f64> = odds.iter().map(|o| 1.0 / (1.0 - o.probability)).collect();
            let slope = |j: usize, b: usize| {
                let within = self.share[(j, b)] / odds[b].probability.max(f64::MIN_POSITIVE);
                if by[b].is_finite() {
                    by[b] * u[j] * (within - 1.0)
                } else {
                    0.0
                }
            };
            let slopes = Mat::from_fn(u.len(), bins, slope);
            let mode: Vec<f64> = component
                .mode
                .eta
                .iter()
                .zip(log_measure)
                .map(|(e, w)| e + w)
                .collect();
            let mut changes = gemm(log_mass.subrows(done, number), slopes.as_ref());
            for b in 0..bins {
                let base = dot(slopes.col_as_slice(b), &mode);
                changes
                    .col_as_slice_mut(b)
                    .iter_mut()
                    .for_each(|x| *x -= base);
            }
            let phi = basis.view(component.r).phi;
            let mut whitened = gemm(phi.transpose(), slopes.as_ref());
            component.mode.factor.half_solve_in_place(whitened.as_mut());
            let sd = |b: usize| {
                let x = whitened.col_as_slice(b);
                dot(x, x).sqrt()
            };
            let sds: Vec<f64> = (0..bins).map(sd).collect();
            // Cosines are as many as leave out next to nothing.
            wanted.say(done, &changes, &odds, &sds, &vec![0.0; bins]);
            done += number;
        }
        wanted
    }
}

/// Moves draws, which are Laplace's, to where intervals hold what they should, and the curve to
/// what they hold on average.
///
/// # Arguments
/// * `log_mass` - `eta + w` of every draw, shape `[draws, cells]`
/// * `curve` - the probability of each cell
///
/// # Returns
/// What should be known of it; none where there are too many intervals, and draws are left as they
/// are.
///
/// # Errors
/// As [`project`].
pub(super) fn lift(
    counts: &CellCounts,
    basis: &CellBasis,
    log_measure: &[f64],
    components: &[Component],
    log_mass: &mut Mat<f64>,
    curve: &mut [f64],
) -> Result<Option<Vec<Warning>>, LinalgError> {
    let cells = log_measure.len();
    let held = counts.spans.len() * cells;
    if counts.spans.is_empty() || counts.spans.len() >= MOST || held > MOST_SHARES {
        return Ok(None);
    }
    let bins = Bins::new(counts);
    let wanted = bins.wanted(counts, basis, log_measure, components, log_mass);
    let each = bins.evened();
    let along = {
        let phi = basis.view(basis.r()).phi;
        let own = project(
            gemm(phi.transpose(), phi),
            gemm(phi.transpose(), each.as_ref()),
        )?;
        gemm(phi, own.as_ref())
    };
    let look = |draws: &Mat<f64>| logs(draws, &bins.share);
    let raise = |draws: &mut Mat<f64>, by: &Mat<f64>, to: &Mat<f64>| {
        gemm_into(draws.as_mut(), true, 1.0, by.as_ref(), to.transpose());
    };
    let move_all = |draws: &mut Mat<f64>, wanted: &Wanted| {
        let before = draws.clone();
        let missing = settle(draws, wanted, ALONG, look, |d, by| raise(d, by, &along));
        for draw in missing.astray() {
            (0..cells).for_each(|j| draws[(draw, j)] = before[(draw, j)]);
        }
        settle(draws, wanted, AS_THEY_ARE, look, |d, by| {
            raise(d, by, &each)
        })
    };
    let missing = move_all(log_mass, &wanted);
    let mean = wanted.mean(&look(log_mass));
    let log = |j: usize| curve[j].max(f64::MIN_POSITIVE).ln();
    let mut row = Mat::from_fn(1, cells, |_, j| log(j));
    move_all(&mut row, &mean);
    let top = (0..cells).fold(f64::NEG_INFINITY, |top, j| top.max(row[(0, j)]));
    let sum: f64 = (0..cells).map(|j| (row[(0, j)] - top).exp()).sum();
    for (j, u) in curve.iter_mut().enumerate() {
        *u = (row[(0, j)] - top).exp() / sum;
    }
    Ok(Some(wanted.warnings(&missing, &bins.weights)))
}

/// The logarithm of the probability of each bin of every draw, shape `[draws, bins]`.
fn logs(log_mass: &Mat<f64>, share: &Mat<f64>) -> Mat<f64> {
    let mut top = vec![f64::NEG_INFINITY; log_mass.nrows()];
    for j in 0..log_mass.ncols() {
        let pairs = top.iter_mut().zip(log_mass.col_as_slice(j));
        pairs.for_each(|(top, x)| *top = top.max(*x));
    }
    let mut mass = log_mass.clone();
    let mut all = vec![0.0; log_mass.nrows()];
    for j in 0..mass.ncols() {
        let column = mass.col_as_slice_mut(j);
        super::loops::subtract(column, &top);
        crate::special::exp(column);
        super::loops::add(&mut all, column);
    }
    let mut out = gemm(mass.as_ref(), share.as_ref());
    for b in 0..out.ncols() {
        let pairs = out.col_as_slice_mut(b).iter_mut().zip(&all);
        pairs.for_each(|(x, all)| *x = (*x / all).ln());
    }
    out
}
