//! Counts in boxes, and densities inside of polygons.

use rand::RngExt;

use super::super::functions::Functions;
use super::super::grid::{CellGrid, Normalisation};
use super::super::hyper::{HyperOptions, evidence};
use super::super::newton::{CellProblem, look};
use super::super::pairs::{Pairs, clean, clean_boxes};
use super::{normals, random};
use crate::density::basis::Kernel;
use crate::density::cells::Cells;
use crate::density::scale::scale;
use crate::density::{Correction, Density2d, DensityError, Estimate2d, Integration, Warning};
use crate::linalg::dot;
use crate::support::Polygon;

const OPEN: [(f64, f64); 2] = [(f64::NEG_INFINITY, f64::INFINITY); 2];

fn wanted() -> HyperOptions {
    HyperOptions {
        kernel: Kernel::Matern52,
        variance: 10.0,
        tolerance: 1e-10,
        integrate: false,
    }
}

/// Boxes about normal numbers, of several widths, which overlap; some are open.
fn boxes(n: usize) -> [Vec<f64>; 5] {
    let [x, y] = normals(n, 0.6, 5);
    let mut out: [Vec<f64>; 5] = Default::default();
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        let wide = 0.4 + 0.3 * (i % 4) as f64;
        let ends = [x - 0.3 * wide, x + wide, y - wide, y + 0.5 * wide];
        let ends = match i % 9 {
            3 => [ends[0], f64::INFINITY, ends[2], ends[3]],
            6 => [ends[0], ends[1], f64::NEG_INFINITY, ends[3]],
            _ => ends,
        };
        let all = ends.into_iter().chain([1.0 + (i % 3) as f64]);
        out.iter_mut().zip(all).for_each(|(o, x)| o.push(x));
    }
    out
}

fn cleaned(boxes: &[Vec<f64>; 5]) -> Pairs {
    let [a, b, c, d, n] = boxes;
    clean_boxes([a, b, c, d], n, OPEN, [false; 2]).unwrap()
}

fn grid(pairs: &Pairs, shape: [usize; 2], polygons: Option<&[Polygon]>) -> CellGrid {
    let axes = [0, 1].map(|a| {
        let scale = scale(&pairs.column(a, false)).unwrap();
        Cells::lay(shape[a], &scale, OPEN[a], None, false).unwrap()
    });
    CellGrid::new(
        axes,
        pairs,
        Normalisation::Joint,
        (polygons, &[]),
        &mut Vec::new(),
    )
    .unwrap()
}

/// A triangle that leaves out a corner.
fn triangle() -> Vec<Polygon> {
    vec![
        Polygon::new(vec![vec![vec![
            [-40.0, -40.0],
            [40.0, -40.0],
            [-40.0, 60.0],
        ]]])
        .unwrap(),
    ]
}

fn some(most: usize) -> Vec<(usize, usize)> {
    let all = |i| (0..most - i).map(move |j| (i, j));
    (0..most).flat_map(all).collect()
}

#[test]
fn modes_and_curvatures_are_those_of_the_likelihood() {
    let pairs = cleaned(&boxes(60));
    let land = triangle();
    for polygons in [None, Some(land.as_slice())] {
        let grid = grid(&pairs, [14, 11], polygons);
        assert!(grid.patches.weights.len() > 30);
        let functions = Functions::new(&grid, &some(5));
        let problem = CellProblem {
            grid: &grid,
            functions: &functions,
        };
        let found = evidence(problem, wanted(), [0.3, 0.2, -0.2], &[], false).unwrap();
        let (mode, prior) = (found.mode, found.prior);
        let joint = |theta: &[f64]| {
            let (value, _) = look(&grid, &functions.eta(theta));
            value - 0.5 * dot(theta, &prior.pull(theta))
        };
        let mut random = random(3);
        for _ in 0..6 {
            let g: Vec<f64> = (0..functions.len())
                .map(|_| random.random::<f64>() - 0.5)
                .collect();
            let d = mode.factor.solve(&g);
            // Of length one in standard deviations.
            let size = dot(&g, &d).sqrt();
            let at = |h: f64| {
                let moved = mode.theta.iter().zip(&d).map(|(t, d)| t + h * d / size);
                joint(&moved.collect::<Vec<f64>>())
            };
            let h = 1e-3;
            let (up, here, down) = (at(h), at(0.0), at(-h));
            // The value is of order a hundred: differences err by 1e-13 / h and 1e-13 / h^2.
            assert!(
                ((up - down) / (2.0 * h)).abs() < 1e-7,
                "{}",
                (up - down) / (2.0 * h)
            );
            let curvature = (up - 2.0 * here + down) / (h * h);
            assert!((curvature + 1.0).abs() < 1e-5, "{curvature}");
        }
    }
}

