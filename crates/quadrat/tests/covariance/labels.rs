//! Effects of labels alone, in sums and in products, between points and bags.

use faer::Mat;
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::support::{Aggregate, Functionals};

use crate::common::{below, random, theta, uniform};

const KERNELS: [&str; 7] = [
    "iid(s)",
    "se(x, y) + iid(s)",
    "se(x) * iid(s)",
    "matern32(x, y) * iid(s) * iid(r) + linear(x)",
    "(iid(s) + constant) * (periodic(x, period = 1.7) + iid(r))",
    "linear(s) + iid(s) * matern12(x) + iid(s) * iid(s)",
    "coregion(o, a, b) * se(x) + iid(s)",
];

/// Labels from 0 to 2, outputs 0 and 1, other coordinates anywhere.
fn place(kernel: &Kernel, rng: &mut rand_chacha::ChaCha8Rng) -> Vec<f64> {
    let mut coordinate = |name: &String| match name.as_str() {
        "s" | "r" => below(rng, 3) as f64,
        "o" => below(rng, 2) as f64,
        _ => uniform(rng, -1.0, 1.0),
    };
    kernel.columns().iter().map(&mut coordinate).collect()
}

/// Points of a row with their weights.
type Nodes = Vec<(Vec<f64>, f64)>;

/// Points, and bags whose points have labels of their own.
fn supports(kernel: &Kernel, seed: u64) -> (Functionals, Vec<Nodes>) {
    let rng = &mut random(seed);
    let mut set = Functionals::new(kernel.columns().to_vec());
    let mut rows = Vec::new();
    for row in 0..14 {
        let n = if row % 3 == 2 { 4 } else { 1 };
        let nodes: Nodes = (0..n)
            .map(|_| {
                (
                    place(kernel, rng),
                    if n == 1 { 1.0 } else { uniform(rng, 0.1, 1.0) },
                )
            })
            .collect();
        let (points, weights): (Vec<Vec<f64>>, Vec<f64>) = nodes.iter().cloned().unzip();
        match n {
            1 => set.push_point(&points[0]).unwrap(),
            _ => set.push_nodes(&points, &weights).unwrap(),
        }
        rows.push(nodes);
    }
    (set, rows)
}

#[test]
fn sums_over_points_are_those_of_the_kernel_itself() {
    for (k, text) in KERNELS.iter().enumerate() {
        let kernel = Kernel::parse(text).unwrap();
        let theta = theta(&kernel, &mut random(k as u64));
        let (set, rows) = supports(&kernel, 20 + k as u64);
        let covariance = Covariance::new(&kernel);
        let got = covariance.matrix(&theta, &set);
        let diagonal = covariance.diagonal(&theta, &set);
        for (i, a) in rows.iter().enumerate() {
            // A few roundings of values up to some ten, as below.
            assert!((diagonal[i] - got[(i, i)]).abs() < 1e-13, "{text}: {i}");
            for (j, b) in rows.iter().enumerate() {
                let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
                let terms = pairs.map(|((x, v), (y, w))| v * w * kernel.value(&theta, x, y));
                let expected: f64 = terms.sum();
                // A few roundings of values up to some ten.
                assert!((got[(i, j)] - expected).abs() < 1e-13, "{text}: {i}, {j}");
            }
        }
    }
}

#[test]
fn gradients_are_central_differences() {
    for (k, text) in KERNELS.iter().enumerate() {
        let kernel = Kernel::parse(text).unwrap();
        let theta = theta(&kernel, &mut random(50 + k as u64));
        let (set, _) = supports(&kernel, 70 + k as u64);
        let covariance = Covariance::new(&kernel);
        let n = set.len();
        let adjoint = Mat::from_fn(n, n, |i, j| (1.0 + (i + j) as f64).sin());
        let value = |theta: &[f64]| -> f64 {
            let k = covariance.matrix(theta, &set);
            let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            pairs.map(|(i, j)| adjoint[(i, j)] * k[(i, j)]).sum()
        };
        let mut gradient = vec![0.0; theta.len()];
        covariance.contract(&theta, &set, adjoint.as_ref(), &mut gradient);
        for (p, got) in gradient.iter().enumerate() {
            let h = 1e-5;
            let shifted = |by: f64| {
                let mut theta = theta.clone();
                theta[p] += by;
                value(&theta)
            };
            let difference = (shifted(h) - shifted(-h)) / (2.0 * h);
            // h^2 = 1e-10 of third derivatives, of 196 entries of order one.
            assert!(
                (got - difference).abs() < 1e-6 * (1.0 + difference.abs()),
                "{text} {p}: {got} {difference}"
            );
        }
    }
}

/// Variances count once for a product, and a label beside a box along another column is a factor.
#[test]
fn a_label_beside_a_box_is_a_factor() {
    let kernel = Kernel::parse("se(x) * iid(s)").unwrap();
    let mut set = Functionals::new(kernel.columns().to_vec());
    for (low, high, label) in [(0.0, 1.0, 4.0), (0.5, 2.0, 4.0), (0.0, 1.0, 5.0)] {
        set.push_box(&[(low, high), (label, label)], Aggregate::Mean)
            .unwrap();
    }
    let got = Covariance::new(&kernel).matrix(&[1.3, 0.7], &set);
    let alone = Kernel::se(["x"]);
    let own = set.select(alone.columns()).unwrap();
    let want = Covariance::new(&alone).matrix(&[1.3, 0.7], &own);
    for i in 0..3 {
        for j in 0..3 {
            let factor = if (i == 2) == (j == 2) { 1.0 } else { 0.0 };
            assert_eq!(got[(i, j)], factor * want[(i, j)], "{i}, {j}");
        }
    }
}
