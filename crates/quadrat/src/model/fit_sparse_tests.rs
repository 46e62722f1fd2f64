//! Dear fits that are stopped, killed and gone on with, at a size at which they are not dear.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::kernel::Kernel;
use crate::likelihood::{Noise, Poisson};
use crate::link::Link;
use crate::problem::observations::Observations;
use crate::problem::settings::Inducing;
use crate::progress::Event;
use crate::support::Functionals;

const BAGS: usize = 24;
/// Six times as many as a part has of each bag.
const EACH: usize = 400;

/// Keeps every state, and stops when it was asked so often.
struct Recorder {
    begun: Option<Vec<u8>>,
    patience: usize,
    asked: AtomicUsize,
    states: Mutex<Vec<Vec<u8>>>,
    /// For every step whether it was of a part.
    steps: Mutex<Vec<bool>>,
}

impl Recorder {
    fn new(patience: usize, begun: Option<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self {
            begun,
            patience,
            asked: AtomicUsize::new(0),
            states: Mutex::default(),
            steps: Mutex::default(),
        })
    }

    fn states(&self) -> Vec<Vec<u8>> {
        self.states.lock().unwrap().clone()
    }

    fn steps_of(&self, is_part: bool) -> usize {
        let steps = self.steps.lock().unwrap();
        steps.iter().filter(|&&step| step == is_part).count()
    }
}

impl Keeper for Recorder {
    fn begun(&self) -> Option<Vec<u8>> {
        self.begun.clone()
    }

    fn keep(&self, state: &dyn Fn() -> Vec<u8>) {
        self.states.lock().unwrap().push(state());
    }

    fn is_stopped(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
    }
}

impl Progress for Recorder {
    fn report(&self, event: Event) {
        if let Event::Step { is_part, .. } = event {
            self.steps.lock().unwrap().push(is_part);
        }
    }
}

fn model() -> Model {
    let mut bags = Functionals::new(vec!["x".into()]);
    let mut counts = Vec::new();
    for bag in 0..BAGS {
        let at = |i: usize| 0.25 * (bag as f64 + (0.618_034 * i as f64).fract());
        let points: Vec<Vec<f64>> = (0..EACH).map(|i| vec![at(i)]).collect();
        bags.push_nodes(&points, &[0.05; EACH]).unwrap();
        let mean: f64 = points.iter().map(|x| 0.05 * (0.9 * x[0].sin()).exp()).sum();
        counts.push((mean + 3.0 * (2.4 * bag as f64).cos()).round());
    }
    let counts = Poisson::new(counts, vec![1.0; BAGS], Link::Exp).unwrap();
    Model::new(Kernel::se(["x"])).observe(Observations::new(bags, counts).unwrap())
}

fn fit(recorder: &Arc<Recorder>) -> Result<Posterior, FitError> {
    let options = FitOptions {
        dear: 0.0,
        by_bound: true,
        ..FitOptions::default()
            .with_inducing(Inducing::Number(20))
            .with_hyperparameters(Hyperparameters::Map)
            .with_keeper(Arc::clone(recorder) as _)
            .with_progress(Arc::clone(recorder) as _)
    };
    model().fit(&options)
}

fn leads_to(whole: &Posterior, state: Vec<u8>) {
    let resumed = fit(&Recorder::new(usize::MAX, Some(state))).unwrap();
    let (a, b) = (resumed.summary(), whole.summary());
    assert!(a.converged, "{:?}", a.warnings);
    let (a, b) = (a.log_posterior, b.log_posterior);
    // Newton steps end where 5e-2 nats are left to gain by their estimate, a tenth by what they
    // reach, and know values to 1e-3.
    assert!((a - b).abs() < 5e-3, "{a} {b}");
}

#[test]
fn every_state_that_was_kept_leads_to_the_same_answer() {
    let all = Recorder::new(usize::MAX, None);
    let whole = fit(&all).unwrap();
    assert!(whole.summary().converged, "{:?}", whole.summary().warnings);
    let states = all.states();
    let (part, rest) = (all.steps_of(true), all.steps_of(false));
    assert!(part > 2 && rest > 0, "{part} {rest}");
    // A state for every step, one where every search begins, and one after every part.
    assert!(states.len() >= part + rest + 3, "{}", states.len());
    for state in states {
        leads_to(&whole, state);
    }
}

