//! A noise variance or dispersion that is a function itself.

use quadrat::error::FitError;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Censored, Degrees, Dispersion, Interval, NegativeBinomial, Ordinal, Side, StudentT, Thresholds,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Noise, Observations, Posterior, Scale,
    Setting, Varying,
};
use quadrat::simulate::{Censored as Plan, Record};
use quadrat::support::{Aggregate, Functionals};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::common::hyper;

fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| StandardNormal.sample(&mut random)).collect()
}

/// Log variance of the noise: from e^-5 on the left to e^-0.5 on the right.
fn log_variance(t: f64) -> f64 {
    -5.0 + 4.5 * t / 8.0
}

fn rows(n: usize) -> (Vec<f64>, Vec<f64>, Functionals) {
    let t: Vec<f64> = (0..n).map(|i| 8.0 * (i as f64 + 0.5) / n as f64).collect();
    let z = normals(n, 3);
    let y = t
        .iter()
        .zip(&z)
        .map(|(t, z)| t.sin() + (0.5 * log_variance(*t)).exp() * z);
    let y = y.collect();
    let set = Functionals::points("t", &t).unwrap();
    (t, y, set)
}

fn model(set: &Functionals, y: Vec<f64>) -> Model {
    Model::new(Kernel::se(["t"]))
        .observe(Observations::gaussian(set.clone(), y, Noise::Learned).unwrap())
        .vary(Varying::Noise, Kernel::se(["t"]), Link::Exp)
}

fn by(method: Option<Method>) -> FitOptions {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    match method {
        None => options,
        Some(method) => options.with_inference(Inference::Sites(method)),
    }
}

#[test]
fn noise_that_grows_is_found_and_bands_widen() {
    let (_, y, set) = rows(100);
    for method in [None, Some(Method::Variational)] {
        let posterior = model(&set, y.clone()).fit(&by(method)).unwrap();
        let at = Functionals::points("t", &[1.0, 4.0, 7.0]).unwrap();
        let g = posterior.predict_varying(Varying::Noise, &at).unwrap();
        for (i, t) in [1.0, 4.0, 7.0].into_iter().enumerate() {
            let (mean, sd) = (g.mean()[i], g.sd()[i]);
            // Within three posterior standard deviations.
            assert!(
                (mean - log_variance(t)).abs() < 3.0 * sd,
                "{method:?} {t}: {mean} +- {sd}"
            );
            // A third of a hundred rows know a log variance to sqrt(2 / 33) = 0.25: found is 0.33.
            assert!(sd < 0.8, "{sd}");
        }
        let observed = posterior.predict(&at, Scale::Observation).unwrap();
        let latent = posterior.predict(&at, Scale::Latent).unwrap();
        assert!(observed.sd()[2] > 3.0 * observed.sd()[0]);
        for i in 0..3 {
            // E e^g = e^(m + s/2), mixed over one node.
            let noise = (g.mean()[i] + 0.5 * g.sd()[i].powi(2)).exp();
            let expected = latent.sd()[i].powi(2) + noise;
            assert!((observed.sd()[i].powi(2) / expected - 1.0).abs() < 1e-4);
            // Heavier tails than a normal distribution of this sd.
            let half = observed.quantile(0.9995)[i] - observed.mean()[i];
            assert!(half > 3.3 * observed.sd()[i]);
        }
        let summary = posterior.summary();
        assert!(summary.converged);
        let names: Vec<&str> = summary
            .hyperparameters
            .iter()
            .map(|h| h.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "se.variance",
                "se.lengthscale.t",
                "noise.se.variance",
                "noise.se.lengthscale.t",
                "mean.constant",
                "noise.mean.constant"
            ]
        );
    }
}

/// A second function that is held still is a learned constant: all but the same answer as
/// homoscedastic inference. Starts compete with a constant noise; one start searches with the
/// function from the beginning.
#[test]
fn starts_that_competed_with_constant_noise_end_where_the_function_does() {
    let (_, y, set) = rows(60);
    let model = model(&set, y)
        .set("noise.se.variance", Setting::start(0.5))
        .set("se.variance", Setting::start(0.5));
    let ends = [1, 4].map(|starts| {
        let posterior = model.fit(&by(None).with_starts(starts)).unwrap();
        assert!(posterior.summary().converged);
        posterior.summary().log_posterior
    });
    // Newton refinement stops with less than 1e-6 nats to gain.
    assert!((ends[0] - ends[1]).abs() < 1e-5, "{ends:?}");
}

