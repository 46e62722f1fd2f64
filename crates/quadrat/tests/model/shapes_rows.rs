//! Functions held to shapes beside rows that know them well: they go through exact and precise
//! rows, and rows that contradict the shape are found.

use quadrat::error::{FitError, InputError};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{FitOptions, Model, Noise, Observations, Posterior, Scale, Shape};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DRAWS: usize = 200;

fn fitted(kernel: &str, rows: Functionals, values: Vec<f64>, variance: f64) -> Posterior {
    let noise = Noise::Known(vec![variance; values.len()]);
    let table = Observations::gaussian(rows, values, noise).unwrap();
    let model = Model::new(Kernel::parse(kernel).unwrap()).observe(table);
    model.fit(&FitOptions::default()).unwrap()
}

fn points(x: &[f64]) -> Functionals {
    Functionals::points("x", x).unwrap()
}

/// Exact values of a function of the shape.
type Exact = (&'static str, &'static [Shape], fn(f64) -> f64);

const BETWEEN: Shape = Shape::Between {
    lower: 0.0,
    upper: 36.0,
};

#[test]
fn every_draw_goes_through_exact_rows() {
    let cases: [Exact; 8] = [
        ("se(x)", &[Shape::Rising], |x| (x / 3.0).exp()),
        ("se(x)", &[Shape::Convex], |x| (x - 3.0) * (x - 3.0)),
        ("se(x)", &[Shape::Concave, Shape::Rising], f64::ln_1p),
        ("se(x)", &[Shape::Falling], |x| -x.powi(3) * 1e9),
        ("matern52(x)", &[Shape::Rising], |x| 1e-9 * x * x / 3.0),
        ("matern52(x)", &[Shape::Convex, Shape::Falling], |x| {
            (-x).exp()
        }),
        ("matern32(x)", &[BETWEEN, Shape::Rising], |x| x * x),
        ("matern12(x)", &[Shape::Rising], |x| {
            1e6 + x.floor().max(2.0)
        }),
    ];
    for (kernel, shapes, f) in cases {
        let x: Vec<f64> = (0..7).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| f(*x)).collect();
        let posterior = fitted(kernel, points(&x), y.clone(), 0.0);
        let shaped = posterior
            .shaped(shapes, Some((-1.0, 8.0)), None, (DRAWS, 1))
            .unwrap();
        let draws = shaped.at(&points(&x)).unwrap();
        let size = y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
        for (i, y) in y.iter().enumerate() {
            // Values of exact rows are put in as they are; those of convex functions are added up.
            let is_met = (0..DRAWS).all(|j| (draws[(i, j)] - y).abs() <= 1e-12 * size);
            assert!(is_met, "{kernel} {shapes:?} {i}");
        }
        // Between them too every draw has the shapes.
        let places = shaped.places().to_vec();
        let grid = shaped.at(&points(&places)).unwrap();
        for j in 0..DRAWS {
            let values = grid.col_as_slice(j);
            for shape in shapes {
                let is_of = shape.is_of(&places, values);
                assert!(
                    is_of,
                    "{kernel} {shape:?} {:?}",
                    shape.not_of(&places, values)
                );
            }
        }
    }
}

#[test]
fn exact_rows_that_have_not_the_shape_are_refused() {
    let posterior = fitted(
        "matern52(x)",
        points(&[0.0, 1.0, 2.0]),
        vec![0.0, 2.0, 1.0],
        0.0,
    );
    for shape in [Shape::Rising, Shape::Falling, Shape::Convex] {
        let found = posterior.shaped(&[shape], None, None, (10, 1));
        let Err(FitError::Input(InputError::Unavailable { what, .. })) = found else {
            panic!("{shape:?}");
        };
        assert!(what.contains("known exactly"), "{what}");
    }
    assert!(
        posterior
            .shaped(&[Shape::Concave], None, None, (10, 1))
            .is_ok()
    );
}

