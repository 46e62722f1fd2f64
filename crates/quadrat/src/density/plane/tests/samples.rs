//! Whole estimates: laws that must hold, and samples that nobody would wish for.

use rand::RngExt;

use super::super::functions::Functions;
use super::super::grid::{CellGrid, Normalisation};
use super::super::hyper::{HyperOptions, evidence};
use super::super::newton::CellProblem;
use super::super::orders;
use super::super::pairs::clean;
use super::{normals, random};
use crate::density::basis::Kernel;
use crate::density::cells::Cells;
use crate::density::scale::scale;
use crate::density::{Correction, Density, Density2d, DensityError, Estimate2d, Warning};

fn plain(x: &[f64], y: &[f64]) -> Estimate2d {
    let density = Density2d::new(x, y).cells(24, 20).draws(400);
    density.correct(Correction::None).estimate().unwrap()
}

fn farthest(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
    a.zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn what_is_said_otherwise_has_the_same_answer() {
    let [x, y] = normals(150, 0.7, 1);
    let want = plain(&x, &y);
    let top = want.density().iter().copied().fold(0.0, f64::max);
    // Rows in another order: the scales of the columns differ in their last bits, and the search
    // for hyperparameters by what it makes of them.
    let order: Vec<usize> = (0..150).map(|i| i * 37 % 150).collect();
    let of = |v: &[f64]| order.iter().map(|i| v[*i]).collect::<Vec<f64>>();
    let got = plain(&of(&x), &of(&y));
    let moved = farthest(
        got.density().iter().copied(),
        want.density().iter().copied(),
    );
    assert!(moved < 1e-8 * top, "{moved:e}");
    // Other units.
    let scaled: Vec<f64> = x.iter().map(|x| 1000.0 * x + 50.0).collect();
    let got = plain(&scaled, &y);
    let moved = farthest(
        got.density().iter().map(|p| 1000.0 * p),
        want.density().iter().copied(),
    );
    assert!(moved < 1e-8 * top, "{moved:e}");
    // Columns in another order.
    let density = Density2d::new(&y, &x).cells(20, 24).draws(400);
    let got = density.correct(Correction::None).estimate().unwrap();
    let swapped = (0..24 * 20).map(|cell| got.density()[(cell % 20) * 24 + cell / 20]);
    let moved = farthest(swapped, want.density().iter().copied());
    assert!(moved < 1e-8 * top, "{moved:e}");
    // Weights in place of rows.
    let twice = |v: &[f64]| v.iter().chain(v).copied().collect::<Vec<f64>>();
    let rows = plain(&twice(&x), &twice(&y));
    let density = Density2d::new(&x, &y)
        .weights(&[2.0; 150])
        .cells(24, 20)
        .draws(400);
    let weighted = density.correct(Correction::None).estimate().unwrap();
    // Quartiles of weighted values are values, those of others lie between two, which moves the
    // scales by about 1 / n: compare probabilities.
    let region = ((0.0, 1.0), (-0.5, 2.0));
    let [a, b] = [&rows, &weighted].map(|e| e.probability(region.0, region.1).value);
    assert!((a - b).abs() < 0.01, "{a} {b}");
}

#[test]
fn answers_agree_with_each_other_and_with_the_truth() {
    let [x, y] = normals(300, 0.6, 4);
    let estimate = Density2d::new(&x, &y)
        .cells(40, 36)
        .draws(2000)
        .estimate()
        .unwrap();
    assert!(estimate.is_weighted() && estimate.effective_size() > 400.0);
    let sum: f64 = estimate.masses().iter().sum();
    // Sums of 1440 terms.
    assert!((sum - 1.0).abs() < 1e-12);
    let everywhere = (f64::NEG_INFINITY, f64::INFINITY);
    let all = estimate.probability(everywhere, everywhere);
    assert!((all.value - 1.0).abs() < 1e-12 && (all.lower - 1.0).abs() < 1e-9);
    let half = estimate.probability((0.0, f64::INFINITY), everywhere);
    assert!(half.lower < 0.5 && half.upper > 0.5, "{half:?}");
    let moments = estimate.moments();
    let correlation = moments.correlation;
    assert!(
        correlation.lower < 0.6 && correlation.upper > 0.6,
        "{correlation:?}"
    );
    // A third of its width is about what a sample of 300 leaves open, 0.64 / 17.
    assert!(correlation.upper - correlation.lower < 0.3);
    for axis in [0, 1] {
        assert!(moments.mean[axis].lower < 0.2 && moments.mean[axis].upper > -0.2);
        let marginal = estimate.marginal(axis);
        let edges = estimate.edges(axis);
        let cells = edges.windows(2).zip(&marginal.density);
        let sum: f64 = cells.map(|(e, p)| p * (e[1] - e[0])).sum();
        assert!((sum - 1.0).abs() < 1e-10);
    }
    let region = estimate.highest_density_region(0.8);
    // Cells are taken until they hold 0.8, but for rounding: the last one takes them beyond by at
    // most its own mass.
    assert!(region.probability.value >= 0.8 - 1e-9 && region.probability.value < 0.83);
    let inside = region.cells.iter().zip(estimate.density());
    assert!(
        inside
            .clone()
            .all(|(is_in, p)| *is_in == (*p >= region.density))
    );
    // Draws average to the density: errors of 400 draws at a relative sd of up to one.
    let draws = estimate.draws(400, 3);
    let cell = estimate.cell(0.1, 0.1).unwrap();
    let mean: f64 = (0..400).map(|k| draws[(cell, k)]).sum::<f64>() / 400.0;
    assert!((mean / estimate.density()[cell] - 1.0).abs() < 0.2);
}

#[test]
fn marginals_of_independent_columns_are_those_of_one() {
    let [x, y] = normals(250, 0.0, 9);
    let plane = Density2d::new(&x, &y)
        .cells(40, 40)
        .draws(1000)
        .estimate()
        .unwrap();
    for (axis, values) in [&x, &y].into_iter().enumerate() {
        let line = Density::new(values)
            .cells(40)
            .draws(1000)
            .estimate()
            .unwrap();
        let marginal = plane.marginal(axis);
        // The same cells, since both lay them out alike.
        assert!(farthest(line.places().into_iter(), marginal.places.iter().copied()) < 1e-9);
        for j in 0..40 {
            let (p, lower, upper) = (marginal.density[j], line.lower()[j], line.upper()[j]);
            if line.density()[j] > 0.02 {
                assert!(p > lower && p < upper, "{axis} {j}: {p} {lower} {upper}");
                // And the bands are of about the same width: the priors differ.
                let ratio = (marginal.upper[j] - marginal.lower[j]) / (upper - lower);
                assert!(ratio > 0.33 && ratio < 3.0, "{axis} {j}: {ratio}");
            }
        }
    }
}

#[test]
fn few_functions_lose_what_is_stated() {
    let [x, y] = normals(120, 0.5, 2);
    let open = (f64::NEG_INFINITY, f64::INFINITY);
    let pairs = clean([&x, &y], None, [open; 2], [false; 2]).unwrap();
    let axes = [0, 1].map(|a| {
        let scale = scale(&pairs.column(a, false)).unwrap();
        Cells::lay(22, &scale, open, None, false).unwrap()
    });
    let grid = CellGrid::new(
        axes,
        &pairs,
        Normalisation::Joint,
        (None, &[]),
        &mut Vec::new(),
    )
    .unwrap();
    let wanted = HyperOptions {
        kernel: Kernel::Se,
        variance: 10.0,
        tolerance: 1e-9,
        integrate: false,
    };
    let at: [f64; 3] = [0.0, 1.1, 1.3];
    let lengths = [at[1].exp(), at[2].exp()];
    let all: Vec<(usize, usize)> = (0..22).flat_map(|i| (0..22).map(move |j| (i, j))).collect();
    let some = orders::choose(&grid, Kernel::Se, 1.0, lengths, 400);
    assert!(some.len() < 300, "{}", some.len());
    let [few, many] = [some, all].map(|orders| {
        let functions = Functions::new(&grid, &orders);
        let problem = CellProblem {
            grid: &grid,
            functions: &functions,
        };
        evidence(problem, wanted, at, &[], false).unwrap().mode
    });
    // What is left out has a variance of 1e-3 over the rows: half of that in evidence.
    assert!((few.log_evidence - many.log_evidence).abs() < 5e-4);
    let moved = farthest(few.mass.iter().copied(), many.mass.iter().copied());
    let top = many.mass.iter().copied().fold(0.0, f64::max);
    assert!(moved < 1e-3 * top, "{moved:e} {top:e}");
}

/// A sample, and whether its warning is the right one.
type Nasty = (&'static str, Vec<f64>, Vec<f64>, fn(&Warning) -> bool);

fn is_of_column(warning: &Warning, of: fn(&Warning) -> bool) -> bool {
    matches!(warning, Warning::Column { warning, .. } if of(warning))
}

#[test]
fn nasty_samples_are_told() {
    let [x, y] = normals(60, 0.3, 8);
    let apart = |i: usize, x: f64| if i.is_multiple_of(2) { x } else { x + 1e6 };
    let clusters: Vec<f64> = x.iter().enumerate().map(|(i, x)| apart(i, *x)).collect();
    let mut outlier = x.clone();
    outlier[7] = 1e12;
    let mut but_one = vec![3.0; 60];
    but_one[11] = 4.0;
    let ties = x.iter().map(|x| x.round()).collect();
    let holes = x
        .iter()
        .enumerate()
        .map(|(i, x)| if i < 5 { f64::NAN } else { *x })
        .collect();
    let samples: [Nasty; 7] = [
        ("ties", ties, y.clone(), |w| {
            is_of_column(w, |w| {
                matches!(w, Warning::Ties { .. } | Warning::Rounded { .. })
            })
        }),
        ("clusters", clusters, y.clone(), |w| {
            is_of_column(w, |w| matches!(w, Warning::Crowded { .. }))
        }),
        ("three", x[..3].to_vec(), y[..3].to_vec(), |w| {
            matches!(w, Warning::Few { .. })
        }),
        ("but one", but_one, y.clone(), |w| {
            is_of_column(w, |w| matches!(w, Warning::Ties { .. }))
        }),
        ("outlier", outlier, y.clone(), |w| {
            is_of_column(w, |w| matches!(w, Warning::Outlier { .. }))
        }),
        ("a line", x.clone(), x.clone(), |w| {
            matches!(w, Warning::Dependent { .. })
        }),
        ("holes", holes, y.clone(), |w| {
            matches!(w, Warning::NotFinite { count: 5, .. })
        }),
    ];
    for (name, x, y, is_told) in samples {
        let estimate = Density2d::new(&x, &y)
            .cells(30, 30)
            .draws(500)
            .estimate()
            .unwrap();
        let sum: f64 = estimate.masses().iter().sum();
        // Masses are divided by their sum: rounding of 900 terms.
        assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
        let density = estimate.density().iter().chain(estimate.lower());
        assert!(
            density
                .chain(estimate.upper())
                .all(|p| p.is_finite() && *p >= 0.0),
            "{name}"
        );
        assert!(
            estimate.warnings().iter().any(is_told),
            "{name}: {:?}",
            estimate.warnings()
        );
    }
}

#[test]
fn what_is_no_sample_is_refused() {
    let [x, y] = normals(30, 0.0, 8);
    let constant = [1.0; 30];
    let error = Density2d::new(&x, &constant).estimate().unwrap_err();
    assert!(
        matches!(error, DensityError::Column { column: 1, .. }),
        "{error}"
    );
    let error = Density2d::new(&x, &y[..20]).estimate().unwrap_err();
    assert!(matches!(error, DensityError::Lengths { .. }), "{error}");
    let bounded = Density2d::new(&x, &y).bounds((0.0, 1.0), (-9.0, 9.0));
    let error = bounded.estimate().unwrap_err();
    assert!(error.to_string().contains("column 1: row"), "{error}");
    let error = Density2d::new(&x, &y)
        .cells(301, 20)
        .estimate()
        .unwrap_err();
    assert!(matches!(error, DensityError::Setting { .. }), "{error}");
    let mut random = random(3);
    let uniform: Vec<f64> = (0..200).map(|_| random.random()).collect();
    let other: Vec<f64> = (0..200).map(|_| random.random()).collect();
    let unit = (0.0, 1.0);
    let bounded = Density2d::new(&uniform, &other)
        .bounds(unit, unit)
        .cells(20, 20);
    let estimate = bounded.draws(500).estimate().unwrap();
    assert_eq!((estimate.edges(0)[0], estimate.edges(1)[20]), unit);
    // Its sd is about that of 200 values over what few functions see.
    assert!(estimate.density().iter().all(|p| (p - 1.0).abs() < 0.6));
}