#[test]
fn gradients_of_the_evidence_are_differences() {
    let pairs = cleaned(&boxes(60));
    let land = triangle();
    for polygons in [None, Some(land.as_slice())] {
        let grid = grid(&pairs, [10, 9], polygons);
        let functions = Functions::new(&grid, &some(5));
        let problem = CellProblem {
            grid: &grid,
            functions: &functions,
        };
        let at = [0.3, 0.2, -0.2];
        let value = |at: [f64; 3]| {
            let found = evidence(problem, wanted(), at, &[], false).unwrap();
            found.mode.log_evidence
        };
        let slopes = evidence(problem, wanted(), at, &[], true).unwrap().slopes;
        for a in 0..3 {
            let moved = |h: f64| {
                let mut at = at;
                at[a] += h;
                value(at)
            };
            let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            // Central differences err by h^2, and by 1e-11 / h from the evidence.
            let scale = difference.abs().max(1.0);
            assert!(
                (slopes[a] - difference).abs() < 3e-6 * scale,
                "{a}: {} {difference}",
                slopes[a]
            );
        }
    }
}

#[test]
fn a_box_that_is_a_cell_is_a_value_in_it() {
    let [x, y] = normals(70, 0.3, 8);
    let pairs = clean([&x, &y], None, OPEN, [false; 2]).unwrap();
    let of_values = grid(&pairs, [12, 9], None);
    let mut boxed = Pairs::default();
    for (x, y) in x.iter().zip(&y) {
        let ends = [(0, x), (1, y)].map(|(a, x)| {
            let cells: &Cells = &of_values.axes[a];
            let j = cells.index(*x);
            (cells.edges[j], cells.edges[j + 1])
        });
        boxed.boxes.push((ends, 1.0));
    }
    let axes = of_values.axes.clone();
    let of_boxes = CellGrid::new(
        axes,
        &boxed,
        Normalisation::Joint,
        (None, &[]),
        &mut Vec::new(),
    )
    .unwrap();
    assert!(of_boxes.patches.is_empty());
    assert_eq!(of_boxes.counts, of_values.counts);
}

fn total(estimate: &Estimate2d) -> f64 {
    let [x, y] = [0, 1].map(|a| estimate.edges(a));
    let n = y.len() - 1;
    let area = |cell: usize| (x[cell / n + 1] - x[cell / n]) * (y[cell % n + 1] - y[cell % n]);
    let terms = estimate.density().iter().enumerate();
    terms.map(|(cell, p)| p * area(cell)).sum()
}

/// Counts of normal numbers on a lattice of boxes.
fn lattice(n: usize, step: f64) -> [Vec<f64>; 5] {
    let [x, y] = normals(n, 0.7, 21);
    let mut counts = std::collections::BTreeMap::new();
    for (x, y) in x.iter().zip(&y) {
        let key = ((x / step).floor() as i64, (y / step).floor() as i64);
        *counts.entry(key).or_insert(0.0) += 1.0;
    }
    let mut out: [Vec<f64>; 5] = Default::default();
    for ((i, j), count) in counts {
        let (x, y) = (i as f64 * step, j as f64 * step);
        let row = [x, x + step, y, y + step, count];
        out.iter_mut().zip(row).for_each(|(o, x)| o.push(x));
    }
    out
}

#[test]
fn counts_in_boxes_give_the_density_with_wider_bands() {
    let [x, y] = normals(600, 0.7, 21);
    let values = Density2d::new(&x, &y).cells(40, 40).estimate().unwrap();
    let [a, b, c, d, n] = lattice(600, 1.0);
    let density = || Density2d::from_bins([&a, &b], [&c, &d], &n).cells(40, 40);
    let boxed = density().estimate().unwrap();
    // Masses are divided by their sum: rounding of 1,600 terms.
    assert!((total(&boxed) - 1.0).abs() < 1e-9, "{}", total(&boxed));
    assert_eq!(boxed.total(), 600.0);
    assert!(boxed.density().iter().all(|p| p.is_finite() && *p >= 0.0));
    let correlation = boxed.moments().correlation;
    assert!(
        correlation.lower < 0.7 && 0.7 < correlation.upper,
        "{correlation:?}"
    );
    // Of a place within a box of side one, the standard deviation of the density is larger.
    let inside = |e: &Estimate2d| {
        let answer = e.probability((0.1, 0.5), (0.1, 0.5));
        (answer.value, answer.upper - answer.lower)
    };
    let (of_boxes, of_values) = (inside(&boxed), inside(&values));
    assert!(of_boxes.1 > of_values.1, "{of_boxes:?} {of_values:?}");
    // P((X, Y) in (0.1, 0.5)^2) of a normal pair of correlation 0.7 is 0.0309.
    assert!(
        (of_boxes.0 - 0.0309).abs() < 0.5 * of_boxes.1,
        "{of_boxes:?}"
    );
    // Weights and no weights agree within the error that they mend.
    let plain = density()
        .correct(Correction::None)
        .integrate(Integration::Map);
    let (plain, (value, wide)) = (inside(&plain.estimate().unwrap()), of_boxes);
    assert!(
        (plain.0 - value).abs() < 0.5 * wide,
        "{plain:?} {of_boxes:?}"
    );
}

