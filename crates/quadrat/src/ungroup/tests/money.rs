//! Bands of money: the axis, the tail, inequality.

use super::agree;
use crate::ungroup::{Tail, Ungroup, UngroupError};

/// Households of a lognormal distribution with the median 50,000 and the log sd .8, the last band
/// open at 100,000.
fn households() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let edges = [0.0, 10e3, 20e3, 30e3, 40e3, 50e3, 60e3, 75e3, 100e3];
    let below = |x: f64| crate::special::scalar::normal_cdf((x / 50e3).ln() / 0.8);
    let mut to = edges[1..].to_vec();
    to.push(f64::INFINITY);
    let count = |from: &f64, to: &f64| {
        let above = if to.is_finite() { below(*to) } else { 1.0 };
        (20_000.0 * (above - if *from > 0.0 { below(*from) } else { 0.0 })).round()
    };
    let counts = edges.iter().zip(&to).map(|(a, b)| count(a, b)).collect();
    (edges.to_vec(), to, counts)
}

#[test]
fn the_unit_of_money_does_not_matter() {
    let (from, to, counts) = households();
    let thousands = |x: &[f64]| x.iter().map(|x| x / 1000.0).collect::<Vec<f64>>();
    let want = Ungroup::new(&from, &to).log(true).draws(200);
    let want = want.estimate(&counts).unwrap();
    let (low, high) = (thousands(&from), thousands(&to));
    let got = Ungroup::new(&low, &high).log(true).draws(200);
    let got = got.estimate(&counts).unwrap();
    // Five parts of each closed band, and the open one.
    assert_eq!(got.edges().len(), 41);
    assert_eq!(got.edges()[40], (100.0, f64::INFINITY));
    // Roundings of logarithms pass through searches.
    assert!(agree(&got.mean(), &want.mean(), 1e-6));
    let (a, b) = (got.mean_value().value, want.mean_value().value);
    assert!((1000.0 * a / b - 1.0).abs() < 1e-6);
}

#[test]
fn inequality_of_a_lognormal_distribution_is_held() {
    let (from, to, counts) = households();
    let found = Ungroup::new(&from, &to)
        .log(true)
        .estimate(&counts)
        .unwrap();
    let median = found.quantile(0.5);
    // It is an edge, and half are below.
    assert!((median.value / 50e3 - 1.0).abs() < 1e-3, "{median:?}");
    let mean = found.mean_value();
    let truth = 50e3 * 0.32_f64.exp();
    assert!(mean.lower < truth && mean.upper > truth, "{mean:?}");
    // 2 Phi(sd / sqrt 2) - 1.
    let gini = found.gini().unwrap();
    assert!(gini.lower < 0.4284 && gini.upper > 0.4284, "{gini:?}");
    // 1 - Phi(z_{.9} - sd).
    let top = found.top_share(0.1).unwrap();
    let truth = 1.0 - crate::special::scalar::normal_cdf(1.281_551_565_544_6 - 0.8);
    assert!(top.lower < truth && top.upper > truth, "{top:?}");
    assert!((found.top_share(1.0).unwrap().value - 1.0).abs() < 1e-12);
    let all = found.between(0.0, f64::INFINITY);
    assert!((all.value / counts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn an_open_band_needs_a_tail() {
    let (from, to, counts) = households();
    let plain = Ungroup::new(&from, &to).edges(&[0.0, 50e3, f64::INFINITY]);
    let told = plain.estimate(&counts).unwrap_err();
    assert!(
        matches!(told, UngroupError::Open { edge } if edge == 100e3),
        "{told}"
    );
    // Mortality is told of ages in years, and nobody is a hundred thousand.
    let aged = plain.clone().tail(Tail::Gompertz).last(2e5);
    let told = aged.estimate(&counts).unwrap_err().to_string();
    assert!(told.contains("ages in years"), "{told}");
    let falls = plain.tail(Tail::Exponential { rate: 2e-5 });
    let found = falls.draws(200).estimate(&counts).unwrap();
    let (tail, edge, end) = found.tail().unwrap();
    assert_eq!((tail, edge), (Tail::Exponential { rate: 2e-5 }, 100e3));
    // It has fallen by e^-8.
    assert!((end - 500e3).abs() < 1e-6);
    let below = Ungroup::new(&[-5.0, 0.0], &[0.0, 10.0]).log(true);
    let told = below.estimate(&[1.0, 2.0]).unwrap_err();
    assert!(
        matches!(told, UngroupError::NoLogarithm { row: 0, .. }),
        "{told}"
    );
}

#[test]
fn quantiles_of_a_sample_are_those_of_its_population() {
    // Incomes of 1,392 households asked, blown up to 11,600: their median is uncertain by the
    // sample, by 1.25 sds of the logarithm over the root of their number.
    let truth = 45_000.0_f64;
    let sd = 0.8;
    let share = |x: f64| crate::special::scalar::normal_cdf((x / truth).ln() / sd);
    let edges = [
        0.0,
        1e4,
        1.5e4,
        2.5e4,
        3.5e4,
        5e4,
        7.5e4,
        1e5,
        f64::INFINITY,
    ];
    let shares: Vec<f64> = edges
        .windows(2)
        .map(|e| share(e[1]) - share(e[0].max(1e-9)))
        .collect();
    let counts: Vec<f64> = shares.iter().map(|p| (1392.0 * p).round() / 0.12).collect();
    let width = |sampled: f64| {
        let asked = Ungroup::new(&edges[..8], &edges[1..])
            .log(true)
            .sampled(sampled);
        let median = asked.estimate(&counts).unwrap().quantile(0.5);
        assert!(median.lower < truth && truth < median.upper, "{median:?}");
        (median.upper / median.lower).ln() / (2.0 * 1.96)
    };
    let by_the_sample = 1.25 * sd / 1392_f64.sqrt() * (1.0_f64 - 0.12).sqrt();
    let (sampled, counted) = (width(0.12), width(1.0));
    // Besides the sample, the curve within the band is uncertain.
    assert!(sampled > by_the_sample, "{sampled} {by_the_sample}");
    assert!(sampled < 1.6 * by_the_sample, "{sampled} {by_the_sample}");
    assert!(counted < sampled);
}
