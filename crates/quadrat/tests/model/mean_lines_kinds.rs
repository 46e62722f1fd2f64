//! A mean that is linear in columns behind links, over outputs and beside a noise that varies; and
//! what is refused.

use quadrat::error::{FitError, InputError};
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Noise, Observations, Posterior, Scale,
    Setting, Varying,
};
use quadrat::support::{Aggregate, Functionals};

use crate::common::{hyper, map};
use crate::mean_lines::ground;

fn options() -> FitOptions {
    FitOptions::default().with_hyperparameters(Hyperparameters::Map)
}

/// Counts, and the exposure-free mean of each under a level and a slope: the posterior of both by
/// sums over a lattice, `a` and `b` with the priors of [`counted`].
fn by_sums(counts: &[f64], mean: impl Fn(usize, f64, f64) -> f64) -> (f64, f64) {
    let lattice = || (0..=160).map(|i| f64::from(i) / 160.0);
    let (mut logs, mut slopes) = (Vec::new(), Vec::new());
    for a in lattice().map(|u| 0.5 + 3.0 * u) {
        for b in lattice().map(|u| -0.5 + 1.5 * u) {
            let rows = counts.iter().enumerate().map(|(row, n)| {
                let mu = mean(row, a, b);
                n * mu.ln() - mu
            });
            logs.push(rows.sum::<f64>() - 0.5 * ((a / 20.0).powi(2) + (b / 20.0).powi(2)));
            slopes.push(b);
        }
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|l| (l - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let average = |f: &dyn Fn(f64) -> f64| {
        let each = weights.iter().zip(&slopes).map(|(w, b)| w * f(*b));
        each.sum::<f64>() / total
    };
    let mean = average(&|b| b);
    (mean, average(&|b| (b - mean).powi(2)).sqrt())
}

const COUNTS: [f64; 8] = [3.0, 6.0, 5.0, 9.0, 8.0, 14.0, 13.0, 21.0];

/// Of a kernel that does next to nothing.
fn counted(set: Functionals, inference: Inference) -> Posterior {
    let rows = Poisson::new(COUNTS.to_vec(), vec![1.0; 8], Link::Exp).unwrap();
    let prior = || Setting::prior("normal(0, 20)".parse().unwrap());
    Model::new(Kernel::se(["x"]))
        .mean(Mean::linear(["age"]))
        .set("se.variance", Setting::fixed(1e-8))
        .set("se.lengthscale.x", Setting::fixed(1.0))
        .set("mean.constant", prior())
        .set("mean.linear.age", prior())
        .observe(Observations::new(set, rows).unwrap())
        .fit(&options().with_inference(inference))
        .unwrap()
}

fn agrees(posterior: &Posterior, (mean, sd): (f64, f64), tolerance: f64) {
    let slope = &posterior.slopes().unwrap()[0];
    assert!(
        (slope.mean - mean).abs() < tolerance * sd,
        "{slope:?} {mean} {sd}"
    );
    assert!(
        (slope.sd / sd - 1.0).abs() < tolerance,
        "{slope:?} {mean} {sd}"
    );
    // A rise of the input far away follows the line, and is as uncertain as its slope.
    let mut at = Functionals::new(vec!["x".into(), "age".into()]);
    at.push_nodes(&[vec![0.0, 50.0], vec![0.0, 40.0]], &[1.0, -1.0])
        .unwrap();
    let rise = posterior.predict(&at, Scale::Latent).unwrap();
    assert!((rise.mean()[0] - 10.0 * slope.mean).abs() < 1e-3 * slope.sd);
    assert!((rise.sd()[0] / (10.0 * slope.sd) - 1.0).abs() < 1e-3);
}

/// Poisson regression: with small counts the approximations are off by some hundredths of an sd.
#[test]
fn counts_at_points_tell_the_slope_of_poisson_regression() {
    let mut set = Functionals::new(vec!["x".into(), "age".into()]);
    for i in 0..8 {
        set.push_point(&[0.1 * f64::from(i), f64::from(i)]).unwrap();
    }
    let wanted = by_sums(&COUNTS, |row, a, b| (a + b * (row as f64 - 3.5)).exp());
    agrees(&counted(set.clone(), Inference::Auto), wanted, 0.02);
    agrees(
        &counted(set.clone(), Inference::Sites(Method::Variational)),
        wanted,
        0.05,
    );
    agrees(
        &counted(set.clone(), Inference::Sites(Method::Laplace)),
        wanted,
        0.1,
    );
    agrees(&counted(set, Inference::Sparse), wanted, 0.05);
}

/// Totals behind `exp` of a line that the kernel does not know, over boxes of four ages: `e^a int
/// e^(b (x - c)) dx`.
#[test]
fn totals_after_a_link_tell_the_slope_within_their_boxes() {
    let mut set = Functionals::new(vec!["x".into(), "age".into()]);
    for i in 0..8 {
        let from = f64::from(i);
        set.push_box(&[(0.0, 1.0), (from, from + 4.0)], Aggregate::Sum)
            .unwrap();
    }
    let wanted = by_sums(&COUNTS, |row, a, b| {
        let from = row as f64 - 5.5;
        // Not at `b = 0` itself.
        let b = b + 1e-9;
        a.exp() * ((b * (from + 4.0)).exp() - (b * from).exp()) / b / 4.0
    });
    let rows = Poisson::new(COUNTS.to_vec(), vec![0.25; 8], Link::Exp).unwrap();
    let prior = || Setting::prior("normal(0, 20)".parse().unwrap());
    let fit = |inference: Inference| {
        Model::new(Kernel::se(["x"]))
            .mean(Mean::linear(["age"]))
            .set("se.variance", Setting::fixed(1e-8))
            .set("se.lengthscale.x", Setting::fixed(1.0))
            .set("mean.constant", prior())
            .set("mean.linear.age", prior())
            .with_overlapping_counts()
            .observe(Observations::new(set.clone(), rows.clone()).unwrap())
            .fit(&options().with_inference(inference))
            .unwrap()
    };
    // Draws: a thousand of them tell means to 0.03 sd.
    agrees(&fit(Inference::Auto), wanted, 0.12);
    agrees(&fit(Inference::Sparse), wanted, 0.12);
}

/// Outputs that share nothing are two studies.
#[test]
fn every_output_has_coefficients_of_its_own() {
    let (t, h, _, y) = ground();
    let set = |rows: std::ops::Range<usize>| {
        let mut set = Functionals::new(vec!["t".into(), "elevation".into()]);
        for row in rows {
            set.push_point(&[t[row], h[row]]).unwrap();
        }
        set
    };
    let table = |rows: std::ops::Range<usize>| {
        let values = y[rows.clone()].to_vec();
        let noise = Noise::Known(vec![0.1; rows.len()]);
        Observations::gaussian(set(rows), values, noise).unwrap()
    };
    let kernel = Kernel::parse("coregion(site, a, b) * se(t)").unwrap();
    let (level, slope) = ("normal(15, 50)", "normal(0, 1)");
    let set_priors = |model: Model| {
        model
            .set("mean.constant", Setting::prior(level.parse().unwrap()))
            .set(
                "mean.linear.elevation",
                Setting::prior(slope.parse().unwrap()),
            )
            .set("se.lengthscale.t", Setting::fixed(1.5))
    };
    let mut both = Model::new(kernel).mean(Mean::linear(["elevation"]));
    for (name, value) in [
        ("weight.a", 0.0),
        ("weight.b", 0.0),
        ("kappa.a", 2.0),
        ("kappa.b", 2.0),
    ] {
        both = both.set(&format!("coregion.{name}"), Setting::fixed(value));
    }
    let both = both.observe(table(0..5).of_output("a"));
    let both = map(&set_priors(both.observe(table(5..12).of_output("b"))));
    let slopes = both.slopes().unwrap();
    assert_eq!(slopes.len(), 2);
    let centre = h.iter().sum::<f64>() / 12.0;
    for (rows, name, told) in [(0..5, "a", &slopes[0]), (5..12, "b", &slopes[1])] {
        let own = h[rows.clone()].iter().sum::<f64>() / rows.len() as f64;
        // The constant is the level at another place, and its prior with it: wide.
        let alone = Model::new(Kernel::se(["t"])).mean(Mean::linear(["elevation"]));
        let alone = set_priors(alone.set("se.variance", Setting::fixed(2.0)));
        let alone = map(&alone.observe(table(rows)));
        let one = &alone.slopes().unwrap()[0];
        assert_eq!(told.output.as_deref(), Some(name));
        assert!(
            (told.mean - one.mean).abs() < 1e-3 * one.sd,
            "{told:?} {one:?}"
        );
        // The prior, as above: found is 1.5e-5.
        assert!((told.sd / one.sd - 1.0).abs() < 1e-3, "{told:?} {one:?}");
        let level = hyper(&both, &format!("mean.constant.{name}"));
        let there = hyper(&alone, "mean.constant") + one.mean * (centre - own);
        // The prior of the level, at another place: found is 2e-5 of it.
        assert!(
            (level - there).abs() < 1e-2 * there.abs(),
            "{level} {there}"
        );
        assert_eq!(
            hyper(&both, &format!("mean.linear.elevation.{name}")),
            told.mean
        );
    }
}

#[test]
fn a_line_stands_beside_a_noise_that_varies() {
    let n = 80;
    let mut set = Functionals::new(vec!["t".into(), "elevation".into()]);
    let mut y = Vec::new();
    for i in 0..n {
        let i = f64::from(i);
        let (t, h) = (0.1 * i, 500.0 + 300.0 * (2.3 * i).sin());
        set.push_point(&[t, h]).unwrap();
        // From hardly any noise to much.
        let noise = (0.2 * t - 3.0).exp() * 1.4 * (91.7 * i).sin();
        y.push(t.sin() - 0.006 * h + noise);
    }
    let model = Model::new(Kernel::se(["t"]))
        .mean(Mean::linear(["elevation"]))
        .observe(Observations::gaussian(set, y, Noise::Learned).unwrap())
        .vary(Varying::Noise, Kernel::se(["t"]), Link::Exp);
    let slope = map(&model).slopes().unwrap().remove(0);
    // Within three posterior standard deviations.
    assert!((slope.mean + 0.006).abs() < 3.0 * slope.sd, "{slope:?}");
    // Forty rows with noise of sd 0.07, over a spread of 210: 0.07 / (210 sqrt(40)) = 5e-5.
    assert!(slope.sd < 1e-4, "{slope:?}");
}

#[cfg(feature = "mcmc")]
#[test]
fn draws_from_the_posterior_agree_with_the_fit() {
    use quadrat::inference::mcmc::McmcOptions;
    use quadrat::progress::Silent;
    let (t, h, _, y) = ground();
    let mut set = Functionals::new(vec!["t".into(), "elevation".into()]);
    (0..12).for_each(|i| set.push_point(&[t[i], h[i]]).unwrap());
    let table = Observations::gaussian(set, y, Noise::Known(vec![0.1; 12])).unwrap();
    let posterior = map(&Model::new(Kernel::se(["t"]))
        .mean(Mean::linear(["elevation"]))
        .set("se.variance", Setting::fixed(2.0))
        .set("se.lengthscale.t", Setting::fixed(1.5))
        .observe(table));
    let options = McmcOptions::default().with_chains(2).with_draws(300, 700);
    let report = posterior.check_by_mcmc(&options, &Silent).unwrap();
    let worst = |all: Vec<f64>| all.into_iter().fold(0.0_f64, |w, x| w.max(x.abs()));
    // Monte Carlo error of some hundred draws.
    assert!(worst(report.mean_differences()) < 0.2);
}

fn refusal(mean: Mean, places: &[[f64; 3]], settings: &[(&str, &str)]) -> String {
    let mut set = Functionals::new(["t", "a", "b"].map(str::to_owned).to_vec());
    places
        .iter()
        .for_each(|place| set.push_point(place).unwrap());
    let values = (0..places.len()).map(|i| (i as f64).sin()).collect();
    let noise = Noise::Known(vec![0.1; places.len()]);
    let model = Model::new(Kernel::se(["t"]))
        .mean(mean)
        .set("se.variance", Setting::fixed(1.0))
        .set("se.lengthscale.t", Setting::fixed(1.0))
        .observe(Observations::gaussian(set, values, noise).unwrap());
    let model = settings.iter().fold(model, |model, (name, prior)| {
        model.set(name, Setting::prior(prior.parse().unwrap()))
    });
    match model.fit(&options()) {
        Err(error @ FitError::Input(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => "fitted".to_owned(),
    }
}

#[test]
fn slopes_that_no_row_tells_are_refused_by_name() {
    let places = |a: fn(f64) -> f64, b: fn(f64) -> f64| -> Vec<[f64; 3]> {
        let each = (0..9).map(f64::from);
        each.map(|i| [i, a(i), b(i)]).collect()
    };
    let waves = |i: f64| (1.7 * i).sin();
    let both = || Mean::linear(["a", "b"]);
    let wide: (&str, &str) = ("mean.linear.b", "normal(0, 1)");
    type Case = (fn(f64) -> f64, fn(f64) -> f64, &'static str);
    let cases: [Case; 5] = [
        (waves, |_| 3.0, "linear in `b`: it is the same in all rows"),
        (
            waves,
            |_| 2_460_000.5,
            "linear in `b`: it is the same in all rows",
        ),
        // Feet and metres, and the same from another zero.
        (
            waves,
            |i| 3.28 * (1.7 * i).sin(),
            "linear in `b`: in the rows it follows from `a`",
        ),
        (waves, |i| 2.0 - 3.28 * (1.7 * i).sin(), "follows from `a`"),
        (|i| 1e9 + i, |i| 5e8 + 0.5 * i, "follows from `a`"),
    ];
    for (a, b, says) in cases {
        let error = refusal(both(), &places(a, b), &[]);
        assert!(error.contains(says), "{error}");
        // With a prior it is what the prior and the rows say.
        assert_eq!(refusal(both(), &places(a, b), &[wide]), "fitted");
    }
    // Alike to a thousandth is not the same: wide intervals.
    let near = places(waves, |i| (1.7 * i).sin() + 1e-3 * (5.1 * i).cos());
    assert_eq!(refusal(both(), &near, &[]), "fitted");
    let some = places(waves, |i| i * i);
    let error = refusal(both(), &some[..2], &[]);
    assert!(
        error.contains("2 rows cannot tell 3 coefficients"),
        "{error}"
    );
    assert_eq!(refusal(both(), &some[..3], &[]), "fitted");
    let error = refusal(Mean::linear(["a", "a"]), &some, &[]);
    assert!(error.contains("`a`: it is named twice"), "{error}");
    let error = refusal(Mean::linear(["c"]), &some, &[]);
    assert!(error.contains("`c`"), "{error}");
    let error = refusal(both(), &some, &[("mean.linear.c", "normal(0, 1)")]);
    assert!(error.contains("mean.linear.a, mean.linear.b"), "{error}");
    let error = refusal(both(), &some, &[("mean.linear.a", "log_normal(0, 1)")]);
    assert!(error.contains("the mean is integrated"), "{error}");
}

#[test]
fn a_fixed_constant_and_a_column_of_outputs_are_refused() {
    let (t, h, _, y) = ground();
    let mut set = Functionals::new(vec!["t".into(), "elevation".into()]);
    (0..12).for_each(|i| set.push_point(&[t[i], h[i]]).unwrap());
    let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
    let model = Model::new(Kernel::se(["t"]))
        .mean(Mean::linear(["elevation"]))
        .observe(table.clone())
        .set("mean.constant", Setting::fixed(0.0));
    let error = model.parameters().unwrap_err();
    assert!(error.to_string().contains("always learned"), "{error}");
    let kernel = Kernel::parse("coregion(site, a, b) * se(t)").unwrap();
    let model = Model::new(kernel).mean(Mean::linear(["site"]));
    let model = model.observe(table.clone().of_output("a"));
    let error = model
        .observe(table.of_output("b"))
        .parameters()
        .unwrap_err();
    assert!(matches!(error, InputError::MeanColumn { .. }), "{error}");
}
