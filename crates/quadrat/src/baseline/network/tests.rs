use rand::RngExt;
use rand_distr::{Distribution, Poisson as Counts};

use super::*;
use crate::baseline::Constant;
use crate::likelihood::{Gaussian, Likelihood, Noise, Poisson};
use crate::support::Aggregate;

const SUMS: [f64; 5] = [9.0, 11.0, 40.0, 20.0, 6.0];

fn bags(all: &[(&[f64], &[f64])]) -> Functionals {
    let mut set = Functionals::new(vec!["x".into()]);
    for (points, weights) in all {
        let points: Vec<Vec<f64>> = points.iter().map(|x| vec![*x]).collect();
        set.push_nodes(&points, weights).unwrap();
    }
    set
}

fn five() -> Functionals {
    bags(&[
        (&[0.0, 0.5, 1.5], &[1.0, 2.0, 1.0]),
        (&[1.0, 2.0], &[1.5, 1.0]),
        (&[2.5, 3.0, 3.5, 4.0], &[1.0, 1.0, 2.0, 1.0]),
        (&[4.5], &[3.0]),
        (&[5.0, 6.0], &[0.5, 2.0]),
    ])
}

fn landmarks() -> Functionals {
    Functionals::points("x", &[0.0, 1.5, 3.0, 4.5, 6.0]).unwrap()
}

fn counts() -> Likelihood {
    Poisson::new(SUMS.to_vec(), vec![1.0; 5], Link::Exp)
        .unwrap()
        .into()
}

fn settings() -> NetworkSettings {
    NetworkSettings {
        units: 3,
        rate: 0.05,
        lengthscales: vec![1.2],
        manifold: 5.0,
        bags: 3.0,
        seed: 0,
    }
}

