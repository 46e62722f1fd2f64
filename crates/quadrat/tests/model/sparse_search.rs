//! The search for hyperparameters of sparse inference: integrated, begun by itself, stopped and
//! gone on with.

use std::sync::{Arc, Mutex};

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Interval, Poisson};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Inference, Model, Noise, Observations, Posterior, Scale,
};
use quadrat::progress::Keeper;
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::draw;
use super::sparse::{Bagged, map, rate, wave};

/// Beliefs about intervals, whose tops are flat and whose edges are sharp, take tens of passes from
/// afar, and a few from that of a neighbour. Over 250 settings of the hyperparameters took some
/// 8,500 passes when each began far away.
#[test]
fn beliefs_at_settings_begin_at_their_neighbours() {
    let t: Vec<f64> = (0..10).map(f64::from).collect();
    let lower = [
        -1.0, -0.521, -0.159, -0.003, -0.091, -0.402, -0.859, -1.351, -1.757, -1.978,
    ];
    let upper = lower.iter().map(|l| l + 2.0).collect();
    let rows = Interval::new(lower.to_vec(), upper, Noise::Learned).unwrap();
    let places = Functionals::points("t", &t).unwrap();
    let rows = Observations::new(places, rows).unwrap();
    let options = FitOptions::default()
        .with_inference(Inference::Sparse)
        .with_hyperparameters(Hyperparameters::Integrate);
    let found = Model::new(Kernel::se(["t"])).observe(rows).fit(&options);
    let found = found.unwrap();
    let summary = found.summary();
    assert!(
        summary.integrated && summary.nodes > 200,
        "{}",
        summary.nodes
    );
    assert!(summary.evaluations < 4500, "{}", summary.evaluations);
    // Searches for hyperparameters end 5e-3 nats below the best ones or nearer.
    assert!((summary.log_evidence + 4.984).abs() < 0.01);
    let at = Functionals::points("t", &t[..1]).unwrap();
    let sd = found.predict(&at, Scale::Latent).unwrap().sd()[0];
    assert!((sd - 0.385).abs() < 0.005, "{sd}");
}

#[test]
fn integrated_hyperparameters_are_those_of_exact_inference() {
    let (x, y) = wave(30);
    let supports = Functionals::points("x", &x).unwrap();
    let model = Model::new(Kernel::se(["x"]))
        .observe(Observations::gaussian(supports, y, Noise::Learned).unwrap());
    let exact = model.fit(&FitOptions::default()).unwrap();
    let options = FitOptions::default().with_inducing(Inducing::Number(30));
    // Thirty rows are few enough to be integrated without being asked.
    let sparse = model.fit(&options).unwrap();
    assert!(exact.summary().integrated && sparse.summary().integrated);
    assert!(sparse.summary().nodes > 20, "{}", sparse.summary().nodes);
    let at = Functionals::points("x", &[-1.0, 0.5, 3.3, 7.0, 9.0]).unwrap();
    let (p, q) = (
        exact.predict(&at, Scale::Observation).unwrap(),
        sparse.predict(&at, Scale::Observation).unwrap(),
    );
    for i in 0..5 {
        // The optimum moves a lattice by less than a tenth of its step.
        assert!((p.mean()[i] - q.mean()[i]).abs() < 0.02 * p.sd()[i], "{i}");
        assert!((p.sd()[i] / q.sd()[i] - 1.0).abs() < 0.02, "{i}");
    }
    for (a, b) in exact
        .summary()
        .hyperparameters
        .iter()
        .zip(&sparse.summary().hyperparameters)
    {
        let width = a.upper - a.lower;
        // The lattices differ by as little: found is 0.001 of the width.
        assert!((a.lower - b.lower).abs() < 0.05 * width, "{a:?} {b:?}");
        assert!((a.upper - b.upper).abs() < 0.05 * width, "{a:?} {b:?}");
    }
}

/// More rows than dense inference takes are fitted through inducing points without being asked, and
/// the summary says so.
#[test]
fn many_rows_are_fitted_through_inducing_points() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let x: Vec<f64> = (0..5200).map(|_| random.random_range(0.0..8.0)).collect();
    let rate = |x: f64| (0.8 * x.sin()).exp();
    let counts: Vec<f64> = x.iter().map(|x| draw(&mut random, rate(*x))).collect();
    let counts = Poisson::new(counts, vec![1.0; x.len()], Link::Exp).unwrap();
    let supports = Functionals::points("x", &x).unwrap();
    let model = Model::new(Kernel::se(["x"])).observe(Observations::new(supports, counts).unwrap());
    assert!(model.is_large());
    let posterior = model.fit(&FitOptions::default()).unwrap();
    let summary = posterior.summary();
    assert_eq!(summary.inference, "sparse");
    let told = summary.warnings.iter();
    assert!(
        told.clone().any(|w| w.contains("too many for dense")),
        "{:?}",
        summary.warnings
    );
    let at = Functionals::points("x", &[1.0, 3.0, 5.0, 7.0]).unwrap();
    let p = posterior.predict(&at, Scale::Response).unwrap();
    for (i, x) in [1.0, 3.0, 5.0, 7.0].into_iter().enumerate() {
        // Some 600 rows within a lengthscale: four sds are 10 to 20 %.
        assert!((p.mean()[i] - rate(x)).abs() < 4.0 * p.sd()[i], "{x}");
        assert!(p.sd()[i] < 0.06 * rate(x), "{x}: {}", p.sd()[i]);
    }
    let asked = map().with_inference(Inference::Sites(Method::Ep));
    let error = model.fit(&asked).unwrap_err().to_string();
    assert!(error.contains("above 5,000 rows"), "{error}");
}

