//! Exact rows that follow from other exact rows say nothing new; smooth exact rows are fitted with
//! the least noise.

use quadrat::error::FitError;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Interval;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

use crate::common::hyper;

type Pairs<'a> = &'a [(f64, f64)];

fn fit(model: &Model) -> Result<Posterior, FitError> {
    model.fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))
}

fn exact(supports: Functionals, values: &[f64]) -> Observations {
    let noise = Noise::Known(vec![0.0; values.len()]);
    Observations::gaussian(supports, values.to_vec(), noise).unwrap()
}

fn bands(edges: Pairs<'_>) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Sum).unwrap()
}

fn boxes(edges: &[[(f64, f64); 2]]) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    edges
        .iter()
        .for_each(|e| set.push_box(e, Aggregate::Sum).unwrap());
    set
}

fn nodes(bags: &[&[(f64, f64)]]) -> Functionals {
    let mut set = Functionals::new(vec!["t".into()]);
    for bag in bags {
        let (points, weights): (Vec<Vec<f64>>, Vec<f64>) =
            bag.iter().map(|(x, w)| (vec![*x], *w)).unzip();
        set.push_nodes(&points, &weights).unwrap();
    }
    set
}

fn polygons(rings: &[&[[f64; 2]]]) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for ring in rings {
        let polygon = Polygon::new(vec![vec![ring.to_vec()]]).unwrap();
        set.push_region(Region::from(polygon), Aggregate::Sum)
            .unwrap();
    }
    set
}

/// Rows that say everything, rows that follow from them with their values, a kernel.
fn cases() -> Vec<(&'static str, &'static str, Observations, Observations)> {
    let four = bands(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]);
    let cells: Vec<[(f64, f64); 2]> = (0..6)
        .map(|i| (f64::from(i / 3), f64::from(i % 3)))
        .map(|(x, y)| [(x, x + 1.0), (y, y + 1.0)])
        .collect();
    let margins = [
        [(0.0, 1.0), (0.0, 3.0)],
        [(1.0, 2.0), (0.0, 3.0)],
        [(0.0, 2.0), (0.0, 1.0)],
        [(0.0, 2.0), (1.0, 2.0)],
        [(0.0, 2.0), (2.0, 3.0)],
    ];
    let ell = [
        [0.0, 0.0],
        [3.0, 0.0],
        [3.0, 1.0],
        [1.0, 1.0],
        [1.0, 3.0],
        [0.0, 3.0],
    ];
    let rest = [[1.0, 1.0], [3.0, 1.0], [3.0, 3.0], [1.0, 3.0]];
    let square = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]];
    // The same corners from another one on.
    let again = [[3.0, 3.0], [1.0, 3.0], [1.0, 1.0], [3.0, 1.0]];
    let means = Functionals::intervals("t", &[(0.0, 10.0), (10.0, 30.0)], Aggregate::Mean).unwrap();
    let mean = Functionals::intervals("t", &[(0.0, 30.0)], Aggregate::Mean).unwrap();
    vec![
        (
            "a total",
            "matern32(t)",
            exact(four.clone(), &[3.0, 5.0, 4.0, 6.0]),
            exact(bands(&[(0.0, 4.0)]), &[18.0]),
        ),
        (
            "cumulated sums",
            "se(t)",
            exact(four, &[3.0, 5.0, 4.0, 6.0]),
            exact(
                bands(&[(0.0, 2.0), (0.0, 3.0), (4.0, 0.0)]),
                &[8.0, 12.0, 18.0],
            ),
        ),
        (
            "a mean of means",
            "matern52(t)",
            exact(means, &[3.3, 4.5]),
            exact(mean, &[4.1]),
        ),
        (
            "margins",
            "se(x, y)",
            exact(boxes(&cells), &[5.0, 3.0, 8.0, 2.0, 7.0, 4.0]),
            exact(boxes(&margins), &[16.0, 13.0, 7.0, 10.0, 12.0]),
        ),
        (
            "bags",
            "matern32(t)",
            exact(
                nodes(&[&[(0.0, 1.0), (1.0, 2.0)], &[(2.0, 1.0), (3.0, 1.0)]]),
                &[5.0, 4.0],
            ),
            exact(
                nodes(&[
                    &[(3.0, 1.0), (2.0, 1.0)],
                    &[(0.0, 1.0), (1.0, 2.0), (2.0, 1.0), (3.0, 1.0)],
                ]),
                &[4.0, 9.0],
            ),
        ),
        (
            "regions",
            "matern32(x, y)",
            exact(polygons(&[&ell, &rest]), &[11.0, 7.0]),
            exact(polygons(&[&square, &again]), &[18.0, 7.0]),
        ),
        (
            "a corner of a sum of kernels",
            "se(x) + se(y)",
            exact(
                boxes(&[
                    [(0.0, 1.0), (0.0, 1.0)],
                    [(0.0, 1.0), (1.0, 2.0)],
                    [(1.0, 2.0), (0.0, 1.0)],
                ]),
                &[1.0, 2.0, 4.0],
            ),
            exact(boxes(&[[(1.0, 2.0), (1.0, 2.0)]]), &[5.0]),
        ),
        (
            "a third point on a line",
            "linear(t)",
            exact(Functionals::points("t", &[0.0, 1.0]).unwrap(), &[1.0, 3.0]),
            exact(Functionals::points("t", &[2.0]).unwrap(), &[5.0]),
        ),
    ]
}

