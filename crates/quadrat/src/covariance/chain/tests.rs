//! The chain beside the whole matrix.

use super::*;
use crate::kernel::Kernel;
use crate::linalg::{Cholesky, Mat, dot};
use crate::support::Aggregate;

/// Points, boxes that touch or lie apart, points within boxes and at their ends, a box twice.
fn rows(has_points: bool) -> Functionals {
    let mut set = Functionals::new(vec!["t".into()]);
    let mut at = -3.0;
    for i in 0..24 {
        let width = 0.05 + 0.9 * f64::from(i * 7 % 5);
        let how = if i % 3 == 0 {
            Aggregate::Mean
        } else {
            Aggregate::Sum
        };
        // Not in the order of the line.
        let shift = if i % 2 == 0 { 60.0 } else { 0.0 };
        let lower = at + shift;
        set.push_box(&[(lower, lower + width)], how).unwrap();
        if i == 9 {
            set.push_box(&[(lower, lower + width)], how).unwrap();
        }
        if has_points && i % 4 == 0 {
            set.push_point(&[lower + 0.4 * width]).unwrap();
            set.push_point(&[lower + width]).unwrap();
        }
        at += width + if i % 5 == 0 { 1.3 } else { 0.0 };
    }
    set
}

/// Log determinant and products by a factor of the whole matrix.
fn whole(
    covariance: &Covariance,
    set: &Functionals,
    theta: &[f64],
    noise: &[f64],
    columns: &[&[f64]],
) -> (f64, Vec<f64>) {
    let mut k: Mat<f64> = covariance.matrix(theta, set);
    for (i, v) in noise.iter().enumerate() {
        k[(i, i)] += v;
    }
    let factor = Cholesky::factor_owned(k).unwrap();
    let solved: Vec<Vec<f64>> = columns.iter().map(|b| factor.solve(b)).collect();
    let products = columns
        .iter()
        .flat_map(|a| solved.iter().map(|b| dot(a, b)));
    (factor.log_det(), products.collect())
}

fn columns(n: usize) -> [Vec<f64>; 2] {
    let value = |i: usize| (0.7 * i as f64).sin() + 0.1 * i as f64;
    [(0..n).map(value).collect(), vec![1.0; n]]
}

/// Kernel, hyperparameters.
fn cases() -> Vec<(Kernel, Vec<f64>)> {
    vec![
        (Kernel::matern12(["t"]), vec![1.7, 2.0]),
        (Kernel::matern32(["t"]), vec![0.6, 0.04]),
        (Kernel::matern52(["t"]), vec![2.5, 9.0]),
        (
            Kernel::matern52(["t"]) + Kernel::matern12(["t"]) + Kernel::constant(),
            vec![2.5, 3.0, 0.4, 0.7, 5.0],
        ),
    ]
}

#[test]
fn a_chain_says_what_the_whole_matrix_says() {
    for has_points in [false, true] {
        let set = rows(has_points);
        let n = set.len();
        let columns = columns(n);
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let noise: Vec<f64> = (0..n).map(|i| 0.01 + 0.1 * (i % 3) as f64).collect();
        for (kernel, theta) in cases() {
            let covariance = Covariance::new(&kernel);
            let chain = Chain::new(&covariance, &set).unwrap();
            let dual: Vec<Dual<0>> = theta.iter().map(|v| Dual::constant(*v)).collect();
            let noises: Vec<Dual<0>> = noise.iter().map(|v| Dual::constant(*v)).collect();
            let found = chain.products(&dual, &noises, &columns).unwrap();
            let (log_det, products) = whole(&covariance, &set, &theta, &noise, &columns);
            // Covariances of intervals are right to 2e-14, and noise is a hundredth of them.
            assert!((found.log_det.value - log_det).abs() < 1e-10, "{kernel}");
            for (found, right) in found.products.iter().zip(products) {
                let off = (found.value - right).abs() / right.abs().max(1.0);
                assert!(off < 1e-10, "{kernel}: {} {right}", found.value);
            }
        }
    }
}

