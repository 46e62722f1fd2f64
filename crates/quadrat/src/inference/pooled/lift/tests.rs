//! Draws that meet their sums against importance sampling of the nodes themselves.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::super::testing::{NODES, kinds, pools};
use super::super::{PooledOptions, Pools, condition_pooled, find_mode};
use super::*;
use crate::inference::sites::LatentGaussian;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::tests::Toy;
use crate::inference::sites::{Block, Parted};
use crate::linalg::{MatRef, dot, matvec};
use crate::parameter::Parameter;

/// Draws of the reference: with weights at least a hundredth of them count.
const DRAWS: usize = 150_000;

/// What the rows, and nodes of several rows, amount to, and every node. Not the sums after the
/// link: their sds hang on a few large draws.
fn answers(pools: &Pools, other: &Pools, f: &[f64]) -> Vec<f64> {
    let rows = pools.means(f).into_iter().chain(other.means(f));
    rows.map(|z| z.value).chain(f.iter().copied()).collect()
}

/// Weighted mean and sd of one answer.
fn moments(weights: &[f64], answers: &[Vec<f64>], which: usize) -> (f64, f64) {
    let total: f64 = weights.iter().sum();
    let each = || weights.iter().zip(answers);
    let mean = each().map(|(w, a)| w * a[which]).sum::<f64>() / total;
    let square = each()
        .map(|(w, a)| w * (a[which] - mean).powi(2))
        .sum::<f64>()
        / total;
    (mean, square.sqrt())
}

