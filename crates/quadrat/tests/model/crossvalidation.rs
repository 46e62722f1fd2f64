//! Rows and folds left out, against fitting without them.

use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Mean, Model, Noise, Observations, Scale, Setting};
use quadrat::support::{Aggregate, Functionals};

use crate::common::{map, model, waves};

#[test]
fn leaving_one_out_equals_fitting_without_the_row() {
    let (set, y) = waves(15);
    let fixed = |model: Model| {
        model
            .set("matern52.variance", Setting::fixed(0.8))
            .set("matern52.lengthscale.t", Setting::fixed(1.5))
            .set("noise.variance", Setting::fixed(0.05))
            .mean(Mean::Fixed(1.7))
    };
    let all = map(&fixed(model(15)));
    for row in [0, 7, 14] {
        let rest: Vec<usize> = (0..15).filter(|i| *i != row).collect();
        let table = Observations::gaussian(
            set.rows(&rest),
            rest.iter().map(|&i| y[i]).collect(),
            Noise::Learned,
        )
        .unwrap();
        let without = map(&fixed(Model::new(Kernel::matern52(["t"])).observe(table)));
        let p = without
            .predict(&set.rows(&[row]), Scale::Observation)
            .unwrap();
        // Fifteen rows of condition 15 x 0.8 / 0.05 = 240: n eps times that is 8e-13; densities and
        // probabilities divide by an sd of 0.2.
        let loo = all.leave_one_out()[row];
        assert!((loo.mean - p.mean()[0]).abs() < 1e-10);
        assert!((loo.sd - p.sd()[0]).abs() < 1e-10);
        assert!((loo.log_density - p.log_density(&[y[row]])[0]).abs() < 1e-9);
        assert!((loo.pit - p.cdf(&[y[row]])[0]).abs() < 1e-9);
    }
}

/// With integrated hyperparameters the reweighted nodes must give what integrating without the
/// row gives, up to the lattice's own error.
#[test]
fn leaving_one_out_reweights_integrated_hyperparameters() {
    let (set, y) = waves(12);
    let all = model(12).fit(&FitOptions::default()).unwrap();
    assert!(all.summary().integrated);
    let row = 5;
    let rest: Vec<usize> = (0..12).filter(|i| *i != row).collect();
    let table = Observations::gaussian(
        set.rows(&rest),
        rest.iter().map(|&i| y[i]).collect(),
        Noise::Learned,
    )
    .unwrap();
    // The same priors: those of the full data.
    let mut without = Model::new(Kernel::matern52(["t"])).observe(table);
    for p in model(12).parameters().unwrap() {
        without = without.set(
            &p.name,
            Setting {
                start: Some(p.start),
                prior: Some(p.prior),
                ..Setting::default()
            },
        );
    }
    let without = without.fit(&FitOptions::default()).unwrap();
    let p = without
        .predict(&set.rows(&[row]), Scale::Observation)
        .unwrap();
    let loo = all.leave_one_out()[row];
    // What the lattice of hyperparameters leaves: found are 0.003 of the sd in the mean, 0.006 in
    // the sd and 0.0005 in the probability.
    assert!(
        (loo.mean - p.mean()[0]).abs() < 0.05 * p.sd()[0],
        "{} {}",
        loo.mean,
        p.mean()[0]
    );
    assert!(
        (loo.sd / p.sd()[0] - 1.0).abs() < 0.06,
        "{} {}",
        loo.sd,
        p.sd()[0]
    );
    // As above.
    assert!((loo.pit - p.cdf(&[y[row]])[0]).abs() < 0.03);
}