/// Heights far from zero, and a level that is unknown, make a prior so wide that no exponential of
/// it is a number.
#[test]
fn a_search_begins_under_a_prior_that_is_very_wide() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut bags = Functionals::new(vec!["x".into(), "height".into()]);
    let counts = (0..40).map(|bag| {
        let x = 0.2 * f64::from(bag);
        let height = |i: u32| 900.0 + 10.0 * (1.3 * x).cos() + f64::from(i);
        let points: Vec<Vec<f64>> = (0..5).map(|i| vec![x, height(i)]).collect();
        bags.push_nodes(&points, &[10.0; 5]).unwrap();
        let rates = points.iter().map(|at| (0.05 * (at[1] - 900.0)).exp());
        draw(&mut random, 10.0 * rates.sum::<f64>())
    });
    let counts = Poisson::new(counts.collect(), vec![1.0; 40], Link::Exp).unwrap();
    let kernel = "matern32(x) + linear(height)".parse().unwrap();
    let model = Model::new(kernel).observe(Observations::new(bags, counts).unwrap());
    let options = map().with_inducing(Inducing::Number(30));
    let posterior = model.fit(&options).unwrap();
    assert!(posterior.summary().converged, "{:?}", posterior.summary());
    let mut at = Functionals::new(vec!["x".into(), "height".into()]);
    at.push_point(&[3.0, 895.0]).unwrap();
    at.push_point(&[3.0, 910.0]).unwrap();
    let p = posterior.predict(&at, Scale::Latent).unwrap();
    for (i, truth) in [-0.25, 0.5].into_iter().enumerate() {
        // Within four posterior standard deviations.
        assert!((p.mean()[i] - truth).abs() < 4.0 * p.sd()[i], "{i}");
        // Some 50 counts a bag: a tenth and less of one alone.
        assert!(p.sd()[i] < 0.15, "{i}: {}", p.sd()[i]);
    }
}

/// Keeps every state, and stops after so many of them.
struct Stopping {
    after: usize,
    begun: Option<Vec<u8>>,
    states: Mutex<Vec<Vec<u8>>>,
}

impl Stopping {
    fn new(after: usize, begun: Option<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self {
            after,
            begun,
            states: Mutex::default(),
        })
    }

    fn last(&self) -> Vec<u8> {
        self.states.lock().unwrap().last().unwrap().clone()
    }
}

impl Keeper for Stopping {
    fn begun(&self) -> Option<Vec<u8>> {
        self.begun.clone()
    }

    fn keep(&self, state: &dyn Fn() -> Vec<u8>) {
        self.states.lock().unwrap().push(state());
    }

    fn is_stopped(&self) -> bool {
        self.states.lock().unwrap().len() >= self.after
    }
}

#[test]
fn a_search_that_was_stopped_goes_on_to_the_same_answer() {
    let model = |shift: f64| {
        // The bound tells the hyperparameters of rows of one point each.
        let mut data = Bagged::new(40, 1, rate, 11);
        data.counts.iter_mut().for_each(|count| *count += shift);
        Model::new(Kernel::se(["x"])).observe(data.table(Link::Exp))
    };
    let fit = |model: &Model, keeper: &Arc<Stopping>| {
        let options = map().with_inducing(Inducing::Number(15));
        model.fit(&options.with_keeper(Arc::clone(keeper) as _))
    };
    let whole = fit(&model(0.0), &Stopping::new(usize::MAX, None)).unwrap();
    assert!(whole.summary().converged);
    // Where it begins is kept too.
    let stopped = Stopping::new(3, None);
    let best = fit(&model(0.0), &stopped).unwrap();
    let summary = best.summary();
    assert!(!summary.converged && summary.iterations == 2, "{summary:?}");
    let said = summary.warnings.join("; ");
    assert!(said.contains("stopped after 2 steps"), "{said}");
    // What it has is the best so far, and usable.
    assert!(summary.log_posterior < whole.summary().log_posterior);
    let at = Functionals::points("x", &[2.0]).unwrap();
    assert!(best.predict(&at, Scale::Response).unwrap().sd()[0] > 0.0);
    let again = fit(
        &model(0.0),
        &Stopping::new(usize::MAX, Some(stopped.last())),
    )
    .unwrap();
    let (a, b) = (again.summary(), whole.summary());
    assert!(a.converged && a.iterations > 2);
    // Both searches end when a step gains less than 1e-4 nats.
    assert!(
        (a.log_posterior - b.log_posterior).abs() < 1e-3,
        "{} {}",
        a.log_posterior,
        b.log_posterior
    );

    let refusal = |begun: Vec<u8>, shift: f64| {
        let keeper = Stopping::new(usize::MAX, Some(begun));
        fit(&model(shift), &keeper).unwrap_err().to_string()
    };
    assert!(refusal(stopped.last(), 1.0).contains("another fit"));
    let mut damaged = stopped.last();
    damaged[20] ^= 1;
    assert!(refusal(damaged, 0.0).contains("damaged"));
    assert!(refusal(vec![1, 2], 0.0).contains("damaged"));
}

