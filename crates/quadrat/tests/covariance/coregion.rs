//! Coregionalisation matrices times kernels, against the sum of products written out.

use faer::Mat;
use quadrat::covariance::Covariance;
use quadrat::kernel::{Kernel, Role};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

use crate::common::{random, uniform};

const KERNELS: [&str; 5] = [
    "coregion(o, a, b, rank = 1) * se(x)",
    "coregion(o, a, b, c, rank = 2) * matern32(x, y)",
    "coregion(o, a, b, rank = 0) * (se(x, y) + periodic(x, period = 1.7))",
    "coregion(o, a, b) * se(x, y) + coregion(o, a, b) * matern12(x) * se(y) + linear(x)",
    "coregion(o, a, b, c, rank = 3) + se(x)",
];

/// Weights of either sign, the others positive.
fn theta(kernel: &Kernel, seed: u64) -> Vec<f64> {
    let rng = &mut random(seed);
    let one = |p: &quadrat::kernel::KernelParameter| match (p.fixed, &p.role) {
        (Some(value), _) => value,
        (None, Role::Weight { .. }) => uniform(rng, -1.5, 1.5),
        (None, _) => uniform(rng, 0.5, 2.0),
    };
    kernel.parameters().iter().map(one).collect()
}

/// Points, boxes and regions of every output, in the kernel's columns.
fn supports(kernel: &Kernel, n: usize, seed: u64) -> Functionals {
    let rng = &mut random(seed);
    let columns = kernel.columns();
    let output = columns.iter().position(|c| c == "o").unwrap();
    let levels = kernel.outputs().len();
    let mut set = Functionals::new(columns.to_vec());
    for row in 0..n {
        let level = (row % levels) as f64;
        let sides: Vec<(f64, f64)> = (0..columns.len())
            .map(|d| {
                if d == output {
                    return (level, level);
                }
                let lower = uniform(rng, -1.0, 1.0);
                (
                    lower,
                    lower
                        + if row % 2 == 0 {
                            0.0
                        } else {
                            uniform(rng, 0.1, 1.0)
                        },
                )
            })
            .collect();
        set.push_box(&sides, Aggregate::Mean).unwrap();
    }
    set
}

/// `sum_q B_q k_q` from the entries of the kernel's own function at points.
#[test]
fn between_points_it_is_the_kernel_itself() {
    for (k, text) in KERNELS.iter().enumerate() {
        let kernel = Kernel::parse(text).unwrap();
        let theta = theta(&kernel, k as u64);
        let covariance = Covariance::new(&kernel);
        let mut set = Functionals::new(kernel.columns().to_vec());
        let rng = &mut random(77 + k as u64);
        let output = kernel.columns().iter().position(|c| c == "o").unwrap();
        let points: Vec<Vec<f64>> = (0..7)
            .map(|i| {
                let coordinate = |d| {
                    if d == output {
                        (i % kernel.outputs().len()) as f64
                    } else {
                        uniform(rng, -1.0, 1.0)
                    }
                };
                (0..kernel.columns().len()).map(coordinate).collect()
            })
            .collect();
        points.iter().for_each(|p| set.push_point(p).unwrap());
        let got = covariance.matrix(&theta, &set);
        for (i, x) in points.iter().enumerate() {
            for (j, y) in points.iter().enumerate() {
                let expected = kernel.value(&theta, x, y);
                // A few roundings of values up to some ten.
                assert!((got[(i, j)] - expected).abs() < 1e-13, "{text}: {i}, {j}");
            }
        }
    }
}