#[test]
fn leaving_out_folds_equals_fitting_without_them() {
    let (set, y) = waves(15);
    let fixed = |model: Model| {
        map(&model
            .set("matern52.variance", Setting::fixed(0.8))
            .set("matern52.lengthscale.t", Setting::fixed(1.5))
            .set("noise.variance", Setting::fixed(0.05))
            .mean(Mean::Fixed(1.7)))
    };
    let all = fixed(model(15));
    let folds = [vec![3, 1, 9], vec![14]];
    for fold in all.leave_out(&folds).unwrap() {
        let rest: Vec<usize> = (0..15).filter(|i| !fold.rows.contains(i)).collect();
        let values = rest.iter().map(|&i| y[i]).collect();
        let table = Observations::gaussian(set.rows(&rest), values, Noise::Learned).unwrap();
        let without = fixed(Model::new(Kernel::matern52(["t"])).observe(table));
        let p = without
            .predict(&set.rows(&fold.rows), Scale::Observation)
            .unwrap();
        // As of single rows above.
        for i in 0..fold.rows.len() {
            assert!((fold.prediction.mean()[i] - p.mean()[i]).abs() < 1e-10);
            assert!((fold.prediction.sd()[i] - p.sd()[i]).abs() < 1e-10);
        }
    }
    // A fold of one row is leave-one-out, weights of the nodes included.
    let integrated = model(12).fit(&FitOptions::default()).unwrap();
    let one = &integrated.leave_out(&[vec![5]]).unwrap()[0];
    let loo = integrated.leave_one_out()[5];
    assert!((one.log_density - loo.log_density).abs() < 1e-9);
    assert!((one.prediction.mean()[0] - loo.mean).abs() < 1e-9);
    assert!((one.prediction.sd()[0] - loo.sd).abs() < 1e-9);
    assert!(all.leave_out(&[vec![15]]).is_err());
    assert!(all.leave_out(&[vec![2, 2]]).is_err());
}

/// An influential row makes nodes heavy that weigh nothing with it: they must not have been
/// dropped (that gave twice the sd). Against integrating again without the row.
#[test]
fn an_outlier_left_out_is_judged_by_the_others_alone() {
    let edges: Vec<(f64, f64)> = (0..10)
        .map(|i| (10.0 * f64::from(i), 10.0 * f64::from(i + 1)))
        .collect();
    let mut people: Vec<f64> = (0..10)
        .map(|i| 45.0 + 20.0 * (f64::from(i) / 3.0).sin())
        .collect();
    people[4] += 25.0;
    let all = Functionals::intervals("age", &edges, Aggregate::Sum).unwrap();
    let model = |rows: &[usize]| {
        let values: Vec<f64> = rows.iter().map(|&i| people[i]).collect();
        let noise = Noise::Known(vec![9.0; rows.len()]);
        Model::new(Kernel::se(["age"]))
            .observe(Observations::gaussian(all.rows(rows), values, noise).unwrap())
    };
    let rows: Vec<usize> = (0..10).collect();
    let rest: Vec<usize> = rows.iter().copied().filter(|i| *i != 4).collect();
    let level = people.iter().sum::<f64>() / 100.0;
    let mean = || Setting::prior(format!("normal({level}, 20)").parse().unwrap());
    let full = model(&rows).set("mean.constant", mean());
    let mut without = model(&rest).set("mean.constant", mean());
    for p in full.parameters().unwrap() {
        let setting = Setting {
            start: Some(p.start),
            prior: Some(p.prior),
            ..Setting::default()
        };
        without = without.set(&p.name, setting);
    }
    let loo = full.fit(&FitOptions::default()).unwrap().leave_one_out()[4];
    let refit = without.fit(&FitOptions::default()).unwrap();
    let p = refit.predict(&all.rows(&[4]), Scale::Response).unwrap();
    let sd = (p.sd()[0].powi(2) + 9.0).sqrt();
    // The lattice lies around the posterior with the row: reweighting it costs some accuracy.
    assert!(
        (loo.mean - p.mean()[0]).abs() < 0.15 * sd,
        "{} {}",
        loo.mean,
        p.mean()[0]
    );
    assert!((loo.sd / sd - 1.0).abs() < 0.25, "{} {sd}", loo.sd);
}
