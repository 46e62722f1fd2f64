//! Inference through inducing points at its edges: what is refused, told, or no trouble.

use quadrat::inference::sparse::LogSum;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Inducing, Inference, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::Functionals;

use super::sparse::{Bagged, map, rate, wave};

#[test]
fn what_cannot_be_is_refused() {
    let data = Bagged::new(6, 5, rate, 1);
    let model = |table| Model::new(Kernel::se(["x"])).observe(table);
    let refused = |model: Model, options: &FitOptions, words: &str| {
        let error = model.fit(options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let sparse = map().with_inference(Inference::Sparse);
    let none = map().with_inducing(Inducing::Number(0));
    refused(model(data.table(Link::Exp)), &none, "a number above zero");
    let none = map().with_inducing(Inducing::At(Box::new(Functionals::new(vec!["x".into()]))));
    refused(
        model(data.table(Link::Exp)),
        &none,
        "without inducing points",
    );
    let elsewhere = Functionals::points("z", &[1.0]).unwrap();
    refused(
        model(data.table(Link::Exp)),
        &map().with_inducing(Inducing::At(Box::new(elsewhere))),
        "no input named `x`",
    );
    refused(
        model(data.table(Link::Softplus)),
        &sparse.clone().with_log_sum(LogSum::Lemma),
        "the lemma for sums after the link softplus",
    );
    let ranges = Poisson::ranges(vec![0.0; 6], vec![4.0; 6], vec![1.0; 6], Link::Exp).unwrap();
    let ranges = Observations::new(data.bags.clone(), ranges).unwrap();
    let lemma = sparse.clone().with_log_sum(LogSum::Lemma);
    refused(model(ranges), &lemma, "use the matched form");
    // Bags themselves.
    let mut bag = Functionals::new(vec!["x".into()]);
    assert!(bag.push_nodes(&[], &[]).is_err());
    assert!(bag.push_nodes(&[vec![f64::NAN]], &[1.0]).is_err());
    assert!(bag.push_nodes(&[vec![1.0]], &[f64::NAN]).is_err());
    assert!(
        bag.push_nodes(&[vec![1.0], vec![2.0]], &[0.0, 0.0])
            .is_err()
    );
    bag.push_nodes(&[vec![1.0], vec![2.0]], &[2.0, -1.0])
        .unwrap();
    bag.push_nodes(&[vec![1.0], vec![2.0]], &[2.0, 1.0])
        .unwrap();
    let counts = Poisson::new(vec![1.0, 2.0], vec![1.0; 2], Link::Exp).unwrap();
    refused(
        model(Observations::new(bag, counts).unwrap()),
        &sparse,
        "above zero, like all weights",
    );
}

#[test]
fn large_counts_that_scatter_are_told_to_be_no_poisson_counts() {
    let mut data = Bagged::new(30, 6, rate, 3);
    let fit = |data: &Bagged| {
        let model = Model::new(Kernel::se(["x"]))
            .observe(data.table(Link::Exp))
            .set("se.lengthscale.x", Setting::fixed(3.0));
        model
            .fit(&map().with_inducing(Inducing::Number(12)))
            .unwrap()
    };
    let told = |posterior: &Posterior| {
        let mut all = posterior.summary().warnings.iter();
        all.any(|w| w.contains("negative_binomial"))
    };
    for (k, count) in data.counts.iter_mut().enumerate() {
        // Every other one a fifth higher, of some thousand.
        *count = (*count * if k % 2 == 0 { 120.0 } else { 100.0 }).round();
    }
    assert!(told(&fit(&data)));
    let small = Bagged::new(30, 6, rate, 3);
    assert!(!told(&fit(&small)));
}

#[test]
fn more_inducing_points_than_places_and_constant_columns_are_no_trouble() {
    let mut bags = Functionals::new(vec!["x".into(), "c".into()]);
    for i in 0..8 {
        let x = f64::from(i);
        bags.push_nodes(&[vec![x, 3.0], vec![x + 0.5, 3.0]], &[1.0, 1.0])
            .unwrap();
    }
    let counts = Poisson::new(
        vec![3.0, 4.0, 6.0, 9.0, 8.0, 5.0, 2.0, 1.0],
        vec![1.0; 8],
        Link::Exp,
    );
    let table = Observations::new(bags.clone(), counts.unwrap()).unwrap();
    let options = map().with_inducing(Inducing::Number(500));
    let posterior = Model::new(Kernel::se(["x", "c"]))
        .observe(table)
        .fit(&options)
        .unwrap();
    let told = &posterior.summary().warnings;
    assert!(
        told.iter()
            .any(|w| w.contains("look at 16 different points only")),
        "{told:?}"
    );
    let p = posterior.predict(&bags, Scale::Response).unwrap();
    // A total of 38 counts is known to 1 / sqrt(38) = 0.16 of itself, less with the level learned.
    assert!((p.mean().iter().sum::<f64>() / 38.0 - 1.0).abs() < 0.1);
}

/// Pairs of points are sampled after `softplus` too: a large bag does not take a covariance of its
/// size squared.
#[test]
fn a_large_bag_after_softplus_is_a_small_one_times_its_size() {
    let (x, y) = wave(40);
    let counts = y.iter().map(|y| y.round().max(0.0)).collect();
    let rows = Poisson::new(counts, vec![1.0; 40], Link::Softplus).unwrap();
    let set = Functionals::points("x", &x).unwrap();
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(Observations::new(set, rows).unwrap())
        .fit(&map().with_inducing(Inducing::Number(8)))
        .unwrap();
    let bag = |n: usize| {
        let points: Vec<Vec<f64>> = (0..n).map(|i| vec![8.0 * i as f64 / n as f64]).collect();
        let mut set = Functionals::new(vec!["x".into()]);
        set.push_nodes(&points, &vec![1.0; n]).unwrap();
        let seen = posterior.predict(&set, Scale::Response).unwrap();
        (seen.mean()[0] / n as f64, seen.sd()[0] / n as f64)
    };
    // All pairs, and those of a sample: of the same function, but for 8 / 250 of a step.
    let ((mean, sd), (more, wide)) = (bag(250), bag(5000));
    assert!((mean - 2.2).abs() < 0.5, "{mean}");
    assert!((more / mean - 1.0).abs() < 5e-3, "{more} {mean}");
    assert!((wide / sd - 1.0).abs() < 0.02, "{wide} {sd}");
}

#[test]
fn the_order_of_rows_and_tables_does_not_choose_inducing_points() {
    let (x, y) = wave(60);
    let answers = |order: &[usize], cut: usize| {
        let table = |rows: &[usize]| {
            let at: Vec<f64> = rows.iter().map(|&i| x[i]).collect();
            let values = rows.iter().map(|&i| y[i]).collect();
            let noise = Noise::Known(vec![0.03; rows.len()]);
            Observations::gaussian(Functionals::points("x", &at).unwrap(), values, noise).unwrap()
        };
        let model = Model::new(Kernel::se(["x"]))
            .observe(table(&order[..cut]))
            .observe(table(&order[cut..]));
        let fit = model
            .fit(&map().with_inducing(Inducing::Number(5)))
            .unwrap();
        let at = Functionals::points("x", &[0.5, 3.3, 7.0]).unwrap();
        let told = fit.predict(&at, Scale::Latent).unwrap();
        (fit.summary().log_evidence, told.mean().to_vec())
    };
    let given: Vec<usize> = (0..60).collect();
    let turned: Vec<usize> = (0..60).map(|i| (7 * i + 11) % 60).collect();
    let (evidence, means) = answers(&given, 20);
    for cut in [20, 45] {
        let (other, moved) = answers(&turned, cut);
        // Sums in another order, and the end of the search.
        assert!((other - evidence).abs() < 1e-5, "{other} {evidence}");
        for (a, b) in moved.iter().zip(&means) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}

#[test]
fn known_noise_that_inducing_points_cannot_tell_is_raised_and_told() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let values: Vec<f64> = x.iter().map(|x| 1e6 * (3.0 + (x / 3.0).sin())).collect();
    let at = Functionals::points("x", &x).unwrap();
    for variance in [1e-4, 1.0] {
        // Rows that say nothing beside rows that say all but everything.
        let noise = (0..20).map(|i| if i % 7 == 3 { 1e30 } else { variance });
        let noise = Noise::Known(noise.collect());
        let table = Observations::gaussian(at.clone(), values.clone(), noise).unwrap();
        let model = Model::new(Kernel::se(["x"])).observe(table);
        let fit = model.fit(&map().with_inference(Inference::Sparse)).unwrap();
        let summary = fit.summary();
        assert!(summary.converged, "{variance}: {:?}", summary.warnings);
        assert!(
            summary.warnings[0].contains("raised to an sd of"),
            "{:?}",
            summary.warnings
        );
        let told = |words: &str| summary.warnings.iter().any(|w| w.contains(words));
        assert!(!told("impossible"), "{:?}", summary.warnings);
        let found = fit.predict(&at, Scale::Latent).unwrap();
        for (i, (mean, value)) in found.mean().iter().zip(&values).enumerate() {
            // The noise is a thousandth of the spread, 7e5, at most; rows without a word are read
            // off the others.
            let most = if i % 7 == 3 { 1e5 } else { 5e3 };
            assert!(
                (mean - value).abs() < most,
                "{variance}, {i}: {mean} {value}"
            );
        }
    }
}
