//! An unknown mean, and lines, however far they reach.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Degrees, StudentT};
use quadrat::model::{FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior};
use quadrat::model::{Scale, Setting};
use quadrat::support::{Aggregate, Functionals};

use crate::common::map;

/// Smooth values of size one, at 0, 1, ..
const WAVE: [f64; 12] = [
    -0.300, 0.454389, 1.13674, 1.682942, 2.043876, 2.190816, 2.118595, 1.196172, 0.764545, 0.23224,
    -0.331136, -0.852554,
];

fn at(shift: f64) -> Vec<f64> {
    (0..12).map(|i| shift + f64::from(i)).collect()
}

fn wave(kernel: &str, shift: f64) -> Model {
    let set = Functionals::points("t", &at(shift)).unwrap();
    let table = Observations::gaussian(set, WAVE.to_vec(), Noise::Learned).unwrap();
    Model::new(Kernel::parse(kernel).unwrap()).observe(table)
}

fn with_prior(model: Model, sd: f64) -> Model {
    let prior = format!("normal(0, {sd:e})").parse().unwrap();
    model.set("mean.constant", Setting::prior(prior))
}

fn at_known(sd: f64) -> Posterior {
    let model = with_prior(wave("se(t)", 0.0), sd)
        .set("se.variance", Setting::fixed(2.462))
        .set("se.lengthscale.t", Setting::fixed(4.032))
        .set("noise.variance", Setting::fixed(0.01821));
    map(&model)
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }
}

/// Values of 60-digit arithmetic.
#[test]
fn a_wide_prior_of_the_mean_costs_the_logarithm_of_its_sd_and_nothing_else() {
    let asked = Functionals::points("t", &[0.0, 1.0]).unwrap();
    for (sd, evidence) in [(1e3, -10.45414), (1e4, -12.75673), (1e6, -17.36190)] {
        let posterior = at_known(sd);
        let told = posterior.predict(&asked, Scale::Latent).unwrap();
        // The digits that are given; the wide priors differ in their seventh.
        close(told.mean(), &[-0.259596, 0.415945], 2e-6);
        close(told.sd(), &[0.119484, 0.081457], 2e-6);
        assert!((posterior.summary().log_evidence - evidence).abs() < 2e-5);
    }
    let far = Functionals::points("t", &[0.0, 4.5, 30.0]).unwrap();
    let (wide, evidence) = {
        let posterior = at_known(1e6);
        let told = posterior.predict(&far, Scale::Latent).unwrap();
        let evidence = posterior.summary().log_evidence + 1e6_f64.ln();
        let moments = (told.mean().to_vec(), told.sd().to_vec());
        (moments, evidence)
    };
    for sd in [1e8, 1e10, 1e12] {
        let posterior = at_known(sd);
        let told = posterior.predict(&far, Scale::Latent).unwrap();
        // The prior's own part is 1e-12 of variances of about one.
        close(told.mean(), &wide.0, 1e-10);
        close(told.sd(), &wide.1, 1e-10);
        assert!((posterior.summary().log_evidence + sd.ln() - evidence).abs() < 1e-9);
        let covariance = posterior.covariance(&far).unwrap();
        for (i, sd) in told.sd().iter().enumerate() {
            assert!((covariance[(i, i)] - sd * sd).abs() < 1e-12);
        }
    }
}

#[test]
fn hyperparameters_are_learned_beside_a_mean_of_which_nothing_is_known() {
    let asked = Functionals::points("t", &[0.0, 1.0, 20.0]).unwrap();
    let narrow = map(&with_prior(wave("se(t)", 0.0), 1e5));
    let narrow = narrow.predict(&asked, Scale::Latent).unwrap();
    for sd in [1e8, 1e12, 1e15] {
        let posterior = map(&with_prior(wave("se(t)", 0.0), sd));
        assert!(posterior.summary().warnings.is_empty());
        let told = posterior.predict(&asked, Scale::Latent).unwrap();
        // A search ends where its steps gain less than 1e-8 nats.
        close(told.mean(), narrow.mean(), 1e-4);
        close(told.sd(), narrow.sd(), 1e-4);
    }
}

#[test]
fn left_out_rows_do_not_depend_on_how_wide_the_prior_of_the_mean_is() {
    let narrow = at_known(1e6);
    let wide = at_known(1e12);
    for (a, b) in narrow.leave_one_out().iter().zip(wide.leave_one_out()) {
        // The narrower prior has a part of 1e-12; twelve rows of condition 12 x 2.5 / 0.018 = 1600
        // round by n eps times that, 4e-12.
        assert!((a.mean - b.mean).abs() < 1e-9);
        assert!((a.sd - b.sd).abs() < 1e-9);
    }
}

