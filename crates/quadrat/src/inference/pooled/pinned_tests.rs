//! Sums that are known exactly: against the engine of exact sums, differences, and small noise.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::lift::Lift;
use super::testing::NODES;
use super::totals::{ConditionalMode, NodePrior};
use super::{Draws, Mode, PooledEvidence, PooledOptions, Pools, find_mode};
use crate::inference::Evidence;
use crate::inference::sites::LatentGaussian;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::tests::Toy;
use crate::likelihood::local::Local;
use crate::likelihood::{Gaussian, Noise, Poisson};
use crate::linalg::Mat;
use crate::link::Link;

const VALUES: [f64; 3] = [1.4, 0.9, 2.2];

fn amounts(link: Link, variances: [f64; 3]) -> Box<dyn Local> {
    let made = Gaussian::new(VALUES.to_vec(), Noise::Known(variances.to_vec())).unwrap();
    Box::new(made.behind(link).unwrap())
}

/// Three rows that share no node.
fn apart(link: Link) -> Pools {
    let mut pools = Pools::new(9);
    pools.push(link, (0..3).map(|i| (i, 1.0 + i as f64)));
    pools.push(link, (3..6).map(|i| (i, 2.0)));
    pools.push(link, (6..9).map(|i| (i, 1.0 + 0.1 * i as f64)));
    pools
}

fn lifted(toy: &Toy, theta: &[f64], pools: &Pools, mode: &Mode, count: usize) -> Lift {
    let mut rows = Rows::new(toy, theta);
    rows.count = pools.rows();
    let (mean, prior) = (toy.prior_mean(), toy.parted(theta));
    Lift::new(mode, pools, &rows, mean, prior, Draws::kept(count), 3).unwrap()
}

#[test]
fn exact_rows_have_the_mode_and_evidence_of_exact_sums() {
    let pools = apart(Link::Exp);
    let toy = Toy::new(&NODES, vec![amounts(Link::Exp, [0.0; 3])]);
    let theta = [1.2, 0.35];
    let mode = find_mode(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
    assert!(mode.converged, "{}", mode.residual);
    let targets = VALUES.map(f64::ln);
    for (z, t) in mode.means.iter().zip(&targets) {
        // What the search of a place that meets its rows leaves.
        assert!((z.value - t).abs() < 1e-9);
    }
    let prior = NodePrior {
        mean: toy.prior_mean().to_vec(),
        covariance: toy.covariance(&theta),
    };
    let known = ConditionalMode::find(&pools, &targets, &prior, &prior.mean);
    let known = known.unwrap().unwrap();
    // That search ends when no node moves by more than a thousandth.
    for (a, b) in mode.values.iter().zip(&known.values) {
        assert!((a - b).abs() < 5e-3, "{a} {b}");
    }
    // The change of variables from logarithms to values.
    let change: f64 = VALUES.iter().map(|y| y.ln()).sum();
    let got = mode.log_evidence + change;
    assert!(
        (got - known.log_evidence).abs() < 0.02,
        "{got} {}",
        known.log_evidence
    );

    // The same evidence from the weights of both kinds of draws.
    let count = 20_000;
    let lift = lifted(&toy, &theta, &pools, &mode, count);
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let normals = Mat::from_fn(9, count, |_, _| random.sample(StandardNormal));
    let root = prior.root().unwrap();
    let drawn = known.draws(&pools, &targets, &prior, root.as_ref(), normals.as_ref());
    let logs = drawn.iter().flatten().map(|d| d.log_weight.exp());
    let want = known.log_evidence + (logs.sum::<f64>() / count as f64).ln();
    let got = lift.log_evidence() + change;
    // Standard errors of some .005 each.
    assert!((got - want).abs() < 0.03, "{got} {want}");
    let (values, _) = lift
        .ready(|| toy.covariance(&theta))
        .unwrap()
        .given(toy.prior_mean(), toy.parted(&theta));
    assert_eq!(values.ncols(), count);
}

#[test]
fn exact_rows_are_the_limit_of_little_noise() {
    for link in [Link::Exp, Link::Softplus] {
        let pools = apart(link);
        let theta = [1.2, 0.35];
        let evidence = |variance: f64| {
            // The second row has noise all the time.
            let toy = Toy::new(&NODES, vec![amounts(link, [variance, 0.04, variance])]);
            let mode = find_mode(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
            assert!(mode.converged, "{link} {variance}: {}", mode.residual);
            (mode.log_evidence, mode.values)
        };
        let (want, at) = evidence(0.0);
        let (got, near) = evidence(1e-8);
        // The evidence moves with the noise over the variance of the rows.
        assert!((got - want).abs() < 1e-5, "{link}: {got} {want}");
        for (a, b) in at.iter().zip(&near) {
            assert!((a - b).abs() < 1e-5, "{link}: {a} {b}");
        }
    }
}

#[test]
fn gradients_beside_exact_rows_are_differences() {
    for link in [Link::Exp, Link::Softplus] {
        for variances in [[0.0; 3], [0.0, 0.3, 0.0]] {
            let mut pools = apart(link);
            // A count over nodes of all of them.
            pools.push(link, (2..8).map(|i| (i, 1.0)));
            let count: Box<dyn Local> = Box::new(Poisson::new(vec![4.0], vec![2.0], link).unwrap());
            let toy = Toy::new(&NODES, vec![amounts(link, variances), count]);
            let theta = [1.3, 0.5];
            let tight = PooledOptions {
                tolerance: 1e-12,
                ..PooledOptions::default()
            };
            let evidence = PooledEvidence::new(&toy, &pools, tight);
            let (_, gradient) = evidence.evaluate(&theta).unwrap();
            for i in 0..2 {
                let h = 1e-4 * theta[i];
                let at = |step: f64| {
                    let mut theta = theta;
                    theta[i] += step;
                    evidence.evaluate(&theta).unwrap().0
                };
                let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                // Rows are met to 1e-9, which the differences divide by a step of 1e-4.
                assert!(
                    (gradient[i] - slope).abs() < 1e-4 * (1.0 + slope.abs()),
                    "{link} {variances:?} {i}: {} {slope}",
                    gradient[i]
                );
            }
        }
    }
}

/// Rows that a smooth function makes follow from each other ask for a quadratic form of which
/// rounding leaves no digit, and no sign: its evidence must not be the highest.
#[test]
fn no_evidence_is_told_where_rounding_decides() {
    let pools = apart(Link::Exp);
    let toy = Toy::new(&NODES, vec![amounts(Link::Exp, [0.0; 3])]);
    let evidence = PooledEvidence::new(&toy, &pools, PooledOptions::default());
    let (likely, _) = evidence.evaluate(&[1.2, 0.35]).unwrap();
    let mut refused = 0;
    for power in 1..40 {
        match evidence.evaluate(&[1.2, 0.35 * 1.6_f64.powi(power)]) {
            Ok((told, _)) => assert!(told < likely, "{power}: {told} {likely}"),
            Err(error) => {
                assert!(error.is_recoverable(), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "longer lengthscales are wanted here");
}
