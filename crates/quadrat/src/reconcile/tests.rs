//! Against least squares by a matrix, and simulated tables.

use super::{Measurement, ReconcileError, Tree};
use crate::linalg::{Cholesky, Mat};
use crate::privacy::{Mechanism, NoiseSource};

/// A country, three provinces, and their districts; 8 is a district of districts.
const WITHIN: [Option<usize>; 11] = [
    None,
    Some(0),
    Some(0),
    Some(0),
    Some(1),
    Some(1),
    Some(2),
    Some(2),
    Some(2),
    Some(8),
    Some(8),
];

fn of(node: usize, value: f64, variance: f64) -> Measurement {
    Measurement {
        node,
        value,
        variance,
    }
}

fn leaves(tree: &Tree) -> Vec<usize> {
    (0..tree.len())
        .filter(|&node| tree.parts(node).is_empty())
        .collect()
}

/// One where a leaf is within an area.
fn holds(within: &[Option<usize>], node: usize, leaf: usize) -> f64 {
    let mut at = Some(leaf);
    while let Some(area) = at {
        if area == node {
            return 1.0;
        }
        at = within[area];
    }
    0.0
}

/// Means and covariances by the normal equations over the leaves.
fn by_matrix(within: &[Option<usize>], told: &[Measurement]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let tree = Tree::new(within).unwrap();
    let leaves = leaves(&tree);
    let n = leaves.len();
    let at = |node: usize, j: usize| holds(within, node, leaves[j]);
    let precision = Mat::from_fn(n, n, |i, j| {
        let terms = told
            .iter()
            .map(|m| at(m.node, i) * at(m.node, j) / m.variance);
        terms.sum::<f64>()
    });
    let right: Vec<f64> = (0..n)
        .map(|i| {
            told.iter()
                .map(|m| at(m.node, i) * m.value / m.variance)
                .sum()
        })
        .collect();
    let root = Cholesky::factor(precision.as_ref()).unwrap();
    let solve = |b: &[f64]| root.solve(b);
    let x = solve(&right);
    let nodes = 0..within.len();
    let rows: Vec<Vec<f64>> = nodes
        .map(|node| (0..n).map(|j| at(node, j)).collect())
        .collect();
    let sum = |row: &[f64], other: &[f64]| row.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    rows.iter()
        .map(|row| {
            let solved = solve(row);
            let covariances = rows.iter().map(|other| sum(other, &solved));
            (sum(row, &x), covariances.collect::<Vec<f64>>())
        })
        .unzip()
}

/// Several of an area, none of others, variances of all sizes.
fn measured() -> Vec<Measurement> {
    vec![
        of(0, 1000.0, 25.0),
        of(1, 420.0, 4.0),
        of(1, 431.0, 9.0),
        of(2, 390.0, 100.0),
        of(4, 200.0, 50.0),
        of(5, 190.0, 10.0),
        of(6, 130.0, 7.0),
        of(7, 120.0, 0.5),
        of(9, 61.0, 20.0),
        of(10, 72.0, 3.0),
    ]
}

/// The same with district 3, so that the total pulls at all parts of the country.
fn all_measured() -> Vec<Measurement> {
    let mut told = measured();
    told.push(of(3, 205.0, 30.0));
    told
}

#[test]
fn it_is_least_squares() {
    let tree = Tree::new(&WITHIN).unwrap();
    for told in [measured(), all_measured()] {
        let found = tree.reconcile(&told).unwrap();
        let (means, covariances) = by_matrix(&WITHIN, &told);
        for node in 0..WITHIN.len() {
            // Normal equations with a condition of some hundreds.
            assert!(
                (found.mean(node) - means[node]).abs() < 1e-10 * 1000.0,
                "{node}"
            );
            let error = (found.variance(node) / covariances[node][node] - 1.0).abs();
            assert!(error < 1e-10, "{node} {error}");
            let parts = tree.parts(node);
            let sum: f64 = parts.iter().map(|&part| found.mean(part)).sum();
            assert!(parts.is_empty() || (sum - found.mean(node)).abs() < 1e-12 * 1000.0);
        }
    }
    let gaps = |told: &[Measurement]| tree.reconcile(told).unwrap().gaps().to_vec();
    let nodes = |told: &[Measurement]| gaps(told).iter().map(|gap| gap.node).collect::<Vec<_>>();
    // Area 0 has a gap only where district 3 was measured.
    assert_eq!(nodes(&all_measured()), [0, 1, 2]);
    assert_eq!(nodes(&measured()), [1, 2]);
    let first = gaps(&measured())[0];
    let own = (420.0 * 9.0 + 431.0 * 4.0) / 13.0;
    assert!((first.difference - (own - 390.0)).abs() < 1e-12);
    assert!((first.sd - (36.0 / 13.0 + 60.0f64).sqrt()).abs() < 1e-12);
}

