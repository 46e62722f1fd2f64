//! Inference through inducing points: against exact inference, on simulated bags, saved and loaded.

use quadrat::inference::sparse::{LogSum, Within};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Dispersion, Exponential, Likelihood, NegativeBinomial, Poisson,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inducing, Inference, Mean, Model, Noise, Observations, Posterior,
    Scale, Setting,
};
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::draw;

pub fn map() -> FitOptions {
    FitOptions::default().with_hyperparameters(Hyperparameters::Map)
}

pub fn wave(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let x: Vec<f64> = (0..n).map(|_| random.random_range(0.0..8.0)).collect();
    let y = x
        .iter()
        .map(|x| 2.0 + x.sin() + 0.3 * random.random_range(-1.0..1.0));
    let y = y.collect();
    (x, y)
}

#[test]
fn values_with_every_point_inducing_are_exact_inference() {
    let (x, y) = wave(40);
    let supports = Functionals::points("x", &x).unwrap();
    let model = Model::new(Kernel::se(["x"]))
        .observe(Observations::gaussian(supports, y, Noise::Learned).unwrap());
    let exact = model.fit(&map()).unwrap();
    let sparse = model
        .fit(&map().with_inducing(Inducing::Number(40)))
        .unwrap();
    assert_eq!(sparse.summary().inference, "sparse");
    assert_eq!(sparse.summary().evidence, "elbo");
    assert!(sparse.summary().converged);
    // The search ends where an iteration gains less than a thousandth of a nat.
    let (a, b) = (exact.summary().log_evidence, sparse.summary().log_evidence);
    assert!((a - b).abs() < 5e-3, "{a} {b}");
    let at = Functionals::points("x", &[-1.0, 0.5, 3.3, 7.0, 9.0]).unwrap();
    for scale in [Scale::Latent, Scale::Observation] {
        let (p, q) = (
            exact.predict(&at, scale).unwrap(),
            sparse.predict(&at, scale).unwrap(),
        );
        for i in 0..5 {
            // Hyperparameters agree to a hundredth of their own uncertainty.
            assert!(
                (p.mean()[i] - q.mean()[i]).abs() < 0.02 * p.sd()[i],
                "{scale:?} {i}"
            );
            assert!((p.sd()[i] / q.sd()[i] - 1.0).abs() < 0.02, "{scale:?} {i}");
        }
    }
    let names = |p: &Posterior| -> Vec<String> {
        p.summary()
            .hyperparameters
            .iter()
            .map(|h| h.name.clone())
            .collect()
    };
    assert_eq!(names(&exact), names(&sparse));
    for (a, b) in exact
        .summary()
        .hyperparameters
        .iter()
        .zip(&sparse.summary().hyperparameters)
    {
        // The search ends where little is left to gain, as above: found is 0.001 of the interval.
        assert!(
            (a.value - b.value).abs() < 0.05 * (a.upper - a.lower),
            "{a:?} {b:?}"
        );
        assert!(b.lower < b.value && b.value < b.upper, "{b:?}");
    }
    // Fewer inducing points: a smaller bound.
    let few = model
        .fit(&map().with_inducing(Inducing::Number(5)))
        .unwrap();
    assert!(few.summary().log_evidence < b - 0.1);
}

