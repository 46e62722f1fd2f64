//! Several outputs: coregionalisation, from the model's side.

use quadrat::error::{FitError, InputError};
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Interval, Ordinal, Poisson, Side, Thresholds};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Noise, Observations, Posterior, Scale,
    Setting, Varying,
};
use quadrat::support::{Aggregate, Functionals};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::common::hyper;

const OUTPUTS: [&str; 2] = ["north", "south"];

fn mixed(rank: usize) -> Kernel {
    Kernel::coregion("output", OUTPUTS, rank) * Kernel::se(["t"])
}

fn points(n: usize, shift: f64) -> (Vec<f64>, Functionals) {
    let t: Vec<f64> = (0..n).map(|i| shift + 8.0 * i as f64 / n as f64).collect();
    let set = Functionals::points("t", &t).unwrap();
    (t, set)
}

fn values(t: &[f64], level: f64, size: f64, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
    t.iter()
        .map(|t| level + size * t.sin() + 0.1 * noise())
        .collect()
}

fn gaussian(set: &Functionals, values: Vec<f64>) -> Observations {
    Observations::gaussian(set.clone(), values, Noise::Learned).unwrap()
}

fn at_fixed(model: Model, settings: &[(&str, f64)]) -> Posterior {
    let set = |m: Model, (name, value): &(&str, f64)| m.set(name, Setting::fixed(*value));
    let model = settings.iter().fold(model, set);
    model.fit(&FitOptions::default()).unwrap()
}

#[test]
fn without_mixing_outputs_are_separate_models() {
    let (t, north) = points(12, 0.0);
    let (u, south) = points(9, 0.3);
    let (y, z) = (values(&t, 3.0, 1.0, 1), values(&u, -20.0, 5.0, 2));
    let joint = at_fixed(
        Model::new(mixed(0))
            .observe(gaussian(&north, y.clone()).of_output("north"))
            .observe(gaussian(&south, z.clone()).of_output("south")),
        &[
            ("coregion.kappa.north", 1.3),
            ("coregion.kappa.south", 20.0),
            ("se.lengthscale.t", 1.1),
            ("noise.variance", 0.02),
            ("noise#2.variance", 0.05),
        ],
    );
    let alone = |set: &Functionals, y: Vec<f64>, variance: f64, noise: f64| {
        at_fixed(
            Model::new(Kernel::se(["t"])).observe(gaussian(set, y)),
            &[
                ("se.variance", variance),
                ("se.lengthscale.t", 1.1),
                ("noise.variance", noise),
            ],
        )
    };
    let parts = [alone(&north, y, 1.3, 0.02), alone(&south, z, 20.0, 0.05)];
    let sum: f64 = parts.iter().map(|p| p.summary().log_evidence).sum();
    // Priors of the unknown means are scaled by the spread of each output: the same numbers.
    assert!((joint.summary().log_evidence - sum).abs() < 1e-8 * sum.abs());
    let at = Functionals::points("t", &[-1.0, 2.2, 9.5]).unwrap();
    for (output, part) in OUTPUTS.iter().zip(&parts) {
        for scale in [Scale::Latent, Scale::Response, Scale::Observation] {
            let joint = joint
                .predict(&joint.at_output(&at, output).unwrap(), scale)
                .unwrap();
            let part = part.predict(&at, scale).unwrap();
            // Wide priors of the means make conditions of some 1e5, n eps times which is 1e-9.
            for i in 0..3 {
                assert!(
                    (joint.mean()[i] - part.mean()[i]).abs() < 1e-8,
                    "{output} {scale:?}"
                );
                assert!(
                    (joint.sd()[i] - part.sd()[i]).abs() < 1e-8,
                    "{output} {scale:?}"
                );
            }
        }
        let own = hyper(&joint, &format!("mean.constant.{output}"));
        // As above: rounding times a condition of 1e5.
        assert!((own - hyper(part, "mean.constant")).abs() < 1e-8 * own.abs());
    }
    assert!(joint.summary().correlations[0].value.abs() < 1e-15);
}

