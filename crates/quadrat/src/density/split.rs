//! Split normal proposals about the modes, and draws from them with importance weights.
//!
//! About each mode the posterior in whitened coordinates `e`, `theta = mode + L'^-1 e`, is given
//! another scale on each side of the main directions (Geweke 1989). A draw has the log weight
//!
//! $$ \log p(y, \theta) - \log p(y, \hat\theta) + |e|^2 / 2 - \sum_j \log \frac{2}{q_j + r_j} $$
//!
//! which holds for a mixture over hyperparameters whose parts are chosen by Laplace's evidence, and
//! mends the evidence too.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::error::LinalgError;
use crate::linalg::{
    Cholesky, Mat, MatRef, add_scaled, dot, gemm, gemm_into, matvec, symmetric_eigen, vectorised,
};

use super::basis::CellBasis;
use super::counts::CellCounts;
use super::hyper::Component;
use super::loops;
use super::newton::CellProblem;

/// Directions that are split: more raise the effective size by some percent.
const DIRECTIONS: usize = 12;
/// Where the sides are looked at, in standard deviations.
const OFFSETS: [f64; 4] = [0.75, 1.5, 2.5, 4.0];
/// Limits of the scale of a side.
const SIDES: (f64, f64) = (0.1, 10.0);
/// A direction of which less than this is left beside others is none.
const DEPENDENT: f64 = 1e-6;

/// The scales of the two sides of each direction.
#[derive(Debug, Clone)]
pub(super) struct Split {
    /// Orthonormal, shape `[d, directions]`.
    pub directions: Mat<f64>,
    /// `(q, r)`, for positive and negative `e`.
    pub sides: Vec<(f64, f64)>,
}

/// Draws of the function.
#[derive(Debug)]
pub(super) struct Sample {
    /// The function and the logarithm of the measure, shape `[draws, cells]`.
    pub log_mass: Mat<f64>,
    /// The log weight but for what comes of normalising, and of spans.
    pub log_weight: Vec<f64>,
}

/// Principal directions of the function on the cells under one component, shape `[d, directions]`,
/// in coefficients.
fn principal(problem: &CellProblem<'_>, component: &Component) -> Result<Mat<f64>, LinalgError> {
    let phi = problem.basis.phi;
    let mut gram = gemm(phi.transpose(), phi);
    let factor = &component.mode.factor;
    factor.half_solve_in_place(gram.as_mut());
    let mut turned = gram.transpose().to_owned();
    factor.half_solve_in_place(turned.as_mut());
    let eigen = symmetric_eigen(turned.as_ref())?;
    let d = phi.ncols();
    let take = DIRECTIONS.min(d);
    let mut out = Mat::from_fn(d, take, |i, j| eigen.vectors[(i, d - 1 - j)]);
    factor.half_solve_transpose_in_place(out.as_mut());
    Ok(out)
}

/// Whitened, orthonormal directions from some in coefficients, in their order; missing coefficients
/// are zero.
pub(super) fn whitened(factor: &Cholesky, directions: MatRef<'_, f64>) -> Mat<f64> {
    let d = factor.size();
    let padded = Mat::from_fn(d, directions.ncols(), |i, j| {
        if i < directions.nrows() {
            directions[(i, j)]
        } else {
            0.0
        }
    });
    orthonormal(&gemm(factor.lower().transpose(), padded.as_ref()))
}

/// The columns that are not made of those before them, orthonormal.
pub(super) fn orthonormal(columns: &Mat<f64>) -> Mat<f64> {
    let mut kept: Vec<Vec<f64>> = Vec::new();
    for j in 0..columns.ncols() {
        let mut x = columns.col_as_slice(j).to_vec();
        let whole = dot(&x, &x).sqrt();
        // Twice is enough.
        for _ in 0..2 {
            for other in &kept {
                let by = dot(other, &x);
                x.iter_mut().zip(other).for_each(|(x, o)| *x -= by * o);
            }
        }
        let norm = dot(&x, &x).sqrt();
        if norm > DEPENDENT * whole {
            x.iter_mut().for_each(|x| *x /= norm);
            kept.push(x);
        }
    }
    Mat::from_fn(columns.nrows(), kept.len(), |i, j| kept[j][i])
}

