//! Conditional densities: laws that must hold, known truths, and samples nobody would wish for.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::{normals, random};
use crate::density::{
    Conditional, ConditionalEstimate, Correction, Density, DensityError, Warning,
};
use crate::special::scalar::{normal_cdf, normal_quantile};

/// `y = sin 3x + (0.2 + 0.4 x) e` at `x` spread evenly over the unit interval.
fn waves(n: usize, seed: u64) -> [Vec<f64>; 2] {
    let mut random = random(seed);
    let pairs = (0..n).map(|_| {
        let x: f64 = random.random();
        let e: f64 = StandardNormal.sample(&mut random);
        (x, (3.0 * x).sin() + (0.2 + 0.4 * x) * e)
    });
    let (x, y) = pairs.unzip();
    [x, y]
}

fn quick(x: &[f64], y: &[f64]) -> ConditionalEstimate {
    let density = Conditional::new(x, y).cells(16, 24).draws(400);
    density.correct(Correction::None).estimate().unwrap()
}

fn are_densities(estimate: &ConditionalEstimate, name: &str) {
    let n = estimate.shape()[1];
    let widths: Vec<f64> = estimate.edges(1).windows(2).map(|e| e[1] - e[0]).collect();
    for slice in estimate.density().chunks(n) {
        let sum: f64 = slice.iter().zip(&widths).map(|(p, w)| p * w).sum();
        // Sums of some hundred terms.
        assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
    }
    let all = estimate.density().iter().chain(estimate.lower());
    let all = all.chain(estimate.upper()).chain(estimate.sd());
    assert!(all.clone().all(|p| p.is_finite() && *p >= 0.0), "{name}");
    let bands = estimate.lower().iter().zip(estimate.upper());
    assert!(bands.clone().all(|(a, b)| a <= b), "{name}");
}

