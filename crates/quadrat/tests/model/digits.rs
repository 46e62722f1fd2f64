//! What double precision takes away: small variances beside large values, differences of values
//! around a large level, places beside others of very different size.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Censored, Degrees, Interval, Laplace, Likelihood, Side, StudentT, Truncated,
};
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};

use crate::common::map;

/// Smooth values of size one, at 0, 1, ..
const WAVE: [f64; 12] = [
    -0.300, 0.454389, 1.13674, 1.682942, 2.043876, 2.190816, 2.118595, 1.196172, 0.764545, 0.23224,
    -0.331136, -0.852554,
];

fn twelve() -> Vec<f64> {
    (0..12).map(f64::from).collect()
}

fn fitted(set: Functionals, values: &[f64], variance: f64) -> Posterior {
    let noise = Noise::Known(vec![variance; values.len()]);
    let table = Observations::gaussian(set, values.to_vec(), noise).unwrap();
    map(&Model::new(Kernel::se(["t"])).observe(table))
}

#[test]
fn rows_are_known_as_well_as_they_were_observed_however_large_their_values_are() {
    let edges: Vec<(f64, f64)> = twelve().iter().map(|t| (*t, t + 1.0)).collect();
    let points = || Functionals::points("t", &twelve()).unwrap();
    let boxes = |aggregate| Functionals::intervals("t", &edges, aggregate).unwrap();
    // Averages over cells of width one are their totals.
    let cases = [
        ("points", points(), points()),
        ("sums", boxes(Aggregate::Sum), boxes(Aggregate::Mean)),
    ];
    for (what, observed, asked) in cases {
        for decades in 4..13 {
            let values: Vec<f64> = WAVE.iter().map(|y| y * 10f64.powi(decades)).collect();
            let posterior = fitted(observed.clone(), &values, 1.0);
            let told = posterior.predict(&asked, Scale::Latent).unwrap();
            // The prior is so wide that a row says all, up to the share of the noise; how often it
            // is in what is asked is known to rounding.
            for (row, sd) in told.sd().iter().enumerate() {
                assert!(
                    (0.99..1.0 + 1e-12).contains(sd),
                    "{what}, 1e{decades}, {row}: {sd}"
                );
            }
            assert!(told.unresolved().is_empty());
        }
    }
}

#[test]
fn totals_of_rows_are_known_as_well_as_the_rows_however_large_their_values_are() {
    let edges: Vec<(f64, f64)> = twelve().iter().map(|t| (*t, t + 1.0)).collect();
    let mut totals =
        Functionals::intervals("t", &[(0.0, 3.0), (2.0, 7.0)], Aggregate::Sum).unwrap();
    totals
        .push_nodes(&[vec![2.0], vec![5.0]], &[1.0, -3.0])
        .unwrap();
    let both = |boxes: &Functionals| {
        let mut all = Functionals::points("t", &twelve()).unwrap();
        all.extend(boxes).unwrap();
        all
    };
    let boxes = Functionals::intervals("t", &edges, Aggregate::Sum).unwrap();
    for decades in 5..12 {
        let values: Vec<f64> = WAVE.iter().map(|y| y * 10f64.powi(decades)).collect();
        let of_boxes = fitted(boxes.clone(), &values, 1.0);
        let told = of_boxes
            .predict(&totals.rows(&[0, 1]), Scale::Latent)
            .unwrap();
        assert_eq!(told.unresolved(), [] as [usize; 0]);
        // The prior is so wide that rows say all, up to a hundredth, as above.
        for (sd, rows) in told.sd().iter().zip([3.0_f64, 5.0]) {
            assert!((sd / rows.sqrt() - 1.0).abs() < 0.01, "1e{decades}: {sd}");
        }
        let of_points = fitted(Functionals::points("t", &twelve()).unwrap(), &values, 1.0);
        let told = of_points
            .predict(&totals.rows(&[2]), Scale::Latent)
            .unwrap();
        let sd = told.sd()[0];
        // The prior's part again, as above.
        assert!((sd / 10f64.sqrt() - 1.0).abs() < 0.01, "1e{decades}: {sd}");
        // Boxes are not made of points: their totals are told by the rounding.
        let told = of_points
            .predict(&both(&totals.rows(&[0])), Scale::Latent)
            .unwrap();
        assert!(told.sd().iter().all(|sd| *sd > 0.9), "1e{decades}");
    }
}

#[test]
fn sds_below_rounding_are_told_and_never_zero() {
    for decades in 6..13 {
        let values: Vec<f64> = WAVE.iter().map(|y| y * 10f64.powi(decades)).collect();
        let observed = Functionals::points("t", &twelve()).unwrap();
        let posterior = fitted(observed, &values, 1.0);
        // So near to rows that their sds are those of the rows.
        let near: Vec<f64> = twelve().iter().map(|t| t + 1e-13).collect();
        let near = Functionals::points("t", &near).unwrap();
        let told = posterior.predict(&near, Scale::Latent).unwrap();
        for (row, sd) in told.sd().iter().enumerate() {
            let is_told = told.unresolved().contains(&row);
            assert!(*sd > 0.99, "1e{decades}, {row}: {sd}");
            assert!(*sd < 1.01 || is_told, "1e{decades}, {row}: {sd}");
        }
    }
}

