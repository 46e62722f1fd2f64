//! A noise variance and a dispersion that are functions, in one model.

#[cfg(feature = "mcmc")]
use quadrat::inference::mcmc::McmcOptions;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Dispersion, NegativeBinomial};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Inference, Mean, Model, Noise, Observations, Posterior, Prediction, Scale, Setting,
    Varying,
};
#[cfg(feature = "mcmc")]
use quadrat::progress::Silent;
use quadrat::support::Functionals;

use crate::common::{hyper, map};

const SCALES: [Scale; 3] = [Scale::Latent, Scale::Response, Scale::Observation];

/// Quasi-random in (-1/2, 1/2).
fn scatter(i: u32) -> f64 {
    (f64::from(i) * 0.618_034).fract() - 0.5
}

/// A wave whose noise grows.
fn values(n: u32) -> Observations {
    let t: Vec<f64> = (0..n).map(|i| 8.0 * f64::from(i) / f64::from(n)).collect();
    let each = t.iter().zip(0..);
    let y = each.map(|(t, i)| 3.0 + t.sin() + (0.05 + 0.15 * t) * 3.464 * scatter(i));
    Observations::gaussian(
        Functionals::points("t", &t).unwrap(),
        y.collect(),
        Noise::Learned,
    )
    .unwrap()
}

/// Counts that follow it, whose multipliers grow.
fn counts(n: u32) -> Observations {
    let t: Vec<f64> = (0..n).map(|i| 8.0 * f64::from(i) / f64::from(n)).collect();
    let each = t.iter().zip(0..);
    let y = each.map(|(t, i)| {
        let multiplier = (0.15 * t * 3.464 * scatter(2 * i + 1)).exp();
        ((2.5 + 0.5 * t.sin()).exp() * multiplier).round()
    });
    let exposure = vec![1.0; n as usize];
    let y = NegativeBinomial::new(y.collect(), exposure, Link::Exp, Dispersion::Learned).unwrap();
    Observations::new(Functionals::points("t", &t).unwrap(), y).unwrap()
}

fn mixed(rank: usize) -> Kernel {
    Kernel::coregion("output", ["north", "south"], rank) * Kernel::se(["t"])
}

fn both(rank: usize, n: u32) -> Model {
    Model::new(mixed(rank))
        .observe(counts(n).of_output("south"))
        .observe(values(n).of_output("north"))
        .vary(Varying::Noise, Kernel::se(["t"]), Link::Exp)
        .vary(Varying::Dispersion, Kernel::matern32(["t"]), Link::Softplus)
}

fn hold(model: Model, settings: &[(&str, f64)]) -> Model {
    let set = |m: Model, (name, value): &(&str, f64)| m.set(name, Setting::fixed(*value));
    settings.iter().fold(model, set)
}

const NOISE: [(&str, f64); 2] = [("noise.se.variance", 0.8), ("noise.se.lengthscale.t", 3.0)];
const DISPERSION: [(&str, f64); 2] = [
    ("dispersion.matern32.variance", 0.5),
    ("dispersion.matern32.lengthscale.t", 4.0),
];

fn settings(first: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
    [first, &NOISE[..], &DISPERSION[..]].concat()
}

/// The sites converge to 1e-9 posterior standard deviations on either way there: beliefs agree to
/// some times that.
fn assert_same(a: &Prediction, b: &Prediction, what: &str) {
    for (i, sd) in b.sd().iter().enumerate() {
        let off = (a.mean()[i] - b.mean()[i]).abs();
        assert!(off < 1e-7 * sd, "{what} {i}: off by {off}, sd {sd}");
        let off = (a.sd()[i] / sd - 1.0).abs();
        assert!(off < 1e-7, "{what} {i}: sd {sd}, off by {off} of it");
    }
}

