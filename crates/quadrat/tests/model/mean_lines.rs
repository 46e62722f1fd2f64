//! A mean that is linear in columns, against universal kriging and generalised least squares.

use std::sync::Arc;

use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Scale, Setting, Slope,
};
use quadrat::quadrature::gauss_legendre;
use quadrat::support::{Aggregate, Functionals, Polygon, Side};

use crate::common::{hyper, map};

/// Variance, lengthscale and noise variance of most tests.
pub const KNOWN: [f64; 3] = [2.0, 1.5, 0.1];

/// Twelve places, their elevations and slopes of the ground, and a value at each.
pub fn ground() -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let i = || (0..12).map(f64::from);
    let t: Vec<f64> = i().map(|i| 0.7 * i + 0.3 * (2.0 * i).sin()).collect();
    let h: Vec<f64> = i()
        .map(|i| 400.0 + 35.0 * i + 120.0 * (1.3 * i).cos())
        .collect();
    let s: Vec<f64> = i().map(|i| 5.0 + 3.0 * (0.9 * i + 1.0).sin()).collect();
    let y = (0..12).map(|i| 20.0 - 0.0065 * h[i] + 0.4 * s[i] + t[i].sin());
    let y = y.collect();
    (t, h, s, y)
}

pub fn points(names: &[&str], columns: &[&[f64]]) -> Functionals {
    let mut set = Functionals::new(names.iter().map(|n| (*n).to_owned()).collect());
    for row in 0..columns[0].len() {
        let place: Vec<f64> = columns.iter().map(|c| c[row]).collect();
        set.push_point(&place).unwrap();
    }
    set
}

pub fn known(model: Model) -> Model {
    let names = ["se.variance", "se.lengthscale.t", "noise.variance"];
    let pairs = names.into_iter().zip(KNOWN);
    pairs.fold(model, |model, (name, v)| model.set(name, Setting::fixed(v)))
}

/// Of which nothing is known: in 1e-14 of the precision that the rows give them.
pub fn vague(model: Model, names: &[&str]) -> Model {
    names.iter().fold(model, |model, name| {
        model.set(name, Setting::prior("normal(0, 1e8)".parse().unwrap()))
    })
}

pub fn kriging(names: &[&str], columns: &[&[f64]], y: &[f64], mean: Mean) -> Model {
    let table = Observations::gaussian(points(names, columns), y.to_vec(), Noise::Learned);
    let model = Model::new(Kernel::se(["t"])).mean(mean);
    known(model.observe(table.unwrap()))
}

pub fn of_ground() -> Model {
    let (t, h, s, y) = ground();
    let mean = Mean::linear(["elevation", "slope"]);
    kriging(&["t", "elevation", "slope"], &[&t, &h, &s], &y, mean)
}

pub const COEFFICIENTS: [&str; 3] = [
    "mean.constant",
    "mean.linear.elevation",
    "mean.linear.slope",
];

pub fn close(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

/// `A x = b` by elimination with the largest pivot.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    b
}

fn k(a: f64, b: f64) -> f64 {
    KNOWN[0] * (-0.5 * ((a - b) / KNOWN[1]).powi(2)).exp()
}

/// The system of universal kriging, `[K + N, X; X', 0]`.
fn system(t: &[f64], x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, p) = (t.len(), x[0].len());
    let entry = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) => k(t[i], t[j]) + if i == j { KNOWN[2] } else { 0.0 },
        (true, false) => x[i][j - n],
        (false, true) => x[j][i - n],
        (false, false) => 0.0,
    };
    (0..n + p)
        .map(|i| (0..n + p).map(|j| entry(i, j)).collect())
        .collect()
}

