//! Inducing points are moved to where the bound is highest, at fixed hyperparameters.
//!
//! They move by L-BFGS-B within the range of the points that rows look at, in units of their
//! typical distance. At every place the best `q` is found again, so that the slope of the bound is
//! that at fixed `q`.

use super::evidence::SparseEvidence;
use super::options::SparseOptions;
use super::stages::Watch;
use super::{Bags, SparseProblem, SparseState, UnknownMean};
use crate::covariance::Induced;
use crate::error::FitError;
use crate::inference::WarmStart;
use crate::inference::free::FreeSpace;
use crate::inference::sites::Block;
use crate::optimise::{self, minimise};
use crate::parameter::Parameter;

/// How often inducing points are moved and hyperparameters learned again, at most.
pub(super) const ROUNDS: usize = 5;
/// Nats that a round must gain for another to follow, and an iteration for the round to go on.
const WORTH: f64 = 5e-2;
const GOAL: f64 = 5e-3;
/// Iterations of a round at most.
const ITERATIONS: usize = 100;
/// Differences are taken over this part of the range of the points.
const STEP: f64 = 1e-6;

/// A column along which inducing points move.
#[derive(Debug, Clone, Copy)]
pub(super) struct MovingColumn {
    index: usize,
    /// Typical distance of neighbours.
    unit: f64,
    /// Where the points of rows lie.
    range: (f64, f64),
}

/// The columns of `moving` along which the points of rows differ.
pub(super) fn columns(problem: &dyn SparseProblem, moving: &[usize]) -> Vec<MovingColumn> {
    let induced = problem.induced();
    let chunks = problem.bags().chunks();
    let range = |column: usize| {
        let sets = (0..chunks).map(|chunk| induced.chunk(chunk).range(column));
        sets.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| {
            (a.0.min(b.0), a.1.max(b.1))
        })
    };
    let wide = moving.iter().map(|&index| (index, range(index)));
    let wide: Vec<_> = wide.filter(|(_, (lo, hi))| lo < hi).collect();
    let along = (induced.inducing().len() as f64).powf(1.0 / wide.len().max(1) as f64);
    let column = |(index, range): (usize, (f64, f64))| MovingColumn {
        index,
        unit: (range.1 - range.0) / along,
        range,
    };
    wide.into_iter().map(column).collect()
}

/// The same problem with other inducing points.
pub(super) struct Through<'a> {
    problem: &'a dyn SparseProblem,
    induced: Induced,
}

impl<'a> Through<'a> {
    /// With the coordinates `places` along the columns, column by column.
    pub fn new(problem: &'a dyn SparseProblem, columns: &[MovingColumn], places: &[f64]) -> Self {
        let induced = problem.induced();
        let inducing = induced.inducing();
        let pairs = columns.iter().zip(places.chunks(inducing.len()));
        let inducing = pairs.fold(inducing.clone(), |set, (column, places)| {
            set.moved(column.index, |point, _| places[point])
        });
        Self {
            induced: induced.through(inducing),
            problem,
        }
    }
}

impl SparseProblem for Through<'_> {
    fn induced(&self) -> &Induced {
        &self.induced
    }

    fn unknown_mean(&self) -> Option<&dyn UnknownMean> {
        self.problem.unknown_mean()
    }

    fn bags(&self) -> &Bags {
        self.problem.bags()
    }

    fn prior_mean(&self, chunk: usize) -> &[f64] {
        self.problem.prior_mean(chunk)
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        self.problem.blocks()
    }

    fn parameters(&self) -> &[Parameter] {
        self.problem.parameters()
    }

    fn describe(&self) -> String {
        self.problem.describe()
    }
}

/// Moves inducing points from where the state has them, and notes in it where they are and whether
/// to move them again.
///
/// # Returns
/// Passes over all rows.
pub(super) fn relocate(
    problem: &dyn SparseProblem,
    space: &FreeSpace<'_>,
    columns: &[MovingColumn],
    options: &SparseOptions,
    state: &mut SparseState,
    watch: &Watch<'_>,
) -> Result<usize, FitError> {
    let inducing = problem.induced().inducing();
    if state.places.is_empty() {
        let now = columns.iter().flat_map(|c| inducing.lower(c.index));
        state.places = now.copied().collect();
    }
    let moving = columns.iter();
    let moving: Vec<(usize, f64)> = moving
        .map(|c| (c.index, STEP * (c.range.1 - c.range.0)))
        .collect();
    let of = |i: usize| &columns[i / inducing.len()];
    let size = state.places.len();
    let start: Vec<f64> = (0..size).map(|i| state.places[i] / of(i).unit).collect();
    let bounds: Vec<(f64, f64)> = (0..size)
        .map(|i| {
            let MovingColumn { unit, range, .. } = of(i);
            (range.0 / unit, range.1 / unit)
        })
        .collect();
    let (theta, log_prior) = (space.theta(&state.z), space.log_prior(&state.z).0);
    let mut passes = 0;
    let mut evaluate = |places: &[f64], warm_start: &mut WarmStart| {
        let moved = Through::new(problem, columns, places);
        let evidence = SparseEvidence::new(&moved, *options)
            .watched_by(watch.keeper)
            .moving(moving.clone());
        let there = evidence.at(&theta, warm_start, true);
        passes += evidence.passes();
        there
    };
    let mut warm_start = state.onto(WarmStart::precise());
    let first = evaluate(&state.places, &mut warm_start)?;
    let begun = first.value;
    let search = optimise::Options {
        max_iterations: ITERATIONS,
        gradient_tolerance: 1e-3,
        relative_reduction: GOAL / begun.abs().max(1.0),
        memory: 10,
    };
    let mut best = (begun, warm_start);
    let mut known = Some(first);
    let mut gains = Vec::new();
    let mut negative = |w: &[f64], gradient: &mut [f64]| {
        if watch.is_stopped() {
            return None;
        }
        let places: Vec<f64> = (0..size).map(|i| w[i] * of(i).unit).collect();
        let mut own = best.1.clone();
        let there = match known.take() {
            // The search begins where the points are.
            Some(first) => first,
            None => {
                state.evaluations += 1;
                evaluate(&places, &mut own).ok()?
            }
        };
        for (i, (out, g)) in gradient.iter_mut().zip(&there.in_places).enumerate() {
            *out = -g * of(i).unit;
        }
        if there.value > best.0 {
            gains.push(there.value - best.0);
            state.gained += there.value - best.0;
            best = (there.value, own);
            state.places = places;
            state.found = best.1.found().cloned();
            state.iterations += 1;
            watch.step(state, best.0 + log_prior, &gains, GOAL);
        }
        Some(-there.value)
    };
    minimise(&mut negative, &start, &bounds, &search);
    if !watch.is_stopped() {
        let is_worth = best.0 - begun > WORTH;
        state.moves = if is_worth { state.moves + 1 } else { ROUNDS };
    }
    Ok(passes)
}