#[test]
fn a_second_function_without_variance_is_a_constant_noise() {
    let (_, y, set) = rows(60);
    let fixed = |m: Model| {
        m.set("se.variance", Setting::fixed(0.7))
            .set("se.lengthscale.t", Setting::fixed(1.3))
    };
    let flat = fixed(model(&set, y.clone()))
        .set("noise.se.variance", Setting::fixed(1e-8))
        .set("noise.se.lengthscale.t", Setting::fixed(1.0))
        .fit(&by(None))
        .unwrap();
    let level = hyper(&flat, "noise.mean.constant");
    let plain = fixed(
        Model::new(Kernel::se(["t"]))
            .observe(Observations::gaussian(set.clone(), y, Noise::Learned).unwrap()),
    );
    let plain = plain
        .set("noise.variance", Setting::fixed(level.exp()))
        .fit(&by(None))
        .unwrap();
    let at = Functionals::points("t", &[0.5, 3.0, 7.5]).unwrap();
    let (a, b) = (
        flat.predict(&at, Scale::Latent).unwrap(),
        plain.predict(&at, Scale::Latent).unwrap(),
    );
    for i in 0..3 {
        // The level is uncertain by about sqrt(2 / 60) = .2, which moves the mean by less than a
        // tenth of an sd.
        assert!((a.mean()[i] - b.mean()[i]).abs() < 0.15 * b.sd()[i], "{i}");
        assert!((a.sd()[i] / b.sd()[i] - 1.0).abs() < 0.1, "{i}");
    }
}

#[test]
fn the_bound_is_below_the_evidence_by_propagation() {
    let (_, y, set) = rows(12);
    let settings = [
        ("se.variance", 0.7),
        ("se.lengthscale.t", 1.3),
        ("noise.se.variance", 0.5),
        ("noise.se.lengthscale.t", 2.5),
    ];
    let summary = |method: Method| {
        let hold = |m: Model, (name, value): &(&str, f64)| m.set(name, Setting::fixed(*value));
        let model = settings.iter().fold(model(&set, y.clone()), hold);
        let options = FitOptions::default().with_inference(Inference::Sites(method));
        model.fit(&options).unwrap().summary().clone()
    };
    let (ep, variational) = (summary(Method::Ep), summary(Method::Variational));
    let (evidence, bound) = (ep.log_evidence, variational.log_evidence);
    assert!(
        bound < evidence + 1e-6 && bound > evidence - 3.0,
        "{bound} {evidence}"
    );
    // The certificate of the one is what the other found from sites of its own, but for sites that
    // are 1e-3 sd from rest: less by the square of that for each of twelve rows and two functions.
    let told = ep.variational_bound.unwrap();
    assert!(told < bound + 1e-9 && told > bound - 1e-4, "{told} {bound}");
    assert_eq!(variational.variational_bound, None);
    assert!(ep.warnings.is_empty(), "{:?}", ep.warnings);
}

/// Pairs of sharp intervals that contradict each other at one place each, under a prior by which
/// the noise may have any size.
fn contradictions() -> Model {
    let t: Vec<f64> = (0..24).map(|i| 0.5 * f64::from(i / 2)).collect();
    let ends = |from: f64| (0..24).map(|i| from + 10.0 * f64::from(i % 2)).collect();
    let rows = Interval::new(ends(0.0), ends(0.1), Noise::Learned).unwrap();
    let table = Observations::new(Functionals::points("t", &t).unwrap(), rows).unwrap();
    let model = Model::new(Kernel::se(["t"])).observe(table);
    let settings = [
        ("se.variance", 1.0),
        ("se.lengthscale.t", 1.0),
        ("noise.se.variance", 50.0),
        ("noise.se.lengthscale.t", 0.3),
    ];
    let hold = |m: Model, (name, value): (&str, f64)| m.set(name, Setting::fixed(value));
    let varying = model.vary(Varying::Noise, Kernel::se(["t"]), Link::Exp);
    settings.into_iter().fold(varying, hold)
}

