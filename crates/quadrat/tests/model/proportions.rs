//! Successes among trials over boxes and bags: the probability is averaged after the sigmoid.

use std::time::Instant;

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Bernoulli, Binomial, Likelihood, Noise, Sigmoid};
use quadrat::linalg::{Cholesky, Mat};
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const SIGMOIDS: [Sigmoid; 2] = [Sigmoid::Logit, Sigmoid::Probit];

fn binomial(k: &[f64], n: &[f64], sigmoid: Sigmoid) -> Likelihood {
    Binomial::new(k.to_vec(), n.to_vec(), sigmoid)
        .unwrap()
        .into()
}

/// Bags of points of the line, by weights that are divided by their sum.
fn bags(all: &[&[(f64, f64)]]) -> Functionals {
    let mut set = Functionals::new(vec!["x".to_owned()]);
    for bag in all {
        let whole: f64 = bag.iter().map(|(_, w)| w).sum();
        let points: Vec<Vec<f64>> = bag.iter().map(|(x, _)| vec![*x]).collect();
        let weights: Vec<f64> = bag.iter().map(|(_, w)| w / whole).collect();
        set.push_nodes(&points, &weights).unwrap();
    }
    set
}

fn boxes(edges: &[(f64, f64)], aggregate: Aggregate) -> Functionals {
    Functionals::intervals("x", edges, aggregate).unwrap()
}

/// A prior whose hyperparameters are known.
fn known(variance: f64, lengthscale: f64, mean: f64) -> Model {
    Model::new(Kernel::matern32(["x"]))
        .mean(Mean::Fixed(mean))
        .set("matern32.variance", Setting::fixed(variance))
        .set("matern32.lengthscale.x", Setting::fixed(lengthscale))
}

fn fit(model: Model, set: Functionals, rows: Likelihood) -> Posterior {
    let table = Observations::new(set, rows).unwrap();
    model.observe(table).fit(&FitOptions::default()).unwrap()
}

const BAGS: [&[(f64, f64)]; 4] = [
    &[(0.0, 2.0), (0.4, 1.0), (1.1, 3.0)],
    &[(1.5, 1.0), (2.2, 1.0)],
    &[(2.4, 1.0), (3.3, 4.0), (3.9, 1.0)],
    &[(4.4, 1.0)],
];

/// Importance sampling over the nine places of the bags and a bag that nobody saw.
#[test]
fn answers_are_those_of_importance_sampling() {
    let unseen: &[(f64, f64)] = &[(0.4, 1.0), (2.2, 2.0), (3.3, 1.0)];
    let (k, n) = ([3.0, 11.0, 2.0, 0.0], [14.0, 15.0, 40.0, 3.0]);
    let (variance, lengthscale, level) = (1.4, 0.8, -0.4);
    let x: Vec<f64> = BAGS
        .iter()
        .flat_map(|bag| bag.iter().map(|p| p.0))
        .collect();
    let covariance = Mat::from_fn(9, 9, |i, j| {
        let r = 3f64.sqrt() * (x[i] - x[j]).abs() / lengthscale;
        variance * (1.0 + r) * (-r).exp()
    });
    let root = Cholesky::factor(covariance.as_ref()).unwrap();
    for sigmoid in SIGMOIDS {
        let model = known(variance, lengthscale, level);
        let posterior = fit(model, bags(&BAGS), binomial(&k, &n, sigmoid));
        assert_eq!(posterior.summary().inference, "laplace");
        let mut all: Vec<&[(f64, f64)]> = BAGS.to_vec();
        all.push(unseen);
        let got = posterior.predict(&bags(&all), Scale::Response).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (mut weights, mut seen) = (Vec::new(), Vec::new());
        for _ in 0..1_500_000 {
            let t: Vec<f64> = (0..9).map(|_| random.sample(StandardNormal)).collect();
            let f: Vec<f64> = root.multiply(&t).iter().map(|x| x + level).collect();
            let average = |bag: &[(f64, f64)]| {
                let whole: f64 = bag.iter().map(|p| p.1).sum();
                let at = |x0: f64| x.iter().position(|x| *x == x0).unwrap();
                let each = bag.iter().map(|(x, w)| w * sigmoid.value(f[at(*x)]));
                each.sum::<f64>() / whole
            };
            let p: Vec<f64> = all.iter().map(|bag| average(bag)).collect();
            let log: f64 = (0..4)
                .map(|r| k[r] * p[r].ln() + (n[r] - k[r]) * (-p[r]).ln_1p())
                .sum();
            weights.push(log.exp());
            seen.push(p);
        }
        let sum: f64 = weights.iter().sum();
        let effective = sum * sum / weights.iter().map(|w| w * w).sum::<f64>();
        // Means are known to .02 of their sds, and sds to 1.5 %.
        assert!(effective > 4000.0, "{effective}");
        for row in 0..5 {
            let each = || weights.iter().zip(&seen).map(|(w, p)| (w / sum, p[row]));
            let mean: f64 = each().map(|(w, p)| w * p).sum();
            let sd = each()
                .map(|(w, p)| w * (p - mean).powi(2))
                .sum::<f64>()
                .sqrt();
            let off = (got.mean()[row] - mean) / sd;
            let ratio = got.sd()[row] / sd;
            println!("{sigmoid:?} {row}: {mean:.4} +- {sd:.4}, off {off:.3} sd, sd x {ratio:.3}");
            // The errors of importance sampling, above, and 0.016 of an sd for some 4,000 draws:
            // found are 0.027 and 0.018.
            assert!(off.abs() < 0.05, "{sigmoid:?} {row}: {off}");
            assert!((ratio - 1.0).abs() < 0.05, "{sigmoid:?} {row}: {ratio}");
        }
    }
}

