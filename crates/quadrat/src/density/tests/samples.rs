//! Whole estimates: invariances, known distributions, refusals, and nasty samples.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::super::*;
use super::{normals, random};

fn is_a_density(estimate: &Estimate) {
    let edges = estimate.edges();
    let sum: f64 = estimate
        .density()
        .iter()
        .zip(edges.windows(2))
        .map(|(p, e)| p * (e[1] - e[0]))
        .sum();
    // Masses are divided by their sum: rounding of some hundred terms.
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert!(
        estimate
            .density()
            .iter()
            .all(|p| p.is_finite() && *p >= 0.0)
    );
    let bands = estimate.lower().iter().zip(estimate.upper());
    assert!(
        bands
            .clone()
            .all(|(a, b)| a.is_finite() && *a >= 0.0 && b >= a && !b.is_nan())
    );
}

#[test]
fn weights_are_repetitions_and_counts_in_cells_are_values() {
    let values = [0.1, 0.4, 0.4, 0.9, 1.7, 1.7, 1.7, 2.2, 3.0, 3.1, 3.3, 4.0];
    let distinct = [0.1, 0.4, 0.9, 1.7, 2.2, 3.0, 3.1, 3.3, 4.0];
    let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let quick = |d: Density<'_>| d.bounds(0.0, 5.0).cells(60).draws(400).estimate().unwrap();
    let repeated = quick(Density::new(&values));
    let weighted = quick(Density::new(&distinct).weights(&weights));
    let point = quick(Density::from_intervals(&distinct, &distinct).weights(&weights));
    // Quartiles of weighted values are not interpolated, so that the scales differ a little; the
    // two ways to give weights agree.
    let pairs = weighted.density().iter().zip(point.density());
    assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12));
    let largest = repeated.density().iter().copied().fold(0.0, f64::max);
    for (a, b) in repeated.density().iter().zip(weighted.density()) {
        assert!((a - b).abs() < 0.1 * largest, "{a} {b}");
    }
}

#[test]
fn units_do_not_matter() {
    let values = normals(80, 11);
    let one = Density::new(&values)
        .cells(80)
        .draws(500)
        .estimate()
        .unwrap();
    let moved: Vec<f64> = values.iter().map(|x| 1e6 + 250.0 * x).collect();
    let other = Density::new(&moved)
        .cells(80)
        .draws(500)
        .estimate()
        .unwrap();
    for (a, b) in one.density().iter().zip(other.density()) {
        // Values near 1e6 have lost six digits.
        assert!((a - 250.0 * b).abs() < 1e-6, "{a} {b}");
    }
    let (a, b) = (one.quantile(0.3), other.quantile(0.3));
    assert!((1e6 + 250.0 * a.value - b.value).abs() < 1e-3);
}

#[test]
fn a_logarithmic_axis_is_the_density_of_the_logarithm() {
    let logs = normals(150, 12);
    let values: Vec<f64> = logs.iter().map(|x| (2.0 * x).exp()).collect();
    let on_logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    let of = |d: Density<'_>| d.cells(120).draws(500).estimate().unwrap();
    let (a, b) = (
        of(Density::new(&values).log(true)),
        of(Density::new(&on_logs)),
    );
    is_a_density(&a);
    for (x, y) in a.masses().iter().zip(b.masses()) {
        // The same numbers on both ways, but for the rounding of logarithms of exponentials.
        assert!((x - y).abs() < 1e-9);
    }
    let (x, y) = (a.quantile(0.5), b.quantile(0.5));
    // Quantiles are interpolated within cells of some 0.05, once on the values and once on
    // logarithms.
    assert!((x.lower.ln() - y.lower).abs() < 0.05 && (x.upper.ln() - y.upper).abs() < 0.05);
}

