//! Values behind rows over simulated tables: how often intervals hold them.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Likelihood, Poisson};
use quadrat::linalg::{Cholesky, Mat};
use quadrat::link::Link;
use quadrat::model::{FitOptions, Mean, Model, Noise, Observations, RowTotals, RowValues, Setting};
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Tables whose rows are asked for one by one, and of these, tables whose rows are also added up,
/// from 10,000 draws each.
const TABLES: u64 = 60;
const SUMMED: u64 = 24;
const ROWS: usize = 24;

/// A function of the prior at 24 places, half a lengthscale apart.
fn function(factor: &Cholesky, mean: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
    let z: Vec<f64> = (0..ROWS).map(|_| StandardNormal.sample(random)).collect();
    factor.multiply(&z).into_iter().map(|f| mean + f).collect()
}

fn places() -> Vec<f64> {
    (0..ROWS).map(|i| 0.5 * i as f64).collect()
}

fn prior(variance: f64) -> Cholesky {
    let x = places();
    let covariance = Mat::from_fn(ROWS, ROWS, |i, j| {
        let r = 3.0_f64.sqrt() * (x[i] - x[j]).abs();
        variance * (1.0 + r) * (-r).exp()
    });
    Cholesky::factor(covariance.as_ref()).unwrap()
}

/// How often intervals of rows and of sums held the truth, of how many.
#[derive(Debug, Default)]
struct Held {
    rows: (f64, f64),
    sums: (f64, f64),
}

impl Held {
    /// Counts inside an interval, an end by the share of it that belongs to the interval: quantiles
    /// of counts are whole numbers, and intervals of whole numbers hold more than they should.
    fn add_rows(&mut self, values: &RowValues, truth: &[f64], random: &mut ChaCha8Rng) {
        for (row, &y) in truth.iter().enumerate() {
            let (at, before) = (values.cdf(y)[row], values.cdf(y - 1e-9)[row]);
            let u = before + random.random::<f64>() * (at - before);
            self.rows.0 += f64::from(u8::from((0.025..=0.975).contains(&u)));
            self.rows.1 += 1.0;
        }
    }

    fn add_sum(&mut self, sum: &RowTotals, truth: &[f64], random: &mut ChaCha8Rng) {
        let y: f64 = truth.iter().sum();
        let (at, before) = (
            1.0 - sum.exceedance(y)[0],
            1.0 - sum.exceedance(y - 1e-9)[0],
        );
        let u = before + random.random::<f64>() * (at - before);
        self.sums.0 += f64::from(u8::from((0.025..=0.975).contains(&u)));
        self.sums.1 += 1.0;
    }
}

/// Tables of rows that hide some of the truth, fitted with the hyperparameters that made them.
fn coverage(
    variance: f64,
    mean: f64,
    report: impl Fn(&[f64], &mut ChaCha8Rng) -> (Likelihood, Vec<Option<f64>>),
) -> Held {
    let factor = prior(variance);
    let mut held = Held::default();
    for seed in 0..TABLES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let f = function(&factor, mean, &mut random);
        let (rows, hidden) = report(&f, &mut random);
        let at: Vec<usize> = (0..ROWS).filter(|&row| hidden[row].is_some()).collect();
        let truth: Vec<f64> = hidden.into_iter().flatten().collect();
        if at.is_empty() {
            continue;
        }
        let set = Functionals::points("x", &places()).unwrap();
        let posterior = Model::new(Kernel::matern32(["x"]))
            .mean(Mean::Fixed(mean))
            .set("matern32.variance", Setting::fixed(variance))
            .set("matern32.lengthscale.x", Setting::fixed(1.0))
            .observe(Observations::new(set, rows).unwrap())
            .fit(&FitOptions::default())
            .unwrap();
        let behind = posterior.behind(0).unwrap();
        let values = behind.values(&at).unwrap();
        held.add_rows(&values, &truth, &mut random);
        if seed < SUMMED {
            let sum = behind.totals(std::slice::from_ref(&at), seed).unwrap();
            held.add_sum(&sum, &truth, &mut random);
        }
    }
    held
}

fn poisson(mean: f64, random: &mut ChaCha8Rng) -> f64 {
    super::common::draw(random, mean)
}

/// Counts below ten are hidden, as where tables of districts are published.
#[test]
fn intervals_of_hidden_counts_hold_them() {
    let held = coverage(0.7, 2.2, |f, random| {
        let counts: Vec<f64> = f.iter().map(|f| poisson(f.exp(), random)).collect();
        let hidden = counts.iter().map(|y| (*y < 10.0).then_some(*y)).collect();
        let ends = |y: &f64| if *y < 10.0 { (0.0, 9.0) } else { (*y, *y) };
        let (lower, upper) = counts.iter().map(ends).unzip();
        let rows = Poisson::ranges(lower, upper, vec![1.0; ROWS], Link::Exp).unwrap();
        (rows.into(), hidden)
    });
    judge(&held);
}

/// Demand above fifteen is not seen, as where stock runs out.
#[test]
fn intervals_of_capped_counts_hold_them() {
    let held = coverage(0.7, 2.2, |f, random| {
        let counts: Vec<f64> = f.iter().map(|f| poisson(f.exp(), random)).collect();
        let hidden = counts.iter().map(|y| (*y >= 15.0).then_some(*y)).collect();
        let infinite = f64::INFINITY;
        let ends = |y: &f64| {
            if *y >= 15.0 {
                (15.0, infinite)
            } else {
                (*y, *y)
            }
        };
        let (lower, upper) = counts.iter().map(ends).unzip();
        let rows = Poisson::ranges(lower, upper, vec![1.0; ROWS], Link::Exp).unwrap();
        (rows.into(), hidden)
    });
    judge(&held);
}

/// Values below a detection limit.
#[test]
fn intervals_of_values_below_a_limit_hold_them() {
    let noise = 0.1;
    let held = coverage(1.0, 1.0, |f, random| {
        let values: Vec<f64> = f
            .iter()
            .map(|f| {
                let e: f64 = StandardNormal.sample(random);
                f + noise * e
            })
            .collect();
        let hidden = values.iter().map(|y| (*y < 0.8).then_some(*y)).collect();
        let lower: Vec<f64> = vec![0.8; ROWS];
        let upper = vec![f64::INFINITY; ROWS];
        let noise = Noise::Known(vec![noise * noise; ROWS]);
        let rows = Censored::clipped(&values, &lower, &upper, noise).unwrap();
        (rows.into(), hidden)
    });
    judge(&held);
}

/// Some 600 rows, of which those of a table depend on each other, have a standard error of about
/// 1.3 percent, and 24 sums of 4.4 percent: bounds are three of them away from .95.
fn judge(held: &Held) {
    let share = |(inside, of): (f64, f64)| inside / of;
    println!("rows {:.4} of {}", share(held.rows), held.rows.1);
    println!("sums {:.4} of {}", share(held.sums), held.sums.1);
    assert!((0.91..=0.99).contains(&share(held.rows)), "{held:?}");
    assert!(share(held.sums) >= 0.82, "{held:?}");
}
