//! The bound against exact inference, its optimum, and what it must not depend on.

use std::ops::Range;

use super::inducing_factor::inducing_factor;
use super::pass::Stream;
use super::sums::Depth;
use super::testing::{MEAN, Toy, inducing, place, some_normal};
use super::*;
use crate::covariance::{Covariance, Induced};
use crate::error::FitError;
use crate::inference::{Evidence, WarmStart, in_pool};
use crate::kernel::Kernel;
use crate::likelihood::local::Local;
use crate::likelihood::{
    Dispersion, Exponential, Gaussian, Interval, NegativeBinomial, Noise, Poisson,
};
use crate::linalg::{Cholesky, Mat, dot};
use crate::link::Link;
use crate::support::{Aggregate, Functionals};

type Table = (Box<dyn Local>, Link, Vec<usize>);

pub(super) const COUNTS: [f64; 4] = [3.0, 0.0, 7.0, 2.0];
pub(super) const EXPOSURE: [f64; 4] = [1.5, 1.0, 2.0, 0.7];
pub(super) const WAITS: [f64; 4] = [1.2, 0.4, 3.0, 0.9];

/// Every likelihood of bags, and points of others.
pub(super) fn kinds() -> Vec<Vec<Table>> {
    let sizes = vec![4, 1, 3, 5];
    let (counts, exposure) = (COUNTS.to_vec(), EXPOSURE.to_vec());
    let mut all: Vec<Vec<Table>> = Vec::new();
    for link in [Link::Exp, Link::Square] {
        let poisson = Poisson::new(counts.clone(), exposure.clone(), link).unwrap();
        all.push(vec![(Box::new(poisson), link, sizes.clone())]);
        let over =
            NegativeBinomial::new(counts.clone(), exposure.clone(), link, Dispersion::Learned);
        all.push(vec![(Box::new(over.unwrap()), link, sizes.clone())]);
    }
    let ranges = Poisson::ranges(
        vec![1.0, 0.0, 7.0, 0.0],
        vec![4.0, 4.0, 7.0, f64::INFINITY],
        exposure,
        Link::Exp,
    );
    all.push(vec![(Box::new(ranges.unwrap()), Link::Exp, sizes.clone())]);
    let waits = Exponential::new(WAITS.to_vec(), Link::Exp).unwrap();
    all.push(vec![(Box::new(waits), Link::Exp, sizes.clone())]);
    all.push(gaussian(sizes.clone()));
    let lower = vec![-1.0, 0.2, f64::NEG_INFINITY];
    let upper = vec![0.5, f64::INFINITY, 0.0];
    let bounds = Interval::new(lower, upper, Noise::Learned).unwrap();
    let mut mixed = gaussian(vec![1, 3, 1, 1]);
    mixed.push((Box::new(bounds), Link::Identity, vec![1, 2, 1]));
    all.push(mixed);
    let link = Link::Softplus;
    let poisson = Poisson::new(counts.clone(), EXPOSURE.to_vec(), link).unwrap();
    all.push(vec![(Box::new(poisson), link, sizes.clone())]);
    let over = NegativeBinomial::new(counts, EXPOSURE.to_vec(), link, Dispersion::Learned);
    all.push(vec![(Box::new(over.unwrap()), link, sizes.clone())]);
    for link in [Link::Square, Link::Softplus] {
        // Behind the square a count that is exact has a match of its own, which is among the kinds
        // above.
        let lower = vec![1.0, 0.0, 7.0, 2.0];
        let upper = vec![4.0, 4.0, 9.0, f64::INFINITY];
        let ranges = Poisson::ranges(lower, upper, EXPOSURE.to_vec(), link);
        all.push(vec![(Box::new(ranges.unwrap()), link, sizes.clone())]);
    }
    let known = Noise::Known(vec![0.3, 0.1, 0.5, 0.2]);
    let table = Gaussian::new(vec![0.5, 1.4, 1.0, -0.2], known).unwrap();
    all.push(vec![(Box::new(table), Link::Identity, sizes)]);
    all
}

fn gaussian(sizes: Vec<usize>) -> Vec<Table> {
    let values = (0..sizes.len())
        .map(|i| (1.3 * i as f64).sin() + 0.5)
        .collect();
    let table = Gaussian::new(values, Noise::Learned).unwrap();
    vec![(Box::new(table), Link::Identity, sizes)]
}

/// Fourth order difference.
fn slope(value: impl Fn(f64) -> f64, h: f64) -> f64 {
    (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h)
}