/// Calls with the task of five bags, and points to ask at.
fn with_five(likelihood: Likelihood, called: impl FnOnce(&Task<'_>, &Standard)) {
    let table = Observations::new(five(), likelihood).unwrap();
    let dims = ["x".to_owned()];
    let rows = BagRows::of(&table, &dims).unwrap();
    let standard = Standard::of(&rows.places, 1);
    let features = Features::of(&landmarks(), &dims, &[1.2]).unwrap();
    called(
        &Task::new(&rows, &standard).smooth(&features, &settings()),
        &standard,
    );
}

/// Three units, each with its weight and threshold; their weights; the level.
const START: [f64; 10] = [1.0, 0.2, -0.8, 0.1, 0.5, -0.4, 0.3, -0.2, 0.25, 1.7];

/// Reference: `tests/reference/network.py`, with slopes by automatic differentiation.
#[test]
fn forty_steps_agree_with_another_program() {
    with_five(counts(), |task, standard| {
        let mut layers = Layers::of(1, 3, START.to_vec());
        let all = [0, 1, 2, 3, 4];
        let mut adam = Adam::new(10, 0.05);
        // The jitter of landmarks takes as many digits from both inverses of their kernel.
        assert!((task.objective(&layers, &all).0 + 32.4344177555).abs() < 1e-7);
        for _ in 0..40 {
            let (_, slopes) = task.objective(&layers, &all);
            adam.step(&mut layers.values, &slopes);
        }
        assert!((task.objective(&layers, &all).0 + 35.1516800037).abs() < 1e-7);
        let asked = [
            (0.25, 1.94856228075),
            (3.2, 8.46762662485),
            (5.5, 4.05700520341),
        ];
        for (x, want) in asked {
            let got = layers.at(&standard.apply(&[x])).exp();
            assert!((got / want - 1.0).abs() < 1e-7, "{got} {want}");
        }
    });
}

#[test]
fn slopes_are_those_of_the_objective() {
    let values = Gaussian::new(SUMS.to_vec(), Noise::Known(vec![0.5; 5])).unwrap();
    let values = values.behind(Link::Softplus).unwrap();
    for likelihood in [counts(), values.into()] {
        with_five(likelihood, |task, _| {
            let layers = Layers::of(1, 3, START.to_vec());
            // Not all rows, nor in their order.
            let batch = [3, 0, 2];
            let (_, slopes) = task.objective(&layers, &batch);
            for (at, slope) in slopes.iter().enumerate() {
                let moved = |by: f64| {
                    let mut layers = layers.clone();
                    layers.values[at] += by;
                    task.objective(&layers, &batch).0
                };
                let near = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                // Rounding of objectives near a hundred, and a third derivative near as much.
                let most = 1e-7 * (1.0 + slope.abs());
                assert!((near - slope).abs() < most, "{at}: {near} {slope}");
            }
        });
    }
}

/// Bags of ten points each whose rates are `exp(1 + sin x)`.
fn drawn(count: usize, seed: u64) -> Observations {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut set = Functionals::new(vec!["x".into()]);
    let mut all = Vec::new();
    for _ in 0..count {
        let middle: f64 = random.random_range(0.0..6.0);
        let points: Vec<Vec<f64>> = (0..10)
            .map(|_| vec![middle + random.random_range(-0.5..0.5)])
            .collect();
        let rate: f64 = points.iter().map(|x| (1.0 + x[0].sin()).exp()).sum();
        all.push(Counts::new(rate).unwrap().sample(&mut random));
        set.push_nodes(&points, &[1.0; 10]).unwrap();
    }
    let counts = Poisson::new(all, vec![1.0; count], Link::Exp).unwrap();
    Observations::new(set, counts).unwrap()
}

fn learned(manifold: f64, seed: u64) -> Network {
    let settings = NetworkSettings {
        units: 24,
        rate: 0.01,
        manifold,
        bags: 0.0,
        seed,
        ..settings()
    };
    Network::fit(&drawn(150, 1), &drawn(60, 2), &landmarks(), &settings).unwrap()
}

/// What a method says at points, beside the truth.
fn at_points(method: &dyn Predict) -> Vec<(f64, f64)> {
    let x: Vec<f64> = (0..61).map(|i| 0.1 * f64::from(i)).collect();
    let told = method.predict_response(&Functionals::points("x", &x).unwrap());
    let told = told.unwrap().mean().to_vec();
    told.into_iter()
        .zip(x.iter().map(|x| (1.0 + x.sin()).exp()))
        .collect()
}

fn error(method: &dyn Predict) -> f64 {
    let all = at_points(method);
    let squares: f64 = all.iter().map(|(told, truth)| (told - truth).powi(2)).sum();
    (squares / all.len() as f64).sqrt()
}

#[test]
fn it_finds_rates_inside_bags() {
    let (learned, constant) = (learned(0.0, 5), Constant::new(&drawn(150, 1)).unwrap());
    // Rates from 1 to 7.4, 150 counts of some 30 each: a fifth of their spread is left.
    let (own, same) = (error(&learned), error(&constant));
    assert!(own < 0.2 * same, "{own} {same}");
    assert!(learned.epochs() > PATIENCE);
}

#[test]
fn what_is_kept_met_the_other_rows_as_it_says() {
    let (network, others) = (learned(0.0, 5), drawn(60, 2));
    let told = network.predict_response(others.supports()).unwrap();
    let rows = BagRows::of(&others, &["x".to_owned()]).unwrap();
    let pairs = told.mean().iter().zip(&rows.values);
    let loss = pairs.map(|(m, y)| m - y * m.ln()).sum::<f64>() / 60.0;
    // The same sums in another order.
    assert!((network.loss() / loss - 1.0).abs() < 1e-12);
}

#[test]
fn a_seed_gives_one_answer_and_another_seed_another() {
    let [a, again, b] = [5, 5, 6].map(|seed| learned(0.0, seed));
    assert_eq!(a, again);
    assert_ne!(a.layers, b.layers);
}

#[test]
fn stronger_laplacians_leave_less_to_differ() {
    let spread = |manifold: f64| {
        let told = at_points(&learned(manifold, 5));
        let logs: Vec<f64> = told.iter().map(|(told, _)| told.ln()).collect();
        logs.iter().copied().fold(f64::MIN, f64::max)
            - logs.iter().copied().fold(f64::MAX, f64::min)
    };
    let [free, some, held] = [0.0, 100.0, 1e5].map(spread);
    assert!(held < some && some < free, "{free} {some} {held}");
    // `log` rates between 0 and 2.
    assert!(free > 1.5 && held < 0.2, "{free} {held}");
}

#[test]
fn far_away_it_tells_no_infinity() {
    let told = learned(0.0, 5);
    let far = Functionals::points("x", &[1e300, -1e300]).unwrap();
    let told = told.predict_response(&far).unwrap();
    assert!(told.mean().iter().all(|m| m.is_finite()));
}

#[test]
fn what_it_cannot_use_is_refused() {
    let table = || Observations::new(five(), counts()).unwrap();
    let fit = |stop: &Observations, settings: &NetworkSettings| {
        Network::fit(&table(), stop, &landmarks(), settings)
    };
    assert!(fit(&table(), &settings()).is_ok());
    let wrong = |change: fn(&mut NetworkSettings)| {
        let mut settings = settings();
        change(&mut settings);
        fit(&table(), &settings).unwrap_err().to_string()
    };
    assert!(wrong(|s| s.units = 0).contains("units"));
    assert!(wrong(|s| s.units = 1001).contains("units"));
    assert!(wrong(|s| s.rate = 0.0).contains("rate"));
    assert!(wrong(|s| s.rate = f64::NAN).contains("rate"));
    assert!(wrong(|s| s.manifold = -1.0).contains("manifold"));
    assert!(wrong(|s| s.bags = f64::INFINITY).contains("bags"));
    assert!(wrong(|s| s.lengthscales = vec![]).contains("lengthscales"));
    assert!(wrong(|s| s.lengthscales = vec![0.0]).contains("lengthscales"));
    // Steps so long that nothing finite is ever met keep the start, which is finite.
    let mut long = settings();
    long.rate = 1e9;
    assert!(fit(&table(), &long).is_ok());
    let square = Poisson::new(SUMS.to_vec(), vec![1.0; 5], Link::Square).unwrap();
    let square = Observations::new(five(), square).unwrap();
    let told = fit(&square, &settings()).unwrap_err().to_string();
    assert!(told.contains("same link"), "{told}");
    let elsewhere = Functionals::points("y", &[1.0]).unwrap();
    let one = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let elsewhere = Observations::new(elsewhere, one.clone()).unwrap();
    assert!(fit(&elsewhere, &settings()).is_err());
    let bins = Functionals::intervals("x", &[(0.0, 1.0)], Aggregate::Sum).unwrap();
    let bins = Observations::new(bins, one).unwrap();
    assert!(fit(&bins, &settings()).is_err());
    let none = Poisson::new(vec![0.0; 5], vec![1.0; 5], Link::Exp).unwrap();
    let none = Observations::new(five(), none).unwrap();
    let told = Network::fit(&none, &table(), &landmarks(), &settings());
    let told = told.unwrap_err().to_string();
    assert!(told.contains("total of zero"), "{told}");
}