/// At default settings and the same hyperparameters: the log evidence in nats, all rows together,
/// and means and sds of predictions over the sd of the function.
#[test]
fn all_points_as_inducing_points_are_exact_to_a_millionth() {
    let (x, y) = wave(40);
    let supports = Functionals::points("x", &x).unwrap();
    let at = Functionals::points("x", &[-1.0, 0.5, 3.3, 7.0, 9.0]).unwrap();
    for (expression, leaf) in [("se(x)", "se"), ("matern32(x)", "matern32")] {
        for lengthscale in [0.3, 1.5, 8.0] {
            let table = Observations::gaussian(supports.clone(), y.clone(), Noise::Learned);
            let model = Model::new(expression.parse().unwrap())
                .observe(table.unwrap())
                .set(&format!("{leaf}.variance"), Setting::fixed(1.0))
                .set(
                    &format!("{leaf}.lengthscale.x"),
                    Setting::fixed(lengthscale),
                )
                .set("noise.variance", Setting::fixed(0.03));
            let exact = model.fit(&map()).unwrap();
            let sparse = model
                .fit(&map().with_inducing(Inducing::Number(40)))
                .unwrap();
            // What a jitter of 1e-10 takes from the bound: 1e-10 of the variance, twice over the
            // noise, of 40 rows.
            let (a, b) = (exact.summary().log_evidence, sparse.summary().log_evidence);
            assert!((a - b).abs() < 1e-6, "{expression} {lengthscale}: {a} {b}");
            assert_eq!(sparse.summary().jitter, 0.0);
            for scale in [Scale::Latent, Scale::Observation] {
                let p = exact.predict(&at, scale).unwrap();
                let q = sparse.predict(&at, scale).unwrap();
                for i in 0..5 {
                    let off = [p.mean()[i] - q.mean()[i], p.sd()[i] - q.sd()[i]];
                    // The jitter of 1e-10 again.
                    assert!(
                        off.iter().all(|off| off.abs() < 1e-6),
                        "{expression} {lengthscale} {scale:?} {i}: {off:?}"
                    );
                }
            }
        }
    }
}

/// Where every point is inducing, at fixed hyperparameters.
#[test]
fn answers_of_sites_are_those_of_dense_variational_inference() {
    let (x, y) = wave(30);
    let supports = Functionals::points("x", &x).unwrap();
    let answers: Vec<bool> = y.iter().map(|y| *y > 2.0).collect();
    let counts: Vec<f64> = y.iter().map(|y| y.exp().floor()).collect();
    let tables: [Likelihood; 2] = [
        Bernoulli::new(answers, quadrat::likelihood::Sigmoid::Probit).into(),
        Poisson::new(counts, vec![1.0; 30], Link::Exp)
            .unwrap()
            .into(),
    ];
    for table in tables {
        let name = table.name();
        let model = Model::new(Kernel::se(["x"]))
            .mean(Mean::Fixed(0.3))
            .observe(Observations::new(supports.clone(), table).unwrap())
            .set("se.variance", Setting::fixed(1.5))
            .set("se.lengthscale.x", Setting::fixed(1.2));
        let dense = quadrat::inference::sites::Method::Variational;
        let dense = model
            .fit(&map().with_inference(Inference::Sites(dense)))
            .unwrap();
        let sparse = model
            .fit(&map().with_inducing(Inducing::Number(30)))
            .unwrap();
        let (a, b) = (dense.summary().log_evidence, sparse.summary().log_evidence);
        // The tolerances of both searches for the belief.
        assert!((a - b).abs() < 1e-5, "{name}: {a} {b}");
        let at = Functionals::points("x", &[0.5, 3.3, 7.0]).unwrap();
        let (p, q) = (
            dense.predict(&at, Scale::Response).unwrap(),
            sparse.predict(&at, Scale::Response).unwrap(),
        );
        for i in 0..3 {
            assert!(
                (p.mean()[i] - q.mean()[i]).abs() < 1e-3 * p.sd()[i],
                "{name} {i}"
            );
            // As above: tolerances of both searches.
            assert!((p.sd()[i] / q.sd()[i] - 1.0).abs() < 1e-3, "{name} {i}");
        }
    }
}

/// Bags of points along a line with a smooth rate, and counts of them.
pub struct Bagged {
    pub bags: Functionals,
    /// Points and weights of every bag.
    parts: Vec<(Vec<f64>, Vec<f64>)>,
    pub counts: Vec<f64>,
    rate: fn(f64) -> f64,
}