#[test]
fn where_propagation_does_not_settle_the_variational_approximation_is_used_and_says_so() {
    let model = contradictions();
    let asked = FitOptions::default().with_inference(Inference::Sites(Method::Ep));
    match model.fit(&asked).map(|_| ()) {
        Err(FitError::NotConverged { method: "ep", .. } | FitError::NoStart { .. }) => {}
        other => panic!("{other:?}"),
    }
    let posterior = model.fit(&FitOptions::default()).unwrap();
    let summary = posterior.summary();
    assert_eq!(summary.inference, "variational");
    assert_eq!(summary.evidence, "elbo");
    assert_eq!(summary.variational_bound, None);
    assert!(
        summary.warnings[0].starts_with("expectation propagation did not converge"),
        "{:?}",
        summary.warnings
    );
    let asked = FitOptions::default().with_inference(Inference::Sites(Method::Variational));
    let variational = model.fit(&asked).unwrap();
    assert_eq!(variational.summary().log_evidence, summary.log_evidence);
}

#[test]
fn censored_rows_of_two_outputs_share_both_functions() {
    let n = 40;
    let t: Vec<f64> = (0..n).map(|i| 8.0 * f64::from(i) / f64::from(n)).collect();
    let set = Functionals::points("t", &t).unwrap();
    let z = normals(2 * n as usize, 5);
    let noise = |t: f64| 0.1 + 0.05 * t;
    let truth = |t: f64| 2.0 * t.sin();
    let north: Vec<f64> = t
        .iter()
        .zip(&z)
        .map(|(t, z)| truth(*t) + noise(*t) * z)
        .collect();
    let south: Vec<f64> = t
        .iter()
        .zip(&z[n as usize..])
        .map(|(t, z)| 5.0 - truth(*t) + noise(*t) * z)
        .collect();
    // North is only known to exceed what was recorded from 1 to 3.
    let side = |t: &f64| {
        if (1.0..3.0).contains(t) {
            Side::Right
        } else {
            Side::None
        }
    };
    let recorded = north.iter().zip(&t).map(|(y, t)| match side(t) {
        Side::Right => y - 0.8,
        _ => *y,
    });
    let sides: Vec<Side> = t.iter().map(side).collect();
    let north = Censored::new(recorded.collect(), &sides, Noise::Learned).unwrap();
    let mixed = || Kernel::coregion("output", ["north", "south"], 1) * Kernel::se(["t"]);
    let posterior = Model::new(mixed())
        .observe(
            Observations::new(set.clone(), north)
                .unwrap()
                .of_output("north"),
        )
        .observe(
            Observations::gaussian(set, south, Noise::Learned)
                .unwrap()
                .of_output("south"),
        )
        .vary(Varying::Noise, mixed(), Link::Exp)
        .fit(&by(None))
        .unwrap();
    assert!(
        posterior.summary().converged,
        "{:?}",
        posterior.summary().warnings
    );
    let at = Functionals::points("t", &[1.5, 2.0, 2.5]).unwrap();
    let at = posterior.at_output(&at, "north").unwrap();
    let p = posterior.predict(&at, Scale::Latent).unwrap();
    for (i, t) in [1.5, 2.0, 2.5].into_iter().enumerate() {
        // Noise of an sd of 0.2, and censored neighbours: found is 0.21 at most.
        assert!((p.mean()[i] - truth(t)).abs() < 0.5, "{t}: {}", p.mean()[i]);
    }
    let again = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
    let other = again.predict(&at, Scale::Observation).unwrap();
    assert_eq!(
        other.mean(),
        posterior.predict(&at, Scale::Observation).unwrap().mean()
    );
}

