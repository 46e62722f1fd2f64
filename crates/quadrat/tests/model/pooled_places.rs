//! Counts over boxes and bags: where their nodes lie, and what places within them are told.

use quadrat::kernel::Kernel;
use quadrat::link::Link;
use quadrat::model::{Model, Observations, Posterior, Scale, Setting};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};

use super::pooled::{bands, map, poisson};

/// Nodes within bands are placed for what was learned, so that no answer hangs on where the search
/// began. Integrals over bands are right to 1e-4, and a search ends a twentieth of a standard
/// deviation of the hyperparameters from the optimum at most.
#[test]
fn answers_do_not_hang_on_the_start_of_the_lengthscale() {
    let counts: Vec<f64> = (0..40)
        .map(|i| (40.0 + 30.0 * (0.5 * f64::from(i)).sin()).round())
        .collect();
    let table = || Observations::new(bands(5.0, 40), poisson(&counts, 1.0, Link::Exp)).unwrap();
    let prior = PriorDensity::LogNormal {
        mu: 15.0_f64.ln(),
        sigma: 1.0,
    };
    let from = |start: f64| {
        let start = Setting {
            prior: Some(prior),
            ..Setting::start(start)
        };
        let model = Model::new(Kernel::se(["age"])).observe(table());
        let model = model.set("se.lengthscale.age", start);
        let posterior = model.fit(&map()).unwrap();
        assert!(posterior.summary().warnings.is_empty());
        let at = bands(2.5, 80);
        posterior.predict(&at, Scale::Response).unwrap()
    };
    let want = from(15.0);
    for start in [3.0, 60.0, 200.0] {
        let got = from(start);
        for row in 0..80 {
            let off = (got.mean()[row] - want.mean()[row]).abs() / want.sd()[row];
            let wider = (got.sd()[row] / want.sd()[row] - 1.0).abs();
            // 4,000 draws that are others tell means to 0.02 of a standard deviation, sds to 1 %.
            assert!(off < 0.08 && wider < 0.06, "{start} {row}: {off} {wider}");
        }
    }
}

/// Large counts leave little open inside their bands, whatever the lengthscale: cells are told as
/// by bags of many points in place of bands. With two nodes a band their sds were off by up to two
/// fifths.
#[test]
fn cells_inside_few_bands_are_those_of_many_points() {
    let counts = [
        912_000.0,
        1_104_400.0,
        3_087_100.0,
        2_231_000.0,
        1_315_500.0,
    ];
    let mut bags = Functionals::new(vec!["age".into()]);
    for band in 0..5 {
        let middle = |j: i32| vec![10.0 * f64::from(band) + (f64::from(j) + 0.5) * 10.0 / 48.0];
        let points: Vec<Vec<f64>> = (0..48).map(middle).collect();
        bags.push_nodes(&points, &[10.0 / 48.0; 48]).unwrap();
    }
    let cells: Vec<(f64, f64)> = (0..120)
        .map(|j| (f64::from(j) * 10.0 / 24.0, f64::from(j + 1) * 10.0 / 24.0))
        .collect();
    let cells = Functionals::intervals("age", &cells, Aggregate::Sum).unwrap();
    for (name, lengthscale) in [("matern32", 200.0), ("matern52", 40.0)] {
        let told = |rows: Functionals| {
            let table = Observations::new(rows, poisson(&counts, 1.0, Link::Exp)).unwrap();
            let kernel: Kernel = format!("{name}(age)").parse().unwrap();
            let model = Model::new(kernel)
                .set(&format!("{name}.variance"), Setting::fixed(3.0))
                .set(
                    &format!("{name}.lengthscale.age"),
                    Setting::fixed(lengthscale),
                );
            let posterior = model.observe(table).fit(&map()).unwrap();
            posterior.predict(&cells, Scale::Response).unwrap()
        };
        let (boxes, points) = (told(bands(10.0, 5)), told(bags.clone()));
        for cell in 0..cells.len() {
            let off = (boxes.mean()[cell] - points.mean()[cell]).abs() / points.sd()[cell];
            let wider = (boxes.sd()[cell] / points.sd()[cell] - 1.0).abs();
            // Draws tell means to .02 of an sd and sds to 1 %, and what stands for a band, points or
            // nodes, has kinks between its parts.
            assert!(off < 0.1 && wider < 0.05, "{name} {cell}: {off} {wider}");
        }
    }
}

/// Counts of five bags of four places.
fn uneven(link: Link) -> Posterior {
    let mut bags = Functionals::new(vec!["x".into()]);
    for bag in 0..5 {
        let nodes = (0..4).map(|i| vec![f64::from(4 * bag + i)]);
        bags.push_nodes(&nodes.collect::<Vec<_>>(), &[1.0; 4])
            .unwrap();
    }
    let table = Observations::new(bags, poisson(&[0.0, 0.0, 30.0, 2.0, 0.0], 1.0, link));
    Model::new(Kernel::se(["x"]))
        .set("se.variance", Setting::fixed(9.0))
        .set("se.lengthscale.x", Setting::fixed(1.2))
        .observe(table.unwrap())
        .fit(&map())
        .unwrap()
}

/// What a place is told does not hang on what else is asked for.
#[test]
fn a_place_is_told_alike_alone_and_among_others() {
    for link in [Link::Exp, Link::Softplus] {
        let posterior = uneven(link);
        let told = |x: &[f64]| {
            let at = Functionals::points("x", x).unwrap();
            posterior.predict(&at, Scale::Response).unwrap()
        };
        let (alone, among) = (told(&[8.5]), told(&[1.0, 6.0, 8.5, 14.0, 8.5]));
        for row in [2, 4] {
            let mean = among.mean()[row] / alone.mean()[0];
            let sd = among.sd()[row] / alone.sd()[0];
            // Products of matrices of other sizes add up in another order.
            assert!((mean - 1.0).abs() < 1e-12, "{link:?}: {mean}");
            assert!((sd - 1.0).abs() < 1e-12, "{link:?}: {sd}");
        }
    }
}

/// A place, a bag of that place alone and a narrow box around it are one question; draws of the
/// response have the means that are told.
#[test]
fn a_place_and_a_bag_of_that_place_have_one_answer() {
    let posterior = uneven(Link::Exp);
    let x = [1.0, 6.0, 8.5, 14.0, 25.0];
    let points = Functionals::points("x", &x).unwrap();
    let (mut alone, mut narrow) = (Functionals::new(vec!["x".into()]), points.clone());
    narrow = narrow.rows(&[]);
    for x in x {
        alone.push_nodes(&[vec![x]], &[1.0]).unwrap();
        narrow
            .push_box(&[(x - 5e-7, x + 5e-7)], Aggregate::Mean)
            .unwrap();
    }
    let told = |at: &Functionals| posterior.predict(at, Scale::Response).unwrap();
    let (point, bag, thin) = (told(&points), told(&alone), told(&narrow));
    let draws = posterior.sample_responses(&points, 4000, 1).unwrap();
    for row in 0..5 {
        let sd = point.sd()[row];
        assert_eq!(point.mean()[row], bag.mean()[row]);
        assert_eq!(point.quantile(0.9)[row], bag.quantile(0.9)[row]);
        // A millionth of a lengthscale.
        assert!((thin.mean()[row] - point.mean()[row]).abs() < 1e-4 * sd);
        let mean = (0..4000).map(|d| draws[(row, d)]).sum::<f64>() / 4000.0;
        // Four standard errors, and as many of the draws that the prediction rests on.
        assert!(
            (mean - point.mean()[row]).abs() < 0.13 * sd,
            "{row}: {mean} {point:?}"
        );
    }
}
