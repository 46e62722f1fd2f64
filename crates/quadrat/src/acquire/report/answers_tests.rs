//! Reports by quadrature against fine lattices.

use super::tests::{BELIEFS, belief, brute, lattice};
use super::*;
use crate::likelihood::local::{Belief, Circumstances};
use crate::likelihood::{
    Bernoulli, Binomial, Degrees, Dispersion, Exponential, Gamma, Laplace, Likelihood,
    NegativeBinomial, Noise, Poisson, Shape, Sigmoid, StudentT,
};
use crate::link::Link;

fn of(likelihood: impl Into<Likelihood>, own: &[f64], circumstances: Circumstances) -> Report {
    Report::Answers(Answers::new(likelihood.into(), own.to_vec(), circumstances))
}

/// Counts on a fine lattice, all of them that have any probability.
#[test]
fn counts_tell_what_a_fine_lattice_says() {
    let usual = Circumstances::default;
    let exposed = Circumstances {
        exposure: 3.0,
        ..usual()
    };
    let trials = Circumstances {
        trials: 40,
        ..usual()
    };
    let poisson = |link| Poisson::new(vec![1.0], vec![1.0], link).unwrap();
    let dispersed = Dispersion::Known(0.4);
    let negative = NegativeBinomial::new(vec![1.0], vec![1.0], Link::Exp, dispersed).unwrap();
    let cases: Vec<(Likelihood, Circumstances)> = vec![
        (poisson(Link::Exp).into(), usual()),
        (poisson(Link::Exp).into(), exposed),
        (poisson(Link::Softplus).into(), usual()),
        (negative.into(), usual()),
        (
            Binomial::new(vec![1.0], vec![2.0], Sigmoid::Logit)
                .unwrap()
                .into(),
            trials,
        ),
        (Bernoulli::new(vec![true], Sigmoid::Logit).into(), usual()),
        (Bernoulli::new(vec![true], Sigmoid::Probit).into(), usual()),
    ];
    for (likelihood, circumstances) in cases {
        let report = of(likelihood.clone(), &[], circumstances);
        for one in [(0.3, 0.5), (-1.0, 0.04), (2.0, 0.3), (0.0, 1e-3)] {
            let belief = belief(one);
            let nodes = lattice(belief, 0.3);
            let answers = |f: f64| {
                let at = likelihood.local().observation(&[], &circumstances, f);
                (0..3000)
                    .map(|y| at.log_density(f64::from(y)).exp())
                    .collect()
            };
            let expected = brute(&nodes, answers);
            let told = report.information(belief);
            // Sums of entropies of a few nats over thousands of terms.
            assert!(
                (told - expected).abs() < 1e-9,
                "{likelihood:?} {one:?}: {told} {expected}"
            );
        }
    }
}

/// Wide beliefs, where counts are far more than can be summed: references are integrals over `f` on
/// a lattice ten times as fine, of all counts below 1,000 one by one and 2,000 Simpson steps of
/// the logarithm of the others.
#[test]
fn counts_of_wide_beliefs_tell_what_they_should() {
    let cases = [
        (0.0, 1.5, 0.0, 0.711_817_059_361),
        (-3.0, 3.0, 0.0, 0.552_959_244_209),
        (-6.0, 3.0, 0.0, 0.140_122_518_667),
        (4.0, 1.0, 0.0, 2.016_571_649_980),
        (-8.0, 1.0, 0.0, 0.000_276_389_377),
        (2.0, 1.0, 1.0, 0.273_478_624_803),
        (1.0, 1.2, 0.4, 0.481_601_042_440),
        (1.0, 2.0, 3.0, 0.270_198_017_946),
    ];
    for (mean, sd, dispersion, expected) in cases {
        let known = Dispersion::Known(dispersion);
        let counts: Likelihood = if dispersion > 0.0 {
            let one = NegativeBinomial::new(vec![1.0], vec![1.0], Link::Exp, known);
            one.unwrap().into()
        } else {
            Poisson::new(vec![1.0], vec![1.0], Link::Exp)
                .unwrap()
                .into()
        };
        let variance = sd * sd;
        let told = of(counts, &[], Circumstances::default()).information(Belief { mean, variance });
        // Digits of the references.
        assert!(
            (told - expected).abs() < 1e-9,
            "{mean} {sd} {dispersion}: {told} {expected}"
        );
    }
}