/// All that a factor of the whole matrix says, but for the order of its rows.
#[test]
fn a_factor_says_what_that_of_the_whole_matrix_says() {
    for has_points in [false, true] {
        let set = rows(has_points);
        let n = set.len();
        let noise: Vec<f64> = (0..n).map(|i| 0.01 + 0.1 * (i % 3) as f64).collect();
        for (kernel, theta) in cases() {
            let covariance = Covariance::new(&kernel);
            let chain = Chain::new(&covariance, &set).unwrap();
            let factor = chain.factor(&theta, &noise).unwrap();
            let mut k: Mat<f64> = covariance.matrix(&theta, &set);
            let before = Mat::from_fn(n, n, |i, j| k[(i, j)]);
            for (i, v) in noise.iter().enumerate() {
                k[(i, i)] += v;
            }
            let dense = Cholesky::factor(k.as_ref()).unwrap();
            assert_eq!(factor.size(), n);
            // Rounding of the covariances, 2e-14, times the inverse, at most a hundred, over some
            // ten rows.
            assert!((factor.log_det() - dense.log_det()).abs() < 1e-10);
            // Covariances are right to 2e-14 and the inverse is at most a hundred.
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs().max(1.0);
            let inverse = dense.inverse();
            let solved = factor.inverse();
            let diagonal = factor.inverse_diagonal();
            // More columns than are led along together.
            let mut half = Mat::from_fn(n, 11, |i, j| before[(i, j)]);
            factor.half_solve_in_place(half.as_mut());
            for i in 0..n {
                assert!(near(diagonal[i], inverse[(i, i)]), "{kernel} {i}");
                (0..n).for_each(|j| assert!(near(solved[(i, j)], inverse[(i, j)]), "{kernel}"));
            }
            for j in 0..11 {
                let right = dense.solve(before.col_as_slice(j));
                for i in 0..11 {
                    let product = dot(half.col_as_slice(i), half.col_as_slice(j));
                    let want = dot(before.col_as_slice(i), &right);
                    assert!(near(product, want), "{kernel} {i} {j}");
                }
            }
            // What is left of a row beside all others is the least that any order leaves of one.
            let whole: Vec<f64> = (0..n).map(|i| k[(i, i)]).collect();
            let least = (0..n).map(|i| 1.0 / (diagonal[i] * whole[i]));
            let least = least.fold(1.0, f64::min);
            let left = factor.least_left(&whole);
            assert!(left >= least * (1.0 - 1e-9) && left < 1.0, "{kernel}");
        }
    }
}

/// Two groups of rows that know nothing of each other, too many for all steps to be kept.
#[test]
fn steps_of_any_number_are_the_same() {
    let covariance = Covariance::new(&Kernel::matern32(["t"]));
    let group = |first: f64| (0..2200).map(move |i| first + 0.01 * f64::from(i).powf(1.01));
    let log_det = |places: Vec<f64>| {
        let n = places.len();
        let chain = Chain::new(&covariance, &Functionals::points("t", &places).unwrap()).unwrap();
        let theta = [1.3, 0.2].map(Dual::<0>::constant);
        let noise = vec![Dual::constant(0.3); n];
        let found = chain.products(&theta, &noise, &[&vec![1.0; n]]).unwrap();
        let factor = chain.factor(&[1.3, 0.2], &vec![0.3; n]).unwrap();
        // The same steps in dual numbers: rounding of a sum of 4,400 logarithms.
        assert!((factor.log_det() - found.log_det.value).abs() < 1e-9);
        found.log_det.value
    };
    let both = log_det(group(0.0).chain(group(1e4)).collect());
    // Places are rounded to 2e-12, of steps of 1e-2.
    assert!((both - 2.0 * log_det(group(0.0).collect())).abs() < 1e-6);
}