#[test]
fn a_bag_of_one_point_is_that_point() {
    let x = [0.0, 0.7, 1.9, 3.0];
    let points: Vec<[(f64, f64); 1]> = x.iter().map(|x| [(*x, 1.0)]).collect();
    let mut all: Vec<&[(f64, f64)]> = points.iter().map(|p| &p[..]).collect();
    // One that is none, so that rows are averages.
    all.push(&[(3.0, 1.0), (3.0, 1.0)]);
    let (k, n) = ([1.0, 4.0, 9.0, 0.0, 2.0], [5.0, 9.0, 9.0, 2.0, 3.0]);
    for sigmoid in SIGMOIDS {
        let one = fit(known(1.0, 1.0, 0.0), bags(&all), binomial(&k, &n, sigmoid));
        let at = Functionals::points("x", &[0.0, 0.7, 1.9, 3.0, 3.0]).unwrap();
        let laplace = FitOptions::default().with_inference(Inference::Sites(Method::Laplace));
        let table = Observations::new(at.clone(), binomial(&k, &n, sigmoid)).unwrap();
        let other = known(1.0, 1.0, 0.0).observe(table).fit(&laplace).unwrap();
        let off = one.summary().log_evidence - other.summary().log_evidence;
        // Both modes are found to 1e-9 of an sd.
        assert!(off.abs() < 1e-8, "{sigmoid:?}: {off}");
        // Weighted draws beside expectation propagation, which is right to a hundredth of an sd.
        let table = Observations::new(at.clone(), binomial(&k, &n, sigmoid)).unwrap();
        let ep = known(1.0, 1.0, 0.0)
            .observe(table)
            .fit(&FitOptions::default())
            .unwrap();
        let (a, b) = (
            one.predict(&bags(&all), Scale::Response).unwrap(),
            ep.predict(&at, Scale::Response).unwrap(),
        );
        for i in 0..5 {
            let off = (a.mean()[i] - b.mean()[i]) / b.sd()[i];
            // Hundredths of an sd on both sides, as above: found is 0.006.
            assert!(off.abs() < 0.05, "{sigmoid:?} {i}: {off}");
            // Nine of nine: a normal latent value is no skewed one.
            let ratio = a.sd()[i] / b.sd()[i];
            assert!((ratio - 1.0).abs() < 0.1, "{sigmoid:?} {i}: {ratio}");
        }
    }
}

fn is_fair(posterior: &Posterior, at: &Functionals, what: &str) {
    let p = posterior.predict(at, Scale::Response).unwrap();
    let levels = [0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995];
    let quantiles = levels.map(|level| p.quantile(level));
    for row in 0..at.len() {
        let own: Vec<f64> = quantiles.iter().map(|q| q[row]).collect();
        assert!(own.is_sorted(), "{what} {row}: {own:?}");
        let all = own.iter().chain([&p.mean()[row]]);
        for value in all {
            assert!((0.0..=1.0).contains(value), "{what} {row}: {value}");
        }
        assert!(p.sd()[row] <= 0.5, "{what} {row}: {}", p.sd()[row]);
    }
}

