//! Learning the hyperparameters of sparse inference.
//!
//! An outer quasi-Newton search over the hyperparameters. Each evaluation finds the best `q` by
//! natural gradients from where the last one ended: first to a thousandth of a nat, then to a
//! millionth. Both searches stop on nats gained, not on a relative change of the bound, which may
//! be of any size.
//!
//! Where a pass over the rows is expensive, easier problems with the same hyperparameters are
//! solved first. From their optimum, and with its Hessian, a few Newton steps are left
//! ([`super::newton`]).

use super::coarse_to_fine::coarse_to_fine;
use super::evidence::SparseEvidence;
use super::moves::{MovingColumn, ROUNDS, Through, columns, relocate};
use super::options::SparseOptions;
use super::stages::{Done, GAINS, Watch, stages, unless_stopped};
use super::state::fingerprint;
use super::{SparseProblem, SparseState, VariationalPosterior};
use crate::error::FitError;
use crate::inference::free::FreeSpace;
use crate::inference::{Optimum, Start, WarmStart};
use crate::linalg::Mat;
use crate::optimise::projected_gradient;
use crate::progress::{Keeper, Progress};
use crate::support::Functionals;

/// The Hessian is computed where it takes fewer flops than this, whatever the search took.
const AFFORDABLE: f64 = 3e11;
/// A projected gradient that counts as none, in nats per unit of a free coordinate.
const FLAT: f64 = 2e-2;

/// Of which problem the Hessian of an optimum is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurvatureOf {
    /// That of the problem.
    Whole,
    /// That of the easier problem, with the updates of the steps since.
    Part,
    /// The identity.
    Nothing,
}

/// What was learned.
#[derive(Debug, Clone)]
pub struct SparseOptimum {
    /// The optimum.
    pub optimum: Optimum,
    /// Passes over all rows.
    pub passes: usize,
    /// Of which problem the Hessian of the optimum is.
    pub curvature: CurvatureOf,
    /// Whether the keeper stopped the search or the computation of the Hessian.
    pub stopped: bool,
    /// The best `q` there.
    pub found: VariationalPosterior,
    /// Where the inducing points were moved to, and by how much that raised the bound, in nats.
    pub moved: Option<(Functionals, f64)>,
}