/// Values of `statsmodels` 0.15.0, `GLS(y, [1, h, s], sigma = K + 0.1 I)`: `params`, and the roots
/// of the diagonal of `normalized_cov_params`, with `K = 2 exp(-(t - t')^2 / (2 1.5^2))`.
#[test]
fn coefficients_are_those_of_generalised_least_squares() {
    let estimates = [
        20.478_834_046_687_71,
        -0.006_493_990_780_008_953,
        0.332_185_638_745_835_23,
    ];
    let errors = [0.001_828_569_863_524_693_7, 0.149_600_072_581_951_32];
    let (_, h, s, _) = ground();
    let posterior = map(&vague(of_ground(), &COEFFICIENTS));
    let slopes = posterior.slopes().unwrap();
    assert_eq!(slopes.len(), 2);
    for (slope, (name, at)) in slopes.iter().zip([("elevation", 1), ("slope", 2)]) {
        assert_eq!((slope.input.as_str(), &slope.output), (name, &None));
        close(slope.mean, estimates[at], 1e-8);
        close(slope.sd, errors[at - 1], 1e-8);
        // The quantile of 97.5 % of a normal distribution.
        close(
            slope.upper,
            slope.mean + 1.959_963_984_540_054 * slope.sd,
            1e-8,
        );
        close(hyper(&posterior, COEFFICIENTS[at]), slope.mean, 1e-14);
    }
    // The constant is the level in the middle of the rows.
    let average = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let level = estimates[0] + estimates[1] * average(&h) + estimates[2] * average(&s);
    close(hyper(&posterior, "mean.constant"), level, 1e-8);
    // Unless said otherwise priors are so wide that a hundredth of an sd is not moved.
    for (usual, flat) in map(&of_ground()).slopes().unwrap().iter().zip(&slopes) {
        assert!(
            (usual.mean - flat.mean).abs() < 0.01 * flat.sd,
            "{usual:?} {flat:?}"
        );
        close(usual.sd, flat.sd, 0.01);
    }
}

/// Near rows, far along the kernel's column, and far along the mean's, where the sd is that of the
/// slope.
#[test]
fn predictions_are_those_of_universal_kriging() {
    let (t, h, s, y) = ground();
    let x: Vec<Vec<f64>> = (0..12).map(|i| vec![1.0, h[i], s[i]]).collect();
    let asked = [[3.3, 520.0, 4.0], [60.0, 700.0, 6.0], [2.0, 9000.0, 5.0]];
    let posterior = map(&vague(of_ground(), &COEFFICIENTS));
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|d| asked.iter().map(|a| a[d]).collect())
        .collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let at = points(&["t", "elevation", "slope"], &columns);
    let told = posterior.predict(&at, Scale::Latent).unwrap();
    let joint = posterior.covariance(&at).unwrap();
    for (row, [at, h, s]) in asked.into_iter().enumerate() {
        let mut right: Vec<f64> = t.iter().map(|t| k(*t, at)).collect();
        right.extend([1.0, h, s]);
        let solved = solve(system(&t, &x), right.clone());
        let mean: f64 = solved.iter().zip(&y).map(|(w, y)| w * y).sum();
        let seen: f64 = solved.iter().zip(&right).map(|(w, r)| w * r).sum();
        let variance = k(at, at) - seen;
        // Elimination of a system whose entries differ by thousands.
        close(told.mean()[row], mean, 1e-8);
        close(told.sd()[row], variance.sqrt(), 1e-8);
        close(joint[(row, row)], variance, 1e-8);
    }
    let slope = &posterior.slopes().unwrap()[0];
    close(told.sd()[2], 8500.0 * slope.sd, 0.02);
    assert!(told.mean()[2] < -30.0);
}

/// Averages and sums over boxes of all columns: the same rows as sums over nodes of Gauss-Legendre
/// rules; along `slope` the function is straight, and its middle is a rule.
#[test]
fn a_box_has_the_average_or_the_integral_of_its_column() {
    let (t, h, s, y) = ground();
    let rule = gauss_legendre(24);
    let [mut boxes, mut nodes] = [(), ()]
        .map(|()| Functionals::new(["t", "elevation", "slope"].map(str::to_owned).to_vec()));
    for i in 0..12 {
        let (from, to) = ((t[i], t[i] + 0.8), (h[i] - 30.0, h[i] + 50.0));
        let aggregate = [Aggregate::Mean, Aggregate::Sum][i % 2];
        boxes
            .push_box(&[from, to, (s[i] - 0.5, s[i] + 0.5)], aggregate)
            .unwrap();
        let scale = if i % 2 == 0 { 1.0 } else { 0.8 * 80.0 };
        let (mut places, mut weights) = (Vec::new(), Vec::new());
        for (a, v) in rule.on(from.0, from.1) {
            for (b, w) in rule.on(to.0, to.1) {
                places.push(vec![a, b, s[i]]);
                weights.push(scale * v / 0.8 * w / 80.0);
            }
        }
        nodes.push_nodes(&places, &weights).unwrap();
    }
    let fit = |set: Functionals| {
        let table = Observations::gaussian(set, y.clone(), Noise::Learned).unwrap();
        let mean = Mean::linear(["elevation", "slope"]);
        map(&known(
            Model::new(Kernel::se(["t"])).mean(mean).observe(table),
        ))
    };
    let (boxes, nodes) = (fit(boxes), fit(nodes));
    for (a, b) in boxes.slopes().unwrap().iter().zip(nodes.slopes().unwrap()) {
        // Rules of 24 nodes are exact here but for rounding, and the defaults of the priors come
        // from both sets alike.
        close(a.mean, b.mean, 1e-8);
        close(a.sd, b.sd, 1e-8);
    }
    let mut at = Functionals::new(boxes.dims().to_vec());
    at.push_box(&[(2.0, 9.0), (300.0, 900.0), (4.0, 6.0)], Aggregate::Mean)
        .unwrap();
    let (a, b) = (
        boxes.predict(&at, Scale::Latent).unwrap(),
        nodes.predict(&at, Scale::Latent).unwrap(),
    );
    close(a.mean()[0], b.mean()[0], 1e-8);
    close(a.sd()[0], b.sd()[0], 1e-8);
}