#[test]
fn extremes_end_quickly_and_stay_within_zero_and_one() {
    let started = Instant::now();
    let edges = [(0.0, 1.0), (1.0, 2.0), (2.0, 4.0)];
    let asked = boxes(
        &[(0.0, 1.0), (0.5, 3.0), (2.0, 4.0), (9.0, 11.0)],
        Aggregate::Mean,
    );
    let many = 1e6;
    for sigmoid in SIGMOIDS {
        for (k, n) in [
            ([0.0, 0.0, 0.0], [10.0, 20.0, 30.0]),
            ([10.0, 20.0, 30.0], [10.0, 20.0, 30.0]),
            ([0.0, 20.0, 0.0], [10.0, 20.0, 30.0]),
            ([1.0, 0.0, 1.0], [1.0, 1.0, 1.0]),
            ([0.0, 0.0, 0.0], [many, many, many]),
            ([many, 0.0, many], [many, many, many]),
            ([3.0, 7.0, many - 1.0], [many, many, many]),
            ([0.0, 0.0, 1.0], [0.0, 0.0, 2.0]),
        ] {
            for variance in [0.1, 4.0] {
                let model = known(variance, 1.0, 0.0);
                let rows = binomial(&k, &n, sigmoid);
                let posterior = fit(model, boxes(&edges, Aggregate::Mean), rows);
                is_fair(
                    &posterior,
                    &asked,
                    &format!("{sigmoid:?} {k:?} {n:?} {variance}"),
                );
            }
        }
        // One row, whose hyperparameters are known.
        let one = boxes(&[(0.0, 1.0)], Aggregate::Mean);
        let answer: Likelihood = Bernoulli::new(vec![true], sigmoid).into();
        let posterior = fit(known(1.0, 0.5, -1.0), one, answer);
        is_fair(&posterior, &asked, "one row");
    }
    // Some tenths of a second each in an optimised build.
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}

