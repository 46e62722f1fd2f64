//! Rows of several kinds on one latent function, from the model's side.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Censored, Dispersion, Interval, Likelihood, NegativeBinomial, Ordinal, Poisson,
    Side, Sigmoid, Thresholds,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Model, Noise, Observations, Posterior, Scale,
};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn curve(x: f64) -> f64 {
    (1.3 * x).sin() + 0.2 * x
}

fn points(n: usize, from: f64, to: f64) -> (Vec<f64>, Functionals) {
    let x: Vec<f64> = (0..n)
        .map(|i| from + (to - from) * (i as f64 + 0.5) / n as f64)
        .collect();
    let set = Functionals::points("x", &x).unwrap();
    (x, set)
}

/// Uniform in (0, 1), standard normal by its quantile.
struct Draws(ChaCha8Rng);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0.random_range(1e-12..1.0)
    }
    fn normal(&mut self) -> f64 {
        quadrat::special::scalar::normal_quantile(self.uniform())
    }
    fn poisson(&mut self, mean: f64) -> f64 {
        let (mut k, mut p) = (0.0, (-mean).exp());
        let (mut below, u) = (p, self.uniform());
        while below < u && k < 1e4 {
            k += 1.0;
            p *= mean / k;
            below += p;
        }
        k
    }
}

fn fit(tables: Vec<Observations>, options: &FitOptions) -> Posterior {
    let mut model = Model::new(Kernel::se(["x"]));
    for table in tables {
        model = model.observe(table);
    }
    model.fit(options).unwrap()
}

fn observed(set: Functionals, likelihood: impl Into<Likelihood>) -> Observations {
    Observations::new(set, likelihood).unwrap()
}

/// Root mean square error against the curve and share of it inside the 95 % interval.
fn judged(posterior: &Posterior, truth: impl Fn(f64) -> f64, scale: Scale) -> (f64, f64) {
    let (x, at) = points(40, 0.0, 6.0);
    let p = posterior.predict(&at, scale).unwrap();
    let (lower, upper) = (p.quantile(0.025), p.quantile(0.975));
    let (mut square, mut inside) = (0.0, 0.0);
    for (i, &x) in x.iter().enumerate() {
        let truth = truth(x);
        square += (p.mean()[i] - truth).powi(2);
        inside += f64::from(u8::from((lower[i]..=upper[i]).contains(&truth)));
    }
    ((square / 40.0).sqrt(), inside / 40.0)
}

#[test]
fn exact_values_intervals_ranks_and_censored_values_make_one_curve() {
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(4));
    let noise = 0.1;
    let mut read = |x: &[f64]| -> Vec<f64> {
        x.iter()
            .map(|&x| curve(x) + noise * draws.normal())
            .collect()
    };
    let (x, exact) = points(6, 0.0, 6.0);
    let exact = Observations::gaussian(exact, read(&x), Noise::Learned).unwrap();
    let (x, set) = points(15, 0.2, 5.9);
    let y = read(&x);
    let lower: Vec<f64> = y.iter().map(|y| (y / 0.5).floor() * 0.5).collect();
    let upper = lower.iter().map(|l| l + 0.5).collect();
    let rounded = observed(set, Interval::new(lower, upper, Noise::Learned).unwrap()).share_noise();
    let (x, set) = points(15, 0.1, 5.8);
    let thresholds = vec![-0.5, 0.3, 1.0];
    let rank = |y: &f64| 1 + thresholds.iter().filter(|t| *t < y).count();
    let ranks = read(&x).iter().map(rank).collect();
    let ordinal = Ordinal::new(ranks, Thresholds::Known(thresholds.clone()), Noise::Learned);
    let ranked = observed(set, ordinal.unwrap()).share_noise();
    let (x, set) = points(12, 0.3, 6.0);
    let y = read(&x);
    let sides: Vec<Side> = y
        .iter()
        .map(|y| if *y < 0.0 { Side::Left } else { Side::None })
        .collect();
    let clipped = y.iter().map(|y| y.max(0.0)).collect();
    let censored = Censored::new(clipped, &sides, Noise::Learned).unwrap();
    let censored = observed(set, censored).share_noise();

    let alone = fit(vec![exact.clone()], &FitOptions::default());
    let all = fit(
        vec![exact, rounded, ranked, censored],
        &FitOptions::default(),
    );
    assert_eq!(all.summary().inference, "ep");
    assert!(all.summary().converged, "{:?}", all.summary().warnings);
    let (few, _) = judged(&alone, curve, Scale::Response);
    let (many, inside) = judged(&all, curve, Scale::Response);
    // The sd of the noise: found is 0.067.
    assert!(many < 0.1 && many < few, "{many} against {few}");
    assert!(inside > 0.8, "{inside}");

    // Saved and loaded, it answers the same.
    let again = Posterior::from_bytes(&all.to_bytes()).unwrap();
    let (_, at) = points(7, 0.0, 7.0);
    let (a, b) = (
        all.predict(&at, Scale::Response).unwrap(),
        again.predict(&at, Scale::Response).unwrap(),
    );
    for i in 0..7 {
        assert!((a.mean()[i] - b.mean()[i]).abs() < 1e-9);
    }
    // More rows of a kind that the fit knows.
    let (x, set) = points(3, 6.0, 7.0);
    let low = x.iter().map(|&x| curve(x) - 0.05).collect();
    let high = x.iter().map(|&x| curve(x) + 0.05).collect();
    let more = observed(set, Interval::new(low, high, Noise::Learned).unwrap());
    let longer = all.condition(more).unwrap();
    let at = Functionals::points("x", &[6.8]).unwrap();
    let sd = |p: &Posterior| p.predict(&at, Scale::Latent).unwrap().sd()[0];
    assert!(sd(&longer) < 0.7 * sd(&all));
}