/// Weights and answers of draws from a normal around the Laplace approximation, 1.3 times as wide,
/// and the log evidence.
fn reference(
    toy: &Toy,
    theta: &[f64],
    pools: &Pools,
    other: &Pools,
    link: Link,
) -> (Vec<f64>, Vec<Vec<f64>>, f64) {
    let fit = condition_pooled(toy, pools, theta, &PooledOptions::default()).unwrap();
    let k = toy.covariance(theta);
    let shift = matvec(k.as_ref(), &fit.alpha);
    let reduced = fit.factor.whiten(k.clone());
    let s = &k - reduced.transpose() * &reduced;
    let tiny = |i: usize, j: usize| if i == j { 1e-9 } else { 0.0 };
    let proposal =
        Cholesky::factor(Mat::from_fn(9, 9, |i, j| 1.3 * s[(i, j)] + tiny(i, j)).as_ref()).unwrap();
    let prior =
        Cholesky::factor(Mat::from_fn(9, 9, |i, j| k[(i, j)] + tiny(i, j)).as_ref()).unwrap();
    let rows = Rows::new(toy, theta);
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut logs, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..DRAWS {
        let t: Vec<f64> = (0..9).map(|_| random.sample(StandardNormal)).collect();
        let away: Vec<f64> = proposal
            .multiply(&t)
            .iter()
            .zip(&shift)
            .map(|(x, s)| s + x)
            .collect();
        let f: Vec<f64> = away
            .iter()
            .zip(toy.prior_mean())
            .map(|(x, m)| m + x)
            .collect();
        let z = prior.half_solve(&away);
        let latent: Vec<f64> = pools.means(&f).iter().map(|z| z.value).collect();
        let ratio = -0.5 * (dot(&z, &z) - dot(&t, &t) + prior.log_det() - proposal.log_det());
        logs.push(ratio + rows.log_density(&latent));
        seen.push(answers(pools, other, &f));
    }
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|l| (l - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let effective = sum * sum / weights.iter().map(|w| w * w).sum::<f64>();
    // Means are known to 0.03 of a standard deviation, sds to 3 %.
    assert!(effective > 1500.0, "{link}: {effective}");
    (weights, seen, most + (sum / DRAWS as f64).ln())
}

/// Worst errors: of means in sds, of the logarithm of sds.
struct Worst {
    mean: f64,
    sd: f64,
}

/// Errors of the draws, of the same without their weights, and of the log evidence.
fn compare(toy: &Toy, pools: &Pools, link: Link) -> (Worst, Worst, f64) {
    let mut theta = toy.theta();
    // Shorter than the rows, so that a normal distribution of the nodes is far from the truth.
    theta[1] = 0.35;
    let mut other = Pools::new(9);
    other.push(link, (1..5).map(|i| (i, 1.0)));
    let mode = find_mode(toy, pools, &theta, &PooledOptions::default()).unwrap();
    let mut rows = Rows::new(toy, &theta);
    rows.count = pools.rows();
    let prior = || toy.parted(&theta);
    let drawn = |draws| Lift::new(&mode, pools, &rows, toy.prior_mean(), prior(), draws, 3);
    let lift = drawn(Draws::kept(20_000)).unwrap();
    let k = || toy.covariance(&theta);
    let given = |lift: &Lift| lift.ready(k).unwrap().given(toy.prior_mean(), prior());
    let (values, whitened) = given(&lift);
    // A factor that was not kept is the same again.
    let few = Draws::kept(500);
    let anew = Draws {
        keeps_factor: false,
        ..few
    };
    assert_eq!(
        given(&drawn(anew).unwrap()).0,
        given(&drawn(few).unwrap()).0
    );
    // At its own nodes a draw leaves nothing open but the jitter.
    for i in 0..9 {
        let w = whitened.col_as_slice(i);
        assert!((1.2 - dot(w, w)).abs() < 1e-6);
    }
    let drawn: Vec<Vec<f64>> = (0..values.ncols())
        .map(|d| answers(pools, &other, values.col_as_slice(d)))
        .collect();
    let (weights, seen, log_evidence) = reference(toy, &theta, pools, &other, link);
    let worst = |own: &[f64]| {
        let mut worst = Worst { mean: 0.0, sd: 0.0 };
        for which in 0..seen[0].len() {
            let (mean, sd) = moments(own, &drawn, which);
            let (want, want_sd) = moments(&weights, &seen, which);
            worst.mean = worst.mean.max((mean - want).abs() / want_sd);
            worst.sd = worst.sd.max((sd / want_sd).ln().abs());
        }
        worst
    };
    let even = vec![1.0; drawn.len()];
    (
        worst(lift.weights()),
        worst(&even),
        (lift.log_evidence() - log_evidence).abs(),
    )
}

/// With their weights they agree; the comparison finds out draws without them.
#[test]
fn draws_agree_with_importance_sampling_of_the_nodes() {
    let mut most_of_even = 0.0_f64;
    for (name, link, table) in kinds() {
        if link == Link::Square {
            continue;
        }
        let toy = Toy::new(&NODES, vec![table]);
        let (Worst { mean, sd }, even, log_evidence) = compare(&toy, &pools(link), link);
        // Three standard errors of the reference, the less accurate of the two.
        assert!(mean < 0.1, "{name} {link}: a mean is off by {mean} sd");
        assert!(sd < 0.1, "{name} {link}: the log of an sd is off by {sd}");
        assert!(
            log_evidence < 0.1,
            "{name} {link}: the log evidence is off by {log_evidence}"
        );
        most_of_even = most_of_even.max(even.mean).max(even.sd);
    }
    assert!(most_of_even > 0.15, "{most_of_even}");
}

#[test]
fn behind_a_square_there_are_no_draws() {
    let (_, link, table) = kinds()
        .into_iter()
        .find(|(_, link, _)| *link == Link::Square)
        .unwrap();
    let toy = Toy::new(&NODES, vec![table]);
    let (theta, pools) = (toy.theta(), pools(link));
    let mode = find_mode(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
    let mut rows = Rows::new(&toy, &theta);
    rows.count = pools.rows();
    let (mean, prior) = (toy.prior_mean(), toy.parted(&theta));
    assert!(Lift::new(&mode, &pools, &rows, mean, prior, Draws::kept(10), 1).is_none());
}

/// A toy about a level of which only an sd is known.
struct Vague<'a> {
    toy: &'a Toy,
    sd: f64,
}

impl LatentGaussian for Vague<'_> {
    fn prior_mean(&self) -> &[f64] {
        self.toy.prior_mean()
    }
    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        let Parted { kernel, constants } = self.parted(theta);
        kernel + gemm(constants.as_ref(), constants.transpose())
    }
    fn parted(&self, theta: &[f64]) -> Parted {
        Parted {
            kernel: self.toy.covariance(theta),
            constants: Mat::from_fn(NODES.len(), 1, |_, _| self.sd),
        }
    }
    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        self.toy.contract_covariance(theta, adjoint, gradient);
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        self.toy.blocks()
    }
    fn parameters(&self) -> &[Parameter] {
        self.toy.parameters()
    }
    fn describe(&self) -> String {
        self.toy.describe()
    }
}

