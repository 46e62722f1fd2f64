//! Values behind rows: against sums over all functions, between the ends of what was reported,
//! with every kind of inference.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Censored, Dispersion, Gaussian, Interval, Laplace, Likelihood, NegativeBinomial, Ordinal,
    Poisson, Positive, Side, Thresholds,
};
use quadrat::linalg::{Cholesky, Mat};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Inducing, Inference, Mean, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::special::truncated_normal;
use quadrat::support::{Aggregate, Functionals};

const X: [f64; 4] = [0.0, 1.0, 1.7, 3.0];
const VARIANCE: f64 = 0.6;
const LENGTH: f64 = 1.5;

fn model(mean: f64) -> Model {
    Model::new(Kernel::matern32(["x"]))
        .mean(Mean::Fixed(mean))
        .set("matern32.variance", Setting::fixed(VARIANCE))
        .set("matern32.lengthscale.x", Setting::fixed(LENGTH))
}

fn fit(mean: f64, x: &[f64], rows: impl Into<Likelihood>, options: &FitOptions) -> Posterior {
    let table = Observations::new(Functionals::points("x", x).unwrap(), rows).unwrap();
    model(mean).observe(table).fit(options).unwrap()
}

/// Calls `each` with the values of the function at [`X`] and their prior probabilities, over a grid
/// of whitened values: steps of .4 standard deviations are exact to rounding for smooth functions.
fn functions(mean: f64, mut each: impl FnMut(&[f64], f64)) {
    let root = 3.0_f64.sqrt();
    let covariance = Mat::from_fn(4, 4, |i, j| {
        let r = root * (X[i] - X[j]).abs() / LENGTH;
        VARIANCE * (1.0 + r) * (-r).exp()
    });
    let factor = Cholesky::factor(covariance.as_ref()).unwrap();
    let steps: Vec<f64> = (-12..=12).map(|i| 0.4 * f64::from(i)).collect();
    for &a in &steps {
        for &b in &steps {
            for &c in &steps {
                for &d in &steps {
                    let z = [a, b, c, d];
                    let log: f64 = z.iter().map(|z| -0.5 * z * z).sum();
                    let mut f = factor.multiply(&z);
                    f.iter_mut().for_each(|f| *f += mean);
                    each(&f, log.exp());
                }
            }
        }
    }
}

/// Probabilities of 0, 1, .. up to `most`.
fn poisson(mean: f64, most: usize) -> Vec<f64> {
    let mut p = vec![(-mean).exp()];
    for k in 1..=most {
        p.push(p[k - 1] * mean / k as f64);
    }
    p
}

