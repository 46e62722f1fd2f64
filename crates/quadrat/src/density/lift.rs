//! Draws that are moved to where bins, intervals and boxes hold what is known of them.
//!
//! The rows say how much each bin holds, and a normal approximation in the logarithm `eta` of the
//! density knows that to first order only: with `S_b = sum_j A_bj exp(eta_j + w_j)` and `r_b` the
//! density within a bin at the mode `m`,
//!
//! $$ \log S_b(\eta) \approx \log S_b(m) + r_b' (\eta - m) $$
//!
//! Within a wide bin draws are uncertain, exponentials of them are far from linear, and the bin of
//! a draw holds many times what its rows say. The function of each draw `t` is therefore raised or
//! lowered within every bin until the bin holds what its own `t - m` says by the right side:
//!
//! $$ \eta \leftarrow \eta + \Phi (\Phi' \Phi)^{-1} \Phi' A' \big(\log S(m) + R' (t - m)
//!     - \log S(\eta)\big) $$
//!
//! which is exact in one step where the functions `Phi` can be constant within bins. What no bin
//! holds is one more bin, and where bins overlap each cell takes the mean of what they ask for.

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat, dot, gemm, gemm_into};

use super::basis::CellBasis;
use super::counts::{CellCounts, CellSpan};
use super::hyper::Component;
use super::split::shares;

/// The most draws that are moved: weights of one leave more of few than uneven ones of many.
pub(super) const LIFTED: usize = 2000;
/// More bins than this are left as they are: what each holds is kept of every draw.
pub(super) const MOST: usize = 1500;
/// The same of intervals times cells of one column, whose product every step takes of all draws.
const MOST_SHARES: usize = 200_000;
/// Steps; each takes about as long as one look at all draws.
const STEPS: usize = 20;
/// The most that the logarithm of a bin is moved in one step.
const LARGEST: f64 = 3.0;
/// Where the steps end: a share of the standard deviation that so many rows leave of a logarithm.
const SETTLED: f64 = 0.1;
/// Draws of which a bin is farther off in the end, in such standard deviations, are replaced.
const ASTRAY: f64 = 1.0;
/// Added to the diagonal of `Phi' Phi`, as a share of its mean.
const RIDGE: f64 = 1e-9;

/// What the bins of all draws should hold.
pub(super) struct Wanted<'a> {
    /// Logarithms, shape `[draws, bins]`.
    pub logs: Mat<f64>,
    /// The weight of the rows of each bin.
    pub weights: &'a [f64],
}

/// Moves draws in steps.
///
/// # Arguments
/// * `draws` - in whatever form
/// * `look` - the logarithm of what every bin of every draw holds, shape `[draws, bins]`
/// * `raise` - raises the function of every draw within every bin by a number, of that shape
///
/// # Returns
/// The draw that is to stand in the place of each: itself, or another of one that went astray.
pub(super) fn settle(
    draws: &mut Mat<f64>,
    wanted: &Wanted<'_>,
    look: impl Fn(&Mat<f64>) -> Mat<f64>,
    raise: impl Fn(&mut Mat<f64>, &Mat<f64>),
) -> Vec<usize> {
    let mut far = Vec::new();
    for _ in 0..STEPS {
        let mut off = look(draws);
        far = vec![0.0_f64; off.nrows()];
        for (b, weight) in wanted.weights.iter().enumerate() {
            let pairs = off
                .col_as_slice_mut(b)
                .iter_mut()
                .zip(wanted.logs.col_as_slice(b));
            for ((off, wanted), far) in pairs.zip(&mut far) {
                let missing = wanted - *off;
                *far = match missing.is_nan() {
                    true => f64::INFINITY,
                    false => far.max(missing.abs() * weight.sqrt()),
                };
                *off = if missing.is_nan() {
                    0.0
                } else {
                    missing.clamp(-LARGEST, LARGEST)
                };
            }
        }
        if far.iter().all(|far| *far < SETTLED) {
            break;
        }
        raise(draws, &off);
    }
    let good: Vec<usize> = (0..far.len()).filter(|i| far[*i] < ASTRAY).collect();
    let mut others = good.iter().copied().cycle();
    let stands = |i: usize| match far[i] < ASTRAY {
        true => i,
        false => others.next().unwrap_or(i),
    };
    (0..far.len()).map(stands).collect()
}

/// `(Phi' Phi + ridge)^-1 x` for every column of a matrix.
///
/// # Arguments
/// * `square` - the lower triangle of `Phi' Phi`
///
/// # Errors
/// Functions that are not independent.
pub(super) fn project(mut square: Mat<f64>, mut x: Mat<f64>) -> Result<Mat<f64>, LinalgError> {
    let n = square.nrows();
    let mean = (0..n).map(|i| square[(i, i)]).sum::<f64>() / n as f64;
    (0..n).for_each(|i| square[(i, i)] += RIDGE * mean);
    Cholesky::factor_owned(square)?.solve_in_place(x.as_mut());
    Ok(x)
}