fn farthest(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
    a.zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn what_is_said_otherwise_has_the_same_answer() {
    let [x, y] = waves(150, 1);
    let want = quick(&x, &y);
    are_densities(&want, "as it is");
    let top = want.density().iter().copied().fold(0.0, f64::max);
    let near = |got: &ConditionalEstimate, by: f64, what: &str| {
        let scaled = got.density().iter().map(|p| by * p);
        let moved = farthest(scaled, want.density().iter().copied());
        // The scales of the columns differ in their last bits, and the search for hyperparameters
        // by what it makes of them.
        assert!(moved < 1e-8 * top, "{what}: {moved:e}");
    };
    let order: Vec<usize> = (0..150).map(|i| i * 37 % 150).collect();
    let of = |v: &[f64]| order.iter().map(|i| v[*i]).collect::<Vec<f64>>();
    near(&quick(&of(&x), &of(&y)), 1.0, "rows in another order");
    let units = |v: &[f64]| v.iter().map(|v| 1000.0 * v + 50.0).collect::<Vec<f64>>();
    near(&quick(&units(&x), &y), 1.0, "units of x");
    near(&quick(&x, &units(&y)), 1000.0, "units of y");
    let back = |v: &[f64]| v.iter().map(|v| -v).collect::<Vec<f64>>();
    let got = quick(&back(&x), &y);
    let turned = got.density().chunks(24).rev().flatten().copied();
    let moved = farthest(turned, want.density().iter().copied());
    // As above.
    assert!(moved < 1e-8 * top, "x backwards: {moved:e}");
}

#[test]
fn slices_follow_the_truth_and_answers_each_other() {
    let [x, y] = waves(600, 3);
    let estimate = Conditional::new(&x, &y)
        .cells(20, 60)
        .draws(2000)
        .estimate()
        .unwrap();
    assert!(estimate.is_weighted(), "{}", estimate.effective_size());
    are_densities(&estimate, "waves");
    let curves = estimate.quantile_curves([0.1, 0.5, 0.9]);
    let [mean, sd] = estimate.moment_curves();
    let above = estimate.probability_curve((0.0, f64::INFINITY));
    let mut outside = 0;
    for (i, x) in mean.places.iter().enumerate() {
        let (centre, width) = ((3.0 * x).sin(), 0.2 + 0.4 * x);
        let quantiles = [0.1, 0.5, 0.9].map(|p| centre + width * normal_quantile(p));
        let truths = [centre, width, normal_cdf(centre / width)];
        let told = [&mean, &sd, &above].into_iter().zip(truths);
        for (curve, truth) in told.chain(curves.iter().zip(quantiles)) {
            assert!(curve.lower[i] <= curve.value[i] && curve.value[i] <= curve.upper[i]);
            outside += usize::from(truth < curve.lower[i] || truth > curve.upper[i]);
        }
    }
    // Of 120 numbers a twentieth are outside on average, in runs of neighbours.
    assert!(outside <= 24, "{outside}");
    // One place is answered as all are.
    let slice = estimate.slice(0.42).unwrap();
    let one = estimate.quantile(0.42, 0.9).unwrap();
    assert_eq!(one.value, curves[2].value[slice]);
    assert_eq!(estimate.moments(0.42).unwrap()[0].upper, mean.upper[slice]);
    let all = estimate.probability(0.42, (f64::NEG_INFINITY, f64::INFINITY));
    assert!((all.unwrap().lower - 1.0).abs() < 1e-9);
    assert_eq!(estimate.quantile(1.5, 0.5), None);
    // Draws average to the density: errors of 400 draws at a relative sd of up to one.
    let draws = estimate.draws(400, 3);
    let cell = estimate.cell(0.42, (3.0_f64 * 0.42).sin()).unwrap();
    let average = (0..400).map(|k| draws[(cell, k)]).sum::<f64>() / 400.0;
    assert!((average / estimate.density()[cell] - 1.0).abs() < 0.2);
}

#[test]
fn a_column_that_says_nothing_leaves_the_density_of_the_other() {
    let [x, y] = normals(300, 0.0, 6);
    let estimate = Conditional::new(&x, &y)
        .cells(20, 60)
        .draws(2000)
        .estimate()
        .unwrap();
    let line = Density::new(&y).cells(60).draws(2000).estimate().unwrap();
    // The same cells of y.
    assert!(farthest(line.places().into_iter(), estimate.places(1).into_iter()) < 1e-9);
    let slice = estimate.slice(0.0).unwrap();
    for j in 0..60 {
        let (lower, upper) = (
            estimate.lower()[slice * 60 + j],
            estimate.upper()[slice * 60 + j],
        );
        if line.density()[j] > 0.05 {
            assert!(
                line.density()[j] > lower && line.density()[j] < upper,
                "{j}"
            );
            // What is known at one place is no more than what is known of all.
            assert!(
                upper - lower > 0.8 * (line.upper()[j] - line.lower()[j]),
                "{j}"
            );
        }
    }
}

#[test]
fn empty_slices_are_filled_from_beside() {
    let [mut x, y] = waves(400, 5);
    // Nothing between 0.35 and 0.65.
    x.iter_mut()
        .for_each(|x| *x = if *x < 0.5 { 0.7 * *x } else { 0.3 + 0.7 * *x });
    let estimate = Conditional::new(&x, &y)
        .cells(30, 40)
        .draws(1000)
        .estimate()
        .unwrap();
    are_densities(&estimate, "a gap");
    let empty = estimate
        .slice_totals()
        .iter()
        .filter(|t| **t == 0.0)
        .count();
    assert!((6..=12).contains(&empty), "{empty}");
    let width = |at: f64| {
        let median = estimate.quantile(at, 0.5).unwrap();
        median.upper - median.lower
    };
    // Less is known in the middle of the gap than beside it.
    assert!(
        width(0.5) > 1.3 * width(0.3),
        "{} {}",
        width(0.5),
        width(0.3)
    );
    // The curve of medians is continuous across it: from sin 1.5 to sin 1.5.
    let median = estimate.quantile(0.5, 0.5).unwrap();
    assert!(median.lower < 1.0 && median.upper > 1.0, "{median:?}");
}

#[test]
fn bands_hold_what_they_say() {
    let (mut held, mut all) = (0.0, 0.0);
    for seed in 0..12 {
        let [x, y] = waves(200, 100 + seed);
        let estimate = Conditional::new(&x, &y)
            .cells(15, 40)
            .draws(800)
            .level(0.9)
            .estimate()
            .unwrap();
        let (places, edges) = (estimate.places(0), estimate.edges(1));
        for (cell, (lower, upper)) in estimate.lower().iter().zip(estimate.upper()).enumerate() {
            let (i, j) = (cell / 40, cell % 40);
            let (centre, sd) = ((3.0 * places[i]).sin(), 0.2 + 0.4 * places[i]);
            let z = [edges[j], edges[j + 1]].map(|y| (y - centre) / sd);
            // Over the central 90 % of the mass.
            if z[0] > -1.645 && z[1] < 1.645 {
                let truth = (normal_cdf(z[1]) - normal_cdf(z[0])) / (edges[j + 1] - edges[j]);
                held += f64::from(u8::from(*lower < truth && truth < *upper));
                all += 1.0;
            }
        }
    }
    let share = held / all;
    // Twelve samples say the share to about 0.03.
    assert!((0.82..=0.98).contains(&share), "{share}");
}

/// A sample, and whether its warning is the right one.
type Nasty = (&'static str, Vec<f64>, Vec<f64>, fn(&Warning) -> bool);

fn is_of_column(warning: &Warning, wanted: usize, of: fn(&Warning) -> bool) -> bool {
    matches!(warning, Warning::Column { column, warning } if *column == wanted && of(warning))
}

#[test]
fn nasty_samples_are_told() {
    let [x, y] = waves(60, 8);
    let mut far = [x.clone(), y.clone()];
    far.iter_mut().for_each(|v| v[7] = 1e12);
    let [far_x, far_y] = far;
    let steps = |v: &[f64], by: f64| v.iter().map(|v| (by * v).round()).collect::<Vec<f64>>();
    let line: Vec<f64> = x.iter().map(|x| 2.0 * x + 1.0).collect();
    let samples: [Nasty; 7] = [
        ("two places", steps(&x, 1.0), y.clone(), |w| {
            matches!(
                w,
                Warning::Empty {
                    empty: 14,
                    slices: 16
                }
            )
        }),
        ("two values", x.clone(), steps(&x, 1.0), |w| {
            is_of_column(w, 1, |w| matches!(w, Warning::Ties { .. }))
        }),
        ("far place", far_x, y.clone(), |w| {
            is_of_column(w, 0, |w| matches!(w, Warning::Outlier { .. }))
        }),
        ("far value", x.clone(), far_y, |w| {
            is_of_column(w, 1, |w| matches!(w, Warning::Outlier { .. }))
        }),
        ("two rows", vec![0.0, 1.0], vec![0.0, 1.0], |w| {
            matches!(w, Warning::Few { rows: 2 })
        }),
        ("a line", x.clone(), line.clone(), |w| {
            matches!(w, Warning::Dependent { .. })
        }),
        ("a line of many slices", x.clone(), line, |w| {
            matches!(w, Warning::Steep { .. } | Warning::Coarse { .. })
        }),
    ];
    for (name, x, y, is_told) in samples {
        let estimate = Conditional::new(&x, &y)
            .cells(16, 30)
            .draws(400)
            .estimate()
            .unwrap();
        are_densities(&estimate, name);
        let warnings = estimate.warnings();
        assert!(warnings.iter().any(is_told), "{name}: {warnings:?}");
    }
}

#[test]
fn nothing_panics_or_is_no_density() {
    let mut random = random(77);
    let mut answered = 0;
    for case in 0..300 {
        let n = [2, 3, 5, 20, 60][random.random_range(0..5)];
        let mut column = |kind: u32| -> Vec<f64> {
            let normal =
                |random: &mut rand_chacha::ChaCha8Rng| -> f64 { StandardNormal.sample(random) };
            let mut out: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
            match kind {
                0 => {}
                1 => out.iter_mut().for_each(|x| *x = x.round()),
                2 => out.iter_mut().for_each(|x| *x = (5.0 * *x).exp()),
                3 => out[0] = 1e12,
                4 => out.iter_mut().step_by(2).for_each(|x| *x += 1e6),
                5 => out.iter_mut().skip(1).for_each(|x| *x = 4.0),
                6 => out.iter_mut().for_each(|x| *x *= 1e-300),
                7 => out.iter_mut().for_each(|x| *x *= 1e200),
                _ => out[n / 2] = f64::NAN,
            }
            out
        };
        let (a, b) = (case % 9, case / 9 % 9);
        let (x, y) = (column(a), column(b));
        let weights: Vec<f64> = (0..n).map(|_| 1e3 * random.random::<f64>()).collect();
        let mut density = Conditional::new(&x, &y).cells(6, 12).draws(100);
        if case % 4 == 0 {
            density = density.weights(&weights);
        }
        match density.estimate() {
            Ok(estimate) => {
                answered += 1;
                are_densities(&estimate, &format!("case {case}"));
                let [low, high] = estimate.quantile_curves([0.2, 0.8]);
                let order = low.value.iter().zip(&high.value);
                assert!(order.clone().all(|(a, b)| a <= b), "case {case}");
                if n < 20 {
                    assert!(
                        !estimate.warnings().is_empty() || case % 4 == 0,
                        "case {case}"
                    );
                }
            }
            // In words.
            Err(error) => assert!(error.to_string().len() > 20, "case {case}"),
        }
    }
    // Those that are refused are constant, too few or beyond double precision.
    assert!(answered > 200, "{answered}");
}

#[test]
fn what_is_no_sample_is_refused() {
    let [x, y] = waves(30, 8);
    let constant = [3.0; 30];
    let error = Conditional::new(&constant, &y).estimate().unwrap_err();
    assert!(
        matches!(error, DensityError::OnePlace { rows: 30, .. }),
        "{error}"
    );
    let error = Conditional::new(&x, &constant).estimate().unwrap_err();
    assert!(
        matches!(error, DensityError::Column { column: 1, .. }),
        "{error}"
    );
    let error = Conditional::new(&x, &y[..20]).estimate().unwrap_err();
    assert!(matches!(error, DensityError::Lengths { .. }), "{error}");
    let error = Conditional::new(&x, &y)
        .bounds(0.0, 0.5)
        .estimate()
        .unwrap_err();
    assert!(error.to_string().contains("column 2: row"), "{error}");
    for (given, values) in [(301, 20), (4, 20), (20, 1001), (200, 900)] {
        let error = Conditional::new(&x, &y)
            .cells(given, values)
            .estimate()
            .unwrap_err();
        assert!(matches!(error, DensityError::Setting { .. }), "{error}");
    }
}

#[test]
fn draws_that_are_too_uneven_for_weights_still_keep_to_the_rows() {
    // Eight kinds of days, each narrow beside all of them together: at every place most of the
    // range is empty, and Laplace's normal knows no reason why.
    let mut random = random(21);
    let places: Vec<f64> = (0..480).map(|i| f64::from(i % 8)).collect();
    let centre = |x: f64| 4.0 * (2.0 * x).sin();
    let values: Vec<f64> = places
        .iter()
        .map(|x| {
            let e: f64 = StandardNormal.sample(&mut random);
            centre(*x) + 0.3 * e
        })
        .collect();
    let density = Conditional::new(&places, &values).cells(8, 80).draws(4000);
    let estimate = density.estimate().unwrap();
    are_densities(&estimate, "narrow");
    let is_told = |w: &Warning| matches!(w, Warning::Unweighted { .. });
    assert!(estimate.warnings().iter().any(is_told) && !estimate.is_weighted());
    let curves = estimate.quantile_curves([0.05, 0.5, 0.95]);
    for i in 0..8 {
        for (curve, z) in curves.iter().zip([-1.645, 0.0, 1.645]) {
            let truth = centre(curve.places[i].round()) + 0.3 * z;
            // Of 60 rows a quantile is known to about 0.3 * 2 / sqrt 60 = 0.08; Laplace's draws had
            // intervals of the whole range, 16.
            assert!(curve.upper[i] - curve.lower[i] < 0.8, "{i}: {curve:?}");
            assert!(
                (curve.value[i] - truth).abs() < 0.35,
                "{i}: {truth} {curve:?}"
            );
        }
    }
}

#[test]
fn few_even_places_have_a_slice_each() {
    let [_, y] = normals(210, 0.0, 4);
    for n in [2, 7] {
        let places: Vec<f64> = (0..210).map(|i| f64::from(i % n)).collect();
        let values: Vec<f64> = places.iter().zip(&y).map(|(x, y)| x + y).collect();
        let density = Conditional::new(&places, &values).draws(1000);
        let estimate = density.estimate().unwrap();
        are_densities(&estimate, "places");
        assert_eq!(estimate.shape(), [n as usize, 100]);
        for (i, place) in estimate.places(0).into_iter().enumerate() {
            // Middles go through the axis and back.
            assert!((place - i as f64).abs() < 1e-9, "{place}");
            let [mean, _] = estimate.moments(place).unwrap();
            // The mean of at least 30 values, to four standard errors.
            assert!((mean.value - place).abs() < 0.75, "{i}: {mean:?}");
        }
    }
}