#[test]
fn counts_give_rates_and_new_counts() {
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(9));
    let rate = |x: f64| (0.8 * curve(x) + 1.0).exp();
    let (x, set) = points(60, 0.0, 6.0);
    let exposure: Vec<f64> = x.iter().map(|x| 1.0 + 0.3 * x).collect();
    let counts: Vec<f64> = x
        .iter()
        .zip(&exposure)
        .map(|(&x, e)| draws.poisson(e * rate(x)))
        .collect();
    let poisson = Poisson::new(counts.clone(), exposure.clone(), Link::Exp).unwrap();
    for method in [Method::Ep, Method::Variational, Method::Laplace] {
        let options = FitOptions::default().with_inference(Inference::Sites(method));
        let posterior = fit(vec![observed(set.clone(), poisson.clone())], &options);
        let summary = posterior.summary();
        assert!(summary.converged, "{method:?} {:?}", summary.warnings);
        let (error, inside) = judged(&posterior, rate, Scale::Response);
        assert!(error < 1.0 && inside > 0.75, "{method:?}: {error} {inside}");
        // The mean of a new count is the mean of the rate; its spread is wider.
        let at = Functionals::points("x", &[1.0, 4.0]).unwrap();
        let response = posterior.predict(&at, Scale::Response).unwrap();
        let new = posterior.predict(&at, Scale::Observation).unwrap();
        for i in 0..2 {
            // Averages over nodes within seven sds of the latent value: 3e-12 of a normal density
            // is left out, of counts like e^f some thousand times that.
            let (mean, sd) = (response.mean()[i], response.sd()[i]);
            assert!((new.mean()[i] - mean).abs() < 1e-6 * mean);
            let want = (mean + sd * sd).sqrt();
            assert!((new.sd()[i] - want).abs() < 1e-6 * want);
            let q = new.quantile(0.9)[i];
            assert!(q.fract() == 0.0 && new.cdf(&[q; 2])[i] >= 0.9);
            assert!(new.cdf(&[q - 1.0; 2])[i] < 0.9);
            let median = response.quantile(0.5);
            // A quantile is searched for until its probability is right to rounding.
            assert!((response.cdf(&median)[i] - 0.5).abs() < 1e-6);
        }
        let all: f64 = (0..200)
            .map(|k| new.log_density(&[f64::from(k); 2])[0].exp())
            .sum();
        // The same; counts of 200 and more are many sds above the rates.
        assert!((all - 1.0).abs() < 1e-6, "{all}");
    }
    // Suppressed small counts lose little.
    let lower: Vec<f64> = counts
        .iter()
        .map(|&c| if c < 5.0 { 0.0 } else { c })
        .collect();
    let upper: Vec<f64> = counts
        .iter()
        .map(|&c| if c < 5.0 { 4.0 } else { c })
        .collect();
    let ranges = Poisson::ranges(lower, upper, exposure, Link::Exp).unwrap();
    let posterior = fit(vec![observed(set, ranges)], &FitOptions::default());
    let (error, inside) = judged(&posterior, rate, Scale::Response);
    assert!(error < 1.2 && inside > 0.75, "{error} {inside}");
}

#[test]
fn signs_and_overdispersed_counts() {
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(12));
    let (x, set) = points(150, 0.0, 6.0);
    let chance = |x: f64| 1.0 / (1.0 + (-2.0 * curve(x)).exp());
    let yes = x.iter().map(|&x| draws.uniform() < chance(x)).collect();
    let table = observed(set.clone(), Bernoulli::new(yes, Sigmoid::Logit));
    let map = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let posterior = fit(vec![table], &map);
    let (error, inside) = judged(&posterior, chance, Scale::Response);
    // The root mean square error of probabilities from 150 answers, found to be 0.075.
    assert!(error < 0.2 && inside > 0.7, "{error} {inside}");

    let counts: Vec<f64> = x
        .iter()
        .map(|&x| {
            // A gamma mixture with two degrees of freedom: dispersion one half.
            let scale = (curve(x) + 2.0).exp() / 2.0;
            let rate = -scale * (draws.uniform() * draws.uniform()).ln();
            draws.poisson(rate)
        })
        .collect();
    let table = NegativeBinomial::new(counts, vec![1.0; 150], Link::Exp, Dispersion::Learned);
    let posterior = fit(vec![observed(set, table.unwrap())], &map);
    let hypers = &posterior.summary().hyperparameters;
    let found = hypers
        .iter()
        .find(|h| h.name == "negative_binomial.dispersion")
        .unwrap();
    assert!(found.lower < 0.5 && 0.5 < found.upper, "{found:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let (_, set) = points(3, 0.0, 1.0);
    let boxes = Functionals::intervals("x", &[(0.0, 2.0), (2.0, 4.0)], Aggregate::Sum).unwrap();
    let poisson = |n| Poisson::new(vec![1.0; n], vec![1.0; n], Link::Exp).unwrap();
    let signs = Bernoulli::new(vec![true, false], Sigmoid::Logit);
    let over_boxes = Model::new(Kernel::se(["x"])).observe(observed(boxes, signs));
    let message = over_boxes
        .fit(&FitOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("probabilities are no probability"),
        "{message}"
    );
    let exact = FitOptions::default().with_inference(Inference::Exact);
    let counts = Model::new(Kernel::se(["x"])).observe(observed(set, poisson(3)));
    let message = counts.fit(&exact).unwrap_err().to_string();
    assert!(message.contains("exact inference"), "{message}");
}

