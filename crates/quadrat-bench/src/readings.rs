//! Readings hour after hour: whole fits along a line, and by the matrix of all rows where these are
//! few.

use std::f64::consts::TAU;

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Noise;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Setting};
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clock::once;

/// Numbers of readings.
const READINGS: [usize; 4] = [1000, 4000, 20_000, 100_000];
/// Up to so many the matrix is timed as well.
const MATRIX: usize = 1000;
/// Hours after which two processes have forgotten a factor of e, their sds and that of the noise.
const MEMORY: [f64; 2] = [400.0, 6.0];
const SDS: [f64; 2] = [1.0, 0.4];
const NOISE: f64 = 0.2;

/// Two processes that forget the past, a cycle of a day, and noise.
fn readings(n: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    // Uniform numbers of sd one do for normal ones.
    let mut fresh = || random.random_range(-1.0..1.0) * 3f64.sqrt();
    let mut states = [0.0; 2];
    let hour = |t: usize| {
        for (state, memory) in states.iter_mut().zip(MEMORY) {
            let kept = f64::exp(-1.0 / memory);
            *state = kept * *state + (1.0 - kept * kept).sqrt() * fresh();
        }
        let angle = TAU * t as f64 / 24.0;
        let cycle = 0.8 * angle.sin() + 0.3 * (2.0 * angle).cos() + 0.1 * (3.0 * angle + 1.0).sin();
        10.0 + SDS[0] * states[0] + SDS[1] * states[1] + cycle + NOISE * fresh()
    };
    (0..n).map(hour).collect()
}

/// Prints a line for each number of readings, on one thread.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| READINGS.iter().try_for_each(|n| one(*n)))
}

fn one(n: usize) -> Result<()> {
    let hours: Vec<f64> = (0..n).map(|t| t as f64).collect();
    let table = || -> Result<Observations> {
        let rows = Functionals::points("hour", &hours)?;
        Ok(Observations::gaussian(rows, readings(n), Noise::Learned)?)
    };
    let noise = || Kernel::matern32(["hour"]) + Kernel::matern12(["hour"]);
    let with_cycle = || noise() + Kernel::periodic("hour", Some(24.0));
    let mut options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    options.threads = Some(1);
    let told = |model: Model| -> Result<(f64, f64)> {
        let (fitted, times) = once(|| model.fit(&options));
        Ok((times.wall, fitted?.summary().log_evidence))
    };
    let (plain, _) = told(Model::new(noise()).observe(table()?))?;
    let (cycle, evidence) = told(Model::new(with_cycle()).observe(table()?))?;
    print!("{n} readings: fit of two Matern parts {plain:.2} s, of these and a cycle {cycle:.2} s");
    if n <= MATRIX {
        // A bound below which harmonics are too many leaves the cycle in the matrix.
        let lower = Setting {
            lower: Some(0.01),
            ..Setting::default()
        };
        let model = Model::new(with_cycle()).set("periodic.lengthscale.hour", lower);
        let (matrix, same) = told(model.observe(table()?))?;
        print!(
            ", by the matrix {matrix:.1} s ({:.0}x), evidence {:.0e} apart",
            matrix / cycle,
            (same / evidence - 1.0).abs()
        );
    }
    println!();
    Ok(())
}
