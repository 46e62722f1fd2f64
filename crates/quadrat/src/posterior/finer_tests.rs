//! When predictions inside the rows are told to rest on a smooth kernel.

use crate::kernel::Kernel;
use crate::model::{Model, Noise};
use crate::posterior::finer::Finer;
use crate::problem::observations::Observations;
use crate::problem::settings::{FitOptions, Hyperparameters, Setting};
use crate::support::{Aggregate, Functionals};

/// Twelve bands of a smooth curve, `width` wide.
fn bands(width: f64, aggregate: Aggregate) -> Observations {
    let edges: Vec<(f64, f64)> = (0..12)
        .map(|i| (f64::from(i) * width, f64::from(i + 1) * width))
        .collect();
    let values = (0..12).map(|i| {
        let size = if aggregate == Aggregate::Sum {
            width
        } else {
            1.0
        };
        size * (10.0 + 5.0 * (f64::from(i) / 4.0).sin())
    });
    let supports = Functionals::intervals("age", &edges, aggregate).unwrap();
    Observations::gaussian(supports, values.collect(), Noise::Known(vec![0.0; 12])).unwrap()
}

fn finer(kernel: &str, lengthscales: &[(&str, f64)], at: &Functionals) -> Vec<Finer> {
    let model = Model::new(Kernel::parse(kernel).unwrap());
    let model = model.observe(bands(5.0, Aggregate::Sum));
    // Nearly fixed: learned within narrow bounds, so that the law is tested and not the search.
    let model = lengthscales.iter().fold(model, |model, &(name, value)| {
        let near = Setting {
            start: Some(value),
            lower: Some(0.999 * value),
            upper: Some(1.001 * value),
            ..Setting::default()
        };
        model.set(name, near)
    });
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    model.fit(&options).unwrap().finer_than_rows(at).unwrap()
}

fn years() -> Functionals {
    let cells: Vec<(f64, f64)> = (0..60).map(|y| (f64::from(y), f64::from(y + 1))).collect();
    Functionals::intervals("age", &cells, Aggregate::Sum).unwrap()
}

#[test]
fn years_are_finer_than_bands_that_a_long_lengthscale_spans() {
    for (leaf, widths) in [
        ("se", 1.05),
        ("matern32", 3.0),
        ("matern52", 1.75),
        ("rq", 1.05),
    ] {
        let limit = 5.0 * widths;
        let name = format!("{leaf}.lengthscale.age");
        let kernel = format!("{leaf}(age)");
        let told = finer(&kernel, &[(&name, 1.05 * limit)], &years());
        assert_eq!(told.len(), 1, "{leaf}");
        assert_eq!((told[0].width, told[0].rows.len()), (5.0, 60), "{leaf}");
        // Bounds leave the lengthscale a thousandth on both sides.
        assert!((told[0].lengthscale / limit - 1.05).abs() < 2e-3);
        assert!(finer(&kernel, &[(&name, 0.95 * limit)], &years()).is_empty());
    }
    // At small distances a lengthscale of 100 x 0.5 / 6.28 = 8.
    let long = [
        ("periodic.lengthscale.age", 0.5),
        ("periodic.period.age", 100.0),
    ];
    assert_eq!(finer("periodic(age)", &long, &years()).len(), 1);
}

#[test]
fn a_rough_or_short_part_along_the_input_is_enough() {
    let long = ("se.lengthscale.age", 30.0);
    for rough in ["se(age) + matern12(age)", "se(age) * matern12(age)"] {
        assert!(finer(rough, &[long], &years()).is_empty(), "{rough}");
    }
    let short = [long, ("matern32.lengthscale.age", 6.0)];
    assert!(finer("se(age) + matern32(age)", &short, &years()).is_empty());
    let both = [long, ("matern32.lengthscale.age", 20.0)];
    let told = finer("se(age) + matern32(age)", &both, &years());
    // Bounds leave the lengthscale a thousandth on both sides.
    assert!((told[0].lengthscale / 20.0 - 1.0).abs() < 2e-3);
}