#[test]
fn rows_have_no_order_and_sums_are_those_of_parts() {
    let edges = [(0.0, 1.0), (1.0, 2.5), (2.5, 4.0)];
    let (k, n) = ([3.0, 14.0, 9.0], [20.0, 30.0, 45.0]);
    let sigmoid = Sigmoid::Logit;
    let rows = |order: [usize; 3]| {
        let (e, k, n) = (
            order.map(|i| edges[i]),
            order.map(|i| k[i]),
            order.map(|i| n[i]),
        );
        let rows = binomial(&k, &n, sigmoid);
        fit(known(1.0, 0.7, -0.5), boxes(&e, Aggregate::Mean), rows)
    };
    let (plain, other) = (rows([0, 1, 2]), rows([2, 0, 1]));
    let off = plain.summary().log_evidence - other.summary().log_evidence;
    // Modes are found to 1e-9 of an sd, and sums of another order differ by rounding.
    assert!(off.abs() < 1e-8, "{off}");
    let average = |posterior: &Posterior, edges: &[(f64, f64)]| {
        let at = boxes(edges, Aggregate::Mean);
        posterior.predict(&at, Scale::Response).unwrap()
    };
    let (a, b) = (average(&plain, &edges), average(&other, &edges));
    for i in 0..3 {
        // Other draws: means are known to some hundredths of their sds.
        assert!((a.mean()[i] - b.mean()[i]).abs() < 0.05 * a.sd()[i]);
    }
    // A union is the average of its parts by their lengths, and a sum so many times as much.
    let whole = average(&plain, &[(0.0, 4.0)]);
    let parts = (a.mean()[0] + 1.5 * a.mean()[1] + 1.5 * a.mean()[2]) / 4.0;
    // Draws are the same; the belief that stands for them has their mean.
    assert!(
        (whole.mean()[0] - parts).abs() < 1e-6,
        "{} {parts}",
        whole.mean()[0]
    );
    let sum = boxes(&[(0.0, 4.0)], Aggregate::Sum);
    let total = plain.predict(&sum, Scale::Response).unwrap();
    assert!((total.mean()[0] - 4.0 * whole.mean()[0]).abs() < 1e-12);
    // A product with four: no more than a rounding.
    assert!((total.sd()[0] - 4.0 * whole.sd()[0]).abs() < 1e-12);
    let ends = [total.quantile(0.9)[0], whole.quantile(0.9)[0]];
    assert!((ends[0] - 4.0 * ends[1]).abs() < 1e-12, "{ends:?}");
    let error = plain.predict(&sum, Scale::Observation).unwrap_err();
    assert!(error.to_string().contains("new observation"), "{error}");
    // Joint draws of averages are averages.
    let drawn = plain
        .sample_responses(&boxes(&edges, Aggregate::Mean), 200, 4)
        .unwrap();
    for i in 0..3 {
        let mean = (0..200).map(|d| drawn[(i, d)]).sum::<f64>() / 200.0;
        assert!((mean - a.mean()[i]).abs() < 4.0 * a.sd()[i] / 200f64.sqrt());
    }
    // New trials: binomial about an uncertain probability.
    let new = plain
        .predict_trials(&boxes(&edges, Aggregate::Mean), None, vec![50; 3])
        .unwrap();
    for i in 0..3 {
        let (p, sd) = (a.mean()[i], a.sd()[i]);
        let want = 50.0 * (p * (1.0 - p) - sd * sd) + 2500.0 * sd * sd;
        assert!((new.mean()[i] / (50.0 * p) - 1.0).abs() < 1e-6);
        assert!((new.sd()[i] / want.sqrt() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn points_and_areas_stand_in_one_study_and_other_engines_agree() {
    let edges = [(0.0, 1.0), (1.0, 2.5), (2.5, 4.0), (4.0, 6.0)];
    let (k, n) = ([6.0, 34.0, 29.0, 11.0], [60.0, 90.0, 85.0, 70.0]);
    let points = Functionals::points("x", &[0.5, 3.0, 5.0]).unwrap();
    let model = || {
        let areas = binomial(&k, &n, Sigmoid::Logit);
        let clinics = binomial(&[3.0, 12.0, 4.0], &[30.0, 30.0, 25.0], Sigmoid::Logit);
        let areas = Observations::new(boxes(&edges, Aggregate::Mean), areas).unwrap();
        let clinics = Observations::new(points.clone(), clinics).unwrap();
        known(1.0, 1.2, -1.0).observe(areas).observe(clinics)
    };
    let dense = model().fit(&FitOptions::default()).unwrap();
    let sparse = FitOptions::default().with_inference(Inference::Sparse);
    let sparse = model().fit(&sparse).unwrap();
    let at = boxes(&[(0.0, 1.0), (1.5, 3.5), (0.0, 6.0)], Aggregate::Mean);
    let (a, b) = (
        dense.predict(&at, Scale::Response).unwrap(),
        sparse.predict(&at, Scale::Response).unwrap(),
    );
    for i in 0..3 {
        let off = (a.mean()[i] - b.mean()[i]) / a.sd()[i];
        // One normal belief about the function in place of draws.
        assert!(off.abs() < 0.15, "{i}: {off}");
        let ratio = b.sd()[i] / a.sd()[i];
        assert!((0.85..1.2).contains(&ratio), "{i}: {ratio}");
    }
    // After a fit to points alone areas are answered too.
    let table = Observations::new(
        points.clone(),
        binomial(&[3.0, 12.0, 4.0], &[30.0, 30.0, 25.0], Sigmoid::Probit),
    )
    .unwrap();
    let alone = known(1.0, 1.2, -1.0)
        .observe(table)
        .fit(&FitOptions::default())
        .unwrap();
    is_fair(&alone, &at, "points alone");
    let narrow = boxes(&[(2.9999, 3.0001)], Aggregate::Mean);
    let (a, b) = (
        alone.predict(&narrow, Scale::Response).unwrap(),
        alone
            .predict(&Functionals::points("x", &[3.0]).unwrap(), Scale::Response)
            .unwrap(),
    );
    // A kink of the function of that width.
    assert!((a.mean()[0] - b.mean()[0]).abs() < 1e-4 * b.sd()[0]);
    assert!((a.sd()[0] / b.sd()[0] - 1.0).abs() < 1e-4);
}

#[test]
fn what_is_no_average_is_refused() {
    let edges = [(0.0, 1.0), (1.0, 2.5)];
    let rows = || binomial(&[1.0, 2.0], &[4.0, 9.0], Sigmoid::Logit);
    let sums = Observations::new(boxes(&edges, Aggregate::Sum), rows()).unwrap();
    let error = known(1.0, 1.0, 0.0)
        .observe(sums)
        .fit(&FitOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("no probability"), "{error}");
    let table = || Observations::new(boxes(&edges, Aggregate::Mean), rows()).unwrap();
    for method in [Method::Ep, Method::Variational] {
        let options = FitOptions::default().with_inference(Inference::Sites(method));
        let error = known(1.0, 1.0, 0.0)
            .observe(table())
            .fit(&options)
            .unwrap_err();
        assert!(
            error.to_string().contains("use auto, laplace or sparse"),
            "{error}"
        );
    }
    let at = Functionals::points("x", &[0.0]).unwrap();
    let value = Observations::gaussian(at, vec![1.0], Noise::Known(vec![0.1])).unwrap();
    let error = known(1.0, 1.0, 0.0)
        .observe(table())
        .observe(value)
        .fit(&FitOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("beside values"), "{error}");
    assert!(Binomial::new(vec![5.0], vec![4.0], Sigmoid::Logit).is_err());
    // Hyperparameters of one row cannot be learned.
    let one = Observations::new(
        boxes(&edges[..1], Aggregate::Mean),
        binomial(&[1.0], &[4.0], Sigmoid::Logit),
    );
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let model = Model::new(Kernel::matern32(["x"])).observe(one.unwrap());
    assert!(model.fit(&options).is_err());
}