/// Weighted means and sds of the nodes, of the rows and of the level, and the log evidence with its
/// Monte Carlo error, `sqrt(sum w^2 - 1 / n)` of `n` weights that add up to one.
fn told_about(toy: &Toy, sd: f64, pools: &Pools) -> (Vec<(f64, f64)>, f64, f64) {
    let (vague, theta) = (Vague { toy, sd }, toy.theta());
    let mode = find_mode(&vague, pools, &theta, &PooledOptions::default()).unwrap();
    let mut rows = Rows::new(&vague, &theta);
    rows.count = pools.rows();
    let (mean, prior) = (toy.prior_mean(), vague.parted(&theta));
    let cross = vague.parted(&theta);
    let lift = Lift::new(&mode, pools, &rows, mean, prior, Draws::kept(2000), 3).unwrap();
    let ready = lift.ready(|| unreachable!("the factor was kept")).unwrap();
    let (values, _) = ready.given(mean, cross);
    let levels = ready.levels(0);
    let drawn: Vec<Vec<f64>> = (0..values.ncols())
        .map(|d| {
            let f = values.col_as_slice(d);
            let rows = pools.means(f).into_iter().map(|z| z.value);
            rows.chain(f.iter().copied())
                .chain([sd * levels[d]])
                .collect()
        })
        .collect();
    let of = |which| moments(lift.weights(), &drawn, which);
    let squares: f64 = lift.weights().iter().map(|w| w * w).sum();
    // A prior that is wider by a factor has an evidence that is smaller by it.
    (
        (0..drawn[0].len()).map(of).collect(),
        lift.log_evidence() + sd.ln(),
        (squares - 1.0 / drawn.len() as f64).max(0.0).sqrt(),
    )
}

#[test]
fn a_vague_level_does_not_show() {
    for (name, link, table) in kinds() {
        if link == Link::Square {
            continue;
        }
        let toy = Toy::new(&NODES, vec![table]);
        let (want, evidence, error) = told_about(&toy, 1e3, &pools(link));
        let is_vague = name == "bernoulli";
        // At 1e6 the wider normal of three answers moves them by some hundredths of their sd.
        let widest = if is_vague { 1e5 } else { 1e6 };
        for sd in [1e4, 1e5, 1e6].into_iter().filter(|sd| *sd <= widest) {
            let (found, own, _) = told_about(&toy, sd, &pools(link));
            // The draws are the same, and the prior shows by the square of one in a thousand; but
            // mode and proposal, which weights make up for, are known to `eps sd^2`, 2e-4 at 1e6.
            // Three answers hardly tell of a level: their proposals are further from what they say,
            // so that answers move with these, by two Monte Carlo errors of 2,000 draws at most.
            let (most, moved) = match is_vague {
                true => (1e-3 + error, 2.0 * (error * error + 1.0 / 2000.0).sqrt()),
                false => (1e-3, 3e-3),
            };
            assert!(
                (own - evidence).abs() < most,
                "{name} {link} {sd}: {own} {evidence}"
            );
            for ((mean, spread), (old, before)) in found.iter().zip(&want) {
                // Within `moved`, explained above.
                assert!(
                    (mean - old).abs() < moved * before,
                    "{name} {link} {sd}: {mean} {old}"
                );
                // The same of sds.
                assert!(
                    (spread / before - 1.0).abs() < moved,
                    "{name} {link} {sd}: {spread} {before}"
                );
            }
        }
    }
}
