//! What is said at the end of a fit is true: who made a bound, and whether the rows can be.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Noise, Observations, Posterior, Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{hyper, map, model, waves};

fn started(start: f64, prior: Option<&str>) -> Setting {
    Setting {
        start: Some(start),
        prior: prior.map(|p| p.parse::<PriorDensity>().unwrap()),
        ..Setting::default()
    }
}

fn about_bounds(posterior: &Posterior) -> Vec<&String> {
    let warnings = &posterior.summary().warnings;
    warnings
        .iter()
        .filter(|w| w.contains("stopped at a bound"))
        .collect()
}

/// A wave with noise of a known size.
fn noisy(sd: f64) -> Model {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let t: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i)).collect();
    let y = t
        .iter()
        .map(|t| t.sin() + sd * random.random_range(-1.7..1.7));
    let y = y.collect();
    let set = Functionals::points("t", &t).unwrap();
    Model::new(Kernel::se(["t"])).observe(Observations::gaussian(set, y, Noise::Learned).unwrap())
}

#[test]
fn wherever_a_search_starts_it_finds_the_optimum_and_warns_of_no_bound() {
    for sd in [3e-3, 0.1] {
        let plain = map(&noisy(sd));
        assert_eq!(about_bounds(&plain), Vec::<&String>::new());
        for name in ["noise.variance", "se.lengthscale.t", "se.variance"] {
            let right = hyper(&plain, name);
            for prior in [None, Some("flat")] {
                let usual = Setting {
                    start: None,
                    ..started(1.0, prior)
                };
                let usual = map(&noisy(sd).set(name, usual));
                for power in [-10, -7, -3, 0, 3, 7, 10] {
                    let start = right * 10f64.powi(power);
                    let fit = map(&noisy(sd).set(name, started(start, prior)));
                    let what = format!("{name} from 1e{power} of {right}, {prior:?}");
                    assert_eq!(about_bounds(&fit), Vec::<&String>::new(), "{what}");
                    let gain = fit.summary().log_posterior - usual.summary().log_posterior;
                    // What a fit may leave to gain, in nats; where rounding lets it, polishing goes
                    // on to steps below 1e-10, so that optima agree to far less than their own
                    // uncertainty.
                    assert!(gain > -1e-6, "{what}: {gain}");
                    if prior.is_none() {
                        assert!((hyper(&fit, name) / right - 1.0).abs() < 1e-4, "{what}");
                    }
                }
            }
        }
    }
}

/// Sparse inference searches once, from where a search of a few rows ends highest.
#[test]
fn sparse_searches_find_the_optimum_from_afar_too() {
    let sparse = FitOptions::default().with_inference(Inference::Sparse);
    let plain = noisy(0.1).fit(&sparse).unwrap();
    for name in ["noise.variance", "se.lengthscale.t"] {
        let right = hyper(&plain, name);
        for power in [-10, -3, 3, 5, 10] {
            let start = right * 10f64.powi(power);
            let fit = noisy(0.1)
                .set(name, started(start, None))
                .fit(&sparse)
                .unwrap();
            assert_eq!(
                fit.summary().warnings,
                plain.summary().warnings,
                "{name} {power}"
            );
            let ratio = hyper(&fit, name) / right;
            // Searches stop a hundredth of a nat below the optimum.
            assert!(
                (0.8..1.25).contains(&ratio),
                "{name} from 1e{power}: {ratio}"
            );
        }
    }
}

/// Of a prior that lies beyond what the data suggest, too, the whole range is searched.
#[test]
fn a_prior_far_from_the_data_is_searched_where_it_is() {
    let (set, y) = waves(12);
    let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
    let prior = "log_normal(-40, 0.1)".parse().unwrap();
    let setting = Setting {
        prior: Some(prior),
        ..Setting::default()
    };
    let parameters = Model::new(Kernel::se(["t"]))
        .observe(table)
        .set("noise.variance", setting);
    let all = parameters.parameters().unwrap();
    let noise = all.iter().find(|p| p.name == "noise.variance").unwrap();
    assert!(noise.free_bounds().0 < -50.0 && noise.free_bounds().1 > 0.0);
}

#[test]
fn a_bound_is_blamed_on_who_would_go_beyond_it() {
    let model = || noisy(0.1).set("se.lengthscale.t", Setting::fixed(1.5));
    let right = hyper(&map(&model()), "noise.variance");
    let bounded = |lower, upper, prior: &str| {
        let setting = Setting {
            lower,
            upper,
            prior: Some(prior.parse().unwrap()),
            ..Setting::default()
        };
        let fit = map(&model().set("noise.variance", setting));
        let told = about_bounds(&fit);
        assert_eq!(told.len(), 1, "{:?}", fit.summary().warnings);
        told[0].clone()
    };
    let above = bounded(None, Some(0.1 * right), "flat");
    assert!(
        above.contains("the data would prefer a value beyond"),
        "{above}"
    );
    let below = bounded(Some(10.0 * right), None, "flat");
    assert!(
        below.contains("the data would prefer a value beyond"),
        "{below}"
    );
    // The prior alone is beyond.
    let prior = format!("log_normal({}, 0.01)", (1e-3 * right).ln());
    let below = bounded(Some(0.5 * right), None, &prior);
    assert!(below.contains("its prior would prefer"), "{below}");
}