/// Noise of next to nothing has nearly the answer of none: what is not known between rows does not
/// drag functions away from them.
#[test]
fn precise_rows_are_met_as_closely_as_they_are_known() {
    let x: Vec<f64> = (0..6).map(f64::from).collect();
    let y = [0.0, 1.0, 1.2, 4.0, 4.1, 9.0];
    for (shape, sd) in [
        (Shape::Rising, 1e-2),
        (Shape::Rising, 1e-6),
        (Shape::Falling, 1e-4),
    ] {
        let sign = if shape == Shape::Falling { -1.0 } else { 1.0 };
        let y: Vec<f64> = y.iter().map(|y| sign * y).collect();
        let posterior = fitted("matern32(x)", points(&x), y.clone(), sd * sd);
        let shaped = posterior.shaped(&[shape], None, None, (DRAWS, 1)).unwrap();
        let draws = shaped.at(&points(&x)).unwrap();
        for (i, y) in y.iter().enumerate() {
            // Of 1,200 normal draws none is beyond five and a half sds.
            let is_near = (0..DRAWS).all(|j| (draws[(i, j)] - y).abs() < 5.5 * sd);
            assert!(is_near, "{shape:?} {sd} {i}");
        }
    }
}

#[test]
fn the_rows_that_break_a_shape_are_found() {
    let x: Vec<f64> = (0..9).map(f64::from).collect();
    let mut y: Vec<f64> = x.iter().map(|x| x * x).collect();
    y[4] = 30.0;
    let posterior = fitted("matern52(x)", points(&x), y, 0.01);
    let find = |shape: Shape| {
        let found = posterior.breach_of_shapes(&[shape], &points(&x), None);
        found.unwrap().unwrap()
    };
    let rising = find(Shape::Rising);
    // 30 before 25 with noise of sd 0.1 each.
    assert_eq!(rising.rows, [4, 5]);
    assert!((30.0..36.0).contains(&rising.sds), "{rising:?}");
    let convex = find(Shape::Convex);
    assert!(convex.rows[1] == 4 && convex.sds > 50.0, "{convex:?}");
    let bound = find(Shape::Between {
        lower: 0.0,
        upper: 50.0,
    });
    assert_eq!(bound.rows, [8]);
}

/// Rows of boxes are compared by their averages, bags where none of one lies among another.
#[test]
fn boxes_bags_and_counts_that_break_a_shape_are_found() {
    let mut at = Functionals::new(vec!["x".into()]);
    for (low, high) in [(0.0, 1.0), (1.0, 3.0), (3.0, 6.0)] {
        at.push_box(&[(low, high)], Aggregate::Sum).unwrap();
    }
    at.push_nodes(&[vec![7.0], vec![8.0]], &[0.5, 0.5]).unwrap();
    // Averages of 1, 5, 2 and 6.
    let posterior = fitted("matern32(x)", at.clone(), vec![1.0, 10.0, 6.0, 6.0], 1e-4);
    let found = posterior.breach_of_shapes(&[Shape::Rising], &at, None);
    let found = found.unwrap().unwrap();
    assert!(found.rows == [1, 2] && found.sds > 100.0, "{found:?}");
    let x = points(&[0.0, 1.0, 2.0, 3.0]);
    let counts = Poisson::new(vec![1e4, 2e4, 1.5e4, 3e4], vec![1.0; 4], Link::Exp).unwrap();
    let table = Observations::new(x.clone(), counts).unwrap();
    let model = Model::new(Kernel::parse("matern12(x)").unwrap()).observe(table);
    let posterior = model.fit(&FitOptions::default()).unwrap();
    let found = posterior.breach_of_shapes(&[Shape::Rising], &x, None);
    let found = found.unwrap().unwrap();
    // log(4/3) over sqrt(1/20,000 + 1/15,000), some of which the prior takes.
    assert!(
        found.rows == [1, 2] && (20.0..27.0).contains(&found.sds),
        "{found:?}"
    );
}