/// The same line over Julian days, seconds since 1970 and days since the first: the values that
/// 60-digit arithmetic finds with a mean that reaches the rows from the origin.
#[test]
fn a_line_does_not_care_where_its_axis_begins() {
    let told = |shift: f64| {
        let posterior = map(&wave("linear(t) + se(t)", shift));
        assert!(posterior.summary().warnings.is_empty());
        let asked = Functionals::points("t", &[shift, shift + 1.0, shift + 40.0]).unwrap();
        posterior.predict(&asked, Scale::Latent).unwrap()
    };
    let near = told(2000.0);
    // The prior of the constant is that of another place: it differs by parts of a hundred sds.
    close(&near.mean()[..2], &[-0.260424, 0.416169], 2e-4);
    close(&near.sd()[..2], &[0.119996, 0.081646], 2e-4);
    let day = told(2_460_000.0);
    close(&day.mean()[..2], &[-0.260424, 0.416169], 2e-4);
    close(&day.sd()[..2], &[0.119996, 0.081646], 2e-4);
    for shift in [-6e4, 1e6, 1_700_000_000.0, 1e10] {
        let told = told(shift);
        close(told.mean(), day.mean(), 1e-6);
        close(told.sd(), day.sd(), 1e-6);
    }
}

#[test]
fn lines_over_boxes_and_for_several_outputs_move_with_their_rows_too() {
    let edges =
        |shift: f64| -> Vec<(f64, f64)> { at(shift).iter().map(|t| (*t, t + 1.0)).collect() };
    let boxes = |shift: f64| {
        let set = Functionals::intervals("t", &edges(shift), Aggregate::Sum).unwrap();
        let table = Observations::gaussian(set, WAVE.to_vec(), Noise::Learned).unwrap();
        let model = Model::new(Kernel::parse("linear(t) + matern32(t)").unwrap()).observe(table);
        let asked = Functionals::intervals("t", &edges(shift + 0.5), Aggregate::Sum).unwrap();
        map(&model).predict(&asked, Scale::Latent).unwrap()
    };
    let outputs = |shift: f64| {
        let kernel = "linear(t) * coregion(site, a, b) + se(t) * coregion(site, a, b)";
        let names = ["a", "b"].into_iter().enumerate();
        let model = names.fold(
            Model::new(Kernel::parse(kernel).unwrap()),
            |model, (i, name)| {
                let values = WAVE.iter().map(|y| y * (1.0 + i as f64)).collect();
                let set = Functionals::points("t", &at(shift)).unwrap();
                let table = Observations::gaussian(set, values, Noise::Known(vec![0.01; 12]));
                model.observe(table.unwrap().of_output(name))
            },
        );
        let posterior = map(&model);
        let asked = Functionals::points("t", &[shift + 0.5, shift + 11.5]).unwrap();
        let asked = posterior.at_output(&asked, "b").unwrap();
        posterior.predict(&asked, Scale::Latent).unwrap()
    };
    for told in [&boxes as &dyn Fn(f64) -> _, &outputs] {
        let (a, b) = (told(1e5), told(1e9));
        close(a.mean(), b.mean(), 1e-5);
        close(a.sd(), b.sd(), 1e-5);
    }
}

/// A prior of the constant that the user gives is one at the origin.
#[test]
fn a_mean_that_is_known_or_has_a_prior_keeps_lines_where_they_are() {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let kernel = |model: Model| model.fit(&options).unwrap().kernel().to_string();
    let far = || wave("linear(t) + se(t)", 1e5);
    assert_eq!(kernel(far()), "linear(t, origin = 100005.5) + se(t)");
    assert_eq!(kernel(far().mean(Mean::Zero)), "linear(t) + se(t)");
    assert_eq!(kernel(with_prior(far(), 1e6)), "linear(t) + se(t)");
    let own = wave("linear(t, origin = 1e5) + linear(t) * se(t)", 1e5);
    assert_eq!(
        kernel(own),
        "linear(t, origin = 100000) + linear(t) * se(t)"
    );
}

