//! Learning again from all rows: what a fit of all of them learns.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Noise, Observations, Posterior, Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::Functionals;

fn at(xs: &[f64]) -> Functionals {
    let mut at = Functionals::new(vec!["x".to_owned()]);
    for x in xs {
        at.push_point(&[*x]).unwrap();
    }
    at
}

fn wave(x: f64) -> f64 {
    (1.3 * x).sin() + 0.3 * (4.1 * x).cos()
}

fn values(xs: &[f64]) -> Observations {
    let noise = Noise::Learned;
    let y = xs.iter().map(|x| wave(*x) + 0.05 * (37.0 * x).sin());
    Observations::gaussian(at(xs), y.collect(), noise).unwrap()
}

fn counts(xs: &[f64]) -> Observations {
    let y = xs.iter().map(|x| (8.0 * wave(*x).exp()).round());
    let rows = Poisson::new(y.collect(), vec![8.0; xs.len()], Link::Exp).unwrap();
    Observations::new(at(xs), rows).unwrap()
}

/// Priors of its own, so that they do not follow the rows.
fn model() -> Model {
    let around = |median: f64| {
        Setting::prior(PriorDensity::LogNormal {
            mu: median.ln(),
            sigma: 1.0,
        })
    };
    Model::new(Kernel::matern32(["x"]))
        .mean(Mean::Zero)
        .set("matern32.variance", around(1.0))
        .set("matern32.lengthscale.x", around(1.5))
}

fn options(hyperparameters: Hyperparameters) -> FitOptions {
    FitOptions::default().with_hyperparameters(hyperparameters)
}

const FIRST: [f64; 6] = [0.0, 1.0, 2.1, 3.3, 4.0, 5.2];
const MORE: [f64; 7] = [0.4, 1.6, 2.7, 3.6, 4.6, 5.5, 6.1];

fn learned(posterior: &Posterior) -> Vec<f64> {
    let all = posterior.summary().hyperparameters.iter();
    all.map(|h| h.value).collect()
}

/// The largest relative difference.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let each = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs() / b.abs().max(1e-300));
    each.fold(0.0, f64::max)
}

/// Rows that were added and a new search end where a fit of all rows does.
#[test]
fn learning_again_is_a_fit_of_all_rows() {
    let noise = Setting::prior(PriorDensity::LogNormal {
        mu: 0.01_f64.ln(),
        sigma: 1.0,
    });
    for hyperparameters in [Hyperparameters::Map, Hyperparameters::Integrate] {
        for (tables, noisy) in [(values as fn(&[f64]) -> _, true), (counts, false)] {
            let own = || match noisy {
                true => model().set("noise.variance", noise.clone()),
                false => model(),
            };
            let options = options(hyperparameters);
            let all: Vec<f64> = FIRST.iter().chain(&MORE).copied().collect();
            let whole = own().observe(tables(&all)).fit(&options).unwrap();
            let first = own().observe(tables(&FIRST)).fit(&options).unwrap();
            let added = first.condition(tables(&MORE)).unwrap();
            assert!(apart(&learned(&added), &learned(&whole)) > 1e-2);
            let again = added.relearn(&options).unwrap();
            assert_eq!(again.summary().integrated, whole.summary().integrated);
            // Searches end where the slope of the log posterior is below 1e-5 or so.
            let off = apart(&learned(&again), &learned(&whole));
            assert!(off < 1e-3, "{off}");
            let evidences = [&again, &whole].map(|p| p.summary().log_evidence);
            assert!((evidences[0] - evidences[1]).abs() < 1e-5, "{evidences:?}");
            let ask = at(&[0.2, 2.4, 7.0]);
            let [a, b] =
                [&again, &whole].map(|p| p.predict(&ask, quadrat::model::Scale::Latent).unwrap());
            assert!(apart(a.sd(), b.sd()) < 1e-3);
            for ((a, b), sd) in a.mean().iter().zip(b.mean()).zip(b.sd()) {
                // As above.
                assert!((a - b).abs() < 1e-3 * sd, "{a} {b} of sd {sd}");
            }
        }
    }
}

/// Without further rows nothing moves, and what is saved with a posterior stays.
#[test]
fn learning_again_from_the_same_rows_changes_nothing() {
    let options = options(Hyperparameters::Map);
    let mut first = model().observe(values(&FIRST)).fit(&options).unwrap();
    first.set_note("of", "a test");
    let again = first.relearn(&options).unwrap();
    assert!(apart(&learned(&again), &learned(&first)) < 1e-3);
    assert_eq!(again.note("of"), Some("a test"));
}

/// Inducing points belong to the rows of the fit.
#[test]
fn inducing_points_are_not_learned_again() {
    let options = options(Hyperparameters::Map).with_inference(Inference::Sparse);
    let first = model().observe(counts(&FIRST)).fit(&options).unwrap();
    let told = first.relearn(&options).unwrap_err().to_string();
    assert!(told.contains("inducing points"), "{told}");
}