#[test]
fn rounded_values_are_answered_like_exact_ones() {
    let values = normals(300, 13);
    let lower: Vec<f64> = values.iter().map(|x| (x / 0.25).floor() * 0.25).collect();
    let upper: Vec<f64> = lower.iter().map(|x| x + 0.25).collect();
    let of = |d: Density<'_>| d.cells(150).draws(1000).estimate().unwrap();
    let (a, b) = (
        of(Density::new(&values)),
        of(Density::from_intervals(&lower, &upper)),
    );
    for x in [-1.5, -0.5, 0.0, 0.7, 1.6] {
        let (i, j) = (a.cell(x).unwrap(), b.cell(x).unwrap());
        assert!(b.lower()[j] < a.density()[i] && a.density()[i] < b.upper()[j]);
    }
    let overlapping = of(Density::from_bins(
        &[f64::NEG_INFINITY, -1.0, -0.5, 0.0, 0.5],
        &[-1.0, 0.5, 1.0, 1.0, f64::INFINITY],
        &[50.0, 90.0, 70.0, 40.0, 50.0],
    ));
    is_a_density(&overlapping);
    assert!(
        overlapping
            .warnings()
            .iter()
            .any(|w| matches!(w, Warning::OpenEnd { .. }))
    );
}

#[test]
fn answers_agree_with_each_other_and_with_a_normal_distribution() {
    let n = 400;
    let values: Vec<f64> = (0..n)
        .map(|i| crate::special::scalar::normal_quantile((f64::from(i) + 0.5) / f64::from(n)))
        .collect();
    let e = Density::new(&values).draws(2000).estimate().unwrap();
    is_a_density(&e);
    assert!(e.warnings().is_empty(), "{:?}", e.warnings());
    let near = |a: Answer, want: f64| {
        assert!(a.lower <= a.value && a.value <= a.upper, "{a:?}");
        assert!(a.lower < want && want < a.upper, "{a:?} {want}");
    };
    near(e.mean(), 0.0);
    near(e.sd(), 1.0);
    near(e.quantile(0.9), 1.281_551_565_544_600_4);
    near(e.cdf(1.0), 0.841_344_746_068_542_9);
    near(e.probability(-1.0, 1.0), 0.682_689_492_137_085_9);
    // All of it is no more than one, however many draws are averaged.
    let all = e.probability(f64::NEG_INFINITY, f64::INFINITY);
    assert!(
        all.value <= 1.0 && all.upper <= 1.0 && all.lower > 1.0 - 1e-12,
        "{all:?}"
    );
    assert_eq!(e.modes().len(), 1);
    let region = e.highest_density_region(0.9);
    assert_eq!(region.len(), 1);
    // The 5 % quantile of 400 normal values has a standard error of sqrt(0.05 0.95 / 400) / 0.103 =
    // 0.11.
    assert!(
        (region[0].0 + 1.645).abs() < 0.25 && (region[0].1 - 1.645).abs() < 0.25,
        "{region:?}"
    );
    let draws = e.draws(50, 2);
    for k in 0..50 {
        let sum: f64 = draws
            .col_as_slice(k)
            .iter()
            .zip(e.edges().windows(2))
            .map(|(p, e)| p * (e[1] - e[0]))
            .sum();
        // Masses of draws are divided by their sum: rounding of some hundred terms.
        assert!((sum - 1.0).abs() < 1e-9);
    }
    let (lower, upper) = e.simultaneous();
    let middle = e.cell(0.0).unwrap();
    assert!(lower[middle] < e.lower()[middle] && upper[middle] > e.upper()[middle]);
    assert!(matches!(e.gini(), Err(DensityError::NotPositive { .. })));
}

/// An exponential distribution: Gini 1/2, and the top tenth holds `0.1 (1 + ln 10)`.
#[test]
fn inequality_of_an_exponential_distribution() {
    let n = 600;
    let values: Vec<f64> = (0..n)
        .map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln())
        .collect();
    let e = Density::new(&values)
        .bounds(0.0, f64::INFINITY)
        .draws(2000)
        .estimate()
        .unwrap();
    let gini = e.gini().unwrap();
    // The standard error of the Gini coefficient of n exponential values is sqrt(1 / (12 n)) =
    // 0.012.
    assert!(
        gini.lower < 0.5 && 0.5 < gini.upper && (gini.value - 0.5).abs() < 0.03,
        "{gini:?}"
    );
    let share = e.top_share(0.1).unwrap();
    assert!(share.lower < 0.3303 && 0.3303 < share.upper, "{share:?}");
}

#[test]
fn two_clusters_have_two_modes() {
    let mut values = normals(60, 14);
    values
        .iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x += if i % 2 == 0 { 0.0 } else { 8.0 });
    let e = Density::new(&values).draws(1000).estimate().unwrap();
    let modes = e.modes();
    assert_eq!(modes.len(), 2, "{modes:?}");
    assert!(modes.iter().all(|m| m.probability > 0.95));
    assert_eq!(e.highest_density_region(0.8).len(), 2);
}

