//! What is refused, named or warned of; saved files.

use faer::Mat;
use quadrat::covariance::Covariance;
use quadrat::error::{FitError, InputError, LoadError};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Ordinal, Positive, Thresholds};
use quadrat::model::{
    FORMAT, FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};

use crate::common::{hyper, map, model, times, waves};

#[test]
fn a_saved_posterior_answers_to_the_bit_and_a_damaged_one_is_refused() {
    let posterior = model(12).fit(&FitOptions::default()).unwrap();
    let bytes = posterior.to_bytes();
    let again = Posterior::from_bytes(&bytes).unwrap();
    let (a, b) = (
        posterior.predict(&times(), Scale::Observation).unwrap(),
        again.predict(&times(), Scale::Observation).unwrap(),
    );
    assert_eq!(a, b);
    assert_eq!(posterior.summary(), again.summary());
    assert_eq!(posterior.leave_one_out(), again.leave_one_out());
    assert_eq!(bytes, again.to_bytes());

    assert_eq!(
        Posterior::from_bytes(b"PK\x03\x04").unwrap_err(),
        LoadError::NotAModel
    );
    assert_eq!(
        Posterior::from_bytes(b"").unwrap_err(),
        LoadError::NotAModel
    );
    // Whatever stands behind the first line: it was laid out otherwise.
    assert!(bytes.starts_with(format!("quadrat-model {FORMAT}\n").as_bytes()));
    let of_format = |number: u32| {
        let line = format!("quadrat-model {number}\n").into_bytes();
        Posterior::from_bytes(&[&line, &bytes[16..]].concat()).unwrap_err()
    };
    let (older, newer) = (of_format(FORMAT - 1), of_format(FORMAT + 1));
    assert_eq!(
        older,
        LoadError::Older {
            found: FORMAT - 1,
            supported: FORMAT
        }
    );
    assert!(older.to_string().contains("fit the study again"), "{older}");
    assert_eq!(
        newer,
        LoadError::Newer {
            found: FORMAT + 1,
            supported: FORMAT
        }
    );
    let mut noted = again;
    noted.set_note("projection", "about here");
    let noted = Posterior::from_bytes(&noted.to_bytes()).unwrap();
    assert_eq!(
        (noted.note("projection"), noted.note("other")),
        (Some("about here"), None)
    );
    for cut in 0..bytes.len() {
        let error = Posterior::from_bytes(&bytes[..cut]).unwrap_err();
        assert!(
            matches!(error, LoadError::NotAModel | LoadError::Damaged { .. }),
            "{cut}: {error}"
        );
    }
    for at in (16..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(matches!(
            Posterior::from_bytes(&changed).unwrap_err(),
            LoadError::Damaged { .. }
        ));
    }
}

#[test]
fn a_learned_period_is_no_alias_of_the_spacing() {
    let x: Vec<f64> = (0..24).map(f64::from).collect();
    let y: Vec<f64> = x
        .iter()
        .map(|t| (t / 6.0 * std::f64::consts::TAU).sin())
        .collect();
    let set = Functionals::points("t", &x).unwrap();
    let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
    let model = Model::new("periodic(t)".parse().unwrap()).observe(table);
    let fit = model.fit(&FitOptions::default()).unwrap();
    let period = fit
        .summary()
        .hyperparameters
        .iter()
        .find(|h| h.name == "periodic.period.t")
        .unwrap();
    assert!(period.value >= 2.0 && period.lower >= 2.0, "{period:?}");
    // Whoever knows better may say so.
    let known = Setting {
        start: Some(0.8),
        ..Setting::default()
    };
    assert!(model.set("periodic.period.t", known).parameters().is_ok());
}

#[test]
fn settings_are_honoured_and_bad_ones_refused() {
    let posterior = map(&model(20)
        .set(
            "matern52.lengthscale.t",
            Setting {
                upper: Some(0.4),
                ..Setting::default()
            },
        )
        .set("noise.variance", Setting::fixed(0.5)));
    assert!(hyper(&posterior, "matern52.lengthscale.t") <= 0.4);
    assert_eq!(hyper(&posterior, "noise.variance"), 0.5);
    assert!(
        posterior
            .summary()
            .warnings
            .iter()
            .any(|w| w.contains("lengthscale.t` stopped at a bound"))
    );

    let refused = |name: &str, setting: Setting| match model(5).set(name, setting).parameters() {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{name} was accepted"),
    };
    assert!(
        refused("se.variance", Setting::fixed(1.0)).contains("the model has: matern52.variance")
    );
    assert!(refused("noise.variance", Setting::fixed(-1.0)).contains("positive"));
    assert!(
        refused(
            "noise.variance",
            Setting {
                fixed: true,
                ..Setting::default()
            }
        )
        .contains("needs a `value`")
    );
    let crossed = Setting {
        lower: Some(2.0),
        upper: Some(1.0),
        ..Setting::default()
    };
    assert!(refused("matern52.variance", crossed).contains("matern52.variance"));
    assert!(refused("mean.constant", Setting::start(1.0)).contains("normal(mean, sd)"));
}