#[test]
fn exact_totals_are_met() {
    let tree = Tree::new(&WITHIN).unwrap();
    for told in [measured(), all_measured()] {
        let exact = |variance: f64| {
            let mut told = told.clone();
            told.extend([of(0, 1003.0, variance), of(2, 385.0, variance)]);
            told
        };
        let found = tree.reconcile(&exact(0.0)).unwrap();
        assert_eq!((found.mean(0), found.variance(0)), (1003.0, 0.0));
        assert_eq!((found.mean(2), found.variance(2)), (385.0, 0.0));
        let (means, covariances) = by_matrix(&WITHIN, &exact(1e-7));
        for node in 0..WITHIN.len() {
            // A variance of 1e-7 beside 10 and more, and a condition of 1e9.
            assert!((found.mean(node) - means[node]).abs() < 1e-4, "{node}");
            assert!(
                (found.variance(node) - covariances[node][node]).abs() < 1e-4,
                "{node}"
            );
        }
    }
}

/// A total of variance 1, and parts of which one was hardly measured.
#[test]
fn what_is_far_vaguer_than_the_rest_is_what_they_leave() {
    let within = [None, Some(0), Some(0), Some(0)];
    let tree = Tree::new(&within).unwrap();
    let total = of(0, 10.0, 1.0);
    for vague in 1..4 {
        for size in [1e8, 1e16, 1e30, 1e300] {
            let part = |node| {
                let [two, one] = [of(node, 3.0, 2.0), of(node, 4.0, 1.0)];
                match node {
                    _ if node == vague => of(node, 2.0, size),
                    _ if node % 3 == (vague + 1) % 3 => two,
                    _ => one,
                }
            };
            let found = tree.reconcile(&[total, part(1), part(2), part(3)]).unwrap();
            // Measured with variance 4 by the others: 1 + 2 + 1. Both together, and roundings.
            let right = 4.0 / (1.0 + 4.0 / size);
            let error = (found.variance(vague) / right - 1.0).abs();
            assert!(error < 1e-14, "{vague} {size} {error}");
            let right = (3.0 + 4.0 * 2.0 / size) / (1.0 + 4.0 / size);
            assert!((found.mean(vague) - right).abs() < 1e-13, "{vague} {size}");
        }
    }
}

/// 100,000 exact leaves in 100 provinces of which nothing was measured, and an exact total.
#[test]
fn exact_decimals_that_add_up_are_taken() {
    const PROVINCES: usize = 100;
    const LEAVES: usize = 100_000;
    let mut within = vec![None];
    within.extend([Some(0); PROVINCES]);
    within.extend((0..LEAVES).map(|leaf| Some(1 + leaf % PROVINCES)));
    let tree = Tree::new(&within).unwrap();
    for far in [1_u64, 1000] {
        // In hundredths, which are added up exactly.
        let hundredths = |leaf: usize| (leaf as u64 * 7919 % 100_003) * far + 1;
        let sum: u64 = (0..LEAVES).map(hundredths).sum();
        let mut told: Vec<Measurement> = (0..LEAVES)
            .map(|leaf| of(1 + PROVINCES + leaf, hundredths(leaf) as f64 / 100.0, 0.0))
            .collect();
        let one_by_one: f64 = told.iter().map(|m| m.value).sum();
        for total in [sum as f64 / 100.0, one_by_one] {
            told.push(of(0, total, 0.0));
            assert_eq!(tree.reconcile(&told).unwrap().mean(0), total);
            told.pop();
        }
        // Of a size of 5e7 rounding cannot make a hundredth: 1e5 parts of 2^-52.
        if far == 1 {
            told.push(of(0, (sum + 1) as f64 / 100.0, 0.0));
            let refused = tree.reconcile(&told).unwrap_err();
            assert!(matches!(
                refused,
                ReconcileError::Contradiction { node: 0, .. }
            ));
        }
    }
    // Small numbers are held to their own size, not to that of 1.
    let tree = Tree::new(&[None, Some(0), Some(0)]).unwrap();
    let told = [of(1, 1e-17, 0.0), of(2, 2e-17, 0.0), of(0, 5e-17, 0.0)];
    assert!(tree.reconcile(&told).is_err());
}