#[test]
fn without_mixing_values_and_counts_are_separate_models() {
    let joint = hold(
        both(0, 12),
        &settings(&[
            ("coregion.kappa.north", 1.3),
            ("coregion.kappa.south", 0.4),
            ("se.lengthscale.t", 1.1),
        ]),
    );
    let alone = |rows, variance| {
        let model = Model::new(Kernel::se(["t"])).observe(rows);
        hold(
            model,
            &[("se.variance", variance), ("se.lengthscale.t", 1.1)],
        )
    };
    let north = alone(values(12), 1.3).vary(Varying::Noise, Kernel::se(["t"]), Link::Exp);
    let south =
        alone(counts(12), 0.4).vary(Varying::Dispersion, Kernel::matern32(["t"]), Link::Softplus);
    let parts = [hold(north, &NOISE), hold(south, &DISPERSION)];
    let at = Functionals::points("t", &[-1.0, 2.2, 4.1, 9.5]).unwrap();
    for method in [Method::Ep, Method::Variational] {
        let options = FitOptions::default().with_inference(Inference::Sites(method));
        let joint = joint.fit(&options).unwrap();
        let parts = parts.each_ref().map(|part| part.fit(&options).unwrap());
        let sum: f64 = parts.iter().map(|p| p.summary().log_evidence).sum();
        let got = joint.summary().log_evidence;
        // It is stationary in the sites: off by the square of what they are, and by rounding.
        assert!((got - sum).abs() < 1e-8 * sum.abs(), "{got} {sum}");
        let kinds = [Varying::Noise, Varying::Dispersion];
        for ((output, varying), part) in ["north", "south"].into_iter().zip(kinds).zip(&parts) {
            let there = joint.at_output(&at, output).unwrap();
            for scale in SCALES {
                let (joint, part) = (joint.predict(&there, scale), part.predict(&at, scale));
                let what = format!("{method:?} {output} {scale:?}");
                assert_same(&joint.unwrap(), &part.unwrap(), &what);
            }
            let g = joint.predict_varying(varying, &there).unwrap();
            let own = part.predict_varying(varying, &at).unwrap();
            assert_same(&g, &own, &format!("{method:?} {output} {varying:?}"));
            let name = format!("{}.mean.constant", varying.name());
            let (level, own) = (hyper(&joint, &name), hyper(part, &name));
            // Sites are converged to 1e-9 of a standard deviation, in joint and separate models by
            // other steps: found is 3e-10.
            assert!((level - own).abs() < 1e-7, "{name}: {level} {own}");
        }
    }
}

/// Also that a model read again answers the same, to the last bit: it is conditioned on the same
/// numbers.
#[test]
fn both_functions_are_learned_beside_mixed_outputs() {
    let posterior = map(&both(1, 40));
    let summary = posterior.summary();
    assert!(summary.converged, "{:?}", summary.warnings);
    for hyper in &summary.hyperparameters {
        assert!(hyper.lower < hyper.upper, "{hyper:?}");
    }
    let has = |name: &str| summary.hyperparameters.iter().any(|h| h.name == name);
    for (name, _) in NOISE.iter().chain(&DISPERSION) {
        assert!(has(name), "{name}");
    }
    assert!(
        summary
            .variational_bound
            .is_some_and(|b| b < summary.log_evidence)
    );
    let at = Functionals::points("t", &[0.5, 7.5]).unwrap();
    let again = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
    for (output, varying) in [("north", Varying::Noise), ("south", Varying::Dispersion)] {
        let there = posterior.at_output(&at, output).unwrap();
        let g = posterior.predict_varying(varying, &there).unwrap();
        assert!(g.mean()[1] > g.mean()[0], "{varying:?}: {:?}", g.mean());
        let [new, rate] = [Scale::Observation, Scale::Response]
            .map(|scale| posterior.predict(&there, scale).unwrap());
        let width = |p: &Prediction, i: usize| p.quantile(0.975)[i] - p.quantile(0.025)[i];
        // Bands of new observations widen with the spread, those of the response do not.
        let [wider, other] = [&new, &rate].map(|p| width(p, 1) / width(p, 0));
        assert!(wider > 1.2 && wider > other, "{output}: {wider} {other}");
        for scale in SCALES {
            let (a, b) = (
                posterior.predict(&there, scale),
                again.predict(&there, scale),
            );
            assert_eq!(a.unwrap(), b.unwrap(), "{output} {scale:?}");
        }
        assert_eq!(again.predict_varying(varying, &there).unwrap(), g);
    }
}

