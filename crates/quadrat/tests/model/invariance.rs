//! Units, threads and seeds change nothing.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Likelihood, Ordinal, Side, Thresholds};
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};

use rayon::prelude::*;

use crate::common::{model, times, waves};

#[test]
fn wild_units_change_nothing_but_the_units() {
    let (set, y) = waves(18);
    let plain = model(18).fit(&FitOptions::default()).unwrap();
    let p = plain.predict(&times(), Scale::Observation).unwrap();
    for (sx, sy) in [(1e-9, 1e9), (1e9, 1e-9), (1e9, 1e9), (1e-9, 1e-9)] {
        let scaled = |set: &Functionals| {
            let mut out = Functionals::new(vec!["t".into()]);
            for row in 0..set.len() {
                let (a, b) = set.extent(row, 0);
                out.push_box(&[(a * sx, b * sx)], Aggregate::Mean).unwrap();
            }
            out
        };
        let table = Observations::gaussian(
            scaled(&set),
            y.iter().map(|v| v * sy).collect(),
            Noise::Learned,
        )
        .unwrap();
        let fit = Model::new(Kernel::matern52(["t"]))
            .observe(table)
            .fit(&FitOptions::default())
            .unwrap();
        let q = fit.predict(&scaled(&times()), Scale::Observation).unwrap();
        // Rounding only, 1e9 being no power of two: of the optimum, and of the Hessian that places
        // the nodes, whose differences keep 1e-8.
        for j in 0..p.len() {
            assert!(
                (q.mean()[j] / sy - p.mean()[j]).abs() < 1e-6 * p.sd()[j],
                "{sx} {sy} {j}"
            );
            assert!(
                (q.sd()[j] / sy / p.sd()[j] - 1.0).abs() < 1e-6,
                "{sx} {sy} {j}"
            );
        }
        let evidence = fit.summary().log_evidence + 18.0 * sy.ln();
        // Rounding, as above.
        assert!((evidence - plain.summary().log_evidence).abs() < 1e-6);
    }
}

#[test]
fn threads_and_seeds_do_not_matter() {
    let fit = |threads, seed| {
        let options = FitOptions::default().with_threads(threads).with_seed(seed);
        let p = model(25)
            .fit(&options)
            .unwrap()
            .predict(&times(), Scale::Observation)
            .unwrap();
        (p.mean().to_vec(), p.sd().to_vec())
    };
    let one = fit(1, 1);
    for other in [fit(2, 1), fit(4, 1), fit(2, 99)] {
        // Threads change nothing; other starts end at the same optimum, from where steps would be
        // below 1e-10.
        for j in 0..one.0.len() {
            assert!(
                (one.0[j] / other.0[j] - 1.0).abs() < 1e-10,
                "{} {}",
                one.0[j],
                other.0[j]
            );
            assert!(
                (one.1[j] / other.1[j] - 1.0).abs() < 1e-10,
                "{} {}",
                one.1[j],
                other.1[j]
            );
        }
    }
}

/// Totals over bins of width one are totals, whatever the unit makes of the width.
#[test]
fn totals_in_years_and_in_months_give_the_same_answer() {
    let people = vec![12.0, 18.0, 26.0, 21.0, 13.0, 4.0];
    let fit = |unit: f64| {
        let edges: Vec<(f64, f64)> = (0..6)
            .map(|i| (unit * f64::from(i), unit * f64::from(i + 1)))
            .collect();
        let set = Functionals::intervals("age", &edges, Aggregate::Sum).unwrap();
        let table = Observations::gaussian(set, people.clone(), Noise::Learned).unwrap();
        let posterior = Model::new(Kernel::se(["age"]))
            .observe(table)
            .fit(&FitOptions::default())
            .unwrap();
        let at =
            Functionals::intervals("age", &[(0.5 * unit, 1.5 * unit)], Aggregate::Sum).unwrap();
        let p = posterior.predict(&at, Scale::Response).unwrap();
        (p.mean()[0], p.sd()[0], posterior.summary().log_evidence)
    };
    let (years, months) = (fit(1.0), fit(12.0));
    // As above: twelve is no power of two.
    assert!((years.0 - months.0).abs() < 1e-6 * years.1);
    assert!((years.1 / months.1 - 1.0).abs() < 1e-6);
    assert!((years.2 - months.2).abs() < 1e-6);
}

/// A worker that waited for a fit on other threads by beginning the next would nest them until its
/// stack is full.
#[test]
fn many_fits_with_threads_of_their_own_run_within_one_pool() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(1 << 20)
        .build();
    let options = FitOptions::default()
        .with_hyperparameters(Hyperparameters::Map)
        .with_threads(1);
    let evidence = |_: usize| model(5).fit(&options).unwrap().summary().log_evidence;
    let all: Vec<f64> = pool
        .unwrap()
        .install(|| (0..200).into_par_iter().map(evidence).collect());
    assert!(all.iter().all(|e| *e == all[0]));
}

/// A value beyond a limit, and the end ranks of a scale, lie about an sd of the noise further on,
/// and that is in the unit of the limits.
#[test]
fn limits_and_thresholds_in_another_unit_give_the_answers_in_that_unit() {
    let (set, y) = waves(18);
    let sides: Vec<Side> = (0..18)
        .map(|i| if i % 3 == 1 { Side::Right } else { Side::None })
        .collect();
    let ranks: Vec<usize> = y
        .iter()
        .map(|y| 1 + usize::from(*y > 1.5) + usize::from(*y > 2.5))
        .collect();
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let fit = |likelihood: Likelihood, unit: f64| {
        let table = Observations::new(set.clone(), likelihood).unwrap();
        let model = Model::new(Kernel::matern52(["t"])).observe(table);
        let told = model.fit(&options).unwrap();
        let p = told.predict(&times(), Scale::Latent).unwrap();
        let each = |all: &[f64]| all.iter().map(|v| v / unit).collect::<Vec<f64>>();
        (each(p.mean()), each(p.sd()))
    };
    let censored = |unit: f64| {
        let values = y.iter().map(|y| unit * y).collect();
        fit(
            Censored::new(values, &sides, Noise::Learned)
                .unwrap()
                .into(),
            unit,
        )
    };
    let graded = |unit: f64| {
        let thresholds = Thresholds::Known(vec![1.5 * unit, 2.5 * unit]);
        let table = Ordinal::new(ranks.clone(), thresholds, Noise::Learned);
        fit(table.unwrap().into(), unit)
    };
    let plain = [censored(1.0), graded(1.0)];
    for unit in [1e-9, 1e-3, 1e6] {
        for (old, new) in plain.iter().zip([censored(unit), graded(unit)]) {
            // Rounding only, of units that are no powers of two: of the optimum and of the search
            // for sites, to 1e-9 sd.
            for j in 0..old.0.len() {
                assert!(
                    (new.0[j] - old.0[j]).abs() < 1e-6 * old.1[j],
                    "{unit:e} {j}"
                );
                assert!((new.1[j] / old.1[j] - 1.0).abs() < 1e-6, "{unit:e} {j}");
            }
        }
    }
}
