//! Two latent functions: gradients are differences, moments those of brute force.

use super::tests::{assert_gradient, latents};
use super::*;
use crate::inference::sites::mixed_testing::{Mixed, tables};
use crate::inference::sites::pair_testing::{Toy, brute, kinds};
use crate::likelihood::{Gaussian, Noise};
use crate::link::Link;
use crate::progress::Silent;

fn position(target: &Target<'_>, theta: &[f64]) -> Vec<f64> {
    let mut position: Vec<f64> = (0..target.latents())
        .map(|i| 0.4 * (1.7 * i as f64).sin() + 0.1)
        .collect();
    position.extend(target.start(theta).iter().map(|u| u + 0.13));
    position
}

fn gradients_are_differences(name: &str, problem: &Mixed) {
    let theta = problem.theta();
    for guided in [true, false] {
        let mut target = match guided {
            true => Target::new(latents(problem), &theta).unwrap(),
            false => Target::plain(latents(problem), &theta).unwrap(),
        };
        let position = position(&target, &theta);
        assert_gradient(&mut target, &position, &format!("{name}, guided {guided}"));
    }
}

#[test]
fn gradient_is_the_derivative_in_every_coordinate_of_both_functions() {
    for (a, b) in tables(0.0).into_iter().zip(tables(0.3)) {
        for link in [Link::Exp, Link::Softplus] {
            let name = format!("{} behind {link}", a.name());
            let problem = Mixed::new([a.clone(), b.clone()], [true; 2], Some(link));
            gradients_are_differences(&name, &problem);
        }
    }
}

#[test]
fn tables_with_and_without_a_second_function_stand_side_by_side() {
    for one in tables(0.0) {
        let plain = Gaussian::new(vec![0.2, 0.4, -0.3], Noise::Learned).unwrap();
        let name = format!("{} after values", one.name());
        let problem = Mixed::new([plain.into(), one], [false, true], Some(Link::Exp));
        gradients_are_differences(&name, &problem);
    }
}

/// `g` held at its mean is a constant: the same density and gradient, but for the normal density of
/// `w_g`.
#[test]
fn a_second_function_without_variance_is_a_constant() {
    for (a, b) in tables(0.0).into_iter().zip(tables(0.3)) {
        let name = a.name();
        let mut varying = Mixed::new([a.clone(), b.clone()], [true; 2], Some(Link::Exp));
        let mut constant = Mixed::new([a, b], [true; 2], None);
        let size = varying.kernel_size();
        for (i, p) in varying.parameters[size..2 * size].iter_mut().enumerate() {
            p.fixed = true;
            // A variance of 1e-16, so an sd of 1e-8 of the logarithm; the last is the lengthscale.
            p.start *= [1e-8, 1e-8, 1e-16, 1e-16, 1.0][i];
        }
        for own in constant.own.clone() {
            constant.parameters[own[0]].start = (-1.0_f64).exp();
            constant.parameters[own[0]].fixed = true;
        }
        let (theta, of_constant) = (varying.theta(), constant.theta());
        let mut both = Target::plain(latents(&varying), &theta).unwrap();
        let mut one = Target::plain(latents(&constant), &of_constant).unwrap();
        let at = position(&both, &theta);
        let (first, rest) = at.split_at(one.latents());
        let (second, u) = rest.split_at(both.latents() - one.latents());
        let at_constant = [first, u].concat();
        let (mut slopes, mut of_one) = (vec![0.0; both.size()], vec![0.0; one.size()]);
        let got = both.evaluate(&at, &mut slopes).unwrap();
        let want = one.evaluate(&at_constant, &mut of_one).unwrap();
        let normal: f64 = second
            .iter()
            .map(|w| -0.5 * (w * w + (2.0 * std::f64::consts::PI).ln()))
            .sum();
        // Slopes in the logarithm of a variance are below 10, times 1e-8 and six rows.
        assert!((got - want - normal).abs() < 1e-6, "{name}: {got} {want}");
        let left = slopes[..first.len()]
            .iter()
            .chain(&slopes[first.len() + second.len()..]);
        for (got, want) in left.zip(&of_one) {
            assert!((got - want).abs() < 1e-5, "{name}: {got} {want}");
        }
    }
}

/// The referee itself: moments of both functions by sampling are those of a sum over a grid of all
/// four latent values.
#[test]
fn two_rows_have_the_moments_of_brute_force() {
    let options = McmcOptions::default().with_chains(2).with_draws(400, 2500);
    for (name, likelihood) in kinds(2) {
        let mut toy = Toy::new(&[0.0, 0.7], likelihood);
        toy.parameters.iter_mut().for_each(|p| p.fixed = true);
        let (_, truth) = brute(&toy, 16);
        let sampled = sample(&toy, &toy.theta(), &options, &Silent).unwrap();
        assert_eq!((sampled.latents.len(), sampled.second.len()), (2, 2));
        for (at, [mean, sd]) in sampled.latents.iter().chain(&sampled.second).zip(truth) {
            // Four standard errors of a mean; squares of skewed draws vary more than those of
            // normal ones.
            let error = 4.0 / at.effective_size.sqrt();
            assert!((at.mean - mean).abs() < error * sd, "{name}: {at:?} {mean}");
            let off = (at.sd / sd - 1.0).abs();
            assert!(off < 1.5 * error, "{name}: {at:?} {sd}");
            assert!(
                at.r_hat < 1.01 && at.effective_size > 1000.0,
                "{name}: {at:?}"
            );
        }
        assert!(sampled.divergences < 8, "{name}: {}", sampled.divergences);
    }
}

#[test]
fn draws_of_a_second_function_depend_on_the_seed_only() {
    let tables = [tables(0.0).remove(0), tables(0.3).remove(0)];
    let problem = Mixed::new(tables, [true; 2], Some(Link::Exp));
    let short = McmcOptions::default().with_chains(2).with_draws(30, 30);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let theta = problem.theta();
        pool.unwrap()
            .install(|| sample(&problem, &theta, &short, &Silent).unwrap())
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one.second, two.second);
    assert_eq!(one.hyperparameters, two.hyperparameters);
}
