//! Whole estimates.

mod apart;
mod money;
mod rates;

use super::*;

/// Ten-year bands of a smooth population, the last one open.
pub(super) fn bands() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let from: Vec<f64> = (0..10).map(|b| 10.0 * f64::from(b)).collect();
    let mut to: Vec<f64> = from.iter().map(|x| x + 10.0).collect();
    to[9] = f64::INFINITY;
    let people = vec![
        4557.0, 4512.0, 4474.0, 4569.0, 4157.0, 4284.0, 3886.0, 2410.0, 1005.0, 271.0,
    ];
    (from, to, people)
}

/// Whether numbers agree within a part of the largest.
pub(super) fn agree(a: &[f64], b: &[f64], part: f64) -> bool {
    let most = b.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= part * most)
}

#[test]
fn every_draw_meets_every_band() {
    let (from, to, people) = bands();
    let years = Ungroup::new(&from, &to)
        .draws(400)
        .estimate(&people)
        .unwrap();
    let draws = years.draws(300);
    assert_eq!((draws.nrows(), draws.ncols()), (110, 300));
    for k in 0..300 {
        let draw = draws.col_as_slice(k);
        assert!(draw.iter().all(|x| *x >= 0.0));
        for (band, want) in people.iter().enumerate() {
            let end = if band == 9 { 110 } else { 10 * band + 10 };
            let got: f64 = draw[10 * band..end].iter().sum();
            // Draws meet the logarithm of every band to 1e-9.
            assert!((got / want - 1.0).abs() < 1e-9);
        }
    }
    assert!(years.effective() > 0.5, "{}", years.effective());
    assert!(years.warnings().is_empty(), "{:?}", years.warnings());
    // Intervals of another level come from the same draws.
    let (lower, upper) = years.intervals(0.95);
    assert!(agree(&lower, &years.lower(), 1e-12) && agree(&upper, &years.upper(), 1e-12));
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let (from, to, people) = bands();
    let order = [3, 9, 0, 7, 1, 2, 8, 4, 6, 5];
    let pick = |x: &[f64]| order.map(|i| x[i]);
    let want = Ungroup::new(&from, &to)
        .draws(200)
        .estimate(&people)
        .unwrap();
    let (lower, upper) = (pick(&from), pick(&to));
    let got = Ungroup::new(&lower, &upper).draws(200);
    let got = got.estimate(&pick(&people)).unwrap();
    assert_eq!(got.mean(), want.mean());
    assert_eq!(got.upper(), want.upper());
}

#[test]
fn the_unit_of_counts_does_not_matter_to_the_curve() {
    let (from, to, people) = bands();
    let builder = Ungroup::new(&from, &to).draws(200).expected();
    let want = builder.estimate(&people).unwrap().mean();
    let thousands: Vec<f64> = people.iter().map(|n| 1000.0 * n).collect();
    let got = builder.estimate(&thousands).unwrap().mean();
    let got: Vec<f64> = got.iter().map(|n| n / 1000.0).collect();
    // Roundings of logarithms pass through searches that end at a thousandth.
    assert!(agree(&got, &want, 1e-9));
    // An empty band is half of one who was asked, in any unit.
    let mut empty = people.clone();
    empty[4] = 0.0;
    let want = builder.estimate(&empty).unwrap().mean();
    let few: Vec<f64> = empty.iter().map(|n| n / 1000.0).collect();
    for some in [
        builder.clone().sampled(1000.0),
        builder.clone().sampled(1000.0).expected(),
    ] {
        let got = some.estimate(&few).unwrap().mean();
        let got: Vec<f64> = got.iter().map(|n| 1000.0 * n).collect();
        assert!(agree(&got, &want, 1e-9));
    }
    // Counts in thousands: so many were asked, and the chance of single people is the same.
    let counted = Ungroup::new(&from, &to).draws(200);
    let few: Vec<f64> = people.iter().map(|n| n / 1000.0).collect();
    let want = counted.estimate(&people).unwrap().sd();
    let got = counted.clone().sampled(1000.0).estimate(&few).unwrap().sd();
    let got: Vec<f64> = got.iter().map(|n| 1000.0 * n).collect();
    assert!(agree(&got, &want, 1e-9));
}