#[test]
fn rows_that_teach_nothing_are_refused() {
    let fit = |x: &[f64], y: &[f64]| {
        let table = Observations::gaussian(
            Functionals::points("t", x).unwrap(),
            y.to_vec(),
            Noise::Learned,
        )
        .unwrap();
        Model::new(Kernel::se(["t"]))
            .observe(table)
            .fit(&FitOptions::default())
    };
    assert!(matches!(
        fit(&[1.0], &[1.0]),
        Err(FitError::Input(InputError::TooFewRows { .. }))
    ));
    assert!(matches!(
        fit(&[1.0; 9], &[2.0; 9]),
        Err(FitError::Input(InputError::AllRowsEqual { .. }))
    ));
    // A flat histogram is information.
    let flat = fit(&[1.0, 2.0, 3.0, 4.0], &[7.0; 4]).unwrap();
    let p = flat
        .predict(&Functionals::points("t", &[2.5]).unwrap(), Scale::Latent)
        .unwrap();
    assert!((p.mean()[0] - 7.0).abs() < 0.01);
    assert!(matches!(
        Observations::gaussian(Functionals::new(vec!["t".into()]), vec![], Noise::Learned),
        Err(InputError::Empty)
    ));
}

#[test]
fn repeated_exact_rows_are_named_when_they_contradict_each_other() {
    let table = Observations::gaussian(
        Functionals::points("t", &[0.0, 1.0, 1.0, 2.0]).unwrap(),
        vec![0.0, 1.0, 5.0, 2.0],
        Noise::Known(vec![0.0; 4]),
    )
    .unwrap();
    let fit = Model::new(Kernel::se(["t"]))
        .observe(table)
        .fit(&FitOptions::default());
    let message = fit.unwrap_err().to_string();
    assert!(message.contains("known exactly"), "{message}");
    assert!(
        message.contains("row 1") && message.contains("row 2"),
        "{message}"
    );
}

/// One row far away, such as a wrong year, says nothing of what lies between it and the others.
#[test]
fn a_far_row_does_not_bring_what_lies_between_near() {
    let (near, values) = waves(6);
    let mut set = near.clone();
    set.push_point(&[1e6]).unwrap();
    let mut with_far = values.clone();
    with_far.push(0.0);
    let at = Functionals::points("t", &[3.0, 1e3, 5e5, 1e6]).unwrap();
    let of = |set: Functionals, y: Vec<f64>| {
        let noise = Noise::Known(vec![0.01; y.len()]);
        let rows = Observations::gaussian(set, y, noise).unwrap();
        map(&Model::new(Kernel::se(["t"])).observe(rows)).extrapolation(&at)
    };
    assert_eq!(of(near, values).unwrap(), [1, 2, 3]);
    assert_eq!(of(set, with_far).unwrap(), [1, 2]);
}

#[test]
fn observation_scale_needs_a_noise_for_new_rows() {
    let (set, y) = waves(6);
    let known = Noise::Known((1..7).map(|i| 0.01 * f64::from(i)).collect());
    let posterior =
        map(&Model::new(Kernel::se(["t"])).observe(Observations::gaussian(set, y, known).unwrap()));
    let error = posterior.predict(&times(), Scale::Observation).unwrap_err();
    assert!(error.to_string().contains("row by row"));
    let missing = Functionals::points("u", &[1.0]).unwrap();
    let error = posterior.predict(&missing, Scale::Latent).unwrap_err();
    assert!(error.to_string().contains("no input named `t`"));
    let far = Functionals::points("t", &[5.0, 1e3]).unwrap();
    assert_eq!(posterior.extrapolation(&far).unwrap(), [1]);
    let _: Mat<f64> = posterior.covariance(&far).unwrap();
}

#[test]
fn kernels_that_no_expression_says_are_refused() {
    let (set, y) = waves(5);
    let refused = |kernel: Kernel| {
        let table = Observations::gaussian(set.clone(), y.clone(), Noise::Learned).unwrap();
        Model::new(kernel)
            .observe(table)
            .parameters()
            .unwrap_err()
            .to_string()
    };
    assert!(refused(Kernel::se(["t", "t"])).contains("stands twice"));
    assert!(refused(Kernel::se(Vec::<String>::new())).contains("needs the columns"));
    assert!(refused(Kernel::periodic("t", Some(-1.0))).contains("positive number"));
    let sum = || Kernel::se(["t"]) + Kernel::constant();
    let product = (0..12).fold(sum(), |k, _| k * sum());
    assert!(refused(product).contains("terms"));
}