/// Two counties say `<6`: their values, and their sum, are those of all functions that there are.
#[test]
fn hidden_counts_are_what_all_functions_say() {
    let (lower, upper) = (vec![7.0, 0.0, 0.0, 3.0], vec![7.0, 5.0, 5.0, 3.0]);
    let exposure = vec![1.0, 1.0, 2.0, 1.0];
    let rows = Poisson::ranges(lower, upper, exposure.clone(), Link::Exp).unwrap();
    let mean = 4.0_f64.ln();
    let mut joint = [[0.0; 6]; 6];
    functions(mean, |f, weight| {
        let of = |i: usize, most: usize| poisson(exposure[i] * f[i].exp(), most);
        let (a, b) = (of(1, 5), of(2, 5));
        let known = weight * of(0, 7)[7] * of(3, 3)[3];
        for (row, p) in joint.iter_mut().zip(&a) {
            row.iter_mut()
                .zip(&b)
                .for_each(|(cell, q)| *cell += known * p * q);
        }
    });
    let total: f64 = joint.iter().flatten().sum();
    let share = |i: usize, j: usize| joint[i][j] / total;
    let first: Vec<f64> = (0..6).map(|i| (0..6).map(|j| share(i, j)).sum()).collect();
    let second: Vec<f64> = (0..6).map(|j| (0..6).map(|i| share(i, j)).sum()).collect();
    let both: Vec<f64> = (0..11)
        .map(|s| {
            (0..6)
                .filter(|i| *i <= s && s - i < 6)
                .map(|i| share(i, s - i))
                .sum()
        })
        .collect();
    let moments = |p: &[f64]| {
        let at = || p.iter().zip(0..).map(|(p, y)| (*p, f64::from(y)));
        let mean: f64 = at().map(|(p, y)| p * y).sum();
        let square: f64 = at().map(|(p, y)| p * (y - mean).powi(2)).sum();
        (mean, square.sqrt())
    };
    let ep = FitOptions::default().with_inference(Inference::Sites(Method::Ep));
    for (options, near) in [
        // Expectation propagation is some permille from the truth. Laplace's method takes modes for
        // means, of the other rows too.
        (ep, 0.01),
        (
            FitOptions::default().with_inference(Inference::Sites(Method::Laplace)),
            0.15,
        ),
    ] {
        let posterior = fit(mean, &X, rows.clone(), &options);
        let behind = posterior.behind(0).unwrap();
        let values = behind.values(&[0, 1, 2, 3]).unwrap();
        for (row, right) in [(1, &first), (2, &second)] {
            let (mean, sd) = moments(right);
            // Within `near`, explained above: found are 0.0019 of a mean and of an sd.
            assert!(
                (values.mean()[row] - mean).abs() < near,
                "{row} {mean} {:?}",
                values.mean()
            );
            assert!(
                (values.sd()[row] - sd).abs() < near,
                "{row} {sd} {:?}",
                values.sd()
            );
            let mut below = 0.0;
            for (y, p) in right.iter().enumerate() {
                below += p;
                let found = values.cdf(y as f64)[row];
                // As above.
                assert!((found - below).abs() < near, "{row} {y}: {found} {below}");
            }
        }
        assert_eq!((values.mean()[0], values.sd()[0]), (7.0, 0.0));
        let sums = behind
            .totals(&[vec![0, 1, 2, 3], vec![0, 3], vec![1]], 3)
            .unwrap();
        let (mean, sd) = moments(&both);
        // As above, of two rows.
        assert!(
            (sums.mean()[0] - 10.0 - mean).abs() < 2.0 * near,
            "{mean} {:?}",
            sums.mean()
        );
        // Of 10,000 draws: three standard errors of .7 percent.
        assert!(
            (sums.sd()[0] / sd - 1.0).abs() < 0.022 + near,
            "{sd} {:?}",
            sums.sd()
        );
        let mut below = 0.0;
        for (y, p) in both.iter().enumerate() {
            below += p;
            let found = 1.0 - sums.exceedance(10.0 + y as f64)[0];
            // Three standard errors of a probability from 10,000 draws.
            assert!((found - below).abs() < 0.015 + near, "{y}: {found} {below}");
        }
        assert_eq!(
            (sums.mean()[1], sums.sd()[1], sums.quantile(0.9)[1]),
            (10.0, 0.0, 10.0)
        );
        assert_eq!(sums.quantile(0.3)[2], values.quantile(0.3)[1]);
    }
}

