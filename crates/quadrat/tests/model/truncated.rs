//! Values of which none was recorded below a limit: what a fit of the recorded ones makes of a
//! slope.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Gaussian, Likelihood, Noise, Truncated};
use quadrat::model::{FitOptions, Hyperparameters, Mean, Model, Observations, Scale, Setting};
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const SLOPE: f64 = 1.0;
const ROWS: usize = 60;
const SEEDS: u64 = 24;

/// Places and values of a line through the origin, of which those below zero were never recorded.
fn recorded(seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    while x.len() < ROWS {
        let place: f64 = random.random_range(-1.0..3.0);
        let error: f64 = StandardNormal.sample(&mut random);
        if SLOPE * place + error > 0.0 {
            x.push(place);
            y.push(SLOPE * place + error);
        }
    }
    (x, y)
}

/// Slope of the fitted line: mean, sd, and the 90 % interval.
fn slope(x: &[f64], likelihood: impl Into<Likelihood>) -> [f64; 4] {
    let set = Functionals::points("x", x).unwrap();
    let model = Model::new(Kernel::parse("linear(x)").unwrap())
        .mean(Mean::Constant)
        .observe(Observations::new(set, likelihood).unwrap())
        .set("linear.variance", Setting::fixed(4.0));
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let posterior = model.fit(&options).unwrap();
    let mut rise = Functionals::new(vec!["x".into()]);
    rise.push_nodes(&[vec![1.0], vec![0.0]], &[1.0, -1.0])
        .unwrap();
    let told = posterior.predict(&rise, Scale::Latent).unwrap();
    let ends = [0.05, 0.95].map(|p| told.quantile(p)[0]);
    [told.mean()[0], told.sd()[0], ends[0], ends[1]]
}

#[test]
fn a_slope_is_found_although_values_below_a_limit_are_missing() {
    let (mut means, mut naive, mut held) = (0.0, 0.0, [0; 2]);
    for seed in 0..SEEDS {
        let (x, y) = recorded(seed);
        let limits = || (vec![0.0; ROWS], vec![f64::INFINITY; ROWS]);
        // Learned noise takes several times as long.
        let some = if seed % 2 == 0 { 2 } else { 1 };
        let noises = [Noise::Known(vec![1.0; ROWS]), Noise::Learned];
        for (k, noise) in noises.into_iter().take(some).enumerate() {
            let (lower, upper) = limits();
            let cut = Truncated::new(y.clone(), lower, upper, noise).unwrap();
            let [mean, _, low, high] = slope(&x, cut);
            held[k] += usize::from((low..high).contains(&SLOPE));
            if k == 0 {
                means += mean / SEEDS as f64;
            }
        }
        let blind = Gaussian::new(y, Noise::Known(vec![1.0; ROWS])).unwrap();
        naive += slope(&x, blind)[0] / SEEDS as f64;
    }
    println!("truncated {means:.3}, gaussian {naive:.3}, {held:?} of {SEEDS} intervals hold");
    // The sd of a slope is some 0.2, that of the average of 24 0.04.
    assert!((means - SLOPE).abs() < 0.12, "{means}");
    assert!(naive < 0.75, "{naive}");
    // Of intervals of 90 % fewer than 17 of 24, or 8 of 12, hold with a probability of 0.002 and
    // 0.004.
    assert!(held[0] >= 17 && held[1] >= 8, "{held:?}");
}
