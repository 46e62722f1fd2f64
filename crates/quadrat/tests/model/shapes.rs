//! Functions held to shapes: every draw has it, errors get smaller, and intervals hold the truth.

use quadrat::error::{FitError, InputError};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Inference, Model, Noise, Observations, Posterior, Scale, Shape};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A curve from 0 to 10 and the shape it has.
type Truth = (&'static str, Shape, fn(f64) -> f64);

const TRUTHS: [Truth; 8] = [
    ("dose", Shape::Rising, |x| {
        1.0 / (1.0 + ((5.0 - x) / 0.6).exp())
    }),
    ("gentle dose", Shape::Rising, |x| {
        1.0 / (1.0 + ((4.0 - x) / 1.5).exp())
    }),
    ("growth", Shape::Rising, |x| 1.0 - (-x / 2.5).exp()),
    ("share", Shape::Rising, |x| (x / 10.0).powi(3)),
    ("flat", Shape::Rising, |x| 0.02 * x),
    ("growth", Shape::Concave, |x| 1.0 - (-x / 2.5).exp()),
    ("share", Shape::Convex, |x| (x / 10.0).powi(3)),
    (
        "share",
        Shape::Between {
            lower: 0.0,
            upper: 1.0,
        },
        |x| (x / 10.0).powi(3),
    ),
];

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (
        random.random_range(1e-300..1.0),
        random.random_range(0.0..1.0),
    );
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Rows about a curve with noise of a tenth of its range.
fn fitted(f: fn(f64) -> f64, kernel: &str, seed: u64) -> (Posterior, (f64, f64)) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..20)
        .map(|i| 0.5 * (f64::from(i) + random.random_range(0.2..0.8)))
        .collect();
    let y = x
        .iter()
        .map(|&x| f(x) + 0.1 * normal(&mut random))
        .collect();
    let set = Functionals::points("x", &x).unwrap();
    let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
    let model = Model::new(Kernel::parse(kernel).unwrap()).observe(table);
    (model.fit(&FitOptions::default()).unwrap(), (x[0], x[19]))
}

/// Share of the truth within 95 % intervals, their width, and the squared error of the mean.
#[derive(Debug, Clone, Copy, Default)]
struct Judged {
    held: f64,
    width: f64,
    error: f64,
}

/// Of a curve without and with its shape, between the rows, over so many tables.
fn judged((_, shape, f): Truth, kernel: &str, tables: u64) -> [Judged; 2] {
    const PLACES: usize = 41;
    const DRAWS: usize = 1000;
    let mut all = [Judged::default(); 2];
    for seed in 0..tables {
        let (posterior, (from, to)) = fitted(f, kernel, seed);
        let x: Vec<f64> = (0..PLACES)
            .map(|i| from + (to - from) * i as f64 / (PLACES - 1) as f64)
            .collect();
        let at = Functionals::points("x", &x).unwrap();
        let free = posterior.predict(&at, Scale::Latent).unwrap();
        let shaped = posterior
            .shaped(&[shape], None, None, (DRAWS, seed))
            .unwrap();
        let draws = shaped.at(&at).unwrap();
        let (lower, upper) = (free.quantile(0.025), free.quantile(0.975));
        for i in 0..PLACES {
            let mut own: Vec<f64> = (0..DRAWS).map(|j| draws[(i, j)]).collect();
            own.sort_by(f64::total_cmp);
            let mean = own.iter().sum::<f64>() / DRAWS as f64;
            let ends = [
                (free.mean()[i], lower[i], upper[i]),
                (mean, own[24], own[974]),
            ];
            let count = (PLACES as u64 * tables) as f64;
            for (judged, (mean, lower, upper)) in all.iter_mut().zip(ends) {
                let truth = f(x[i]);
                judged.held += f64::from(u8::from(lower <= truth && truth <= upper)) / count;
                judged.width += (upper - lower) / count;
                judged.error += (mean - truth).powi(2) / count;
            }
        }
    }
    all
}