/// More boxes than are kept apart, of which some lie within a cell, at the last edges too.
#[test]
fn many_boxes_are_rounded_to_cells_and_stay_where_they_are() {
    let mut boxes: [Vec<f64>; 5] = Default::default();
    for i in 0..50_u32 {
        for j in 0..50_u32 {
            let (x, y) = (f64::from(i) / 50.0, f64::from(j) / 50.0);
            let row = [x, x + 0.02, y, y + 0.02, 1.0];
            boxes.iter_mut().zip(row).for_each(|(o, x)| o.push(x));
        }
    }
    let [a, b, c, d, n] = &boxes;
    let unit = (0.0, 1.0);
    let density = Density2d::from_bins([a, b], [c, d], n).bounds(unit, unit);
    // Cells of a tenth hold 25 boxes each, whose upper ends are edges of cells.
    let estimate = density.cells(10, 10).draws(300).estimate().unwrap();
    assert_eq!(estimate.total(), 2500.0);
    assert!(estimate.density().iter().all(|p| (p - 1.0).abs() < 0.25));
    let merged = |w: &Warning| matches!(w, Warning::Merged { .. });
    assert!(estimate.warnings().iter().any(merged));
}

/// Many rows on a line are an atom: draws were too uneven, and the band below the curve.
#[test]
fn boxes_without_a_width_are_refused() {
    let (x, y) = ([0.5, 0.0, 0.6], [0.5, 0.4, 1.0]);
    let (low, high) = ([0.0, 0.0, 0.0], [1.0, 1.0, 0.9]);
    let counts = [300.0, 40.0, 40.0];
    let unit = (0.0, 1.0);
    let density = Density2d::from_bins([&x, &y], [&low, &high], &counts).bounds(unit, unit);
    let told = density.estimate().unwrap_err().to_string();
    assert!(
        told.starts_with("column 1: the box of row 0 (counted from 0) begins"),
        "{told}"
    );
    // Without a count it says nothing.
    let counts = [0.0, 40.0, 40.0];
    let density = Density2d::from_bins([&x, &y], [&low, &high], &counts).bounds(unit, unit);
    assert_eq!(
        density.cells(10, 10).draws(300).estimate().unwrap().total(),
        80.0
    );
}

#[test]
fn open_and_overlapping_boxes_are_estimates_with_a_warning() {
    let [a, b, c, d, n] = boxes(90);
    let density = Density2d::from_bins([&a, &b], [&c, &d], &n);
    let estimate = density.cells(25, 25).draws(1000).estimate().unwrap();
    // Masses are divided by their sum: rounding of 625 terms.
    assert!((total(&estimate) - 1.0).abs() < 1e-9);
    let open = |w: &Warning| matches!(w, Warning::Column { warning, .. } if matches!(**warning, Warning::OpenEnd { .. }));
    assert_eq!(estimate.warnings().iter().filter(|w| open(w)).count(), 2);
    let one = [0.0, 0.0];
    let wrong = Density2d::from_bins([&[1.0, 2.0], &[0.0, 3.0]], [&one, &[1.0, 1.0]], &[1.0, 1.0]);
    let error = wrong.estimate().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("column 1: the interval of row 0"),
        "{error}"
    );
    let line = Density2d::from_bins([&one, &[2.0, 3.0]], [&[1.0, 5.0], &[2.0, 5.0]], &[4.0, 1.0]);
    let told = line.estimate().unwrap_err().to_string();
    assert!(
        told.starts_with("column 2: the box of row 1") && told.contains("at 5"),
        "{told}"
    );
}