#[test]
fn neither_chunks_nor_threads_nor_memory_matter() {
    let tables = || -> Vec<Table> {
        let sizes: Vec<usize> = (0..60).map(|i| 1 + 7 * (i % 4)).collect();
        let counts = (0..60).map(|i| (i % 9) as f64).collect();
        let table = NegativeBinomial::new(counts, vec![1.3; 60], Link::Exp, Dispersion::Learned);
        vec![(Box::new(table.unwrap()), Link::Exp, sizes)]
    };
    let evaluate = |chunk: usize, threads: usize, memory: usize| {
        let within = Within {
            full: 10,
            sample: 5,
            seed: 1,
        };
        let toy = Toy::new(tables(), within, chunk, None, 1e-6);
        let theta = toy.theta();
        let (mean, lower) = some_normal(6);
        let q = Normal::from_covariance_factor(&mean, lower.as_ref()).unwrap();
        in_pool(threads, || {
            let stream = Stream::new(&toy, &theta, LogSum::Matched, memory).unwrap();
            stream.run(&q, Depth::All).unwrap()
        })
    };
    let want = evaluate(1_000_000, 1, 0);
    for (chunk, threads, memory) in [(1, 1, 0), (40, 2, 0), (40, 1, 1 << 20), (13, 2, 1 << 20)] {
        let got = evaluate(chunk, threads, memory);
        // Sums of sixty rows in another order: n eps = 1e-14 of their terms, times the condition of
        // six inducing points.
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{a} {b}");
        close(got.value, want.value);
        got.gradient
            .iter()
            .zip(&want.gradient)
            .for_each(|(a, b)| close(*a, *b));
        got.in_mean
            .iter()
            .zip(&want.in_mean)
            .for_each(|(a, b)| close(*a, *b));
        for j in 0..6 {
            for i in 0..6 {
                close(got.in_covariance[(i, j)], want.in_covariance[(i, j)]);
            }
        }
    }
    // Threads alone change nothing at all.
    let (one, two) = (evaluate(40, 1, 0), evaluate(40, 2, 0));
    assert_eq!(one.value, two.value);
    assert_eq!(one.gradient, two.gradient);
}

#[test]
fn all_points_as_inducing_points_and_normal_rows_are_exact_inference() {
    let n = 15;
    let mut all = Functionals::new(vec!["x".into(), "y".into()]);
    (0..n).for_each(|i| all.push_point(&place(i)).unwrap());
    let toy = Toy::new(
        gaussian(vec![1; n]),
        Within::default(),
        4,
        Some(all.clone()),
        1e-10,
    );
    let theta = toy.theta();
    let evidence = SparseEvidence::new(&toy, SparseOptions::default());
    let (value, gradient) = evidence.evaluate(&theta).unwrap();
    let kernel: Kernel = toy.describe().parse().unwrap();
    let covariance = Covariance::new(&kernel);
    let noise = theta[theta.len() - 1];
    let residual: Vec<f64> = (0..n)
        .map(|i| (1.3 * i as f64).sin() + 0.5 - MEAN)
        .collect();
    let exact = |theta: &[f64]| {
        let mut k = covariance.matrix(theta, &all);
        (0..n).for_each(|i| k[(i, i)] += theta[theta.len() - 1]);
        let factor = Cholesky::factor(k.as_ref()).unwrap();
        let pull = dot(&residual, &factor.solve(&residual));
        -0.5 * (pull + factor.log_det() + n as f64 * (2.0 * std::f64::consts::PI).ln())
    };
    assert!(noise > 0.0);
    // The jitter of 1e-10, once per row and over the noise.
    assert!(
        (value - exact(&theta)).abs() < 1e-6,
        "{value} {}",
        exact(&theta)
    );
    for p in 0..theta.len() {
        let want = slope(
            |h| {
                let mut moved = theta.clone();
                moved[p] += h;
                exact(&moved)
            },
            1e-3,
        );
        assert!(
            // The jitter again.
            (gradient[p] - want).abs() < 1e-6 * (1.0 + want.abs()),
            "{p}: {} {want}",
            gradient[p]
        );
    }
    assert!((evidence.value(&theta).unwrap() - value).abs() < 1e-8);
    // And so are the predictions.
    let fit = condition_sparse(&toy, &theta, &SparseOptions::default(), None).unwrap();
    let at = inducing(4);
    let cross = covariance.cross(&theta, &all, &at);
    let mut k = covariance.matrix(&theta, &all);
    (0..n).for_each(|i| k[(i, i)] += noise);
    let factor = Cholesky::factor(k.as_ref()).unwrap();
    let weights = factor.solve(&residual);
    let reduced = fit.factor.whiten(cross.clone());
    let mut half = cross.clone();
    factor.half_solve_in_place(half.as_mut());
    for j in 0..4 {
        let mean = dot(cross.col_as_slice(j), &fit.alpha);
        // The jitter again, of means and variances of order one.
        assert!((mean - dot(cross.col_as_slice(j), &weights)).abs() < 1e-6);
        for i in 0..4 {
            let got = dot(reduced.col_as_slice(i), reduced.col_as_slice(j));
            // And again.
            assert!((got - dot(half.col_as_slice(i), half.col_as_slice(j))).abs() < 1e-6);
        }
    }
}