#[test]
fn an_exact_row_that_follows_from_others_changes_no_answer() {
    for (name, kernel, says, follows) in cases() {
        let model = || Model::new(Kernel::parse(kernel).unwrap());
        let alone = fit(&model().observe(says.clone())).unwrap();
        let more = follows.supports().len();
        for turned in [false, true] {
            // A total in front of its parts goes as one behind them does, but where both are as
            // wide.
            let is_wider = !matches!(
                name,
                "bags" | "regions" | "a corner of a sum of kernels" | "a third point on a line"
            );
            let (a, b) = if turned && is_wider {
                (&follows, &says)
            } else {
                (&says, &follows)
            };
            let with = fit(&model().observe(a.clone()).observe(b.clone())).unwrap();
            let (found, want) = (with.summary(), alone.summary());
            assert_eq!(found.rows, want.rows, "{name}");
            // On a line the rows that lie furthest apart stay, which are not those of the other
            // fit: the density of their values is another one.
            let are_the_same = name != "a third point on a line";
            let differ = (found.log_evidence - want.log_evidence).abs();
            assert!(!are_the_same || differ < 1e-12, "{name}: {differ}");
            let told = format!("{more} exact row");
            assert!(
                found.warnings[0].starts_with(&told),
                "{name}: {:?}",
                found.warnings
            );
            let at = follows.supports();
            let (p, q) = (
                with.predict(at, Scale::Latent).unwrap(),
                alone.predict(at, Scale::Latent).unwrap(),
            );
            assert!(!are_the_same || p.mean() == q.mean(), "{name}");
            let values = follows.as_gaussian().unwrap().values();
            for (mean, value) in p.mean().iter().zip(values) {
                // Conditions of 1e8 at most, and eps.
                assert!(
                    (mean - value).abs() < 1e-7 * value.abs(),
                    "{name}: {mean} {value}"
                );
            }
            assert!(p.sd().iter().all(|sd| *sd < 1e-3), "{name}: {:?}", p.sd());
        }
    }
}

#[test]
fn an_exact_row_that_contradicts_others_is_refused_with_the_difference() {
    for (name, kernel, says, follows) in cases() {
        let mut values = follows.as_gaussian().unwrap().values().to_vec();
        values[0] += 30.0;
        let wrong = exact(follows.supports().clone(), &values);
        let model = Model::new(Kernel::parse(kernel).unwrap())
            .observe(says)
            .observe(wrong);
        let Err(FitError::Contradiction { misfit, .. }) = fit(&model) else {
            panic!("{name} was not refused");
        };
        // Conditions of 1e8 at most, eps and 30: 7e-7.
        assert!((misfit - 30.0).abs() < 1e-6, "{name}: {misfit}");
        let text = fit(&model).unwrap_err().to_string();
        assert!(text.contains("different by 30:"), "{name}: {text}");
    }
}

#[test]
fn rows_that_only_look_alike_stay() {
    let model = |set: Functionals, values: &[f64]| {
        Model::new(Kernel::se(["t"])).observe(exact(set, values))
    };
    for (set, values) in [
        (
            bands(&[(0.0, 10.0), (0.0, 20.0), (0.0, 30.0)]),
            [1.0, 3.0, 6.0],
        ),
        // The total reaches a thousandth further than its parts.
        (
            bands(&[(0.0, 1.0), (1.0, 2.0), (0.0, 2.001)]),
            [3.0, 5.0, 8.004],
        ),
        (
            Functionals::points("t", &[0.0, 1.0, 1.0 + 1e-6]).unwrap(),
            [0.0, 1.0, 1.0],
        ),
    ] {
        assert_eq!(model(set, &values).redundant_rows().unwrap(), []);
    }
    // A row with noise, or of another output of the same place, says something of its own.
    let place = || Functionals::points("t", &[1.0]).unwrap();
    let noisy = Observations::gaussian(place(), vec![2.0], Noise::Known(vec![0.1])).unwrap();
    let model = Model::new(Kernel::se(["t"]))
        .observe(exact(place(), &[1.0]))
        .observe(noisy);
    assert_eq!(model.redundant_rows().unwrap(), []);
    let outputs = Kernel::coregion("site", ["a", "b"], 1) * Kernel::se(["t"]);
    let model = Model::new(outputs)
        .observe(exact(place(), &[1.0]).of_output("a"))
        .observe(exact(place(), &[2.0]).of_output("b"));
    assert_eq!(model.redundant_rows().unwrap(), []);
}

