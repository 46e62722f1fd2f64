//! Effects of labels: random intercepts by hand, functions of their own, inducing points.

use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Mean, Model, Noise, Observations, Posterior, Scale,
    Setting,
};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn map() -> FitOptions {
    FitOptions::default().with_hyperparameters(Hyperparameters::Map)
}

/// `y_ij = m + b_i + e_ij`: the best linear unbiased predictor of `b_i` is
/// `n_i v / (n_i v + s^2)` of the average residual of its group, with the variance
/// `v s^2 / (n_i v + s^2)`.
#[test]
fn random_intercepts_are_those_by_hand() {
    let groups: [&[f64]; 3] = [&[3.1, 2.7, 3.6], &[1.2], &[2.0, 2.4]];
    let (mean, v, noise) = (2.5, 0.8, 0.3);
    let labels = [10.0, -2.0, 7.5];
    let pairs = || groups.iter().zip(labels);
    let site: Vec<f64> = pairs().flat_map(|(y, l)| vec![l; y.len()]).collect();
    let y: Vec<f64> = groups.concat();
    let rows = Functionals::points("site", &site).unwrap();
    let known = Noise::Known(vec![noise; y.len()]);
    let posterior = Model::new(Kernel::iid("site"))
        .mean(Mean::Fixed(mean))
        .set("iid.variance", Setting::fixed(v))
        .observe(Observations::gaussian(rows, y.clone(), known).unwrap())
        .fit(&map())
        .unwrap();
    let at = Functionals::points("site", &[10.0, -2.0, 7.5, 8.0]).unwrap();
    let found = posterior.predict(&at, Scale::Latent).unwrap();
    let mut log_evidence = 0.0;
    for (i, own) in groups.iter().enumerate() {
        let n = own.len() as f64;
        let average = own.iter().sum::<f64>() / n;
        let share = n * v / (n * v + noise);
        let b = share * (average - mean);
        let variance = v * noise / (n * v + noise);
        // Rounding of a few operations on numbers of order one.
        assert!((found.mean()[i] - mean - b).abs() < 1e-12, "{i}");
        assert!((found.sd()[i].powi(2) - variance).abs() < 1e-12, "{i}");
        let square: f64 = own.iter().map(|y| (y - mean).powi(2)).sum();
        let quadratic = (square - share * n * (average - mean).powi(2)) / noise;
        let log_det = n * noise.ln() + (n * v / noise).ln_1p();
        log_evidence -= 0.5 * (quadratic + log_det + n * (2.0 * std::f64::consts::PI).ln());
    }
    assert!((posterior.summary().log_evidence - log_evidence).abs() < 1e-11);
    // A label that was never observed: the prior.
    assert!((found.mean()[3] - mean).abs() < 1e-12);
    assert!((found.sd()[3].powi(2) - v).abs() < 1e-12);
    assert_eq!(posterior.new_labels(&at).unwrap(), [3]);
    assert!(posterior.extrapolation(&at).unwrap().is_empty());
}

/// The variance between the labels is learned: that of many effects, known almost exactly.
#[test]
fn the_variance_between_labels_is_learned() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut normal = || (0..12).map(|_| random.random_range(-0.5..0.5)).sum::<f64>();
    let effects: Vec<f64> = (0..200).map(|_| 0.7 * normal()).collect();
    let site: Vec<f64> = (0..400).map(|i| f64::from(i / 2)).collect();
    let y: Vec<f64> = (0..400)
        .map(|i| 5.0 + effects[i / 2] + 0.1 * normal())
        .collect();
    let rows = Functionals::points("site", &site).unwrap();
    let posterior = Model::new(Kernel::iid("site"))
        .observe(Observations::gaussian(rows, y, Noise::Learned).unwrap())
        .fit(&map())
        .unwrap();
    let all = &posterior.summary().hyperparameters;
    let value = |name: &str| all.iter().find(|h| h.name == name).unwrap().value;
    let mean = effects.iter().sum::<f64>() / 200.0;
    let spread = effects.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 200.0;
    // The sample variance of 200 effects, each seen twice with a fiftieth of their variance.
    assert!((value("iid.variance") / spread - 1.0).abs() < 0.03);
    assert!((value("noise.variance") / 0.01 - 1.0).abs() < 0.3);
}

/// `se(t) * iid(site)` is a model of every site alone.
#[test]
fn a_product_is_a_function_of_its_own_for_every_label() {
    let t: Vec<f64> = (0..18).map(|i| f64::from(i) * 0.37 % 5.0).collect();
    let site: Vec<f64> = (0..18).map(|i| f64::from(i % 3)).collect();
    let y: Vec<f64> = t
        .iter()
        .zip(&site)
        .map(|(t, s)| (t + s).sin() * (1.0 + s))
        .collect();
    let of = |keep: &dyn Fn(usize) -> bool, kernel: &str| -> Posterior {
        let mut rows = Functionals::new(vec!["t".into(), "site".into()]);
        let kept: Vec<usize> = (0..18).filter(|i| keep(*i)).collect();
        for &i in &kept {
            rows.push_point(&[t[i], site[i]]).unwrap();
        }
        let values = kept.iter().map(|&i| y[i]).collect();
        let known = Noise::Known(vec![0.04; kept.len()]);
        Model::new(kernel.parse().unwrap())
            .mean(Mean::Zero)
            .set("se.variance", Setting::fixed(1.7))
            .set("se.lengthscale.t", Setting::fixed(0.9))
            .observe(Observations::gaussian(rows, values, known).unwrap())
            .fit(&map())
            .unwrap()
    };
    let all = of(&|_| true, "se(t) * iid(site)");
    let mut sum = 0.0;
    for label in 0..3 {
        let own = of(&|i| i % 3 == label, "se(t)");
        sum += own.summary().log_evidence;
        let mut at = Functionals::new(vec!["t".into(), "site".into()]);
        for t in [0.3, 1.9, 4.4] {
            at.push_point(&[t, label as f64]).unwrap();
        }
        let a = all.predict(&at, Scale::Latent).unwrap();
        let b = own.predict(&at, Scale::Latent).unwrap();
        for i in 0..3 {
            // Twice the same factors, of eighteen rows of a condition of some 250: n eps times that
            // is 1e-12.
            assert!((a.mean()[i] - b.mean()[i]).abs() < 1e-11);
            assert!((a.sd()[i] - b.sd()[i]).abs() < 1e-11);
        }
    }
    // As above, of sums of some tens of nats.
    assert!((all.summary().log_evidence - sum).abs() < 1e-10);
}