/// Two values lie below .8: a truncated value of every function, added up.
#[test]
fn values_below_a_limit_are_what_all_functions_say() {
    let noise = 0.04_f64;
    let sides = [Side::None, Side::Left, Side::Left, Side::None];
    let rows = |noise: f64| {
        let known = Noise::Known(vec![noise; 4]);
        Censored::new(vec![1.5, 0.8, 0.8, 0.9], &sides, known).unwrap()
    };
    let (mut total, mut sums, mut squares, mut product) = (0.0, [0.0; 2], [0.0; 2], 0.0);
    let mut below = 0.0;
    functions(1.0, |f, weight| {
        let sd = noise.sqrt();
        let exact = |i: usize, y: f64| (-0.5 * ((y - f[i]) / sd).powi(2)).exp();
        let cut = |i: usize| truncated_normal(f64::NEG_INFINITY, (0.8 - f[i]) / sd);
        let (a, b) = (cut(1), cut(2));
        let weight = weight * exact(0, 1.5) * exact(3, 0.9) * (a.log_z + b.log_z).exp();
        if weight == 0.0 {
            return;
        }
        total += weight;
        let means = [f[1] + sd * a.mean, f[2] + sd * b.mean];
        let variances = [noise * a.variance, noise * b.variance];
        for k in 0..2 {
            sums[k] += weight * means[k];
            squares[k] += weight * (variances[k] + means[k] * means[k]);
        }
        product += weight * means[0] * means[1];
        let half = truncated_normal(f64::NEG_INFINITY, (0.5 - f[1]) / sd).log_z - a.log_z;
        below += weight * half.exp();
    });
    let mean = sums.map(|s| s / total);
    let sd = [0, 1].map(|k| (squares[k] / total - mean[k] * mean[k]).sqrt());
    let correlation = (product / total - mean[0] * mean[1]) / (sd[0] * sd[1]);
    let posterior = fit(1.0, &X, rows(noise), &FitOptions::default());
    let behind = posterior.behind(0).unwrap();
    let values = behind.values(&[1, 2]).unwrap();
    for k in 0..2 {
        // Expectation propagation takes two percent from these sds of .3.
        assert!(
            (values.mean()[k] - mean[k]).abs() < 0.004,
            "{mean:?} {:?}",
            values.mean()
        );
        assert!(
            (values.sd()[k] - sd[k]).abs() < 0.008,
            "{sd:?} {:?}",
            values.sd()
        );
    }
    // Expectation propagation again: found is 0.0011.
    assert!(
        (values.cdf(0.5)[0] - below / total).abs() < 0.006,
        "{}",
        below / total
    );
    assert!(values.quantile(0.999).iter().all(|q| *q <= 0.8));
    let drawn = behind.sample(&[1, 2], 4000, 7).unwrap();
    let row = |k: usize| (0..4000).map(|d| drawn[(k, d)]).collect::<Vec<f64>>();
    let (a, b) = (row(0), row(1));
    assert!(a.iter().chain(&b).all(|y| *y <= 0.8));
    let average = |v: &[f64]| v.iter().sum::<f64>() / 4000.0;
    let (ma, mb) = (average(&a), average(&b));
    // Three standard errors of 4,000 draws.
    assert!((ma - mean[0]).abs() < 0.004 + 3.0 * sd[0] / 63.0);
    let cross: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a - ma) * (b - mb)).collect();
    let found = average(&cross) / (sd[0] * sd[1]);
    // The same of a correlation, and what the copula leaves of the dependence of tails.
    assert!(
        (found - correlation).abs() < 0.05 + 0.05,
        "{found} {correlation}"
    );
}

/// No quantile and no draw lies outside of what the row reported, whatever the inference.
#[test]
fn nothing_lies_outside_of_what_was_reported() {
    let x: Vec<f64> = (0..4).map(|i| 0.4 * f64::from(i)).collect();
    let ends = |i: usize| match i % 4 {
        0 => (0.0, 4.0),
        1 => (15.0, f64::INFINITY),
        2 => (6.0, 6.0),
        _ => (3.0, 20.0),
    };
    let (lower, upper): (Vec<f64>, Vec<f64>) = (0..4).map(ends).unzip();
    let ones = vec![1.0; 4];
    let counts = Poisson::ranges(lower.clone(), upper.clone(), ones.clone(), Link::Exp).unwrap();
    let spread = NegativeBinomial::ranges(
        lower.clone(),
        upper.clone(),
        ones.clone(),
        Link::Exp,
        Dispersion::Known(0.4),
    );
    let noise = || Noise::Known(vec![1e-4; 4]);
    // Values of the function itself, of which 15 is no likely one.
    let fifth = |ends: &[f64]| ends.iter().map(|end| 0.2 * end).collect::<Vec<f64>>();
    let values = Interval::new(fifth(&lower), fifth(&upper), noise()).unwrap();
    let all: [(Likelihood, f64); 3] = [
        (counts.into(), 1.0),
        (spread.unwrap().into(), 1.0),
        (values.into(), 0.2),
    ];
    let ways = [
        FitOptions::default(),
        FitOptions::default().with_inference(Inference::Sites(Method::Laplace)),
        FitOptions::default().with_inference(Inference::Sites(Method::Variational)),
        FitOptions::default()
            .with_inference(Inference::Sparse)
            .with_inducing(Inducing::Number(3)),
    ];
    let rows: Vec<usize> = (0..4).collect();
    for (likelihood, unit) in &all {
        for options in &ways {
            let posterior = fit(1.5, &x, likelihood.clone(), options);
            let behind = posterior.behind(0).unwrap();
            let found = behind.values(&rows).unwrap();
            let drawn = behind.sample(&rows, 20, 1).unwrap();
            let name = likelihood.name();
            for row in 0..4 {
                let range = unit * lower[row]..=unit * upper[row];
                for p in [1e-6, 0.025, 0.5, 0.975, 1.0 - 1e-6] {
                    let q = found.quantile(p)[row];
                    assert!(range.contains(&q), "{name} {row} {p} {q}");
                }
                assert!(range.contains(&found.mean()[row]), "{name} {row}");
                assert_eq!(found.sd()[row] == 0.0, row % 4 == 2, "{name} {row}");
                for draw in 0..20 {
                    assert!(range.contains(&drawn[(row, draw)]), "{name} {row} {draw}");
                }
            }
            let sums = behind.totals(std::slice::from_ref(&rows), 1).unwrap();
            let same: f64 = (0..4).map(|row| drawn[(row, 4)]).sum();
            // The same numbers added up in another order.
            assert!((sums.draws(5)[0][4] / same - 1.0).abs() < 1e-12, "{name}");
        }
    }
}