#[test]
fn values_and_noise_in_another_unit_give_sds_in_that_unit() {
    let fit = |unit: f64| {
        let values: Vec<f64> = WAVE.iter().map(|y| y * unit).collect();
        let observed = Functionals::points("t", &twelve()).unwrap();
        let posterior = fitted(observed, &values, 1e-4 * unit * unit);
        let at = Functionals::points("t", &[0.0, 3.0, 3.5, 20.0]).unwrap();
        let told = posterior.predict(&at, Scale::Latent).unwrap();
        let sds: Vec<f64> = told.sd().iter().map(|sd| sd / unit).collect();
        sds
    };
    let plain = fit(1.0);
    for decades in [-12, -4, 4, 12] {
        for (sd, expected) in fit(10f64.powi(decades)).iter().zip(&plain) {
            // Polishing ends with steps below 1e-10, or where rounding, by a condition of some 3e5,
            // no longer lets gradients fall; sds follow the hyperparameters.
            assert!((sd / expected - 1.0).abs() < 1e-5, "1e{decades}");
        }
    }
}

/// Thirds of units around a level, reported in different ways.
fn reported(kind: &str, level: f64) -> Likelihood {
    let values: Vec<f64> = (0..10).map(|i| level + f64::from(i % 3)).collect();
    let up: Vec<f64> = values.iter().map(|y| y + 0.5).collect();
    let noise = || Noise::Learned;
    let sides: Vec<Side> = (0..10)
        .map(|i| if i == 4 { Side::Right } else { Side::None })
        .collect();
    match kind {
        "student_t" => StudentT::new(values, noise(), Degrees::Known(4.0))
            .unwrap()
            .into(),
        "laplace" => Laplace::new(values, vec![0.5; 10]).unwrap().into(),
        "interval" => Interval::new(values, up, noise()).unwrap().into(),
        "truncated" => {
            let (below, above) = (vec![level - 1.0; 10], vec![level + 4.0; 10]);
            Truncated::new(values, below, above, noise())
                .unwrap()
                .into()
        }
        _ => Censored::new(values, &sides, noise()).unwrap().into(),
    }
}

#[test]
fn the_level_of_values_changes_no_evidence() {
    let times: Vec<f64> = (0..10).map(f64::from).collect();
    let fit = |kind: &str, inference: Inference, level: f64| {
        let at = Functionals::points("t", &times).unwrap();
        let table = Observations::new(at, reported(kind, level)).unwrap();
        let options = FitOptions::default()
            .with_hyperparameters(Hyperparameters::Map)
            .with_inference(inference);
        let model = Model::new(Kernel::matern32(["t"])).observe(table);
        let posterior = model.fit(&options).unwrap();
        let asked = Functionals::points("t", &[4.0, 9.5]).unwrap();
        let told = posterior.predict(&asked, Scale::Latent).unwrap();
        let means: Vec<f64> = told.mean().iter().map(|m| m - level).collect();
        (posterior.summary().log_evidence, means, told.sd().to_vec())
    };
    for (kind, inference) in [
        ("student_t", Inference::Sites(Method::Ep)),
        ("student_t", Inference::Sites(Method::Variational)),
        ("laplace", Inference::Sites(Method::Ep)),
        ("interval", Inference::Sites(Method::Ep)),
        ("interval", Inference::Sites(Method::Variational)),
        ("censored", Inference::Sites(Method::Ep)),
        ("truncated", Inference::Sites(Method::Ep)),
        ("truncated", Inference::Sites(Method::Variational)),
    ] {
        let (evidence, means, sds) = fit(kind, inference, 0.0);
        for level in [1e3, 1e6, 1e9] {
            let (e, m, s) = fit(kind, inference, level);
            let what = format!("{kind}, {inference:?}, {level:e}");
            // Searches of numbers that differ in their last digits end within 1e-6 of each other.
            assert!((e - evidence).abs() < 1e-4, "{what}: {e} and {evidence}");
            for i in 0..2 {
                assert!(
                    (m[i] - means[i]).abs() < 1e-3 * sds[i],
                    "{what}: {m:?} {means:?}"
                );
                assert!((s[i] / sds[i] - 1.0).abs() < 1e-3, "{what}: {s:?} {sds:?}");
            }
        }
    }
}

