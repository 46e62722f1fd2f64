//! What instruments with limits report, against closed forms and sums.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Degrees;
use quadrat::likelihood::{
    Censored, Dispersion, Exponential, Interval, Likelihood, NegativeBinomial, Noise, Ordinal,
    Poisson, Side, StudentT, Thresholds, Truncated,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Limits, Mean, Model, Observations, Posterior, Prediction, Scale, Setting,
};
use quadrat::special::scalar::{normal_cdf, normal_pdf};
use quadrat::support::Functionals;

const INFINITE: f64 = f64::INFINITY;
const X: [f64; 4] = [0.0, 1.0, 2.0, 3.5];

fn fit(mean: f64, rows: impl Into<Likelihood>) -> Posterior {
    let at = Functionals::points("x", &X).unwrap();
    Model::new(Kernel::matern32(["x"]))
        .mean(Mean::Fixed(mean))
        .set("matern32.variance", Setting::fixed(1.0))
        .set("matern32.lengthscale.x", Setting::fixed(1.0))
        .observe(Observations::new(at, rows).unwrap())
        .fit(&FitOptions::default())
        .unwrap()
}

fn observed(posterior: &Posterior) -> Prediction {
    let at = Functionals::points("x", &[0.5, 2.5, 9.0]).unwrap();
    posterior.predict(&at, Scale::Observation).unwrap()
}

/// Of a gauge that stops at zero: m Phi(m / s) + s phi(m / s), a heap of Phi(-m / s) at zero.
#[test]
fn a_gauge_that_stops_at_zero_has_its_closed_form() {
    let sides = [Side::Left, Side::None, Side::Left, Side::None];
    let noise = Noise::Known(vec![0.3; 4]);
    let rows = Censored::new(vec![0.0, 0.7, 0.0, 1.1], &sides, noise).unwrap();
    let limits = Limits::shown(&rows.clone().into()).unwrap();
    assert_eq!((limits.lower(), limits.upper()), (0.0, f64::INFINITY));
    let value = observed(&fit(-0.2, rows));
    let report = value.clone().reported(limits);
    for row in 0..3 {
        let (m, s) = (value.mean()[row], value.sd()[row]);
        let z = m / s;
        let mean = m * normal_cdf(z) + s * normal_pdf(z);
        let square = (m * m + s * s) * normal_cdf(z) + m * s * normal_pdf(z);
        // Some ulps of numbers of order one.
        assert!((report.mean()[row] - mean).abs() < 1e-12, "{row}");
        assert!(
            (report.sd()[row] - (square - mean * mean).sqrt()).abs() < 1e-12,
            "{row}"
        );
        for p in [0.025, 0.5, 0.975] {
            assert_eq!(report.quantile(p)[row], value.quantile(p)[row].max(0.0));
        }
        // As above: some ulps.
        assert!((report.exceedance(0.0)[row] - normal_cdf(z)).abs() < 1e-12);
        assert!((report.log_density(&[0.0; 3])[row] - normal_cdf(-z).ln()).abs() < 1e-12);
        assert_eq!(report.cdf(&[-0.1; 3])[row], 0.0);
        assert_eq!(
            report.log_density(&[0.4; 3])[row],
            value.log_density(&[0.4; 3])[row]
        );
    }
}

/// Two limits, against a sum over the values before them.
#[test]
fn a_sensor_with_two_limits_is_a_sum_over_values() {
    let sides = [Side::Left, Side::None, Side::Right, Side::None];
    let rows = Censored::new(vec![-0.4, 0.7, 0.9, 0.1], &sides, Noise::Learned).unwrap();
    let limits = Limits::shown(&rows.clone().into()).unwrap();
    let value = observed(&fit(0.2, rows));
    let report = value.clone().reported(limits);
    let count = 4000;
    let levels = (0..count).map(|i| (f64::from(i) + 0.5) / f64::from(count));
    let all: Vec<Vec<f64>> = levels.map(|p| value.quantile(p)).collect();
    for row in 0..3 {
        let clipped = || all.iter().map(|values| values[row].clamp(-0.4, 0.9));
        let mean = clipped().sum::<f64>() / f64::from(count);
        let square = clipped().map(|y| (y - mean).powi(2)).sum::<f64>() / f64::from(count);
        // The midpoint rule over quantiles that end at the limits: (1 / 4000)^2 times slopes of
        // some units.
        assert!((report.mean()[row] - mean).abs() < 1e-6, "{row} {mean}");
        assert!((report.sd()[row] - square.sqrt()).abs() < 1e-6, "{row}");
    }
}