/// Ranks with known thresholds are intervals between these.
#[test]
fn ranks_are_values_between_their_thresholds() {
    let noise = || Noise::Known(vec![0.25; 4]);
    let thresholds = Thresholds::Known(vec![0.5, 1.2]);
    let ranks = Ordinal::new(vec![1, 2, 3, 2], thresholds, noise()).unwrap();
    let infinite = f64::INFINITY;
    let (lower, upper) = (
        vec![-infinite, 0.5, 1.2, 0.5],
        vec![0.5, 1.2, infinite, 1.2],
    );
    let between = Interval::new(lower, upper, noise()).unwrap();
    let options = FitOptions::default();
    let [a, b] = [Likelihood::from(ranks), between.into()].map(|rows| {
        let posterior = fit(0.8, &X, rows, &options);
        let values = posterior.behind(0).unwrap().values(&[0, 1, 2, 3]).unwrap();
        [
            values.mean().to_vec(),
            values.sd().to_vec(),
            values.quantile(0.9),
        ]
    });
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        // Both fits stop within 1e-6 of an sd.
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

/// Noise that is known is taken away: a noisy total of people is the total, with the joint
/// distribution of the function; learned noise is the value's own.
#[test]
fn known_noise_is_taken_away() {
    let set = || Functionals::intervals("x", &[(0.0, 1.0), (1.0, 2.5), (2.5, 4.0)], Aggregate::Sum);
    let y = vec![4.0, -1.0, 5.0];
    let fit = |rows: Likelihood| {
        let table = Observations::new(set().unwrap(), rows).unwrap();
        model(2.0)
            .observe(table)
            .fit(&FitOptions::default())
            .unwrap()
    };
    let known = Noise::Known(vec![2.0, 1.0, 0.0]);
    for rows in [
        Likelihood::from(Gaussian::new(y.clone(), known).unwrap()),
        Laplace::new(y.clone(), vec![1.0, 0.7, 0.5]).unwrap().into(),
    ] {
        let is_exact = rows.name() == "gaussian";
        let posterior = fit(rows);
        let at = set().unwrap();
        let function = posterior.predict(&at, Scale::Response).unwrap();
        let behind = posterior.behind(0).unwrap();
        let values = behind.values(&[0, 1, 2]).unwrap();
        let rest = if is_exact { 0..2 } else { 0..3 };
        for row in rest {
            // The same numbers by two ways.
            assert!((values.mean()[row] - function.mean()[row]).abs() < 1e-9);
            assert!((values.sd()[row] - function.sd()[row]).abs() < 1e-7);
        }
        if is_exact {
            assert_eq!((values.mean()[2], values.sd()[2]), (5.0, 0.0));
        }
        let sums = behind.totals(&[vec![0, 1]], 5).unwrap();
        let joint = posterior.covariance(&at).unwrap();
        let sd = (joint[(0, 0)] + 2.0 * joint[(0, 1)] + joint[(1, 1)]).sqrt();
        // Three standard errors of the sd of 10,000 draws.
        assert!(
            (sums.sd()[0] / sd - 1.0).abs() < 0.022,
            "{sd} {:?}",
            sums.sd()
        );
        let above = behind.non_negative().values(&[1]).unwrap();
        let truncated = function.clone().non_negative();
        assert!((above.mean()[0] - truncated.mean()[1]).abs() < 1e-7);
        // Both are quantiles of one truncated normal distribution, by the same search.
        assert!((above.quantile(0.975)[0] - truncated.quantile(0.975)[1]).abs() < 1e-6);
    }
    // Of noise that is known and learned the known part goes: value = function + learned noise.
    let both = Gaussian::new(y.clone(), Noise::KnownPlusLearned(vec![2.0, 1.0, 3.0])).unwrap();
    let table = Observations::new(set().unwrap(), both).unwrap();
    let learned = 0.5;
    let posterior = model(2.0)
        .observe(table)
        .set("noise.variance", Setting::fixed(learned))
        .fit(&FitOptions::default())
        .unwrap();
    let f = posterior.predict(&set().unwrap(), Scale::Response).unwrap();
    let values = posterior.behind(0).unwrap().values(&[0]).unwrap();
    let share = learned / (learned + 2.0);
    let mean = f.mean()[0] + share * (y[0] - f.mean()[0]);
    let variance = ((1.0 - share) * f.sd()[0]).powi(2) + share * 2.0;
    // The same product of normal densities, by another formula: some roundings.
    assert!((values.mean()[0] - mean).abs() < 1e-9);
    assert!((values.sd()[0] - variance.sqrt()).abs() < 1e-9);
}

/// Hidden counts over boxes: totals after a link, with draws that meet what rows report.
#[test]
fn hidden_counts_over_boxes_lie_in_their_range() {
    let edges = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)];
    let set = Functionals::intervals("x", &edges, Aggregate::Sum).unwrap();
    let (lower, upper) = (vec![12.0, 0.0, 0.0, 9.0], vec![12.0, 4.0, 4.0, 9.0]);
    let rows = Poisson::ranges(lower, upper, vec![1.0; 4], Link::Exp).unwrap();
    let table = Observations::new(set, rows).unwrap();
    let posterior = model(1.8)
        .observe(table)
        .fit(&FitOptions::default())
        .unwrap();
    let behind = posterior.behind(0).unwrap();
    let values = behind.values(&[1, 2]).unwrap();
    let sums = behind.totals(&[vec![1, 2]], 1).unwrap();
    for row in 0..2 {
        assert!(values.mean()[row] > 2.0 && values.quantile(0.9999)[row] <= 4.0);
    }
    // Two cells of at most four, of rates that say that neither is empty.
    let (lower, upper) = (sums.quantile(0.025)[0], sums.quantile(0.9999)[0]);
    assert!(upper <= 8.0 && lower >= 1.0, "{lower} {upper}");
    let drawn = behind.sample(&[1, 2], 4000, 1).unwrap();
    let average = (0..4000)
        .map(|d| drawn[(0, d)] + drawn[(1, d)])
        .sum::<f64>()
        / 4000.0;
    // Draws of totals and their marginals agree to some hundredths of a count.
    assert!(
        (average - sums.mean()[0]).abs() < 0.1,
        "{average} {:?}",
        sums.mean()
    );
}

#[test]
fn what_cannot_be_told_is_refused() {
    let posterior = fit(
        1.0,
        &X,
        Poisson::new(vec![1.0; 4], vec![1.0; 4], Link::Exp).unwrap(),
        &FitOptions::default(),
    );
    assert!(posterior.behind(1).is_err());
    assert!(posterior.behind(0).unwrap().values(&[4]).is_err());
    let exact = posterior
        .behind(0)
        .unwrap()
        .totals(&[vec![0, 3]], 1)
        .unwrap();
    assert_eq!(
        (exact.mean()[0], exact.draws(2)[0].clone()),
        (2.0, vec![2.0, 2.0])
    );
    let at = || Functionals::points("x", &X).unwrap();
    let values = Observations::gaussian(at(), vec![1.0; 4], Noise::Known(vec![0.1; 4])).unwrap();
    let bounds = Observations::new(at(), Positive::new(4, 0.0, 0.1).unwrap()).unwrap();
    let posterior = model(1.0)
        .observe(values)
        .observe(bounds)
        .fit(&FitOptions::default())
        .unwrap();
    let error = posterior.behind(1).unwrap_err().to_string();
    assert!(
        error.contains("ask for a table that reports something"),
        "{error}"
    );
}