/// Without mixing, every output under its own settings:
/// [`without_mixing_outputs_are_separate_models`] for rows that have sites.
///
/// # Arguments
/// * `rows` - of both outputs
/// * `vary` - adds the second function, where there is one, given its kernel
/// * `second` - what names of its hyperparameters begin with; empty where there is none
/// * `others` - what else is held: its name in the joint model and in that of its output, which
///   output, its value
fn assert_separate(
    rows: [Observations; 2],
    vary: impl Fn(Model, Kernel) -> Model,
    second: &str,
    others: &[(&str, &str, usize, f64)],
) {
    let variances = [[1.3, 20.0], [0.6, 0.9]];
    let mut settings: Vec<(String, f64)> = vec![("se.lengthscale.t".into(), 1.1)];
    let mut own = [settings.clone(), settings.clone()];
    let processes = if second.is_empty() { 1 } else { 2 };
    for (process, variances) in variances[..processes].iter().enumerate() {
        let prefix = if process == 0 { "" } else { second };
        for (output, variance) in OUTPUTS.iter().zip(variances) {
            settings.push((format!("{prefix}coregion.kappa.{output}"), *variance));
        }
        for (own, variance) in own.iter_mut().zip(variances) {
            own.push((format!("{prefix}se.variance"), *variance));
        }
    }
    if processes == 2 {
        let name = format!("{second}se.lengthscale.t");
        settings.push((name.clone(), 2.3));
        own.iter_mut().for_each(|own| own.push((name.clone(), 2.3)));
    }
    for (joint, alone, output, value) in others {
        settings.push(((*joint).into(), *value));
        own[*output].push(((*alone).into(), *value));
    }
    let fit = |model: Model, settings: &[(String, f64)]| {
        let set: Vec<(&str, f64)> = settings.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        at_fixed(model, &set)
    };
    let joint = OUTPUTS.iter().zip(&rows).fold(
        vary(Model::new(mixed(0)), mixed(0)),
        |model, (output, rows)| model.observe(rows.clone().of_output(*output)),
    );
    let joint = fit(joint, &settings);
    let parts: Vec<Posterior> = rows
        .iter()
        .zip(&own)
        .map(|(rows, own)| {
            let alone = vary(Model::new(Kernel::se(["t"])), Kernel::se(["t"]));
            fit(alone.observe(rows.clone()), own)
        })
        .collect();
    let sum: f64 = parts.iter().map(|p| p.summary().log_evidence).sum();
    let got = joint.summary().log_evidence;
    // Sites are converged to 1e-9 posterior sds: beliefs agree to some times that, the evidence to
    // its square.
    assert!((got - sum).abs() < 1e-8 * sum.abs(), "{got} {sum}");
    let at = Functionals::points("t", &[-1.0, 2.2, 4.1, 9.5]).unwrap();
    for (output, part) in OUTPUTS.iter().zip(&parts) {
        let there = joint.at_output(&at, output).unwrap();
        for scale in [Scale::Latent, Scale::Response, Scale::Observation] {
            let (joint, part) = (
                joint.predict(&there, scale).unwrap(),
                part.predict(&at, scale).unwrap(),
            );
            for i in 0..at.len() {
                let (sd, off) = (part.sd()[i], (joint.mean()[i] - part.mean()[i]).abs());
                // Sites converged to 1e-9 standard deviations again: found are 9e-10.
                assert!(
                    off < 1e-8 * sd,
                    "{output} {scale:?} {i}: off by {off}, sd {sd}"
                );
                let off = (joint.sd()[i] / sd - 1.0).abs();
                assert!(
                    off < 1e-8,
                    "{output} {scale:?} {i}: sd {sd}, off by {off} of it"
                );
            }
        }
        if processes == 2 {
            let (joint, part) = (
                joint.predict_varying(Varying::Noise, &there).unwrap(),
                part.predict_varying(Varying::Noise, &at).unwrap(),
            );
            for i in 0..at.len() {
                let sd = part.sd()[i];
                // As above.
                assert!(
                    (joint.mean()[i] - part.mean()[i]).abs() < 1e-8 * sd,
                    "{output} {i}"
                );
                assert!((joint.sd()[i] / sd - 1.0).abs() < 1e-8, "{output} {i}");
            }
        }
    }
}

/// Values of both outputs, every third only known to lie above what was recorded.
fn capped() -> [Observations; 2] {
    let one = |n: usize, shift: f64, level: f64, size: f64, seed: u64| {
        let (t, set) = points(n, shift);
        let y = values(&t, level, size, seed);
        let sides: Vec<Side> = (0..n)
            .map(|i| [Side::None, Side::None, Side::Right][i % 3])
            .collect();
        let rows = Censored::new(y, &sides, Noise::Learned).unwrap();
        Observations::new(set, rows).unwrap()
    };
    [one(12, 0.0, 3.0, 1.0, 1), one(9, 0.3, -20.0, 5.0, 2)]
}