/// A shape and a function that has it.
type Truth = (Shape, fn(f64) -> f64);

/// Rows of noise about a curve of the shape: pairs and triples among them break it by fewer than six
/// sds.
#[test]
fn honest_rows_break_no_shape() {
    let truths: [Truth; 3] = [
        (Shape::Rising, |x| 0.02 * x),
        (Shape::Rising, |x| f64::from(x > 4.0)),
        (Shape::Convex, |x| (x / 4.0).powi(2)),
    ];
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for (shape, f) in truths {
        for (rows, sd) in [(6, 0.3), (25, 0.1), (60, 1e-3)] {
            let x: Vec<f64> = (0..rows).map(|_| random.random_range(0.0..8.0)).collect();
            let mut noise = || -> f64 {
                let twelve = (0..12).map(|_| random.random_range(-0.5..0.5));
                twelve.sum()
            };
            let y: Vec<f64> = x.iter().map(|x| f(*x) + sd * noise()).collect();
            let posterior = fitted("matern32(x)", points(&x), y, sd * sd);
            let found = posterior.breach_of_shapes(&[shape], &points(&x), None);
            let sds = found.unwrap().map_or(0.0, |breach| breach.sds);
            assert!(sds < 6.0, "{shape:?} {rows} {sd}: {sds}");
        }
    }
}

/// Seven exact values of a parabola under a squared exponential, whose search came to where rounding
/// decides: noise that is told makes it smooth.
#[test]
fn exact_values_of_a_parabola_are_learned_from() {
    let x: Vec<f64> = (0..7).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x / 3.0).collect();
    let posterior = fitted("se(x)", points(&x), y.clone(), 0.0);
    assert!(posterior.summary().converged);
    let told = posterior.summary().warnings.join(" ");
    assert!(told.contains("determine each other"), "{told}");
    let at = points(&[2.5, 5.5]);
    let found = posterior.predict(&at, Scale::Latent).unwrap();
    for (mean, x) in found.mean().iter().zip([2.5, 5.5]) {
        // The noise that was added has an sd of 1e-5 of that of the values.
        assert!((mean - x * x / 3.0).abs() < 2e-3, "{x}: {mean}");
    }
}

/// Where rows know the function nearly exactly it is told between the places that functions are
/// drawn at, which lines between these are not: of the parabola they miss 1.8e-4.
#[test]
fn what_rows_determine_is_told_between_places() {
    let x: Vec<f64> = (0..7).map(f64::from).collect();
    let cases: [Exact; 3] = [
        ("se(x)", &[Shape::Convex], |x| x * x / 3.0),
        ("se(x)", &[Shape::Rising, Shape::Convex], |x| {
            (x / 3.0).exp()
        }),
        ("se(x)", &[BETWEEN], |x| 20.0 - (x - 3.0) * (x - 3.0)),
    ];
    // Between rows, at places and off them.
    let asked: Vec<f64> = (1..60).map(|i| f64::from(i) / 10.0).collect();
    for (kernel, shapes, f) in cases {
        let y = x.iter().map(|x| f(*x)).collect();
        let posterior = fitted(kernel, points(&x), y, 1e-10);
        let at = points(&asked);
        let free = posterior.predict(&at, Scale::Latent).unwrap();
        let shaped = posterior.shaped(shapes, None, None, (DRAWS, 1)).unwrap();
        let draws = shaped.at(&at).unwrap();
        for (i, x) in asked.iter().enumerate() {
            let mean = (0..DRAWS).map(|j| draws[(i, j)]).sum::<f64>() / DRAWS as f64;
            // A mean of 200 draws is within a third of the sd, and draws are right to 1e-8 of
            // values that reach some hundred.
            let near = 0.5 * free.sd()[i] + 1e-5;
            let off = mean - free.mean()[i];
            assert!(off.abs() < near, "{shapes:?} {x}: {off} {near}");
        }
    }
}