impl Bagged {
    pub fn new(count: usize, size: usize, rate: fn(f64) -> f64, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bags = Functionals::new(vec!["x".into()]);
        let (mut counts, mut parts) = (Vec::new(), Vec::new());
        for bag in 0..count {
            let centre = 10.0 * (bag as f64 + random.random_range(0.0..1.0)) / count as f64;
            let points: Vec<Vec<f64>> = (0..size)
                .map(|_| vec![centre + 0.6 * random.random_range(-1.0..1.0)])
                .collect();
            let weights: Vec<f64> = (0..size).map(|_| random.random_range(0.5..1.5)).collect();
            let mean = points.iter().zip(&weights).map(|(x, w)| w * rate(x[0]));
            counts.push(draw(&mut random, mean.sum()));
            bags.push_nodes(&points, &weights).unwrap();
            parts.push((points.iter().map(|x| x[0]).collect(), weights));
        }
        Self {
            bags,
            parts,
            counts,
            rate,
        }
    }

    pub fn table(&self, link: Link) -> Observations {
        let exposure = vec![1.0; self.counts.len()];
        let table = Poisson::new(self.counts.clone(), exposure, link).unwrap();
        Observations::new(self.bags.clone(), table).unwrap()
    }
}

pub fn rate(x: f64) -> f64 {
    (1.2 + 0.8 * x.sin()) * (1.0 + 0.1 * x)
}

#[test]
fn rates_of_points_are_found_from_counts_of_bags_under_every_link() {
    for link in [Link::Exp, Link::Square, Link::Softplus] {
        let (mut inside, mut all, mut squares, mut flat) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..3 {
            let data = Bagged::new(60, 20, rate, 10 + seed);
            let model = Model::new(Kernel::se(["x"])).observe(data.table(link));
            let posterior = model
                .fit(&map().with_inducing(Inducing::Number(25)))
                .unwrap();
            let summary = posterior.summary();
            assert!(summary.converged, "{:?}", summary.warnings);
            assert_eq!(
                (summary.rows, summary.structure.as_str()),
                (60, "inducing points")
            );
            let x: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i) + 0.1).collect();
            let at = Functionals::points("x", &x).unwrap();
            let p = posterior.predict(&at, Scale::Response).unwrap();
            let (lower, upper) = (p.quantile(0.05), p.quantile(0.95));
            for (i, x) in x.iter().enumerate() {
                let truth = (data.rate)(*x);
                inside += f64::from(u8::from(lower[i] <= truth && truth <= upper[i]));
                squares += (p.mean()[i] - truth).powi(2);
                flat += (1.8 - truth).powi(2);
                all += 1.0;
            }
            // The bags observed: totals, quantiles and new counts.
            let totals = posterior.predict(&data.bags, Scale::Response).unwrap();
            let again = posterior.predict(&data.bags, Scale::Observation).unwrap();
            let mut score = 0.0;
            for (i, count) in data.counts.iter().enumerate() {
                score += (totals.mean()[i] - count).powi(2) / totals.mean()[i];
                let want = (totals.sd()[i].powi(2) + totals.mean()[i]).sqrt();
                assert!((again.sd()[i] / want - 1.0).abs() < 1e-3);
            }
            // Pearson's statistic of 60 counts with few parameters.
            assert!((25.0..90.0).contains(&score), "{link} {score}");
            let exceeds = totals.cdf(&totals.quantile(0.3));
            assert!(exceeds.iter().all(|p| (p - 0.3).abs() < 1e-6));
        }
        let coverage = inside / all;
        println!(
            "{link}: coverage of 90 % {coverage:.3}, error {:.3} of that of a constant",
            (squares / flat).sqrt()
        );
        // 120 places of three functions: some thirty independent ones.
        assert!((0.75..=1.0).contains(&coverage), "{link}: {coverage}");
        assert!(squares < 0.1 * flat, "{link}: {squares} {flat}");
    }
}