/// The scales of both sides of a direction from how far the log posterior falls at a number of
/// standard deviations along it.
pub(super) fn both_sides(mut fall: impl FnMut(f64) -> f64) -> (f64, f64) {
    let mut side = |sign: f64| {
        let scale = OFFSETS.iter().filter_map(|offset| {
            let fall = fall(sign * offset);
            (fall > 0.0).then(|| offset / (2.0 * fall).sqrt())
        });
        let scale = scale.fold(0.0, f64::max);
        if scale > 0.0 {
            scale.clamp(SIDES.0, SIDES.1)
        } else {
            1.0
        }
    };
    (side(1.0), side(-1.0))
}

impl Split {
    /// Looks at both sides of each direction.
    fn new(problem: &CellProblem<'_>, component: &Component, directions: MatRef<'_, f64>) -> Self {
        let mode = &component.mode;
        let directions = whitened(&mode.factor, directions);
        let mut steps = directions.clone();
        mode.factor.half_solve_transpose_in_place(steps.as_mut());
        let along = gemm(problem.basis.phi, steps.as_ref());
        let pulls = gemm(component.prior.precision.as_ref(), steps.as_ref());
        let at_mode = mode.log_joint();
        let start: Vec<f64> = mode
            .eta
            .iter()
            .zip(problem.log_measure)
            .map(|(e, w)| e + w)
            .collect();
        let mut work = start.clone();
        let sides = (0..directions.ncols())
            .map(|j| {
                let linear = dot(pulls.col_as_slice(j), &mode.theta);
                let curved = dot(pulls.col_as_slice(j), steps.col_as_slice(j));
                both_sides(|delta| {
                    work.copy_from_slice(&start);
                    vectorised(|| add_scaled(delta, along.col_as_slice(j), &mut work));
                    let square = mode.square + 2.0 * delta * linear + delta * delta * curved;
                    at_mode - problem.counts.value(&mut work) + 0.5 * square
                })
            })
            .collect();
        Self { directions, sides }
    }

    /// Turns standard normal numbers, shape `[d, draws]`, into split ones along the directions;
    /// returns the sum of `log 2 / (q + r)`.
    pub fn apply(&self, z: &mut Mat<f64>, random: &mut ChaCha8Rng) -> f64 {
        let mut moves = gemm(self.directions.transpose(), z.as_ref());
        for draw in 0..moves.ncols() {
            for (e, (q, r)) in moves.col_as_slice_mut(draw).iter_mut().zip(&self.sides) {
                let positive = random.random::<f64>() * (q + r) < *q;
                let new = if positive { q * e.abs() } else { -r * e.abs() };
                *e = new - *e;
            }
        }
        gemm_into(
            z.as_mut(),
            true,
            1.0,
            self.directions.as_ref(),
            moves.as_ref(),
        );
        self.sides.iter().map(|(q, r)| (2.0 / (q + r)).ln()).sum()
    }
}

/// Whole numbers of draws in proportion to weights, by largest remainders.
pub(super) fn shares(weights: impl Iterator<Item = f64>, draws: usize) -> Vec<usize> {
    let exact: Vec<f64> = weights.map(|w| w * draws as f64).collect();
    let mut out: Vec<usize> = exact.iter().map(|x| x.floor() as usize).collect();
    let mut order: Vec<usize> = (0..out.len()).collect();
    order.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    let left = draws.saturating_sub(out.iter().sum());
    order.iter().cycle().take(left).for_each(|i| out[*i] += 1);
    out
}