#[test]
fn digits_that_were_cut_off_are_told_and_do_not_contradict() {
    let set = bands(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (0.0, 3.0)]);
    let model = Model::new(Kernel::matern32(["t"])).observe(exact(set, &[3.0, 5.0, 4.0, 12.00005]));
    let found = model.redundant_rows().unwrap();
    assert_eq!((found.len(), found[0].row), (1, 3));
    // The rounding of 12 - 12.00005, 2e-15, times a condition of some ten.
    assert!((found[0].misfit - 5e-5).abs() < 1e-12);
    let warning = fit(&model).unwrap().summary().warnings[0].clone();
    assert!(warning.contains("differ by up to 0.00005"), "{warning}");
}

#[test]
fn exact_rows_beside_intervals_and_added_later_are_left_out_too() {
    let parts = bands(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]);
    let total = exact(bands(&[(0.0, 3.0)]), &[12.0]);
    let between =
        Interval::new(vec![1.0, 2.0], vec![4.0, 6.0], Noise::Known(vec![0.1; 2])).unwrap();
    let between = Observations::new(bands(&[(3.0, 4.0), (4.0, 5.0)]), between).unwrap();
    let model = Model::new(Kernel::matern32(["t"]))
        .observe(exact(parts, &[3.0, 5.0, 4.0]))
        .observe(between);
    let alone = fit(&model).unwrap();
    let with = fit(&model.clone().observe(total.clone())).unwrap();
    assert_eq!(alone.summary().log_evidence, with.summary().log_evidence);
    let later = alone.condition(total.clone()).unwrap();
    assert_eq!(later.summary().rows, 5);
    let later = later.summary().log_evidence - alone.summary().log_evidence;
    // Nothing new: the same evidence, to rounding.
    assert!(later.abs() < 1e-9, "{later}");
    // Parts after their total: what was there stays.
    let first = fit(&Model::new(Kernel::se(["t"]))
        .observe(exact(bands(&[(0.0, 1.0), (0.0, 3.0)]), &[3.0, 12.0])))
    .unwrap();
    let parts = exact(bands(&[(1.0, 2.0), (2.0, 3.0)]), &[5.0, 4.0]);
    let later = first.condition(parts).unwrap();
    assert_eq!(later.summary().rows, 3);
    let again = Posterior::from_bytes(&later.to_bytes()).unwrap();
    let at = bands(&[(2.0, 3.0)]);
    // The difference of exact totals, to rounding: found is no error.
    assert!((again.predict(&at, Scale::Latent).unwrap().mean()[0] - 4.0).abs() < 1e-6);
    let wrong = exact(bands(&[(0.0, 3.0)]), &[13.0]);
    assert!(matches!(
        first.condition(wrong),
        Err(FitError::Contradiction { .. })
    ));
}

#[test]
fn smooth_exact_rows_are_fitted_with_the_least_noise_and_told() {
    let at: Vec<f64> = (0..12).map(f64::from).collect();
    let rounded = |y: f64| (1e6 * y).round() / 1e6;
    let sine: Vec<f64> = at.iter().map(|t| rounded((t / 3.0).sin())).collect();
    let equal = bands(&at.iter().map(|t| (*t, t + 1.0)).collect::<Vec<_>>());
    let points = Functionals::points("t", &at).unwrap();
    for (name, set, values) in [
        ("a sine", points.clone(), sine),
        ("a line", points, at),
        ("equal bins", equal.clone(), vec![7.0; 12]),
        ("empty bins", equal, vec![0.0; 12]),
    ] {
        let model = Model::new(Kernel::se(["t"])).observe(exact(set.clone(), &values));
        let posterior = fit(&model).unwrap();
        let summary = posterior.summary();
        assert!(summary.converged, "{name}: {:?}", summary.warnings);
        assert!(hyper(&posterior, "se.variance").is_finite());
        if name == "a sine" || name == "a line" {
            assert!(
                summary.warnings[0].contains("noise of sd"),
                "{name}: {:?}",
                summary.warnings
            );
        }
        let found = posterior.predict(&set, Scale::Latent).unwrap();
        for (mean, value) in found.mean().iter().zip(&values) {
            // The largest noise has a thousandth of the spread, some 3.5, as its sd.
            assert!((mean - value).abs() < 4e-3, "{name}: {mean} {value}");
        }
    }
}