/// Generalised least squares with two covariates, written out, at fixed hyperparameters.
#[test]
fn slopes_with_wide_priors_are_those_of_generalised_least_squares() {
    const HEIGHT: [f64; 12] = [
        812.0, 640.0, 1210.0, 455.0, 980.0, 1530.0, 720.0, 1105.0, 610.0, 890.0, 1320.0, 505.0,
    ];
    let (l, noise) = (4.0, 0.05);
    let mut set = Functionals::new(vec!["t".into(), "height".into()]);
    for (t, h) in at(0.0).iter().zip(HEIGHT) {
        set.push_point(&[*t, h]).unwrap();
    }
    let table = Observations::gaussian(set, WAVE.to_vec(), Noise::Known(vec![noise; 12])).unwrap();
    let kernel = "matern32(t) + linear(height) + linear(t, origin = 5.5)";
    let fit = |sd: f64| {
        let model = Model::new(Kernel::parse(kernel).unwrap())
            .observe(table.clone())
            .set("matern32.variance", Setting::fixed(0.4))
            .set("matern32.lengthscale.t", Setting::fixed(l))
            .set("linear.variance", Setting::fixed(sd * sd))
            .set("linear#2.variance", Setting::fixed(sd * sd));
        map(&with_prior(model, sd * 1e4))
    };
    let k = |a: f64, b: f64| {
        let r = 3f64.sqrt() * (a - b).abs() / l;
        0.4 * (1.0 + r) * (-r).exp()
    };
    let own = |i: usize, j: usize| {
        let noise = if i == j { noise } else { 0.0 };
        k(i as f64, j as f64) + noise
    };
    // `(X' K^-1 X)^-1 X' K^-1 y` for `X = (1, height, t)`.
    let solve = |mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>| {
        for i in 0..a.len() {
            let pivot = a[i][i];
            for r in 0..a.len() {
                let share = if r == i { 0.0 } else { a[r][i] / pivot };
                for c in 0..a.len() {
                    a[r][c] -= share * a[i][c];
                }
                for c in 0..b[0].len() {
                    b[r][c] -= share * b[i][c];
                }
            }
        }
        for (a, b) in a.iter().enumerate().map(|(i, row)| row[i]).zip(&mut b) {
            b.iter_mut().for_each(|x| *x /= a);
        }
        b
    };
    let columns = |i: usize| [1.0, (HEIGHT[i] - 900.0) / 300.0, i as f64 - 5.5, WAVE[i]];
    let a = (0..12).map(|i| (0..12).map(|j| own(i, j)).collect());
    let solved = solve(a.collect(), (0..12).map(|i| columns(i).to_vec()).collect());
    let inner = |p: usize, q: usize| -> f64 { (0..12).map(|i| columns(i)[p] * solved[i][q]).sum() };
    let normal = |p: usize| (0..3).map(|q| inner(p, q)).collect::<Vec<f64>>();
    let unit = |p: usize| (0..3).map(move |q| f64::from(u8::from(p == q)));
    let right = (0..3).map(|p| unit(p).chain([inner(p, 3)]).collect());
    let told = solve((0..3).map(normal).collect(), right.collect());
    for sd in [1e4, 1e6, 1e8] {
        let posterior = fit(sd);
        let slopes = posterior.slopes().unwrap();
        assert_eq!(slopes.len(), 1);
        let (slope, scale) = (&slopes[0], 300.0);
        assert_eq!(slope.input, "height");
        // Slopes of units against priors of 1e4 sds and more: the prior's part is below 1e-8.
        assert!((slope.mean * scale - told[1][3]).abs() < 1e-8, "{sd}");
        assert!((slope.sd * scale - told[1][1].sqrt()).abs() < 1e-8, "{sd}");
    }
}

/// A prior that is far wider than the values says no more than one that approximate inference
/// bears, and costs no digits.
#[test]
fn a_mean_of_which_nothing_is_known_costs_no_digits() {
    let y = [0.1, 0.4, -0.2, 0.3, 0.9, 0.2, -0.4, 0.0];
    let x: Vec<f64> = (0..8).map(f64::from).collect();
    let at = Functionals::points("t", &x).unwrap();
    let degrees = Degrees::Known(4.0);
    let fit = |sd: &str| {
        let noise = Noise::Known(vec![0.04; 8]);
        let rows = StudentT::new(y.to_vec(), noise, degrees).unwrap();
        let model = Model::new(Kernel::se(["t"]))
            .set("se.variance", Setting::fixed(0.3))
            .set("se.lengthscale.t", Setting::fixed(1.5))
            .set(
                "mean.constant",
                Setting::prior(format!("normal(0, {sd})").parse().unwrap()),
            );
        let model = model.observe(Observations::new(at.clone(), rows).unwrap());
        model.fit(&FitOptions::default()).unwrap()
    };
    let usual = fit("1e2");
    let want = usual.predict(&at, Scale::Latent).unwrap();
    assert!(
        !usual
            .summary()
            .warnings
            .iter()
            .any(|w| w.contains("so wide"))
    );
    for sd in ["1e7", "1e8", "1e12"] {
        let told = fit(sd);
        let got = told.predict(&at, Scale::Latent).unwrap();
        for j in 0..8 {
            // What a prior sd of a hundred leaves of one without limit: (0.2 / 100)^2.
            assert!(
                (got.mean()[j] - want.mean()[j]).abs() < 1e-4 * want.sd()[j],
                "{sd} {j}"
            );
            assert!((got.sd()[j] / want.sd()[j] - 1.0).abs() < 1e-4, "{sd} {j}");
        }
        assert!(
            told.summary()
                .warnings
                .iter()
                .any(|w| w.contains("so wide"))
        );
    }
}