#[test]
fn without_mixing_censored_outputs_are_separate_models() {
    let noise = [
        ("noise.variance", "noise.variance", 0, 0.02),
        ("noise#2.variance", "noise.variance", 1, 0.05),
    ];
    assert_separate(capped(), |model, _| model, "", &noise);
}

#[test]
fn without_mixing_outputs_of_varying_noise_are_separate_models() {
    let vary = |model: Model, kernel| model.vary(Varying::Noise, kernel, Link::Exp);
    assert_separate(capped(), vary, "noise.", &[]);
}

/// Sites on Gaussian rows are the exact answer, also with outputs of different kinds of support.
#[test]
fn sites_on_gaussian_rows_are_exact() {
    let (t, north) = points(10, 0.0);
    let bands: Vec<(f64, f64)> = (0..6).map(|i| (f64::from(i), f64::from(i) + 1.5)).collect();
    let south = Functionals::intervals("t", &bands, Aggregate::Sum).unwrap();
    let z: Vec<f64> = bands.iter().map(|b| 1.5 * (2.0 + b.0.sin())).collect();
    let model = Model::new(mixed(1))
        .observe(gaussian(&north, values(&t, 3.0, 1.0, 1)).of_output("north"))
        .observe(gaussian(&south, z).of_output("south"));
    let fit = |inference| {
        let options = FitOptions::default()
            .with_hyperparameters(Hyperparameters::Map)
            .with_inference(inference);
        model.fit(&options).unwrap()
    };
    let (exact, sites) = (fit(Inference::Exact), fit(Inference::Sites(Method::Ep)));
    let evidences = [&exact, &sites].map(|p| p.summary().log_evidence);
    // Both stop at a projected gradient below 1e-4 nats.
    assert!((evidences[0] - evidences[1]).abs() < 1e-6, "{evidences:?}");
    let at = exact
        .at_output(&Functionals::points("t", &[0.7, 7.0]).unwrap(), "south")
        .unwrap();
    let (a, b) = (
        exact.predict(&at, Scale::Latent).unwrap(),
        sites.predict(&at, Scale::Latent).unwrap(),
    );
    // 1e-6 nats are 1.4e-3 of an sd of the hyperparameters, of which predictions know a part.
    for i in 0..2 {
        assert!((a.mean()[i] - b.mean()[i]).abs() < 1e-3 * a.sd()[i]);
    }
}

/// A gap in one output is filled by the other, and the correlation is found; without mixing it is
/// not.
#[test]
fn a_gap_is_filled_from_the_other_output() {
    let (t, all) = points(40, 0.0);
    let seen: Vec<usize> = (0..40).filter(|i| !(12..30).contains(i)).collect();
    let north = all.rows(&seen);
    let truth = |t: f64| 2.0 + (1.3 * t).sin() + 0.5 * (0.7 * t).cos();
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut noise = || {
        let z: f64 = StandardNormal.sample(&mut random);
        0.1 * z
    };
    let y: Vec<f64> = seen.iter().map(|&i| truth(t[i]) + noise()).collect();
    let z: Vec<f64> = t.iter().map(|&t| 10.0 - 3.0 * truth(t) + noise()).collect();
    let gap = Functionals::points("t", &[3.0, 3.7, 4.4, 5.1]).unwrap();
    let mut errors = Vec::new();
    for rank in [0, 1] {
        let posterior = Model::new(mixed(rank))
            .observe(gaussian(&north, y.clone()).of_output("north"))
            .observe(gaussian(&all, z.clone()).of_output("south"))
            .fit(&FitOptions::default())
            .unwrap();
        let p = posterior
            .predict(&posterior.at_output(&gap, "north").unwrap(), Scale::Latent)
            .unwrap();
        let miss = [3.0, 3.7, 4.4, 5.1].iter().zip(p.mean());
        errors.push(
            miss.map(|(t, m)| (m - truth(*t)).powi(2))
                .sum::<f64>()
                .sqrt(),
        );
        if rank == 1 {
            let found = &posterior.summary().correlations[0];
            assert_eq!(
                (found.first.as_str(), found.second.as_str()),
                ("north", "south")
            );
            assert!(
                found.value < -0.9 && found.lower <= found.value,
                "{found:?}"
            );
            assert!(
                found.value <= found.upper && found.upper < -0.5,
                "{found:?}"
            );
            let (lower, upper) = (p.quantile(0.005), p.quantile(0.995));
            for (i, t) in [3.0, 3.7, 4.4, 5.1].into_iter().enumerate() {
                assert!((lower[i]..=upper[i]).contains(&truth(t)), "{t}");
            }
        }
    }
    // Found is 0.15 of the error without mixing.
    assert!(errors[1] < 0.25 * errors[0], "{errors:?}");
}

