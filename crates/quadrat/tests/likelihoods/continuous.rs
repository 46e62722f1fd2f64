//! Likelihoods of values.

use quadrat::likelihood::distribution::Distribution;
use quadrat::likelihood::local::{Circumstances, Local};
use quadrat::likelihood::{
    Censored, Degrees, Gaussian, Interval, Laplace, Noise, Ordinal, Positive, Side, StudentT,
    Thresholds, Truncated,
};
use quadrat::special::scalar::normal_cdf;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::contract::{Case, DISTANCES, RATIOS, run};

#[test]
fn gaussian_keeps_the_contract() {
    let values = vec![0.3, -2.0, 15.0];
    let variances = vec![0.1, 4.0, 0.0];
    let own_values = values.clone();
    let case = Case {
        name: "gaussian",
        likelihood: Box::new(Gaussian::new(values, Noise::KnownPlusLearned(variances)).unwrap()),
        own: vec![vec![0.7], vec![1e-3]],
        features: |p, own, row| {
            let (value, variance) = p.gaussian(own, row).unwrap();
            vec![(value, variance.sqrt())]
        },
        circumstances: |row| Circumstances {
            variance: [0.1, 4.0, 0.0][row],
            ..Circumstances::default()
        },
        log_probability: Box::new(move |d, row| d.log_density(own_values[row])),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    };
    run(&case);
}

/// Numbers in [0, 1) that are the same in every run.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    move || rng.random::<f64>()
}

/// Values with variances over six orders of magnitude.
fn values() -> Vec<(f64, f64)> {
    let mut next = random(3);
    let mut rows: Vec<_> = (0..4)
        .map(|_| (20.0 * (next() - 0.5), 10f64.powf(6.0 * next() - 4.0)))
        .collect();
    rows.push((0.0, 1.0));
    rows
}

#[test]
fn laplace_keeps_the_contract() {
    let (value, variance): (Vec<f64>, Vec<f64>) = values().into_iter().unzip();
    let scale: Vec<f64> = variance.iter().map(|v| (0.5 * v).sqrt()).collect();
    let case = Case {
        name: "laplace",
        likelihood: Box::new(Laplace::new(value.clone(), scale).unwrap()),
        own: vec![vec![]],
        features: |_, _, row| {
            let (value, variance) = values()[row];
            vec![(value, (0.5 * variance).sqrt())]
        },
        circumstances: |row| Circumstances {
            variance: values()[row].1,
            ..Circumstances::default()
        },
        log_probability: Box::new(move |d, row| d.log_density(value[row])),
        kinked: true,
        ratios: RATIOS,
        distances: DISTANCES,
    };
    run(&case);
}

#[test]
fn student_t_keeps_the_contract() {
    let (value, variance): (Vec<f64>, Vec<f64>) = values().into_iter().unzip();
    let case = Case {
        name: "student_t",
        likelihood: Box::new(
            StudentT::new(
                value.clone(),
                Noise::KnownPlusLearned(variance),
                Degrees::Learned,
            )
            .unwrap(),
        ),
        own: vec![
            vec![0.3, 4.0],
            vec![1e-3, 0.8],
            vec![2.0, 35.0],
            vec![0.1, 3e4],
        ],
        features: |_, own, row| {
            let (value, variance) = values()[row];
            let sd = (variance + own[0]).sqrt();
            vec![(value, sd), (value, sd * own[1].sqrt())]
        },
        circumstances: |row| Circumstances {
            variance: values()[row].1,
            ..Circumstances::default()
        },
        log_probability: Box::new(move |d, row| d.log_density(value[row])),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    };
    run(&case);
}

/// Ends and a known part of the noise variance: narrow and wide windows, half-lines, an exact
/// value.
fn intervals() -> Vec<(f64, f64, f64)> {
    let mut next = random(8);
    let mut rows: Vec<_> = [1e-3, 0.3, 2.0, 50.0, 1e4]
        .iter()
        .map(|width| {
            let variance = 10f64.powf(4.0 * next() - 3.0);
            let lower = 10.0 * (next() - 0.5);
            (lower, lower + width * f64::sqrt(variance), variance)
        })
        .collect();
    rows.push((f64::NEG_INFINITY, 0.7, 0.04));
    rows.push((-2.0, f64::INFINITY, 1.0));
    rows.push((1.5, 1.5, 0.5));
    rows
}

type Columns = (Vec<f64>, (Vec<f64>, Vec<f64>));

fn columns() -> Columns {
    intervals().into_iter().map(|(a, b, v)| (a, (b, v))).unzip()
}

