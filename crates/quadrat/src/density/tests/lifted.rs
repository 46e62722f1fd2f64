//! Densities of bins whose draws are uneven: what is known of a bin is known of the density.

use rand::RngExt;

use super::random;
use crate::density::{Density, Density2d, Warning};

/// Counts that no smooth curve has: from 5 to 200 in each bin.
fn rough(bins: usize, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    (0..bins)
        .map(|_| random.random_range(5..=200_u32).into())
        .collect()
}

fn is_lifted(warnings: &[Warning]) -> bool {
    warnings.iter().any(|w| matches!(w, Warning::Lifted { .. }))
}

/// The probability of a bin is nearly as certain as its count: its standard deviation is that of a
/// share of all rows, and less where neighbours say something of it too.
#[test]
fn bins_are_as_certain_as_their_counts() {
    let counts = rough(20, 3);
    let all: f64 = counts.iter().sum();
    let edge = |i: usize| i as f64 / 20.0;
    let lower: Vec<f64> = (0..20).map(edge).collect();
    let upper: Vec<f64> = (1..=20).map(edge).collect();
    let density = Density::from_bins(&lower, &upper, &counts)
        .bounds(0.0, 1.0)
        .level(0.95);
    let estimate = density.estimate().unwrap();
    assert!(is_lifted(estimate.warnings()), "{:?}", estimate.warnings());
    for (i, count) in counts.iter().enumerate() {
        let told = estimate.probability(lower[i], upper[i]);
        let share = count / all;
        // 2,000 draws tell a standard deviation to 2 %, and quantiles at 2.5 % to 6 %.
        let sd = (share * (1.0 - share) / all).sqrt();
        let width = (told.upper - told.lower) / (2.0 * 1.96);
        assert!(width < 1.15 * sd && width > 0.5 * sd, "{i}: {width} {sd}");
        assert!(
            (told.value - share).abs() < 2.0 * sd,
            "{i}: {} {share}",
            told.value
        );
    }
}

/// More of the same rows make it more certain: without moving, intervals of 1,000 values in three
/// bins reached far beyond those of 100.
#[test]
fn ten_times_the_rows_say_more() {
    let (lower, upper) = ([0.0, 10.0, 20.0], [10.0, 20.0, f64::INFINITY]);
    let of = |times: f64| {
        let counts = [24.0 * times, 73.0 * times, 3.0 * times];
        let density = Density::from_bins(&lower, &upper, &counts).bounds(0.0, f64::INFINITY);
        density.estimate().unwrap()
    };
    for times in [10.0, 41_000.0] {
        let estimate = of(times);
        let [median, low] = estimate.quantiles([0.5, 0.2]);
        // Of all values 24 % lie below 10 and 97 % below 20.
        assert!(median.lower > 10.0 && median.upper < 20.0, "{median:?}");
        assert!(low.lower > 1.0 && low.upper < 10.5, "{low:?}");
    }
}

#[test]
fn boxes_are_as_certain_as_their_counts() {
    let counts = rough(36, 2);
    let all: f64 = counts.iter().sum();
    let edge = |i: usize| i as f64 / 6.0;
    let first = |by: usize| -> Vec<f64> { (0..36).map(|i| edge(i / 6 + by)).collect() };
    let second = |by: usize| -> Vec<f64> { (0..36).map(|i| edge(i % 6 + by)).collect() };
    let (a, b, c, d) = (first(0), first(1), second(0), second(1));
    let unit = (0.0, 1.0);
    let density = Density2d::from_bins([&a, &b], [&c, &d], &counts).bounds(unit, unit);
    let estimate = density.cells(30, 30).estimate().unwrap();
    assert!(is_lifted(estimate.warnings()), "{:?}", estimate.warnings());
    for (i, count) in counts.iter().enumerate() {
        let told = estimate.probability((a[i], b[i]), (c[i], d[i]));
        let share = count / all;
        let sd = (share * (1.0 - share) / all).sqrt();
        let width = (told.upper - told.lower) / (2.0 * 1.96);
        // Of few rows the interval is longer upwards than a normal one.
        let most = 1.2 + 1.0 / count.sqrt();
        assert!(width < most * sd && width > 0.5 * sd, "{i}: {width} {sd}");
        assert!(
            (told.value - share).abs() < 2.0 * sd,
            "{i}: {} {share}",
            told.value
        );
    }
}

/// A bin of half a percent of the range with two fifths of the rows, and one of nobody.
#[test]
fn narrow_bins_and_empty_ones_hold_what_their_counts_say() {
    let (lower, upper) = ([0.0, 50.0, 50.5], [50.0, 50.5, 90.0]);
    let density = Density::from_bins(&lower, &upper, &[150.0, 200.0, 150.0]);
    let estimate = density.bounds(0.0, 100.0).estimate().unwrap();
    let told = estimate.probability(50.0, 50.5);
    // 200 of 500: the standard deviation is .0219, of which 2,000 draws tell an end to a tenth.
    assert!(told.lower > 0.345 && told.lower < 0.37, "{told:?}");
    assert!(told.upper > 0.43 && told.upper < 0.455, "{told:?}");
    // Nobody of 500 lies beyond: (1/40)^(1/500) = 1 - .0074.
    let beyond = estimate.probability(90.0, 100.0);
    assert!(beyond.upper < 0.0085, "{beyond:?}");
}
