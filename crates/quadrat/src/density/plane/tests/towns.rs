//! Areas that differ by orders of magnitude from their neighbours: the interval of an area is that
//! of its count, whatever the functions can follow, and whichever draws there are.

use crate::density::{Density2d, Estimate2d, Question2d, Warning};
use crate::support::Polygon;

fn rectangle(x: (f64, f64), y: (f64, f64)) -> Polygon {
    Polygon::rectangle(x, y).unwrap()
}

/// The number of an area, and the interval of its draws.
fn told(estimate: &Estimate2d, area: &Polygon) -> (f64, [f64; 2]) {
    let mut found = (0.0, [0.0; 2]);
    let inside = Question2d::Inside(std::slice::from_ref(area));
    let ask = |_, answer: &crate::density::Drawn<'_>| {
        found = (answer.value, answer.quantiles([0.025, 0.975]));
    };
    estimate.ask(&[inside], ask);
    found
}

/// A square town of some width in an empty square of 100 around it.
fn town(width: f64) -> [Polygon; 2] {
    let square = |from: f64, to: f64| vec![[from, from], [to, from], [to, to], [from, to]];
    let inner = square(50.0, 50.0 + width);
    let outer = vec![square(0.0, 100.0), inner.clone()];
    [outer, vec![inner]].map(|rings| Polygon::new(vec![rings]).unwrap())
}

#[test]
fn towns_are_as_certain_as_their_counts() {
    // Of the cells of 2.5 the towns have 4 and 5.8.
    for (width, seed) in [(5.0, 1), (6.0, 1), (6.0, 2)] {
        let areas = town(width);
        let estimate = Density2d::from_areas(&areas, &[300.0, 200.0]);
        let estimate = estimate.cells(40, 40).seed(seed).estimate().unwrap();
        let (value, [lower, upper]) = told(&estimate, &areas[1]);
        // 200 of 500: the standard deviation is .0219. 2,000 draws tell quantiles at 2.5 % to a
        // tenth of it, and the prior may move them by another.
        assert!((value - 0.4).abs() < 0.01, "{width} {value}");
        assert!((lower - 0.357).abs() < 0.012, "{width} {lower}");
        assert!((upper - 0.443).abs() < 0.012, "{width} {upper}");
        let unmet = |w: &Warning| matches!(w, Warning::Unmet { .. });
        assert!(!estimate.warnings().iter().any(unmet));
        // The curve lies within its band, or it is told where it does not.
        let band = estimate.lower().iter().zip(estimate.upper());
        let out = estimate.density().iter().zip(band);
        let out = out.filter(|(p, (l, u))| *p < l || *p > u).map(|(p, _)| p);
        let out = out.sum::<f64>() / estimate.density().iter().sum::<f64>();
        let missed = |w: &Warning| matches!(w, Warning::Missed { .. });
        let is_told = estimate.warnings().iter().any(missed);
        assert!(out < 0.05 || is_told, "{width} {out}");
    }
}

#[test]
fn areas_of_few_and_of_nobody_hold_few() {
    let areas = [
        rectangle((1.0, 10.0), (1.0, 10.0)),
        rectangle((10.0, 100.0), (1.0, 10.0)),
    ];
    // Of a flat prior nobody of 60 is below 1 - (1/40)^(1/61) = .059 as surely; 3 of 603 are .0010
    // to .0145 of all (Clopper & Pearson), of which a quarter is left to the prior and the draws.
    let cases = [
        ([0.0, 60.0], 1, 0.0, 0.06),
        ([0.0, 60.0], 2, 0.0, 0.06),
        ([3.0, 600.0], 1, 0.000_75, 0.015),
    ];
    for (counts, seed, least, most) in cases {
        let estimate = Density2d::from_areas(&areas, &counts).cells(40, 20);
        let estimate = estimate.seed(seed).estimate().unwrap();
        let (value, [lower, upper]) = told(&estimate, &areas[0]);
        assert!(lower > least && upper < most, "{counts:?} {lower} {upper}");
        assert!(lower < value && value < upper, "{counts:?} {value}");
    }
}

#[test]
fn land_without_a_count_holds_nobody() {
    let areas = [
        rectangle((0.0, 10.0), (0.0, 10.0)),
        rectangle((10.0, 20.0), (0.0, 10.0)),
    ];
    let land = [rectangle((0.0, 20.0), (0.0, 20.0))];
    let estimate = Density2d::from_areas(&areas, &[60.0, 20.0]).inside(&land);
    let estimate = estimate.cells(20, 20).estimate().unwrap();
    let (_, [lower, upper]) = told(&estimate, &areas[0]);
    // Three quarters of 80: a standard deviation of .048, and up to some percent elsewhere.
    assert!(
        lower > 0.6 && lower < 0.7 && upper > 0.78 && upper < 0.86,
        "{lower} {upper}"
    );
    let (_, [_, other]) = told(&estimate, &rectangle((0.0, 20.0), (10.0, 20.0)));
    assert!(other < 0.065, "{other}");
}

/// A small district with many rows among large ones with few, which functions blur.
#[test]
fn dense_districts_hold_their_counts() {
    let mut areas = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            let (x, y) = (f64::from(i) * 4.0, f64::from(j) * 4.0);
            areas.push(rectangle((x, x + 4.0), (y, y + 4.0)));
        }
    }
    areas[12] = Polygon::new(vec![vec![
        vec![[8.0, 8.0], [12.0, 8.0], [12.0, 12.0], [8.0, 12.0]],
        vec![[9.5, 9.5], [10.5, 9.5], [10.5, 10.5], [9.5, 10.5]],
    ]])
    .unwrap();
    areas.push(rectangle((9.5, 10.5), (9.5, 10.5)));
    let mut counts: Vec<f64> = (0..25).map(|k| f64::from(3 + (7 * k) % 11)).collect();
    counts.push(40.0);
    let all: f64 = counts.iter().sum();
    let estimate = Density2d::from_areas(&areas, &counts).cells(40, 40);
    let estimate = estimate.estimate().unwrap();
    for (area, count) in areas.iter().zip(&counts) {
        let (value, [lower, upper]) = told(&estimate, area);
        assert!(lower < value && value < upper, "{lower} {value} {upper}");
        // Two standard deviations of a share to either side, as of one row where there is none.
        let reach = 2.0 * (count.max(1.0)).sqrt() / all;
        assert!((value - count / all).abs() < reach, "{count}: {value}");
        assert!(upper - lower < 2.4 * reach, "{count}: {lower} {upper}");
    }
    let (_, [lower, upper]) = told(&estimate, &areas[25]);
    assert!(lower < 40.0 / all && upper > 40.0 / all, "{lower} {upper}");
}

/// An area that holds a ninth of one cell and of three neighbours has at most a ninth of all.
#[test]
fn areas_too_small_for_the_cells_are_told() {
    let small = [[9.5, 9.5], [10.5, 9.5], [10.5, 10.5], [9.5, 10.5]].to_vec();
    let whole = [[0.0, 0.0], [20.0, 0.0], [20.0, 20.0], [0.0, 20.0]].to_vec();
    let around = Polygon::new(vec![vec![whole, small.clone()]]).unwrap();
    let areas = [around, Polygon::new(vec![vec![small]]).unwrap()];
    let estimate = Density2d::from_areas(&areas, &[30.0, 200.0]).cells(10, 10);
    let estimate = estimate.estimate().unwrap();
    let unmet = |w: &Warning| matches!(w, Warning::Unmet { share } if *share > 0.8);
    assert!(
        estimate.warnings().iter().any(unmet),
        "{:?}",
        estimate.warnings()
    );
}
