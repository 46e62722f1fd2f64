//! Likelihoods of counts, and of yes and no.

use quadrat::likelihood::distribution::Distribution;
use quadrat::likelihood::local::{Belief, Circumstances, Local};
use quadrat::likelihood::{
    Bernoulli, Binomial, Dispersion, Exponential, Gamma, LogNormal, LogSd, NegativeBinomial,
    Poisson, Shape, Sigmoid,
};
use quadrat::link::Link;

use crate::brute;
use crate::by_draws;
use crate::contract::{self, Case, Check, DISTANCES, RATIOS, run};

/// Place of the row's peak and its width, then whatever else bends.
pub fn features(p: &dyn Local, own: &[f64], row: usize) -> Vec<(f64, f64)> {
    let guess = p.guess(own, row);
    let mut peak = guess;
    for _ in 0..50 {
        let at = p.log_density(own, row, peak);
        if at.second < 0.0 {
            peak += (-at.first / at.second).clamp(-1.0, 1.0);
        }
    }
    // There is none where a mean of 0, or a large one, is the most probable.
    if (peak - guess).abs() >= 2.0 || peak.is_nan() {
        peak = guess;
    }
    let at = p.log_density(own, row, peak);
    let width = at.second.abs().sqrt().recip().clamp(1e-6, 1.0);
    vec![(peak, width), (0.0, 1.0), (peak, 1.0)]
}

/// With wide places, which make the test's own integration reach as far as a row may that is flat
/// on one side.
fn wide(p: &dyn Local, own: &[f64], row: usize) -> Vec<(f64, f64)> {
    let mut places = features(p, own, row);
    places.extend([(0.0, 1e3), (0.0, 1e6)]);
    places
}

/// Everything near the row, and moments and expectations from far and wide.
fn run_all(case: impl Fn() -> Case) {
    run(&Case {
        ratios: EXP_RATIOS,
        distances: EXP_DISTANCES,
        ..case()
    });
    let far = Case {
        features: wide,
        ..case()
    };
    check(
        &far,
        &[
            ("tilted", contract::tilted),
            ("expected", contract::expected),
        ],
    );
}

/// Both peaks of the square link, and the pole of `log f^2`.
fn mirrored(p: &dyn Local, own: &[f64], row: usize) -> Vec<(f64, f64)> {
    let mut places = features(p, own, row);
    places.push((-places[0].0, places[0].1));
    places.push((0.0, 1e-9));
    places
}

/// Further to the right `e^f` makes `log p` so large that its rounding moves the peak; further
/// still it overflows.
pub const EXP_RATIOS: &[f64] = &[1e-6, 1e-3, 0.1, 1.0, 7.0];
const EXP_DISTANCES: &[f64] = &[0.0, 0.4, -1.5, 6.0, -40.0];
/// Negative binomial rows are dear to integrate by brute force.
const FEW_RATIOS: &[f64] = &[1e-3, 0.3, 7.0];
const FEW_DISTANCES: &[f64] = &[0.0, -1.5, 6.0];

/// Runs some of the checks of the contract.
fn check(case: &Case, checks: &[(&str, Check)]) {
    for (name, check) in checks {
        let report = check(case);
        let failures: Vec<_> = report.failures.iter().take(6).collect();
        println!(
            "{} / {name}: {} comparisons, worst {:.1e} of the tolerance",
            case.name, report.compared, report.worst
        );
        assert!(
            failures.is_empty(),
            "{} {name}: {} failures, {failures:#?}",
            case.name,
            report.failures.len()
        );
    }
}

const LOWER: [f64; 6] = [0.0, 3.0, 400.0, 0.0, 1.0, 100.0];
const UPPER: [f64; 6] = [0.0, 3.0, 400.0, 4.0, 4.0, f64::INFINITY];
const EXPOSURE: [f64; 6] = [0.5, 2.0, 1e-3, 1.0, 7.0, 3.0];

