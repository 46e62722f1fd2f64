//! A row far from all others says nothing about the function near them.

use std::collections::HashMap;
use std::sync::Arc;

use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Degrees, Likelihood, Ordinal, Poisson, Sigmoid, StudentT, Thresholds,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Prediction, Scale,
};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

/// Rows near each other, and with one more.
struct Case {
    name: &'static str,
    kernel: Kernel,
    near: Functionals,
    with_far: Functionals,
}

const ROWS: usize = 16;

fn centre(i: usize) -> f64 {
    i as f64
}

fn points(distance: f64) -> Case {
    let x: Vec<f64> = (0..ROWS).map(centre).collect();
    let mut far = x.clone();
    far.push(-distance);
    Case {
        name: "point",
        kernel: Kernel::se(["x"]),
        near: Functionals::points("x", &x).unwrap(),
        with_far: Functionals::points("x", &far).unwrap(),
    }
}

/// The far box is beside the others, or around them.
fn boxes(distance: f64, far: (f64, f64), name: &'static str) -> Case {
    let mut edges: Vec<(f64, f64)> = (0..ROWS)
        .map(|i| (centre(i) - 0.5, centre(i) + 0.5))
        .collect();
    let near = Functionals::intervals("x", &edges, Aggregate::Mean).unwrap();
    edges.push((far.0 * distance, far.1 * distance));
    Case {
        name,
        kernel: Kernel::se(["x"]),
        near,
        with_far: Functionals::intervals("x", &edges, Aggregate::Mean).unwrap(),
    }
}

fn rectangle(x: (f64, f64), y: (f64, f64)) -> Arc<Region> {
    let ring = vec![[x.0, y.0], [x.1, y.0], [x.1, y.1], [x.0, y.1]];
    Arc::new(Polygon::new(vec![vec![ring]]).unwrap().into())
}

fn regions(distance: f64, long: bool) -> Case {
    let mut near = Functionals::new(vec!["x".into(), "y".into()]);
    for i in 0..ROWS {
        let (x, y) = (centre(i % 4), (i / 4) as f64);
        let region = rectangle((x, x + 1.0), (y, y + 1.0));
        near.push_region(region, Aggregate::Mean).unwrap();
    }
    let mut with_far = near.clone();
    let far = match long {
        true => (5.0, distance),
        false => (distance, distance + 1.0),
    };
    let region = rectangle(far, (0.0, 1.0));
    with_far.push_region(region, Aggregate::Mean).unwrap();
    Case {
        name: if long { "long polygon" } else { "polygon" },
        kernel: Kernel::se(["x", "y"]),
        near,
        with_far,
    }
}

fn bags(distance: f64) -> Case {
    let mut near = Functionals::new(vec!["x".into()]);
    for i in 0..ROWS {
        let nodes = [-0.4, 0.1, 0.3].map(|d| vec![centre(i) + d]);
        near.push_nodes(&nodes, &[0.3, 0.3, 0.4]).unwrap();
    }
    let mut with_far = near.clone();
    let nodes = [vec![4.0], vec![5.0], vec![distance]];
    with_far.push_nodes(&nodes, &[0.3, 0.3, 0.4]).unwrap();
    Case {
        name: "bag with a far node",
        kernel: Kernel::se(["x"]),
        near,
        with_far,
    }
}

fn cases(distance: f64) -> Vec<Case> {
    vec![
        points(distance),
        boxes(distance, (1.0, 1.5), "box"),
        boxes(distance, (-1.0, 1.0), "box around"),
        regions(distance, false),
        regions(distance, true),
        bags(distance),
    ]
}

/// What is seen of a wave, and something of the kind in the far row.
fn wave(i: usize) -> f64 {
    let i = i as f64;
    2.0 * (0.8 * i).sin() + 0.1 * (78.2 * i).sin()
}

fn likelihoods(n: usize) -> Vec<(&'static str, Likelihood)> {
    let seen: Vec<f64> = (0..n).map(wave).collect();
    let yes = seen.iter().map(|v| *v > 0.3).collect();
    let counts: Vec<f64> = seen.iter().map(|v| (0.7 * v + 1.0).exp().round()).collect();
    let ranks = seen
        .iter()
        .map(|v| 1 + usize::from(*v > -0.8) + usize::from(*v > 0.8))
        .collect();
    let known = Thresholds::Known(vec![-0.8, 0.8]);
    let gaussian = |noise| quadrat::likelihood::Gaussian::new(seen.clone(), noise).unwrap();
    let t = StudentT::new(seen.clone(), Noise::Learned, Degrees::Known(4.0));
    vec![
        ("known", gaussian(Noise::Known(vec![0.01; n])).into()),
        ("learned", gaussian(Noise::Learned).into()),
        ("student_t", t.unwrap().into()),
        (
            "poisson",
            Poisson::new(counts, vec![1.0; n], Link::Exp)
                .unwrap()
                .into(),
        ),
        ("bernoulli", Bernoulli::new(yes, Sigmoid::Probit).into()),
        (
            "ordinal",
            Ordinal::new(ranks, known, Noise::Learned).unwrap().into(),
        ),
    ]
}