/// Expectation propagation came to rest with a noise of `e^11051` here, and an evidence of 1e12.
#[test]
fn what_a_second_function_cannot_be_is_no_point_of_rest() {
    let plan = Plan {
        record: Record::Clipped,
        seed: 5,
        ..Plan::default()
    };
    let data = plan.draw().unwrap();
    let kernel = || Kernel::coregion("output", ["first", "second"], 1) * Kernel::se(["x"]);
    let mut model = Model::new(kernel())
        .mean(Mean::Zero)
        .vary(Varying::Noise, kernel(), Link::Exp);
    for (output, name) in data.outputs.iter().zip(["first", "second"]) {
        let rows = Censored::new(output.recorded.clone(), &output.sides, Noise::Learned).unwrap();
        let places = Functionals::points("x", &data.x).unwrap();
        model = model.observe(Observations::new(places, rows).unwrap().of_output(name));
    }
    let weight = (0.9 * plan.variance).sqrt();
    // Of the truth, but for the sign and the correlation of the log variances.
    let settings = [
        ("coregion.weight.first", weight),
        ("coregion.weight.second", weight),
        ("coregion.kappa.first", 0.1 * plan.variance),
        ("coregion.kappa.second", 0.1 * plan.variance),
        ("se.lengthscale.x", plan.lengthscale),
        ("noise.coregion.weight.first", 0.01),
        ("noise.coregion.weight.second", 0.01),
        ("noise.coregion.kappa.first", plan.noise_variance),
        ("noise.coregion.kappa.second", plan.noise_variance),
        ("noise.se.lengthscale.x", plan.noise_lengthscale),
    ];
    for (name, value) in settings {
        model = model.set(name, Setting::fixed(value));
    }
    let by = |inference: Inference| {
        let options = FitOptions::default().with_inference(inference);
        model.fit(&options).unwrap().summary().clone()
    };
    let found = by(Inference::Auto);
    let bound = by(Inference::Sites(Method::Variational)).log_evidence;
    // Of 200 rows the bound is less than a nat below in other draws; nothing where it took its
    // place.
    let gap = found.log_evidence - bound;
    assert!((-1e-6..2.0).contains(&gap), "{gap}: {found:?}");
}

#[test]
fn dispersion_of_counts_may_be_a_function() {
    let t: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
    let z = normals(60, 8);
    // Log-normal multipliers: none on the left, of sd 1 on the right.
    let counts = t
        .iter()
        .zip(&z)
        .map(|(t, z)| (20.0 * (0.1 * t * z).exp()).round());
    let set = Functionals::points("t", &t).unwrap();
    let counts = NegativeBinomial::new(
        counts.collect(),
        vec![1.0; 60],
        Link::Exp,
        Dispersion::Learned,
    );
    let posterior = Model::new(Kernel::se(["t"]))
        .observe(Observations::new(set, counts.unwrap()).unwrap())
        .vary(Varying::Dispersion, Kernel::se(["t"]), Link::Exp)
        .fit(&by(None))
        .unwrap();
    let at = Functionals::points("t", &[1.0, 9.0]).unwrap();
    let g = posterior.predict_varying(Varying::Dispersion, &at).unwrap();
    assert!(g.mean()[1] > g.mean()[0] + 0.5, "{:?}", g.mean());
    // New counts vary as the dispersion says.
    let new = posterior.predict(&at, Scale::Observation).unwrap();
    let rates = posterior.predict(&at, Scale::Response).unwrap();
    for row in 0..2 {
        let (rate, sd) = (rates.mean()[row], rates.sd()[row]);
        assert!((new.mean()[row] - rate).abs() < 1e-9 * rate);
        let (g, spread) = (g.mean()[row], g.sd()[row]);
        let dispersion = (g + 0.5 * spread * spread).exp();
        let variance = sd * sd + rate + dispersion * (sd * sd + rate * rate);
        // A share of 1e-6 of the dispersions is left out.
        assert!(
            (new.sd()[row].powi(2) / variance - 1.0).abs() < 1e-5,
            "{row}"
        );
    }
    let (lower, upper) = (new.quantile(0.1), new.quantile(0.9));
    assert!(upper[1] - lower[1] > upper[0] - lower[0]);
}

/// Rows with heavy tails have the noise of the fit, which is a function, but no table of it learned
/// their degrees of freedom; ranks would need a noise variance that is a number.
#[test]
fn rows_that_need_a_number_are_not_added_to_a_noise_that_is_a_function() {
    let (_, y, set) = rows(10);
    let held = [
        ("se.variance", 0.7),
        ("se.lengthscale.t", 1.3),
        ("noise.se.variance", 0.5),
        ("noise.se.lengthscale.t", 2.5),
    ];
    let hold = |m: Model, (name, value): &(&str, f64)| m.set(name, Setting::fixed(*value));
    let posterior = held.iter().fold(model(&set, y), hold).fit(&by(None));
    let posterior = posterior.unwrap();
    let at = || Functionals::points("t", &[1.0, 2.0]).unwrap();
    let heavy = StudentT::new(vec![0.8, 0.9], Noise::Learned, Degrees::Learned).unwrap();
    let ranks = Ordinal::new(vec![1, 2], Thresholds::Known(vec![0.0]), Noise::Learned).unwrap();
    for rows in [
        Observations::new(at(), heavy),
        Observations::new(at(), ranks),
    ] {
        let error = posterior.condition(rows.unwrap()).unwrap_err();
        assert!(error.to_string().contains("give it as known"), "{error}");
    }
}

