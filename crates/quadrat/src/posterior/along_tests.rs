//! Interpolated marginals against those told place by place.

use crate::kernel::Kernel;
use crate::likelihood::{Noise, Poisson};
use crate::link::Link;
use crate::model::{
    FitOptions, Hyperparameters, Model, Observations, Posterior, Prediction, Scale,
};
use crate::posterior::stretch::Stretch;
use crate::support::{Aggregate, Functionals};

fn places(many: usize) -> Functionals {
    let x: Vec<f64> = (0..many)
        .map(|i| ((7919 * i) % many) as f64 / many as f64)
        .collect();
    let x: Vec<f64> = x.into_iter().map(|share| -2.0 + 16.0 * share).collect();
    Functionals::points("x", &x).unwrap()
}

fn bins() -> Observations {
    let ends: Vec<(f64, f64)> = (0..12).map(|i| (f64::from(i), f64::from(i + 1))).collect();
    let bins = Functionals::intervals("x", &ends, Aggregate::Mean).unwrap();
    let values = (0..12).map(|i| (0.7 * f64::from(i)).sin() + 0.1 * f64::from(i % 3));
    Observations::gaussian(bins, values.collect(), Noise::Known(vec![0.01; 12])).unwrap()
}

fn counts() -> Observations {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let at = Functionals::points("x", &x).unwrap();
    let counts = (0..12).map(|i| f64::from((5 * i) % 7)).collect();
    let counts = Poisson::new(counts, vec![1.0; 12], Link::Exp).unwrap();
    Observations::new(at, counts).unwrap()
}

fn fitted(kernel: &str, table: Observations, how: Hyperparameters) -> Posterior {
    let model = Model::new(Kernel::parse(kernel).unwrap()).observe(table);
    model
        .fit(&FitOptions::default().with_hyperparameters(how))
        .unwrap()
}

/// Largest differences of means in sds, and of sds in themselves.
fn off(posterior: &Posterior, at: &Functionals) -> (f64, f64) {
    let told = posterior.along_line(at).unwrap().unwrap().nodes;
    let alone = posterior.one_by_one(at).unwrap();
    let mut worst = (0.0_f64, 0.0_f64);
    for (told, alone) in told.iter().zip(&alone) {
        for row in 0..at.len() {
            let sd = alone.variance[row].sqrt();
            let mean = (told.mean[row] - alone.mean[row]).abs() / sd;
            worst = (
                worst.0.max(mean),
                worst.1.max((told.variance[row].sqrt() / sd - 1.0).abs()),
            );
        }
    }
    worst
}

#[test]
fn series_tell_what_places_one_by_one_do() {
    let at = places(3000);
    for kernel in [
        "se(x)",
        "matern12(x)",
        "matern32(x) + linear(x)",
        "matern52(x) * periodic(x, period = 5)",
        "rq(x)",
    ] {
        for table in [bins(), counts()] {
            let name = table.likelihood().name();
            let posterior = fitted(kernel, table, Hyperparameters::Map);
            let (mean, sd) = off(&posterior, &at);
            // What is promised, of the smallest sd of a panel.
            assert!(mean < 1e-9 && sd < 1e-9, "{kernel} {name}: {mean:e} {sd:e}");
        }
    }
    let all = fitted("se(x)", bins(), Hyperparameters::Integrate);
    let (mean, sd) = off(&all, &at);
    assert!(
        all.components.len() > 10 && mean < 1e-9 && sd < 1e-9,
        "{mean:e} {sd:e}"
    );
}

#[test]
fn what_is_no_line_is_told_one_by_one() {
    let posterior = fitted("se(x)", bins(), Hyperparameters::Map);
    assert!(posterior.along_line(&places(300)).unwrap().is_none());
    let ends: Vec<(f64, f64)> = (0..3000)
        .map(|i| (f64::from(i), f64::from(i) + 0.5))
        .collect();
    let boxes = Functionals::intervals("x", &ends, Aggregate::Mean).unwrap();
    assert!(posterior.along_line(&boxes).unwrap().is_none());
    // The same place again and again.
    let same = Functionals::points("x", &[1.0; 3000]).unwrap();
    assert!(posterior.along_line(&same).unwrap().is_none());
}