/// A hidden count stands as the largest number that it may be, a capped one as its cap.
#[test]
fn counts_are_reported_between_their_limits() {
    let (lower, upper) = (
        vec![0.0, 7.0, 0.0, 12.0],
        vec![4.0, 7.0, 4.0, f64::INFINITY],
    );
    let ones = vec![1.0; 4];
    let poisson = Poisson::ranges(lower.clone(), upper.clone(), ones.clone(), Link::Exp);
    let spread = Dispersion::Known(0.4);
    let other = NegativeBinomial::ranges(lower, upper, ones, Link::Exp, spread);
    for rows in [Likelihood::from(poisson.unwrap()), other.unwrap().into()] {
        let limits = Limits::shown(&rows).unwrap();
        assert_eq!((limits.lower(), limits.upper()), (4.0, 12.0));
        let value = observed(&fit(1.6, rows));
        // Of each row until next to nothing is above.
        let counts = (0..4000).map(|y| value.cdf(&[f64::from(y); 3]));
        let mut left = true;
        let below: Vec<Vec<f64>> = counts
            .take_while(|at| std::mem::replace(&mut left, at.iter().any(|at| 1.0 - at >= 1e-13)))
            .collect();
        for (lower, upper) in [(4.0, 12.0), (4.0, f64::INFINITY), (-1.0, 12.0)] {
            let report = value.clone().reported(Limits::new(lower, upper).unwrap());
            for row in 0..3 {
                let (mut mean, mut square, mut before) = (0.0, 0.0, 0.0);
                for (y, at) in below.iter().enumerate() {
                    let at = at[row];
                    let r = (y as f64).clamp(lower, upper);
                    mean += (at - before) * r;
                    square += (at - before) * r * r;
                    before = at;
                    if 1.0 - at < 1e-13 {
                        break;
                    }
                }
                let sd = (square - mean * mean).sqrt();
                // Tails of 1e-12 are left out on either side; far from all rows the rate is
                // log-normal with a sd of 1, and more lies beyond the 4,000 that are added up.
                let (near, wide) = match (row, upper.is_finite()) {
                    (2, false) => (1e-5, 1e-3),
                    _ => (1e-7, 1e-6),
                };
                let place = format!("{row} {lower} {upper}");
                assert!((report.mean()[row] / mean - 1.0).abs() < near, "{place}");
                assert!((report.sd()[row] / sd - 1.0).abs() < wide, "{place}");
                assert!(
                    report.quantile(0.001)[row] >= lower && report.quantile(0.999)[row] <= upper
                );
            }
            let hidden = value.cdf(&[4.0; 3])[0].ln();
            if lower == 4.0 {
                // Some ulps of a logarithm.
                assert!((report.log_density(&[4.0; 3])[0] - hidden).abs() < 1e-12);
            }
        }
    }
}

/// A prediction far from all rows under a prior of another variance.
fn far(mean: f64, variance: f64, rows: impl Into<Likelihood>) -> Prediction {
    let rows = rows.into();
    let x: Vec<f64> = (0..rows.rows()).map(|i| i as f64).collect();
    let at = Functionals::points("x", &x).unwrap();
    Model::new(Kernel::matern32(["x"]))
        .mean(Mean::Fixed(mean))
        .set("matern32.variance", Setting::fixed(variance))
        .set("matern32.lengthscale.x", Setting::fixed(1.0))
        .observe(Observations::new(at, rows).unwrap())
        .fit(&FitOptions::default())
        .unwrap()
        .predict(
            &Functionals::points("x", &[60.0]).unwrap(),
            Scale::Observation,
        )
        .unwrap()
}

/// Where nearly all counts lie beyond the cap, the report is the cap; below it likewise.
#[test]
fn a_report_never_lies_beyond_a_limit() {
    let row = Poisson::new(vec![101.0], vec![1.0], Link::Exp).unwrap();
    let value = far(100.0_f64.ln(), 1e-8, row);
    for (lower, upper, right) in [
        (0.0, 15.0, 15.0),
        (300.0, INFINITE, 300.0),
        (300.0, 400.0, 300.0),
    ] {
        let report = value.clone().reported(Limits::new(lower, upper).unwrap());
        // Tails beyond 1e-12 are left out.
        assert!((report.mean()[0] - right).abs() < 1e-9, "{report:?}");
        assert!(report.sd()[0] < 1e-4, "{:?}", report.sd());
        for p in [0.001, 0.5, 0.999] {
            assert_eq!(report.quantile(p)[0], right);
        }
    }
}

