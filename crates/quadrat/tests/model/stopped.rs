//! Dense fits that are stopped: the best so far answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quadrat::kernel::Kernel;
use quadrat::likelihood::Noise;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Posterior, Scale};
use quadrat::progress::Keeper;
use quadrat::support::Functionals;

/// Stops after it was asked so many times.
struct StopAfter {
    asked: AtomicUsize,
    most: usize,
    answers: AtomicUsize,
}

impl StopAfter {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            asked: AtomicUsize::new(0),
            most,
            answers: AtomicUsize::new(0),
        })
    }
}

impl Keeper for StopAfter {
    fn begun(&self) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _: &dyn Fn() -> Vec<u8>) {}

    fn can_stop(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

fn wave() -> Model {
    let x: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i)).collect();
    let y = x.iter().map(|x| x.sin() + 0.1 * (37.0 * x).cos()).collect();
    let at = Functionals::points("x", &x).unwrap();
    Model::new(Kernel::se(["x"])).observe(Observations::gaussian(at, y, Noise::Learned).unwrap())
}

fn options(hyperparameters: Hyperparameters) -> FitOptions {
    FitOptions::default()
        .with_hyperparameters(hyperparameters)
        .with_threads(1)
}

fn stopped(most: usize, hyperparameters: Hyperparameters) -> (Posterior, Arc<StopAfter>) {
    let keeper = StopAfter::new(most);
    let options = options(hyperparameters).with_keeper(Arc::clone(&keeper) as _);
    (wave().fit(&options).unwrap(), keeper)
}

#[test]
fn a_search_that_is_stopped_at_once_answers_where_it_began() {
    let (posterior, keeper) = stopped(0, Hyperparameters::Auto);
    let summary = posterior.summary();
    assert!(!summary.converged && !summary.integrated);
    assert_eq!(summary.iterations, 0);
    let said = summary.warnings.join("; ");
    assert!(said.contains("did not converge: it was stopped"), "{said}");
    assert!(keeper.answers.load(Ordering::Relaxed) > 0);
    // Nothing is known of the curvature, and no interval told.
    let mut told = summary.hyperparameters.iter().filter(|hyper| !hyper.fixed);
    assert!(told.all(|hyper| hyper.lower.is_nan() || hyper.name.starts_with("mean")));
    let at = Functionals::points("x", &[1.0, 2.0]).unwrap();
    let told = posterior.predict(&at, Scale::Response).unwrap();
    assert!(told.mean().iter().all(|mean| mean.is_finite()));
    assert!(told.sd().iter().all(|sd| *sd > 0.0));
}

#[test]
fn the_later_a_search_is_stopped_the_better_its_answer() {
    let whole = wave().fit(&options(Hyperparameters::Map)).unwrap();
    let best = whole.summary().log_posterior;
    let found: Vec<f64> = [0, 10, 30]
        .map(|most| stopped(most, Hyperparameters::Map).0)
        .iter()
        .map(|posterior| posterior.summary().log_posterior)
        .collect();
    assert!(found[0] < found[1] && found[1] <= found[2], "{found:?}");
    assert!(found[2] <= best, "{found:?} {best}");
}

#[test]
fn an_integration_that_is_stopped_leaves_the_most_probable_values() {
    let whole = wave().fit(&options(Hyperparameters::Map)).unwrap();
    // Whatever the search asks, the integration asks more.
    let all = StopAfter::new(usize::MAX);
    let map = options(Hyperparameters::Map).with_keeper(Arc::clone(&all) as _);
    wave().fit(&map).unwrap();
    let searched = all.asked.load(Ordering::Relaxed);
    let (posterior, _) = stopped(searched + 5, Hyperparameters::Integrate);
    let (stopped, map) = (posterior.summary(), whole.summary());
    assert!(!stopped.integrated && stopped.converged && stopped.nodes == 1);
    assert_eq!(stopped.log_posterior, map.log_posterior);
    let ends = |posterior: &Posterior| -> Vec<(f64, f64)> {
        let all = posterior.summary().hyperparameters.iter();
        all.map(|hyper| (hyper.lower, hyper.upper)).collect()
    };
    assert_eq!(ends(&posterior), ends(&whole));
}
