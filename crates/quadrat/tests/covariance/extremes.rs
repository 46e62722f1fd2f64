//! Kernels at arguments of every size that numbers have: finite, symmetric, positive
//! semi-definite, and at their limits.

use faer::{Mat, Side};
use quadrat::covariance::Covariance;
use quadrat::kernel::{Kernel, KernelParameter, Role};
use quadrat::support::{Aggregate, Functionals};
use rand_chacha::ChaCha8Rng;

use crate::common::{below, random, uniform};

/// Decades to either side of one from which lengths are drawn.
const DECADES: f64 = 300.0;
/// Those of periods: the number of periods between two places, over a period, is a number too.
const PERIODS: f64 = 70.0;

/// Kernels of one dimension, and of several at once.
const BETWEEN_POINTS: [&str; 14] = [
    "se(x)",
    "matern12(x)",
    "matern32(x)",
    "matern52(x)",
    "rq(x)",
    "periodic(x)",
    "se(x, y)",
    "matern12(x, y)",
    "matern32(x, y)",
    "matern52(x, y, z)",
    "rq(x, y)",
    "se(x, y, z, t, u, v, w)",
    "matern52(x, y, z, t, u, v, w)",
    "se(x) * matern52(y) + matern32(x)",
];

/// What `2 integral_0^inf kappa` is.
const OVER_BOXES: [(&str, f64); 4] = [
    ("se(x)", 2.506_628_274_631_000_5),
    ("matern12(x)", 2.0),
    ("matern32(x)", 2.309_401_076_758_503),
    ("matern52(x)", 2.385_139_175_999_776),
];

fn length(decades: f64, rng: &mut ChaCha8Rng) -> f64 {
    10f64.powf(uniform(rng, -decades, decades))
}

fn coordinate(decades: f64, rng: &mut ChaCha8Rng) -> f64 {
    match below(rng, 8) {
        0 => 0.0,
        1..4 => -length(decades, rng),
        _ => length(decades, rng),
    }
}

/// Lengths of any size, all else of order one.
fn theta(kernel: &Kernel, decades: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let draw = |p: &KernelParameter| match p.role {
        Role::Lengthscale(_) | Role::Period(_) => length(decades, rng),
        _ => uniform(rng, 0.5, 2.0),
    };
    kernel.parameters().iter().map(draw).collect()
}

/// Distances in lengthscales lie above or below these with nothing between them in most pairs.
const FAR: f64 = 1e10;
const NEAR: f64 = 1e-9;
/// Averages over wider boxes, in lengthscales, are next to no numbers: widths are taken for no
/// longer.
const WIDEST: f64 = 1e299;

/// Checks what holds of every matrix of points or of averages over boxes, and returns it.
fn checked(what: &str, kernel: &Kernel, theta: &[f64], set: &Functionals) -> Mat<f64> {
    let covariance = Covariance::new(kernel);
    let n = set.len();
    let k = covariance.matrix(theta, set);
    let cross = covariance.cross(theta, set, set);
    let diagonal = covariance.diagonal(theta, set);
    let origin = vec![0.0; kernel.columns().len()];
    let most = kernel.value(theta, &origin, &origin);
    for i in 0..n {
        for j in 0..n {
            let value = k[(i, j)];
            // Rounding of some 10 eps, of a sum of members some more.
            let bound = most * (1.0 + 1e-13);
            assert!(
                value.abs() <= bound,
                "{what}, ({i}, {j}): {value} {theta:?}"
            );
            assert_eq!(value, k[(j, i)], "{what}, ({i}, {j}): {theta:?}");
            let off = (value - cross[(i, j)]).abs();
            assert!(off <= 1e-13 * most, "{what}, ({i}, {j}): {off} {theta:?}");
        }
        // As above.
        assert!((diagonal[i] - k[(i, i)]).abs() <= 1e-13 * most, "{what}");
    }
    let scaled = Mat::from_fn(n, n, |i, j| {
        k[(i, j)] / (diagonal[i].sqrt() * diagonal[j].sqrt())
    });
    let values = scaled.self_adjoint_eigenvalues(Side::Lower).unwrap();
    // An eigenvalue moves by at most the norm of the rounding, 10 eps an entry.
    let allowed = -10.0 * n as f64 * f64::EPSILON;
    assert!(values[0] >= allowed, "{what}: {values:?} {theta:?}");
    let adjoint = Mat::from_fn(n, n, |i, j| ((i * j) as f64).cos());
    let mut gradient = vec![0.0; theta.len()];
    covariance.contract(theta, set, adjoint.as_ref(), &mut gradient);
    let finite = gradient.iter().all(|g| g.is_finite());
    assert!(finite, "{what}: {gradient:?} {theta:?}");
    k
}