/// Draws from the mixture of proposals.
///
/// # Arguments
/// * `split` - whether sides get scales of their own; else the draws are Laplace's
pub(super) fn sample(
    counts: &CellCounts,
    basis: &CellBasis,
    log_measure: &[f64],
    components: &[Component],
    draws: usize,
    seed: u64,
    split: bool,
) -> Result<Sample, LinalgError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let problem = |c: &Component| CellProblem {
        counts,
        basis: basis.view(c.r),
        log_measure,
    };
    let directions = match components.first() {
        Some(first) if split => Some(principal(&problem(first), first)?),
        _ => None,
    };
    let cells = log_measure.len();
    let halves = Halves::new(basis);
    let mut log_mass = Mat::zeros(draws, cells);
    let mut log_weight = Vec::with_capacity(draws);
    let linear = basis.view(basis.r()).project(&counts.exact);
    let mut done = 0;
    for (component, count) in components
        .iter()
        .zip(shares(components.iter().map(|c| c.weight), draws))
    {
        if count == 0 {
            continue;
        }
        let (mode, d) = (&component.mode, component.mode.theta.len());
        let mut z = Mat::from_fn(d, count, |_, _| StandardNormal.sample(&mut random));
        let norms: Vec<f64> = (0..count)
            .map(|i| dot(z.col_as_slice(i), z.col_as_slice(i)))
            .collect();
        let mut constant = 0.0;
        if let Some(directions) = &directions {
            let split = Split::new(&problem(component), component, directions.as_ref());
            constant = split.apply(&mut z, &mut random);
        }
        mode.factor.half_solve_transpose_in_place(z.as_mut());
        let pulls = gemm(component.prior.precision.as_ref(), z.as_ref());
        let pull = matvec(component.prior.precision.as_ref(), &mode.theta);
        let base = dot(&counts.exact, &mode.eta) - 0.5 * mode.square - mode.log_joint();
        for i in 0..count {
            let step = z.col_as_slice(i);
            let square = 2.0 * dot(&pull, step) + dot(pulls.col_as_slice(i), step);
            let gain = dot(&linear[..d], step);
            log_weight.push(base + gain - 0.5 * square + 0.5 * norms[i] - constant);
        }
        halves.functions(&mut log_mass, done, &mode.eta, log_measure, &z);
        done += count;
    }
    let measured = dot(&counts.exact, log_measure);
    log_weight.iter_mut().for_each(|w| *w += measured);
    Ok(Sample {
        log_mass,
        log_weight,
    })
}

/// The basis on the first half of the cells: cosines of even order are even about the middle, those
/// of odd order odd, which halves the work.
struct Halves {
    q: usize,
    /// Polynomials on all cells, shape `[cells, q]`.
    polynomials: Mat<f64>,
    /// Cosines of order 1, 3, .. on the first half, shape `[odd, half]`.
    odd: Mat<f64>,
    /// Those of order 2, 4, ..
    even: Mat<f64>,
}

impl Halves {
    fn new(basis: &CellBasis) -> Self {
        let view = basis.view(basis.r());
        let (q, r) = (view.q, view.r());
        let half = view.phi.nrows().div_ceil(2);
        Self {
            q,
            polynomials: view.phi.subcols(0, q).to_owned(),
            odd: Mat::from_fn(r.div_ceil(2), half, |i, j| view.phi[(j, q + 2 * i)]),
            even: Mat::from_fn(r / 2, half, |i, j| view.phi[(j, q + 2 * i + 1)]),
        }
    }

    /// Writes the function at a mode and steps from it, shape `[d, count]`, into rows of a matrix
    /// from one on.
    fn functions(
        &self,
        out: &mut Mat<f64>,
        first: usize,
        eta: &[f64],
        measure: &[f64],
        steps: &Mat<f64>,
    ) {
        let (q, count, cells) = (self.q, steps.ncols(), out.ncols());
        let r = steps.nrows() - q;
        let part =
            |rows: usize, of: usize| Mat::from_fn(count, rows, |i, k| steps[(q + 2 * k + of, i)]);
        let (odd, even) = (part(r.div_ceil(2), 0), part(r / 2, 1));
        let odd = gemm(odd.as_ref(), self.odd.subrows(0, odd.ncols()));
        let even = gemm(even.as_ref(), self.even.subrows(0, even.ncols()));
        let flat: Vec<Vec<f64>> = (0..q)
            .map(|k| (0..count).map(|i| steps[(k, i)]).collect())
            .collect();
        for j in 0..cells {
            let base = eta[j] + measure[j];
            let (half, sign) = if j < odd.ncols() {
                (j, 1.0)
            } else {
                (cells - 1 - j, -1.0)
            };
            let column = &mut out.col_as_slice_mut(j)[first..first + count];
            let (even, odd) = (even.col_as_slice(half), odd.col_as_slice(half));
            loops::combine(base, even, sign, odd, column);
            for (k, flat) in flat.iter().enumerate() {
                let by = self.polynomials[(j, k)];
                vectorised(|| add_scaled(by, flat, column));
            }
        }
    }
}
