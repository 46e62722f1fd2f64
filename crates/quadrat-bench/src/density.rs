//! How long a density takes: cells, hyperparameters, corrected draws and bands, on one thread.

use anyhow::Result;
use quadrat::density::{Conditional, Correction, Density, Density2d};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clock::{best, once};

/// Runs of which the shortest counts.
const ROUNDS: usize = 7;
/// Values that are streamed to cells.
const MANY: usize = 10_000_000;

/// Prints milliseconds of processor time of whole estimates.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for n in [100, 10_000] {
            let values = logistic(n);
            for (name, correction) in
                [("corrected", Correction::ImportanceSampling), ("as they come", Correction::None)]
            {
                Density::new(&values).correct(correction).estimate()?;
                let times = best(ROUNDS, || Density::new(&values).correct(correction).estimate());
                println!(
                    "{n:>9} values, 400 cells, 8000 draws {name:<13} {:>8.1} ms of processor, {:>8.1} on the wall",
                    1e3 * times.processor,
                    1e3 * times.wall
                );
            }
        }
        for (n, cells) in [(300, 20), (300, 60), (300, 100), (10_000, 100), (300, 300)] {
            let all = logistic(2 * n);
            let (x, y) = all.split_at(n);
            let times = best(ROUNDS, || Density2d::new(x, y).cells(cells, cells).estimate());
            println!(
                "{n:>9} pairs, {cells} x {cells} cells, 8000 draws corrected {:>15.1} ms of processor, {:>8.1} on the wall",
                1e3 * times.processor,
                1e3 * times.wall
            );
        }
        for n in [300, 10_000] {
            let all = logistic(2 * n);
            let (x, y) = all.split_at(n);
            let times = best(ROUNDS, || Conditional::new(x, y).cells(30, 100).estimate());
            println!(
                "{n:>9} pairs, one given the other, 30 x 100 cells, 8000 draws {:>7.1} ms of processor, {:>8.1} on the wall",
                1e3 * times.processor,
                1e3 * times.wall
            );
        }
        let values = logistic(MANY);
        let (estimate, times) = once(|| Density::new(&values).estimate());
        estimate?;
        println!("{MANY:>9} values, once {:>37.1} ms of processor", 1e3 * times.processor);
        let others = logistic(MANY);
        let (estimate, times) = once(|| Density2d::new(&values, &others).cells(100, 100).estimate());
        estimate?;
        println!("{MANY:>9} pairs, once {:>38.1} ms of processor", 1e3 * times.processor);
        Ok(())
    })
}

fn logistic(n: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    (0..n)
        .map(|_| {
            let p: f64 = random.random::<f64>().max(1e-300);
            (p / (1.0 - p)).ln()
        })
        .collect()
}
