//! Covariance matrices are positive semi-definite to rounding, whatever is mixed in them.

use faer::{Mat, Side};
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::support::{Aggregate, Functionals};
use rand_chacha::ChaCha8Rng;

use crate::common::{KERNELS, Shapes, below, random, supports, theta, uniform};

/// Smallest eigenvalue of `k_ij / (scale_i scale_j)` in units of `n eps`.
fn smallest(k: &Mat<f64>, scale: &[f64]) -> f64 {
    let n = k.nrows();
    let scaled = Mat::from_fn(n, n, |i, j| k[(i, j)] / (scale[i] * scale[j]));
    let values = scaled.self_adjoint_eigenvalues(Side::Lower).unwrap();
    assert!(values.iter().all(|v| v.is_finite()));
    values.iter().copied().fold(f64::INFINITY, f64::min) / (n as f64 * f64::EPSILON)
}

/// Entries are good to some 10 eps of the scale (see `reference`), and an eigenvalue moves by at
/// most the norm of the error, n times that when all errors conspire, `sqrt(n)` when they do not.
/// 0.8 was met.
const ALLOWED: f64 = -5.0;

/// A kernel of the list, or the sum or product of two.
fn kernel(rng: &mut ChaCha8Rng) -> Kernel {
    let one = |rng: &mut ChaCha8Rng| Kernel::parse(KERNELS[below(rng, KERNELS.len())]).unwrap();
    // A product of two kernels that are isotropic over several common columns is a quadrature.
    let simple = |rng: &mut ChaCha8Rng| {
        let names = [
            "se(x)",
            "matern12(y)",
            "matern52(x)",
            "rq(y)",
            "periodic(x)",
            "linear(x)",
        ];
        Kernel::parse(names[below(rng, names.len())]).unwrap()
    };
    match below(rng, 4) {
        0 => one(rng) + one(rng),
        1 => simple(rng) * (simple(rng) + simple(rng)),
        _ => one(rng),
    }
}

#[test]
fn matrices_of_mixed_supports_are_positive_semi_definite() {
    let mut worst = 0.0_f64;
    for seed in 0..500 {
        let rng = &mut random(seed);
        let kernel = kernel(rng);
        let theta = theta(&kernel, rng);
        // Products on one column cost a panel per lengthscale.
        let widest = if kernel.to_string().contains('*') {
            0.7
        } else {
            3.0
        };
        let columns = kernel.columns();
        let mut set = supports(columns, 7, Shapes::Mixed, (-6.0, widest), rng);
        let mut scale = Vec::new();
        let covariance = Covariance::new(&kernel);
        // Nodes with weights of both signs, measured without their cancellation.
        for _ in 0..3 {
            let count = 2 + below(rng, 3);
            let near = uniform(rng, -6.0, 0.0);
            let points: Vec<Vec<f64>> = (0..count)
                .map(|_| {
                    columns
                        .iter()
                        .map(|_| 1.0 + uniform(rng, 0.0, 10f64.powf(near)))
                        .collect()
                })
                .collect();
            let weights: Vec<f64> = (0..count).map(|_| uniform(rng, -1.0, 1.0)).collect();
            set.push_nodes(&points, &weights).unwrap();
            let size = |(x, w): (&Vec<f64>, &f64)| w.abs() * kernel.value(&theta, x, x).sqrt();
            scale.push(points.iter().zip(&weights).map(size).sum::<f64>());
        }
        let diagonal = covariance.diagonal(&theta, &set);
        let mut scale: Vec<f64> = diagonal
            .iter()
            .take(7)
            .map(|d| d.sqrt())
            .chain(scale)
            .collect();
        // Duplicates.
        let again = [below(rng, 7), below(rng, 10)];
        set.extend(&set.rows(&again)).unwrap();
        scale.extend(again.map(|i| scale[i]));
        assert!(scale.iter().all(|s| *s > 0.0), "seed {seed}, {kernel}");
        let value = smallest(&covariance.matrix(&theta, &set), &scale);
        worst = worst.min(value);
        assert!(value > ALLOWED, "seed {seed}, {kernel}: {value} n eps");
    }
    println!("smallest eigenvalue {worst:.2} n eps");
}

#[test]
fn narrow_adjacent_bins_are_positive_semi_definite_and_plain_differences_are_not() {
    let width = 1e-3;
    let bins: Vec<(f64, f64)> = (0..40)
        .map(|i| (f64::from(i) * width, f64::from(i + 1) * width))
        .collect();
    let set = Functionals::intervals("x", &bins, Aggregate::Sum).unwrap();
    let covariance = Covariance::new(&Kernel::se(["x"]));
    let k = covariance.matrix(&[1.0, 1.0], &set);
    let scale: Vec<f64> = (0..40).map(|i| k[(i, i)].sqrt()).collect();
    assert!(smallest(&k, &scale) > ALLOWED);

    // The textbook formula, four second antiderivatives.
    let g = |r: f64| {
        let mut erf = [0.0];
        quadrat::special::erf_into(&[r / 2f64.sqrt()], &mut erf);
        (std::f64::consts::PI / 2.0).sqrt() * r * erf[0] + (-0.5 * r * r).exp()
    };
    let naive = Mat::from_fn(40, 40, |i, j| {
        let ((s, t), (u, v)) = (bins[i], bins[j]);
        g(t - u) + g(s - v) - g(t - v) - g(s - u)
    });
    assert!(smallest(&naive, &scale) < 100.0 * ALLOWED);
}