/// Averages over triangles see the column at their centres of mass, `(x, x + 3, x)` and so `x + 1`.
#[test]
fn a_region_has_the_average_of_its_column() {
    let (t, h, _, y) = ground();
    let names = ["t", "elevation", "other"].map(str::to_owned).to_vec();
    let (mut regions, mut centres) = (Functionals::new(names.clone()), Functionals::new(names));
    for i in 0..12 {
        let corners = [[h[i], 0.0], [h[i] + 3.0, 0.0], [h[i], 6.0]];
        let triangle = Polygon::new(vec![vec![corners.to_vec()]]).unwrap();
        let sides = [Some(Side::Point(t[i])), None, None];
        regions
            .push_product(Arc::new(triangle.into()), &sides, Aggregate::Mean)
            .unwrap();
        centres.push_point(&[t[i], h[i] + 1.0, 2.0]).unwrap();
    }
    let fit = |set: Functionals| {
        let table = Observations::gaussian(set, y.clone(), Noise::Learned).unwrap();
        let mean = Mean::linear(["elevation"]);
        let model = Model::new(Kernel::se(["t"])).mean(mean).observe(table);
        map(&known(vague(model, &COEFFICIENTS[..2])))
    };
    let (regions, centres) = (fit(regions), fit(centres));
    let (a, b) = (&regions.slopes().unwrap()[0], &centres.slopes().unwrap()[0]);
    close(a.mean, b.mean, 1e-8);
    close(a.sd, b.sd, 1e-8);
}

/// The noise variance alone is free: its posterior, by the trapezoidal rule over its logarithm, of
/// fits where it is fixed.
#[test]
fn integrated_coefficients_are_the_mixture_over_the_hyperparameters() {
    let (t, h, s, y) = ground();
    let noise = |setting: Setting| {
        let set = points(&["t", "elevation", "slope"], &[&t, &h, &s]);
        let table = Observations::gaussian(set, y.clone(), Noise::Learned).unwrap();
        Model::new(Kernel::se(["t"]))
            .mean(Mean::linear(["elevation", "slope"]))
            .observe(table)
            .set("se.variance", Setting::fixed(KNOWN[0]))
            .set("se.lengthscale.t", Setting::fixed(KNOWN[1]))
            .set("noise.variance", setting)
    };
    let prior = || Setting::prior("log_normal(-2, 1)".parse().unwrap());
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
    let integrated = noise(prior()).fit(&options).unwrap();
    let (mut weights, mut all) = (Vec::new(), Vec::new());
    for step in -80..=60 {
        let log = -2.0 + 0.08 * f64::from(step);
        let posterior = map(&noise(Setting::fixed(log.exp())));
        let density = posterior.summary().log_evidence - 0.5 * (log + 2.0).powi(2);
        weights.push(density.exp());
        all.push(posterior.slopes().unwrap());
    }
    let total: f64 = weights.iter().sum();
    for (at, slope) in integrated.slopes().unwrap().iter().enumerate() {
        let average = |f: &dyn Fn(&Slope) -> f64| {
            let each = weights.iter().zip(&all).map(|(w, all)| w * f(&all[at]));
            each.sum::<f64>() / total
        };
        let mean = average(&|s| s.mean);
        let square = average(&|s| s.sd * s.sd + s.mean * s.mean);
        let sd = (square - mean * mean).sqrt();
        // The lattice has some ten nodes along a line.
        assert!(
            (slope.mean - mean).abs() < 0.02 * sd,
            "{slope:?} {mean} {sd}"
        );
        close(slope.sd, sd, 0.02);
    }
}