#[test]
fn the_search_ends_at_an_optimum_and_its_gradient_is_that_of_the_bound() {
    for (k, tables) in kinds().into_iter().enumerate() {
        let toy = Toy::new(tables, Within::default(), 5, None, 1e-6);
        let theta = toy.theta();
        let options = SparseOptions {
            tolerance: 1e-12,
            ..SparseOptions::default()
        };
        let (q, value, passes) = converge_sparse(&toy, &theta, &options, None).unwrap();
        assert!(passes < 40, "{k}: {passes}");
        let found = bound(&toy, &theta, &q, LogSum::Matched, true).unwrap();
        // The search ends where 1e-12 nats are left to gain; rounding is more.
        assert!((found.value - value).abs() < 1e-9, "{k}");
        // Stationary: F_mu = mu and 2 F_S = I - P.
        for i in 0..6 {
            assert!((found.in_mean[i] - q.mean()[i]).abs() < 1e-4, "{k}");
            for j in 0..6 {
                let unit = if i == j { 1.0 } else { 0.0 };
                let off = 2.0 * found.in_covariance[(i, j)] - unit + q.precision()[(i, j)];
                assert!(
                    off.abs() < 1e-3 * (1.0 + q.precision()[(i, i)]),
                    "{k} {i} {j}: {off}"
                );
            }
        }
        let evidence = SparseEvidence::new(&toy, options);
        let (_, gradient) = evidence.evaluate(&theta).unwrap();
        for p in 0..theta.len() {
            let want = slope(
                |h| {
                    let mut moved = theta.clone();
                    moved[p] += h;
                    evidence.value(&moved).unwrap()
                },
                1e-2 * theta[p],
            );
            // The search may end where no step gains, some 3e-5 from the optimum, and the gradient
            // at fixed `q` is off in first order of that.
            assert!(
                (gradient[p] - want).abs() < 1e-4 * (1.0 + want.abs()),
                "{k} {p}: {} {want}",
                gradient[p]
            );
        }
        // From elsewhere the same.
        let (mean, lower) = some_normal(6);
        let start = Normal::from_covariance_factor(&mean, lower.as_ref()).unwrap();
        let (_, again, _) = converge_sparse(&toy, &theta, &options, Some(&start)).unwrap();
        assert!((again - value).abs() < 1e-8, "{k}: {again} {value}");
    }
}

/// What the search before learned of how quickly steps approach spares the pass that would show it.
#[test]
fn a_search_from_near_takes_two_passes() {
    let toy = Toy::new(kinds().swap_remove(0), Within::default(), 5, None, 1e-6);
    let here = toy.theta();
    let there: Vec<f64> = here.iter().map(|t| 1.02 * t).collect();
    let tolerance = 1e-5;
    let options = SparseOptions {
        tolerance,
        ..SparseOptions::default()
    };
    let evidence = SparseEvidence::new(&toy, options);
    let mut warm_start = WarmStart::precise();
    // From far steps are mixed, from nearer they are not.
    let between: Vec<f64> = here.iter().map(|t| 1.01 * t).collect();
    evidence.evaluate_along(&here, &mut warm_start).unwrap();
    evidence.evaluate_along(&between, &mut warm_start).unwrap();
    let found = warm_start.found().unwrap().clone();
    assert!(
        found.rate.is_some_and(|rate| rate < 0.1),
        "{:?}",
        found.rate
    );
    let passes = |rate: Option<f64>| {
        let mut warm_start = WarmStart::precise();
        warm_start.leave_found(VariationalPosterior {
            rate,
            ..found.clone()
        });
        let before = evidence.passes();
        let (value, gradient) = evidence.evaluate_along(&there, &mut warm_start).unwrap();
        assert_eq!(gradient.len(), there.len());
        (evidence.passes() - before, value)
    };
    let ((two, value), (more, _)) = (passes(found.rate), passes(None));
    assert_eq!(two, 2);
    // A search that knows nothing, or that what was before it crept, looks once more.
    assert!(more > 2 && passes(Some(0.9)).0 > 2, "{more}");
    let exact = SparseOptions {
        tolerance: 1e-12,
        ..options
    };
    let (_, best, _) = converge_sparse(&toy, &there, &exact, None).unwrap();
    assert!(
        value <= best + 1e-9 && best - value < tolerance,
        "{value} {best}"
    );
    // It began farther away than it may end.
    let (factor, _) = inducing_factor(&toy, &there).unwrap();
    let carried = found.at(&toy, &there, &factor).unwrap();
    let begun = bound(&toy, &there, &carried, LogSum::Matched, false)
        .unwrap()
        .value;
    assert!(best - begun > tolerance, "{begun} {best}");
}

