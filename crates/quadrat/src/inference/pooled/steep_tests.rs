//! Modes where neighbouring sums differ by factors of thousands, and the steps that they take.

use super::*;
use crate::inference::Evidence;
use crate::inference::sites::tests::Toy;
use crate::likelihood::Poisson;
use crate::likelihood::local::Local;
use crate::link::Link;

/// Nodes of a row of width ten.
const WITHIN: usize = 12;

/// Counts in bins side by side, of which the last may be wider. Its nodes then lie on the next
/// sixty: the mean of the prior is a line.
fn bins(counts: &[f64], last: f64, link: Link) -> (Toy, Pools) {
    let n = counts.len();
    let mut widths = vec![10.0; n];
    widths[n - 1] = last;
    let place = |i: usize| {
        let (row, within) = (i / WITHIN, (i % WITHIN) as f64 + 0.5);
        10.0 * row as f64 + widths[row].min(60.0) * within / WITHIN as f64
    };
    let places: Vec<f64> = (0..n * WITHIN).map(place).collect();
    let table: Box<dyn Local> = Box::new(Poisson::new(counts.to_vec(), widths, link).unwrap());
    let mut pools = Pools::new(places.len());
    for row in 0..n {
        pools.push(link, (0..WITHIN).map(|i| (row * WITHIN + i, 1.0)));
    }
    (Toy::new(&places, vec![table]), pools)
}

/// The mode, which has to be found; and the slope of its density along the nodes, relative to the
/// terms it is made of.
fn found(counts: &[f64], last: f64, link: Link, theta: [f64; 2]) -> usize {
    let (toy, pools) = bins(counts, last, link);
    let mode = find_mode(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
    let what = format!("{counts:?} {last} {link} {theta:?}");
    assert!(
        mode.converged,
        "{what}: {} after {}",
        mode.residual, mode.steps
    );
    let pull: Vec<f64> = mode.jets.iter().map(|jet| jet.first).collect();
    let pull = mode.slopes.scatter(&pools, &pull);
    let size = pull.iter().fold(1.0, |m: f64, p| m.max(p.abs()));
    let off = pull.iter().zip(&mode.dual).map(|(p, b)| (p - b).abs());
    // A residual of 1e-9 posterior sds, or rounding of precisions of 1e6 in units of the prior.
    assert!(off.fold(0.0, f64::max) < 1e-4 * size, "{what}");
    mode.steps
}

/// Behind `softplus` a function goes from -10 to hundreds, between rows and within them: with rows
/// linearised the search crept, and ended after 200 steps far from the mode.
#[test]
fn steep_sums_behind_softplus_have_a_mode() {
    let tables: [&[f64]; 4] = [
        &[40.0, 1.0, 30.0, 0.0, 60.0],
        &[1000.0, 3.0, 2000.0, 0.0, 5000.0],
        &[0.0, 1e4],
        &[1e4, 0.0, 0.0, 1e4],
    ];
    for counts in tables {
        for variance in [1e2, 1e4, 1e5] {
            for lengthscale in [3.0, 10.0, 40.0] {
                let steps = found(counts, 10.0, Link::Softplus, [variance, lengthscale]);
                // Twenty to forty are usual.
                assert!(steps <= 100, "{counts:?} {variance} {lengthscale}: {steps}");
            }
        }
    }
}

/// A last band that is a million and more times as wide as the others: from sums that are as many
/// times too large, likelihoods come down by a factor of `e` in a step, and lose all digits before.
#[test]
fn a_band_that_is_far_wider_is_met_at_once() {
    for last in [1e4, 1e8, 1e12] {
        for variance in [5.0, 50.0] {
            for lengthscale in [4.0, 15.0, 60.0] {
                let counts = [50.0, 70.0, 20.0, 90.0, 35.0, 60.0];
                let steps = found(&counts, last, Link::Exp, [variance, lengthscale]);
                assert!(steps <= 40, "{last} {variance} {lengthscale}: {steps}");
            }
        }
    }
}

/// A residual that is no number is not a mode.
#[test]
fn what_is_no_number_is_no_mode() {
    let (toy, pools) = bins(&[4.0, 9.0], 10.0, Link::Exp);
    let mode = find_mode(&toy, &pools, &[f64::NAN, 5.0], &PooledOptions::default());
    assert!(mode.is_err() || mode.is_ok_and(|mode| !mode.converged));
}

/// At steep sums too gradients are those of the evidence.
#[test]
fn gradients_of_steep_sums_are_differences() {
    let counts = [1000.0, 3.0, 2000.0, 0.0, 5000.0];
    let (toy, pools) = bins(&counts, 10.0, Link::Softplus);
    let evidence = PooledEvidence::new(&toy, &pools, PooledOptions::default());
    let theta = [2e4, 8.0];
    let (_, gradient) = evidence.evaluate(&theta).unwrap();
    for i in 0..2 {
        let h = 1e-3 * theta[i];
        let at = |factor: f64| {
            let mut moved = theta;
            moved[i] += factor * h;
            evidence.value(&moved).unwrap()
        };
        // Fourth order: h^4, and 1e-8 of the evidence, in which likelihoods of thousands cancel,
        // over h.
        let numeric = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / 12.0;
        let got = gradient[i] * h;
        assert!((got - numeric).abs() < 1e-6, "{i}: {got} {numeric}");
    }
}
