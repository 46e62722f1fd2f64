//! Time of a pass over pixels as a multiple of the matrix products that its value contains, and
//! beside that of a peer.
//!
//! The value needs `A = L^-1 K_uX` and `B = C^-1 A`, two products of a triangle `[M, M]` with `[M,
//! N]`: `2 N M^2` flops. What times are divided by is one product of a full matrix `[M, M]` with
//! `[M, N]` (`dense`): as many flops, at the speed of the library's plain product, which has no
//! triangle to go round; so what two triangles lose against that counts against us. Their own time
//! is printed beside it (`triangles`). With the gradient a pass contains `5 N M^2` flops: another
//! `2 N M^2` for a full product and `N M^2` for half of a symmetric one.

mod country;
mod map;
mod peer;

use std::path::Path;

use anyhow::Result;
use faer::Mat;
use quadrat::linalg::{gemm_into, lower_times_into};

pub use self::country::run as run_country;
use self::map::{BAG, CHUNK, COVARIATES, Map};
use self::peer::Peer;
use crate::clock::once;

/// Prints ratios for a map of pixels, on one thread and on all; and beside a peer on one, where
/// there is one.
pub fn run(python: &Path, inducing: &[usize]) -> Result<()> {
    let peer = Peer::find(python)?;
    if let Some(peer) = &peer {
        println!("peer: {}, on one thread, processor seconds", peer.versions);
    }
    let pixels = 96 * BAG;
    println!(
        "{pixels} pixels in bags of {BAG}, {COVARIATES} covariates and space; ratios are to a product [M, M] [M, N] of full matrices, 2 N M^2 flops, {CHUNK} columns at a time, on one thread (and `triangles`: the two products with triangles, as many flops, that the value contains)"
    );
    for &inducing in inducing {
        let map = Map::random(pixels, inducing)?;
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
                    let (value, time) = pool.install(|| once(|| map.bound(with_gradient)));
                    own = value?;
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
            let theirs = peer.pass(&map, 1, 2)?;
            println!(
                "            GPyTorch:               value {:7.1} ms, ours 1/{:.1}; with gradient {:7.1} ms, ours 1/{:.1}; bound {:.6}, ours {own:.6}",
                1e3 * theirs.value,
                theirs.value / times[1],
                1e3 * theirs.gradient,
                theirs.gradient / times[2],
                theirs.bound
            );
            theirs.agrees(own)?;
        }
    }
    Ok(())
}