/// Rows a step apart, and a few that break it: what they tell settles, and is the same.
#[test]
fn rows_that_come_the_same_way_tell_the_same() {
    let covariance = Covariance::new(&(Kernel::matern32(["t"]) + Kernel::matern12(["t"])));
    let mut points: Vec<f64> = (0..900).map(f64::from).collect();
    points[700..].iter_mut().for_each(|t| *t += 0.37);
    let mut boxes = Functionals::new(vec!["t".into()]);
    (0..900)
        .map(f64::from)
        .map(|t| if t < 500.0 { t } else { t + 2.0 })
        .for_each(|t| boxes.push_box(&[(t, t + 1.0)], Aggregate::Mean).unwrap());
    for set in [Functionals::points("t", &points).unwrap(), boxes] {
        let n = set.len();
        let theta = [1.3, 20.0, 0.4, 3.0];
        // One row alone is known less well.
        let noise: Vec<f64> = (0..n).map(|i| if i == 300 { 2.0 } else { 0.2 }).collect();
        let columns = columns(n);
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let seed = |(at, v): (usize, &f64)| Dual::<4>::parameter(*v, at);
        let dual: Vec<Dual<4>> = theta.iter().enumerate().map(seed).collect();
        let noises: Vec<Dual<4>> = noise.iter().map(|v| Dual::constant(*v)).collect();
        let chain = Chain::new(&covariance, &set).unwrap();
        let found = chain.products(&dual, &noises, &columns).unwrap();
        let (log_det, products) = whole(&covariance, &set, &theta, &noise, &columns);
        // A matrix of 900 rows, of a condition of some thousand.
        assert!((found.log_det.value - log_det).abs() < 1e-9);
        for (found, right) in found.products.iter().zip(products) {
            assert!((found.value - right).abs() < 1e-9 * right.abs());
        }
        for k in 0..4 {
            let step = 1e-5 * theta[k];
            let at = |sign: f64| {
                let mut moved = theta;
                moved[k] += sign * step;
                whole(&covariance, &set, &moved, &noise, &columns).0
            };
            let slope = (at(1.0) - at(-1.0)) / (2.0 * step);
            // Differences of some hundred, 1e-12 right, over steps of 1e-5.
            let near = (found.log_det.slopes[k] - slope).abs() < 1e-6 * slope.abs().max(1.0);
            assert!(near, "{k}: {} {slope}", found.log_det.slopes[k]);
        }
    }
}

#[test]
fn slopes_are_those_of_differences() {
    let set = rows(true);
    let n = set.len();
    let columns = columns(n);
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    for (kernel, mut theta) in cases() {
        let covariance = Covariance::new(&kernel);
        let chain = Chain::new(&covariance, &set).unwrap();
        let of_kernel = theta.len();
        assert_eq!(chain.parameters(), (0..of_kernel).collect::<Vec<_>>());
        // The noise is the last.
        theta.push(0.3);
        let seed = |(at, v): (usize, &f64)| Dual::<6>::parameter(*v, at);
        let dual: Vec<Dual<6>> = theta.iter().enumerate().map(seed).collect();
        let found = chain
            .products(&dual, &vec![dual[of_kernel]; n], &columns)
            .unwrap();
        for k in 0..theta.len() {
            let step = 1e-5 * theta[k];
            let at = |sign: f64| {
                let mut moved = theta.clone();
                moved[k] += sign * step;
                whole(
                    &covariance,
                    &set,
                    &moved,
                    &vec![moved[of_kernel]; n],
                    &columns,
                )
            };
            let (above, below) = (at(1.0), at(-1.0));
            let slope = |above: f64, below: f64| (above - below) / (2.0 * step);
            // Differences of numbers of some tens, 1e-13 right, over steps of 1e-5.
            let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * b.abs().max(1.0);
            let right = slope(above.0, below.0);
            assert!(near(found.log_det.slopes[k], right), "{kernel} {k}");
            for (i, product) in found.products.iter().enumerate() {
                let right = slope(above.1[i], below.1[i]);
                assert!(near(product.slopes[k], right), "{kernel} {k} {i}");
            }
        }
    }
}