/// Two outputs of values, one of counts: each function mixes those that have it.
#[test]
fn every_mixing_matrix_has_the_outputs_of_its_function() {
    let of = |outputs: &[&'static str]| {
        let outputs = outputs.iter().copied();
        Kernel::coregion("output", outputs, 1) * Kernel::se(["t"])
    };
    let model = Model::new(of(&["north", "south", "east"]))
        .observe(values(9).of_output("north"))
        .observe(counts(9).of_output("south"))
        .observe(values(7).of_output("east"))
        .vary(Varying::Noise, of(&["north", "east"]), Link::Exp)
        .vary(Varying::Dispersion, Kernel::se(["t"]), Link::Exp);
    let starts = model.parameters().unwrap();
    let held = starts
        .iter()
        .fold(model, |m, p| m.set(&p.name, Setting::fixed(p.start)));
    let found = map(&held).coregionalizations();
    let told = found
        .iter()
        .map(|m| (m.name.as_str(), m.outputs.join(" "), m.matrix.len()));
    let expected = [
        ("coregion", "north south east".to_owned(), 9),
        ("noise.coregion", "north east".to_owned(), 4),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

/// Without the other function, and of an output that has none of it.
#[test]
fn functions_that_are_not_there_are_not_predicted() {
    let model = Model::new(mixed(1))
        .observe(values(12).of_output("north"))
        .observe(counts(12).of_output("south"))
        .vary(Varying::Noise, Kernel::se(["t"]), Link::Exp);
    let only = map(&hold(model, &[&FIRST[..], &NOISE[..]].concat()));
    let at = Functionals::points("t", &[1.0]).unwrap();
    let there = only.at_output(&at, "south").unwrap();
    let error = only
        .predict_varying(Varying::Dispersion, &there)
        .unwrap_err();
    assert!(error.to_string().contains("dispersion"), "{error}");
    // New counts have the dispersion that was learned.
    let new = only.predict(&there, Scale::Observation).unwrap();
    assert!(new.sd()[0] > only.predict(&there, Scale::Response).unwrap().sd()[0]);
}

const FIRST: [(&str, f64); 5] = [
    ("coregion.weight.north", 1.0),
    ("coregion.weight.south", 0.5),
    ("coregion.kappa.north", 0.3),
    ("coregion.kappa.south", 0.2),
    ("se.lengthscale.t", 1.1),
];

/// Under a mean of zero: that of counts is scaled by all that were there at the fit.
#[test]
fn rows_that_are_added_have_the_functions_of_the_fit() {
    let model = hold(both(1, 12).mean(Mean::Zero), &settings(&FIRST));
    let more = || counts(7).of_output("south");
    let added = map(&model).condition(more()).unwrap();
    let again = map(&model.observe(more()));
    let [a, b] = [&added, &again].map(|p| p.summary().log_evidence);
    // As in separate models, above.
    assert!((a - b).abs() < 1e-8 * b.abs(), "{a} {b}");
    let at = Functionals::points("t", &[2.2, 7.0]).unwrap();
    for output in ["north", "south"] {
        let there = added.at_output(&at, output).unwrap();
        for scale in SCALES {
            let [a, b] = [&added, &again].map(|p| p.predict(&there, scale).unwrap());
            assert_same(&a, &b, &format!("{output} {scale:?}"));
        }
    }
}

/// Whatever order the values of both are sampled in, they stand beside their own fit. Found: means
/// of the log noise variance up to .25 sd apart and sds 1.06 to 1.26 of the sampled ones, of the
/// dispersion .03 sd and 1.00 to 1.04; the limits leave room for the Monte Carlo error.
#[cfg(feature = "mcmc")]
#[test]
fn both_functions_are_near_their_draws() {
    let model = hold(both(1, 8), &settings(&FIRST));
    let options = McmcOptions::default().with_chains(2).with_draws(400, 1500);
    let report = map(&model).check_by_mcmc(&options, &Silent).unwrap();
    assert_eq!((report.rows.len(), report.varying.len()), (16, 16));
    assert!(report.worst_r_hat() < 1.02, "{}", report.worst_r_hat());
    for (i, row) in report.varying.iter().enumerate() {
        let (apart, ratio) = (row.mean_difference(), row.sd_ratio());
        // The limits are explained above the test.
        assert!(apart.abs() < 0.35, "{i}: {row:?}");
        assert!((0.9..1.4).contains(&ratio), "{i}: {row:?}");
    }
}