/// Functions go on beyond exact rows as they do however far is asked, and by no more than draws
/// of slopes differ.
#[test]
fn slopes_beyond_exact_rows_do_not_hang_on_how_far_is_asked() {
    let x: Vec<f64> = (0..7).map(f64::from).collect();
    let y = x.iter().map(|x| (x - 3.0) * (x - 3.0)).collect();
    let posterior = fitted("matern52(x)", points(&x), y, 0.0);
    let told = |reach: f64, at: f64| {
        let shaped = posterior
            .shaped(&[Shape::Convex], Some((0.0, reach)), None, (1000, 1))
            .unwrap();
        let draws = shaped.at(&points(&[at])).unwrap();
        let mut own: Vec<f64> = (0..1000).map(|j| draws[(0, j)] / at).collect();
        own.sort_by(f64::total_cmp);
        // Slopes are skew with a long tail, which means and sds of draws hang on.
        (own[500], own[840] - own[160])
    };
    for at in [7.0, 8.0] {
        let (near, width) = told(9.0, at);
        for reach in [20.0, 1e3, 1e6, 1e12] {
            let (far, other) = told(reach, at);
            // A median of 1,000 draws has an error of a fiftieth of the width of their middle two
            // thirds, which is known to some 4 %. Far grids have steps that grow.
            assert!(
                (near - far).abs() < 0.15 * width,
                "{at} {reach}: {near} {far} {width}"
            );
            assert!(
                (other / width - 1.0).abs() < 0.3,
                "{at} {reach}: {width} {other}"
            );
        }
    }
    // The slope at the end is not known exactly, whatever else is asked.
    let (_, near) = told(1e6, 1e6);
    let (_, far) = told(1e12, 1e12);
    assert!((far / near - 1.0).abs() < 0.3, "{near} {far}");
}

#[test]
fn a_bend_of_rows_at_one_place_has_an_answer() {
    let posterior = fitted("se(x)", points(&[1.0; 4]), vec![1.0, 2.0, 3.0, 2.0], 0.5);
    let range = Some((0.0, 2.0));
    let shaped = posterior
        .shaped(&[Shape::Convex], range, None, (20, 1))
        .unwrap();
    let draws = shaped.at(&points(&[0.5, 1.0, 1.5])).unwrap();
    for j in 0..20 {
        let f = draws.col_as_slice(j);
        // Rounding of values of some tens.
        assert!(f[0] + f[2] - 2.0 * f[1] > -1e-12, "{f:?}");
    }
    // There alone it says nothing, and has an answer nevertheless.
    let shaped = posterior.shaped(&[Shape::Convex], None, None, (2000, 1));
    let draws = shaped.unwrap().at(&points(&[1.0])).unwrap();
    let mean = (0..2000).map(|j| draws[(0, j)]).sum::<f64>() / 2000.0;
    let free = posterior.predict(&points(&[1.0]), Scale::Latent).unwrap();
    // The mean of 2,000 draws is within a tenth of an sd, four of its own.
    assert!((mean - free.mean()[0]).abs() < 0.1 * free.sd()[0], "{mean}");
}

#[test]
fn rows_along_a_line_and_along_a_bend_are_told_apart() {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let bent = |f: fn(f64) -> f64| {
        // Noise of one sd on either side.
        let noise = |x: f64| {
            if (x as usize).is_multiple_of(3) {
                0.2
            } else {
                -0.1
            }
        };
        let y = x.iter().map(|x| f(*x) + noise(*x)).collect();
        let posterior = fitted("se(x)", points(&x), y, 0.02);
        let shaped = posterior.shaped(&[Shape::Convex], None, None, (DRAWS, 1));
        shaped.unwrap().bent()
    };
    let (line, bend) = (bent(|x| 3.0 * x), bent(|x| 0.1 * x * x));
    assert!(line < 1.0 && bend > 5.0, "{line} {bend}");
}