/// `log p` of a count or range by sums of probabilities.
fn of_range(d: &Distribution, row: usize) -> f64 {
    let (lower, upper) = (LOWER[row], UPPER[row]);
    if lower == upper {
        return d.log_density(lower);
    }
    // To infinity: far enough that the rest is below the tolerance, or the complement.
    let last = upper.min(lower + 200_000.0) as u64;
    let mut terms = Vec::new();
    for k in lower as u64..=last {
        terms.push(d.log_density(k as f64));
    }
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

fn circumstances(row: usize) -> Circumstances {
    Circumstances {
        exposure: EXPOSURE[row],
        ..Circumstances::default()
    }
}

fn poisson(link: Link, name: &'static str, rows: usize) -> Case {
    let column = |all: &[f64]| all[..rows].to_vec();
    let likelihood = Poisson::ranges(column(&LOWER), column(&UPPER), column(&EXPOSURE), link);
    Case {
        name,
        likelihood: Box::new(likelihood.unwrap()),
        own: vec![vec![]],
        features: if link == Link::Square {
            mirrored
        } else {
            features
        },
        circumstances,
        log_probability: Box::new(of_range),
        kinked: false,
        ratios: if link == Link::Exp {
            EXP_RATIOS
        } else {
            RATIOS
        },
        distances: if link == Link::Exp {
            EXP_DISTANCES
        } else {
            DISTANCES
        },
    }
}

fn negative_binomial(link: Link, name: &'static str, rows: usize) -> Case {
    let column = |all: &[f64]| all[..rows].to_vec();
    let likelihood = NegativeBinomial::ranges(
        column(&LOWER),
        column(&UPPER),
        column(&EXPOSURE),
        link,
        Dispersion::Learned,
    );
    Case {
        likelihood: Box::new(likelihood.unwrap()),
        own: vec![vec![0.3], vec![1e-3]],
        ratios: FEW_RATIOS,
        distances: FEW_DISTANCES,
        ..poisson(link, name, rows)
    }
}

#[test]
fn poisson_exp_keeps_the_contract() {
    run(&poisson(Link::Exp, "poisson exp", 6));
    let wide = Case {
        features: wide,
        ratios: &[1e3, 1e6],
        distances: &[0.0, 1.3, -6.0],
        ..poisson(Link::Exp, "poisson exp, wide", 6)
    };
    check(&wide, &[("tilted", contract::tilted)]);
}

#[test]
fn poisson_softplus_keeps_the_contract() {
    run_all(|| poisson(Link::Softplus, "poisson softplus", 6));
}

/// The averages of the pole of `log f^2` and of its derivatives are compared through differences
/// only.
fn square(case: Case, exact: Case) {
    check(
        &case,
        &[
            ("derivatives", contract::derivatives),
            ("tilted", contract::tilted),
            ("tilted by draws", by_draws::tilted),
            ("expected by draws", by_draws::expected),
            ("observations", contract::observations),
        ],
    );
    check(
        &exact,
        &[("derivatives of expected", contract::expected_derivatives)],
    );
    for own in &exact.own {
        for row in 0..exact.likelihood.rows() {
            for (mean, variance) in [(0.0, 1.0), (1.3, 0.2), (-4.0, 9.0), (20.0, 1e-4)] {
                let belief = Belief { mean, variance };
                let p = &exact.likelihood;
                let features = mirrored(&**p, own, row);
                let want = brute::expected(belief, &features, |f| p.log_density(own, row, f));
                let got = p.expected(own, row, belief);
                // The test's panels end 1e-10 from the pole.
                assert!(
                    (got.value - want.value).abs() < 1e-7 * want.size[0],
                    "{row} {belief:?}"
                );
            }
        }
    }
}

#[test]
fn poisson_square_keeps_the_contract() {
    let few = |rows| Case {
        ratios: &[1e-6, 1e-3, 0.1, 1.0, 7.0, 1e3],
        ..poisson(Link::Square, "poisson square", rows)
    };
    square(few(6), few(4));
}

#[test]
fn negative_binomial_exp_keeps_the_contract() {
    run(&negative_binomial(Link::Exp, "negative binomial exp", 6));
}

#[test]
fn negative_binomial_softplus_keeps_the_contract() {
    run(&negative_binomial(
        Link::Softplus,
        "negative binomial softplus",
        6,
    ));
}

#[test]
fn negative_binomial_square_keeps_the_contract() {
    let few = |rows| negative_binomial(Link::Square, "negative binomial square", rows);
    square(few(6), few(4));
    // E log p of the last rows is the difference of two large numbers, and its differences are of
    // their rounding.
    check(&few(4), &[("slopes", contract::slopes)]);
}

#[test]
fn bernoulli_keeps_the_contract() {
    for (sigmoid, name) in [
        (Sigmoid::Logit, "bernoulli logit"),
        (Sigmoid::Probit, "bernoulli probit"),
    ] {
        let values = [true, false];
        run_all(|| Case {
            name,
            likelihood: Box::new(Bernoulli::new(values.to_vec(), sigmoid)),
            own: vec![vec![]],
            features,
            circumstances: |_| Circumstances::default(),
            log_probability: Box::new(move |d, row| d.log_density(f64::from(values[row]))),
            kinked: false,
            ratios: RATIOS,
            distances: DISTANCES,
        });
    }
}

#[test]
fn binomial_keeps_the_contract() {
    const SUCCESSES: [f64; 4] = [0.0, 3.0, 500.0, 7.0];
    const TRIALS: [u64; 4] = [5, 4, 1000, 7];
    for (sigmoid, name) in [
        (Sigmoid::Logit, "binomial logit"),
        (Sigmoid::Probit, "binomial probit"),
    ] {
        let trials = TRIALS.map(|n| n as f64).to_vec();
        run_all(|| Case {
            name,
            likelihood: Box::new(
                Binomial::new(SUCCESSES.to_vec(), trials.clone(), sigmoid).unwrap(),
            ),
            own: vec![vec![]],
            features,
            circumstances: |row| Circumstances {
                trials: TRIALS[row],
                ..Circumstances::default()
            },
            log_probability: Box::new(|d, row| d.log_density(SUCCESSES[row])),
            kinked: false,
            ratios: RATIOS,
            distances: DISTANCES,
        });
    }
}

#[test]
fn the_negative_binomial_tends_to_poisson() {
    let (lower, upper, exposure) = (LOWER.to_vec(), UPPER.to_vec(), EXPOSURE.to_vec());
    for link in [Link::Exp, Link::Square, Link::Softplus] {
        let poisson =
            Poisson::ranges(lower.clone(), upper.clone(), exposure.clone(), link).unwrap();
        let limit = NegativeBinomial::ranges(
            lower.clone(),
            upper.clone(),
            exposure.clone(),
            link,
            Dispersion::Learned,
        )
        .unwrap();
        let alpha = [1e-18];
        for row in 0..lower.len() {
            for f in [-2.0, 0.7, 3.0, 8.0] {
                let (a, b) = (
                    poisson.log_density(&[], row, f),
                    limit.log_density(&alpha, row, f),
                );
                // The probabilities differ by alpha mu^2 / 2, mu = 2e4 at most.
                let scale = 1e-11 * (1.0 + a.value.abs() + a.second.abs() + a.third.abs());
                assert!(
                    (a.value - b.value).abs() < scale,
                    "{link} {row} {f} {a:?} {b:?}"
                );
                assert!((a.first - b.first).abs() < scale, "{link} {row} {f}");
                assert!((a.second - b.second).abs() < scale, "{link} {row} {f}");
                assert!((a.third - b.third).abs() < scale, "{link} {row} {f}");
            }
        }
    }
}

#[test]
fn large_counts_and_exposures_of_any_size_work() {
    for exposure in [1e-6, 1.0, 1e6] {
        for count in [0.0, 1.0, 1e6] {
            let p = Poisson::ranges(
                vec![count; 3],
                vec![count, count + 1000.0, f64::INFINITY],
                vec![exposure; 3],
                Link::Exp,
            )
            .unwrap();
            let n = NegativeBinomial::ranges(
                vec![count; 3],
                vec![count, count + 1000.0, f64::INFINITY],
                vec![exposure; 3],
                Link::Exp,
                Dispersion::Learned,
            )
            .unwrap();
            for row in 0..3 {
                for (mean, variance) in [(0.0, 1.0), (-13.0, 1e-4), (20.0, 100.0)] {
                    let belief = Belief { mean, variance };
                    for alpha in [1e-9, 0.1, 100.0] {
                        for t in [p.tilted(&[], row, belief), n.tilted(&[alpha], row, belief)] {
                            let all = t.log_z.is_finite() && t.shift.is_finite();
                            assert!(
                                all && t.precision >= 0.0,
                                "{exposure} {count} {row} {alpha} {belief:?}: {t:?}"
                            );
                            // A probability is at most one, but for rounding of its logarithm.
                            assert!(t.log_z <= 1e-12);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_square_link_has_two_peaks_and_the_moments_of_both() {
    let p = Poisson::new(vec![9.0], vec![1.0], Link::Square).unwrap();
    assert!(!p.is_log_concave());
    // Centred cavity: mean 0, variance E f^2 = that of f^18 e^(-f^2 - f^2 / 2 v): 19 / (2 + 1 / v).
    let variance = 50.0;
    let t = p.tilted(
        &[],
        0,
        Belief {
            mean: 0.0,
            variance,
        },
    );
    // Zero by symmetry, but for rounding; panels are asked for 1e-11 of every integral.
    assert!(t.shift.abs() < 1e-12);
    let want = 19.0 / (2.0 + 1.0 / variance);
    assert!((1.0 / (1.0 / variance + t.precision) / want - 1.0).abs() < 1e-11);
    // A narrow cavity between the peaks is pushed outwards: negative precision.
    let t = p.tilted(
        &[],
        0,
        Belief {
            mean: 0.0,
            variance: 0.01,
        },
    );
    assert!(t.precision < 0.0);
    // Far on one side only that peak counts.
    let t = p.tilted(
        &[],
        0,
        Belief {
            mean: 3.0,
            variance: 0.01,
        },
    );
    assert!(t.precision > 0.0 && t.shift > 0.0);
}

#[test]
fn rows_without_information_change_nothing() {
    let p = Poisson::ranges(
        vec![0.0, 0.0],
        vec![0.0, f64::INFINITY],
        vec![0.0, 1.0],
        Link::Exp,
    )
    .unwrap();
    let b = Binomial::new(vec![0.0], vec![0.0], Sigmoid::Logit).unwrap();
    let belief = Belief {
        mean: 0.4,
        variance: 2.0,
    };
    let all: [(&dyn Local, usize); 3] = [(&p, 0), (&p, 1), (&b, 0)];
    for (likelihood, row) in all {
        assert_eq!(likelihood.log_density(&[], row, 1.0).value, 0.0);
        assert_eq!(likelihood.tilted(&[], row, belief), Default::default());
        assert_eq!(likelihood.expected(&[], row, belief), Default::default());
    }
}

#[test]
fn unusable_rows_are_refused_with_their_number() {
    let inf = f64::INFINITY;
    let ranges = |lower: f64, upper: f64, exposure: f64| {
        Poisson::ranges(
            vec![1.0, lower],
            vec![2.0, upper],
            vec![1.0, exposure],
            Link::Exp,
        )
    };
    for (lower, upper, exposure) in [
        (-1.0, 3.0, 1.0),
        (1.5, 3.0, 1.0),
        (f64::NAN, 3.0, 1.0),
        (inf, inf, 1.0),
        (4.0, 3.0, 1.0),
        (0.0, 2.5, 1.0),
        (0.0, f64::NAN, 1.0),
        (1.0, 3.0, -1.0),
        (1.0, 3.0, inf),
        (1.0, 3.0, f64::NAN),
        (1.0, 3.0, 0.0),
    ] {
        let message = ranges(lower, upper, exposure).unwrap_err().to_string();
        assert!(
            message.contains("row 1"),
            "{lower} {upper} {exposure}: {message}"
        );
    }
    assert!(ranges(0.0, 3.0, 0.0).is_ok());
    assert!(Poisson::new(vec![1.0], vec![1.0, 1.0], Link::Exp).is_err());
    let identity = Poisson::new(vec![1.0], vec![1.0], Link::Identity);
    assert!(identity.unwrap_err().to_string().contains("softplus"));
    for alpha in [0.0, -1.0, f64::NAN, inf] {
        let known = Dispersion::Known(alpha);
        assert!(NegativeBinomial::new(vec![1.0], vec![1.0], Link::Exp, known).is_err());
    }
    for shape in [0.0, -1.0, f64::NAN, inf] {
        assert!(Gamma::new(vec![1.0], Shape::Known(shape)).is_err());
        assert!(LogNormal::new(vec![1.0], LogSd::Known(shape)).is_err());
        assert!(LogNormal::new(vec![1.0], LogSd::Each(vec![shape])).is_err());
    }
    for value in [0.0, -1.0, f64::NAN, inf] {
        assert!(Gamma::new(vec![value], Shape::Learned).is_err());
        assert!(LogNormal::new(vec![value], LogSd::Learned).is_err());
        assert!(Exponential::new(vec![value], Link::Exp).is_err());
    }
    assert!(Exponential::new(vec![1.0], Link::Square).is_err());
    assert!(Exponential::new(vec![1.0], Link::Identity).is_err());
    for (k, n) in [
        (2.0, 1.0),
        (-1.0, 1.0),
        (0.5, 1.0),
        (0.0, 1.5),
        (f64::NAN, 1.0),
    ] {
        assert!(Binomial::new(vec![k], vec![n], Sigmoid::Logit).is_err());
    }
}