#[test]
fn the_published_prior_is_an_option() {
    let values = normals(100, 15);
    let e = Density::new(&values)
        .prior(Prior::Published)
        .draws(1000)
        .estimate()
        .unwrap();
    is_a_density(&e);
    assert_eq!(e.settings().len(), 1);
    // The standard error of a density estimate from 100 values, with a kernel of width 0.5, is some
    // 0.05.
    assert!((e.density_at(0.0) - 0.3989).abs() < 0.15);
}

/// Draws, and answers, are those of the seed.
#[test]
fn a_seed_repeats() {
    let values = normals(40, 16);
    let of = |seed| {
        Density::new(&values)
            .cells(80)
            .draws(300)
            .seed(seed)
            .estimate()
            .unwrap()
    };
    assert_eq!(of(1).upper(), of(1).upper());
    assert_ne!(of(1).upper(), of(2).upper());
}

/// A column that nobody would wish for, of one of fifteen kinds.
pub(in super::super) fn nasty(kind: usize, n: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    let mut x: Vec<f64> = (0..n).map(|_| normal()).collect();
    match kind {
        0 => x.iter_mut().for_each(|x| *x = (*x * 2.0).round()),
        1 => x
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x += if i % 2 == 0 { 0.0 } else { 1e6 }),
        2 => x.truncate(3),
        3 => x.iter_mut().for_each(|x| *x = (5.0 * *x).exp()),
        4 => x.iter_mut().for_each(|x| *x = (*x * 30.0).round().abs()),
        5 => x.iter_mut().for_each(|x| *x = 4.2),
        6 => {
            x.iter_mut().for_each(|x| *x = -7.0);
            x[0] = -6.0;
        }
        7 => x[0] = 1e12,
        8 => {
            x[0] = f64::NAN;
            x[1] = f64::INFINITY;
        }
        9 => x.clear(),
        10 => x.iter_mut().for_each(|x| *x *= 1e-280),
        11 => x.iter_mut().for_each(|x| *x *= 1e300),
        12 => x.iter_mut().for_each(|x| *x = 1e15 + x.round()),
        13 => x
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x = if i % 3 == 0 { 0.0 } else { x.tan() }),
        _ => x
            .iter_mut()
            .for_each(|x| *x = f64::from_bits(x.to_bits().rotate_left(7))),
    }
    x
}

/// Never a panic, nothing negative, everything sums to one, and doubts are told.
#[test]
fn a_thousand_nasty_samples() {
    let mut random = random(2026);
    let (mut answered, mut refused) = (0, 0);
    for i in 0..1000 {
        let kind = i % 15;
        let n = [3, 7, 40, 120][random.random_range(0..4)];
        let x = nasty(kind, n, &mut random);
        let positive = x.iter().all(|x| *x > 0.0) && random.random::<bool>();
        let mut d = Density::new(&x).cells(40).draws(150).seed(i as u64);
        if positive {
            d = d.log(true);
        }
        match d.estimate() {
            Ok(e) => {
                answered += 1;
                is_a_density(&e);
                assert!(e.quantile(0.5).value.is_finite());
                let doubtful = matches!(kind, 2 | 6 | 7 | 8) || (kind == 1 && x.len() >= 40);
                let log_tames = positive && kind == 7;
                assert!(
                    !doubtful || log_tames || !e.warnings().is_empty(),
                    "{kind}: {x:?}"
                );
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().len() > 30, "{error}");
                let allowed = matches!(kind, 0 | 4 | 5 | 8 | 9 | 10 | 11 | 12 | 14);
                assert!(allowed, "{kind}: {error} {x:?}");
            }
        }
    }
    assert!(answered > 600 && refused > 100, "{answered} {refused}");
}

