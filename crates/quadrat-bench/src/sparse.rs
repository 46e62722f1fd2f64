//! Time of a pass over pixels as a multiple of the matrix products that its value contains, and beside that of a peer.
//!
//! The value needs `A = L^-1 K_uX` and `B = C^-1 A`, two products of a triangle `[M, M]` with `[M, N]`: `2 N M^2` flops. What times are divided
//! by is one product of a full matrix `[M, M]` with `[M, N]` (`dense`): as many flops, at the speed of the library's plain product, which
//! has no triangle to go round; so what two triangles lose against that counts against us. Their own time is printed beside it
//! (`triangles`). With the gradient a pass contains `5 N M^2` flops: another `2 N M^2` for a full product and `N M^2` for half of a symmetric one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use faer::Mat;
use quadrat::covariance::{Covariance, Induced};
use quadrat::inference::sites::Block;
use quadrat::inference::sparse::{Bags, LogSum, Normal, SparseProblem, Within, bound};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::linalg::{gemm_into, lower_times_into};
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

/// Every lengthscale, both variances, what is added to those of inducing points, and what every bag reported.
const LENGTHSCALE: f64 = 1.5;
const VARIANCE: f64 = 0.5;
const JITTER: f64 = 1e-6;
const COUNT: f64 = 40.0;
const EXPOSURE: f64 = 30.0;

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
                    LENGTHSCALE
                } else {
                    VARIANCE
                }
            })
            .collect();
        let own = Self {
            means: chunks.iter().map(|c| vec![0.0; c.len()]).collect(),
            induced: Induced::new(covariance, at, chunks, JITTER),
            counts: Poisson::new(vec![COUNT; rows], vec![EXPOSURE; rows], Link::Exp)?,
            bags,
        };
        Ok((own, theta))
    }
}

impl SparseProblem for Map {
    fn induced(&self) -> &Induced {
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

/// The script of the peer, from the sources that this was built from.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/bags.py");
/// Variance of every whitened inducing value.
const SPREAD: f64 = 0.3;

/// The same pass by GPyTorch and PyTorch.
struct Peer {
    python: PathBuf,
    folder: PathBuf,
}

impl Peer {
    /// None, and says so, where it is not installed.
    fn find(python: &Path) -> Result<Option<Self>> {
        let versions = crate::chained_peer::versions(python);
        let Some(versions) = versions else {
            return Ok(None);
        };
        println!("peer: {versions}, on one thread, processor seconds");
        let folder = std::env::temp_dir().join(format!("quadrat-bags-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let python = python.to_owned();
        Ok(Some(Self { python, folder }))
    }

    /// Their bound, and their seconds for the value and with derivatives.
    fn pass(&self, map: &Map) -> Result<[f64; 3]> {
        let dims = map.induced.inducing().dims().len();
        let rows = |set: &Functionals| -> Vec<u8> {
            let all = (0..set.len()).flat_map(|i| (0..dims).map(move |d| set.extent(i, d).0));
            all.flat_map(f64::to_le_bytes).collect()
        };
        let chunks = (0..map.bags.chunks()).flat_map(|c| rows(map.induced.chunk(c)));
        std::fs::write(self.folder.join("points"), chunks.collect::<Vec<u8>>())?;
        std::fs::write(self.folder.join("inducing"), rows(map.induced.inducing()))?;
        let sample: Vec<Vec<usize>> = (0..map.bags.rows()).map(|r| map.bags.sample(r)).collect();
        let setting = serde_json::json!({
            "columns": dims, "bag": BAG, "sample": sample, "variance": VARIANCE, "lengthscale": LENGTHSCALE,
            "jitter": JITTER, "spread": SPREAD, "count": COUNT, "exposure": EXPOSURE,
        });
        std::fs::write(self.folder.join("problem.json"), setting.to_string())?;
        let output = Command::new(&self.python)
            .args(["-W", "ignore", SCRIPT])
            .arg(&self.folder)
            .env("OMP_NUM_THREADS", "1")
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(
            output.status.success(),
            "the peer did not pass over the pixels"
        );
        let found: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let number = |key: &str| found[key].as_f64().with_context(|| format!("no `{key}`"));
        Ok([number("bound")?, number("value")?, number("gradient")?])
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Prints ratios for a map of pixels, on one thread and on all; and beside a peer on one, where there is one.
pub fn run(python: &Path, inducing: &[usize]) -> Result<()> {
    let peer = Peer::find(python)?;
    let pixels = 96 * BAG;
    println!(
        "{pixels} pixels in bags of {BAG}, {COVARIATES} covariates and space; ratios are to a product [M, M] [M, N] of full matrices, 2 N M^2 flops, {CHUNK} columns at a time, on one thread (and `triangles`: the two products with triangles, as many flops, that the value contains)"
    );
    for &inducing in inducing {
        let (map, theta) = Map::new(pixels, inducing)?;
        let q = Normal::isotropic(inducing, SPREAD)?;
        let square = Mat::<f64>::from_fn(inducing, inducing, |i, j| 1.0 / (1 + i + j) as f64);
        let wide = Mat::<f64>::from_fn(inducing, CHUNK, |i, j| 1.0 / (2 + i + j) as f64);
        let mut out = Mat::<f64>::zeros(inducing, CHUNK);
        for threads in [1, rayon::current_num_threads()] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()?;
            let mut times = [f64::INFINITY; 4];
            let mut own = 0.0;
            for _ in 0..3 {
                let chunks = 0..pixels.div_ceil(CHUNK);
                let (_, dense) = once(|| {
                    for _ in chunks.clone() {
                        gemm_into(out.as_mut(), false, 1.0, square.as_ref(), wide.as_ref());
                    }
                });
                times[0] = times[0].min(dense.processor);
                let (_, triangles) = once(|| {
                    for _ in chunks.clone() {
                        lower_times_into(out.as_mut(), square.as_ref(), wide.as_ref());
                        lower_times_into(out.as_mut(), square.as_ref(), wide.as_ref());
                    }
                });
                times[3] = times[3].min(triangles.processor);
                for (k, with_gradient) in [(1, false), (2, true)] {
                    let (value, time) = pool.install(|| {
                        once(|| bound(&map, &theta, &q, LogSum::Matched, with_gradient))
                    });
                    own = value?.value;
                    let time = if threads == 1 {
                        time.processor
                    } else {
                        time.wall
                    };
                    times[k] = times[k].min(time);
                }
            }
            println!(
                "M = {inducing:4}, {threads} threads: dense {:7.1} ms (triangles {:7.1}), value {:7.1} ms ({:.2}x), with gradient {:7.1} ms ({:.2}x)",
                1e3 * times[0],
                1e3 * times[3],
                1e3 * times[1],
                times[1] / times[0],
                1e3 * times[2],
                times[2] / times[0]
            );
            let Some(peer) = peer.as_ref().filter(|_| threads == 1) else {
                continue;
            };
            let [bound, value, gradient] = peer.pass(&map)?;
            println!(
                "            GPyTorch:               value {:7.1} ms, ours 1/{:.1}; with gradient {:7.1} ms, ours 1/{:.1}; bound {bound:.6}, ours {own:.6}",
                1e3 * value,
                value / times[1],
                1e3 * gradient,
                gradient / times[2]
            );
        }
    }
    Ok(())
}