#[test]
fn draws_of_bags_are_the_sums_of_those_of_their_points_and_have_the_moments_predicted() {
    const DRAWS: usize = 4000;
    for link in [Link::Exp, Link::Square, Link::Softplus] {
        let data = Bagged::new(30, 15, rate, 4);
        let model = Model::new(Kernel::se(["x"])).observe(data.table(link));
        let posterior = model
            .fit(&map().with_inducing(Inducing::Number(20)))
            .unwrap();
        // Two bags, then the points of the first.
        let bags = data.bags.rows(&[7, 20]);
        let (x, weights) = &data.parts[7];
        let mut at = bags.clone();
        at.extend(&Functionals::points("x", x).unwrap()).unwrap();
        let draws = posterior.sample_responses(&at, DRAWS, 3).unwrap();
        assert_eq!((draws.nrows(), draws.ncols()), (2 + x.len(), DRAWS));
        for d in 0..DRAWS {
            let parts = (0..x.len()).map(|i| weights[i] * draws[(2 + i, d)]);
            let sum: f64 = parts.sum();
            // Sums of the same draws in another order.
            assert!((draws[(0, d)] / sum - 1.0).abs() < 1e-12, "{link} {d}");
        }
        let p = posterior.predict(&at, Scale::Response).unwrap();
        for row in 0..2 {
            let own: Vec<f64> = (0..DRAWS).map(|d| draws[(row, d)]).collect();
            let mean = own.iter().sum::<f64>() / DRAWS as f64;
            let square = own.iter().map(|t| (t - mean).powi(2)).sum::<f64>();
            let sd = (square / (DRAWS - 1) as f64).sqrt();
            // Standard errors of 4000 draws: 1.6 % of the sd for the mean, 1.1 % for the sd.
            assert!(
                (mean - p.mean()[row]).abs() < 5.0 * 0.016 * sd,
                "{link} {row}"
            );
            assert!((sd / p.sd()[row] - 1.0).abs() < 5.0 * 0.011, "{link} {row}");
        }
        let again = posterior.sample_responses(&at, DRAWS, 3).unwrap();
        assert_eq!(draws, again);
        // Points that are far too many to be drawn together.
        let many: Vec<f64> = (0..4001).map(|i| f64::from(i) * 1e-3).collect();
        let many = Functionals::points("x", &many).unwrap();
        let error = posterior.sample_responses(&many, 1, 3).unwrap_err();
        assert!(error.to_string().contains("4001"), "{error}");
    }
}

#[test]
fn draws_of_values_are_those_of_the_function_and_of_probabilities_are_refused() {
    let (x, y) = wave(40);
    let supports = Functionals::points("x", &x).unwrap();
    let at = Functionals::points("x", &[0.5, 3.0]).unwrap();
    let values = Observations::gaussian(supports.clone(), y.clone(), Noise::Learned).unwrap();
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(values)
        .fit(&map())
        .unwrap();
    let (latent, response) = (
        posterior.sample(&at, 10, 2).unwrap(),
        posterior.sample_responses(&at, 10, 2).unwrap(),
    );
    assert_eq!(latent, response);
    let answers = y.iter().map(|y| *y > 2.0).collect();
    let answers = Bernoulli::new(answers, quadrat::likelihood::Sigmoid::Logit);
    let answers = Observations::new(supports, answers).unwrap();
    let posterior = Model::new(Kernel::se(["x"]))
        .observe(answers)
        .fit(&map())
        .unwrap();
    // Draws of probabilities are those of the function behind the sigmoid.
    let sigmoid = quadrat::likelihood::Sigmoid::Logit;
    let drawn = posterior.sample_responses(&at, 10, 2).unwrap();
    let latent = posterior.sample(&at, 10, 2).unwrap();
    for draw in 0..10 {
        for row in 0..2 {
            assert_eq!(drawn[(row, draw)], sigmoid.value(latent[(row, draw)]));
        }
    }
}

