//! One covariance costs little memory and work and stays a covariance, whatever the hyperparameters
//! are.
//!
//! Every leaf of one dimension, and products of leaves, over intervals, regions and points, with
//! hyperparameters drawn over hundreds of decades. A counting allocator tells the memory.

// Only an allocator can count, and its trait is unsafe.
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use faer::{Mat, Side};
use quadrat::covariance::Covariance;
use quadrat::kernel::{Kernel, Role};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// Memory is counted of one test at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
/// The largest request so far, and the size of those that are not counted.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
static RESERVED: AtomicUsize = AtomicUsize::new(usize::MAX);

fn add(size: usize) {
    LARGEST.fetch_max(size, Ordering::Relaxed);
    if size == RESERVED.load(Ordering::Relaxed) {
        return;
    }
    let now = NOW.fetch_add(size, Ordering::Relaxed) + size;
    MOST.fetch_max(now, Ordering::Relaxed);
}

/// Large products of matrices reserve room of a fixed size, of which they touch next to nothing, so
/// that it is address space and no memory: finds out that size.
fn leave_out_what_products_reserve() {
    let a = Mat::<f64>::zeros(160, 4096);
    LARGEST.store(0, Ordering::Relaxed);
    let product = &a * a.transpose();
    assert_eq!(product.nrows(), 160);
    let largest = LARGEST.load(Ordering::Relaxed);
    if largest > MEMORY {
        RESERVED.store(largest, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the allocator of the system; beside it there are two counters.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if layout.size() != RESERVED.load(Ordering::Relaxed) {
            NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Most memory that one covariance may take.
const MEMORY: usize = 64 << 20;
/// The same over regions: products of matrices reserve more than they touch, by the size of these.
const MEMORY_OF_REGIONS: usize = 400 << 20;
/// It takes some milliseconds; a machine that does much else besides may take so long.
const TIME: Duration = Duration::from_secs(5);
/// Over regions it takes up to a second.
const TIME_OF_REGIONS: Duration = Duration::from_secs(60);

/// Over intervals and points of `t`.
const LINES: [&str; 12] = [
    "constant",
    "linear(t)",
    "se(t)",
    "matern12(t)",
    "matern32(t)",
    "matern52(t)",
    "rq(t)",
    "periodic(t)",
    "se(t) * periodic(t)",
    "matern12(t) * periodic(t)",
    "rq(t) * matern32(t)",
    "periodic(t) * periodic(t)",
];

fn lines() -> Functionals {
    let mut set = Functionals::new(vec!["t".into()]);
    for (low, high) in [
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, 2.001),
        (0.5, 7.0),
        (-3.0, 9.0),
    ] {
        set.push_box(&[(low, high)], Aggregate::Mean).unwrap();
    }
    set.push_box(&[(0.3, 0.3)], Aggregate::Mean).unwrap();
    set
}

/// Log-uniform over 280 decades, so that squares are numbers.
fn theta(kernel: &Kernel, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let draw = |p: &quadrat::kernel::KernelParameter| match p.role {
        Role::Variance => 1.0,
        _ if rng.random_range(0..3) == 0 => 10_f64.powf(rng.random_range(-140.0..140.0)),
        // And most often where something happens.
        _ => 10_f64.powf(rng.random_range(-12.0..6.0)),
    };
    kernel.parameters().iter().map(draw).collect()
}

/// The same for kernels of two columns, whose lengthscales are within a factor of thirty: of
/// regions that are thin in lengthscales of one column and long in those of the other edges cancel.
fn theta_of_planes(kernel: &Kernel, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let level = match rng.random_range(0..3) {
        0 => rng.random_range(-140.0..140.0),
        _ => rng.random_range(-12.0..6.0),
    };
    let draw = |p: &quadrat::kernel::KernelParameter| match p.role {
        Role::Variance => 1.0,
        Role::Lengthscale(_) => 10_f64.powf(level + rng.random_range(-0.75..0.75)),
        _ => 10_f64.powf(rng.random_range(-12.0..6.0)),
    };
    kernel.parameters().iter().map(draw).collect()
}

/// The covariance with its gradient, by what it may take; and whether it is one.
fn check(text: &str, set: &Functionals, theta: &[f64], tolerance: f64) {
    let kernel: Kernel = text.parse().unwrap();
    let covariance = Covariance::new(&kernel);
    let case = format!("{text} {theta:?}");
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let k = covariance.matrix(theta, set);
    let n = set.len();
    let adjoint = Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + i as f64 + j as f64));
    let mut gradient = vec![0.0; theta.len()];
    covariance.contract(theta, set, adjoint.as_ref(), &mut gradient);
    let (time, memory) = (start.elapsed(), MOST.load(Ordering::Relaxed) - before);
    let limit = if set.has_regions() {
        MEMORY_OF_REGIONS
    } else {
        MEMORY
    };
    assert!(memory < limit, "{case}: {} MB", memory >> 20);
    let limit = if set.has_regions() {
        TIME_OF_REGIONS
    } else {
        TIME
    };
    assert!(time < limit, "{case}: {time:?}");
    let scale: Vec<f64> = (0..n).map(|i| k[(i, i)].max(0.0).sqrt()).collect();
    for i in 0..n {
        for j in 0..n {
            assert!(k[(i, j)].is_finite(), "{case}: {i} {j} {}", k[(i, j)]);
            assert_eq!(k[(i, j)], k[(j, i)], "{case}");
        }
    }
    // In units of the standard deviations; what is nothing is left out.
    let kept: Vec<usize> = (0..n).filter(|&i| scale[i] > 1e-140).collect();
    let m = kept.len();
    let scaled = Mat::from_fn(m, m, |i, j| {
        k[(kept[i], kept[j])] / (scale[kept[i]] * scale[kept[j]])
    });
    let values = scaled.self_adjoint_eigenvalues(Side::Lower).unwrap();
    let least = values.into_iter().fold(f64::INFINITY, f64::min);
    assert!(least > -(n as f64) * tolerance, "{case}: {least:e}");
}

/// Over regions of the plane: one factor for both columns, one for each, and kernels without a rule
/// on edges. How far the smallest eigenvalue may be below zero is what their entries are right to.
const PLANES: [(&str, f64); 10] = [
    ("se(x, y)", 1e-7),
    ("matern12(x, y)", 1e-6),
    ("matern32(x, y)", 1e-6),
    ("matern52(x, y)", 1e-6),
    ("rq(x, y)", 1e-6),
    ("se(x) * matern12(y)", 1e-6),
    ("matern32(x) * matern52(y)", 1e-6),
    (
        "se(x, y) + matern12(x, y) + matern52(x) * matern12(y)",
        1e-6,
    ),
    // Nodes, which are positive semi-definite to rounding.
    ("se(x, y) * matern52(x)", 1e-9),
    ("matern32(x) + se(y)", 1e-9),
];

/// Six unit squares side by side, one with a hole, one across others, a sliver; a box and a point.
fn planes() -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    let mut push = |rings: Vec<Vec<[f64; 2]>>| {
        let polygon = Polygon::new(vec![rings]).unwrap();
        set.push_region(Region::from(polygon), Aggregate::Mean)
            .unwrap();
    };
    let square = |x: f64, y: f64, side: f64| {
        vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    };
    for k in 0..6 {
        push(vec![square(f64::from(k % 3), f64::from(k / 3), 1.0)]);
    }
    push(vec![square(-1.0, -1.0, 5.0), square(0.5, 0.25, 1.0)]);
    push(vec![vec![[0.1, 0.2], [2.7, 0.4], [1.4, 1.9], [0.3, 1.1]]]);
    push(vec![vec![[0.0, 2.0], [3.0, 2.0], [3.0, 2.001]]]);
    set.push_box(&[(3.0, 4.0), (0.0, 2.0)], Aggregate::Mean)
        .unwrap();
    set.push_point(&[0.6, 0.7]).unwrap();
    set
}