#[test]
fn rows_of_next_to_no_noise_are_fitted_as_exact_ones_are() {
    // A total beside its parts, each known to 1e-7: singular to rounding.
    let set = || bands(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (0.0, 4.0)]);
    let values = vec![3.0, 5.0, 4.0, 7.0, 19.0];
    for variance in [1e-16, 1e-14, 1e-12] {
        let noise = Noise::Known(vec![variance; 5]);
        let table = Observations::gaussian(set(), values.clone(), noise).unwrap();
        let posterior = fit(&Model::new(Kernel::se(["t"])).observe(table)).unwrap();
        let summary = posterior.summary();
        assert!(summary.converged, "{variance}: {:?}", summary.warnings);
        let found = posterior.predict(&set(), Scale::Latent).unwrap();
        for (mean, value) in found.mean().iter().zip(&values) {
            // Ten sds of the noise of 1e-10 of the variance of the values that they are given.
            assert!((mean - value).abs() < 1e-3, "{variance}: {mean} {value}");
        }
    }
}

/// Values of a wave of period 5 without noise.
fn periodic_rows() -> (Vec<f64>, Vec<f64>) {
    let at: Vec<f64> = (0..60).map(|i| 0.37 * f64::from(i)).collect();
    let wave = |t: &f64| {
        let angle = std::f64::consts::TAU * t / 5.0;
        3.0 + 2.0 * angle.sin() + 0.5 * (2.0 * angle).cos()
    };
    let values = at.iter().map(wave).collect();
    (at, values)
}

#[test]
fn exact_rows_are_judged_by_the_period_that_is_found() {
    let (at, values) = periodic_rows();
    let points = |at: &[f64]| Functionals::points("t", at).unwrap();
    let model =
        Model::new(Kernel::parse("periodic(t)").unwrap()).observe(exact(points(&at), &values));
    let posterior = fit(&model).unwrap();
    let period = hyper(&posterior, "periodic.period.t");
    // Not a multiple of it, at which the rows agree, too.
    assert!((period / 5.0 - 1.0).abs() < 1e-6, "{period}");
    let warnings = &posterior.summary().warnings;
    assert!(
        warnings[0].contains("they were given noise of sd"),
        "{warnings:?}"
    );
    let found = posterior
        .predict(&points(&[25.0, 26.25]), Scale::Latent)
        .unwrap();
    for (mean, value) in found.mean().iter().zip([3.5, 4.5]) {
        // The noise is a thousandth of the spread at most.
        assert!((mean - value).abs() < 1e-2, "{mean} {value}");
    }
    // Where the period is known to be another one, and the cycle smooth and of a likely size, they
    // contradict each other.
    let size = Setting {
        start: Some(4.0),
        upper: Some(20.0),
        ..Setting::default()
    };
    let wrong = model
        .set("periodic.period.t", Setting::fixed(4.0))
        .set("periodic.lengthscale.t", Setting::fixed(1.0))
        .set("periodic.variance", size);
    let refused = fit(&wrong);
    assert!(
        matches!(refused, Err(FitError::Contradiction { .. })),
        "{refused:?}"
    );
}

#[test]
fn rows_that_were_left_out_are_no_extrapolation() {
    let at: Vec<f64> = (0..11).map(f64::from).collect();
    let line: Vec<f64> = at.iter().map(|t| 3.0 + 2.0 * t).collect();
    let points = Functionals::points("t", &at).unwrap();
    let model =
        Model::new(Kernel::parse("linear(t)").unwrap()).observe(exact(points.clone(), &line));
    let posterior = fit(&model).unwrap();
    assert_eq!(posterior.summary().rows, 2);
    let beyond = Functionals::points("t", &[5.0, 14.0, 16.0, -6.0]).unwrap();
    let later = posterior.condition(exact(Functionals::points("t", &[12.0]).unwrap(), &[27.0]));
    let again = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
    // Half of the range beyond the rows: from -5 to 15, and from -6 to 18.
    for (found, far) in [
        (&posterior, vec![2, 3]),
        (&again, vec![2, 3]),
        (&later.unwrap(), vec![]),
    ] {
        assert_eq!(found.extrapolation(&points).unwrap(), Vec::<usize>::new());
        assert_eq!(found.extrapolation(&beyond).unwrap(), far);
    }
}
