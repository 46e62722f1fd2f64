//! Split normal proposals about the modes, and draws from them with importance weights.
//!
//! About each mode the posterior in whitened coordinates `e`, `theta = mode + L'^-1 Q e`, is given another scale on each side of the main
//! directions `Q` (Geweke 1989). A draw has the log weight
//!
//! $$ \log p(y, \theta) - \log p(y, \hat\theta) + |e|^2 / 2 - \sum_j \log \frac{2}{q_j + r_j} $$
//!
//! which holds for a mixture over hyperparameters whose parts are chosen by Laplace's evidence, and mends the evidence too.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::error::LinalgError;
use crate::linalg::{Mat, MatRef, dot, gemm, gemm_into, matvec, symmetric_eigen};

use super::hyper::Component;
use super::newton::Problem;

/// Directions that are split.
const DIRECTIONS: usize = 50;
/// Where the sides are looked at, in standard deviations.
const OFFSETS: [f64; 4] = [0.75, 1.5, 2.5, 4.0];
/// Limits of the scale of a side.
const SIDES: (f64, f64) = (0.1, 10.0);

/// The scales of the two sides of each direction.
#[derive(Debug, Clone)]
struct Split {
    /// Orthonormal, shape `[d, directions]`.
    directions: Mat<f64>,
    /// `(q, r)`, for positive and negative `e`.
    sides: Vec<(f64, f64)>,
}

/// Draws of the coefficients.
#[derive(Debug)]
pub(super) struct Sample {
    /// Shape `[draws, d]`.
    pub theta: Mat<f64>,
    /// The log weight but for the log likelihood.
    pub log_weight: Vec<f64>,
}

/// Principal directions of the function on the cells under one component, shape `[d, directions]`, in coefficients.
fn principal(problem: &Problem<'_>, component: &Component) -> Result<Mat<f64>, LinalgError> {
    let phi = problem.basis.phi.as_ref();
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

/// Whitened, orthonormal directions from some in coefficients, in their order.
fn whitened(component: &Component, directions: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = gemm(component.mode.factor.lower().transpose(), directions);
    for j in 0..out.ncols() {
        // Twice is enough.
        for _ in 0..2 {
            for i in 0..j {
                let by = dot(out.col_as_slice(i), out.col_as_slice(j));
                let other = out.col_as_slice(i).to_vec();
                out.col_as_slice_mut(j).iter_mut().zip(&other).for_each(|(x, o)| *x -= by * o);
            }
        }
        let norm = dot(out.col_as_slice(j), out.col_as_slice(j)).sqrt();
        out.col_as_slice_mut(j).iter_mut().for_each(|x| *x /= norm);
    }
    out
}

impl Split {
    /// Looks at both sides of each direction.
    fn new(problem: &Problem<'_>, component: &Component, directions: MatRef<'_, f64>) -> Self {
        let mode = &component.mode;
        let directions = whitened(component, directions);
        let mut steps = directions.clone();
        mode.factor.half_solve_transpose_in_place(steps.as_mut());
        let along = gemm(problem.basis.phi.as_ref(), steps.as_ref());
        let pulls = gemm(component.prior.precision.as_ref(), steps.as_ref());
        let at_mode = mode.log_joint();
        let mut eta = vec![0.0; mode.eta.len()];
        let sides = (0..directions.ncols())
            .map(|j| {
                let linear = dot(pulls.col_as_slice(j), &mode.theta);
                let curved = dot(pulls.col_as_slice(j), steps.col_as_slice(j));
                let mut side = |sign: f64| {
                    let scale = OFFSETS.iter().filter_map(|offset| {
                        let delta = sign * offset;
                        let moved = mode.eta.iter().zip(along.col_as_slice(j));
                        eta.iter_mut().zip(moved).for_each(|(e, (m, a))| *e = m + delta * a);
                        let square = mode.square + 2.0 * delta * linear + delta * delta * curved;
                        let value = problem.counts.value(&eta, problem.log_measure) - 0.5 * square;
                        let fall = at_mode - value;
                        (fall > 0.0).then(|| offset / (2.0 * fall).sqrt())
                    });
                    let scale = scale.fold(0.0, f64::max);
                    if scale > 0.0 { scale.clamp(SIDES.0, SIDES.1) } else { 1.0 }
                };
                (side(1.0), side(-1.0))
            })
            .collect();
        Self { directions, sides }
    }

    /// Turns standard normal numbers, shape `[d, draws]`, into split ones along the directions; returns the sum of `log 2 / (q + r)`.
    fn apply(&self, z: &mut Mat<f64>, random: &mut ChaCha8Rng) -> f64 {
        let mut moves = gemm(self.directions.transpose(), z.as_ref());
        for draw in 0..moves.ncols() {
            for (e, (q, r)) in moves.col_as_slice_mut(draw).iter_mut().zip(&self.sides) {
                let positive = random.random::<f64>() * (q + r) < *q;
                let new = if positive { q * e.abs() } else { -r * e.abs() };
                *e = new - *e;
            }
        }
        gemm_into(z.as_mut(), true, 1.0, self.directions.as_ref(), moves.as_ref());
        self.sides.iter().map(|(q, r)| (2.0 / (q + r)).ln()).sum()
    }
}

/// Whole numbers of draws in proportion to weights, by largest remainders.
fn shares(components: &[Component], draws: usize) -> Vec<usize> {
    let exact: Vec<f64> = components.iter().map(|c| c.weight * draws as f64).collect();
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
    problem: &Problem<'_>,
    components: &[Component],
    draws: usize,
    seed: u64,
    split: bool,
) -> Result<Sample, LinalgError> {
    let d = problem.basis.len();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut theta = Mat::zeros(draws, d);
    let mut log_weight = Vec::with_capacity(draws);
    let directions = match components.first() {
        Some(first) if split => Some(principal(problem, first)?),
        _ => None,
    };
    let mut done = 0;
    for (component, count) in components.iter().zip(shares(components, draws)) {
        if count == 0 {
            continue;
        }
        let mode = &component.mode;
        let mut z = Mat::from_fn(d, count, |_, _| StandardNormal.sample(&mut random));
        let norms: Vec<f64> =
            (0..count).map(|i| dot(z.col_as_slice(i), z.col_as_slice(i))).collect();
        let mut constant = 0.0;
        if let Some(directions) = &directions {
            constant = Split::new(problem, component, directions.as_ref()).apply(&mut z, &mut random);
        }
        mode.factor.half_solve_transpose_in_place(z.as_mut());
        let pulls = gemm(component.prior.precision.as_ref(), z.as_ref());
        let pull = matvec(component.prior.precision.as_ref(), &mode.theta);
        for i in 0..count {
            let step = z.col_as_slice(i);
            let square = mode.square + 2.0 * dot(&pull, step) + dot(pulls.col_as_slice(i), step);
            log_weight.push(-0.5 * square - mode.log_joint() + 0.5 * norms[i] - constant);
        }
        for (j, centre) in mode.theta.iter().enumerate() {
            let column = &mut theta.col_as_slice_mut(j)[done..done + count];
            column.iter_mut().enumerate().for_each(|(i, out)| *out = centre + z[(j, i)]);
        }
        done += count;
    }
    Ok(Sample { theta, log_weight })
}