/// Two outputs of the model of coregionalisation, every block written out with the kernels alone.
#[test]
fn blocks_of_outputs_are_the_kernels_of_the_processes_times_their_matrices() {
    let kernel = Kernel::parse(KERNELS[3]).unwrap();
    let theta = theta(&kernel, 5);
    let at = |name: &str| {
        let found = kernel.parameters().iter().position(|p| p.name == name);
        theta[found.unwrap()]
    };
    let set = supports(&kernel, 9, 6);
    let got = Covariance::new(&kernel).matrix(&theta, &set);
    let inputs = ["x".to_owned(), "y".to_owned()];
    let bare = set.select(&inputs).unwrap();
    let part = |text: &str, theta: &[f64]| {
        Covariance::new(&Kernel::parse(text).unwrap()).matrix(theta, &bare)
    };
    let first = part(
        "se(x, y)",
        &[1.0, at("se.lengthscale.x"), at("se.lengthscale.y")],
    );
    let second = Covariance::new(&Kernel::parse("matern12(x) * se(y)").unwrap()).matrix(
        &[1.0, at("matern12.lengthscale.x"), at("se#2.lengthscale.y")],
        &bare,
    );
    let line = Covariance::new(&Kernel::linear(["x"])).matrix(
        &[at("linear.variance")],
        &bare.select(&inputs[..1]).unwrap(),
    );
    for i in 0..9 {
        for j in 0..9 {
            let (o, p) = (["a", "b"][i % 2], ["a", "b"][j % 2]);
            let b = |leaf: &str| {
                let own = if o == p {
                    at(&format!("{leaf}.kappa.{o}"))
                } else {
                    0.0
                };
                own + at(&format!("{leaf}.weight.{o}")) * at(&format!("{leaf}.weight.{p}"))
            };
            let expected =
                b("coregion") * first[(i, j)] + b("coregion#2") * second[(i, j)] + line[(i, j)];
            assert!(
                // The contract of every factor is 1e-13; here both sides compute the same factors.
                (got[(i, j)] - expected).abs() < 1e-13 * (1.0 + expected.abs()),
                "{i}, {j}"
            );
        }
    }
}

/// Central differences of order six with step 2e-3: truncation 5e-19 times a seventh derivative of
/// up to 1e8 at lengthscales of a half, rounding of some hundred entries over the step, 1e-11.
#[test]
fn gradients_are_differences() {
    for (k, text) in KERNELS.iter().enumerate() {
        let kernel = Kernel::parse(text).unwrap();
        let theta = theta(&kernel, 20 + k as u64);
        let covariance = Covariance::new(&kernel);
        let (a, b) = (supports(&kernel, 24, 1), supports(&kernel, 19, 2));
        let rng = &mut random(3);
        let adjoint = Mat::from_fn(a.len(), b.len(), |_, _| uniform(rng, -1.0, 1.0));
        let value = |theta: &[f64]| {
            let k = covariance.cross(theta, &a, &b);
            (0..b.len())
                .flat_map(|j| (0..a.len()).map(move |i| (i, j)))
                .map(|(i, j)| adjoint[(i, j)] * k[(i, j)])
                .sum::<f64>()
        };
        let mut gradient = vec![0.0; theta.len()];
        covariance.contract_cross(&theta, &a, &b, adjoint.as_ref(), &mut gradient);
        for (p, parameter) in kernel.parameters().iter().enumerate() {
            let h = 2e-3;
            let at = |s: f64| {
                let mut moved = theta.clone();
                moved[p] += s * h;
                value(&moved) - {
                    moved[p] -= 2.0 * s * h;
                    value(&moved)
                }
            };
            let expected = (0.75 * at(1.0) - 0.15 * at(2.0) + at(3.0) / 60.0) / h;
            let error = (gradient[p] - expected).abs();
            // A hundred times the rounding that is reckoned with above.
            assert!(
                error < 1e-9 * (1.0 + expected.abs()),
                "{text} {}: {error}",
                parameter.name
            );
        }
    }
}