#[test]
fn an_even_population_has_even_years() {
    let from: Vec<f64> = (0..10).map(|b| 10.0 * f64::from(b)).collect();
    let to: Vec<f64> = from.iter().map(|x| x + 10.0).collect();
    let years = Ungroup::new(&from, &to).estimate(&[5000.0; 10]).unwrap();
    for (year, mean) in years.mean().into_iter().enumerate() {
        let sd = years.sd()[year];
        // Four standard errors of a thousand draws in pairs.
        assert!(
            (mean - 500.0).abs() < 4.0 * sd / 1000f64.sqrt() + 1.0,
            "{year}: {mean} +- {sd}"
        );
    }
    let median = years.quantile(0.5);
    // It is an edge, in every draw.
    assert!((median.value - 50.0).abs() < 1e-9, "{median:?}");
}

#[test]
fn what_is_told_already_is_given_back() {
    let from: Vec<f64> = (0..40).map(f64::from).collect();
    let to: Vec<f64> = from.iter().map(|x| x + 1.0).collect();
    let counts: Vec<f64> = from.iter().map(|x| 100.0 + x % 7.0).collect();
    let years = Ungroup::new(&from, &to).estimate(&counts).unwrap();
    assert_eq!(years.mean(), counts);
    assert!(years.sd().iter().all(|sd| *sd == 0.0));
    // Whole bands in any steps are known to the last digit.
    let (from, to, people) = bands();
    let builder = Ungroup::new(&from, &to).draws(200);
    let some = builder
        .edges(&[0.0, 20.0, 35.0, 40.0, f64::INFINITY])
        .estimate(&people)
        .unwrap();
    assert_eq!((some.mean()[0], some.sd()[0]), (9069.0, 0.0));
    assert_eq!(some.sd()[3], 0.0);
    assert!(some.sd()[1] > 0.0);
    // Rounding of averages of 200 draws of thousands: found is 9e-12.
    assert!((some.mean()[1] + some.mean()[2] - 9043.0).abs() < 1e-8);
}

#[test]
fn bands_without_width_are_refused() {
    let told = Ungroup::new(&[0.0, 1.0, 1.0 + 1e-9], &[1.0, 1.0 + 1e-9, 3.0]);
    let told = told.estimate(&[5.0, 6.0, 2.0]).unwrap_err();
    assert!(
        matches!(told, UngroupError::Narrow { row: 1, .. }),
        "{told}"
    );
    let (from, to, people) = bands();
    let told = Ungroup::new(&from, &to).tail(Tail::Exponential { rate: 1e9 });
    let told = told.estimate(&people).unwrap_err();
    assert!(
        matches!(told, UngroupError::Narrow { row: 9, .. }),
        "{told}"
    );
}

#[test]
fn empty_bands_hold_nobody() {
    let (from, to, mut people) = bands();
    people[2] = 0.0;
    people[9] = 0.0;
    let years = Ungroup::new(&from, &to)
        .draws(200)
        .estimate(&people)
        .unwrap();
    let mean = years.mean();
    assert!(mean[20..30].iter().chain(&mean[90..]).all(|n| *n == 0.0));
    // As above.
    assert!((mean[30..40].iter().sum::<f64>() - 4569.0).abs() < 1e-8);
}

#[test]
fn populations_together_are_those_by_themselves() {
    let (from, to, people) = bands();
    let other: Vec<f64> = people.iter().rev().copied().collect();
    let bad = vec![-1.0; 10];
    let builder = Ungroup::new(&from, &to).draws(200);
    let of = |counts| Population { counts, stream: 7 };
    let mut found = Vec::new();
    let all = [of(&people), of(&bad), of(&other)];
    builder
        .estimate_each(&all, |i, one| found.push((i, one)))
        .unwrap();
    assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [0, 1, 2]);
    let wrong = found[1].1.clone().unwrap_err();
    assert!(
        matches!(wrong, UngroupError::Count { row: 0, .. }),
        "{wrong}"
    );
    let mut alone = None;
    builder
        .estimate_each(&[of(&other)], |_, one| alone = Some(one))
        .unwrap();
    let alone = alone.unwrap().unwrap();
    assert_eq!(found[2].1.as_ref().unwrap().mean(), alone.mean());
}

