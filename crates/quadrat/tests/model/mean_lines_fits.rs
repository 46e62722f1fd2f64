//! A mean that is linear in columns: rows that are saved, added and left out, exact rows, and
//! sparse inference.

use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Mean, Model, Noise, Observations, Posterior, Scale,
    Setting,
};

use crate::common::map;
use crate::mean_lines::{COEFFICIENTS, KNOWN, close, ground, kriging, of_ground, points, vague};

#[test]
fn saved_updated_and_left_out_rows_know_the_line() {
    let (t, h, s, y) = ground();
    let names = ["t", "elevation", "slope"];
    let all = map(&of_ground());
    let at = points(&names, &[&[3.3, 30.0], &[520.0, 900.0], &[4.0, 2.0]]);
    let told = all.predict(&at, Scale::Latent).unwrap();
    let again = Posterior::from_bytes(&all.to_bytes()).unwrap();
    let read = again.predict(&at, Scale::Latent).unwrap();
    assert_eq!((told.mean(), told.sd()), (read.mean(), read.sd()));
    assert_eq!(again.slopes().unwrap(), all.slopes().unwrap());
    assert_eq!(again.dims(), ["t", "elevation", "slope"]);

    // Of all rows but one: with priors that are said, not read off the rows.
    let vague = |y: &[f64], rows: std::ops::Range<usize>| {
        let set = |x: &[f64]| x[rows.clone()].to_vec();
        let columns = [set(&t), set(&h), set(&s)];
        let columns = [&columns[0][..], &columns[1][..], &columns[2][..]];
        let mean = Mean::linear(["elevation", "slope"]);
        map(&vague(
            kriging(&names, &columns, &set(y), mean),
            &COEFFICIENTS,
        ))
    };
    let (whole, but_last) = (vague(&y, 0..12), vague(&y, 0..11));
    let last = points(&names, &[&t[11..], &h[11..], &s[11..]]);
    let left_out = &whole.leave_one_out()[11];
    let alone = but_last.predict(&last, Scale::Latent).unwrap();
    close(left_out.mean, alone.mean()[0], 1e-7);
    close(left_out.sd, (alone.sd()[0].powi(2) + KNOWN[2]).sqrt(), 1e-7);
    let row = Observations::gaussian(last, vec![y[11]], Noise::Learned).unwrap();
    let updated = but_last.condition(row).unwrap();
    for (a, b) in updated
        .slopes()
        .unwrap()
        .iter()
        .zip(whole.slopes().unwrap())
    {
        close(a.mean, b.mean, 1e-7);
        close(a.sd, b.sd, 1e-7);
    }
    let draws = all.sample(&at, 20_000, 3).unwrap();
    for row in 0..2 {
        let each = (0..20_000).map(|j| draws[(row, j)]);
        let mean = each.clone().sum::<f64>() / 2e4;
        let sd = (each.map(|v| (v - mean).powi(2)).sum::<f64>() / 2e4).sqrt();
        // Four standard errors of a mean and of an sd of 20,000 draws.
        assert!((mean - told.mean()[row]).abs() < 4.0 * told.sd()[row] / 141.0);
        close(sd, told.sd()[row], 4.0 / 200.0);
    }
}

/// Rows at one place of the kernel with other elevations are other rows, though they are exact.
#[test]
fn exact_rows_that_differ_along_the_line_alone_do_not_contradict_each_other() {
    let (t, h) = ([0.0, 0.0, 1.0, 2.0], [0.0, 10.0, 0.0, 5.0]);
    let y = [1.0, 21.0, 1.5, 11.2];
    let table = Observations::gaussian(
        points(&["t", "elevation"], &[&t, &h]),
        y.to_vec(),
        Noise::Known(vec![0.0; 4]),
    );
    let model = Model::new(Kernel::se(["t"]))
        .mean(Mean::linear(["elevation"]))
        .set("se.variance", Setting::fixed(1.0))
        .set("se.lengthscale.t", Setting::fixed(1.0))
        .observe(table.unwrap());
    let posterior = map(&model);
    let slope = &posterior.slopes().unwrap()[0];
    // Two rows at one place: the line alone tells them apart.
    close(slope.mean, 2.0, 1e-6);
    assert!(slope.sd < 1e-4, "{slope:?}");
}

/// With all places as inducing points, and a few.
#[test]
fn sparse_inference_tells_the_same_slopes() {
    let n = 60;
    let t: Vec<f64> = (0..n).map(|i| 0.2 * f64::from(i)).collect();
    let h: Vec<f64> = (0..n)
        .map(|i| 500.0 + 200.0 * (1.7 * f64::from(i)).sin())
        .collect();
    let y: Vec<f64> = (0..t.len())
        .map(|i| t[i].sin() + 0.01 * h[i] + 0.3 * (91.7 * t[i]).sin())
        .collect();
    let model = kriging(
        &["t", "elevation"],
        &[&t, &h],
        &y,
        Mean::linear(["elevation"]),
    );
    let exact = map(&model);
    let at = points(&["t", "elevation"], &[&[3.3, 30.0], &[520.0, 900.0]]);
    let (told, slope) = (
        exact.predict(&at, Scale::Latent).unwrap(),
        exact.slopes().unwrap().remove(0),
    );
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    for count in [61, 25] {
        let sparse = options.clone().with_inducing(Inducing::Number(count));
        let sparse = model.fit(&sparse).unwrap();
        assert_eq!(sparse.inducing().unwrap().len(), count);
        let own = sparse.slopes().unwrap().remove(0);
        // The prior of the slope is a tenth as wide there: it moves the mean by `mean sd^2 / prior
        // sd^2`, with sds of 3e-4 and 4e-2 a five-hundredth of an sd.
        assert!(
            (own.mean - slope.mean).abs() < 1e-2 * slope.sd,
            "{own:?} {slope:?}"
        );
        assert!(
            (own.sd / slope.sd - 1.0).abs() < 1e-3,
            "{count}: {own:?} {slope:?}"
        );
        let got = sparse.predict(&at, Scale::Latent).unwrap();
        for row in 0..2 {
            // The prior of the slope again, as above.
            assert!((got.mean()[row] - told.mean()[row]).abs() < 1e-2 * told.sd()[row]);
            close(got.sd()[row], told.sd()[row], 1e-2);
        }
    }
    let moved = model.fit(&options.with_moved_inducing()).unwrap();
    close(moved.slopes().unwrap()[0].mean, slope.mean, 1e-2);
}