/// Errors of the mean get no larger, and intervals hold the truth about as often as without the
/// shape: 8 tables of 41 places, whose errors go together, tell a share to some .03.
#[test]
fn a_shape_costs_no_coverage_and_takes_error_away() {
    for truth in [TRUTHS[0], TRUTHS[4], TRUTHS[6], TRUTHS[7]] {
        let [free, held] = judged(truth, "se(x)", 8);
        assert!(
            held.held > free.held - 0.04,
            "{} {free:?} {held:?}",
            truth.0
        );
        // The projection is a contraction; 1,000 draws leave a thousandth of the variance.
        assert!(
            held.error < 1.02 * free.error,
            "{} {free:?} {held:?}",
            truth.0
        );
        assert!(held.width < free.width, "{} {free:?} {held:?}", truth.0);
    }
}

/// The table of `docs/keys/shapes.md`.
#[test]
#[ignore = "some minutes; ./check --long"]
fn intervals_of_shapes_are_calibrated_over_200_tables() {
    let tables = std::env::var("TABLES").map_or(200, |n| n.parse().unwrap());
    for kernel in ["se(x)", "matern32(x)"] {
        for truth in TRUTHS {
            let [free, held] = judged(truth, kernel, tables);
            let (name, shape, _) = truth;
            println!("{kernel} {name} {shape:?}: {free:.4?} {held:.4?}");
            assert!(held.held > 0.93, "{name} {held:?}");
            assert!(held.error < 1.01 * free.error, "{name} {free:?} {held:?}");
        }
    }
}

#[test]
fn every_draw_has_the_shape_at_and_between_places_and_in_boxes() {
    let (posterior, _) = fitted(TRUTHS[4].2, "matern12(x)", 3);
    let shapes = [
        Shape::Between {
            lower: 0.0,
            upper: 0.2,
        },
        Shape::Rising,
    ];
    let shaped = posterior
        .shaped(&shapes, Some((-2.0, 12.0)), None, (50, 1))
        .unwrap();
    let x: Vec<f64> = (0..300)
        .map(|i| -2.0 + 14.0 * f64::from(i) / 299.0)
        .collect();
    let mut at = Functionals::points("x", &x).unwrap();
    at.push_box(&[(1.0, 3.0)], Aggregate::Sum).unwrap();
    let draws = shaped.at(&at).unwrap();
    for draw in 0..50 {
        let own = draws.col_as_slice(draw);
        // Rounding of two products of numbers below one.
        assert!(own[..300].windows(2).all(|v| v[1] >= v[0] - 1e-15));
        assert!(own[..300].iter().all(|v| (0.0..=0.2).contains(v)));
        assert!((0.0..=0.4).contains(&own[300]));
    }
}

/// Inducing points, other reports than normal ones and several outputs are drawn from alike.
#[test]
fn shapes_are_of_any_inference_and_output() {
    let (posterior, _) = fitted(TRUTHS[1].2, "se(x)", 5);
    let tables = posterior.observations().to_vec();
    let sparse = FitOptions::default().with_inference(Inference::Sparse);
    let model = Model::new(Kernel::se(["x"])).observe(tables[0].clone());
    let sparse = model.fit(&sparse).unwrap();
    assert!(sparse.inducing().is_some());
    let kernel = Kernel::coregion("site", vec!["a", "b"], 1) * Kernel::se(["x"]);
    let two = Model::new(kernel)
        .observe(tables[0].clone().of_output("a"))
        .observe(tables[0].clone().of_output("b"));
    let two = two.fit(&FitOptions::default()).unwrap();
    for (posterior, output) in [(&sparse, None), (&two, Some("b"))] {
        let shaped = posterior
            .shaped(&[Shape::Rising], None, output, (20, 1))
            .unwrap();
        let draws = shaped
            .at(&Functionals::points("x", shaped.places()).unwrap())
            .unwrap();
        assert!((0..20).all(|j| draws.col_as_slice(j).windows(2).all(|v| v[1] >= v[0])));
    }
}