/// Moves draws of one column, which are Laplace's, to where intervals hold what they should.
///
/// # Arguments
/// * `log_mass` - `eta + w` of every draw, shape `[draws, cells]`
///
/// # Errors
/// As [`project`].
pub(super) fn lift(
    counts: &CellCounts,
    basis: &CellBasis,
    log_measure: &[f64],
    components: &[Component],
    log_mass: &mut Mat<f64>,
) -> Result<(), LinalgError> {
    let held = counts.spans.len() * log_measure.len();
    if counts.spans.is_empty() || counts.spans.len() >= MOST || held > MOST_SHARES {
        return Ok(());
    }
    let (share, weights) = shares_of(counts);
    let mut wanted = Mat::zeros(log_mass.nrows(), weights.len());
    let mut done = 0;
    let number = shares(components.iter().map(|c| c.weight), log_mass.nrows());
    for (component, number) in components.iter().zip(number) {
        let mode: Vec<f64> = component
            .mode
            .eta
            .iter()
            .zip(log_measure)
            .map(|(e, w)| e + w)
            .collect();
        let top = mode.iter().fold(f64::NEG_INFINITY, |top, x| top.max(*x));
        let mass: Vec<f64> = mode.iter().map(|x| (x - top).exp()).collect();
        let draws = log_mass.subrows(done, number);
        for b in 0..weights.len() {
            let mut within: Vec<f64> = share
                .col_as_slice(b)
                .iter()
                .zip(&mass)
                .map(|(a, u)| a * u)
                .collect();
            let sum: f64 = within.iter().sum();
            within.iter_mut().for_each(|r| *r /= sum);
            let base = sum.ln() + top - dot(&within, &mode);
            let column = &mut wanted.col_as_slice_mut(b)[done..done + number];
            column.fill(base);
            let out = crate::linalg::MatMut::from_column_major_slice_mut(column, number, 1);
            let within = crate::linalg::MatRef::from_column_major_slice(&within, within.len(), 1);
            gemm_into(out, true, 1.0, draws, within);
        }
        done += number;
    }
    let along = {
        let phi = basis.view(basis.r()).phi;
        let square = gemm(phi.transpose(), phi);
        let each = evened(&share);
        let own = project(square, gemm(phi.transpose(), each.as_ref()))?;
        gemm(phi, own.as_ref())
    };
    let wanted = Wanted {
        logs: wanted,
        weights: &weights,
    };
    let look = |draws: &Mat<f64>| logs(draws, &share);
    let raise = |draws: &mut Mat<f64>, by: &Mat<f64>| {
        gemm_into(draws.as_mut(), true, 1.0, by.as_ref(), along.transpose());
    };
    let stands = settle(log_mass, &wanted, look, raise);
    for j in 0..log_mass.ncols() {
        let before = log_mass.col_as_slice(j).to_vec();
        let pairs = log_mass.col_as_slice_mut(j).iter_mut().zip(&stands);
        pairs.for_each(|(x, from)| *x = before[*from]);
    }
    Ok(())
}

/// The share of every cell in each interval and, as one more where there is any, in none of them,
/// shape `[cells, intervals]`, with the weights of their rows.
fn shares_of(counts: &CellCounts) -> (Mat<f64>, Vec<f64>) {
    let cells = counts.exact.len();
    let mut rest = vec![1.0; cells];
    let mut weights: Vec<f64> = counts.spans.iter().map(|span| span.weight).collect();
    let take = |rest: &mut Vec<f64>, span: &CellSpan| {
        span.cells().for_each(|j| rest[j] -= span.share(j));
    };
    counts.spans.iter().for_each(|span| take(&mut rest, span));
    // What rounding leaves of a cell is nothing.
    rest.iter_mut()
        .for_each(|x| *x = if *x > 1e-9 { *x } else { 0.0 });
    let any = rest.iter().any(|x| *x > 0.0);
    if any {
        weights.push(counts.exact_total.max(1.0));
    }
    let mut out = Mat::zeros(cells, weights.len());
    for (b, span) in counts.spans.iter().enumerate() {
        span.cells().for_each(|j| out[(j, b)] = span.share(j));
    }
    if any {
        out.col_as_slice_mut(counts.spans.len())
            .copy_from_slice(&rest);
    }
    (out, weights)
}

/// Shares of which those of a cell add up to at most one.
fn evened(share: &Mat<f64>) -> Mat<f64> {
    let mut all = vec![0.0; share.nrows()];
    for b in 0..share.ncols() {
        crate::linalg::add_scaled(1.0, share.col_as_slice(b), &mut all);
    }
    Mat::from_fn(share.nrows(), share.ncols(), |j, b| {
        share[(j, b)] / all[j].max(1.0)
    })
}

/// `log S_b` of every draw, shape `[draws, intervals]`.
fn logs(log_mass: &Mat<f64>, share: &Mat<f64>) -> Mat<f64> {
    let mut top = vec![f64::NEG_INFINITY; log_mass.nrows()];
    for j in 0..log_mass.ncols() {
        let pairs = top.iter_mut().zip(log_mass.col_as_slice(j));
        pairs.for_each(|(top, x)| *top = top.max(*x));
    }
    let mut mass = log_mass.clone();
    for j in 0..mass.ncols() {
        let column = mass.col_as_slice_mut(j);
        super::loops::subtract(column, &top);
        crate::special::exp(column);
    }
    let mut out = gemm(mass.as_ref(), share.as_ref());
    for b in 0..out.ncols() {
        let pairs = out.col_as_slice_mut(b).iter_mut().zip(&top);
        pairs.for_each(|(x, top)| *x = x.ln() + top);
    }
    out
}
