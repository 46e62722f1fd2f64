//! Shorter ways to the same sites.

use super::options::SiteOptions;
use super::tests::Toy;
use super::*;
use crate::inference::{Evidence, WarmStart};
use crate::likelihood::local::Local;
use crate::likelihood::{Censored, Noise, Poisson, Side};
use crate::link::Link;

/// Values of a wave at 60 points, every third of which is only known to be at least the number.
fn capped() -> Toy {
    let x: Vec<f64> = (0..60).map(|i| 0.15 * f64::from(i)).collect();
    let is_capped = |i: usize| i % 3 == 1;
    let reading = |(i, x): (usize, &f64)| {
        let scatter = 0.2 * (7.3 * i as f64).sin();
        x.sin() + scatter - if is_capped(i) { 0.3 } else { 0.0 }
    };
    let values = x.iter().enumerate().map(reading).collect();
    let side = |i| {
        if is_capped(i) {
            Side::Right
        } else {
            Side::None
        }
    };
    let sides: Vec<Side> = (0..60).map(side).collect();
    let rows = Censored::new(values, &sides, Noise::Learned).unwrap();
    Toy::new(&x, vec![Box::new(rows) as Box<dyn Local>])
}

fn counts() -> Toy {
    let x: Vec<f64> = (0..30).map(|i| 0.3 * f64::from(i)).collect();
    let count = |x: &f64| (3.0 + 2.0 * (1.3 * x).sin()).round();
    let counts = x.iter().map(count).collect();
    let rows = Poisson::new(counts, vec![1.0; 30], Link::Exp).unwrap();
    Toy::new(&x, vec![Box::new(rows) as Box<dyn Local>])
}

/// Under the prior that Gaussian rows leave, the sites of the others are those under the whole
/// prior: one sweep over all rows confirms them (two where the mode is swept once more).
#[test]
fn gaussian_rows_are_swept_once() {
    let toy = capped();
    let mut theta = toy.theta();
    theta[2] = 0.05;
    for method in [Method::Laplace, Method::Ep, Method::Variational] {
        let options = SiteOptions::new(method);
        let fit = condition_sites(&toy, &theta, &options).unwrap();
        assert!(fit.found.converged && fit.found.sweeps <= 2, "{method:?}");
        // The definition, one row at a time, at the posterior found: sites that the rows ask for
        // are the sites they have.
        let rows = rows::Rows::new(&toy, &theta);
        for row in (0..60).filter(|i| i % 3 == 1) {
            let (likelihood, own, at) = rows.at(row);
            let belief = fit.sweep.belief(row);
            let site = fit.found.sites[row];
            let asked = match method {
                Method::Ep => {
                    let t = likelihood.tilted(own, at, fit.sweep.cavity[row]);
                    [t.precision, t.shift]
                }
                Method::Laplace => {
                    let jet = likelihood.log_density(own, at, belief.mean);
                    [-jet.second, jet.first - jet.second * belief.mean]
                }
                Method::Variational => {
                    let e = likelihood.expected(own, at, belief);
                    [-e.second, e.first - e.second * belief.mean]
                }
            };
            // In units of the posterior: the tolerance of a search is 1e-9 of a standard deviation.
            let sd = belief.variance.sqrt();
            assert!(
                (site.precision - asked[0]).abs() * sd * sd < 1e-7,
                "{method:?} {row}"
            );
            assert!(
                (site.shift - asked[1]).abs() * sd < 1e-7,
                "{method:?} {row}"
            );
        }
    }
}

/// However a search came there, the end of a precise warm start is that of a fresh search, and a
/// rough one is near it.
#[test]
fn the_way_does_not_matter() {
    for toy in [capped(), counts()] {
        for method in [Method::Laplace, Method::Ep, Method::Variational] {
            let evidence = SiteEvidence::new(&toy, SiteOptions::new(method));
            let mut theta = toy.theta();
            let mut rough = WarmStart::rough();
            for step in 0..4 {
                theta[0] = 1.0 + 0.2 * f64::from(step);
                theta[1] = 1.1 - 0.1 * f64::from(step);
                evidence.evaluate_along(&theta, &mut rough).unwrap();
            }
            let (fresh, gradient) = evidence.evaluate(&theta).unwrap();
            let (near, near_gradient) = evidence.evaluate_along(&theta, &mut rough).unwrap();
            // The evidence is stationary in the sites (that of Laplace's method: at its mode), each
            // within 1e-5 sd.
            assert!((near - fresh).abs() < 1e-7, "{method:?}: {near} {fresh}");
            let sites = rough.sites().unwrap().clone();
            let mut precise = WarmStart::precise();
            precise.leave(sites);
            let (exact, exact_gradient) = evidence.evaluate_along(&theta, &mut precise).unwrap();
            assert!((exact - fresh).abs() < 1e-10, "{method:?}: {exact} {fresh}");
            for i in 0..theta.len() {
                // Gradients are of first order in what sites are off by: 1e-5 sd on a rough warm
                // start and 1e-9 on a precise one, times slopes of some ten and more.
                let size = 1.0 + gradient[i].abs();
                assert!(
                    (near_gradient[i] - gradient[i]).abs() < 1e-3 * size,
                    "{method:?} {i}"
                );
                assert!(
                    (exact_gradient[i] - gradient[i]).abs() < 1e-6 * size,
                    "{method:?} {i}"
                );
            }
        }
    }
}