#[test]
fn what_has_no_shape_is_refused() {
    let (posterior, _) = fitted(TRUTHS[1].2, "se(x)", 5);
    let refused = |posterior: &Posterior, shapes: &[Shape]| {
        let found = posterior.shaped(shapes, None, None, (5, 1));
        matches!(found, Err(FitError::Input(InputError::Unavailable { .. })))
    };
    let bounds = Shape::Between {
        lower: 1.0,
        upper: 1.0,
    };
    for shapes in [
        &[][..],
        &[bounds],
        &[Shape::Rising, Shape::Falling],
        &[
            Shape::Convex,
            Shape::Between {
                lower: 0.0,
                upper: 1.0,
            },
        ],
    ] {
        assert!(refused(&posterior, shapes), "{shapes:?}");
    }
    let mut set = Functionals::new(vec!["x".into(), "z".into()]);
    (0..6).for_each(|i| set.push_point(&[f64::from(i), f64::from(i * i)]).unwrap());
    let y = vec![0.0, 1.0, 1.0, 2.0, 3.0, 3.0];
    let table = Observations::gaussian(set, y, Noise::Known(vec![0.1; 6])).unwrap();
    let two = Model::new(Kernel::se(["x", "z"])).observe(table);
    assert!(refused(
        &two.fit(&FitOptions::default()).unwrap(),
        &[Shape::Rising]
    ));
}

/// Beyond the rows the process returns to its mean: what is told among the rows does not hang on
/// how far beyond them is asked, and the function has its shape there too.
#[test]
fn what_is_told_among_the_rows_does_not_hang_on_how_far_is_asked() {
    const DRAWS: usize = 1000;
    for (_, shape, f) in [TRUTHS[0], TRUTHS[5], TRUTHS[6]] {
        let (posterior, (from, to)) = fitted(f, "se(x)", 4);
        let x: Vec<f64> = (0..9)
            .map(|i| from + (to - from) * f64::from(i) / 8.0)
            .collect();
        let at = Functionals::points("x", &x).unwrap();
        let told = |reach: f64| {
            let range = Some((from - reach, to + reach));
            let shaped = posterior.shaped(&[shape], range, None, (DRAWS, 1)).unwrap();
            let draws = shaped.at(&at).unwrap();
            let all = (0..9).map(|i| {
                let own = (0..DRAWS).map(|j| draws[(i, j)]);
                let mean = own.clone().sum::<f64>() / DRAWS as f64;
                let square = own.map(|v| (v - mean).powi(2)).sum::<f64>() / DRAWS as f64;
                (mean, square.sqrt())
            });
            (all.collect::<Vec<_>>(), shaped)
        };
        let (near, _) = told(0.0);
        for reach in [3.0, 10.0, 100.0, 1e6, 1e12] {
            let (far, shaped) = told(reach);
            for ((a, sd), (b, other)) in near.iter().zip(&far) {
                // Two means of 1,000 draws are within a fifth of an sd, four standard errors; a
                // grid of fewer places among the rows moves ends of functions by less.
                assert!((a - b).abs() < 0.3 * sd, "{shape:?} {reach}: {a} {b} {sd}");
                assert!(
                    (other / sd - 1.0).abs() < 0.25,
                    "{shape:?} {reach}: {sd} {other}"
                );
            }
            let wide: Vec<f64> = (0..200)
                .map(|i| from - reach + (to - from + 2.0 * reach) * f64::from(i) / 199.0)
                .collect();
            let wide = shaped
                .at(&Functionals::points("x", &wide).unwrap())
                .unwrap();
            for j in 0..DRAWS {
                let f = |i: usize| wide[(i, j)];
                let size = (0..200).fold(1.0_f64, |m, i| m.max(f(i).abs()));
                for i in 2..200 {
                    let least = match shape {
                        Shape::Rising => f(i) - f(i - 1),
                        Shape::Convex => f(i) - 2.0 * f(i - 1) + f(i - 2),
                        _ => 2.0 * f(i - 1) - f(i) - f(i - 2),
                    };
                    // Rounding of values of this size.
                    assert!(least > -1e-11 * size, "{shape:?} {reach} {i}: {least}");
                }
            }
        }
    }
}
