//! Laws that hold whatever the kernel: symmetry, linearity, order of rows, threads, units.

use faer::Mat;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quadrat::covariance::Covariance;
use quadrat::kernel::{Kernel, Kind, Role};
use quadrat::support::{Aggregate, Functionals};

use crate::common::{KERNELS, Shapes, below, random, supports, theta, uniform};

/// Largest `|a - b|` in units of `sqrt(k_ii k_jj)`; NaN counts as infinite.
fn distance(a: &Mat<f64>, b: &Mat<f64>, rows: &[f64], columns: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for j in 0..columns.len() {
        for i in 0..rows.len() {
            let scale = (rows[i] * columns[j]).sqrt();
            let error = (a[(i, j)] - b[(i, j)]).abs() / scale;
            if a[(i, j)] != b[(i, j)] && (error > worst || error.is_nan()) {
                worst = error;
            }
        }
    }
    worst
}

fn kernel(index: usize) -> (Kernel, Covariance) {
    let kernel = Kernel::parse(KERNELS[index]).unwrap();
    let covariance = Covariance::new(&kernel);
    (kernel, covariance)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 60,
        rng_seed: RngSeed::Fixed(20),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_matrix_is_symmetric_with_its_diagonal_and_the_cross_matrix_of_a_set_with_itself(
        index in 0..KERNELS.len(), seed in 0u64..1000,
    ) {
        let (kernel, covariance) = kernel(index);
        let rng = &mut random(seed);
        let theta = theta(&kernel, rng);
        let a = supports(kernel.columns(), 8, Shapes::Mixed, (-4.0, 0.6), rng);
        let k = covariance.matrix(&theta, &a);
        let diagonal = covariance.diagonal(&theta, &a);
        let scale = size(&kernel, &theta, &a);
        // The same sums in another order: 45 eps of what their terms amount to.
        for i in 0..a.len() {
            prop_assert!((k[(i, i)] - diagonal[i]).abs() <= 1e-14 * scale[i]);
            for j in 0..i {
                prop_assert_eq!(k[(i, j)].to_bits(), k[(j, i)].to_bits());
            }
        }
        prop_assert!(distance(&k, &covariance.cross(&theta, &a, &a), &scale, &scale) <= 1e-14);
    }

    #[test]
    fn permuting_rows_permutes_the_matrix(index in 0..KERNELS.len(), seed in 0u64..1000) {
        let (kernel, covariance) = kernel(index);
        let rng = &mut random(seed);
        let theta = theta(&kernel, rng);
        let a = supports(kernel.columns(), 8, Shapes::Mixed, (-4.0, 0.6), rng);
        let mut order: Vec<usize> = (0..8).collect();
        for i in (1..8).rev() {
            order.swap(i, below(rng, i + 1));
        }
        let k = covariance.matrix(&theta, &a);
        let expected = Mat::from_fn(8, 8, |i, j| k[(order[i], order[j])]);
        let b = a.rows(&order);
        let scale = size(&kernel, &theta, &b);
        // The arguments of a pair may change places.
        prop_assert!(distance(&covariance.matrix(&theta, &b), &expected, &scale, &scale) <= 1e-14);
    }

    #[test]
    fn a_sum_over_a_box_is_the_sum_over_its_pieces_and_its_volume_times_the_mean(
        index in 0..KERNELS.len(), seed in 0u64..1000,
    ) {
        let (kernel, covariance) = kernel(index);
        let columns = kernel.columns();
        let rng = &mut random(seed);
        let theta = theta(&kernel, rng);
        let edges: Vec<(f64, f64)> = columns.iter().map(|_| {
            let low = uniform(rng, -2.0, 2.0);
            (low, low + 10f64.powf(uniform(rng, -2.0, 0.6)))
        }).collect();
        let mut whole = Functionals::new(columns.to_vec());
        whole.push_box(&edges, Aggregate::Sum).unwrap();
        whole.push_box(&edges, Aggregate::Mean).unwrap();
        let volume: f64 = edges.iter().map(|e| e.1 - e.0).product();
        let mut pieces = Functionals::new(columns.to_vec());
        let cut = uniform(rng, 0.1, 0.9);
        for corner in 0..1 << columns.len() {
            let piece: Vec<(f64, f64)> = edges.iter().enumerate().map(|(d, &(low, high))| {
                let middle = low + cut * (high - low);
                if corner >> d & 1 == 0 { (low, middle) } else { (middle, high) }
            }).collect();
            pieces.push_box(&piece, Aggregate::Sum).unwrap();
        }
        let others = supports(columns, 5, Shapes::Mixed, (-3.0, 0.6), rng);
        let (k, parts) = (covariance.cross(&theta, &whole, &others), covariance.cross(&theta, &pieces, &others));
        let own = size(&kernel, &theta, &whole);
        let scale = size(&kernel, &theta, &others);
        for j in 0..others.len() {
            let sum: f64 = (0..pieces.len()).map(|i| parts[(i, j)]).sum();
            let allowed = 1e-13 * (own[0] * scale[j]).sqrt();
            // The cut is rounded: eps of a coordinate, over a width of 0.01 at least.
            prop_assert!((sum - k[(0, j)]).abs() <= allowed, "{}: {} {}", kernel, sum, k[(0, j)]);
            prop_assert!((k[(1, j)] * volume - k[(0, j)]).abs() <= allowed);
        }
    }
}