/// Maximises the bound plus the log prior density of the hyperparameters, from their starts or from
/// what the keeper kept.
///
/// # Arguments
/// * `moving` - columns along which inducing points, which must be points there, are moved to raise
///   the bound
/// * `easier` - problems with the same hyperparameters whose passes cost less, the easiest first,
///   for a start near the optimum
///
/// # Errors
/// [`FitError::Input`] when a parameter is not valid; [`FitError::Kept`] when what was kept is of
/// another fit; the error of the start when it cannot be evaluated; [`FitError::NotSettled`] when
/// no `q` is found at the end.
///
/// # Numerics
/// Some ten passes over the rows for every ten iterations of the search, more far from the optimum.
/// A keeper can stop the search between two passes; a few more then give `q` at the point that was
/// reached. The Hessian, from which the hyperparameters have their intervals, is computed where it
/// takes less than the search did.
pub fn learn_sparse(
    problem: &dyn SparseProblem,
    easier: &[&dyn SparseProblem],
    moving: &[usize],
    options: &SparseOptions,
    progress: &dyn Progress,
    keeper: Option<&dyn Keeper>,
) -> Result<SparseOptimum, FitError> {
    let whole = SparseEvidence::new(problem, *options);
    let space = FreeSpace::new(&whole)?;
    let bounds = space.bounds();
    let start: Vec<f64> = problem.parameters().iter().map(|p| p.start).collect();
    let kept = keeper.and_then(Keeper::begun);
    // The fingerprint reads all data: only where a keeper needs it.
    let of = keeper.map_or(0, |_| fingerprint(problem, &start, moving, options.form));
    let watch = Watch {
        keeper,
        progress,
        fingerprint: of,
        is_part: false,
    };
    let mut state = match kept {
        Some(bytes) => SparseState::from_bytes(&bytes, of, (space.size(), easier.len()))?,
        None => SparseState::new(space.coordinates_of(&start)),
    };
    coarse_to_fine(problem, easier, &mut state, options, &watch)?;
    let columns = columns(problem, moving);
    let mut passes = 0;
    let mut ended = search(problem, &columns, options, &mut state, &watch, &mut passes)?;
    let is_over = state.part == easier.len() && state.stage >= GAINS.len();
    let mut stopped = !is_over && watch.is_stopped();
    let moved = (!state.places.is_empty()).then(|| Through::new(problem, &columns, &state.places));
    let current = moved.as_ref().map_or(problem, |m| m as &dyn SparseProblem);
    let evidence = SparseEvidence::new(current, options.fine()).watched_by(keeper);
    let space = FreeSpace::new(&evidence)?;
    let n = space.size();
    let is_affordable = is_affordable(&evidence, n, state.evaluations);
    let mut warm_start = state.onto(WarmStart::precise());
    // Finite differences for the Hessian need more digits of the gradient than the search did.
    let known = ended
        .as_mut()
        .and_then(|done| done.density.take())
        .filter(|_| !is_affordable);
    let exact = match known {
        Some(density) => Some(density),
        None if stopped => None,
        None => {
            state.evaluations += 1;
            unless_stopped(space.evaluate(&state.z, &mut warm_start))?
        }
    };
    stopped |= exact.is_none();
    let is_over = is_over && exact.is_some();
    let known = (state.matrix(), CurvatureOf::Part);
    let (curvature, curvature_of) = match &exact {
        Some(density) if !stopped && is_affordable => {
            let found = curvature(&space, &mut state, &density.gradient, &warm_start);
            let found = unless_stopped(found)?;
            stopped |= found.is_none();
            found.unwrap_or(known)
        }
        _ => known,
    };
    if stopped {
        // A resumed fit repeats its last stage: whether that converged is not in the state.
        state.stage = state.stage.min(GAINS.len() - 1);
        watch.keep(&state);
    }
    let short = SparseEvidence::new(current, *options).in_short();
    let density = match exact {
        Some(density) => density,
        None => {
            state.evaluations += 1;
            FreeSpace::new(&short)?.value(&state.z, &mut warm_start)?
        }
    };
    let negative: Vec<f64> = density.gradient.iter().map(|g| -g).collect();
    let flatness = match negative.len() == n {
        true => projected_gradient(&state.z, &negative, &bounds),
        false => f64::INFINITY,
    };
    let units = space.units();
    let (hessian, curvature_of) = match curvature {
        Some(c) => {
            let scaled = Mat::from_fn(n, n, |i, j| c[(i, j)] / (units[i] * units[j]));
            (scaled, curvature_of)
        }
        None => (Mat::identity(n, n), CurvatureOf::Nothing),
    };
    let theta = space.theta(&state.z);
    let (is_done, reason) = match &ended {
        _ if stopped && !is_over => {
            let of = match state.part < easier.len() {
                true => " over a part of the data",
                false => "",
            };
            let rough = match short.has_not_converged() {
                true => ", and before the function had converged: predictions are rough",
                false => "",
            };
            let steps = match state.iterations {
                1 => "1 step".to_owned(),
                steps => format!("{steps} steps"),
            };
            (false, format!("stopped after {steps}{of}{rough}"))
        }
        Some(done) => (done.converged, done.reason.clone()),
        None => (true, "nothing was to be learned".to_owned()),
    };
    let optimum = Optimum {
        theta: theta.clone(),
        log_evidence: density.log_evidence,
        log_posterior: density.log_posterior,
        hessian,
        projected_gradient: flatness,
        at_bound: (0..n)
            .filter(|&i| state.z[i] <= bounds[i].0 || state.z[i] >= bounds[i].1)
            .map(|i| space.indices()[i])
            .collect(),
        iterations: state.iterations,
        evaluations: state.evaluations,
        converged: is_done || (flatness < FLAT && (is_over || !stopped)),
        reason: reason.clone(),
        starts: vec![Start {
            from: start,
            theta: theta.clone(),
            log_posterior: density.log_posterior,
            converged: is_done,
            iterations: state.iterations,
            evaluations: state.evaluations,
            reason,
        }],
        others: Vec::new(),
    };
    let found = VariationalPosterior::left(&warm_start, problem, &theta, density.log_evidence)?;
    Ok(SparseOptimum {
        passes: passes + evidence.passes() + short.passes(),
        optimum,
        curvature: curvature_of,
        stopped,
        found,
        moved: moved.map(|m| (m.induced().inducing().clone(), state.gained)),
    })
}

/// The stages of the search, between which inducing points are moved.
fn search(
    problem: &dyn SparseProblem,
    columns: &[MovingColumn],
    options: &SparseOptions,
    state: &mut SparseState,
    watch: &Watch<'_>,
    passes: &mut usize,
) -> Result<Option<Done>, FitError> {
    let mut ended: Option<Done> = None;
    loop {
        let moved =
            (!state.places.is_empty()).then(|| Through::new(problem, columns, &state.places));
        let current = moved.as_ref().map_or(problem, |m| m as &dyn SparseProblem);
        let evidence = SparseEvidence::new(current, *options).watched_by(watch.keeper);
        let space = FreeSpace::new(&evidence)?;
        ended = stages(&space, &space.bounds(), state, watch)?.or(ended);
        *passes += evidence.passes();
        if columns.is_empty() || state.moves >= ROUNDS || watch.is_stopped() {
            return Ok(ended);
        }
        // Hyperparameters are learned again afterwards, from where they are.
        state.stage = GAINS.len() - 1;
        let took = relocate(problem, &space, columns, options, state, watch);
        *passes += unless_stopped(took)?.unwrap_or(0);
        if let Some(done) = &mut ended {
            done.density = None;
        }
    }
}

