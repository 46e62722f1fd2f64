//! Against the sums of terms, where these are short.

use super::*;
use crate::likelihood::distribution::{Binomial, NegativeBinomial};
use crate::special::scalar::normal_pdf;

/// The average of `P(Y <= y | f)` over a normal latent value, by the trapezoid rule in steps that
/// resolve both.
fn average(mean: f64, sd: f64, of: impl Fn(f64) -> f64) -> f64 {
    let steps = 1500;
    let step = 16.0 / f64::from(steps);
    let all = (0..=steps).map(|i| -8.0 + step * f64::from(i));
    all.map(|z| step * normal_pdf(z) * of(mean + sd * z)).sum()
}

#[test]
fn gaps_are_those_of_the_exponential() {
    for u in [-1.0_f64, -0.3, 1e-3, 0.7, 1.0] {
        let want = u.exp_m1() - u;
        // What the difference loses.
        assert!((exp_gap(u) - want).abs() < 4e-16, "{u}");
    }
    assert!((exp_gap(1e-9) / 0.5e-18 - 1.0).abs() < 1e-9);
}

#[test]
fn densities_meet_where_their_forms_change() {
    for (a, share) in [(1.0, 0.0), (3.0, 0.5), (20.0, 0.1), (5.0, 1e-12)] {
        for u in [-1.0_f64, 1.0] {
            let (inside, outside) = (
                log_density(a, share, u * (1.0 - 1e-12)),
                log_density(a, share, u * (1.0 + 1e-12)),
            );
            // The slope is at most 2 a, over 2e-12.
            assert!((inside - outside).abs() < 1e-11 * a, "{a} {share} {u}");
        }
    }
}

#[test]
fn counts_have_the_probabilities_of_their_terms() {
    for link in [Link::Exp, Link::Softplus, Link::Square] {
        for dispersion in [0.0, 1e-3, 0.2] {
            for (exposure, mean, sd) in [
                (150.0, 0.0_f64, 0.05_f64),
                (150.0, 0.4, 0.3),
                (2000.0, -0.7, 0.2),
                (150.0, 1.0, 1.0),
            ] {
                let mean = match link {
                    Link::Square => mean + 1.0,
                    _ => mean,
                };
                let counts = Crossing::Counts {
                    link,
                    exposure,
                    dispersion,
                };
                let expected = exposure * link.value(mean);
                let step = counts.step((mean, sd), expected).unwrap();
                for share in [0.0, 0.3, 0.8, 1.0, 1.1, 2.0] {
                    let y = (share * expected).round();
                    let got = counts.at_most(y, step, &[[1.0, mean, sd]]);
                    let want = average(mean, sd, |f| {
                        let mean = exposure * link.value(f);
                        NegativeBinomial { mean, dispersion }.cdf(y)
                    });
                    // Beyond eight sds 1e-15; distribution functions are right to 1e-12.
                    assert!(
                        (got - want).abs() < 1e-11,
                        "{link} {dispersion} {exposure} {mean} {sd} {y}: {got} {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn successes_have_the_probabilities_of_their_terms() {
    for sigmoid in [Sigmoid::Logit, Sigmoid::Probit] {
        for (trials, mean, sd) in [(700_u64, 0.3, 0.1), (5000, -1.2, 0.4), (900, 0.0, 1.5)] {
            let n = trials as f64;
            let chance = |f: f64| match sigmoid {
                Sigmoid::Logit => logistic(f),
                Sigmoid::Probit => crate::special::scalar::normal_cdf(f),
            };
            let successes = Crossing::Successes { sigmoid, trials: n };
            let expected = n * chance(mean);
            let step = successes.step((mean, sd), expected).unwrap();
            for y in [0.0, (0.4 * expected).round(), expected.round(), n - 1.0, n] {
                let got = successes.at_most(y, step, &[[1.0, mean, sd]]);
                let want = average(mean, sd, |f| {
                    let probability = chance(f);
                    Binomial {
                        trials,
                        probability,
                    }
                    .cdf(y)
                });
                // As of counts.
                let name = format!("{sigmoid:?} {trials} {mean} {sd} {y}: {got} {want}");
                assert!((got - want).abs() < 1e-11, "{name}");
            }
        }
    }
}

/// Of next to infinitely many the share is that of the rate, and takes no longer.
#[test]
fn enormous_counts_have_the_probabilities_of_their_rate() {
    let counts = Crossing::Counts {
        link: Link::Exp,
        exposure: 1e90,
        dispersion: 0.0,
    };
    let step = counts.step((0.5, 0.2), 1e90).unwrap();
    let got = counts.at_most(1e90 * 0.7_f64.exp(), step, &[[1.0, 0.5, 0.2]]);
    let want = crate::special::scalar::normal_cdf(1.0);
    // Rounding of the logarithm of 1e90, over the sd.
    assert!((got - want).abs() < 1e-12, "{got} {want}");
    // What is hardly uncertain beside its scatter is left to the sums.
    let scattered = Crossing::Counts {
        link: Link::Exp,
        exposure: 1e90,
        dispersion: 0.2,
    };
    assert_eq!(scattered.step((0.5, 0.01), 1e90), None);
}