/// Finite ends with the noise sd.
fn second_order(own: &[f64], row: usize) -> Vec<(f64, f64)> {
    let (lower, upper, variance) = intervals()[row];
    let sd = (variance + own.first().unwrap_or(&0.0)).sqrt();
    let ends = [(lower, sd), (upper, sd)];
    ends.into_iter().filter(|end| end.0.is_finite()).collect()
}

fn interval_case(name: &'static str, likelihood: Box<dyn Local>, own: Vec<Vec<f64>>) -> Case {
    Case {
        name,
        likelihood,
        own,
        features: |_, own, row| second_order(own, row),
        circumstances: |row| Circumstances {
            variance: intervals()[row].2,
            ..Circumstances::default()
        },
        log_probability: Box::new(|d, row| {
            let (lower, upper, _) = intervals()[row];
            let Distribution::Normal(normal) = d else {
                return f64::NAN;
            };
            if lower == upper {
                return d.log_density(lower);
            }
            let (a, b) = (
                (lower - normal.mean) / normal.sd,
                (upper - normal.mean) / normal.sd,
            );
            if b - a < 0.01 {
                // Simpson's rule; the difference of the ends has few digits.
                let middle = 0.5 * (lower + upper);
                let mean = (d.log_density(lower).exp()
                    + 4.0 * d.log_density(middle).exp()
                    + d.log_density(upper).exp())
                    / 6.0;
                return (mean * (upper - lower)).ln();
            }
            if a > 0.0 {
                return (normal_cdf(-a) - normal_cdf(-b)).ln();
            }
            (d.cdf(upper) - d.cdf(lower)).ln()
        }),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    }
}

#[test]
fn interval_keeps_the_contract() {
    let (lower, (upper, variance)) = columns();
    let known = Interval::new(lower.clone(), upper.clone(), Noise::Known(variance.clone()));
    run(&interval_case(
        "interval",
        Box::new(known.unwrap()),
        vec![vec![]],
    ));
    let learned = Interval::new(lower, upper, Noise::KnownPlusLearned(variance));
    let own = vec![vec![0.02], vec![3.0]];
    run(&interval_case(
        "interval, learned noise",
        Box::new(learned.unwrap()),
        own,
    ));
}

#[test]
fn censored_keeps_the_contract() {
    let (lower, (upper, variance)) = columns();
    let censored = Censored::between(lower, upper, Noise::KnownPlusLearned(variance));
    run(&interval_case(
        "censored",
        Box::new(censored.unwrap()),
        vec![vec![0.4]],
    ));
}

/// Values, their limits and known noise variances: a value near one limit and far within it, at it,
/// between wide and narrow ones.
fn cut_rows() -> [(f64, f64, f64, f64); 6] {
    let none = f64::INFINITY;
    [
        (0.6, 0.5, none, 0.04),
        (3.0, -1.0, none, 0.25),
        (-2.0, -none, -2.0, 0.09),
        (1.1, 0.9, 4.0, 1.0),
        (0.2, 0.199, 0.202, 0.5),
        (7.0, -none, none, 0.3),
    ]
}

fn cut_case(name: &'static str, likelihood: Truncated, own: Vec<Vec<f64>>) -> Case {
    Case {
        name,
        likelihood: Box::new(likelihood),
        own,
        features: |_, own, row| {
            let (value, lower, upper, variance) = cut_rows()[row];
            let sd = (variance + own.first().unwrap_or(&0.0)).sqrt();
            let ends = [value, lower, upper].into_iter();
            ends.filter(|x| x.is_finite()).map(|x| (x, sd)).collect()
        },
        circumstances: |row| Circumstances {
            variance: cut_rows()[row].3,
            ..Circumstances::default()
        },
        log_probability: Box::new(|d, row| {
            let (value, lower, upper, _) = cut_rows()[row];
            let Distribution::Normal(normal) = d else {
                return f64::NAN;
            };
            let (a, b) = (
                (lower - normal.mean) / normal.sd,
                (upper - normal.mean) / normal.sd,
            );
            let within = if b - a < 0.01 {
                // Simpson's rule; the difference of the ends has few digits.
                let middle = d.log_density(0.5 * (lower + upper)).exp();
                let ends = d.log_density(lower).exp() + d.log_density(upper).exp();
                (ends + 4.0 * middle) / 6.0 * (upper - lower)
            } else if a > 0.0 {
                normal_cdf(-a) - normal_cdf(-b)
            } else {
                d.cdf(upper) - d.cdf(lower)
            };
            d.log_density(value) - within.ln()
        }),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    }
}

