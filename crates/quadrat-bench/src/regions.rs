//! Time of a Gram matrix of polygons as a multiple of the kernel evaluations it needs.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use faer::Mat;
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::special::exp_into;
use quadrat::support::{Aggregate, Functionals, Polygon};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Cells along the two sides of the map, and vertices per border of a cell.
const ACROSS: usize = 60;
const DOWN: usize = 50;
const WIGGLES: usize = 12;

/// Prints seconds of the Gram matrix and its gradient for a map of polygons, on all threads.
pub fn run() -> Result<()> {
    let map = map()?;
    let n = map.len();
    println!(
        "{n} polygons of {} vertices that share wiggly borders, {} threads",
        4 * WIGGLES,
        rayon::current_num_threads()
    );
    println!(
        "lengthscale in mean diameters; nodes per polygon; calls = exp of all pairs of nodes on as many threads"
    );
    let evaluation = exp_seconds();
    let adjoint = Mat::from_fn(n, n, |i, j| ((i + j) as f64 * 0.37).sin());
    for kernel in ["se", "matern52", "matern32", "matern12"] {
        let parsed = Kernel::parse(&format!("{kernel}(x, y)"))?;
        let covariance = Covariance::new(&parsed);
        for lengthscale in [1.0, 5.0] {
            let theta = [1.3, lengthscale, lengthscale];
            let nodes = covariance.nodes_per_row(&theta, &map);
            let total: usize = nodes.iter().sum();
            let calls =
                0.5 * (total as f64).powi(2) * evaluation / rayon::current_num_threads() as f64;
            let start = Instant::now();
            std::hint::black_box(covariance.matrix(&theta, &map));
            let value = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let mut gradient = vec![0.0; theta.len()];
            covariance.contract(&theta, &map, adjoint.as_ref(), &mut gradient);
            let slope = start.elapsed().as_secs_f64();
            println!(
                "{kernel:9} lengthscale {lengthscale:3}  nodes {:5.1}  calls {calls:6.2} s  matrix {value:6.2} s ({:.1}x)  contract {slope:6.2} s ({:.1}x)",
                total as f64 / n as f64,
                value / calls,
                slope / calls
            );
        }
    }
    Ok(())
}

/// A grid of cells whose borders wander; neighbours share theirs vertex by vertex.
fn map() -> Result<Functionals> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut corner = vec![vec![[0.0; 2]; DOWN + 1]; ACROSS + 1];
    for (i, column) in corner.iter_mut().enumerate() {
        for (j, v) in column.iter_mut().enumerate() {
            *v = [i, j].map(|k| k as f64 + random.random_range(-0.15..0.15));
        }
    }
    let mut border = |from: [f64; 2], to: [f64; 2]| -> Vec<[f64; 2]> {
        (0..WIGGLES)
            .map(|k| {
                let t = k as f64 / WIGGLES as f64;
                let off = if k == 0 {
                    0.0
                } else {
                    random.random_range(-0.03..0.03)
                };
                let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
                [from[0] + t * dx - off * dy, from[1] + t * dy + off * dx]
            })
            .collect()
    };
    let mut right = vec![vec![Vec::new(); DOWN + 1]; ACROSS];
    let mut up = vec![vec![Vec::new(); DOWN]; ACROSS + 1];
    for i in 0..=ACROSS {
        for j in 0..=DOWN {
            if i < ACROSS {
                right[i][j] = border(corner[i][j], corner[i + 1][j]);
            }
            if j < DOWN {
                up[i][j] = border(corner[i][j], corner[i][j + 1]);
            }
        }
    }
    // A border walked the other way starts at its far end.
    let back = |border: &[[f64; 2]], end: [f64; 2]| {
        let mut out = vec![end];
        out.extend(border[1..].iter().rev());
        out
    };
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for i in 0..ACROSS {
        for j in 0..DOWN {
            let mut ring = right[i][j].clone();
            ring.extend(&up[i + 1][j]);
            ring.extend(back(&right[i][j + 1], corner[i + 1][j + 1]));
            ring.extend(back(&up[i][j], corner[i][j + 1]));
            let polygon = Polygon::new(vec![vec![ring]])?;
            set.push_region(Arc::new(polygon.into()), Aggregate::Mean)?;
        }
    }
    Ok(set)
}

/// Seconds of one exponential within an array.
fn exp_seconds() -> f64 {
    let x: Vec<f64> = (0..4096).map(|k| -f64::from(k) * 1e-3).collect();
    let mut out = vec![0.0; x.len()];
    (0..50)
        .map(|_| {
            let start = Instant::now();
            exp_into(std::hint::black_box(&x), &mut out);
            std::hint::black_box(&out);
            start.elapsed().as_secs_f64() / x.len() as f64
        })
        .fold(f64::INFINITY, f64::min)
}