/// Counts of one output and intervals of another, on one latent process; saved, read, and
/// conditioned again.
#[test]
fn outputs_of_different_kinds_are_saved_and_conditioned() {
    let (t, north) = points(15, 0.0);
    let (u, south) = points(12, 0.2);
    let counts: Vec<f64> = t.iter().map(|t| (3.0 * t.sin().exp()).round()).collect();
    let lower: Vec<f64> = u.iter().map(|u| (4.0 * u.sin()).floor() / 2.0).collect();
    let upper = lower.iter().map(|l| l + 0.5).collect();
    let counts = Poisson::new(counts, vec![2.0; 15], Link::Exp).unwrap();
    let intervals = Interval::new(lower, upper, Noise::Learned).unwrap();
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let posterior = Model::new(mixed(1))
        .observe(
            Observations::new(north.clone(), counts)
                .unwrap()
                .of_output("north"),
        )
        .observe(
            Observations::new(south, intervals)
                .unwrap()
                .of_output("south"),
        )
        .fit(&options)
        .unwrap();
    assert!(posterior.summary().correlations[0].value > 0.5);
    let at = Functionals::points("t", &[1.5, 4.7]).unwrap();
    let rate = |p: &Posterior| {
        let at = p.at_output(&at, "north").unwrap();
        p.predict(&at, Scale::Response).unwrap().mean().to_vec()
    };
    // exp(sin t) times the three halves of the exposure.
    let rates = rate(&posterior);
    assert!((rates[0] - 1.5 * 1f64.exp()).abs() < 1.2, "{rates:?}");
    assert!(rates[1] < 1.5, "{rates:?}");
    let level = posterior
        .predict(
            &posterior.at_output(&at, "south").unwrap(),
            Scale::Observation,
        )
        .unwrap();
    // South is 2 sin t, told to half a unit.
    assert!((level.mean()[0] - 2.0).abs() < 0.5 && (level.mean()[1] + 2.0).abs() < 0.5);
    let again = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
    assert_eq!(rate(&again), rates);
    assert_eq!(again.outputs(), OUTPUTS);
    let more = Poisson::new(vec![40.0; 3], vec![2.0; 3], Link::Exp).unwrap();
    let place = Functionals::points("t", &[4.6, 4.7, 4.8]).unwrap();
    let more = Observations::new(place, more).unwrap().of_output("north");
    assert!(rate(&posterior.condition(more).unwrap())[1] > 2.0 * rates[1]);
}

#[test]
fn joint_draws_of_two_outputs_have_their_covariance() {
    let (t, north) = points(8, 0.0);
    let posterior = at_fixed(
        Model::new(mixed(1))
            .mean(Mean::Zero)
            .observe(gaussian(&north, values(&t, 0.0, 1.0, 1)).of_output("north"))
            .observe(gaussian(&north, values(&t, 0.0, 2.0, 2)).of_output("south")),
        &[
            ("coregion.weight.north", 1.0),
            ("coregion.weight.south", 2.0),
            ("coregion.kappa.north", 0.1),
            ("coregion.kappa.south", 0.1),
            ("se.lengthscale.t", 1.0),
            ("noise.variance", 0.1),
            ("noise#2.variance", 0.1),
        ],
    );
    let at = Functionals::points("t", &[12.0]).unwrap();
    let mut both = posterior.at_output(&at, "north").unwrap();
    both.extend(&posterior.at_output(&at, "south").unwrap())
        .unwrap();
    // Far from the data: B itself.
    let k = posterior.covariance(&both).unwrap();
    for (got, expected) in [(k[(0, 0)], 1.1), (k[(0, 1)], 2.0), (k[(1, 1)], 4.1)] {
        assert!((got - expected).abs() < 1e-3, "{got} {expected}");
    }
    let draws = posterior.sample(&both, 4000, 3).unwrap();
    let mean_product: f64 = (0..4000)
        .map(|d| draws[(0, d)] * draws[(1, d)])
        .sum::<f64>()
        / 4000.0;
    // sd of the mean of products: sqrt((1.1 4.1 + 4) / 4000) = .05.
    assert!((mean_product - 2.0).abs() < 0.2, "{mean_product}");
    let refused = posterior.predict(&both, Scale::Observation).unwrap_err();
    assert!(matches!(
        refused,
        FitError::Input(InputError::Output { name: None, .. })
    ));
}

