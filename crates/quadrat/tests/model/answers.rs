//! Predictions, draws, updates and structure against formulas written out.

use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::linalg::Cholesky;
use quadrat::model::{FitOptions, Model, Noise, Observations, Scale, Setting};
use quadrat::support::{Aggregate, Functionals};

use crate::common::{hyper, map, model, times, waves};

/// Generalised least squares with a flat mean, written out (R&W eqs. 2.41-2.42): the limit of a
/// wide prior on the constant.
#[test]
fn predictions_equal_generalised_least_squares_in_the_limit() {
    let (set, y) = waves(20);
    let (variance, lengthscale, noise) = (1.3, 1.1, 0.02);
    let posterior = map(&Model::new(Kernel::matern52(["t"]))
        .observe(Observations::gaussian(set.clone(), y.clone(), Noise::Learned).unwrap())
        .set("matern52.variance", Setting::fixed(variance))
        .set("matern52.lengthscale.t", Setting::fixed(lengthscale))
        .set("noise.variance", Setting::fixed(noise)));
    let covariance = Covariance::new(&Kernel::matern52(["t"]));
    let theta = [variance, lengthscale];
    let mut k = covariance.matrix(&theta, &set);
    for i in 0..20 {
        k[(i, i)] += noise;
    }
    let factor = Cholesky::factor(k.as_ref()).unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let ones = vec![1.0; 20];
    let (ky, k1) = (factor.solve(&y), factor.solve(&ones));
    let beta = dot(&ones, &ky) / dot(&ones, &k1);
    let at = times();
    let cross = covariance.cross(&theta, &set, &at);
    let p = posterior.predict(&at, Scale::Latent).unwrap();
    for j in 0..at.len() {
        let c = cross.col_as_slice(j);
        let mean = beta + dot(c, &ky) - beta * dot(c, &k1);
        let r = 1.0 - dot(c, &k1);
        let sd = (variance - dot(c, &factor.solve(c)) + r * r / dot(&ones, &k1)).sqrt();
        // The prior sd of the mean is ten times the spread: it pulls by (posterior / prior)^2.
        assert!(
            (p.mean()[j] - mean).abs() < 0.02 * sd,
            "{} {mean}",
            p.mean()[j]
        );
        assert!((p.sd()[j] / sd - 1.0).abs() < 0.01, "{} {sd}", p.sd()[j]);
    }
    assert!((hyper(&posterior, "mean.constant") - beta).abs() < 0.02);
}

#[test]
fn draws_have_the_moments_of_the_predictions() {
    let posterior = model(12).fit(&FitOptions::default()).unwrap();
    let at = times();
    let draws = posterior.sample(&at, 20_000, 3).unwrap();
    assert_eq!(draws, posterior.sample(&at, 20_000, 3).unwrap());
    let p = posterior.predict(&at, Scale::Latent).unwrap();
    let covariance = posterior.covariance(&at).unwrap();
    for i in 0..at.len() {
        let mean: f64 = (0..20_000).map(|d| draws[(i, d)]).sum::<f64>() / 2e4;
        // Four standard errors of a mean of 20,000 draws.
        assert!((mean - p.mean()[i]).abs() < 4.0 * p.sd()[i] / 2e4_f64.sqrt());
        assert!((covariance[(i, i)].sqrt() / p.sd()[i] - 1.0).abs() < 1e-9);
        for j in 0..at.len() {
            let c: f64 = (0..20_000)
                .map(|d| (draws[(i, d)] - p.mean()[i]) * (draws[(j, d)] - p.mean()[j]))
                .sum::<f64>()
                / 2e4;
            // Heavy-tailed mixtures: six standard errors of a normal covariance.
            let tolerance = 6.0 * p.sd()[i] * p.sd()[j] * (2.0 / 2e4_f64).sqrt();
            assert!(
                (c - covariance[(i, j)]).abs() < tolerance,
                "{i} {j}: {c} {}",
                covariance[(i, j)]
            );
        }
    }
}

#[test]
fn adding_observations_equals_having_had_them() {
    let (set, y) = waves(16);
    let settings = |m: Model| {
        m.set("matern52.variance", Setting::fixed(0.8))
            .set("matern52.lengthscale.t", Setting::fixed(1.5))
            .set(
                "mean.constant",
                Setting::prior("normal(2, 3)".parse().unwrap()),
            )
    };
    let noise = |n| Noise::Known(vec![0.01; n]);
    let part = |rows: Vec<usize>| {
        let values = rows.iter().map(|&i| y[i]).collect();
        Observations::gaussian(set.rows(&rows), values, noise(rows.len())).unwrap()
    };
    let whole = map(&settings(
        Model::new(Kernel::matern52(["t"])).observe(part((0..16).collect())),
    ));
    let first = map(&settings(
        Model::new(Kernel::matern52(["t"])).observe(part((0..10).collect())),
    ));
    // Sixteen rows of condition 16 x (9 + 0.8) / 0.01 = 16,000: n eps times that is 6e-11, and of
    // the evidence some ten times as much.
    let both = first.condition(part((10..16).collect())).unwrap();
    let (a, b) = (
        whole.predict(&times(), Scale::Latent).unwrap(),
        both.predict(&times(), Scale::Latent).unwrap(),
    );
    for j in 0..a.len() {
        assert!((a.mean()[j] - b.mean()[j]).abs() < 1e-10);
        assert!((a.sd()[j] - b.sd()[j]).abs() < 1e-10);
    }
    // Ten times as much, as above.
    assert!((whole.summary().log_evidence - both.summary().log_evidence).abs() < 1e-9);
    assert_eq!(both.summary().rows, 16);
}