/// Values with tails that no even steps reach: a Student-t value of three degrees against an
/// integral of its distribution function in growing steps, an exponential one of a rate that is
/// log-normal against the closed form at every rate.
#[test]
fn heavy_tails_are_reported_whole() {
    let noise = Noise::Known(vec![1.0]);
    let row = StudentT::new(vec![1.0], noise, Degrees::Known(3.0)).unwrap();
    let value = far(1.0, 0.01, row);
    // Another formula than the library's: r = l + (y - l)^+, whose mean is int_l (1 - F).
    let upper = (0..40_000).map(|k| {
        let edge = |k: i32| (f64::from(k) / 40_000.0 * 1e6_f64.ln_1p()).exp_m1();
        let (a, b) = (edge(k), edge(k + 1));
        (b - a) * (1.0 - value.cdf(&[0.5 * (a + b)])[0])
    });
    let mean: f64 = upper.sum();
    let report = value.clone().reported(Limits::new(0.0, INFINITE).unwrap());
    // Steps of 3e-4 of their place; beyond 1e6 lies 1e-12.
    assert!(
        (report.mean()[0] - mean).abs() < 1e-4,
        "{} {mean}",
        report.mean()[0]
    );
    // Of both limits the same by parts; symmetric about the value's own mean.
    let both = value.clone().reported(Limits::new(-9.0, 11.0).unwrap());
    assert!((both.mean()[0] - 1.0).abs() < 1e-4 && both.sd()[0] < report.sd()[0] + 1.0);
    let under = value.reported(Limits::new(-INFINITE, 2.0).unwrap());
    // By symmetry about 1.
    assert!((under.mean()[0] - (2.0 - report.mean()[0])).abs() < 1e-4);
    assert!(
        (under.sd()[0] / report.sd()[0] - 1.0).abs() < 1e-3,
        "{under:?} {report:?}"
    );

    let limit = 0.2;
    let row = Exponential::new(vec![1.0], Link::Exp).unwrap();
    let value = far(0.0, 1.0, row).reported(Limits::new(limit, INFINITE).unwrap());
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for k in -900..=900 {
        let f = 0.01 * f64::from(k);
        let (weight, mean) = ((-0.5 * f * f).exp(), f.exp());
        let beyond = (-limit / mean).exp();
        total += weight;
        first += weight * (limit + mean * beyond);
        second += weight * (limit * limit + 2.0 * beyond * (limit * mean + mean * mean));
    }
    let mean = first / total;
    let sd = (second / total - mean * mean).sqrt();
    // The midpoint rule in steps of 1/50 of what is between the quartiles.
    assert!(
        (value.mean()[0] - mean).abs() < 1e-4,
        "{} {mean}",
        value.mean()[0]
    );
    assert!(
        (value.sd()[0] / sd - 1.0).abs() < 1e-3,
        "{} {sd}",
        value.sd()[0]
    );
}

/// The heap at an upper limit that lies nine standard deviations above the mean: log Phi(-9), as
/// below a lower one.
#[test]
fn heaps_far_out_have_a_logarithm() {
    let row = Censored::new(vec![0.1], &[Side::None], Noise::Known(vec![0.5])).unwrap();
    let value = far(0.0, 0.5, row);
    let limit = 9.0 * value.sd()[0];
    let report = value.reported(Limits::new(-limit, limit).unwrap());
    let right = quadrat::special::scalar::log_cdf(-9.0);
    for y in [-limit, limit] {
        let log = report.log_density(&[y])[0];
        // The prior is left to 1e-20 by a row 60 lengthscales away; ulps of the limit.
        assert!((log - right).abs() < 1e-9, "{y} {log} {right}");
    }
}

/// Where the report is the value, nothing changes.
#[test]
fn without_limits_a_report_is_an_observation() {
    let thresholds = Thresholds::Known(vec![0.0, 1.0]);
    let noise = || Noise::Known(vec![0.2; 4]);
    let all: [Likelihood; 3] = [
        Ordinal::new(vec![1, 2, 3, 2], thresholds, noise())
            .unwrap()
            .into(),
        StudentT::new(vec![0.1, 0.4, 2.0, 0.3], noise(), Degrees::Known(4.0))
            .unwrap()
            .into(),
        Poisson::new(vec![1.0, 4.0, 2.0, 3.0], vec![1.0; 4], Link::Exp)
            .unwrap()
            .into(),
    ];
    for rows in all {
        let limits = Limits::shown(&rows).unwrap();
        assert!(limits.is_none());
        let value = observed(&fit(0.3, rows));
        assert_eq!(value.clone().reported(limits), value);
    }
}

/// Limits that no row of one instrument can have are refused in words.
#[test]
fn instruments_without_one_report_are_refused() {
    let said = |rows: Likelihood| Limits::shown(&rows).unwrap_err().to_string();
    let bands = Interval::new(vec![0.0], vec![1.0], Noise::Learned).unwrap();
    assert!(said(bands.into()).contains("exceeds each edge"));
    let sides = [Side::Left, Side::Left];
    let mixed = Censored::new(vec![0.8, 2.0], &sides, Noise::Learned).unwrap();
    assert!(said(mixed.into()).contains("differ from row to row"));
    let ranges = Poisson::ranges(vec![1.0], vec![4.0], vec![1.0], Link::Exp).unwrap();
    assert!(said(ranges.into()).contains("intervals or ranges"));
    // Three is shown, although another cell hides what is below five.
    let shown = Poisson::ranges(vec![3.0, 0.0], vec![3.0, 4.0], vec![1.0; 2], Link::Exp).unwrap();
    assert!(said(shown.into()).contains("differ from row to row"));
    let kept = Truncated::new(vec![1.0], vec![0.5], vec![f64::INFINITY], Noise::Learned).unwrap();
    assert!(said(kept.into()).contains("records nothing beyond"));
    assert!(Limits::new(1.0, 1.0).is_err() && Limits::new(f64::NAN, 1.0).is_err());
}