#[test]
fn inputs_in_tiny_and_huge_units_give_the_answers_of_ordinary_ones() {
    let values = [1.0, 2.0, 1.0, 3.0, 2.0, 1.0, 2.0, 4.0, 1.0, 2.0];
    for text in [
        "se(t)",
        "matern12(t)",
        "matern32(t)",
        "matern52(t)",
        "rq(t)",
    ] {
        let fit = |unit: f64| {
            let times: Vec<f64> = (0..10).map(|i| unit * f64::from(i)).collect();
            let at = Functionals::points("t", &times).unwrap();
            let table = Observations::gaussian(at, values.to_vec(), Noise::Learned).unwrap();
            let posterior = map(&Model::new(Kernel::parse(text).unwrap()).observe(table));
            // On a lattice with the data, and so far away that only the prior holds.
            let places = [0.0, 5.0 * unit, 2.5 * unit, 1e12 * unit];
            let far = Functionals::points("t", &places).unwrap();
            let told = posterior.predict(&far, Scale::Latent).unwrap();
            (told.mean().to_vec(), told.sd().to_vec())
        };
        let (means, sds) = fit(1.0);
        for unit in [1e-290, 1e-160, 1e160, 1e280] {
            let (m, s) = fit(unit);
            for i in 0..4 {
                let what = format!(
                    "{text}, {unit:e}, {i}: {} {}, {} {}",
                    m[i], s[i], means[i], sds[i]
                );
                // Optima of two roundings of the same rows: a fit may leave 1e-6 nats, 1.4e-3 of an
                // sd of the hyperparameters, of which predictions know a part.
                assert!((m[i] - means[i]).abs() < 1e-3 * sds[i], "{what}");
                assert!((s[i] / sds[i] - 1.0).abs() < 1e-3, "{what}");
            }
        }
    }
}

#[test]
fn places_far_apart_leave_those_near_the_data_alone() {
    let times: Vec<f64> = (0..10).map(f64::from).collect();
    let values = [1.0, 2.0, 1.0, 3.0, 2.0, 1.0, 2.0, 4.0, 1.0, 2.0];
    let at = Functionals::points("t", &times).unwrap();
    let table = Observations::gaussian(at, values.to_vec(), Noise::Learned).unwrap();
    let posterior = map(&Model::new(Kernel::matern52(["t"])).observe(table));
    // The same ten rows solved for four places in place of one: rounding.
    let alone = Functionals::points("t", &[0.0]).unwrap();
    let alone = posterior.predict(&alone, Scale::Latent).unwrap();
    for step in [1e17, 1e100, 1e300] {
        let places: Vec<f64> = (0..4).map(|i| step * f64::from(i)).collect();
        let both = Functionals::points("t", &places).unwrap();
        let both = posterior.predict(&both, Scale::Latent).unwrap();
        assert!((both.mean()[0] - alone.mean()[0]).abs() < 1e-9, "{step:e}");
        assert!((both.sd()[0] - alone.sd()[0]).abs() < 1e-9, "{step:e}");
        assert!(both.sd().iter().chain(both.mean()).all(|x| x.is_finite()));
    }
}

/// Values of 3e8 known to 2 under a prior sd of 1e8: what is left is 4e-16 of the prior variance,
/// of which rounding leaves nothing. Rows are nearly independent then, `V = N - N Ky^-1 N`, and sums
/// and draws are as sure as that makes them.
#[test]
fn sums_of_large_values_are_as_sure_as_their_noise() {
    let bands = |n: u32| -> Functionals {
        let each = (0..n).map(|i| (f64::from(i), f64::from(i + 1)));
        Functionals::intervals("t", &each.collect::<Vec<_>>(), Aggregate::Sum).unwrap()
    };
    let points = Functionals::points("t", &[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    for rows in [points, bands(12)] {
        let n = rows.len();
        let values = (0..n).map(|i| 3e8 + 1e7 * (1.3 * i as f64).sin());
        let noise = Noise::Known(vec![4.0; n]);
        let table = Observations::gaussian(rows.clone(), values.collect(), noise).unwrap();
        let posterior = Model::new(Kernel::se(["t"]))
            .set("se.variance", Setting::fixed(1e16))
            .set("se.lengthscale.t", Setting::fixed(1.2))
            .observe(table)
            .fit(&FitOptions::default())
            .unwrap();
        let covariance = posterior.covariance(&rows).unwrap();
        for i in 0..n {
            for j in 0..n {
                let want = if i == j { 4.0 } else { 0.0 };
                // `N Ky^-1 N` is at most 16 over the least eigenvalue of `Ky`, which is far above
                // 1.6e7 here.
                assert!((covariance[(i, j)] - want).abs() < 1e-6, "{i} {j}");
            }
        }
        let draws = posterior.sample(&rows, 4000, 1).unwrap();
        let sums: Vec<f64> = (0..4000)
            .map(|draw| draws.col_as_slice(draw).iter().map(|x| x - 3e8).sum())
            .collect();
        let mean = sums.iter().sum::<f64>() / 4000.0;
        let square = sums.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 3999.0;
        // The sd of 4,000 draws is known to 1.1 %: five times that.
        let want = (4.0 * n as f64).sqrt();
        assert!((square.sqrt() / want - 1.0).abs() < 0.056, "{n} {square}");
    }
}
