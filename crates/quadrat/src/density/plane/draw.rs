//! Draws of the coefficients from split normal proposals about the modes, with importance weights.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::error::LinalgError;
use crate::linalg::{Mat, dot, gemm, mirror_lower, symmetric_eigen};

use super::super::split::{Split, both_sides, orthonormal, shares, whitened};
use super::functions::Functions;
use super::grid::CellGrid;
use super::hyper::Component;
use super::sweep::Raised;

/// Directions that are split.
const DIRECTIONS: usize = 24;
/// Directions that are searched for them, and how often.
const SEARCHED: usize = 32;
const ROUNDS: usize = 5;

/// Draws of the coefficients.
#[derive(Debug)]
pub(super) struct Sample {
    /// Shape `[functions, draws]`.
    pub theta: Mat<f64>,
    /// Log importance weight before `n log(sum of exponentials)` of each part is taken off.
    pub log_weight: Vec<f64>,
    /// What comes to the functions of draws that were moved.
    pub raised: Option<Raised>,
}

/// Directions in coefficients along which the function on the cells varies most under a component,
/// by iterating on a subspace: shape `[functions, directions]`.
fn principal(
    grid: &CellGrid,
    functions: &Functions,
    component: &Component,
    random: &mut ChaCha8Rng,
) -> Result<Mat<f64>, LinalgError> {
    let d = functions.len();
    // What rows see counts: where none are draws follow the prior, which is normal.
    let size = grid.part();
    let seen = grid
        .totals
        .iter()
        .flat_map(|n| std::iter::repeat_n(n / grid.total, size));
    let mut gram = functions.curvature(&seen.collect::<Vec<f64>>());
    mirror_lower(&mut gram);
    let factor = &component.mode.factor;
    let times = |x: &Mat<f64>| {
        let mut x = x.clone();
        factor.half_solve_transpose_in_place(x.as_mut());
        let mut x = gemm(gram.as_ref(), x.as_ref());
        factor.half_solve_in_place(x.as_mut());
        x
    };
    let searched = SEARCHED.min(d);
    let mut basis = Mat::from_fn(d, searched, |_, _| StandardNormal.sample(random));
    for _ in 0..ROUNDS {
        basis = times(&orthonormal(&basis));
    }
    let basis = orthonormal(&basis);
    let within = gemm(basis.transpose(), times(&basis).as_ref());
    let eigen = symmetric_eigen(within.as_ref())?;
    let found = basis.ncols();
    let take = DIRECTIONS.min(found);
    let best = Mat::from_fn(found, take, |i, j| eigen.vectors[(i, found - 1 - j)]);
    let mut out = gemm(basis.as_ref(), best.as_ref());
    factor.half_solve_transpose_in_place(out.as_mut());
    Ok(out)
}

/// Looks at both sides of each direction about the mode of a component.
fn split(
    grid: &CellGrid,
    functions: &Functions,
    component: &Component,
    directions: &Mat<f64>,
) -> Split {
    let mode = &component.mode;
    let directions = whitened(&mode.factor, directions.as_ref());
    let mut steps = directions.clone();
    mode.factor.half_solve_transpose_in_place(steps.as_mut());
    let at: Vec<f64> = mode
        .eta
        .iter()
        .zip(&grid.log_measure)
        .map(|(e, w)| e + w)
        .collect();
    let mut work = at.clone();
    let base = grid.look(&mut work);
    let sides = (0..directions.ncols())
        .map(|j| {
            let step = steps.col_as_slice(j);
            let along = functions.eta(step);
            let pull = component.prior.pull(step);
            let (slope, curved) = (dot(&pull, &mode.theta), dot(&pull, step));
            both_sides(|delta| {
                work.copy_from_slice(&at);
                crate::linalg::vectorised(|| {
                    crate::linalg::add_scaled(delta, &along, &mut work);
                });
                let likelihood = grid.look(&mut work) - base;
                0.5 * (2.0 * delta * slope + delta * delta * curved) - likelihood
            })
        })
        .collect();
    Split { directions, sides }
}

/// Draws from the mixture of proposals about the modes.
///
/// # Arguments
/// * `weigh` - whether sides get scales of their own; else the draws are Laplace's
pub(super) fn sample(
    grid: &CellGrid,
    functions: &Functions,
    components: &[Component],
    draws: usize,
    seed: u64,
    weigh: bool,
) -> Result<Sample, LinalgError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let directions = match components.first() {
        Some(first) if weigh => Some(principal(grid, functions, first, &mut random)?),
        _ => None,
    };
    let d = functions.len();
    let counted = functions.project(&grid.counts);
    let measured = dot(&grid.counts, &grid.log_measure);
    let mut theta = Mat::zeros(d, draws);
    let mut log_weight = Vec::with_capacity(draws);
    let mut done = 0;
    for (component, count) in components
        .iter()
        .zip(shares(components.iter().map(|c| c.weight), draws))
    {
        if count == 0 {
            continue;
        }
        let mode = &component.mode;
        let mut z = Mat::from_fn(d, count, |_, _| StandardNormal.sample(&mut random));
        let norms: Vec<f64> = (0..count)
            .map(|i| dot(z.col_as_slice(i), z.col_as_slice(i)))
            .collect();
        let mut constant = 0.0;
        if let Some(directions) = &directions {
            let split = split(grid, functions, component, directions);
            constant = split.apply(&mut z, &mut random);
        }
        mode.factor.half_solve_transpose_in_place(z.as_mut());
        let mut pulls = Mat::zeros(d, count);
        component.prior.pull_into(pulls.as_mut(), z.as_ref());
        let pull = component.prior.pull(&mode.theta);
        let base = dot(&counted, &mode.theta) + measured - component.reference - 0.5 * mode.square;
        for i in 0..count {
            let step = z.col_as_slice(i);
            let square = 2.0 * dot(&pull, step) + dot(pulls.col_as_slice(i), step);
            let gain = dot(&counted, step);
            log_weight.push(base + gain - 0.5 * square + 0.5 * norms[i] - constant);
            let column = theta.col_as_slice_mut(done + i);
            let moved = mode.theta.iter().zip(step);
            column
                .iter_mut()
                .zip(moved)
                .for_each(|(t, (m, s))| *t = m + s);
        }
        done += count;
    }
    Ok(Sample {
        theta,
        log_weight,
        raised: None,
    })
}