#[test]
fn exact_ones_that_contradict_are_named() {
    let tree = Tree::new(&WITHIN).unwrap();
    let told = [of(9, 60.0, 0.0), of(10, 70.0, 0.0), of(8, 131.0, 0.0)];
    assert_eq!(
        tree.reconcile(&told).unwrap_err(),
        ReconcileError::Contradiction {
            node: 8,
            row: 2,
            total: 131.0,
            parts: 130.0
        }
    );
    let told = [of(9, 0.1, 0.0), of(10, 0.2, 0.0), of(8, 0.3, 0.0)];
    // 0.1 + 0.2 is 0.3 but for its last digit.
    assert_eq!(tree.reconcile(&told).unwrap().mean(8), 0.3);
    let told = [of(3, 5.0, 1.0), of(3, 6.0, 0.0), of(3, 7.0, 0.0)];
    assert!(matches!(
        tree.reconcile(&told).unwrap_err(),
        ReconcileError::Twice {
            first: 1,
            second: 2,
            ..
        }
    ));
}

#[test]
fn what_nothing_tells_is_not_known() {
    let tree = Tree::new(&WITHIN).unwrap();
    // 4 + 5 is known, and so is what 3 has; of 6, 7, 9 and 10 only 6.
    let told = [
        of(0, 100.0, 1.0),
        of(1, 40.0, 1.0),
        of(2, 30.0, 1.0),
        of(6, 10.0, 1.0),
    ];
    let found = tree.reconcile(&told).unwrap();
    assert!((found.mean(3) - 30.0).abs() < 1e-12 && (found.variance(3) - 3.0).abs() < 1e-12);
    for (node, is_known) in [
        (4, false),
        (5, false),
        (6, true),
        (7, false),
        (8, false),
        (9, false),
    ] {
        assert_eq!(found.is_known(node), is_known, "{node}");
    }
    assert!(found.mean(4).is_nan() && found.variance(4).is_infinite());
    let refused = Err(ReconcileError::Undetermined { node: 4 });
    assert_eq!(found.draws(1, 1), refused);
}