/// Of places that are many, and of others between them, some of which lie twice.
#[test]
fn quantiles_along_a_line_are_those_of_each_place() {
    let at = places(6000);
    let levels = [0.025, 0.5, 0.9];
    for (table, scale) in [(bins(), Scale::Observation), (counts(), Scale::Response)] {
        let kernel = "matern32(x)";
        let posterior = fitted(kernel, table, Hyperparameters::Integrate);
        let told = posterior.predict(&at, scale).unwrap();
        let along: Vec<usize> = told
            .quantiles_along(&levels)
            .iter()
            .flat_map(|part| part.rows().to_vec())
            .collect();
        // Those at ends of stretches, where the variance changes fastest, are asked one by one.
        assert!(along.len() > 3000, "{}", along.len());
        let quantiles = told.tabulate(&levels, &[]).quantiles;
        for (level, of_level) in levels.iter().zip(&quantiles) {
            for row in (0..at.len()).step_by(7) {
                let alone = told.marginal(row).quantile(*level);
                let off = (of_level[row] - alone).abs() / told.sd()[row];
                assert!(off < 1e-9, "{scale:?} {level} {row}: {off:e}");
            }
        }
    }
}

/// A quantile that jumps inside a stretch is found out there.
#[test]
fn what_is_no_polynomial_is_told_place_by_place() {
    let x: Vec<f64> = (0..4000).map(|i| f64::from(i) / 4000.0).collect();
    let jumps = |x: &f64| if *x < 0.37 { 0.0 } else { 1e-6 };
    let means: Vec<f64> = x.iter().map(|x| x.sin() + jumps(x)).collect();
    let components = 10;
    let moments = vec![(means.clone(), vec![1.0; x.len()]); components];
    let stretch = Stretch {
        rows: (0..x.len()).collect(),
        x,
    };
    let shares = vec![1.0 / components as f64; components];
    let told = Prediction::from_moments(shares, &moments).along(vec![stretch]);
    let found = told.quantiles_along(&[0.5]);
    let is_told = |row: usize| found.iter().any(|part| part.rows().contains(&row));
    // Rows next to the jump are not; those of the half without it are.
    assert!(!is_told(1479) && !is_told(1480) && is_told(3000));
    for part in &found {
        // The polynomial misses no more than it may, and the root is known to 1e-13.
        part.of_level(0)
            .for_each(|(row, q)| assert!((q - means[row]).abs() < 1e-9));
    }
}

#[test]
fn places_at_two_neighbouring_numbers_are_told_place_by_place() {
    // 0.7, and the number next to it: the middle of both is one of them.
    let x = [[0.7; 40], [0.1 * 7.0; 40]].concat();
    assert!(x[0] != x[79]);
    let mut x = x;
    x.sort_by(f64::total_cmp);
    let stretch = Stretch {
        rows: (0..x.len()).collect(),
        x,
    };
    let moments = vec![(vec![1.0; 80], vec![1.0; 80]); 10];
    let told = Prediction::from_moments(vec![0.1; 10], &moments).along(vec![stretch]);
    assert!(told.quantiles_along(&[0.5]).is_empty());
    assert!((told.quantile(0.5)[79] - 1.0).abs() < 1e-12);
}

/// All nodes of a panel that reaches so far would lie where the rows say nothing.
#[test]
fn places_far_away_change_nothing_among_the_rows() {
    let near = places(3000);
    let mut far: Vec<f64> = near.lower(0).to_vec();
    far.extend([999_999.0, -4e6]);
    let far = Functionals::points("x", &far).unwrap();
    for kernel in ["se(x)", "matern32(x)", "rq(x)"] {
        for table in [bins(), counts()] {
            let posterior = fitted(kernel, table, Hyperparameters::Map);
            let [a, b] = [&near, &far].map(|at| posterior.predict(at, Scale::Latent).unwrap());
            for row in 0..near.len() {
                let off = (a.mean()[row] - b.mean()[row]).abs() / a.sd()[row];
                assert!(off < 2e-9, "{kernel} {row}: {off:e}");
            }
        }
    }
}