#[test]
fn regions_of_several_outputs_have_the_covariance_of_one_times_the_matrix() {
    let kernel = Kernel::parse("coregion(o, a, b) * matern32(x, y)").unwrap();
    let theta = [1.2, -0.7, 0.3, 0.4, 0.8, 0.9];
    let triangle = |x: f64| {
        let ring = vec![[x, 0.0], [x + 1.0, 0.1], [x + 0.7, 1.2]];
        Region::from(Polygon::new(vec![vec![ring]]).unwrap())
    };
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for x in [0.0, 0.6, 2.0] {
        set.push_region(triangle(x), Aggregate::Sum).unwrap();
    }
    let plain = Covariance::new(&Kernel::matern32(["x", "y"])).matrix(&[1.0, 0.8, 0.9], &set);
    let mut both = Functionals::new(vec!["o".into(), "x".into(), "y".into()]);
    for level in [0.0, 1.0] {
        for x in [0.0, 0.6, 2.0] {
            let region = std::sync::Arc::new(triangle(x));
            let sides = [Some(quadrat::support::Side::Point(level)), None, None];
            both.push_product(region, &sides, Aggregate::Sum).unwrap();
        }
    }
    let got = Covariance::new(&kernel).matrix(&theta, &both);
    for i in 0..6 {
        for j in 0..6 {
            let a = [1.2, -0.7];
            let (o, p) = (i / 3, j / 3);
            let b = a[o] * a[p] + if o == p { [0.3, 0.4][o] } else { 0.0 };
            let expected = b * plain[(i % 3, j % 3)];
            // Both choose their nodes for the same tolerance of 1e-7 relative to the variances.
            let size = (plain[(i % 3, i % 3)] * plain[(j % 3, j % 3)]).sqrt();
            assert!((got[(i, j)] - expected).abs() < 1e-6 * size, "{i}, {j}");
        }
    }
}

#[test]
fn ambiguous_outputs_are_refused() {
    for (text, why) in [
        ("coregion(o, a)", "at least two outputs"),
        ("coregion(o, a, a)", "stands twice"),
        ("coregion(o, a, b, rank = 3)", "more than the 2 outputs"),
        ("coregion(o, a, b, rank = x)", "whole number"),
        ("coregion(o, a, b, shared = true)", "no option"),
        ("coregion(o, a, b) * se(o)", "tells outputs apart"),
        ("coregion(o, a, b) + coregion(o, b, a)", "same order"),
        ("coregion(o, a, b) + coregion(p, a, b)", "same column"),
        (
            "coregion(o, a, b) * coregion(o, a, b)",
            "one `coregion` at most",
        ),
    ] {
        let error = Kernel::parse(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
    let kernel = Kernel::coregion("o", ["north", "far south"], 2) * Kernel::se(["t"]);
    assert_eq!(kernel.inputs(), ["t"]);
    assert_eq!(kernel.outputs(), ["north", "far south"]);
    assert_eq!(Kernel::parse(&kernel.to_string()).unwrap(), kernel);
    let names: Vec<&str> = kernel
        .parameters()
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "coregion.weight.north.1",
            "coregion.weight.north.2",
            "coregion.weight.far south.1",
            "coregion.weight.far south.2",
            "coregion.kappa.north",
            "coregion.kappa.far south",
            "se.lengthscale.t",
        ]
    );
}

/// A model refuses fewer than two outputs; by itself the covariance is that of the levels there
/// are.
#[test]
fn fewer_than_two_levels_have_a_covariance_too() {
    let places = [[0.0, 0.0], [0.0, 1.5]];
    let mut set = Functionals::new(vec!["o".into(), "t".into()]);
    for place in &places {
        set.push_point(place).unwrap();
    }
    for (levels, variance) in [(vec![], 0.0), (vec!["a"], 0.5 * 0.5 + 0.75)] {
        let kernel = Kernel::coregion("o", levels, 1) * Kernel::se(["t"]);
        let values = kernel.parameters().iter().map(|p| match p.name.as_str() {
            "coregion.weight.a" => 0.5,
            "coregion.kappa.a" => 0.75,
            _ => 1.0,
        });
        let theta: Vec<f64> = values.collect();
        let covariance = Covariance::new(&kernel);
        let (got, slopes) = (covariance.matrix(&theta, &set), &mut vec![0.0; theta.len()]);
        covariance.contract(&theta, &set, got.as_ref(), slopes);
        for (i, x) in places.iter().enumerate() {
            for (j, y) in places.iter().enumerate() {
                let expected = variance * (-0.5 * (x[1] - y[1]).powi(2)).exp();
                // A few roundings of values up to one.
                assert!((got[(i, j)] - expected).abs() < 1e-15);
                assert!((kernel.value(&theta, x, y) - expected).abs() < 1e-15);
            }
        }
        assert!(slopes.iter().all(|slope| slope.is_finite()));
    }
}