/// `sum |w| sqrt(k(x, x))` squared for nodes, the diagonal otherwise: what rounding is relative to.
fn size(kernel: &Kernel, theta: &[f64], a: &Functionals) -> Vec<f64> {
    let diagonal = Covariance::new(kernel).diagonal(theta, a);
    // Nodes lie in [-2, 2] with at most four weights below one.
    let corner = vec![2.0; kernel.columns().len()];
    let bound = 16.0 * kernel.value(theta, &corner, &corner);
    let row = |(i, d): (usize, &f64)| if a.rows(&[i]).all_single() { *d } else { bound };
    diagonal.iter().enumerate().map(row).collect()
}

#[test]
fn nodes_are_explicit_sums_of_the_kernel() {
    for index in 0..KERNELS.len() {
        let (kernel, covariance) = kernel(index);
        let rng = &mut random(index as u64);
        let theta = theta(&kernel, rng);
        let d = kernel.columns().len();
        let mut set = Functionals::new(kernel.columns().to_vec());
        let mut rows = Vec::new();
        for count in [1, 3, 2, 5, 1] {
            let points: Vec<Vec<f64>> = (0..count)
                .map(|_| (0..d).map(|_| uniform(rng, -2.0, 2.0)).collect())
                .collect();
            let weights: Vec<f64> = (0..count).map(|_| uniform(rng, -1.0, 1.0)).collect();
            set.push_nodes(&points, &weights).unwrap();
            rows.push((points, weights));
        }
        let k = covariance.matrix(&theta, &set);
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                let mut sum = 0.0;
                for (x, w) in a.0.iter().zip(&a.1) {
                    for (y, v) in b.0.iter().zip(&b.1) {
                        sum += w * v * kernel.value(&theta, x, y);
                    }
                }
                // At most 25 terms of size up to 10.
                assert!(
                    (sum - k[(i, j)]).abs() < 1e-13,
                    "{kernel}: {sum} {}",
                    k[(i, j)]
                );
            }
        }
    }
}

#[test]
fn tables_of_repeated_intervals_give_what_single_pairs_give() {
    for text in [
        "se(x, y)",
        "matern12(x) * periodic(y)",
        "matern32(x, y)",
        "rq(x) * linear(y)",
        "se(x) * periodic(x)",
    ] {
        let kernel = Kernel::parse(text).unwrap();
        let columns = kernel.columns();
        let covariance = Covariance::new(&kernel);
        let rng = &mut random(8);
        let theta = theta(&kernel, rng);
        // 24 rows, 3 distinct intervals along every column.
        let distinct: Vec<(f64, f64)> = vec![(0.0, 0.3), (0.3, 2.0), (1.5, 1.5 + 1e-5)];
        let mut set = Functionals::new(columns.to_vec());
        for _ in 0..24 {
            let edges: Vec<_> = columns.iter().map(|_| distinct[below(rng, 3)]).collect();
            set.push_box(&edges, Aggregate::Mean).unwrap();
        }
        let k = covariance.matrix(&theta, &set);
        let direct = Mat::from_fn(24, 24, |i, j| {
            covariance.cross(&theta, &set.rows(&[i]), &set.rows(&[j]))[(0, 0)]
        });
        let scale = covariance.diagonal(&theta, &set);
        // The same formulas; the direct path may take another rule for narrow intervals.
        assert!(distance(&k, &direct, &scale, &scale) < 1e-14, "{text}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let kernel = Kernel::parse("se(x, y) * matern32(z) + rq(x)").unwrap();
    let covariance = Covariance::new(&kernel);
    let rng = &mut random(4);
    let theta = theta(&kernel, rng);
    let a = supports(kernel.columns(), 70, Shapes::Mixed, (-3.0, 0.6), rng);
    let adjoint = Mat::from_fn(70, 70, |i, j| ((i + j) as f64).cos());
    let results: Vec<_> = [1, 2, 4]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let mut gradient = vec![0.0; theta.len()];
                covariance.contract(&theta, &a, adjoint.as_ref(), &mut gradient);
                (
                    covariance.matrix(&theta, &a),
                    covariance.diagonal(&theta, &a),
                    gradient,
                )
            })
        })
        .collect();
    assert!(results.iter().all(|r| *r == results[0]));
}