/// A wave in a corner of the range, which few inducing points that are spread over it do not see.
fn corner_model() -> Model {
    let (x, y): (Vec<f64>, Vec<f64>) = (0..60)
        .map(|i| {
            let x = f64::from(i) / 6.0;
            let wave = if x < 2.0 {
                (3.5 * x).sin() * (2.0 - x)
            } else {
                0.0
            };
            (x, wave + 0.05 * (f64::from(i) * 12.9898).sin())
        })
        .unzip();
    let supports = Functionals::points("x", &x).unwrap();
    let rows = Observations::gaussian(supports, y, Noise::Learned).unwrap();
    Model::new(Kernel::se(["x"])).observe(rows)
}

fn corner(options: &FitOptions) -> Posterior {
    corner_model().fit(options).unwrap()
}

#[test]
fn moved_inducing_points_raise_the_bound_up_to_the_evidence() {
    let exact = corner(&map());
    let few = map().with_inducing(Inducing::Number(8));
    let still = corner(&few);
    let moved = corner(&few.with_moved_inducing());
    let value = |p: &Posterior| p.summary().log_posterior;
    assert!(still.summary().inducing_gain.is_none());
    let gain = moved.summary().inducing_gain.unwrap();
    assert!(moved.summary().converged && gain > 1.0, "{gain}");
    assert!(value(&moved) > value(&still) + 1.0);
    // A bound at its own hyperparameters is below the evidence there, and that below its optimum.
    assert!(value(&moved) < value(&exact));
    let points = moved.inducing().unwrap();
    assert_eq!(points.len(), 8);
    let range = points.range(0);
    assert!(range.0 >= 0.0 && range.1 <= 59.0 / 6.0);
    // What was saved has them where they are.
    let loaded = Posterior::from_bytes(&moved.to_bytes()).unwrap();
    assert_eq!(loaded.inducing().unwrap(), points);
    let at = Functionals::points("x", &[0.45, 5.0]).unwrap();
    let (a, b) = (
        moved.predict(&at, Scale::Latent).unwrap(),
        loaded.predict(&at, Scale::Latent).unwrap(),
    );
    assert_eq!(a.mean(), b.mean());
}

#[test]
fn moving_that_was_stopped_goes_on_to_the_same_answer() {
    let few = || {
        map()
            .with_inducing(Inducing::Number(8))
            .with_moved_inducing()
    };
    let fit = |keeper: &Arc<Stopping>| corner(&few().with_keeper(Arc::clone(keeper) as _));
    let all = Stopping::new(usize::MAX, None);
    let whole = fit(&all);
    let steps = all.states.lock().unwrap().len();
    // Late enough that the points are on their way.
    let stopped = Stopping::new(steps - 4, None);
    let best = fit(&stopped);
    assert!(!best.summary().converged);
    assert!(best.summary().inducing_gain.unwrap() > 0.0);
    let again = fit(&Stopping::new(usize::MAX, Some(stopped.last())));
    let (a, b) = (again.summary(), whole.summary());
    assert!(a.converged && b.converged);
    // Searches end when an iteration gains less than 5e-3 nats, rounds when all of them gain less
    // than 5e-2.
    assert!(
        (a.log_posterior - b.log_posterior).abs() < 0.1,
        "{} {}",
        a.log_posterior,
        b.log_posterior
    );
    // It is not the state of a fit whose points stay.
    let still = map().with_inducing(Inducing::Number(8));
    let keeper = Stopping::new(usize::MAX, Some(stopped.last()));
    let error = corner_model().fit(&still.with_keeper(keeper)).unwrap_err();
    assert!(error.to_string().contains("another fit"), "{error}");
}
