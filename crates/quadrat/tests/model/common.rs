//! The data and the short cuts that the tests share.

use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations, Posterior};
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub fn waves(n: usize) -> (Functionals, Vec<f64>) {
    let x: Vec<f64> = (0..n)
        .map(|i| 10.0 * (i as f64 + 0.3 * (i as f64 * 1.7).sin()) / n as f64)
        .collect();
    let mut set = Functionals::new(vec!["t".into()]);
    let mut y = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        if i % 3 == 0 {
            set.push_box(&[(x, x + 0.8)], Aggregate::Mean).unwrap();
            y.push((x + 0.4).sin() + 2.0 + 0.1 * (i as f64 * 12.9898).sin());
        } else {
            set.push_point(&[x]).unwrap();
            y.push(x.sin() + 2.0 + 0.1 * (i as f64 * 78.233).sin());
        }
    }
    (set, y)
}

pub fn model(n: usize) -> Model {
    let (set, y) = waves(n);
    Model::new(Kernel::matern52(["t"]))
        .observe(Observations::gaussian(set, y, Noise::Learned).unwrap())
}

pub fn map(model: &Model) -> Posterior {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    model.fit(&options).unwrap()
}

pub fn hyper(posterior: &Posterior, name: &str) -> f64 {
    let all = &posterior.summary().hyperparameters;
    all.iter().find(|h| h.name == name).unwrap().value
}

pub fn times() -> Functionals {
    Functionals::points("t", &[-1.0, 0.5, 3.3, 7.7, 12.0]).unwrap()
}

/// Number of events with a mean, by multiplication.
pub fn draw(random: &mut ChaCha8Rng, mean: f64) -> f64 {
    let (mut k, mut p) = (0.0, (-mean).exp());
    let (mut below, u) = (p, random.random_range(0.0..1.0));
    while below < u && k < 1e4 {
        k += 1.0;
        p *= mean / k;
        below += p;
    }
    k
}