#[test]
fn what_ends_where_rows_end_or_lies_outside_is_not_finer() {
    let long = [("se.lengthscale.age", 30.0)];
    let told = |edges: &[(f64, f64)]| {
        let at = Functionals::intervals("age", edges, Aggregate::Mean).unwrap();
        let told = finer("se(age)", &long, &at);
        told.first().map_or(Vec::new(), |f| f.rows.clone())
    };
    // A row, two rows, a wider box across rows, halves of rows across an end, a year after the
    // last row.
    let edges = [
        (5.0, 10.0),
        (5.0, 15.0),
        (2.0, 9.0),
        (7.0, 11.0),
        (61.0, 62.0),
    ];
    assert_eq!(told(&edges), [3]);
    // A point at an end of rows is still a point; edges come in either order.
    assert_eq!(told(&[(10.0, 10.0), (8.0, 7.0)]), [0, 1]);
}

#[test]
fn a_box_that_is_finer_along_a_rough_input_too_is_not_told() {
    let mut seen = Functionals::new(vec!["age".into(), "year".into()]);
    let mut values = Vec::new();
    for (i, j) in (0..6).flat_map(|i| (0..4).map(move |j| (i, j))) {
        let (age, year) = (5.0 * f64::from(i), 5.0 * f64::from(j));
        seen.push_box(&[(age, age + 5.0), (year, year + 5.0)], Aggregate::Mean)
            .unwrap();
        values.push(10.0 + (age / 9.0).sin() + (year / 7.0).cos());
    }
    let mut at = Functionals::new(vec!["age".into(), "year".into()]);
    at.push_box(&[(1.0, 2.0), (1.0, 2.0)], Aggregate::Mean)
        .unwrap();
    at.push_box(&[(1.0, 2.0), (0.0, 5.0)], Aggregate::Mean)
        .unwrap();
    let noise = Noise::Known(vec![1e-6; values.len()]);
    let table = Observations::gaussian(seen, values, noise).unwrap();
    for (kernel, told) in [
        ("se(age) * matern12(year)", vec![1]),
        ("se(age) * se(year)", vec![0, 1]),
    ] {
        let mut model = Model::new(Kernel::parse(kernel).unwrap()).observe(table.clone());
        for parameter in model.parameters().unwrap() {
            if parameter.name.contains("lengthscale") {
                let near = Setting {
                    start: Some(20.0),
                    lower: Some(19.9),
                    upper: Some(20.1),
                    ..Setting::default()
                };
                model = model.set(&parameter.name, near);
            }
        }
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let finer = model.fit(&options).unwrap().finer_than_rows(&at).unwrap();
        let age: Vec<&Finer> = finer.iter().filter(|f| f.dim == "age").collect();
        assert_eq!(age[0].rows, told, "{kernel}");
    }
}

#[test]
fn noise_that_hides_a_rough_part_is_not_held_against_the_kernel() {
    // Densities spread by 3.5, so totals of five years by 17: noise of 1 is little beside it,
    // of 8 it is not.
    for (sd, told) in [(1.0, 1), (8.0, 0)] {
        let exact = bands(5.0, Aggregate::Sum);
        let values = exact.as_gaussian().unwrap().values().to_vec();
        let noise = Noise::Known(vec![sd * sd; 12]);
        let noisy = Observations::gaussian(exact.supports().clone(), values, noise).unwrap();
        let near = Setting {
            start: Some(30.0),
            lower: Some(29.9),
            upper: Some(30.1),
            ..Setting::default()
        };
        let model = Model::new(Kernel::se(["age"])).observe(noisy);
        let model = model.set("se.lengthscale.age", near);
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let fit = model.fit(&options).unwrap();
        assert_eq!(fit.finer_than_rows(&years()).unwrap().len(), told, "{sd}");
    }
}

#[test]
fn points_among_the_rows_and_fixed_lengthscales_tell_nothing() {
    let fixed = |points: usize| {
        let places: Vec<f64> = (0..points).map(|i| 2.0 + 4.0 * i as f64).collect();
        let model = Model::new(Kernel::se(["age"])).observe(bands(5.0, Aggregate::Mean));
        let model = match points {
            0 => model.set("se.lengthscale.age", Setting::fixed(30.0)),
            _ => {
                let at = Functionals::points("age", &places).unwrap();
                let values = vec![10.0; points];
                let noise = Noise::Known(vec![0.01; points]);
                model.observe(Observations::gaussian(at, values, noise).unwrap())
            }
        };
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        model
            .fit(&options)
            .unwrap()
            .finer_than_rows(&years())
            .unwrap()
    };
    assert!(fixed(0).is_empty());
    assert!(fixed(13).is_empty());
}
