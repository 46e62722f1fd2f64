//! Two latent functions against brute force and differences.

use super::mixed_testing::{Mixed, tables};
use super::pair_testing::{Toy, brute, counts_in_part, kinds};
use super::*;
use crate::inference::Evidence;
use crate::likelihood::{Dispersion, Likelihood, NegativeBinomial};
use crate::link::Link;

const METHODS: [Method; 2] = [Method::Ep, Method::Variational];

/// How far the gradient may be from differences of the evidence, relative to `1 + |difference|`:
/// sites converge to a residual of 1e-9, in which the evidence is stationary, and the rounding of
/// it over a step of 1e-4 in the logarithm leaves 1e-9.
const CLOSE: f64 = 1e-6;

/// Compares the gradient with differences in every hyperparameter.
///
/// # Returns
/// Whether some site was cut: a row would widen a belief there, and its precision was raised to
/// zero.
fn compare(problem: &dyn LatentGaussian, theta: &[f64], method: Method, name: &str) -> bool {
    let evidence = SiteEvidence::new(problem, SiteOptions::new(method));
    let found = converge(problem, theta, &SiteOptions::new(method))
        .unwrap()
        .found;
    let mut sites = found.sites.iter().chain(&found.second);
    let is_cut = sites.any(|site| site.precision == 0.0);
    let (_, gradient) = evidence.evaluate(theta).unwrap();
    for p in 0..theta.len() {
        let h = 1e-4;
        let at = |by: f64| {
            let mut moved = theta.to_vec();
            moved[p] *= (by * h).exp();
            evidence.value(&moved).unwrap()
        };
        let expected = (8.0 * (at(1.0) - at(-1.0)) - at(2.0) + at(-2.0)) / (12.0 * h);
        let off = |slopes: &[f64]| (slopes[p] * theta[p] - expected).abs();
        let size = 1.0 + expected.abs();
        assert!(
            off(&gradient) < CLOSE * size,
            "{name} {method:?} {}: {} {expected}",
            problem.parameters()[p].name,
            gradient[p] * theta[p]
        );
    }
    is_cut
}

/// Four rows say little about a dispersion, or about the noise of an interval or of what is left
/// above a limit: those are cut.
#[test]
fn gradients_are_differences() {
    let mut cut = Vec::new();
    let in_part = ("counts in part", counts_in_part(4));
    for (name, likelihood) in kinds(4).into_iter().chain([in_part]) {
        let toy = Toy::new(&[0.0, 0.5, 1.3, 2.4], likelihood);
        for method in METHODS {
            if compare(&toy, &toy.theta(), method, name) {
                cut.push((name, method));
            }
        }
    }
    assert_eq!(
        cut,
        [
            ("interval", Method::Ep),
            ("truncated", Method::Ep),
            ("negative_binomial", Method::Ep),
            ("negative_binomial", Method::Variational),
            ("counts in part", Method::Ep),
        ]
    );
}

/// Smooth functions at many places, whose covariances are of a low rank.
#[test]
fn gradients_of_many_rows_are_differences() {
    let x: Vec<f64> = (0..260).map(|i| 0.02 * f64::from(i)).collect();
    for (name, likelihood) in kinds(x.len()) {
        if !["gaussian", "censored"].contains(&name) {
            continue;
        }
        let toy = Toy::new(&x, likelihood);
        for method in METHODS {
            let fit = converge(&toy, &toy.theta(), &SiteOptions::new(method)).unwrap();
            assert!(fit.sweep.is_low_rank(), "{name}");
            assert!(fit.second.as_ref().is_some_and(swept::Sweep::is_low_rank));
            compare(&toy, &toy.theta(), method, name);
        }
    }
}

/// Two outputs, three rows of each, behind both links of the second function.
#[test]
#[ignore = "a minute or two; ./check --long"]
fn gradients_of_mixed_outputs_are_differences() {
    let mut cut = Vec::new();
    let in_part = |shift: f64| -> Likelihood {
        let (lower, upper) = (
            vec![5.0, 0.0, 9.0 + shift],
            vec![f64::INFINITY, 4.0, 9.0 + shift],
        );
        let exposure = vec![1.5; 3];
        NegativeBinomial::ranges(lower, upper, exposure, Link::Exp, Dispersion::Learned)
            .unwrap()
            .into()
    };
    let mut cases: Vec<(&str, Likelihood, Likelihood)> = Vec::new();
    for (a, b) in tables(0.0).into_iter().zip(tables(0.3)) {
        // Of those that differ in what is known of the noise the first.
        if cases.iter().all(|(name, ..)| *name != a.name()) {
            cases.push((a.name(), a, b));
        }
    }
    cases.push(("counts in part", in_part(0.0), in_part(3.0)));
    for (name, a, b) in cases {
        for link in [Link::Exp, Link::Softplus] {
            let problem = Mixed::new([a.clone(), b.clone()], [true; 2], Some(link));
            for method in METHODS {
                let place = format!("{name} behind {link}");
                if compare(&problem, &problem.theta(), method, &place) {
                    cut.push((name, link, method));
                }
            }
        }
    }
    assert_eq!(
        cut,
        [
            ("truncated", Link::Exp, Method::Ep),
            ("truncated", Link::Softplus, Method::Ep),
            ("negative_binomial", Link::Exp, Method::Ep),
            ("negative_binomial", Link::Exp, Method::Variational),
            ("negative_binomial", Link::Softplus, Method::Ep),
            ("negative_binomial", Link::Softplus, Method::Variational),
            ("counts in part", Link::Exp, Method::Ep),
            ("counts in part", Link::Softplus, Method::Ep),
        ]
    );
}

#[test]
fn two_rows_are_close_to_brute_force() {
    for (name, likelihood) in kinds(2) {
        let toy = Toy::new(&[0.0, 0.7], likelihood);
        let (log_z, truth) = brute(&toy, 18);
        for method in METHODS {
            let fit = converge(&toy, &toy.theta(), &SiteOptions::new(method)).unwrap();
            let second = fit.second.as_ref().unwrap();
            let got: Vec<[f64; 2]> = (0..2)
                .map(|i| [fit.mean()[i], fit.variance()[i].sqrt()])
                .chain((0..2).map(|i| {
                    let at = second.belief(i);
                    [at.mean, at.variance.sqrt()]
                }))
                .collect();
            let off = got.iter().zip(&truth).fold([0.0_f64; 2], |w, (g, t)| {
                [
                    w[0].max((g[0] - t[0]).abs() / t[1]),
                    w[1].max((g[1] / t[1] - 1.0).abs()),
                ]
            });
            let away = fit.log_evidence - log_z;
            // Mean field: sds of the prototypes were within .9 to 1.1 by EP and down to .83 by the
            // bound.
            let (by, limits) = match method {
                Method::Ep => (0.05, [0.1, 0.1]),
                _ => (0.25, [0.2, 0.2]),
            };
            assert!(away.abs() < by, "{name} {method:?}: log Z off by {away}");
            assert!(
                off[0] < limits[0] && off[1] < limits[1],
                "{name} {method:?}: {off:?}"
            );
            if method == Method::Variational {
                // Rounding, and what the rule of the check leaves.
                assert!(away < 1e-6, "{name}: a bound must be below: {away}");
            }
        }
    }
}
