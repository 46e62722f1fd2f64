//! Every likelihood through inducing points against the dense variational approximation: with all
//! points as inducing points both are one.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gamma, Interval, Laplace,
    Likelihood, LogNormal, LogSd, NegativeBinomial, Ordinal, Poisson, Positive, Shape, Side,
    Sigmoid, StudentT, Thresholds, Truncated,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Inducing, Inference, Mean, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::support::Functionals;

use super::sparse::map;

const ROWS: usize = 16;

fn x() -> Vec<f64> {
    (0..ROWS).map(|i| 0.5 * i as f64).collect()
}

fn wave() -> Vec<f64> {
    let own = |(i, x): (usize, &f64)| 0.6 + x.sin() + 0.2 * (i as f64 * 2.4).cos();
    x().iter().enumerate().map(own).collect()
}

/// Every likelihood at points, under several kinds of noise, dispersion and link.
fn all() -> Vec<(&'static str, Likelihood)> {
    let y = wave();
    let variances = || (0..ROWS).map(|i| 0.05 + 0.01 * (i % 4) as f64).collect();
    let counts: Vec<f64> = y.iter().map(|y| y.exp().floor()).collect();
    let ones = vec![1.0; ROWS];
    let yes = || y.iter().map(|y| *y > 0.5).collect();
    let ranks: Vec<usize> = y
        .iter()
        .map(|y| 1 + usize::from(*y > 0.0) + usize::from(*y > 1.0))
        .collect();
    let sides: Vec<Side> = y
        .iter()
        .map(|y| if *y > 1.2 { Side::Right } else { Side::None })
        .collect();
    let capped: Vec<f64> = y.iter().map(|y| y.min(1.2)).collect();
    let over = |link| {
        NegativeBinomial::new(counts.clone(), ones.clone(), link, Dispersion::Learned)
            .unwrap()
            .into()
    };
    let poisson = |link| {
        Poisson::new(counts.clone(), ones.clone(), link)
            .unwrap()
            .into()
    };
    let gaussian = |noise| {
        quadrat::likelihood::Gaussian::new(y.clone(), noise)
            .unwrap()
            .into()
    };
    let upper: Vec<f64> = counts.iter().map(|n| n + 2.0).collect();
    let positive: Vec<f64> = y.iter().map(|y| 0.1 + y.abs()).collect();
    let waits = |link| Exponential::new(positive.clone(), link).unwrap().into();
    let floor: Vec<f64> = y.iter().map(|y| (2.0 * y).floor() / 2.0).collect();
    let ceiling = floor.iter().map(|y| y + 0.5).collect();
    vec![
        ("gaussian, learned", gaussian(Noise::Learned)),
        ("gaussian, known", gaussian(Noise::Known(variances()))),
        (
            "gaussian, both",
            gaussian(Noise::KnownPlusLearned(variances())),
        ),
        (
            "laplace",
            Laplace::new(y.clone(), vec![0.3; ROWS]).unwrap().into(),
        ),
        (
            "student_t",
            StudentT::new(y.clone(), Noise::Learned, Degrees::Known(4.0))
                .unwrap()
                .into(),
        ),
        (
            "student_t, learned",
            StudentT::new(y.clone(), Noise::Learned, Degrees::Learned)
                .unwrap()
                .into(),
        ),
        (
            "interval",
            Interval::new(floor, ceiling, Noise::Known(variances()))
                .unwrap()
                .into(),
        ),
        (
            "censored",
            Censored::new(capped, &sides, Noise::Learned)
                .unwrap()
                .into(),
        ),
        (
            "truncated",
            Truncated::new(
                y.clone(),
                vec![-0.8; ROWS],
                vec![f64::INFINITY; ROWS],
                Noise::Learned,
            )
            .unwrap()
            .into(),
        ),
        (
            "ordinal",
            Ordinal::new(ranks, Thresholds::Known(vec![0.0, 1.0]), Noise::Learned)
                .unwrap()
                .into(),
        ),
        (
            "bernoulli, logit",
            Bernoulli::new(yes(), Sigmoid::Logit).into(),
        ),
        (
            "bernoulli, probit",
            Bernoulli::new(yes(), Sigmoid::Probit).into(),
        ),
        (
            "binomial",
            Binomial::new(
                counts.iter().map(|n| n.min(5.0)).collect(),
                vec![5.0; ROWS],
                Sigmoid::Logit,
            )
            .unwrap()
            .into(),
        ),
        ("poisson, exp", poisson(Link::Exp)),
        ("poisson, softplus", poisson(Link::Softplus)),
        (
            "poisson ranges",
            Poisson::ranges(counts.clone(), upper, ones.clone(), Link::Exp)
                .unwrap()
                .into(),
        ),
        ("negative_binomial, exp", over(Link::Exp)),
        ("negative_binomial, softplus", over(Link::Softplus)),
        ("exponential, exp", waits(Link::Exp)),
        ("exponential, softplus", waits(Link::Softplus)),
        (
            "gamma",
            Gamma::new(positive.clone(), Shape::Known(3.0))
                .unwrap()
                .into(),
        ),
        (
            "lognormal",
            LogNormal::new(positive.clone(), LogSd::Known(0.4))
                .unwrap()
                .into(),
        ),
    ]
}

/// All hyperparameters held: at a variance of 1, a lengthscale of 1.3, and the starts of the
/// others.
fn held(model: Model) -> Model {
    let own = model.parameters().unwrap();
    own.iter().fold(model, |model, p| {
        let value = match p.name.as_str() {
            "se.variance" => 1.0,
            "se.lengthscale.x" => 1.3,
            _ => p.start,
        };
        model.set(&p.name, Setting::fixed(value))
    })
}

