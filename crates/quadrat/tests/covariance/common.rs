//! Random kernels and supports.

use quadrat::kernel::{Kernel, Role};
use quadrat::support::{Aggregate, Functional, Functionals, Side};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Expressions of every kind and every way to compose them, over `x`, `y`, `z`, `t`.
pub const KERNELS: [&str; 30] = [
    "constant",
    "linear(x)",
    "linear(x, y)",
    "se(x)",
    "se(x, y)",
    "se(x, y, z, t, shared = true)",
    "matern12(x)",
    "matern32(x)",
    "matern52(x)",
    "matern12(x, y)",
    "matern32(x, y)",
    "matern52(x, y, shared = true)",
    "matern32(x, y, z)",
    "rq(x)",
    "rq(x, y)",
    "periodic(t)",
    "periodic(t, period = 0.7)",
    "periodic(x, y, shared = true)",
    "se(x) + matern32(y)",
    "se(x) * matern32(y) + linear(t) + constant",
    "se(x) + matern32(y) + linear(t)",
    "se(t) * periodic(t)",
    "matern32(t) * periodic(t, period = 1.3)",
    "linear(t) * se(t)",
    "matern12(t) * linear(t) + se(x)",
    "(se(x) + constant) * (matern52(y) + periodic(t))",
    "se(x, t) * matern12(x) * rq(y)",
    "linear(x) * linear(x) + se(x) * matern52(x)",
    "linear(x, origin = 1.5) + matern12(y)",
    "linear(t, origin = -0.6) * se(t) + linear(t)",
];

pub fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Uniform on `[low, high)`.
pub fn uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low..high)
}

pub fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    rng.random_range(0..n)
}

/// Hyperparameters of order one; fixed ones at their value.
pub fn theta(kernel: &Kernel, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let draw = |p: &quadrat::kernel::KernelParameter| match (p.fixed, &p.role) {
        (Some(value), _) => value,
        (None, Role::PeriodicLengthscale) => uniform(rng, 0.6, 1.5),
        (None, _) => uniform(rng, 0.5, 2.0),
    };
    kernel.parameters().iter().map(draw).collect()
}

/// What a random support may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shapes {
    Points,
    Boxes,
    Nodes,
    Mixed,
}

/// `n` supports in `[-2, 2]`; widths are 10 to the power of a number in `exponents`.
pub fn supports(
    columns: &[String],
    n: usize,
    shapes: Shapes,
    exponents: (f64, f64),
    rng: &mut ChaCha8Rng,
) -> Functionals {
    let mut set = Functionals::new(columns.to_vec());
    let d = columns.len();
    for row in 0..n {
        let shape = match shapes {
            Shapes::Mixed => [
                Shapes::Points,
                Shapes::Boxes,
                Shapes::Boxes,
                Shapes::Nodes,
                Shapes::Mixed,
            ][below(rng, 5)],
            other => other,
        };
        let point = |rng: &mut ChaCha8Rng| -> Vec<f64> {
            (0..d).map(|_| uniform(rng, -2.0, 2.0)).collect()
        };
        let edge = |rng: &mut ChaCha8Rng| {
            let low = uniform(rng, -2.0, 2.0);
            let width = 10f64.powf(uniform(rng, exponents.0, exponents.1));
            // Wide boxes lie around the others, not to one side.
            let shift = uniform(rng, 0.0, 1.0) * width;
            (low - shift, low - shift + width)
        };
        match shape {
            Shapes::Points => set.push_point(&point(rng)).unwrap(),
            Shapes::Boxes => {
                let edges: Vec<_> = (0..d).map(|_| edge(rng)).collect();
                let aggregate = [Aggregate::Sum, Aggregate::Mean][row % 2];
                set.push_box(&edges, aggregate).unwrap();
            }
            // A box in some dimensions, a point in the others.
            Shapes::Mixed => {
                let sides = (0..d)
                    .map(|_| match (below(rng, 2), edge(rng)) {
                        (0, (low, _)) => Side::Point(low),
                        (_, (low, high)) => Side::Interval(low, high),
                    })
                    .collect();
                let aggregate = Aggregate::Sum;
                set.push(&Functional::Box { sides, aggregate }).unwrap();
            }
            Shapes::Nodes => {
                let count = 1 + below(rng, 4);
                let points: Vec<_> = (0..count).map(|_| point(rng)).collect();
                let weights: Vec<f64> = (0..count).map(|_| uniform(rng, -1.0, 1.0)).collect();
                set.push_nodes(&points, &weights).unwrap();
            }
        }
    }
    set
}