fn fit(
    kernel: &Kernel,
    set: &Functionals,
    likelihood: Likelihood,
    how: Hyperparameters,
) -> Posterior {
    let table = Observations::new(set.clone(), likelihood).unwrap();
    Model::new(kernel.clone())
        .observe(table)
        .fit(&FitOptions::default().with_hyperparameters(how))
        .unwrap()
}

/// What the rows near each other say there.
fn alone(case: &Case, without: Likelihood, how: Hyperparameters) -> Prediction {
    let alone = fit(&case.kernel, &case.near, without, how);
    alone.predict(&case.near, Scale::Latent).unwrap()
}

/// By how many of its sds a prediction near the others moves at most, and by what factor its sd
/// grows.
fn change(case: &Case, a: &Prediction, with: Likelihood, how: Hyperparameters) -> (f64, f64) {
    let both = fit(&case.kernel, &case.with_far, with, how);
    let b = both.predict(&case.near, Scale::Latent).unwrap();
    let moved = (0..ROWS).map(|i| (a.mean()[i] - b.mean()[i]).abs() / a.sd()[i]);
    let wider = (0..ROWS).map(|i| b.sd()[i] / a.sd()[i]);
    (moved.fold(0.0, f64::max), wider.fold(0.0, f64::max))
}

/// Sums and averages after a link or a sigmoid, or signs of them, are other models.
fn is_said_of(likelihood: &str, case: &Case) -> bool {
    case.name == "point" || !["poisson", "bernoulli", "ordinal"].contains(&likelihood)
}

#[test]
fn a_far_row_changes_predictions_near_the_others_by_less_than_their_sd() {
    let how = Hyperparameters::Map;
    // The rows near each other are the same at all distances.
    let mut known: HashMap<(&str, &str), Prediction> = HashMap::new();
    for distance in [1e2, 1e6, 1e12] {
        for case in cases(distance) {
            // Integrals over a polygon of a trillion lengthscales are a matter of their own.
            if case.name == "long polygon" && distance > 1e9 {
                continue;
            }
            let pairs = likelihoods(ROWS).into_iter().zip(likelihoods(ROWS + 1));
            for ((name, without), (_, with)) in pairs {
                if is_said_of(name, &case) {
                    let near = known.entry((case.name, name));
                    let near = near.or_insert_with(|| alone(&case, without, how));
                    let (moved, wider) = change(&case, near, with, how);
                    let what = format!("{} at {distance:e}, {name}: {moved} {wider}", case.name);
                    assert!(moved < 1.0 && wider < 1.5, "{what}");
                }
            }
        }
    }
}

#[test]
fn it_does_so_where_hyperparameters_are_integrated() {
    for case in [points(1e2), boxes(1e8, (-1.0, 1.0), "box around")] {
        let pairs = likelihoods(ROWS).into_iter().zip(likelihoods(ROWS + 1));
        for ((name, without), (_, with)) in pairs {
            if is_said_of(name, &case) {
                let how = Hyperparameters::Integrate;
                let (moved, wider) = change(&case, &alone(&case, without, how), with, how);
                let what = format!("{}, {name}: {moved} {wider}", case.name);
                assert!(moved < 1.0 && wider < 1.5, "{what}");
            }
        }
    }
}

/// Student-t noise is there for values that are wild: they set no scale for the others.
#[test]
fn a_wild_value_under_heavy_tails_changes_predictions_by_less_than_their_sd() {
    let x: Vec<f64> = (0..30).map(centre).collect();
    let set = Functionals::points("x", &x).unwrap();
    let rows =
        |values: Vec<f64>| StudentT::new(values, Noise::Learned, Degrees::Known(4.0)).unwrap();
    let values: Vec<f64> = (0..30).map(wave).collect();
    let how = Hyperparameters::Integrate;
    let plain = fit(&Kernel::se(["x"]), &set, rows(values.clone()).into(), how);
    let a = plain.predict(&set, Scale::Latent).unwrap();
    for wild in [-1e2, 1e4, -1e6] {
        let mut values = values.clone();
        values[9] = wild;
        let with = fit(&Kernel::se(["x"]), &set, rows(values).into(), how);
        let b = with.predict(&set, Scale::Latent).unwrap();
        for i in (0..30).filter(|i| *i != 9) {
            let moved = (a.mean()[i] - b.mean()[i]).abs() / a.sd()[i];
            assert!(
                moved < 1.0 && b.sd()[i] < 2.0 * a.sd()[i],
                "{wild} {i} {moved} {} {}",
                b.sd()[i],
                a.sd()[i]
            );
        }
    }
}