/// Wide beliefs about successes, near certainty too, and about squares, which two values have.
#[test]
fn successes_and_squares_of_wide_beliefs_tell_what_a_fine_lattice_says() {
    let of_trials = |trials| Circumstances {
        trials,
        ..Circumstances::default()
    };
    let logit = Binomial::new(vec![1.0], vec![2.0], Sigmoid::Logit).unwrap();
    let square = Poisson::new(vec![1.0], vec![1.0], Link::Square).unwrap();
    let cases: [(Likelihood, Circumstances, (f64, f64), f64); 5] = [
        (logit.clone().into(), of_trials(600), (0.5, 9.0), 0.08),
        (logit.clone().into(), of_trials(600), (-4.0, 2.0), 0.08),
        (logit.clone().into(), of_trials(40), (25.0, 16.0), 0.3),
        (square.clone().into(), of_trials(1), (0.5, 4.0), 0.05),
        (square.into(), of_trials(1), (2.0, 0.3), 0.05),
    ];
    for (likelihood, circumstances, one, finest) in cases {
        let belief = belief(one);
        let nodes = lattice(belief, finest);
        let answers = |f: f64| {
            let at = likelihood.local().observation(&[], &circumstances, f);
            (0..1200)
                .map(|y| at.log_density(f64::from(y)).exp())
                .collect()
        };
        let expected = brute(&nodes, answers);
        let told = of(likelihood.clone(), &[], circumstances).information(belief);
        // The entropy of a square is like `f^2 log |f|` near zero, of which a lattice of step `h`
        // misses some hundredths of `h^3`: 3e-6 at 0.05, and 3e-9 at the 0.005 that is taken here.
        assert!(
            (told - expected).abs() < 1e-8,
            "{likelihood:?} {one:?}: {told} {expected}"
        );
    }
}

/// Neighbouring beliefs tell neighbouring amounts, also where the rules change: no second
/// difference is more than the smooth function has.
#[test]
fn counts_and_waiting_times_do_not_jump() {
    let poisson = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let square = Poisson::new(vec![1.0], vec![1.0], Link::Square).unwrap();
    let waiting = Exponential::new(vec![1.0], Link::Exp).unwrap();
    let usual = Circumstances::default;
    let trials = Circumstances {
        trials: 1000,
        ..usual()
    };
    let binomial = Binomial::new(vec![1.0], vec![2.0], Sigmoid::Logit).unwrap();
    let reports = [
        of(poisson, &[], usual()),
        of(square, &[], usual()),
        of(waiting, &[], usual()),
        of(binomial, &[], trials),
    ];
    for report in reports {
        for (mean, sd) in [(0.0, 2.0), (1.0, 5.0), (3.0, 30.0), (5.0, 0.05)] {
            let told = [0.999, 1.0, 1.001].map(|scale: f64| {
                let variance = (sd * scale) * (sd * scale);
                report.information(Belief { mean, variance })
            });
            let bend = told[2] - 2.0 * told[1] + told[0];
            // A thousandth of a relative step, squared, times numbers of order one.
            assert!(bend.abs() < 1e-5, "{report:?} {mean} {sd}: {told:?}");
            assert!(told[1] > 0.0 && told[1].is_finite());
        }
    }
}

/// Rare answers keep their digits: references of 200,000 steps over 28 sds.
#[test]
fn rare_answers_keep_their_digits() {
    let logit = Bernoulli::new(vec![true], Sigmoid::Logit);
    let report = of(logit, &[], Circumstances::default());
    let cases = [
        (-20.0, 4.0, 3.045_988_972_607e-8),
        (-25.0, 9.0, 5.625_528_855_236e-9),
        (0.0, 1.0, 9.370_896_135_441e-2),
    ];
    for (mean, variance, expected) in cases {
        for mean in [mean, -mean] {
            let told = report.information(Belief { mean, variance });
            // What lies beyond eight sds of where rare answers come from, and roundings.
            assert!(
                (told / expected - 1.0).abs() < 1e-9,
                "{mean} {variance}: {told} {expected}"
            );
        }
    }
}

/// A rank of two with normal noise of variance one is an answer behind the probit.
#[test]
fn probits_are_ranks() {
    let answer = of(
        Bernoulli::new(vec![true], Sigmoid::Probit),
        &[],
        Circumstances::default(),
    );
    let rank = Report::Ranks(Ranks::new(vec![0.0], 1.0));
    for one in BELIEFS {
        let (told, expected) = (
            answer.information(belief(one)),
            rank.information(belief(one)),
        );
        assert_eq!(told, expected, "{one:?}");
    }
}

/// Large counts are values with normal noise, but for what is one over the count.
#[test]
fn large_counts_tell_what_their_roots_do() {
    let poisson = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let report = of(poisson, &[], Circumstances::default());
    // 2 sqrt(y) is nearly normal about 2 exp(f / 2) with variance one: of narrow beliefs it is a
    // value with that noise.
    for mean in [6.0_f64, 10.0, 14.0] {
        let variance = 0.25 / mean.exp();
        let told = report.information(Belief { mean, variance });
        let expected = 0.5 * (1.0_f64 + 0.25).ln();
        // Relative corrections of one over the count.
        assert!(
            (told - expected).abs() < 2.0 / mean.exp() + 1e-10,
            "{mean}: {told} {expected}"
        );
    }
}

