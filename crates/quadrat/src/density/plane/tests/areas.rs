//! Counts in areas with any outline.

use rand::RngExt;

use super::random;
use crate::density::{Density2d, DensityError, Estimate2d, Question2d};
use crate::support::Polygon;

fn polygon(ring: &[[f64; 2]]) -> Polygon {
    Polygon::new(vec![vec![ring.to_vec()]]).unwrap()
}

fn rectangle(x: (f64, f64), y: (f64, f64)) -> Polygon {
    Polygon::rectangle(x, y).unwrap()
}

/// Triangles that fill a slanted square with corners at (0, 1), (1, 0), (2, 1) and (1, 2), cut
/// along both diagonals.
fn slanted() -> [Polygon; 4] {
    let corners = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]];
    [0, 1, 2, 3].map(|k| polygon(&[corners[k], corners[(k + 1) % 4], [1.0, 1.0]]))
}

/// The probability of an area by the density of cells, those at a border by their land.
fn probability(estimate: &Estimate2d, area: &Polygon) -> (f64, f64) {
    let mut found = (0.0, 0.0);
    let inside = Question2d::Inside(std::slice::from_ref(area));
    estimate.ask(&[inside], |_, answer| found = (answer.value, answer.sd()));
    found
}

#[test]
fn rectangles_are_boxes() {
    let edges = [(0.0, 1.0), (1.0, 1.5), (1.5, 4.0)];
    let (mut areas, mut ends, mut counts) = (Vec::new(), <[Vec<f64>; 4]>::default(), Vec::new());
    for (i, x) in edges.into_iter().enumerate() {
        for (j, y) in edges.into_iter().enumerate() {
            areas.push(rectangle(x, y));
            let own = [x.0, x.1, y.0, y.1];
            ends.iter_mut().zip(own).for_each(|(to, end)| to.push(end));
            counts.push((7 * i + 3 * j) as f64);
        }
    }
    let [a, b, c, d] = &ends;
    let whole = (0.0, 4.0);
    // Edges of boxes are not edges of cells.
    let of_boxes = Density2d::from_bins([a, b], [c, d], &counts).bounds(whole, whole);
    let of_boxes = of_boxes.cells(17, 23).draws(400).estimate().unwrap();
    let of_areas = Density2d::from_areas(&areas, &counts).cells(17, 23);
    let of_areas = of_areas.draws(400).estimate().unwrap();
    for (a, b) in of_areas.density().iter().zip(of_boxes.density()) {
        // Shares of cells differ by rounding, which searches for a mode carry to their tolerance.
        assert!((a - b).abs() < 1e-6 * b.max(1e-3), "{a} {b}");
    }
}

#[test]
fn counts_of_slanted_areas_are_met_and_nothing_lies_outside() {
    let areas = slanted();
    let counts = [40.0, 30.0, 20.0, 110.0];
    let estimate = Density2d::from_areas(&areas, &counts).cells(31, 30);
    let estimate = estimate.estimate().unwrap();
    let mut all = 0.0;
    for (area, count) in areas.iter().zip(counts) {
        let (mean, sd) = probability(&estimate, area);
        // Shares of 200 rows in four areas; the prior draws them together.
        assert!((mean - count / 200.0).abs() < 2.5 * sd, "{mean} {sd}");
        let binomial = (count / 200.0 * (1.0 - count / 200.0) / 200.0).sqrt();
        assert!(sd < 1.3 * binomial, "{sd} {binomial}");
        all += mean;
    }
    // The areas fill all that can hold a value: every cell at a border is theirs.
    assert!((all - 1.0).abs() < 1e-9, "{all}");
    // A corner of the sheet lies outside of all areas.
    assert_eq!(estimate.probability((0.0, 0.4), (0.0, 0.4)).value, 0.0);
}

/// A density that falls along one axis, seen through districts of which some are only known by
/// their province.
#[test]
fn provinces_say_something_beside_their_districts() {
    let mut random = random(11);
    let districts: Vec<Polygon> = (0..6)
        .flat_map(|i| (0..3).map(move |j| (f64::from(i), f64::from(j))))
        .map(|(x, y)| rectangle((x, x + 1.0), (y, y + 1.0)))
        .collect();
    let province = rectangle((0.0, 3.0), (0.0, 3.0));
    let mut counts = vec![0.0; 18];
    for _ in 0..120 {
        // A density of 2 (6 - x) / 36 along the first axis.
        let x = 6.0 * (1.0 - random.random::<f64>().sqrt());
        let y = 3.0 * random.random::<f64>();
        counts[3 * (x.min(5.9) as usize) + y as usize] += 1.0;
    }
    let apart = Density2d::from_areas(&districts, &counts).cells(24, 12);
    let apart = probability(&apart.estimate().unwrap(), &province);
    let mut areas = districts.clone();
    areas.push(province.clone());
    counts.push(200.0);
    let both = Density2d::from_areas(&areas, &counts).cells(24, 12);
    let both = probability(&both.estimate().unwrap(), &province);
    // 200 further values, all of the province.
    assert!(both.0 > apart.0 && both.1 < apart.1, "{both:?} {apart:?}");
}

#[test]
fn areas_that_cannot_hold_a_value_are_named() {
    let areas = [
        rectangle((0.0, 1.0), (0.0, 1.0)),
        rectangle((1.0, 2.0), (0.0, 1.0)),
        rectangle((5.0, 6.0), (0.0, 1.0)),
    ];
    let land = [rectangle((0.0, 2.0), (0.0, 1.0))];
    let counts = [3.0, 5.0, 2.0];
    let density = || {
        Density2d::from_areas(&areas, &counts)
            .cells(10, 10)
            .draws(300)
    };
    let told = density().inside(&land).estimate().unwrap_err();
    assert!(
        matches!(told, DensityError::Beyond { first: 2, .. }),
        "{told}"
    );
    // Within the bounds of the land, and outside of it.
    let ring = [
        [0.0, 0.0],
        [2.0, 0.0],
        [2.0, 1.0],
        [6.0, 1.0],
        [6.0, 2.0],
        [0.0, 2.0],
    ];
    let told = density().inside(&[polygon(&ring)]).estimate().unwrap_err();
    assert!(
        matches!(told, DensityError::Beyond { first: 2, .. }),
        "{told}"
    );
    let told = density()
        .bounds((0.0, 4.0), (0.0, 1.0))
        .estimate()
        .unwrap_err();
    assert!(told.to_string().contains("row 2"), "{told}");
    assert!(
        Density2d::from_areas(&areas, &[1.0, 2.0])
            .estimate()
            .is_err()
    );
    assert!(
        Density2d::from_areas(&areas, &[1.0, -2.0, 1.0])
            .estimate()
            .is_err()
    );
    assert!(Density2d::from_areas(&areas, &[0.0; 3]).estimate().is_err());
    let few = Density2d::from_areas(&areas, &counts).cells(10, 10);
    assert_eq!(few.draws(300).estimate().unwrap().total(), 10.0);
}
