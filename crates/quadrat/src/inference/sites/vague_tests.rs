//! Constants of which next to nothing is known beside rows that say much.

use super::Parted;
use super::process::Process;
use super::site::{Site, Term};
use super::swept::Sweep;
use crate::linalg::{Mat, gemm, symmetric_from_fn};

const ROWS: usize = 8;

/// Rows of many kinds: sites that say much, little and nothing, a value and an exact one.
fn terms() -> Vec<Term> {
    let site = |precision: f64, at: f64| {
        Term::Chosen(Site {
            precision,
            shift: precision * at,
        })
    };
    vec![
        site(1e4, 1.0),
        site(20.0, 1.4),
        Term::Gaussian {
            value: 2.0,
            variance: 0.04,
        },
        site(1e-3, 5.0),
        Term::Chosen(Site {
            precision: 0.0,
            shift: 0.3,
        }),
        Term::Gaussian {
            value: 1.5,
            variance: 0.0,
        },
        site(300.0, 0.8),
        site(2.0, 0.9),
    ]
}

fn swept(sd: f64, is_parted: bool) -> Sweep {
    let kernel = symmetric_from_fn(ROWS, |i, j| {
        0.5 * (-(i as f64 - j as f64).abs() / 3.0).exp()
    });
    let constants = Mat::from_fn(ROWS, 1, |_, _| sd);
    let k = &kernel + gemm(constants.as_ref(), constants.transpose());
    let parts = Parted { kernel, constants };
    let process = Process {
        k: k.as_ref(),
        prior_mean: &[0.4; ROWS],
        parts: is_parted.then_some(&parts),
        root: None,
    };
    Sweep::of(&process, &terms(), 0.0).unwrap()
}

/// The largest difference of means and of sds, in sds, and that of the evidence but for the wider
/// prior.
fn off(a: &Sweep, b: &Sweep, ratio: f64) -> (f64, f64) {
    let rows = (0..ROWS).filter(|&i| i != 5);
    let one = |i: usize| {
        let (sd, other) = (a.variance[i].sqrt(), b.variance[i].sqrt());
        let moved = (a.mean[i] - b.mean[i]).abs() / sd;
        moved.max((other / sd - 1.0).abs())
    };
    let evidence = |sweep: &Sweep| sweep.log_evidence(0.0);
    let evidence = (evidence(a) - evidence(b) - ratio.ln()).abs();
    (rows.map(one).fold(0.0, f64::max), evidence)
}

#[test]
fn a_vague_constant_takes_no_digits_from_sites() {
    let known = swept(1e3, true);
    // Told in one part, a constant of this sd still leaves enough digits.
    let (moved, evidence) = off(&known, &swept(1e3, false), 1.0);
    assert!(moved < 1e-6 && evidence < 1e-6, "{moved} {evidence}");
    // The level is known to one or so: its prior shows by the square of a thousandth. Variances of
    // rows that say next to nothing are differences from `sd^2`, which they keep to some `n eps` of
    // it.
    let (moved, evidence) = off(&known, &swept(1e4, true), 10.0);
    assert!(moved < 3e-6 && evidence < 2e-6, "{moved} {evidence}");
    let (moved, _) = off(&known, &swept(1e5, true), 100.0);
    assert!(moved < 1e-4, "{moved}");
}
