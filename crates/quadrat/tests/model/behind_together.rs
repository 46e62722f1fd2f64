//! Tables in which every count is hidden, at places that know of each other: against means over
//! draws of the prior, weighted by the chance that all counts lie in their ranges.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::linalg::{Cholesky, Mat};
use quadrat::link::Link;
use quadrat::model::{FitOptions, Inference, Mean, Model, Observations, Setting};
use quadrat::support::Functionals;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const ROWS: usize = 40;
const DRAWS: usize = 50_000;

/// A prior of functions at places one apart, and below what every count lies.
struct Case {
    variance: f64,
    lengthscale: f64,
    below: usize,
}

/// What is known of the sum of the counts.
struct Known {
    mean: f64,
    sd: f64,
}

/// The chance that a Poisson count lies below an end, and its mean and that of its square then.
fn hidden(rate: f64, below: usize) -> [f64; 3] {
    let mut p = (-rate).exp();
    let mut sums = [0.0; 3];
    for y in 0..below {
        let count = y as f64;
        sums[0] += p;
        sums[1] += p * count;
        sums[2] += p * count * count;
        p *= rate / (count + 1.0);
    }
    let [chance, first, second] = sums;
    [chance, first / chance, second / chance]
}

/// By draws of the prior, of which a third and more carry the weight here.
fn known(case: &Case) -> Known {
    let covariance = Mat::from_fn(ROWS, ROWS, |i, j| {
        let r = 3.0_f64.sqrt() * (i as f64 - j as f64).abs() / case.lengthscale;
        case.variance * (1.0 + r) * (-r).exp()
    });
    let factor = Cholesky::factor(covariance.as_ref()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut all, mut first, mut second) = (0.0, 0.0, 0.0);
    for _ in 0..DRAWS {
        let z: Vec<f64> = (0..ROWS)
            .map(|_| StandardNormal.sample(&mut random))
            .collect();
        let (mut weight, mut mean, mut variance) = (1.0, 0.0, 0.0);
        for f in factor.multiply(&z) {
            // Above, the chance is nothing.
            let [chance, one, square] = hidden(f.exp().min(300.0), case.below);
            weight *= chance;
            mean += one;
            variance += square - one * one;
        }
        all += weight;
        first += weight * mean;
        second += weight * (mean * mean + variance);
    }
    let mean = first / all;
    Known {
        mean,
        sd: (second / all - mean * mean).sqrt(),
    }
}

#[test]
fn sums_of_counts_that_are_all_hidden_are_what_the_prior_leaves() {
    // In the last one rows say nothing at the mode: draws meet them nevertheless.
    let cases = [
        (4.0, 10.0, 5),
        (1.0, 5.0, 5),
        (9.0, 200.0, 5),
        (9.0, 20.0, 10),
    ];
    for (variance, lengthscale, below) in cases {
        let case = Case {
            variance,
            lengthscale,
            below,
        };
        let right = known(&case);
        for method in [Method::Ep, Method::Laplace, Method::Variational] {
            let places: Vec<f64> = (0..ROWS).map(|i| i as f64).collect();
            let at = Functionals::points("x", &places).unwrap();
            let upper = vec![below as f64 - 1.0; ROWS];
            let rows = Poisson::ranges(vec![0.0; ROWS], upper, vec![1.0; ROWS], Link::Exp);
            let model = Model::new(Kernel::matern32(["x"]))
                .mean(Mean::Fixed(0.0))
                .set("matern32.variance", Setting::fixed(variance))
                .set("matern32.lengthscale.x", Setting::fixed(lengthscale))
                .observe(Observations::new(at, rows.unwrap()).unwrap());
            let options = FitOptions::default().with_inference(Inference::Sites(method));
            let posterior = model.fit(&options).unwrap();
            let behind = posterior.behind(0).unwrap();
            let all: Vec<usize> = (0..ROWS).collect();
            let told = behind.totals(std::slice::from_ref(&all), 1).unwrap();
            let place = format!(
                "{method:?} {variance} {lengthscale} {below}: {} {} {} {}",
                told.mean()[0],
                told.sd()[0],
                right.mean,
                right.sd
            );
            // Of 4,000 draws some 1,500 carry the weight, of the prior 20,000: a tenth of the sd is
            // some three standard errors of the mean. A normal belief answers where it misses no
            // row by more than a tenth of its sd; sums are then missed by somewhat more. Sds of
            // what is skew are rougher.
            assert!(
                (told.mean()[0] - right.mean).abs() < 0.15 * right.sd,
                "{place}"
            );
            assert!((told.sd()[0] / right.sd - 1.0).abs() < 0.15, "{place}");
            let cells: f64 = behind.values(&all).unwrap().mean().iter().sum();
            assert!((cells - told.mean()[0]).abs() < 1e-9 * right.sd, "{place}");
        }
    }
}