/// Whether the Hessian takes few flops, or no more evaluations than the search did.
fn is_affordable(evidence: &SparseEvidence<'_>, free: usize, evaluations: usize) -> bool {
    let (points, inducing) = evidence.size();
    let flops = 15.0 * free as f64 * points as f64 * (inducing * inducing) as f64;
    flops < AFFORDABLE || free <= evaluations
}

/// The Hessian by differences; where it cannot be evaluated, the approximation of the search.
fn curvature(
    space: &FreeSpace<'_>,
    state: &mut SparseState,
    gradient: &[f64],
    warm_start: &WarmStart,
) -> Result<(Option<Mat<f64>>, CurvatureOf), FitError> {
    match space.curvature(&state.z, gradient, warm_start, &mut state.evaluations) {
        Ok(curvature) => Ok((Some(curvature), CurvatureOf::Whole)),
        Err(error) if error.is_recoverable() => Ok((state.matrix(), CurvatureOf::Part)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::inference::sparse::Within;
    use crate::inference::sparse::stages::LEFT;
    use crate::inference::sparse::testing::Toy;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::parameter::{Parameter, PriorDensity};
    use crate::progress::Silent;

    /// Bags of five points.
    fn toy(bags: usize) -> Toy {
        let count = |i: usize| (4.0 + 3.0 * (0.7 * i as f64).sin()).round();
        let counts = (0..bags).map(count).collect();
        let counts = Poisson::new(counts, vec![2.0; bags], Link::Exp).unwrap();
        let table = (Box::new(counts) as _, Link::Exp, vec![5; bags]);
        let mut toy = Toy::new(vec![table], Within::default(), 20, None, 1e-6);
        for parameter in &mut toy.parameters {
            let prior = PriorDensity::LogNormal {
                mu: parameter.start.ln(),
                sigma: 0.7,
            };
            *parameter = Parameter::positive(&parameter.name, "", parameter.start, prior);
        }
        toy
    }

    /// From the optimum of the first half of the bags, twice, and with its curvature, to the same
    /// optimum.
    #[test]
    fn an_easier_problem_leads_to_the_same_optimum() {
        let (all, half) = (toy(40), toy(20));
        let options = SparseOptions::default();
        let alone = learn_sparse(&all, &[], &[], &options, &Silent, None).unwrap();
        let led = learn_sparse(&all, &[&half, &half], &[], &options, &Silent, None).unwrap();
        assert!(alone.optimum.converged && led.optimum.converged);
        assert_eq!(led.curvature, CurvatureOf::Whole);
        // The Hessians are of places a little apart.
        for i in 0..alone.optimum.hessian.nrows() {
            let ratio = led.optimum.hessian[(i, i)] / alone.optimum.hessian[(i, i)];
            assert!((0.8..1.25).contains(&ratio), "{i}: {ratio}");
        }
        let (a, b) = (alone.optimum.log_posterior, led.optimum.log_posterior);
        assert!((a - b).abs() < 1.5 * LEFT, "{a} {b}");
        for (i, (a, b)) in alone
            .optimum
            .theta
            .iter()
            .zip(&led.optimum.theta)
            .enumerate()
        {
            // Precisions of logs are above those of the priors: 1 / .7^2 = 2. So sqrt(2 LEFT / 2)
            // at most.
            assert!((a / b).ln().abs() < 0.15, "{i}: {a} {b}");
        }
    }

    /// A search that is stopped while it looks at a part says so, and its place is that of the
    /// part.
    #[test]
    fn a_stop_during_the_part_is_a_stop() {
        struct Stop;
        impl Keeper for Stop {
            fn begun(&self) -> Option<Vec<u8>> {
                None
            }
            fn keep(&self, _state: &dyn Fn() -> Vec<u8>) {}
            fn is_stopped(&self) -> bool {
                true
            }
        }
        let (all, half) = (toy(12), toy(6));
        let options = SparseOptions::default();
        let found = learn_sparse(&all, &[&half], &[], &options, &Silent, Some(&Stop)).unwrap();
        assert!(found.stopped && !found.optimum.converged);
        assert_eq!(found.curvature, CurvatureOf::Nothing);
        assert_eq!(found.optimum.theta, all.theta());
    }
}