#[test]
fn draws_have_the_variances_and_add_up() {
    let tree = Tree::new(&WITHIN).unwrap();
    let found = tree.reconcile(&all_measured()).unwrap();
    let (_, covariances) = by_matrix(&WITHIN, &all_measured());
    const DRAWS: usize = 20_000;
    // Siblings of three, whose covariance does not follow from the variance of their sum.
    let pairs = [(1, 2), (2, 3), (6, 8), (7, 8)];
    let mut products = [0.0; 4];
    let mut sums = vec![(0.0, 0.0); WITHIN.len()];
    for draw in found.draws(DRAWS, 3).unwrap() {
        for node in 0..WITHIN.len() {
            let parts = tree.parts(node);
            let sum: f64 = parts.iter().map(|&part| draw[part]).sum();
            // Rounding of numbers of a thousand.
            assert!(parts.is_empty() || (sum - draw[node]).abs() < 1e-11);
            let away = draw[node] - found.mean(node);
            sums[node].0 += away;
            sums[node].1 += away * away;
        }
        for (product, (a, b)) in products.iter_mut().zip(pairs) {
            *product += (draw[a] - found.mean(a)) * (draw[b] - found.mean(b));
        }
    }
    for (node, (sum, squares)) in sums.into_iter().enumerate() {
        let n = DRAWS as f64;
        let variance = found.variance(node);
        // Five standard errors: once in 1.7 million, of 22 looks.
        assert!((sum / n).abs() < 5.0 * (variance / n).sqrt(), "{node}");
        assert!(
            (squares / n / variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
            "{node}"
        );
    }
    for (product, (a, b)) in products.into_iter().zip(pairs) {
        let n = DRAWS as f64;
        let right = covariances[a][b];
        let error = ((found.variance(a) * found.variance(b) + right * right) / n).sqrt();
        // None of them is zero: they share what the total leaves.
        assert!(right < -5.0 * error, "{a} {b} {right} {error}");
        assert!((product / n - right).abs() < 5.0 * error, "{a} {b}");
    }
}

/// 4 levels of 10, counts with noise of three epsilons: what is known of the errors holds.
#[test]
fn intervals_of_a_simulated_release_hold() {
    let mut within = vec![None];
    let mut level = vec![0];
    let mut depth = vec![0];
    for d in 1..4 {
        let mut next = Vec::new();
        for &node in &level {
            for _ in 0..10 {
                next.push(within.len());
                within.push(Some(node));
                depth.push(d);
            }
        }
        level = next;
    }
    let nodes = within.len();
    let mut truth = vec![0.0; nodes];
    for node in (0..nodes).rev() {
        if depth[node] == 3 {
            truth[node] = (node * node % 97) as f64;
        }
        if let Some(parent) = within[node] {
            truth[parent] += truth[node];
        }
    }
    let mut random = NoiseSource::seeded(11);
    let of_depth = [1.0, 0.5, 0.5, 0.2].map(|e| Mechanism::geometric(1.0, e).unwrap());
    let told: Vec<Measurement> = (0..nodes)
        .map(|node| {
            let mechanism = &of_depth[depth[node]];
            let value = mechanism.sample(truth[node], &mut random);
            of(node, value, mechanism.variance())
        })
        .collect();
    let tree = Tree::new(&within).unwrap();
    let found = tree.reconcile(&told).unwrap();
    let (square, chance) = found.chi_square();
    assert_eq!(found.gaps().len(), 111);
    // Geometric noise has heavier tails than normal one, and sums of ten hardly.
    assert!(chance > 1e-3 && chance < 0.999, "{square} {chance}");
    let (mut before, mut after) = (0.0, 0.0);
    let mut held = 0;
    for node in 0..nodes {
        let error = found.mean(node) - truth[node];
        held += usize::from(error.abs() < 1.96 * found.variance(node).sqrt());
        if depth[node] == 2 {
            before += (told[node].value - truth[node]).powi(2);
            after += error * error;
        }
        assert!(found.variance(node) <= told[node].variance * (1.0 + 1e-12));
    }
    // 1,111 intervals of 95 %, of which those within one area hang together: 3 % either way.
    let share = held as f64 / nodes as f64;
    assert!((share - 0.95).abs() < 0.03, "{share}");
    // Of a variance of 8 beside ten parts of 50 little is gained; of the total around them some.
    assert!(after < before, "{after} {before}");
    // Numbers that are said too sure are told.
    let sure: Vec<Measurement> = told
        .iter()
        .map(|m| of(m.node, m.value, 0.5 * m.variance))
        .collect();
    assert!(tree.reconcile(&sure).unwrap().chi_square().1 < 1e-6);
}

#[test]
fn trees_that_are_none_are_refused() {
    assert!(matches!(Tree::new(&[]), Err(ReconcileError::Empty)));
    let far = Tree::new(&[None, Some(7)]);
    assert!(matches!(
        far,
        Err(ReconcileError::Parent {
            node: 1,
            parent: 7,
            ..
        })
    ));
    let circle = Tree::new(&[None, Some(2), Some(3), Some(2), Some(1)]);
    assert!(matches!(
        circle,
        Err(ReconcileError::Circle { node: 2 | 3 })
    ));
    let tree = Tree::new(&[None, Some(0)]).unwrap();
    assert!(!tree.is_empty());
    for (told, words) in [
        (of(2, 1.0, 1.0), "area 2"),
        (of(1, f64::NAN, 1.0), "the value NaN"),
        (of(1, f64::INFINITY, 1.0), "the value inf"),
        (of(1, 1.0, -1.0), "the variance -1"),
        (of(1, 1.0, f64::NAN), "the variance NaN"),
    ] {
        let error = tree.reconcile(&[told]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// A million areas on the way: nothing recurses, and nothing is quadratic.
#[test]
fn a_long_chain_and_a_wide_star_are_linear() {
    let chain: Vec<Option<usize>> = (0..300_000)
        .map(|node: usize| node.checked_sub(1))
        .collect();
    let star: Vec<Option<usize>> = (0..300_000).map(|node| (node > 0).then_some(0)).collect();
    for within in [chain, star] {
        let tree = Tree::new(&within).unwrap();
        let told: Vec<Measurement> = (0..within.len()).map(|node| of(node, 1.0, 1.0)).collect();
        assert!(tree.reconcile(&told).unwrap().mean(0).is_finite());
    }
}