/// Rows without noise that others determine are no number, as they are none for a matrix.
#[test]
fn rows_that_others_determine_are_left_to_the_matrix() {
    let covariance = Covariance::new(&Kernel::matern32(["t"]));
    let zero = Dual::<0>::constant(0.0);
    let theta = [1.0, 1.0].map(Dual::<0>::constant);
    let mut set = Functionals::new(vec!["t".into()]);
    set.push_point(&[0.5]).unwrap();
    set.push_point(&[0.5]).unwrap();
    let twice = Chain::new(&covariance, &set).unwrap();
    assert_eq!(twice.products(&theta, &[zero; 2], &[&[1.0, 1.0]]), None);
    assert_eq!(twice.factor(&[1.0, 1.0], &[0.0; 2]), None);
    let mut set = Functionals::new(vec!["t".into()]);
    for _ in 0..2 {
        set.push_box(&[(0.0, 1.0)], Aggregate::Sum).unwrap();
    }
    let twice = Chain::new(&covariance, &set).unwrap();
    assert_eq!(twice.products(&theta, &[zero; 2], &[&[1.0, 1.0]]), None);
}

#[test]
fn other_rows_and_kernels_have_no_chain() {
    let covariance = Covariance::new(&Kernel::matern32(["t"]));
    let mut across = Functionals::new(vec!["t".into()]);
    across.push_box(&[(0.0, 2.0)], Aggregate::Sum).unwrap();
    across.push_box(&[(1.0, 3.0)], Aggregate::Sum).unwrap();
    assert_eq!(Chain::new(&covariance, &across), None);
    let points = Functionals::points("t", &[0.0, 1.0]).unwrap();
    for kernel in [
        Kernel::se(["t"]),
        Kernel::periodic("t", None),
        Kernel::matern32(["t"]) * Kernel::matern12(["t"]),
    ] {
        assert_eq!(
            Chain::new(&Covariance::new(&kernel), &points),
            None,
            "{kernel}"
        );
    }
}

/// Bins whose edges are roundings: a zero with a sign, times in seconds since 1970, and a far row
/// beside near ones.
#[test]
fn roundings_of_places_change_nothing() {
    let boxes = |edges: &[f64]| -> Functionals {
        let pairs: Vec<(f64, f64)> = edges.windows(2).map(|w| (w[0], w[1])).collect();
        Functionals::intervals("t", &pairs, Aggregate::Mean).unwrap()
    };
    let tenths: Vec<f64> = (-10..=10).map(|i| 0.1 * f64::from(i)).collect();
    let mut signed = tenths.clone();
    signed[10] = -0.0;
    let seconds: Vec<f64> = (0..60).map(|i| 1.7e9 + f64::from(i)).collect();
    let near = (0..40).map(|i| 1e-4 * f64::from(i));
    let far = Functionals::points("t", &near.chain([1e12]).collect::<Vec<f64>>()).unwrap();
    let covariance = Covariance::new(&Kernel::matern32(["t"]));
    for (name, set, lengthscale) in [
        ("tenths", boxes(&tenths), 0.7),
        ("a signed zero", boxes(&signed), 0.7),
        ("seconds", boxes(&seconds), 9.0),
        ("far", far, 0.002),
    ] {
        let n = set.len();
        let columns = columns(n);
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let theta = [1.3, lengthscale];
        let chain = Chain::new(&covariance, &set).unwrap();
        let noise = vec![0.01; n];
        let noises: Vec<Dual<0>> = noise.iter().map(|v| Dual::constant(*v)).collect();
        let found = chain
            .products(&theta.map(Dual::constant), &noises, &columns)
            .unwrap();
        let (log_det, products) = whole(&covariance, &set, &theta, &noise, &columns);
        // Seconds are rounded to 2e-7 of a bin.
        let near = if name == "seconds" { 1e-5 } else { 1e-9 };
        assert!((found.log_det.value - log_det).abs() < near, "{name}");
        for (found, right) in found.products.iter().zip(products) {
            let off = (found.value - right).abs() / right.abs().max(1.0);
            assert!(off < near, "{name}: {} {right}", found.value);
        }
    }
    let narrow = boxes(&[1.7e9, 1.7e9 + 1e-3]);
    assert_eq!(Chain::new(&covariance, &narrow), None);
}