#[test]
fn densities_inside_of_polygons_are_zero_outside_and_add_up_inside() {
    // Three quarters of a square, evenly filled.
    let ring = vec![
        [0.0, 0.0],
        [2.0, 0.0],
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, 2.0],
        [0.0, 2.0],
    ];
    let land = [Polygon::new(vec![vec![ring]]).unwrap()];
    let mut random = random(4);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    while x.len() < 400 {
        let place = [0, 1].map(|_| 2.0 * random.random::<f64>());
        if land[0].contains(place) {
            x.push(place[0]);
            y.push(place[1]);
        }
    }
    let estimate = Density2d::new(&x, &y)
        .cells(20, 20)
        .inside(&land)
        .estimate()
        .unwrap();
    // Borders are edges of cells.
    assert!(
        (total(&estimate) - 1.0).abs() < 1e-9,
        "{}",
        total(&estimate)
    );
    assert_eq!(estimate.density_at(1.5, 1.5), 0.0);
    let (mut held, mut cells) = (0, 0);
    for (cell, p) in estimate.density().iter().enumerate() {
        let is_land = cell / 20 < 10 || cell % 20 < 10;
        assert_eq!(is_land, *p > 0.0, "{cell}");
        if is_land {
            cells += 1;
            held += usize::from(
                estimate.lower()[cell] < 1.0 / 3.0 && estimate.upper()[cell] > 1.0 / 3.0,
            );
        }
    }
    // Of 95 % bands, whose cells go together.
    assert!(held * 10 > cells * 8, "{held} of {cells}");
    let sea = estimate.probability((1.0, 2.0), (1.0, 2.0));
    // Edges of cells are those of the square but for rounding.
    assert!(sea.upper < 1e-12, "{sea:?}");
    // One row in the sea.
    x[7] = 1.8;
    y[7] = 1.9;
    let error = Density2d::new(&x, &y)
        .cells(20, 20)
        .inside(&land)
        .estimate()
        .unwrap_err();
    assert!(
        matches!(error, DensityError::Beyond { count: 1, first: 7 }),
        "{error}"
    );
    // One far beyond, which is no matter of bounds; and a box at sea within one cell.
    (x[7], y[7], y[9]) = (0.5, 0.5, 7.5);
    let error = Density2d::new(&x, &y).inside(&land).estimate().unwrap_err();
    assert!(
        matches!(error, DensityError::Beyond { count: 1, first: 9 }),
        "{error}"
    );
    let (a, b) = ([1.81, 0.2, 0.1], [1.82, 0.9, 0.4]);
    let boxed = Density2d::from_bins([&a, &b], [&a, &b], &[3.0, 20.0, 9.0]).inside(&land);
    let error = boxed.cells(20, 20).estimate().unwrap_err();
    assert!(
        matches!(error, DensityError::NoReach { weight } if weight == 3.0),
        "{error}"
    );
    let far = [Polygon::new(vec![vec![vec![[50.0, 0.0], [51.0, 0.0], [51.0, 1.0]]]]).unwrap()];
    assert!(Density2d::new(&x, &y).inside(&far).estimate().is_err());
}

/// A box that is open all around says nothing of the density, and one that is open on both sides
/// of a column nothing of that column.
#[test]
fn boxes_that_say_nothing_are_left_out() {
    let mut rows = boxes(60);
    let told = |rows: &[Vec<f64>; 5]| {
        let [a, b, c, d, n] = rows;
        let asked = Density2d::from_bins([a, b], [c, d], n).cells(16, 16);
        asked.draws(200).estimate().unwrap()
    };
    let without = told(&rows);
    let inf = f64::INFINITY;
    let open = [-inf, inf, -inf, inf, 300.0];
    rows.iter_mut().zip(open).for_each(|(o, x)| o.push(x));
    let with = told(&rows);
    assert_eq!(with.edges(0), without.edges(0));
    assert_eq!(with.density(), without.density());
    let expected = Warning::Everywhere {
        count: 1,
        rows: 61,
        first: 60,
    };
    let (first, others) = with.warnings().split_first().unwrap();
    assert_eq!((first, others), (&expected, without.warnings()));
    // Half of what is known of the second column says nothing of the first.
    let known = ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]);
    let lower = [known.0.as_slice(), &[-inf; 3]].concat();
    let upper = [known.1.as_slice(), &[inf; 3]].concat();
    let [c, d] = [
        [0.0, 1.0, 2.0, 0.0, 1.0, 2.0],
        [1.0, 2.0, 3.0, 1.0, 2.0, 3.0],
    ];
    let pairs = clean_boxes([&lower, &upper, &c, &d], &[5.0; 6], OPEN, [false; 2]).unwrap();
    let scales = [0, 1].map(|a| scale(&pairs.column(a, false)).unwrap());
    assert_eq!((scales[0].open_below, scales[0].open_above), (0.0, 0.0));
    assert_eq!(scales[0].centre, scales[1].centre);
    // Sums of the same numbers, once and twice.
    assert!((scales[0].scale / scales[1].scale - 1.0).abs() < 1e-12);
}
