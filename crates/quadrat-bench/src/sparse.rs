//! Time of a pass over pixels as a multiple of one product with the matrix of the inducing points.

use anyhow::Result;
use faer::Mat;
use quadrat::covariance::{Covariance, Induced};
use quadrat::inference::sites::Block;
use quadrat::inference::sparse::{Bags, LogSum, Normal, SparsePrior, SparseProblem, Within, bound};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::linalg::gemm_into;
use quadrat::link::Link;
use quadrat::parameter::Parameter;
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clock::once;

/// Columns of covariates, beside two of space.
const COVARIATES: usize = 18;
/// Pixels of a bag.
const BAG: usize = 1000;
/// Columns of a product at a time.
const CHUNK: usize = 1024;

/// Counts of bags of pixels under `se(covariates) + matern32(x, y)`.
struct Map {
    bags: Bags,
    induced: Induced,
    means: Vec<Vec<f64>>,
    counts: Poisson,
}

impl Map {
    fn new(pixels: usize, inducing: usize) -> Result<(Self, Vec<f64>)> {
        let covariates: Vec<String> = (0..COVARIATES).map(|d| format!("c{d}")).collect();
        let kernel: Kernel = format!("se({}) + matern32(x, y)", covariates.join(", ")).parse()?;
        let covariance = Covariance::new(&kernel);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut points = |count: usize| -> Result<Functionals> {
            let mut set = Functionals::new(kernel.columns().to_vec());
            for _ in 0..count {
                let x: Vec<f64> = (0..kernel.columns().len())
                    .map(|_| random.random_range(0.0..1.0))
                    .collect();
                set.push_point(&x)?;
            }
            Ok(set)
        };
        let mut bags = Bags::new(Within::default()).with_chunk(CHUNK);
        for _ in 0..pixels / BAG {
            bags.push(Link::Exp, &[1.0 / BAG as f64; BAG])?;
        }
        let at = points(inducing)?;
        let chunks = (0..bags.chunks()).map(|c| points(bags.chunk_points(c).len()));
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        let rows = bags.rows();
        let theta: Vec<f64> = kernel
            .parameters()
            .iter()
            .map(|p| {
                if p.name.contains("lengthscale") {
                    1.5
                } else {
                    0.5
                }
            })
            .collect();
        let own = Self {
            means: chunks.iter().map(|c| vec![0.0; c.len()]).collect(),
            induced: Induced::new(covariance, at, chunks, 1e-6),
            counts: Poisson::new(vec![40.0; rows], vec![30.0; rows], Link::Exp)?,
            bags,
        };
        Ok((own, theta))
    }
}

impl SparseProblem for Map {
    fn prior(&self) -> &dyn SparsePrior {
        &self.induced
    }
    fn bags(&self) -> &Bags {
        &self.bags
    }
    fn prior_mean(&self, chunk: usize) -> &[f64] {
        &self.means[chunk]
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        vec![Block {
            likelihood: &self.counts,
            first: 0,
            own: &[],
            second: None,
        }]
    }
    fn parameters(&self) -> &[Parameter] {
        &[]
    }
    fn describe(&self) -> String {
        "se + matern32".into()
    }
}

/// Prints ratios for a map of pixels, on one thread and on all.
pub fn run() -> Result<()> {
    let pixels = 32 * BAG;
    println!(
        "{pixels} pixels in bags of {BAG}, {COVARIATES} covariates and space; the floor is one product [M, M] [M, N], {CHUNK} columns at a time, on one thread"
    );
    for inducing in [128, 256, 576] {
        let (map, theta) = Map::new(pixels, inducing)?;
        let q = Normal::isotropic(inducing, 0.3)?;
        let square = Mat::<f64>::from_fn(inducing, inducing, |i, j| 1.0 / (1 + i + j) as f64);
        let wide = Mat::<f64>::from_fn(inducing, CHUNK, |i, j| 1.0 / (2 + i + j) as f64);
        let mut out = Mat::<f64>::zeros(inducing, CHUNK);
        for threads in [1, rayon::current_num_threads()] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()?;
            let mut times = [f64::INFINITY; 3];
            for _ in 0..3 {
                let (_, floor) = once(|| {
                    for _ in 0..pixels.div_ceil(CHUNK) {
                        gemm_into(out.as_mut(), false, 1.0, square.as_ref(), wide.as_ref());
                    }
                });
                times[0] = times[0].min(floor.processor);
                for (k, with_gradient) in [(1, false), (2, true)] {
                    let (value, time) = pool.install(|| {
                        once(|| bound(&map, &theta, &q, LogSum::Matched, with_gradient))
                    });
                    value?;
                    let time = if threads == 1 {
                        time.processor
                    } else {
                        time.wall
                    };
                    times[k] = times[k].min(time);
                }
            }
            println!(
                "M = {inducing:4}, {threads} threads: floor {:7.1} ms, value {:7.1} ms ({:.2}x), with gradient {:7.1} ms ({:.2}x)",
                1e3 * times[0],
                1e3 * times[1],
                times[1] / times[0],
                1e3 * times[2],
                times[2] / times[0]
            );
        }
    }
    Ok(())
}