#[test]
fn a_box_along_labels_is_refused_and_a_bag_of_several_is_not() {
    let mut wide = Functionals::new(vec!["site".into()]);
    wide.push_box(&[(1.0, 3.0)], Aggregate::Mean).unwrap();
    wide.push_point(&[2.0]).unwrap();
    let model = || {
        Model::new(Kernel::iid("site"))
            .mean(Mean::Zero)
            .set("iid.variance", Setting::fixed(2.0))
    };
    let known = || Noise::Known(vec![0.5; 2]);
    let table = Observations::gaussian(wide.clone(), vec![1.0, 2.0], known()).unwrap();
    let error = model().observe(table).fit(&map()).unwrap_err().to_string();
    for word in ["`iid(site)`", "row 0 is 2", "no width", "as a point"] {
        assert!(error.contains(word), "{word}: {error}");
    }
    let mut bags = Functionals::new(vec!["site".into()]);
    bags.push_nodes(&[vec![1.0], vec![2.0]], &[0.5, 0.5])
        .unwrap();
    bags.push_point(&[3.0]).unwrap();
    let table = Observations::gaussian(bags, vec![1.0, 2.0], known()).unwrap();
    let posterior = model().observe(table).fit(&map()).unwrap();
    assert!(posterior.predict(&wide, Scale::Latent).is_err());
    let at = Functionals::points("site", &[1.0]).unwrap();
    let found = posterior.predict(&at, Scale::Latent).unwrap();
    // The average of two has the variance 1; its covariance with each of them is 1.
    assert!((found.mean()[0] - 1.0 / 1.5).abs() < 1e-12);
    assert!((found.sd()[0].powi(2) - (2.0 - 1.0 / 1.5)).abs() < 1e-12);
}

/// With a point without a label every lengthscale or so, and one for every label, both functions
/// are in the span of the inducing points.
#[test]
fn few_inducing_points_tell_labels_from_the_function_beside_them() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let effects: Vec<f64> = (0..20).map(|_| random.random_range(-1.5..1.5)).collect();
    let mut rows = Functionals::new(vec!["x".into(), "site".into()]);
    let mut y = Vec::new();
    for i in 0..300 {
        let (x, site) = (random.random_range(0.0..8.0_f64), i % 20);
        rows.push_point(&[x, site as f64]).unwrap();
        y.push(x.sin() + effects[site] + 0.3 * random.random_range(-1.0..1.0));
    }
    let table = Observations::gaussian(rows, y, Noise::Known(vec![0.03; 300])).unwrap();
    let model = |kernel: &str| {
        let mut model = Model::new(kernel.parse().unwrap()).observe(table.clone());
        for (name, value) in [("se.variance", 1.0), ("se.lengthscale.x", 1.5)] {
            model = model.set(name, Setting::fixed(value));
        }
        model
    };
    let mut at = Functionals::new(vec!["x".into(), "site".into()]);
    for (x, site) in [(0.5, 0.0), (4.0, 7.0), (7.9, 19.0), (9.0, 3.0), (2.0, 99.0)] {
        at.push_point(&[x, site]).unwrap();
    }
    let sum = model("se(x) + iid(site)").set("iid.variance", Setting::fixed(0.8));
    let product = model("se(x) * iid(site)");
    for (model, count) in [(sum, 20 + 25), (product, 20 * 12)] {
        let exact = model.fit(&map()).unwrap();
        let inducing = map().with_inducing(Inducing::Number(count));
        let sparse = model.fit(&inducing).unwrap();
        assert_eq!(sparse.summary().inference, "sparse");
        let (a, b) = (
            exact.predict(&at, Scale::Latent).unwrap(),
            sparse.predict(&at, Scale::Latent).unwrap(),
        );
        for i in 0..5 {
            // Few inducing points leave a little: found are 8e-5 of the sd in means and 4e-6 in
            // sds.
            assert!(
                (a.mean()[i] - b.mean()[i]).abs() < 0.01 * a.sd()[i],
                "{count} {i}"
            );
            assert!((a.sd()[i] / b.sd()[i] - 1.0).abs() < 0.01, "{count} {i}");
        }
        let (a, b) = (exact.summary().log_evidence, sparse.summary().log_evidence);
        // A lower bound of the evidence, but for the jitter, close where they leave little.
        assert!(b < a + 1e-6 && a - b < 0.1, "{count}: {a} {b}");
        assert_eq!(sparse.new_labels(&at).unwrap(), [4]);
    }
    let error = model("se(x) + iid(site)")
        .fit(&map().with_inducing(Inducing::Number(15)))
        .unwrap_err()
        .to_string();
    for word in ["15 inducing points", "`iid`", "at least 21"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}
