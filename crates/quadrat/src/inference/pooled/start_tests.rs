//! Searches that begin at the mode of other hyperparameters.

use super::testing::{NODES, kinds, pools};
use super::*;
use crate::inference::Evidence;
use crate::inference::sites::tests::Toy;
use crate::link::Link;

/// The same evidence, whatever the way led through before: small steps, and steps by factors of ten
/// and a hundred.
#[test]
fn the_way_does_not_matter() {
    for (name, link, table) in kinds() {
        let toy = Toy::new(&NODES, vec![table]);
        let own = toy.theta();
        let pools = pools(link);
        let evidence = PooledEvidence::new(&toy, &pools, PooledOptions::default());
        let (mut rough, mut precise) = (WarmStart::rough(), WarmStart::precise());
        for (variance, lengthscale) in [(1.0, 1.0), (1.3, 0.8), (10.0, 0.5), (0.1, 3.0), (1.0, 1.0)]
        {
            let mut theta = own.clone();
            theta[0] *= variance;
            theta[1] *= lengthscale;
            let (fresh, slopes) = evidence.evaluate(&theta).unwrap();
            let size = 1.0 + fresh.abs();
            let way = |warm_start: &mut WarmStart, (off, off_slope): (f64, f64)| {
                let (value, gradient) = evidence.evaluate_along(&theta, warm_start).unwrap();
                assert!(
                    (value - fresh).abs() < off * size,
                    "{name} {link}: {value} {fresh}"
                );
                for (a, b) in gradient.iter().zip(&slopes) {
                    let size = 1.0 + b.abs();
                    assert!((a - b).abs() < off_slope * size, "{name} {link}: {a} {b}");
                }
            };
            // The mode within 1e-9 of a standard deviation: the evidence, of which Laplace's
            // determinant is of first order in that, and its gradient, times slopes of some ten.
            way(&mut precise, (1e-8, 1e-7));
            // Within 1e-5 of it.
            way(&mut rough, (1e-4, 1e-3));
        }
    }
}

/// From a mode next to the one that is sought fewer steps lead there than from anywhere else.
#[test]
fn a_mode_nearby_saves_steps() {
    for (name, link, table) in kinds() {
        if link == Link::Square {
            continue;
        }
        let toy = Toy::new(&NODES, vec![table]);
        let (mut theta, pools) = (toy.theta(), pools(link));
        let options = PooledOptions::default();
        let last = find_mode(&toy, &pools, &theta, &options).unwrap();
        theta[0] *= 1.01;
        let anew = find_mode(&toy, &pools, &theta, &options).unwrap();
        let near = Begin::Near(&last.values);
        let near = find_mode_from(&toy, &pools, &theta, &options, near).unwrap();
        assert!(near.converged && near.steps <= anew.steps, "{name} {link}");
        assert!(near.steps <= 3, "{name} {link}: {}", near.steps);
    }
}

/// Of other nodes, no numbers, or far beyond what rows can be: the evidence is found anew.
#[test]
fn places_of_no_use_do_not_mislead() {
    for (name, link, table) in kinds() {
        let toy = Toy::new(&NODES, vec![table]);
        let (theta, pools) = (toy.theta(), pools(link));
        let evidence = PooledEvidence::new(&toy, &pools, PooledOptions::default());
        let (anew, _) = evidence.evaluate(&theta).unwrap();
        for values in [vec![0.0; 3], vec![f64::NAN; 9], vec![1e300; 9]] {
            let mut warm_start = WarmStart::precise();
            warm_start.keep(LastMode(values));
            let (value, _) = evidence.evaluate_along(&theta, &mut warm_start).unwrap();
            // Of first order in what modes are off by, 1e-9 posterior standard deviations.
            assert!((value - anew).abs() < 1e-8, "{name} {link}: {value} {anew}");
        }
    }
}