fn known(variance: f64, t: &[f64], y: Vec<f64>) -> Model {
    let set = Functionals::points("t", t).unwrap();
    let noise = Noise::Known(vec![variance; t.len()]);
    Model::new(Kernel::se(["t"])).observe(Observations::gaussian(set, y, noise).unwrap())
}

fn warns(model: &Model, words: &str) -> bool {
    let warnings = map(model).summary().warnings.clone();
    warnings.iter().any(|w| w.contains(words))
}

#[test]
fn noise_that_makes_the_rows_impossible_is_said() {
    let words = "known noise makes the rows impossible";
    let t: Vec<f64> = (0..30).map(f64::from).collect();
    let y: Vec<f64> = t
        .iter()
        .map(|t| (0.7 * t).sin() + 0.1 * (911.0 * t).sin())
        .collect();
    // A curve that is held too stiff, and one that may bend.
    let stiff =
        |variance| known(variance, &t, y.clone()).set("se.lengthscale.t", Setting::fixed(100.0));
    assert!(warns(&stiff(0.01), words) && !warns(&stiff(1.0), words));
    assert!(!warns(&known(0.01, &t, y.clone()), words));
    // Two values of one place that differ by twenty sds, and by two.
    let twice: Vec<f64> = (0..30).map(|i| f64::from(i / 2)).collect();
    let values = |apart: f64| {
        (0..30)
            .map(|i| 0.3 * f64::from(i / 2) + apart * f64::from(i % 2))
            .collect()
    };
    assert!(warns(&known(0.01, &twice, values(2.0)), words));
    assert!(!warns(&known(0.01, &twice, values(0.2)), words));
}

/// So it is under approximate inference.
#[test]
fn it_is_said_of_sites_and_inducing_points_too() {
    let words = "known noise makes the rows impossible";
    let t: Vec<f64> = (0..30).map(f64::from).collect();
    let y: Vec<f64> = t.iter().map(|t| (0.7 * t).sin()).collect();
    for stiff in [true, false] {
        for inference in [Inference::Sites(Method::Ep), Inference::Sparse] {
            let mut model = known(0.01, &t, y.clone());
            if stiff {
                model = model.set("se.lengthscale.t", Setting::fixed(100.0));
            }
            let options = FitOptions::default()
                .with_hyperparameters(Hyperparameters::Map)
                .with_inference(inference);
            let fit = model.fit(&options).unwrap();
            let told = fit.summary().warnings.iter().any(|w| w.contains(words));
            assert_eq!(told, stiff, "{inference:?}");
        }
    }
}

#[test]
fn rows_that_the_others_miss_are_said() {
    let words = "outside the 95 % interval that the other rows predict";
    let t: Vec<f64> = (0..30).map(f64::from).collect();
    let y: Vec<f64> = t
        .iter()
        .map(|t| (0.7 * t).sin() + 0.1 * (911.0 * t).sin())
        .collect();
    let small = known(0.0, &t, y.clone()).set("se.variance", Setting::fixed(1e-4));
    assert!(warns(&small, words));
    assert!(!warns(&known(0.0, &t, y), words));
    assert!(!warns(&model(40), words));
}

/// Of rows that the model itself made with the noise that is known, nothing is said.
#[test]
fn what_the_model_made_is_not_doubted() {
    let set = Functionals::points("t", &(0..25).map(f64::from).collect::<Vec<_>>()).unwrap();
    let far = Observations::gaussian(
        Functionals::points("t", &[-500.0]).unwrap(),
        vec![0.0],
        Noise::Known(vec![1.0]),
    );
    let prior = Model::new(Kernel::matern32(["t"]))
        .observe(far.unwrap())
        .mean(Mean::Zero)
        .set("matern32.variance", Setting::fixed(1.0))
        .set("matern32.lengthscale.t", Setting::fixed(3.0));
    let draws = map(&prior).sample(&set, 20, 5).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for k in 0..draws.ncols() {
        let mut noise = || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
        let seen = (0..25).map(|i| draws[(i, k)] + 0.3 * noise()).collect();
        let rows = Observations::gaussian(set.clone(), seen, Noise::Known(vec![0.09; 25])).unwrap();
        let fit = map(&Model::new(Kernel::matern32(["t"])).observe(rows));
        assert_eq!(fit.summary().warnings, Vec::<String>::new());
    }
}