#[test]
fn coarse_quadrature_is_known() {
    let covariance = |text: &str| Covariance::new(&Kernel::parse(text).unwrap());
    let set = |width: f64| {
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        set.push_box(&[(0.0, width), (0.0, width)], Aggregate::Mean)
            .unwrap();
        set
    };
    let smooth = covariance("rq(x, y) * periodic(x)");
    let theta = [1.0; 6];
    assert_eq!(smooth.coarseness(&theta, &set(0.3)), None);
    assert!(smooth.coarseness(&theta, &set(30.0)).unwrap() > 2.0);
    // A kink is cut through however narrow the box.
    let kinked = covariance("matern32(x, y) * periodic(x)");
    assert!(kinked.coarseness(&theta, &set(0.3)).is_some());
    // Closed forms need no panels.
    let closed = covariance("matern32(x) * se(y) + rq(x, y)");
    assert_eq!(closed.coarseness(&theta, &set(1e4)), None);
}

#[test]
fn exact_rows_that_contradict_each_other_are_named() {
    let boxes = |edges: &[(f64, f64)]| Functionals::intervals("x", edges, Aggregate::Sum).unwrap();
    let edges = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (0.0, 3.0)];
    let fit = |values: Vec<f64>, options: &FitOptions| {
        let table =
            Observations::gaussian(boxes(&edges), values, Noise::Known(vec![0.0; 4])).unwrap();
        Model::new(Kernel::se(["x"])).observe(table).fit(options)
    };
    let map = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let message = fit(vec![1.0, 2.0, 4.0, 99.0], &map)
        .unwrap_err()
        .to_string();
    assert!(message.contains("known exactly"), "{message}");
    // Parts and their exact total agree: one of them says nothing new.
    let agreed = fit(vec![1.0, 2.0, 4.0, 7.0], &map).unwrap();
    let p = agreed.predict(&boxes(&edges), Scale::Response).unwrap();
    for (mean, want) in p.mean().iter().zip([1.0, 2.0, 4.0, 7.0]) {
        assert!((mean - want).abs() < 1e-3, "{mean} {want}");
    }
}

#[test]
fn exact_rows_that_contradict_each_other_are_named_beside_other_rows() {
    // A bound beside them: no longer exact inference.
    let bound = |x: f64| {
        let set = Functionals::points("x", &[x]).unwrap();
        Observations::new(set, Positive::new(1, 0.0, 0.1).unwrap()).unwrap()
    };
    let fit = |values: Vec<f64>, fixed: bool| {
        let set = Functionals::points("x", &[0.0, 1.0, 1.0, 2.0]).unwrap();
        let table = Observations::gaussian(set, values, Noise::Known(vec![0.0; 4])).unwrap();
        let mut model = Model::new(Kernel::se(["x"]))
            .observe(table)
            .observe(bound(3.0));
        if fixed {
            for name in ["se.variance", "se.lengthscale.x"] {
                model = model.set(name, Setting::fixed(1.0));
            }
        }
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        model.fit(&options)
    };
    for fixed in [true, false] {
        let message = fit(vec![0.5, 1.0, 5.0, 2.0], fixed)
            .unwrap_err()
            .to_string();
        for part in ["known exactly", "row 1", "row 2"] {
            assert!(
                message.contains(part),
                "fixed {fixed}: no `{part}` in {message}"
            );
        }
    }
    // Repeated and in agreement: one of them says nothing new.
    let agreed = fit(vec![0.5, 1.0, 1.0, 2.0], true).unwrap();
    let at = Functionals::points("x", &[1.0]).unwrap();
    let p = agreed.predict(&at, Scale::Latent).unwrap();
    // The jitter, 1e-12 of the variance and more, is noise of 1e-6.
    assert!((p.mean()[0] - 1.0).abs() < 1e-5, "{:?}", p.mean());
    assert!(p.sd()[0] < 1e-3, "{:?}", p.sd());
}

#[test]
fn integration_over_many_rows_is_refused_before_any_work() {
    let n = 4001;
    let x: Vec<f64> = (0..n)
        .map(|i| f64::from(i) + 0.3 * f64::from(i % 3))
        .collect();
    let y = x.iter().map(|x| (0.01 * x).sin()).collect();
    let set = Functionals::points("x", &x).unwrap();
    let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
    let started = std::time::Instant::now();
    let fit = Model::new(Kernel::se(["x"])).observe(table).fit(&options);
    let message = fit.unwrap_err().to_string();
    assert!(message.contains("4,000 rows"), "{message}");
    // One factorisation of that size takes longer.
    assert!(started.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn a_noise_that_is_the_unit_of_ranks_cannot_be_set() {
    let set = Functionals::points("x", &[0.0, 1.0, 2.0]).unwrap();
    let ranks = Ordinal::new(vec![1, 2, 3], Thresholds::Learned(3), Noise::Learned).unwrap();
    let fit = Model::new(Kernel::se(["x"]))
        .observe(Observations::new(set, ranks).unwrap())
        .set("noise.variance", Setting::fixed(0.5))
        .fit(&FitOptions::default());
    let message = fit.unwrap_err().to_string();
    for part in ["noise.variance", "ranks", "give the thresholds"] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
}