#[test]
fn refusals_name_the_row() {
    let d = |x: &[f64]| {
        Density::new(x)
            .bounds(0.0, 1.0)
            .estimate()
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(
        d(&[0.2, 1.5, 0.3]),
        DensityError::Outside {
            row: 1,
            value: 1.5,
            lower: 0.0,
            upper: 1.0
        }
    );
    assert!(matches!(d(&[]), DensityError::TooFew { .. }));
    let logarithmic = Density::new(&[2.0, -0.5, 3.0]).log(true).estimate();
    let refused = logarithmic.map(|_| ()).unwrap_err();
    assert_eq!(
        refused,
        DensityError::NoLogarithm {
            row: 1,
            value: -0.5
        }
    );
    let wide = Density::new(&[0.2, 0.5]).range(-1e300, 1e300).estimate();
    assert!(matches!(wide, Err(DensityError::Setting { .. })));
    assert!(matches!(d(&[0.5, 0.5]), DensityError::Constant { .. }));
    let weighted = Density::new(&[1.0, 2.0]).weights(&[1.0, -1.0]).estimate();
    assert!(matches!(weighted, Err(DensityError::Weight { row: 1, .. })));
    let crossed = Density::from_intervals(&[1.0, 3.0], &[2.0, 2.5]).estimate();
    assert!(matches!(
        crossed,
        Err(DensityError::Interval { row: 1, .. })
    ));
    let idle = Density::from_intervals(&[f64::NEG_INFINITY; 2], &[f64::INFINITY; 2]).estimate();
    assert!(matches!(idle, Err(DensityError::SaysNothing)));
}

/// Of a million in bins the same is told as of twenty thousand, within the bin that holds it.
#[test]
fn large_counts_in_bins_are_taken_in_proportion() {
    let (lower, upper) = ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]);
    let counts = [2.5e5, 5e5, 2.5e5];
    let density = Density::from_bins(&lower, &upper, &counts).bounds(0.0, 3.0);
    let estimate = density.estimate().unwrap();
    let told = |warning: &Warning| matches!(warning, Warning::Proportional { .. });
    assert!(estimate.warnings().iter().any(told));
    let median = estimate.quantile(0.5);
    assert!(1.0 < median.lower && median.upper < 2.0, "{median:?}");
    let middle = estimate.probability(1.0, 2.0);
    // Half of twenty thousand: an sd of .0035.
    assert!(
        (middle.value - 0.5).abs() < 0.02 && middle.lower > 0.45,
        "{middle:?}"
    );
}

/// A row that leaves open all that is possible has the same probability under every density: what
/// is told is that of the others, but for the warning.
#[test]
fn rows_that_say_nothing_are_left_out() {
    let (inf, none) = (f64::INFINITY, f64::NEG_INFINITY);
    let told = |lower: &[f64], upper: &[f64], weights: &[f64], bounds: (f64, f64), log: bool| {
        let asked = Density::from_intervals(lower, upper).weights(weights);
        let asked = asked.bounds(bounds.0, bounds.1).log(log).draws(500);
        asked.estimate().unwrap()
    };
    for (open, bounds, log) in [
        ((none, inf), (none, inf), false),
        ((0.0, inf), (0.0, inf), false),
        ((-1.0, 12.0), (0.0, 10.0), false),
        ((0.0, inf), (none, inf), true),
    ] {
        let with = told(
            &[open.0, 0.0, 1.0, 2.0, open.0],
            &[open.1, 1.0, 2.0, inf, open.1],
            &[12.0, 3.0, 5.0, 4.0, 0.0],
            bounds,
            log,
        );
        let without = told(
            &[0.0, 1.0, 2.0],
            &[1.0, 2.0, inf],
            &[3.0, 5.0, 4.0],
            bounds,
            log,
        );
        assert_eq!(with.edges(), without.edges(), "{open:?}");
        assert_eq!(with.density(), without.density(), "{open:?}");
        let (first, others) = with.warnings().split_first().unwrap();
        let expected = Warning::Everywhere {
            count: 1,
            rows: 5,
            first: 0,
        };
        assert_eq!((first, others), (&expected, without.warnings()), "{open:?}");
    }
}

#[test]
fn what_is_asked_at_nan_is_nan_and_ends_come_in_either_order() {
    let found = Density::new(&normals(40, 3)).draws(500).estimate().unwrap();
    assert_eq!(found.probability(1.0, -1.0), found.probability(-1.0, 1.0));
    let nan = f64::NAN;
    let none = [
        found.cdf(nan),
        found.quantile(nan),
        found.probability(nan, 0.0),
        found.probability(0.0, nan),
    ];
    assert!(
        none.iter()
            .all(|a| [a.value, a.lower, a.upper].iter().all(|x| x.is_nan()))
    );
    assert!(found.quantiles([0.5, nan])[0].value.is_finite());
}