/// Batches grow to all rows; the last one that would cost more than a fifth of all is left out.
#[test]
fn batches_of_many_rows_grow() {
    let sizes = |rows: usize, inducing: usize| -> Vec<(usize, usize)> {
        let mut points = Functionals::new(vec!["x".into()]);
        (0..rows).for_each(|i| {
            points
                .push_point(&[(0.618_034 * i as f64).fract()])
                .unwrap()
        });
        let counts = Poisson::new(vec![1.0; rows], vec![1.0; rows], Link::Exp).unwrap();
        let model =
            Model::new(Kernel::se(["x"])).observe(Observations::new(points, counts).unwrap());
        let choice = SparseChoice {
            inducing: Inducing::Number(inducing),
            ..SparseChoice::default()
        };
        let problem = model.problem(Inference::Sparse, Some(&choice)).unwrap();
        let parts = model.easier(&problem, &choice, 0.0);
        parts
            .iter()
            .map(|part| (part.rows(), part.sparse().unwrap().inducing().len()))
            .collect()
    };
    assert_eq!(sizes(170_000, 9), [(4000, 9), (32_000, 9)]);
    assert_eq!(sizes(100_000, 9), [(4000, 9)]);
    assert_eq!(
        sizes(170_000, 150),
        [(4000, 128), (4000, 150), (32_000, 150)]
    );
    assert_eq!(sizes(3000, 9), []);
}

/// Whenever a stop comes, also within a part or before the first belief has converged.
#[test]
fn a_stop_is_heard_between_passes_and_gone_on_from() {
    let all = Recorder::new(usize::MAX, None);
    let whole = fit(&all).unwrap();
    let polls = all.asked.load(Ordering::Relaxed);
    let mut in_part = 0;
    for patience in (0..polls).step_by(polls / 6) {
        let stopped = Recorder::new(patience, None);
        let best = fit(&stopped).unwrap();
        let summary = best.summary();
        let said = summary.warnings.join("; ");
        assert!(said.contains("stopped"), "{patience}: {said}");
        // Every pass of the search asks; a few more give the belief where it stands.
        let limit = patience.min(whole.summary().evaluations) + 6;
        assert!(summary.evaluations <= limit, "{}", summary.evaluations);
        in_part += usize::from(said.contains("over a part of the data"));
        let kept = stopped.states().pop().unwrap();
        leads_to(&whole, kept);
    }
    assert!(in_part > 1, "{in_part}");
}

#[test]
fn what_another_version_kept_is_refused() {
    let all = Recorder::new(20, None);
    fit(&all).unwrap();
    let mut state = all.states().pop().unwrap();
    // Without the mark, as it was before there was one.
    state.drain(..8);
    let error = fit(&Recorder::new(usize::MAX, Some(state))).unwrap_err();
    assert!(error.to_string().contains("another version"), "{error}");
}

/// Normal rows that no chain holds are large above 20,000, others above 5,000.
#[test]
fn what_dense_inference_takes_is_not_large() -> Result<(), FitError> {
    let places = |count: usize| {
        let x: Vec<f64> = (0..count).map(|i| (i as f64).sin()).collect();
        Functionals::points("x", &x)
    };
    let values = |count: usize| -> Result<Model, FitError> {
        let y = (0..count).map(|i| (i % 7) as f64).collect();
        let rows = Observations::gaussian(places(count)?, y, Noise::Learned)?;
        Ok(Model::new(Kernel::se(["x"])).observe(rows))
    };
    let counts = |count: usize| -> Result<Model, FitError> {
        let y = (0..count).map(|i| (i % 7) as f64).collect();
        let rows = Poisson::new(y, vec![1.0; count], Link::Exp)?;
        Ok(Model::new(Kernel::se(["x"])).observe(Observations::new(places(count)?, rows)?))
    };
    assert!(!values(10)?.is_large() && !values(5001)?.is_large() && values(20_001)?.is_large());
    assert!(!counts(10)?.is_large() && !counts(5000)?.is_large() && counts(5001)?.is_large());
    Ok(())
}