#[test]
fn what_cannot_vary_is_refused() {
    let (_, y, set) = rows(10);
    let refuse = |m: Model, options: &FitOptions| m.fit(options).unwrap_err().to_string();
    let known =
        Observations::gaussian(set.clone(), y.clone(), Noise::Known(vec![0.1; 10])).unwrap();
    let known = Model::new(Kernel::se(["t"])).observe(known);
    let known = known.vary(Varying::Noise, Kernel::se(["t"]), Link::Exp);
    assert!(refuse(known, &by(None)).contains("no table learns one"));
    let odd = model(&set, y.clone()).vary(Varying::Noise, Kernel::se(["t"]), Link::Square);
    assert!(refuse(odd, &by(None)).contains("softplus"));
    let odd = model(&set, y.clone()).vary(Varying::Dispersion, Kernel::se(["t"]), Link::Exp);
    assert!(refuse(odd, &by(None)).contains("no table learns one"));
    let laplace = by(Some(Method::Laplace));
    assert!(refuse(model(&set, y.clone()), &laplace).contains("ep or variational"));
    let exact = by(None).with_inference(Inference::Exact);
    assert!(refuse(model(&set, y.clone()), &exact).contains("ep or variational"));
    let other = model(&set, y.clone()).vary(Varying::Noise, Kernel::se(["x"]), Link::Exp);
    assert!(refuse(other, &by(None)).contains("no input named `x`"));
    let boxes: Vec<(f64, f64)> = (0..10)
        .map(|i| (f64::from(i), f64::from(i) + 1.0))
        .collect();
    let boxes = Functionals::intervals("t", &boxes, Aggregate::Sum).unwrap();
    assert!(refuse(model(&boxes, y.clone()), &by(None)).contains("a point"));
    let plain = Model::new(Kernel::se(["t"]))
        .observe(Observations::gaussian(set.clone(), y, Noise::Learned).unwrap())
        .fit(&by(None))
        .unwrap();
    assert!(
        plain
            .predict_varying(Varying::Noise, &set)
            .unwrap_err()
            .to_string()
            .contains("constant")
    );
}

/// Nights are zero to the last digit: noise that changes with the hour explains them by none at
/// all, and neither approximation comes to rest. Whichever is told, it is not told as an answer. A
/// known variance of zero says that nothing was rounded.
#[test]
fn what_no_approximation_settles_is_no_answer() {
    let hours: Vec<f64> = (0..96).map(f64::from).collect();
    let z = normals(96, 3);
    let demand = |(t, z): (&f64, &f64)| match t % 24.0 < 8.0 {
        true => 0.0,
        false => (10.0 + 4.0 * (t / 5.0).sin() + 3.0 * z).round(),
    };
    let y: Vec<f64> = hours.iter().zip(&z).map(demand).collect();
    let set = Functionals::points("hour", &hours).unwrap();
    let day = || Kernel::periodic("hour", Some(24.0));
    let fit = Model::new(day() + Kernel::se(["hour"]))
        .observe(Observations::gaussian(set, y, Noise::KnownPlusLearned(vec![0.0; 96])).unwrap())
        .vary(Varying::Noise, day(), Link::Exp)
        .fit(&by(None));
    match fit {
        Err(error) => assert!(matches!(error, FitError::NotConverged { .. }), "{error}"),
        Ok(posterior) => {
            let summary = posterior.summary();
            assert!(!summary.converged, "{summary:?}");
            let told = summary.warnings.join("; ");
            assert!(
                told.contains("expectation propagation did not converge")
                    && told.contains("did not converge"),
                "{told}"
            );
        }
    }
}
