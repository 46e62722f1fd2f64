//! A complete grid of boxes with a kernel that factorises is a Kronecker product.

use faer::Mat;
use quadrat::covariance::{Covariance, Grid};
use quadrat::kernel::Kernel;
use quadrat::support::{Aggregate, Functionals};
use rand_chacha::ChaCha8Rng;

use crate::common::{below, random, theta, uniform};

/// A complete grid with axes of the given sizes and unequal widths, rows shuffled.
fn shuffled(
    columns: &[String],
    sizes: &[usize],
    aggregate: Aggregate,
    rng: &mut ChaCha8Rng,
) -> Functionals {
    let axes: Vec<Vec<(f64, f64)>> = sizes
        .iter()
        .map(|&n| {
            let mut at = uniform(rng, -1.0, 1.0);
            let mut next = || {
                let low = at;
                at += uniform(rng, 0.1, 1.0);
                (low, at)
            };
            (0..n).map(|_| next()).collect()
        })
        .collect();
    let count: usize = sizes.iter().product();
    let mut set = Functionals::new(columns.to_vec());
    for mut row in 0..count {
        let mut edges = vec![(0.0, 0.0); sizes.len()];
        for d in (0..sizes.len()).rev() {
            edges[d] = axes[d][row % sizes[d]];
            row /= sizes[d];
        }
        set.push_box(&edges, aggregate).unwrap();
    }
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, below(rng, i + 1));
    }
    set.rows(&order)
}

/// Index along every axis of a place in grid order.
fn indices(mut at: usize, sizes: &[usize]) -> Vec<usize> {
    let mut out = vec![0; sizes.len()];
    for d in (0..sizes.len()).rev() {
        out[d] = at % sizes[d];
        at /= sizes[d];
    }
    out
}

#[test]
fn kronecker_products_of_the_axes_equal_the_matrix_and_its_contraction() {
    for (text, sizes) in [
        ("se(x, y)", vec![5, 3]),
        ("se(x, y, shared = true)", vec![2, 6]),
        ("matern32(x) * matern52(y)", vec![4, 4]),
        ("se(x, y) * periodic(x)", vec![3, 4]),
        ("periodic(x, y)", vec![3, 3]),
        ("se(x, z) * matern12(y)", vec![3, 2, 4]),
        ("rq(x) * se(y, z) * constant", vec![2, 3, 1]),
    ] {
        for aggregate in [Aggregate::Sum, Aggregate::Mean] {
            let kernel = Kernel::parse(text).unwrap();
            let rng = &mut random(sizes.iter().sum::<usize>() as u64);
            let theta = theta(&kernel, rng);
            // The kernel's columns in its own order.
            let set = shuffled(kernel.columns(), &sizes, aggregate, rng);
            let covariance = Covariance::new(&kernel);
            let grid = Grid::find(&set).unwrap();
            let axes = covariance.along_axes(sizes.len()).unwrap();
            let parts: Vec<Mat<f64>> = axes
                .iter()
                .zip(&grid.axes)
                .map(|(c, s)| c.matrix(&theta, s))
                .collect();
            let sizes: Vec<usize> = parts.iter().map(Mat::nrows).collect();
            let full = covariance.matrix(&theta, &set);
            let n = set.len();
            let at: Vec<Vec<usize>> = grid.position.iter().map(|&p| indices(p, &sizes)).collect();

            let mut adjoint = Mat::from_fn(n, n, |_, _| uniform(rng, -1.0, 1.0));
            let mut parts_adjoint: Vec<Mat<f64>> =
                sizes.iter().map(|&m| Mat::zeros(m, m)).collect();
            for j in 0..n {
                for i in 0..n {
                    adjoint[(i, j)] = adjoint[(i.min(j), i.max(j))];
                    let product: f64 = (0..sizes.len())
                        .map(|d| parts[d][(at[i][d], at[j][d])])
                        .product();
                    let scale = (full[(i, i)] * full[(j, j)]).sqrt();
                    // Factors are good to 1e-15 each in this range.
                    assert!(
                        (product - full[(i, j)]).abs() < 1e-14 * scale,
                        "{text} {i} {j}"
                    );
                }
            }
            for j in 0..n {
                for i in 0..n {
                    for d in 0..sizes.len() {
                        let others = (0..sizes.len()).filter(|e| *e != d);
                        let others: f64 = others.map(|e| parts[e][(at[i][e], at[j][e])]).product();
                        parts_adjoint[d][(at[i][d], at[j][d])] += adjoint[(i, j)] * others;
                    }
                }
            }
            let mut by_axes = vec![0.0; theta.len()];
            for d in 0..sizes.len() {
                axes[d].contract(
                    &theta,
                    &grid.axes[d],
                    parts_adjoint[d].as_ref(),
                    &mut by_axes,
                );
            }
            let mut whole = vec![0.0; theta.len()];
            covariance.contract(&theta, &set, adjoint.as_ref(), &mut whole);
            let size: f64 = (0..n).map(|i| full[(i, i)]).sum::<f64>() * n as f64;
            for p in 0..theta.len() {
                // Sums of n^2 terms of either sign, each good to some eps of the scale.
                let error = (by_axes[p] - whole[p]).abs() * theta[p];
                assert!(
                    error < 1e-14 * size,
                    "{text} {p}: {} {}",
                    by_axes[p],
                    whole[p]
                );
            }
        }
    }
}

#[test]
fn sets_that_are_no_complete_grid_are_refused() {
    let columns = vec!["x".to_owned(), "y".to_owned()];
    let rng = &mut random(3);
    let set = shuffled(&columns, &[4, 3], Aggregate::Sum, rng);
    assert!(Grid::find(&set).is_some());
    let all: Vec<usize> = (0..12).collect();
    assert!(
        Grid::find(&set.rows(&all[..11])).is_none(),
        "a cell is missing"
    );
    let mut twice = all.clone();
    twice[0] = twice[1];
    assert!(
        Grid::find(&set.rows(&twice)).is_none(),
        "one cell stands twice, one is missing"
    );
    twice = all.clone();
    twice.push(5);
    assert!(
        Grid::find(&set.rows(&twice)).is_none(),
        "one cell stands twice"
    );
    assert!(
        Grid::find(&shuffled(&columns, &[7, 1], Aggregate::Sum, rng)).is_none(),
        "one axis only"
    );

    // Weights that are no product: one cell a mean, the others sums.
    let mut mixed = Functionals::new(columns.clone());
    for (i, edges) in [(0.0, 3.0), (3.0, 4.0)].into_iter().enumerate() {
        for (j, other) in [(0.0, 0.5), (0.5, 2.0)].into_iter().enumerate() {
            let aggregate = if i + j == 0 {
                Aggregate::Mean
            } else {
                Aggregate::Sum
            };
            mixed.push_box(&[edges, other], aggregate).unwrap();
        }
    }
    assert!(Grid::find(&mixed).is_none());
    let mut nodes = set.rows(&all[..11]);
    nodes
        .push_nodes(&[vec![0.0, 0.0], vec![1.0, 1.0]], &[1.0, 1.0])
        .unwrap();
    assert!(Grid::find(&nodes).is_none(), "nodes are no cell");
}

#[test]
fn kernels_that_do_not_factorise_have_no_axes() {
    for text in [
        "se(x) + se(y)",
        "matern32(x, y)",
        "rq(x, y)",
        "linear(x, y)",
        "se(x, y) + constant",
    ] {
        let covariance = Covariance::new(&Kernel::parse(text).unwrap());
        assert!(covariance.along_axes(2).is_none(), "{text}");
    }
}