#[test]
fn points_of_any_size_have_correlations_at_their_limits() {
    for text in BETWEEN_POINTS {
        let kernel = Kernel::parse(text).unwrap();
        let is_periodic = text.starts_with("periodic");
        let decades = if is_periodic { PERIODS } else { DECADES };
        for seed in 0..60 {
            let rng = &mut random(seed);
            let theta = theta(&kernel, decades, rng);
            let dims = kernel.columns().len();
            let mut set = Functionals::new(kernel.columns().to_vec());
            let mut points = Vec::new();
            for _ in 0..7 {
                let x: Vec<f64> = (0..dims).map(|_| coordinate(decades, rng)).collect();
                points.push(x);
            }
            points.push(points[below(rng, 7)].clone());
            points.iter().for_each(|x| set.push_point(x).unwrap());
            let k = checked(&format!("{text}, seed {seed}"), &kernel, &theta, &set);
            let most = kernel.value(&theta, &points[0], &points[0]);
            for (i, x) in points.iter().enumerate() {
                for (j, y) in points.iter().enumerate() {
                    let value = k[(i, j)];
                    let direct = kernel.value(&theta, x, y);
                    // Distances of many dimensions come from products, which round more.
                    assert!(
                        (value - direct).abs() <= 1e-8 * most,
                        "{text}, seed {seed}, ({i}, {j}): {value} {direct} {theta:?}"
                    );
                    if text.contains('+') || is_periodic {
                        continue;
                    }
                    let scales = kernel.parameters().iter().zip(&theta);
                    let scales = scales.filter(|(p, _)| matches!(p.role, Role::Lengthscale(_)));
                    let gaps = x.iter().zip(y).zip(scales);
                    let gap = gaps
                        .map(|((x, y), (_, l))| (x - y).abs() / l)
                        .fold(0.0, f64::max);
                    if gap < NEAR {
                        // Distances below 1e-9, of which the roughest kernels lose as much.
                        assert!((value / most - 1.0).abs() < 1e-8, "{text}, seed {seed}");
                    }
                    if gap > FAR && !text.starts_with("rq") {
                        assert_eq!(value, 0.0, "{text}, seed {seed}, ({i}, {j})");
                    }
                }
            }
        }
    }
}

#[test]
fn boxes_of_any_size_have_averages_at_their_limits() {
    for (text, area) in OVER_BOXES {
        let kernel = Kernel::parse(text).unwrap();
        for seed in 0..200 {
            let rng = &mut random(seed);
            let theta = theta(&kernel, DECADES, rng);
            let mut set = Functionals::new(vec!["x".into()]);
            let mut boxes = Vec::new();
            for _ in 0..6 {
                let lower = coordinate(DECADES, rng);
                boxes.push((lower, lower + length(DECADES, rng)));
            }
            // Half of a box more to the right.
            let (lower, upper) = boxes[0];
            boxes.push((lower + 0.5 * (upper - lower), upper + 0.5 * (upper - lower)));
            for b in &boxes {
                set.push_box(&[*b], Aggregate::Mean).unwrap();
            }
            let k = checked(&format!("{text}, seed {seed}"), &kernel, &theta, &set);
            let (variance, lengthscale) = (theta[0], theta[1]);
            for (i, a) in boxes.iter().enumerate() {
                let width = (a.1 - a.0) / lengthscale;
                if width > FAR && width < WIDEST {
                    // What edges take away is of the order of 1 / width, below 1e-10.
                    let limit = area / width;
                    let at = k[(i, i)] / variance;
                    assert!((at / limit - 1.0).abs() < 1e-8, "{text}, seed {seed}: {at}");
                }
                for (j, b) in boxes.iter().enumerate() {
                    let value = k[(i, j)] / variance;
                    let (lower, upper) = (a.0.min(b.0), a.1.max(b.1));
                    if (upper - lower) / lengthscale < NEAR {
                        // Distances below 1e-9, of which the roughest kernels lose as much.
                        assert!((value - 1.0).abs() < 1e-8, "{text}, seed {seed}");
                    }
                    let gap = (a.0.max(b.0) - a.1.min(b.1)) / lengthscale;
                    if gap > FAR {
                        // What is left of exponentials, over widths.
                        assert!(
                            value.abs() < 1e-100,
                            "{text}, seed {seed}, ({i}, {j}): {value}"
                        );
                    }
                }
            }
            let (a, b) = (boxes[0], boxes[6]);
            let exact = a.1 - a.0 == b.1 - b.0 && b.0 - a.0 == 0.5 * (a.1 - a.0);
            let width = (a.1 - a.0) / lengthscale;
            if exact && width > FAR && width < WIDEST {
                // Edges again: of the order of 1 / width, below 1e-10.
                let half = 0.5 * k[(0, 0)];
                let off = (k[(0, 6)] / half - 1.0).abs();
                assert!(off < 1e-8, "{text}, seed {seed}: {off}");
            }
        }
    }
}