#[test]
fn boxes_are_rows_like_any_other() {
    // Sums over boxes, seen with noise: the bound lies below the evidence, and meets it where the
    // boxes are inducing.
    let kernel: Kernel = "se(x, y) + matern32(x)".parse().unwrap();
    let covariance = Covariance::new(&kernel);
    let mut boxes = Functionals::new(vec!["x".into(), "y".into()]);
    for i in 0..5 {
        let [x, y] = place(i);
        boxes
            .push_box(&[(x, x + 1.0), (y, y + 0.5)], Aggregate::Mean)
            .unwrap();
    }
    let mut toy = Toy::new(
        gaussian(vec![1; 5]),
        Within::default(),
        3,
        Some(boxes.clone()),
        1e-10,
    );
    let chunks = (0..toy.bags.chunks())
        .map(|c| boxes.rows(&toy.bags.chunk_points(c).collect::<Vec<_>>()))
        .collect();
    toy.induced = Induced::new(covariance.clone(), boxes.clone(), chunks, 1e-10);
    let theta = toy.theta();
    let value = SparseEvidence::new(&toy, SparseOptions::default())
        .value(&theta)
        .unwrap();
    let mut k = covariance.matrix(&theta, &boxes);
    (0..5).for_each(|i| k[(i, i)] += theta[theta.len() - 1]);
    let residual: Vec<f64> = (0..5)
        .map(|i| (1.3 * i as f64).sin() + 0.5 - MEAN)
        .collect();
    let factor = Cholesky::factor(k.as_ref()).unwrap();
    let exact = -0.5
        * (dot(&residual, &factor.solve(&residual))
            + factor.log_det()
            + 5.0 * (2.0 * std::f64::consts::PI).ln());
    // A jitter of 1e-10 of the variance stands between boxes and themselves, over the noise and
    // times misfits of some ten.
    assert!((value - exact).abs() < 1e-6, "{value} {exact}");
}

#[test]
fn the_collapsed_bound_is_that_of_titsias() {
    let n = 12;
    let toy = Toy::new(gaussian(vec![1; n]), Within::default(), 5, None, 1e-6);
    let theta = toy.theta();
    let value = SparseEvidence::new(&toy, SparseOptions::default())
        .value(&theta)
        .unwrap();
    let kernel: Kernel = toy.describe().parse().unwrap();
    let covariance = Covariance::new(&kernel);
    let noise = theta[theta.len() - 1];
    let inverse = Cholesky::factor(toy.induced.matrix(&theta).as_ref())
        .unwrap()
        .inverse();
    let kxu = covariance.cross(&theta, &toy.points, toy.induced.inducing());
    let q = &kxu * &inverse * kxu.transpose();
    let k = covariance.diagonal(&theta, &toy.points);
    let left: f64 = (0..n).map(|i| k[i] - q[(i, i)]).sum();
    let mut whole = q.clone();
    (0..n).for_each(|i| whole[(i, i)] += noise);
    let factor = Cholesky::factor(whole.as_ref()).unwrap();
    let residual: Vec<f64> = (0..n)
        .map(|i| (1.3 * i as f64).sin() + 0.5 - MEAN)
        .collect();
    let pull = dot(&residual, &factor.solve(&residual));
    let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
    let want = -0.5 * (pull + factor.log_det() + constant + left / noise);
    // Explicit inverses of a covariance of condition 1e5.
    assert!((value - want).abs() < 1e-8 * want.abs(), "{value} {want}");
}