#[test]
fn selecting_columns_keeps_the_volume_of_those_left_out() {
    let columns = ["x", "y", "t"].map(str::to_owned).to_vec();
    let mut set = Functionals::new(columns);
    set.push_box(&[(0.0, 2.0), (1.0, 1.5), (0.0, 4.0)], Aggregate::Sum)
        .unwrap();
    set.push_box(&[(0.0, 1.0), (1.0, 3.0), (0.0, 1.0)], Aggregate::Mean)
        .unwrap();
    set.push_point(&[0.5, 0.1, 9.0]).unwrap();
    let kernel = Kernel::parse("matern32(y)").unwrap();
    let covariance = Covariance::new(&kernel);
    let k = covariance.matrix(&[2.0, 0.7], &set.select(kernel.columns()).unwrap());
    let mut own = Functionals::new(vec!["y".into()]);
    own.push_box(&[(1.0, 1.5)], Aggregate::Sum).unwrap();
    own.push_box(&[(1.0, 3.0)], Aggregate::Mean).unwrap();
    own.push_point(&[0.1]).unwrap();
    let expected = covariance.matrix(&[2.0, 0.7], &own);
    // The sum also runs over x and t, of widths 2 and 4: exact powers of two.
    let factor = [8.0, 1.0, 1.0];
    for i in 0..3 {
        for j in 0..3 {
            assert_eq!(k[(i, j)], factor[i] * factor[j] * expected[(i, j)]);
        }
    }
    assert!(set.select(&["w".to_owned()]).is_err());
}

#[test]
fn the_unit_of_the_inputs_does_not_matter() {
    // An origin is in the unit of its column too, and part of the expression.
    let kernels = KERNELS.iter().enumerate();
    for (index, text) in kernels.filter(|(_, text)| !text.contains("origin")) {
        let (kernel, covariance) = kernel(index);
        // A linear leaf of one column carries the unit in a variance that a product takes away.
        if text.contains("linear") && text.contains('*') {
            continue;
        }
        let rng = &mut random(index as u64);
        let first = theta(&kernel, rng);
        let columns = kernel.columns();
        let boxes: Vec<Vec<(f64, f64)>> = (0..12)
            .map(|_| {
                let edge = |_: &String| {
                    let low = uniform(rng, -2.0, 2.0);
                    (low, low + [0.0, 1e-2, 0.4, 3.0][below(rng, 4)])
                };
                columns.iter().map(edge).collect()
            })
            .collect();
        let at = |unit: f64| {
            let mut set = Functionals::new(columns.to_vec());
            for edges in &boxes {
                let edges: Vec<_> = edges.iter().map(|e| (e.0 * unit, e.1 * unit)).collect();
                set.push_box(&edges, Aggregate::Mean).unwrap();
            }
            let parameter = |(p, v): (&quadrat::kernel::KernelParameter, &f64)| match p.role {
                Role::Lengthscale(_) | Role::Period(_) => v * unit,
                Role::Variance if p.kind == Kind::Linear && p.leaf_columns.len() == 1 => {
                    v / (unit * unit)
                }
                _ => *v,
            };
            let theta: Vec<f64> = kernel
                .parameters()
                .iter()
                .zip(&first)
                .map(parameter)
                .collect();
            covariance.matrix(&theta, &set)
        };
        let k = at(1.0);
        let scale: Vec<f64> = (0..12).map(|i| k[(i, i)]).collect();
        for unit in [1e-9, 1e9] {
            let error = distance(&at(unit), &k, &scale, &scale);
            // 1e9 is no power of two: edges and lengthscales round, each by eps / 2, of values
            // whose contract is 1e-13.
            assert!(error < 1e-13, "{text} in units of {unit:e}: {error:e}");
        }
    }
}

#[test]
fn a_linear_kernel_of_two_columns_times_another_is_a_sum_of_products() {
    // Over common columns by a tensor of nodes, against products in one column each.
    let whole = Kernel::parse("linear(x, y) * se(x)").unwrap();
    let parts = Kernel::parse("linear(x) * se(x) + linear(y) * se(x)").unwrap();
    let rng = &mut random(12);
    let set = supports(
        &["x".to_owned(), "y".to_owned()],
        5,
        Shapes::Mixed,
        (-2.0, 0.3),
        rng,
    );
    let (variance, x, y, l) = (1.3, 0.8, 1.7, 0.6);
    let names: Vec<_> = parts.parameters().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "linear.variance",
            "se.lengthscale.x",
            "linear#2.variance",
            "se#2.lengthscale.x"
        ]
    );
    let k = Covariance::new(&whole).matrix(&[variance, x, y, l], &set);
    let expected =
        Covariance::new(&parts).matrix(&[variance / (x * x), l, variance / (y * y), l], &set);
    let scale = size(&whole, &[variance, x, y, l], &set);
    // The contract of every value.
    assert!(distance(&k, &expected, &scale, &scale) < 1e-13);
}