#[test]
fn a_complete_grid_gives_the_same_answer_through_its_structure() {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    let (mut y, mut rows) = (Vec::new(), 0);
    for i in 0..10 {
        for j in 0..8 {
            let (i, j) = (f64::from((i * 7) % 10), f64::from(j));
            set.push_box(&[(i, i + 1.0), (2.0 * j, 2.0 * j + 2.0)], Aggregate::Sum)
                .unwrap();
            y.push(5.0 + (0.5 * i).sin() * (0.3 * j).cos() + 0.05 * (f64::from(rows) * 3.1).sin());
            rows += 1;
        }
    }
    // A known part that differs in one row by a trifle forbids the structure.
    let mut uneven = vec![1e-9; y.len()];
    uneven[0] = 1.0001e-9;
    let fit = |noise| {
        map(&Model::new(Kernel::se(["x", "y"]))
            .observe(Observations::gaussian(set.clone(), y.clone(), noise).unwrap()))
    };
    let (grid, dense) = (
        fit(Noise::KnownPlusLearned(vec![1e-9; y.len()])),
        fit(Noise::KnownPlusLearned(uneven)),
    );
    assert_eq!(grid.summary().structure, "kronecker");
    assert_eq!(dense.summary().structure, "dense");
    // The search stops when Newton's method promises less than 1e-6 nats.
    assert!((grid.summary().log_posterior - dense.summary().log_posterior).abs() < 1e-6);
    let mut at = Functionals::new(vec!["y".into(), "x".into()]);
    at.push_point(&[3.3, 4.4]).unwrap();
    at.push_box(&[(0.0, 5.0), (2.0, 3.5)], Aggregate::Mean)
        .unwrap();
    at.push_nodes(&[vec![1.0, 1.0], vec![2.0, 9.0]], &[2.0, -0.5])
        .unwrap();
    let (a, b) = (
        grid.predict(&at, Scale::Latent).unwrap(),
        dense.predict(&at, Scale::Latent).unwrap(),
    );
    for j in 0..at.len() {
        // Either optimum is found to about 3e-6 in the logarithms of the hyperparameters.
        assert!((a.mean()[j] - b.mean()[j]).abs() < 2e-5 * b.sd()[j]);
        assert!((a.sd()[j] / b.sd()[j] - 1.0).abs() < 1e-5);
    }
    for (a, b) in grid.leave_one_out().iter().zip(dense.leave_one_out()) {
        assert_eq!(a.value, b.value);
        assert!((a.mean - b.mean).abs() < 1e-5 * b.sd && (a.sd / b.sd - 1.0).abs() < 1e-5);
    }
}

#[test]
fn updating_an_integrated_posterior_reweights_its_nodes() {
    let (set, y) = waves(16);
    let part = |rows: Vec<usize>| {
        let values = rows.iter().map(|&i| y[i]).collect();
        Observations::gaussian(
            set.rows(&rows),
            values,
            Noise::Known(vec![0.01; rows.len()]),
        )
        .unwrap()
    };
    // The same priors for both: those read off all rows.
    let with_priors = |table: Observations| {
        let all = Model::new(Kernel::matern52(["t"])).observe(part((0..16).collect()));
        let mut model = Model::new(Kernel::matern52(["t"])).observe(table);
        for p in all.parameters().unwrap() {
            let setting = Setting {
                start: Some(p.start),
                prior: Some(p.prior),
                ..Setting::default()
            };
            model = model.set(&p.name, setting);
        }
        model.set(
            "mean.constant",
            Setting::prior("normal(2, 3)".parse().unwrap()),
        )
    };
    let whole = with_priors(part((0..16).collect()))
        .fit(&FitOptions::default())
        .unwrap();
    let first = with_priors(part((0..13).collect()))
        .fit(&FitOptions::default())
        .unwrap();
    let both = first.condition(part((13..16).collect())).unwrap();
    let (a, b) = (
        whole.predict(&times(), Scale::Latent).unwrap(),
        both.predict(&times(), Scale::Latent).unwrap(),
    );
    for j in 0..a.len() {
        // Two lattices of the same posterior: 2 % of an sd each.
        assert!((a.mean()[j] - b.mean()[j]).abs() < 0.05 * a.sd()[j], "{j}");
        assert!((a.sd()[j] / b.sd()[j] - 1.0).abs() < 0.05, "{j}");
    }
    let (a, b) = (
        hyper(&whole, "mean.constant"),
        hyper(&both, "mean.constant"),
    );
    assert!((a - b).abs() < 0.05, "{a} {b}");
}