/// Where a wide unknown mean leaves the jitter of the prior nothing to say, more is taken, and the
/// slopes are those of what was.
#[test]
fn more_jitter_is_taken_where_a_mean_outgrows_that_of_the_prior() {
    struct Wide(f64);
    impl UnknownMean for Wide {
        fn add_covariance(
            &self,
            k: &mut Mat<f64>,
            _: &Functionals,
            _: &Functionals,
            _: Range<usize>,
        ) {
            for j in 0..k.ncols() {
                k.col_as_slice_mut(j).iter_mut().for_each(|k| *k += self.0);
            }
        }
        fn variance(&self, _: &Functionals, _: usize) -> f64 {
            self.0
        }
    }
    struct WithMean(Toy, Wide);
    impl SparseProblem for WithMean {
        fn induced(&self) -> &Induced {
            self.0.induced()
        }
        fn unknown_mean(&self) -> Option<&dyn UnknownMean> {
            Some(&self.1)
        }
        fn bags(&self) -> &Bags {
            self.0.bags()
        }
        fn prior_mean(&self, chunk: usize) -> &[f64] {
            self.0.prior_mean(chunk)
        }
        fn blocks(&self) -> Vec<crate::inference::sites::Block<'_>> {
            SparseProblem::blocks(&self.0)
        }
        fn parameters(&self) -> &[crate::parameter::Parameter] {
            SparseProblem::parameters(&self.0)
        }
        fn describe(&self) -> String {
            SparseProblem::describe(&self.0)
        }
    }
    // Twelve points of which two nearly coincide: variances of 1e8 round away what tells them
    // apart.
    let mut twelve = inducing(11);
    let [x, y] = place(500);
    twelve.push_point(&[x + 1e-7, y]).unwrap();
    let toy = |mean: f64| {
        let toy = Toy::new(
            gaussian(vec![1; 15]),
            Within::default(),
            4,
            Some(twelve.clone()),
            1e-10,
        );
        WithMean(toy, Wide(mean))
    };
    for (mean, want) in [(1.0, 0.0), (1e8, 1e-8)] {
        let problem = toy(mean);
        let theta = problem.0.theta();
        let (_, jitter) = inducing_factor(&problem, &theta).unwrap();
        assert_eq!(jitter, want, "{mean}");
        let fit = condition_sparse(&problem, &theta, &SparseOptions::default(), None).unwrap();
        assert_eq!(fit.jitter, want);
        let evidence = SparseEvidence::new(&problem, SparseOptions::default());
        let (value, gradient) = evidence.evaluate(&theta).unwrap();
        assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()));
    }
}

/// Counts of a million whose rates differ by a factor of a thousand: from one level for all, a step
/// of ordinary length overflows.
#[test]
fn large_counts_far_from_the_start_settle() {
    let rates = |i: usize| (3.5 * (1.7 * i as f64).sin()).exp();
    let counts: Vec<f64> = (0..30).map(|i| (1e6 * rates(i)).round()).collect();
    let exposure = vec![1e6; counts.len()];
    let sizes = (0..counts.len()).map(|i| 1 + i % 3).collect();
    let table = Poisson::new(counts.clone(), exposure, Link::Exp).unwrap();
    let tables: Vec<Table> = vec![(Box::new(table), Link::Exp, sizes)];
    let toy = Toy::new(tables, Within::default(), 20, Some(inducing(25)), 1e-6);
    let options = SparseOptions::default();
    let theta = toy.theta();
    let (normal, bound, passes) = converge_sparse(&toy, &theta, &options, None).unwrap();
    // Halvings to a millionth and back, a few steps besides.
    assert!(passes < 80, "{passes}");
    let wide = Normal::isotropic(normal.size(), 1e-8).unwrap();
    let (_, again, _) = converge_sparse(&toy, &theta, &options, Some(&wide)).unwrap();
    assert!(
        (bound - again).abs() < 1e-8 * bound.abs(),
        "{bound} {again}"
    );
}

/// Searches cut short give what they found where it is as good as the best, and are refused else.
#[test]
fn a_near_miss_of_the_tolerance_is_a_belief_near_the_best() {
    for (k, tables) in kinds().into_iter().enumerate() {
        let toy = Toy::new(tables, Within::default(), 5, None, 1e-6);
        let theta = toy.theta();
        let cut = |steps: usize| SparseOptions {
            tolerance: 1e-12,
            steps,
            ..SparseOptions::default()
        };
        let (_, best, passes) = converge_sparse(&toy, &theta, &cut(200), None).unwrap();
        let mut near = 0;
        // The start takes two passes or more, and a step one.
        for steps in 5..passes {
            match converge_sparse(&toy, &theta, &cut(steps), None) {
                Ok((_, value, _)) => {
                    // What is left is an estimate: twice a tenth of a nat.
                    assert!(best - value < 0.2, "{k} {steps}: {value} for {best}");
                    near += 1;
                }
                Err(FitError::NotSettled { left, .. }) => {
                    assert!(left >= 0.1, "{k} {steps}: {left}")
                }
                Err(error) => panic!("{k} {steps}: {error}"),
            }
        }
        // Normal rows are converged in closed form.
        assert!(near > 0 || passes < 6, "{k}: {passes}");
    }
}
