//! Sums after a link, against differences, quadrature over all nodes, and rows of one node.

use super::approximation::FirstApproximation;
use super::joint::JointApproximation;
use super::tests::{assert_gradient, fixed, latents, options};
use super::*;
use crate::inference::pooled::testing::{NODES, kinds, pools};
use crate::inference::pooled::{PooledOptions, find_mode};
use crate::inference::sites::tests::Toy;
use crate::likelihood::{Dispersion, NegativeBinomial, Poisson};
use crate::linalg::{Cholesky, Mat, matvec};
use crate::link::{Link, QuasiMean};
use crate::progress::Silent;

#[test]
fn gradient_is_the_derivative_in_every_coordinate() {
    for (name, link, table) in kinds() {
        let toy = Toy::new(&NODES, vec![table]);
        let (theta, pools) = (toy.theta(), pools(link));
        let latents = SampledLatents {
            problem: &toy,
            pools: Some(&pools),
        };
        for guided in [true, false] {
            let mut target = match guided {
                true => Target::new(latents, &theta).unwrap(),
                false => Target::plain(latents, &theta).unwrap(),
            };
            let joint = match &target.approximations().first {
                FirstApproximation::Joint(joint) => joint.precision[(0, 0)],
                FirstApproximation::Each(_) => panic!("{name} {link}: a guide for every row"),
            };
            assert_eq!(joint > 0.0, guided, "{name} {link}");
            let coordinates = target.latents() as i32;
            let mut position: Vec<f64> = (0..coordinates)
                .map(|i| 0.4 * (1.7 * f64::from(i)).sin() + 0.3)
                .collect();
            position.extend(target.start(&theta).iter().map(|u| u + 0.13));
            let what = format!("{name} {link}, guided {guided}");
            assert_gradient(&mut target, &position, &what);
        }
    }
}

#[test]
fn rows_of_one_node_have_the_density_of_ordinary_rows() {
    let counts = vec![7.0, 2.0, 12.0];
    let table =
        NegativeBinomial::new(counts, vec![1.0; 3], Link::Softplus, Dispersion::Learned).unwrap();
    let toy = Toy::new(&[0.0, 0.7, 1.9], vec![Box::new(table)]);
    let theta = toy.theta();
    let mut single = Pools::new(3);
    (0..3).for_each(|i| single.push(Link::Softplus, [(i, 3.0)]));
    let pooled = SampledLatents {
        problem: &toy,
        pools: Some(&single),
    };
    let mut one = Target::plain(latents(&toy), &theta).unwrap();
    let mut other = Target::plain(pooled, &theta).unwrap();
    let mut position = vec![0.4, -0.7, 1.2];
    position.extend(one.start(&theta));
    let (mut a, mut b) = (vec![0.0; one.size()], vec![0.0; one.size()]);
    let values = (
        one.evaluate(&position, &mut a).unwrap(),
        other.evaluate(&position, &mut b).unwrap(),
    );
    // The same density by way of a sum of one node, through the link and back: some ten roundings
    // more of terms of order ten.
    assert!((values.0 - values.1).abs() < 1e-12 * values.0.abs());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-11));
    assert_eq!(
        one.expand(&position).unwrap(),
        other.expand(&position).unwrap()
    );
}