/// Two sites far from each other: what is within each is found though the extent suggests
/// lengthscales that are a hundred thousand times as long.
#[test]
fn crowds_far_apart_are_told_as_one_crowd_is() {
    let x = |i: usize| centre(i % 12) + 1e6 * (i / 12) as f64;
    let sites: Vec<f64> = (0..24).map(x).collect();
    let values: Vec<f64> = (0..24).map(|i| wave(i % 12)).collect();
    let set = Functionals::points("x", &sites).unwrap();
    for noise in [Noise::Known(vec![0.01; 24]), Noise::Learned] {
        for how in [Hyperparameters::Map, Hyperparameters::Integrate] {
            let rows = quadrat::likelihood::Gaussian::new(values.clone(), noise.clone()).unwrap();
            let fit = fit(&Kernel::se(["x"]), &set, rows.into(), how);
            let p = fit.predict(&set, Scale::Latent).unwrap();
            for (mean, value) in p.mean().iter().zip(&values) {
                // Three sds of the known noise.
                assert!((mean - value).abs() < 0.3, "{how:?} {mean} {value}");
            }
        }
    }
}

fn centre_of(model: &Model, name: &str) -> f64 {
    let parameters = model.parameters().unwrap();
    parameters.iter().find(|p| p.name == name).unwrap().start
}

/// A row says no more of a line than where its average is: bags, boxes and points with the same
/// averages have the same prior.
#[test]
fn the_prior_of_a_slope_is_read_off_the_averages_that_the_rows_report_about() {
    let dims = || vec!["x".to_owned(), "z".to_owned()];
    let middles = [(2.0, 10.0), (3.0, 14.0), (5.5, 11.0), (7.0, 31.0)];
    let mut sets = [dims(), dims(), dims()].map(Functionals::new);
    for (x, z) in middles {
        sets[0].push_point(&[x, z]).unwrap();
        let (wide, high) = ((x - 40.0, x + 40.0), (z - 7.0, z + 7.0));
        sets[1].push_box(&[wide, high], Aggregate::Mean).unwrap();
        let nodes = [[-90.0, 3.0], [30.0, -1.0]].map(|[a, b]| vec![x + a, z + b]);
        sets[2].push_nodes(&nodes, &[0.25, 0.75]).unwrap();
    }
    for (kernel, names) in [
        (Kernel::linear(["x"]), vec!["linear.variance"]),
        (
            Kernel::linear(["x", "z"]),
            vec![
                "linear.variance",
                "linear.lengthscale.x",
                "linear.lengthscale.z",
            ],
        ),
    ] {
        let of = |set: &Functionals, name: &str| {
            let table =
                Observations::gaussian(set.clone(), vec![1.0, 4.0, 2.0, 7.0], Noise::Learned);
            centre_of(&Model::new(kernel.clone()).observe(table.unwrap()), name)
        };
        for name in names {
            let expected = of(&sets[0], name);
            for set in &sets[1..] {
                // Averages of places up to a hundred, to some roundings.
                assert!((of(set, name) / expected - 1.0).abs() < 1e-12, "{name}");
            }
        }
    }
}

/// A missing code among the inputs leaves the slope of the others plausible, and so does a line
/// that goes on to a far row.
#[test]
fn the_prior_of_a_slope_holds_that_of_the_rows_together() {
    let mut x: Vec<f64> = (0..20).map(f64::from).collect();
    x.push(-9999.0);
    for far_value in [0.0, -9999.0] {
        let mut y: Vec<f64> = x.iter().map(|x| 0.5 * x).collect();
        y[20] = 0.5 * far_value;
        let set = Functionals::points("x", &x).unwrap();
        let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
        let model = Model::new(Kernel::linear(["x"])).observe(table);
        let slope = centre_of(&model, "linear.variance").sqrt();
        // Two sds of the logarithm of a slope.
        assert!((slope / 0.5).ln().abs() < 2.0, "{slope}");
    }
}

#[test]
fn seconds_since_long_ago_have_the_extent_that_they_have() {
    let t: Vec<f64> = (0..12).map(|i| 1e14 + f64::from(i)).collect();
    let set = Functionals::points("t", &t).unwrap();
    let y = (0..12).map(wave).collect();
    let table = Observations::gaussian(set, y, Noise::Learned).unwrap();
    let start = centre_of(
        &Model::new(Kernel::se(["t"])).observe(table),
        "se.lengthscale.t",
    );
    // The places are whole numbers, so that their extent is exact; a rounding or two is of the
    // prior.
    assert!((start - 0.15 * 11.0).abs() < 1e-12, "{start}");
}