#[test]
fn units_shifts_and_the_order_of_columns_change_nothing_but_the_coefficients() {
    let (t, h, s, y) = ground();
    let plain = map(&of_ground());
    let slopes = plain.slopes().unwrap();
    let at = |posterior: &Posterior, names: &[&str], columns: [&[f64]; 3]| {
        let told = posterior
            .predict(&points(names, &columns), Scale::Latent)
            .unwrap();
        (told.mean().to_vec(), told.sd().to_vec())
    };
    let (mean, sd) = at(
        &plain,
        &["t", "elevation", "slope"],
        [&[3.3], &[520.0], &[4.0]],
    );
    // Feet, seconds since 1970 and the like; `t` is the kernel's.
    for (scale, shift) in [
        (3.280_84, 0.0),
        (1e-6, 0.0),
        (1.0, 2_460_000.5),
        (86400.0, 1.7e9),
    ] {
        let moved = |h: &f64| scale * h + shift;
        let other: Vec<f64> = h.iter().map(moved).collect();
        let mean_of = Mean::linear(["slope", "elevation"]);
        let model = kriging(&["elevation", "t", "slope"], &[&other, &t, &s], &y, mean_of);
        let posterior = map(&model);
        let told = posterior.slopes().unwrap();
        // Numbers of size `shift` are known to `eps shift`, beside a range of some hundreds.
        let tolerance = 1e-9 + 1e-15 * shift / scale;
        close(told[1].mean, slopes[0].mean / scale, tolerance);
        close(told[1].sd, slopes[0].sd / scale, tolerance);
        close(told[0].mean, slopes[1].mean, tolerance);
        let place = [moved(&520.0)];
        let got = at(
            &posterior,
            &["elevation", "t", "slope"],
            [&place, &[3.3], &[4.0]],
        );
        close(got.0[0], mean[0], tolerance);
        close(got.1[0], sd[0], tolerance);
        close(
            posterior.summary().log_evidence,
            plain.summary().log_evidence,
            tolerance,
        );
    }
}

/// A slope that is known is the same as values less the line.
#[test]
fn a_known_slope_is_taken_from_the_values() {
    let (t, h, _, y) = ground();
    let centre = h.iter().sum::<f64>() / 12.0;
    let fit = |y: &[f64], slope: Setting| {
        let model = kriging(
            &["t", "elevation"],
            &[&t, &h],
            y,
            Mean::linear(["elevation"]),
        );
        let level = Setting::prior("normal(15, 20)".parse().unwrap());
        map(&model
            .set("mean.linear.elevation", slope)
            .set("mean.constant", level))
    };
    let known = fit(&y, Setting::fixed(-0.01));
    assert!(known.slopes().unwrap().is_empty());
    let less: Vec<f64> = y
        .iter()
        .zip(&h)
        .map(|(y, h)| y + 0.01 * (h - centre))
        .collect();
    let zero = fit(&less, Setting::fixed(0.0));
    let at = points(&["t", "elevation"], &[&[4.0], &[1500.0]]);
    let (a, b) = (
        known.predict(&at, Scale::Latent).unwrap(),
        zero.predict(&at, Scale::Latent).unwrap(),
    );
    close(a.mean()[0], b.mean()[0] - 0.01 * (1500.0 - centre), 1e-10);
    close(a.sd()[0], b.sd()[0], 1e-10);
    close(
        known.summary().log_evidence,
        zero.summary().log_evidence,
        1e-10,
    );
    // A prior that is narrow beside what rows tell is what is told.
    let narrow = fit(
        &y,
        Setting::prior("normal(-0.02, 0.00001)".parse().unwrap()),
    );
    let slope = &narrow.slopes().unwrap()[0];
    close(slope.mean, -0.02, 1e-2);
    close(slope.sd, 1e-5, 1e-2);
}
