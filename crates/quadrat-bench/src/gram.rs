//! Time of a Gram matrix as a multiple of the special functions it needs.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use faer::Mat;
use quadrat::covariance::{Covariance, Grid};
use quadrat::kernel::Kernel;
use quadrat::special::{erf_into, exp_into};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BOXES: usize = 900;
const ROUNDS: usize = 5;

/// Prints nanoseconds per entry and ratios to the special functions, on one thread.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(measure)
}

fn measure() -> Result<()> {
    let boxes = random_boxes()?;
    let entries = (BOXES * (BOXES + 1) / 2) as f64;
    println!(
        "{BOXES} random boxes, widths 0.1-3 lengthscales, one thread; ns per entry of the triangle"
    );
    for (name, erf) in [("se", true), ("matern52", false)] {
        // Four corners in each of two dimensions.
        let calls = calls(8 * entries as usize, erf)? / entries;
        let (kernel, theta) = if erf {
            (Kernel::se(["x", "y"]), vec![1.3, 1.0, 1.0])
        } else {
            (
                Kernel::parse("matern52(x) * matern52(y)")?,
                vec![1.3, 1.0, 1.0],
            )
        };
        let covariance = Covariance::new(&kernel);
        let value = best(|| covariance.matrix(&theta, &boxes)) / entries;
        let adjoint = Mat::from_fn(BOXES, BOXES, |i, j| ((i + j) as f64 * 0.37).sin());
        let gradient = best(|| {
            let mut gradient = vec![0.0; theta.len()];
            covariance.contract(&theta, &boxes, adjoint.as_ref(), &mut gradient);
            gradient
        }) / entries;
        println!(
            "{name:9} calls {calls:6.1}  matrix {value:6.1} ({:.2}x)  contract {gradient:6.1} ({:.2}x)  both {:.2}x",
            value / calls,
            gradient / calls,
            (value + gradient) / calls
        );
    }
    grid()?;
    series()
}

/// A time series: rows on a lattice, and the same rows moved off it.
fn series() -> Result<()> {
    const ROWS: usize = 1000;
    for (text, width) in [("se(t) + periodic(t)", 0.0), ("se(t) * periodic(t)", 1.0)] {
        let covariance = Covariance::new(&Kernel::parse(text)?);
        let mut theta = vec![1.3, 8.0, 1.1, 0.7, 24.0];
        theta.truncate(Kernel::parse(text)?.parameters().len());
        let time = |jitter: f64| -> Result<f64> {
            let mut random = ChaCha8Rng::seed_from_u64(3);
            let mut set = Functionals::new(vec!["t".into()]);
            for i in 0..ROWS {
                let lower = i as f64 + jitter * random.random::<f64>();
                set.push_box(&[(lower, lower + width)], Aggregate::Mean)?;
            }
            Ok(best(|| covariance.matrix(&theta, &set)) / (ROWS * (ROWS + 1) / 2) as f64)
        };
        let (even, uneven) = (time(0.0)?, time(0.3)?);
        println!(
            "{ROWS} rows of width {width}, {text}: evenly spaced {even:.2} ns per entry, unevenly {uneven:.2} ({:.1}x)",
            uneven / even
        );
    }
    Ok(())
}

/// A complete grid, as a whole (table path) and by its axes.
fn grid() -> Result<()> {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for i in 0..100 {
        for j in 0..100 {
            let (x, y) = (f64::from(i) * 0.3, f64::from(j) * 0.2);
            set.push_box(&[(x, x + 0.3), (y, y + 0.2)], Aggregate::Sum)?;
        }
    }
    let covariance = Covariance::new(&Kernel::se(["x", "y"]));
    let theta = [1.3, 1.0, 1.0];
    let find = best(|| Grid::find(&set));
    let (Some(grid), Some(axes)) = (Grid::find(&set), covariance.along_axes(2)) else {
        anyhow::bail!("the grid was not found");
    };
    let kronecker = best(|| {
        let one = |(a, s): (&Covariance, &Functionals)| a.matrix(&theta, s);
        axes.iter().zip(&grid.axes).map(one).collect::<Vec<_>>()
    });
    let first: Vec<usize> = (0..1000).collect();
    let part = set.rows(&first);
    let dense = best(|| covariance.matrix(&theta, &part)) / 500_500.0;
    println!(
        "grid 100 x 100: find {:.0} us, axes {:.0} us; table path {dense:.1} ns per entry",
        find / 1e3,
        kronecker / 1e3
    );
    Ok(())
}

fn random_boxes() -> Result<Functionals> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for _ in 0..BOXES {
        let mut edge = || {
            let low: f64 = random.random_range(0.0..10.0);
            (low, low + random.random_range(0.1..3.0))
        };
        set.push_box(&[edge(), edge()], Aggregate::Mean)?;
    }
    Ok(set)
}

/// Nanoseconds of so many `exp` and, if asked, `erf` of corner distances, over blocks that stay in
/// the cache.
fn calls(count: usize, erf: bool) -> Result<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let x: Vec<f64> = (0..4096).map(|_| random.random_range(0.0..7.0)).collect();
    let negative: Vec<f64> = x.iter().map(|x| -0.5 * x * x).collect();
    let mut out = vec![0.0; x.len()];
    let per_block = best(|| {
        for _ in 0..20 {
            exp_into(black_box(&negative), &mut out);
            black_box(&out);
            if erf {
                erf_into(black_box(&x), &mut out);
                black_box(&out);
            }
        }
    }) / 20.0;
    Ok(per_block * count as f64 / x.len() as f64)
}

/// Time of one run in nanoseconds: the shortest of several averages over a tenth of a second.
fn best<T>(mut f: impl FnMut() -> T) -> f64 {
    (0..ROUNDS)
        .map(|_| {
            let (start, from) = (Instant::now(), processor_time());
            let mut runs = 0.0;
            while start.elapsed().as_millis() < 100 {
                black_box(f());
                runs += 1.0;
            }
            match (from, processor_time()) {
                (Some(from), Some(to)) if to > from => (to - from) / runs,
                _ => start.elapsed().as_nanos() as f64 / runs,
            }
        })
        .fold(f64::INFINITY, f64::min)
}

/// Nanoseconds this thread has run, where the system tells: others' load then does not count.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