#[test]
fn constraints_keep_a_histogram_from_being_negative() {
    let bands: Vec<(f64, f64)> = (0..10)
        .map(|i| (f64::from(i), f64::from(i) + 1.0))
        .collect();
    let counts = vec![0.0, 0.0, 1.0, 14.0, 30.0, 12.0, 0.0, 0.0, 1.0, 0.0];
    let supports = Functionals::intervals("x", &bands, Aggregate::Sum).unwrap();
    let table = Observations::gaussian(supports, counts, Noise::Known(vec![0.5; 10])).unwrap();
    let free = Model::new(Kernel::se(["x"])).observe(table);
    let held = free.clone().non_negative().unwrap();
    let map = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let (free, held) = (free.fit(&map).unwrap(), held.fit(&map).unwrap());
    assert!(held.summary().converged, "{:?}", held.summary().warnings);
    let (_, at) = points(100, 0.0, 10.0);
    let least = |p: &Posterior| {
        let p = p.predict(&at, Scale::Latent).unwrap();
        p.mean().iter().copied().fold(f64::INFINITY, f64::min)
    };
    assert!(least(&free) < -0.5, "{}", least(&free));
    assert!(least(&held) > -0.02, "{}", least(&held));
    // Half of the draws of the free model are negative somewhere; hardly any of the constrained one
    // by much.
    let draws = held.sample(&at, 200, 1).unwrap();
    let lowest = (0..200).map(|j| draws.col(j).iter().copied().fold(0.0, f64::min));
    assert!(lowest.filter(|l| *l < -1.0).count() < 10);
}

#[test]
#[ignore = "a minute or two; ./check --long"]
fn constraints_of_four_columns_are_where_the_function_is_likeliest_to_be_negative() {
    let dims: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    let mut set = Functionals::new(dims.clone());
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(4));
    let mut values = Vec::new();
    for _ in 0..40 {
        let x: Vec<f64> = (0..4).map(|_| draws.normal().clamp(-2.0, 2.0)).collect();
        values.push(2.0 + 2.0 * x[0] + 0.1 * draws.normal());
        set.push_point(&x).unwrap();
    }
    // Below a = -1 the plane through the values is negative.
    let table = Observations::gaussian(set, values, Noise::Known(vec![0.01; 40])).unwrap();
    let kernel = Kernel::linear(dims.iter().map(String::as_str));
    let held = Model::new(kernel).observe(table).non_negative().unwrap();
    let map = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let fit = held.fit(&map).unwrap();
    let places = fit.observations()[1].supports();
    assert_eq!(places.len(), 256);
    // An eighth of all places, of which a quarter lie below -1.
    assert!(places.range(0).1 < -0.9, "{:?}", places.range(0));
    assert!(places.range(1).1 > 1.0);
}

/// Above 500 rows the starts compete on some of them: the fit is that of a single search with all
/// rows.
#[test]
fn starts_that_compete_on_fewer_rows_end_where_all_rows_do() {
    let (x, set) = points(520, 0.0, 30.0);
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(5));
    let values: Vec<f64> = x.iter().map(|&x| curve(x) + 0.3 * draws.normal()).collect();
    let high: Vec<f64> = x.iter().map(|&x| curve(x) + 0.2).collect();
    let rows = Censored::clipped(
        &values,
        &vec![f64::NEG_INFINITY; 520],
        &high,
        Noise::Learned,
    );
    let table = observed(set, rows.unwrap());
    let map = || FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let competed = fit(vec![table.clone()], &map());
    let alone = fit(vec![table], &map().with_starts(1));
    assert!(competed.summary().converged && alone.summary().converged);
    // The last step of Newton's method: 1e-4 in a logarithm leaves 1e-8 of a nat.
    let (a, b) = (competed.summary(), alone.summary());
    assert!((a.log_evidence - b.log_evidence).abs() < 1e-6);
    for (a, b) in a.hyperparameters.iter().zip(&b.hyperparameters) {
        assert!(
            (a.value - b.value).abs() < 1e-4 * (1.0 + b.value.abs()),
            "{}",
            a.name
        );
    }
}