/// Two rows of two nodes each, one of them shared: means and sds of their latent values on a grid
/// over all nodes.
#[test]
fn draws_have_the_moments_of_quadrature_over_all_nodes() {
    for link in [Link::Exp, Link::Softplus] {
        let x = [0.0, 0.8, 1.7];
        let table = Poisson::new(vec![3.0, 1.0], vec![1.0; 2], link).unwrap();
        let toy = fixed(&x, vec![Box::new(table)]);
        let theta = toy.theta();
        let mut pools = Pools::new(3);
        pools.push(link, [(0, 1.0), (1, 2.0)]);
        pools.push(link, [(1, 1.0), (2, 3.0)]);
        let k = toy.covariance(&theta);
        let factor = Cholesky::factor(k.as_ref()).unwrap();
        let likelihood = toy.blocks()[0].likelihood;
        let (mut total, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
        // Trapezoids of .15 prior sds out to 7.5: converged to all digits that draws can show.
        let steps = 50_i32;
        let at = |i: i32| 0.15 * f64::from(i);
        for i in -steps..=steps {
            for j in -steps..=steps {
                for l in -steps..=steps {
                    let v = [at(i), at(j), at(l)];
                    let mut f = matvec(factor.lower(), &v);
                    f.iter_mut()
                        .zip(toy.prior_mean())
                        .for_each(|(f, m)| *f += m);
                    let z = [0, 1].map(|row| {
                        let (nodes, shares) = pools.row(row);
                        let values: Vec<f64> = nodes.iter().map(|&n| f[n]).collect();
                        QuasiMean::new(link, shares, &values).value
                    });
                    let prior: f64 = v.iter().map(|v| -0.5 * v * v).sum();
                    let rows: f64 = (0..2)
                        .map(|r| likelihood.log_density(&[], r, z[r]).value)
                        .sum();
                    let weight = (prior + rows).exp();
                    total += weight;
                    for r in 0..2 {
                        first[r] += weight * z[r];
                        second[r] += weight * z[r] * z[r];
                    }
                }
            }
        }
        let sampled = sample_pooled(&toy, &pools, &theta, &options(), &Silent).unwrap();
        assert_eq!(sampled.latents.len(), 2);
        for (r, got) in sampled.latents.iter().enumerate() {
            let mean = first[r] / total;
            let sd = (second[r] / total - mean * mean).sqrt();
            let error = 4.0 / got.effective_size.sqrt();
            assert!(got.effective_size > 1000.0 && got.r_hat < 1.01, "{got:?}");
            // Within four Monte Carlo standard errors.
            assert!(
                (got.mean - mean).abs() < error * sd,
                "{link} {r}: {got:?} {mean}"
            );
            // As above: an sd has a standard error of 0.7 of that.
            assert!(
                (got.sd / sd - 1.0).abs() < error,
                "{link} {r}: {got:?} {sd}"
            );
        }
    }
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let n = MAX_LATENTS + 1;
    let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let table = Poisson::new(vec![3.0], vec![1.0], Link::Exp).unwrap();
    let toy = fixed(&x, vec![Box::new(table)]);
    let mut pools = Pools::new(n);
    pools.push(Link::Exp, (0..n).map(|i| (i, 1.0)));
    let error = sample_pooled(&toy, &pools, &toy.theta(), &options(), &Silent).unwrap_err();
    assert!(error.to_string().contains("at most 1000 places"), "{error}");
}

#[test]
fn there_may_be_more_rows_than_nodes() {
    let counts = vec![7.0, 2.0, 12.0, 4.0, 5.0];
    let table =
        NegativeBinomial::new(counts, vec![1.0; 5], Link::Exp, Dispersion::Learned).unwrap();
    let toy = Toy::new(&[0.0, 0.9], vec![Box::new(table)]);
    let (theta, mut pools) = (toy.theta(), Pools::new(2));
    for row in 0..5 {
        pools.push(Link::Exp, [(0, 1.0 + f64::from(row)), (1, 2.0)]);
    }
    let latents = SampledLatents {
        problem: &toy,
        pools: Some(&pools),
    };
    for mut target in [
        Target::new(latents, &theta).unwrap(),
        Target::plain(latents, &theta).unwrap(),
    ] {
        let mut position = vec![0.4, -0.7];
        position.extend(target.start(&theta));
        assert_gradient(&mut target, &position, "five rows over two nodes");
        assert_eq!(
            target.expand(&position).unwrap().len(),
            5 + position.len() - 2
        );
    }
}

#[test]
fn the_joint_guide_is_the_curvature_of_the_rows_at_the_mode() {
    let table = Poisson::new(vec![7.0, 2.0, 12.0], vec![1.0; 3], Link::Exp).unwrap();
    let toy = Toy::new(&NODES, vec![Box::new(table)]);
    let (theta, pools) = (toy.theta(), pools(Link::Exp));
    let mode = find_mode(&toy, &pools, &theta, &PooledOptions::default()).unwrap();
    let joint = JointApproximation::at(&mode, &pools);
    let jacobian = Mat::from_fn(3, 9, |row, node| {
        let (nodes, _) = pools.row(row);
        let at = nodes.iter().position(|n| *n == node);
        at.map_or(0.0, |at| mode.means[row].slopes[at])
    });
    let weighted = Mat::from_fn(3, 9, |row, node| {
        -mode.jets[row].second * jacobian[(row, node)]
    });
    let want = jacobian.transpose() * &weighted;
    for i in 0..9 {
        // The slope of the Gaussian approximation at the mode is that of the rows, which the prior
        // balances there.
        let slope: f64 = (0..9)
            .map(|j| joint.precision[(i, j)] * mode.values[j])
            .sum();
        // The search for the mode ends with a residual of 1e-9; products of few terms of order one
        // to ten round by far less.
        assert!((joint.shift[i] - slope - mode.dual[i]).abs() < 1e-8);
        for j in 0..9 {
            assert!((joint.precision[(i, j)] - want[(i, j)]).abs() < 1e-12);
        }
    }
}