const SEEDS: u64 = 60;

#[test]
fn covariances_of_regions_have_a_limit_of_cost_at_any_hyperparameters() {
    let _alone = ALONE.lock();
    leave_out_what_products_reserve();
    for (text, tolerance) in PLANES {
        // Sums of kernels of one column each may take long at extremes: a few are looked at.
        let seeds = if text.ends_with("+ se(y)") {
            3
        } else {
            SEEDS / 4
        };
        for seed in 0..seeds {
            let kernel: Kernel = text.parse().unwrap();
            let theta = theta_of_planes(&kernel, &mut ChaCha8Rng::seed_from_u64(seed));
            check(text, &planes(), &theta, tolerance);
        }
    }
}

#[test]
fn covariances_of_intervals_have_a_limit_of_cost_at_any_hyperparameters() {
    let _alone = ALONE.lock();
    // The first use of a rule makes it.
    let start =
        |text: &str, seed: u64| theta(&text.parse().unwrap(), &mut ChaCha8Rng::seed_from_u64(seed));
    check("se(t)", &lines(), &start("se(t)", 0), 1e-12);
    for text in LINES {
        for seed in 0..SEEDS {
            // A cycle that counts with its mean is off by some 1e-5.
            let tolerance = if text.contains("* periodic") {
                1e-4
            } else {
                1e-12
            };
            check(text, &lines(), &start(text, seed), tolerance);
        }
    }
}

/// Means over everything tend to the value at a point as lengthscales grow.
#[test]
fn long_lengthscales_leave_one_value_for_all_supports() {
    let set = lines();
    for text in &LINES[2..] {
        let kernel: Kernel = text.parse().unwrap();
        let long = |p: &quadrat::kernel::KernelParameter| match p.role {
            Role::Variance | Role::Alpha => 1.0,
            _ => 1e12,
        };
        let theta: Vec<f64> = kernel.parameters().iter().map(long).collect();
        let k = Covariance::new(&kernel).matrix(&theta, &set);
        for i in 0..set.len() {
            for j in 0..set.len() {
                // Distances up to 12 over 1e12, of which the roughest kernels lose as much: 1e-11 a
                // leaf.
                assert!((k[(i, j)] - 1.0).abs() < 1e-9, "{text} {i} {j}");
            }
        }
    }
}

/// As lengthscales shrink, means keep what their supports have in common, times the size of the
/// kernel.
#[test]
fn short_lengthscales_leave_what_supports_have_in_common() {
    let pi = std::f64::consts::PI;
    let of_line = [
        ("se(t)", (2.0 * pi).sqrt()),
        ("matern12(t)", 2.0),
        ("matern32(t)", 4.0 / 3_f64.sqrt()),
        ("matern52(t)", 16.0 / (3.0 * 5_f64.sqrt())),
    ];
    for l in [1e-7, 1e-40, 1e-130] {
        for (text, size) in of_line {
            let kernel: Kernel = text.parse().unwrap();
            let k = Covariance::new(&kernel).matrix(&[1.0, l], &lines());
            // Of the first interval with itself, its neighbour, one around both, and a point in it.
            for (j, expected) in [(0, 1.0), (1, 0.0), (3, 0.5 / 6.5), (5, 1.0)] {
                assert!(
                    (k[(0, j)] / (size * l) - expected).abs() < 1e-6,
                    "{text} {l:e} {j}"
                );
            }
        }
    }
}