#[test]
fn truncated_keeps_the_contract() {
    let column = |pick: fn(&(f64, f64, f64, f64)) -> f64| -> Vec<f64> {
        cut_rows().iter().map(pick).collect()
    };
    let of = |noise| {
        let (values, lower, upper) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
        Truncated::new(values, lower, upper, noise).unwrap()
    };
    let known = of(Noise::Known(column(|r| r.3)));
    run(&cut_case("truncated", known, vec![vec![]]));
    let learned = of(Noise::KnownPlusLearned(column(|r| r.3)));
    let own = vec![vec![0.02], vec![3.0]];
    run(&cut_case("truncated, learned noise", learned, own));
}

#[test]
fn sides_and_limits_are_intervals() {
    let noise = || Noise::Known(vec![0.1, 0.2, 0.3]);
    let sides = [Side::Left, Side::None, Side::Right];
    let sided = Censored::new(vec![1.0, 2.0, 3.0], &sides, noise()).unwrap();
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    let same = Censored::between(vec![low, 2.0, 3.0], vec![1.0, 2.0, high], noise()).unwrap();
    assert_eq!(sided, same);
    // Values beyond a limit are the limit.
    let clipped = Censored::clipped(&[0.4, 2.0, 3.0], &[1.0; 3], &[3.0; 3], noise()).unwrap();
    assert_eq!(clipped, same);
    assert_eq!(sided.gaussian(&[], 0), None);
    assert_eq!(sided.gaussian(&[], 1), Some((2.0, 0.2)));
    let interval = Interval::new(vec![low, 2.0, 3.0], vec![1.0, 2.0, high], noise()).unwrap();
    assert_eq!(sided.readings(), &interval);
}

#[test]
fn positive_keeps_the_contract() {
    let case = Case {
        name: "positive",
        likelihood: Box::new(Positive::new(2, -0.25, 1e-3).unwrap()),
        own: vec![vec![]],
        features: |_, _, _| vec![(-0.25, 1e-3)],
        circumstances: |_| Circumstances::default(),
        log_probability: Box::new(|d, _| d.log_density(2.0)),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    };
    run(&case);
}

const THRESHOLDS: [f64; 4] = [-1.0, -0.2, 0.9, 4.0];
const RANKS: [usize; 5] = [1, 2, 3, 4, 5];

/// Finite thresholds of a row with the noise sd.
fn steps(thresholds: &[f64], sd: f64, row: usize) -> Vec<(f64, f64)> {
    let rank = RANKS[row];
    let ends = [rank.checked_sub(2), Some(rank - 1)];
    ends.into_iter()
        .flatten()
        .filter_map(|k| thresholds.get(k).map(|&t| (t, sd)))
        .collect()
}

#[test]
fn ordinal_keeps_the_contract() {
    let known = Ordinal::new(
        RANKS.to_vec(),
        Thresholds::Known(THRESHOLDS.to_vec()),
        Noise::Known(vec![0.25; 5]),
    )
    .unwrap();
    assert_eq!(known.thresholds(&[]), THRESHOLDS);
    run(&Case {
        name: "ordinal",
        likelihood: Box::new(known),
        own: vec![vec![]],
        features: |_, _, row| steps(&THRESHOLDS, 0.5, row),
        circumstances: |_| Circumstances {
            variance: 0.25,
            ..Circumstances::default()
        },
        log_probability: Box::new(|d, row| d.log_density(RANKS[row] as f64)),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    });
    fn learned_thresholds(own: &[f64]) -> [f64; 4] {
        [
            own[1],
            own[1] + own[2],
            own[1] + own[2] + own[3],
            own[1] + own[2] + own[3] + own[4],
        ]
    }
    let learned = Ordinal::new(RANKS.to_vec(), Thresholds::Learned(5), Noise::Learned).unwrap();
    let own = vec![0.3, -0.7, 0.5, 2.0, 0.1];
    assert_eq!(learned.thresholds(&own), learned_thresholds(&own));
    let names: Vec<_> = learned
        .parameters(1.0)
        .into_iter()
        .map(|p| p.name)
        .collect();
    let want = [
        "noise.variance",
        "ordinal.threshold",
        "ordinal.gap.2",
        "ordinal.gap.3",
        "ordinal.gap.4",
    ];
    assert_eq!(names, want);
    run(&Case {
        name: "ordinal, learned",
        likelihood: Box::new(learned),
        own: vec![own, vec![4.0, 0.3, 0.02, 0.7, 30.0]],
        features: |_, own, row| steps(&learned_thresholds(own), own[0].sqrt(), row),
        circumstances: |_| Circumstances::default(),
        log_probability: Box::new(|d, row| d.log_density(RANKS[row] as f64)),
        kinked: false,
        ratios: RATIOS,
        distances: DISTANCES,
    });
}