#[test]
fn a_sparse_posterior_is_saved_and_loaded() {
    let data = Bagged::new(20, 10, rate, 2);
    let model = Model::new(Kernel::se(["x"])).observe(data.table(Link::Exp));
    let options = map().with_inducing(Inducing::PerRow).with_within(Within {
        full: 5,
        sample: 4,
        seed: 2,
    });
    let posterior = model.fit(&options).unwrap();
    assert!(
        posterior
            .summary()
            .warnings
            .iter()
            .any(|w| w.contains("more than 5 points"))
    );
    let again = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
    let a = posterior.predict(&data.bags, Scale::Observation).unwrap();
    let b = again.predict(&data.bags, Scale::Observation).unwrap();
    assert_eq!(a.mean(), b.mean());
    assert_eq!(a.sd(), b.sd());
    let more = data.table(Link::Exp);
    let error = posterior.condition(more).unwrap_err().to_string();
    assert!(error.contains("fit all rows together"), "{error}");
}

#[test]
fn threads_do_not_matter() {
    let data = Bagged::new(25, 12, rate, 8);
    let options = |threads| {
        map()
            .with_inducing(Inducing::Number(15))
            .with_threads(threads)
    };
    let fit = |threads| {
        let model = Model::new(Kernel::se(["x"])).observe(data.table(Link::Exp));
        model.fit(&options(threads)).unwrap().summary().log_evidence
    };
    assert_eq!(fit(1), fit(2));
}

#[test]
fn every_likelihood_of_bags_fits() {
    let data = Bagged::new(25, 8, rate, 6);
    let n = data.counts.len();
    let tables: Vec<(Likelihood, LogSum)> = vec![
        (
            NegativeBinomial::new(
                data.counts.clone(),
                vec![1.0; n],
                Link::Exp,
                Dispersion::Learned,
            )
            .unwrap()
            .into(),
            LogSum::Matched,
        ),
        (
            // Fewer than five are suppressed.
            Poisson::ranges(
                data.counts
                    .iter()
                    .map(|c| if *c < 5.0 { 0.0 } else { *c })
                    .collect(),
                data.counts.iter().map(|c| c.max(4.0)).collect(),
                vec![1.0; n],
                Link::Exp,
            )
            .unwrap()
            .into(),
            LogSum::Matched,
        ),
        (
            Exponential::new(data.counts.iter().map(|c| c + 0.5).collect(), Link::Exp)
                .unwrap()
                .into(),
            LogSum::Lemma,
        ),
        (
            Poisson::new(data.counts.clone(), vec![1.0; n], Link::Square)
                .unwrap()
                .into(),
            LogSum::Taylor,
        ),
        (
            Poisson::new(data.counts.clone(), vec![1.0; n], Link::Softplus)
                .unwrap()
                .into(),
            LogSum::Taylor,
        ),
    ];
    for (table, form) in tables {
        let name = table.name();
        let model = Model::new(Kernel::se(["x"]))
            .observe(Observations::new(data.bags.clone(), table).unwrap());
        let options = map().with_inducing(Inducing::Number(10)).with_log_sum(form);
        let posterior = model.fit(&options).unwrap();
        assert!(
            posterior.summary().converged,
            "{name}: {:?}",
            posterior.summary().warnings
        );
        let p = posterior.predict(&data.bags, Scale::Response).unwrap();
        let ratio = p.mean().iter().sum::<f64>() / data.counts.iter().sum::<f64>();
        // Counts, or waiting times of half more each.
        assert!((0.8..1.3).contains(&ratio), "{name}: {ratio}");
    }
    // Sums of values without a link.
    let values = data.counts.clone();
    let table = Observations::gaussian(data.bags.clone(), values, Noise::Learned).unwrap();
    let model = Model::new(Kernel::se(["x"])).observe(table);
    let exact = model.fit(&map()).unwrap().summary().log_evidence;
    let sparse = model
        .fit(&map().with_inducing(Inducing::Number(25)))
        .unwrap();
    assert!(sparse.summary().log_evidence < exact + 1e-3);
    assert!(sparse.summary().log_evidence > exact - 0.5, "{exact}");
}