fn agree(name: &str, (dense, sparse): (&Posterior, &Posterior), at: &Functionals) {
    let (a, b) = (dense.summary().log_evidence, sparse.summary().log_evidence);
    // A jitter of 1e-6 of the variance for each of few rows that say no more than twenty times as
    // much as the prior does.
    assert!((a - b).abs() < 2e-4, "{name}: {a} {b}");
    let (p, q) = (
        dense.predict(at, Scale::Latent).unwrap(),
        sparse.predict(at, Scale::Latent).unwrap(),
    );
    for i in 0..at.len() {
        assert!(
            (p.mean()[i] - q.mean()[i]).abs() < 2e-3 * p.sd()[i],
            "{name} {i}"
        );
        // The jitter moves a variance by 1e-6 of it, times what rows say: found are 1.8e-5.
        assert!((p.sd()[i] / q.sd()[i] - 1.0).abs() < 2e-3, "{name} {i}");
    }
}

fn variational() -> FitOptions {
    map().with_inference(Inference::Sites(Method::Variational))
}

#[test]
fn every_likelihood_agrees_with_dense_inference() {
    let at = Functionals::points("x", &[0.2, 3.3, 9.0]).unwrap();
    let supports = Functionals::points("x", &x()).unwrap();
    let mut kinds: Vec<&'static str> = Vec::new();
    for (name, likelihood) in all() {
        kinds.push(likelihood.name());
        let table = Observations::new(supports.clone(), likelihood).unwrap();
        let model = Model::new(Kernel::se(["x"]))
            .mean(Mean::Fixed(0.3))
            .observe(table);
        let model = held(model);
        let dense = model.fit(&variational()).unwrap();
        let sparse = model
            .fit(&map().with_inducing(Inducing::Number(ROWS)))
            .unwrap();
        assert_eq!(sparse.summary().inference, "sparse");
        agree(name, (&dense, &sparse), &at);
    }
    // Bounds alone say no value: beside some.
    let values = all().swap_remove(0).1;
    let values = Observations::new(supports.clone(), values).unwrap();
    let bounds = Functionals::points("x", &[4.4, 4.7, 5.1]).unwrap();
    let bounds = Observations::new(bounds, Positive::new(3, 0.0, 0.1).unwrap()).unwrap();
    let model = Model::new(Kernel::se(["x"]))
        .mean(Mean::Fixed(0.3))
        .observe(values)
        .observe(bounds);
    let model = held(model);
    let dense = model.fit(&variational()).unwrap();
    let sparse = model
        .fit(&map().with_inducing(Inducing::Number(ROWS + 3)))
        .unwrap();
    agree("positive", (&dense, &sparse), &at);
    kinds.push("positive");
    let missing = |name: &&&str| !kinds.contains(name);
    let missing: Vec<_> = Likelihood::NAMES.iter().filter(missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn several_outputs_agree_with_dense_inference() {
    let supports = Functionals::points("x", &x()).unwrap();
    let own = all();
    let find = |name: &str| own.iter().find(|(n, _)| *n == name).unwrap().1.clone();
    let table = |name: &str, output: &str| {
        Observations::new(supports.clone(), find(name))
            .unwrap()
            .of_output(output)
    };
    let kernel = Kernel::coregion("site", ["a", "b"], 1) * Kernel::se(["x"]);
    let model = Model::new(kernel)
        .observe(table("censored", "a"))
        .observe(table("poisson, exp", "b"));
    let model = held(model.mean(Mean::Zero));
    let dense = model.fit(&variational()).unwrap();
    let sparse = model
        .fit(&map().with_inducing(Inducing::Number(2 * ROWS)))
        .unwrap();
    let at = Functionals::points("x", &[0.2, 3.3, 9.0]).unwrap();
    for output in ["a", "b"] {
        agree(
            output,
            (&dense, &sparse),
            &dense.at_output(&at, output).unwrap(),
        );
    }
    // Given points without outputs are points of both.
    let given = Inducing::At(Box::new(supports));
    let given = model.fit(&map().with_inducing(given)).unwrap();
    let (a, b) = (given.summary().log_evidence, sparse.summary().log_evidence);
    // The same points in another order, and what a converged search leaves.
    assert!((a - b).abs() < 1e-6, "{a} {b}");
}

/// Totals of bags with variances of their own are conditioned on exactly.
#[test]
fn values_of_bags_with_known_variances_agree_with_exact_inference() {
    let mut bags = Functionals::new(vec!["x".into()]);
    for row in 0..8 {
        let points: Vec<Vec<f64>> = (0..3)
            .map(|i| vec![row as f64 + 0.3 * f64::from(i)])
            .collect();
        bags.push_nodes(&points, &[1.0, 0.5, 2.0]).unwrap();
    }
    let values: Vec<f64> = (0..8)
        .map(|i| 3.5 + 3.0 * (0.7 * f64::from(i)).sin())
        .collect();
    let at = Functionals::points("x", &[0.2, 3.3, 9.0]).unwrap();
    let variances: Vec<f64> = (0..8).map(|i| 0.4 + 0.2 * f64::from(i % 3)).collect();
    for noise in [
        Noise::Known(variances.clone()),
        Noise::Learned,
        Noise::KnownPlusLearned(variances),
    ] {
        let table = Observations::gaussian(bags.clone(), values.clone(), noise.clone()).unwrap();
        let model = Model::new(Kernel::se(["x"]))
            .mean(Mean::Fixed(1.0))
            .observe(table);
        let model = held(model);
        let exact = model.fit(&map()).unwrap();
        assert_eq!(exact.summary().inference, "exact");
        let sparse = model
            .fit(&map().with_inducing(Inducing::Number(24)))
            .unwrap();
        agree(&format!("{noise:?}"), (&exact, &sparse), &at);
    }
}