#[test]
fn settings_out_of_range_are_refused() {
    let (from, to, people) = bands();
    let builder = || Ungroup::new(&from, &to);
    for (wrong, part) in [
        (builder().draws(10), "number of draws"),
        (builder().level(1.0), "the level"),
        (builder().sampled(0.0), "asked per one"),
        (builder().step(-1.0), "the step"),
        (builder().step(0.01), "cells are asked for"),
        (builder().last(85.0), "above 90"),
        (builder().first(1.0), "begins at 0"),
        (builder().tail(Tail::Exponential { rate: 0.0 }), "flat"),
        (builder().tail(Tail::Pareto), "logarithmic axis"),
        (builder().edges(&[0.0, 200.0]), "from 0 to 110"),
        (builder().edges(&[0.0, f64::NAN]), "above the one before"),
    ] {
        let told = wrong.estimate(&people).unwrap_err().to_string();
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Whatever is asked of a population is answered, or NaN where NaN is asked.
#[test]
fn odd_questions_have_answers() {
    let (from, to, people) = bands();
    let years = Ungroup::new(&from, &to)
        .draws(100)
        .estimate(&people)
        .unwrap();
    assert_eq!(years.quantile(50.0), years.quantile(1.0));
    assert_eq!(years.quantile(-0.1), years.quantile(0.0));
    assert_eq!(years.top_share(f64::INFINITY), years.top_share(1.0));
    assert_eq!(years.between(18.0, 0.0), years.between(0.0, 18.0));
    let none = [
        years.quantile(f64::NAN),
        years.top_share(f64::NAN).unwrap(),
        years.between(f64::NAN, 5.0),
        years.between(5.0, f64::NAN),
    ];
    assert!(
        none.iter()
            .all(|a| [a.value, a.lower, a.upper].iter().all(|x| x.is_nan()))
    );
    let draws = years.draws(0);
    assert_eq!((draws.nrows(), draws.ncols()), (110, 0));
}

/// An even number of people has a median between two of them: by symmetry the middle of the bands.
#[test]
fn the_median_of_few_people_is_between_two_of_them() {
    for counts in [vec![11.0, 10.0, 11.0], vec![5.0, 5.0, 5.0, 5.0]] {
        let n = counts.len() as f64;
        let edges: Vec<f64> = (0..=counts.len()).map(|i| 10.0 * i as f64).collect();
        let (lower, upper) = (&edges[..counts.len()], &edges[1..]);
        let years = Ungroup::new(lower, upper).estimate(&counts).unwrap();
        let median = years.quantile(0.5).value;
        // The median over draws, each of which is known to half a year.
        assert!((median - 5.0 * n).abs() < 0.5, "{counts:?}: {median}");
    }
}

/// Many people on a smooth curve leave so little of the prior of the roughness that one or two of
/// its draws explained them, and another seed had intervals of twice the width.
#[test]
fn a_smooth_population_has_the_same_intervals_for_every_seed() {
    let from: Vec<f64> = (0..20).map(|b| 5.0 * f64::from(b)).collect();
    let to: Vec<f64> = from.iter().map(|x| x + 5.0).collect();
    let people = |x: f64| 9e4 * (-(x / 60.0).powf(2.2)).exp();
    let five = |x: &f64| (0..5).map(|i| people(x + f64::from(i) + 0.5).round()).sum();
    let counts: Vec<f64> = from.iter().map(five).collect();
    let widths = |seed: u64| {
        let years = Ungroup::new(&from, &to).seed(seed);
        let years = years.estimate(&counts).unwrap();
        assert!(
            years.effective_settings() > 15.0,
            "{}",
            years.effective_settings()
        );
        let ages = [2, 22, 52, 72];
        ages.map(|age| years.upper()[age] - years.lower()[age])
    };
    let all = [1, 2, 3, 4].map(widths);
    for age in 0..4 {
        let each = all.map(|own| own[age]);
        let (least, most) = each
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(a, b), w| (a.min(*w), b.max(*w)));
        // Widths of settings differ by a half or so: means of 20 of them by an eighth.
        assert!(most < 1.4 * least, "{age}: {each:?}");
    }
}