#[test]
fn outputs_that_do_not_fit_are_refused() {
    let (t, set) = points(6, 0.0);
    let table = || gaussian(&set, values(&t, 0.0, 1.0, 1));
    let refuse = |model: Model| model.fit(&FitOptions::default()).unwrap_err().to_string();
    let one = Model::new(Kernel::se(["t"])).observe(table().of_output("north"));
    assert!(refuse(one).contains("one output only"));
    let both = || Model::new(mixed(1)).observe(table().of_output("north"));
    assert!(refuse(both()).contains("no row is of the output `south`"));
    assert!(refuse(both().observe(table())).contains("several outputs (north, south)"));
    assert!(refuse(both().observe(table().of_output("west"))).contains("no output `west`"));
    let full = both().observe(table().of_output("south"));
    let odd = full.clone().set("mean.constant.west", Setting::fixed(0.0));
    assert!(refuse(odd).contains("mean.constant.west"));
    let posterior = full.fit(&FitOptions::default()).unwrap();
    assert!(matches!(
        posterior.predict(&set, Scale::Latent),
        Err(FitError::Input(InputError::Output { name: None, .. }))
    ));
    assert!(posterior.at_output(&set, "west").is_err());
    let half = Functionals::points("output", &[0.5]).unwrap();
    let half = half.select(&["output".to_owned()]).unwrap();
    let mut odd = Functionals::new(vec!["output".into(), "t".into()]);
    odd.push_point(&[0.5, 1.0]).unwrap();
    assert!(posterior.predict(&odd, Scale::Latent).is_err());
    assert!(posterior.predict(&half, Scale::Latent).is_err());
}

#[test]
fn rows_that_are_added_have_the_noise_of_their_output() {
    let settings = [
        ("coregion.weight.north", 1.0),
        ("coregion.weight.south", 2.0),
        ("coregion.kappa.north", 0.1),
        ("coregion.kappa.south", 0.1),
        ("se.lengthscale.t", 1.0),
        ("noise.variance", 0.01),
        ("noise#2.variance", 4.0),
    ];
    let (t, north) = points(6, 0.0);
    let (u, south) = points(5, 0.4);
    let (y, z) = (values(&t, 0.0, 1.0, 1), values(&u, 0.0, 2.0, 2));
    let fit = |set: &Functionals, z: Vec<f64>| {
        let model = Model::new(mixed(1))
            .mean(Mean::Zero)
            .observe(gaussian(&north, y.clone()).of_output("north"))
            .observe(gaussian(set, z).of_output("south"));
        at_fixed(model, &settings)
    };
    let extra = Functionals::points("t", &[2.5]).unwrap();
    let added = fit(&south, z.clone())
        .condition(gaussian(&extra, vec![3.0]).of_output("south"))
        .unwrap();
    let longer: Vec<f64> = u.iter().copied().chain([2.5]).collect();
    let longer = Functionals::points("t", &longer).unwrap();
    let whole = fit(&longer, z.into_iter().chain([3.0]).collect());
    let mean = |p: &Posterior| {
        let at = p.at_output(&extra, "south").unwrap();
        p.predict(&at, Scale::Latent).unwrap().mean()[0]
    };
    // The same equations in another order.
    assert!(
        (mean(&added) - mean(&whole)).abs() < 1e-10,
        "{}, {}",
        mean(&added),
        mean(&whole)
    );
}

/// Values of one output say nothing about the unit of the ranks of another.
#[test]
fn ranks_of_an_output_of_their_own_have_no_unit() {
    let (t, north) = points(6, 0.0);
    let ranks = Ordinal::new(
        vec![1, 2, 3, 3, 2, 1],
        Thresholds::Learned(3),
        Noise::Learned,
    )
    .unwrap();
    let held = |output: &str| {
        let model = Model::new(mixed(1))
            .observe(gaussian(&north, values(&t, 0.0, 1.0, 1)).of_output("north"))
            .observe(
                gaussian(&north, values(&t, 0.0, 1.0, 1)).of_output(if output == "north" {
                    "south"
                } else {
                    "north"
                }),
            )
            .observe(
                Observations::new(north.clone(), ranks.clone())
                    .unwrap()
                    .of_output(output),
            );
        let parameters = model.parameters().unwrap();
        parameters
            .into_iter()
            .find(|p| p.name == "noise#3.variance")
            .unwrap()
            .fixed
    };
    assert!(held("south"));
    assert!(!held("north"));
}