/// Waiting times over their logarithm: location families, so that the mean does not matter; and
/// against a fine lattice of logarithms.
#[test]
fn waiting_times_tell_what_fine_bins_do() {
    let usual = Circumstances::default();
    let exponential = of(Exponential::new(vec![1.0], Link::Exp).unwrap(), &[], usual);
    let gamma = of(
        Gamma::new(vec![1.0], Shape::Known(3.0)).unwrap(),
        &[],
        usual,
    );
    for (report, shape) in [(exponential, 1.0), (gamma, 3.0)] {
        for (mean, variance) in [(0.0, 1.0), (0.3, 0.1), (5.0, 1.0)] {
            let told = report.information(Belief { mean, variance });
            let belief = Belief {
                mean: 0.0,
                variance,
            };
            let nodes = lattice(belief, 0.5);
            // The density of t = log(y / mean) is shape^shape / Gamma(shape) e^(shape (t - e^t)).
            let step = 0.02;
            let norm: f64 = if shape == 1.0 { 1.0 } else { 27.0 / 2.0 };
            let answers = |f: f64| {
                let each = (-3000..1000).map(|k| {
                    let t = f64::from(k) * step - f;
                    step * norm * (shape * (t - t.exp())).exp()
                });
                each.collect()
            };
            let expected = brute(&nodes, answers);
            // Trapezoids in steps of 0.02, and the quadrature of the report: found are 2e-11
            // between them.
            assert!(
                (told - expected).abs() < 1e-9,
                "{shape} {mean} {variance}: {told} {expected}"
            );
        }
    }
}

/// Heavy tails tell less than normal noise of the same Fisher information, and with many degrees of
/// freedom the same; double exponential noise against a fine lattice.
#[test]
fn other_noise_tells_what_a_fine_lattice_says() {
    let noise = || Noise::Known(vec![0.25]);
    let usual = Circumstances {
        variance: 0.25,
        ..Circumstances::default()
    };
    let student = |degrees| {
        let t = StudentT::new(vec![0.0], noise(), Degrees::Known(degrees)).unwrap();
        of(t, &[], usual)
    };
    let value = Report::Value(Value { noise: 0.25 });
    let wide = Belief {
        mean: 0.7,
        variance: 1.0,
    };
    // The excess of 1e7 degrees is 6e-7 of the squared variance.
    assert!((student(1e7).information(wide) - value.information(wide)).abs() < 1e-6);
    let double = of(
        Laplace::new(vec![0.0], vec![0.6]).unwrap(),
        &[],
        Circumstances::default(),
    );
    for variance in [0.02, 0.5, 3.0] {
        let belief = Belief {
            mean: 0.2,
            variance,
        };
        for (report, density) in [
            (
                student(4.0),
                &(|y: f64| 0.375 / 0.5 * (1.0 + y * y).powf(-2.5)) as &dyn Fn(f64) -> f64,
            ),
            (double.clone(), &|y: f64| (-y.abs() / 0.6).exp() / 1.2),
        ] {
            // Student's t of four degrees in units of twice its scale, 1: 3 / 8 (1 + y^2)^(-5/2) 2.
            let told = report.information(belief);
            let sd = variance.sqrt();
            let step = 0.002;
            let n = 20_000_i32;
            let at = |k: i32| f64::from(k) * step;
            let known: f64 = (-n..=n)
                .map(|k| density(at(k)))
                .map(|p| -p * p.ln() * step)
                .sum();
            let nodes: Vec<f64> = (-90..=90).map(|i| 0.1 * f64::from(i)).collect();
            let weight = |z: f64| 0.1 * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let open: f64 = (-n..=n)
                .map(|k| {
                    nodes
                        .iter()
                        .map(|z| weight(*z) * density(at(k) - sd * z))
                        .sum::<f64>()
                })
                .map(|p| -p * p.ln() * step)
                .sum();
            // The kink, and tails beyond 40: some parts in a million.
            assert!(
                (told - (open - known)).abs() < 2e-5,
                "{variance}: {told} {}",
                open - known
            );
        }
    }
}

/// A belief so wide that the logistic function is a step: the two forms meet.
#[test]
fn wide_answers_tell_what_a_coin_does() {
    let logit = Bernoulli::new(vec![true], Sigmoid::Logit);
    let report = of(logit, &[], Circumstances::default());
    for mean in [0.0, 300.0, -900.0] {
        let sds = [499.7, 499.9, 500.1];
        let told = sds.map(|sd: f64| {
            let variance = sd * sd;
            report.information(Belief { mean, variance })
        });
        // What bends within these steps is 1e-7 at most; a jump would stand beside it.
        let bend = told[2] - 2.0 * told[1] + told[0];
        assert!(bend.abs() < 1e-7, "{mean}: {told:?}");
    }
    let huge = report.information(Belief {
        mean: 0.0,
        variance: 1e20,
    });
    assert!((huge - std::f64::consts::LN_2).abs() < 1e-9);
}
