//! Histograms of counts behind `exp`: fits whose engine the library chooses, beside those over all
//! nodes within the bins.

use anyhow::Result;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{FitOptions, Hyperparameters, Inference, Model, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson as PoissonDraws};

use crate::clock::once;

/// Numbers of bins.
const BINS: [usize; 4] = [100, 300, 600, 1000];
/// Up to so many all nodes are taken as well: a thousand take a minute or two.
const NODES: usize = 600;
/// Events in all, about.
const EVENTS: f64 = 3000.0;

/// Prints seconds of processor time on one thread, log evidences, and sds of the total over the
/// root of the total.
///
/// # Errors
/// Those of fits.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for kernel in ["se(x)", "matern32(x)", "matern12(x)"] {
            BINS.iter().try_for_each(|bins| one(kernel, *bins))?;
        }
        Ok(())
    })
}

fn one(kernel: &str, bins: usize) -> Result<()> {
    let model = Model::new(Kernel::parse(kernel)?).observe(histogram(bins)?);
    let auto = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let nodes = auto
        .clone()
        .with_inference(Inference::Sites(Method::Laplace));
    let all = Functionals::intervals("x", &[(0.0, 50.0)], Aggregate::Sum)?;
    for (how, options) in [("chosen", auto), ("all nodes", nodes)] {
        if how != "chosen" && bins > NODES {
            continue;
        }
        let (posterior, times) = once(|| model.fit(&options));
        let posterior = posterior?;
        let total = posterior.predict(&all, Scale::Response)?;
        println!(
            "{kernel:<12} {bins:>5} bins, {how:<9} ({:<7}): {:>8.3} s, log evidence {:>10.3}, sd of \
             the total over its root {:.3}",
            posterior.summary().inference,
            times.processor,
            posterior.summary().log_evidence,
            total.sd()[0] / total.mean()[0].sqrt(),
        );
    }
    Ok(())
}

/// Counts of a rate that rises and falls by a factor of three about its middle.
fn histogram(bins: usize) -> Result<Observations> {
    let width = 50.0 / bins as f64;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let ends: Vec<(f64, f64)> = (0..bins)
        .map(|i| (width * i as f64, width * (i + 1) as f64))
        .collect();
    let counts = ends.iter().map(|(low, high)| {
        let x = f64::midpoint(*low, *high);
        let mean = width * EVENTS / 50.0 * (x / 3.0).sin().exp();
        Ok(PoissonDraws::new(mean)?.sample(&mut random))
    });
    let counts: Vec<f64> = counts.collect::<Result<_>>()?;
    let counts = Poisson::new(counts, vec![1.0; bins], Link::Exp)?;
    let at = Functionals::intervals("x", &ends, Aggregate::Sum)?;
    Ok(Observations::new(at, counts)?)
}
