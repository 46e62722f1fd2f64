//! From coordinates to a grid: what can be seen, and nothing finer.

use crate::figure::{MapFigure, MapRegion};
use crate::prepare::range::{range, widened};

/// Steps of the grid along the longer side of the sheet. Rounding vertices one by one keeps shared
/// borders shared.
const STEPS: f64 = 2000.0;
/// Steps between lines of hatching.
const HATCH: i32 = 40;
/// Half the width of the mark that stands for a region too small to see.
const SPECK: i32 = 4;

/// Kilometres per degree of latitude on a sphere of the Earth's mean radius, 6371 km.
const DEGREE: f64 = 111.194_926_6;

/// A ring on the grid, not closed.
pub(crate) type Ring = Vec<[i32; 2]>;

/// How coordinates become places on the grid.
pub(super) struct Sheet {
    left: f64,
    top: f64,
    /// Width of the sheet in units of y over its width in units of x.
    shrink: f64,
    /// Grid steps per unit of y.
    steps: f64,
    size: (f64, f64),
    /// The longitude from which on regions are drawn, once round; none leaves them where they are.
    west: Option<f64>,
}

impl Sheet {
    /// The sheet that holds all regions of a figure.
    pub(super) fn new(figure: &MapFigure) -> Self {
        let span = |axis: usize, west: Option<f64>| {
            let parts = figure.regions.iter().flat_map(|r| &r.parts);
            let along = parts.flat_map(|part| {
                let shift = shift(part, west);
                let places = part.iter().flatten().map(move |v| [v[0] + shift, v[1]]);
                places.map(move |place| place[axis])
            });
            widened(range(along), false)
        };
        let width = |west| span(0, west).1 - span(0, west).0;
        let west = western(figure).filter(|_| figure.geographic && width(None) > 180.0);
        let west = west.filter(|west| width(Some(*west)) < width(None));
        let (x, y) = (span(0, west), span(1, west));
        let shrink = if figure.geographic {
            // A map around a pole keeps a width.
            f64::midpoint(y.0, y.1).to_radians().cos().max(0.05)
        } else {
            1.0
        };
        let (wide, high) = ((x.1 - x.0) * shrink, y.1 - y.0);
        let steps = STEPS / wide.max(high);
        Self {
            left: x.0,
            top: y.1,
            shrink,
            steps,
            size: ((wide * steps).max(1.0), (high * steps).max(1.0)),
            west,
        }
    }

    /// Width and height in grid steps.
    pub(super) fn size(&self) -> (f64, f64) {
        self.size
    }

    /// Grid steps per unit of length, and the name of that unit: kilometres where coordinates are
    /// degrees.
    pub(super) fn per_unit<'a>(&self, figure: &'a MapFigure) -> Option<(f64, &'a str)> {
        match figure.geographic {
            true => Some((self.steps / DEGREE, "km")),
            false => figure.unit.as_deref().map(|unit| (self.steps, unit)),
        }
    }

    /// The polygons of a region on the grid; parts too small to see are dropped, unless none would
    /// be left.
    pub(super) fn region(&self, region: &MapRegion) -> Vec<Vec<Ring>> {
        let mut polygons = Vec::with_capacity(region.parts.len());
        for part in &region.parts {
            let shift = shift(part, self.west);
            let mut rings = part.iter().map(|ring| self.ring(ring, shift));
            let Some(mut outer) = rings.next().filter(|r| area(r) != 0) else {
                continue;
            };
            wind(&mut outer, true);
            let mut polygon = vec![outer];
            for mut hole in rings.filter(|r| area(r) != 0) {
                wind(&mut hole, false);
                polygon.push(hole);
            }
            polygons.push(polygon);
        }
        if polygons.is_empty() {
            let first = region.parts.iter().find_map(|part| {
                let [x, y] = *part.iter().flatten().next()?;
                Some(self.at([x + shift(part, self.west), y]))
            });
            let [x, y] = first.unwrap_or([0, 0]);
            let mut speck = vec![
                [x - SPECK, y],
                [x, y - SPECK],
                [x + SPECK, y],
                [x, y + SPECK],
            ];
            wind(&mut speck, true);
            polygons.push(vec![speck]);
        }
        polygons
    }

    fn ring(&self, ring: &[[f64; 2]], shift: f64) -> Ring {
        let mut out: Ring = ring.iter().map(|v| self.at([v[0] + shift, v[1]])).collect();
        out.dedup();
        while out.len() > 1 && out.first() == out.last() {
            out.pop();
        }
        out
    }

    fn at(&self, [x, y]: [f64; 2]) -> [i32; 2] {
        [
            ((x - self.left) * self.shrink * self.steps).round() as i32,
            ((self.top - y) * self.steps).round() as i32,
        ]
    }
}

/// Smallest and largest longitude of a part.
fn longitudes(part: &[Vec<[f64; 2]>]) -> Option<(f64, f64)> {
    range(part.iter().flatten().map(|v| v[0]))
}

/// Where the widest gap without regions ends, going east round the globe: cut there, the map is
/// narrowest.
fn western(figure: &MapFigure) -> Option<f64> {
    let parts = figure.regions.iter().flat_map(|r| &r.parts);
    let mut spans: Vec<(f64, f64)> = parts
        .filter_map(|part| {
            let (low, high) = longitudes(part)?;
            let start = low.rem_euclid(360.0);
            Some((start, start + high - low))
        })
        .collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = |reach: f64, span: &(f64, f64)| reach.max(span.1);
    // What reaches furthest east may lie over the first again.
    let mut reach = spans.iter().fold(f64::NEG_INFINITY, ends) - 360.0;
    let mut widest: Option<(f64, f64)> = None;
    for span in &spans {
        let gap = span.0 - reach;
        if widest.is_none_or(|(known, _)| gap > known) {
            widest = Some((gap, span.0));
        }
        reach = ends(reach, span);
    }
    widest.map(|(_, start)| start)
}

/// Whole turns that bring a part into the turn that begins at `west`.
fn shift(part: &[Vec<[f64; 2]>], west: Option<f64>) -> f64 {
    let (Some(west), Some((low, _))) = (west, longitudes(part)) else {
        return 0.0;
    };
    // What begins at `west` itself must not be a turn off by rounding.
    -360.0 * ((low - west) / 360.0 + 1e-9).floor()
}

/// Twice the signed area of a ring.
fn area(ring: &[[i32; 2]]) -> i64 {
    let cross = |a: &[i32; 2], b: &[i32; 2]| {
        i64::from(a[0]) * i64::from(b[1]) - i64::from(b[0]) * i64::from(a[1])
    };
    let next = ring.iter().cycle().skip(1);
    ring.iter().zip(next).map(|(a, b)| cross(a, b)).sum()
}

/// Turns a ring so that its area has a sign: with holes the other way round, every rule of filling
/// leaves them open.
fn wind(ring: &mut Ring, positive: bool) {
    if (area(ring) > 0) != positive {
        ring.reverse();
    }
}

/// Region and part of every polygon, the largest first: what lies in a hole is smaller than what is
/// around it.
pub(super) fn order(regions: &[Vec<Vec<Ring>>]) -> Vec<(usize, usize)> {
    let mut order: Vec<(usize, usize)> = regions
        .iter()
        .enumerate()
        .flat_map(|(i, parts)| (0..parts.len()).map(move |j| (i, j)))
        .collect();
    order.sort_by_key(|&(i, j)| std::cmp::Reverse(area(&regions[i][j][0]).abs()));
    order
}

/// Diagonal lines inside a region, by the even-odd rule.
pub(super) fn hatching(polygons: &[Vec<Ring>]) -> Vec<[[i32; 2]; 2]> {
    // Along a line x + y = c, a crossing is known by its x. Half a step off the grid, no line
    // passes through a vertex.
    let level = |v: &[i32; 2]| f64::from(v[0] + v[1]);
    let vertices = || polygons.iter().flatten().flatten();
    let low = vertices().map(|v| v[0] + v[1]).min().unwrap_or(0);
    let high = vertices().map(|v| v[0] + v[1]).max().unwrap_or(0);
    let mut crossings: Vec<Vec<f64>> = Vec::new();
    let first = low.div_euclid(HATCH);
    crossings.resize_with(
        (high.div_euclid(HATCH) - first + 1).max(0) as usize,
        Vec::new,
    );
    let line = |n: i32| f64::from(n * HATCH) + 0.5;
    for ring in polygons.iter().flatten() {
        for (a, b) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let (from, to) = (level(a).min(level(b)), level(a).max(level(b)));
            let start = (from as i32).div_euclid(HATCH);
            for n in start..=(to as i32).div_euclid(HATCH) {
                let c = line(n);
                if from < c && c < to {
                    let share = (c - level(a)) / (level(b) - level(a));
                    let x = f64::from(a[0]) + share * f64::from(b[0] - a[0]);
                    crossings[(n - first) as usize].push(x);
                }
            }
        }
    }
    let mut lines = Vec::new();
    for (n, mut xs) in (first..).zip(crossings) {
        xs.sort_by(f64::total_cmp);
        for pair in xs.chunks_exact(2) {
            let end = |x: f64| [x.round() as i32, (line(n) - x).round() as i32];
            if pair[1] - pair[0] >= 1.0 {
                lines.push([end(pair[0]), end(pair[1])]);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Heading, MapPanel};

    fn square(x: f64, y: f64, side: f64) -> Vec<[f64; 2]> {
        vec![
            [x, y],
            [x + side, y],
            [x + side, y + side],
            [x, y + side],
            [x, y],
        ]
    }

    fn figure(regions: Vec<Vec<Vec<Vec<[f64; 2]>>>>) -> MapFigure {
        let panel = MapPanel {
            values: vec![Some(1.0); regions.len()],
            ..MapPanel::default()
        };
        let regions = regions
            .into_iter()
            .map(|p| MapRegion::new("", "", p))
            .collect();
        MapFigure::new(Heading::default(), regions, vec![panel]).unwrap()
    }

    fn drawn(figure: &MapFigure) -> (Sheet, Vec<Vec<Vec<Ring>>>) {
        let sheet = Sheet::new(figure);
        let regions = figure.regions.iter().map(|r| sheet.region(r)).collect();
        (sheet, regions)
    }

    #[test]
    fn north_is_up_and_the_longer_side_has_all_steps() {
        let (sheet, regions) = drawn(&figure(vec![vec![vec![vec![
            [10.0, 5.0],
            [14.0, 5.0],
            [14.0, 7.0],
        ]]]]));
        assert_eq!(sheet.size(), (2000.0, 1000.0));
        let mut corners = regions[0][0][0].clone();
        corners.sort_unstable();
        assert_eq!(corners, [[0, 1000], [2000, 0], [2000, 1000]]);
    }

    #[test]
    fn degrees_of_longitude_are_shorter_away_from_the_equator() {
        let flat = figure(vec![vec![vec![square(0.0, 59.5, 1.0)]]]);
        let (sheet, _) = drawn(&flat.geographic().unwrap());
        // cos 60° = 1/2.
        assert!((sheet.size().0 - 1000.0).abs() < 1e-6 && sheet.size().1 == 2000.0);
    }

    #[test]
    fn regions_across_the_date_line_are_neighbours() {
        let fiji = vec![
            vec![vec![square(178.0, -1.0, 2.0)]],
            vec![vec![square(-180.0, -1.0, 2.0)]],
        ];
        let (planar, _) = drawn(&figure(fiji.clone()));
        assert!(planar.size().1 < 20.0);
        let (sheet, regions) = drawn(&figure(fiji).geographic().unwrap());
        // Half of 2000 steps, to a few roundings.
        assert!((sheet.size().1 - 1000.0).abs() < 1e-6);
        let west = regions[0][0][0].iter().map(|v| v[0]).max();
        assert_eq!(west, regions[1][0][0].iter().map(|v| v[0]).min());
    }

    #[test]
    fn longitudes_beyond_180_join_those_across_greenwich() {
        let gulf = figure(vec![
            vec![vec![square(350.0, 10.0, 2.0), square(350.5, 10.5, 1.0)]],
            vec![vec![square(5.0, 10.0, 2.0)]],
            vec![vec![square(-1.0, 10.0, 2.0)]],
        ]);
        let (sheet, regions) = drawn(&gulf.geographic().unwrap());
        // 17 degrees by two, shortened by cos 11°.
        let (wide, high) = sheet.size();
        assert!((wide / high / (17.0 / 2.0 * 11_f64.to_radians().cos()) - 1.0).abs() < 1e-12);
        let left = |region: usize| regions[region][0][0].iter().map(|v| v[0]).min().unwrap();
        // 2000 15 / 17 = 1764.7.
        assert_eq!((left(0), left(1)), (0, 1765));
        assert!(left(2) > left(0) && left(2) < left(1));
        assert_eq!(regions[0][0].len(), 2);
    }

    #[test]
    fn holes_are_wound_against_their_outer_ring_however_they_come() {
        for (outer_back, hole_back) in [(false, false), (true, false), (false, true), (true, true)]
        {
            let (mut outer, mut hole) = (square(0.0, 0.0, 3.0), square(1.0, 1.0, 1.0));
            if outer_back {
                outer.reverse();
            }
            if hole_back {
                hole.reverse();
            }
            let (_, regions) = drawn(&figure(vec![vec![vec![outer, hole]]]));
            let polygon = &regions[0][0];
            assert_eq!(polygon.len(), 2);
            assert!(area(&polygon[0]) > 0 && area(&polygon[1]) < 0);
        }
    }

    #[test]
    fn an_enclave_comes_after_what_is_around_it() {
        let around = vec![vec![square(0.0, 0.0, 3.0), square(1.0, 1.0, 1.0)]];
        let (_, regions) = drawn(&figure(vec![vec![vec![square(1.0, 1.0, 1.0)]], around]));
        assert_eq!(order(&regions), [(1, 0), (0, 0)]);
    }

    #[test]
    fn shared_borders_stay_shared_when_rounded() {
        let wiggle: Vec<[f64; 2]> = (0..=3000)
            .map(|i| {
                [
                    1.0 + 0.01 * (f64::from(i) * 0.7).sin(),
                    f64::from(i) / 3000.0,
                ]
            })
            .collect();
        let mut left = vec![[0.0, 1.0], [0.0, 0.0]];
        left.extend(&wiggle);
        let mut right = vec![[2.0, 0.0], [2.0, 1.0]];
        right.extend(wiggle.iter().rev());
        let (_, regions) = drawn(&figure(vec![vec![vec![left]], vec![vec![right]]]));
        let border = |region: &Vec<Vec<Ring>>| {
            let mut shared: Vec<_> = region[0][0].clone();
            shared.retain(|v| v[0] != 0 && v[0] != 2000);
            shared.sort_unstable();
            shared
        };
        assert_eq!(border(&regions[0]), border(&regions[1]));
        // Together they cover the sheet of 2000 x 1000 steps exactly.
        let both = area(&regions[0][0][0]) + area(&regions[1][0][0]);
        assert_eq!(both, 2 * 2000 * 1000);
    }

    #[test]
    fn specks_are_dropped_unless_they_are_a_whole_region() {
        let islands = vec![vec![square(0.0, 0.0, 1.0)], vec![square(2.0, 0.0, 1e-6)]];
        let (_, regions) = drawn(&figure(vec![islands, vec![vec![square(3.0, 0.0, 1e-6)]]]));
        assert_eq!((regions[0].len(), regions[1].len()), (1, 1));
        assert!(area(&regions[1][0][0]) > 0);
    }

    #[test]
    fn hatching_stays_inside_and_out_of_holes() {
        let ring =
            |x: i32, side: i32| vec![[x, x], [x + side, x], [x + side, x + side], [x, x + side]];
        let lines = hatching(&[vec![ring(0, 1000), ring(400, 200)]]);
        // Every line x + y = c with a length, twice where the hole splits it.
        assert!(lines.len() >= 50 + 8, "{}", lines.len());
        for [a, b] in &lines {
            assert!((a[0] + a[1] - b[0] - b[1]).abs() <= 2, "along the diagonal");
            for share in [0.25, 0.5, 0.75] {
                let at = |k: usize| f64::from(a[k]) + share * f64::from(b[k] - a[k]);
                let inside = |low: f64, high: f64| (0..2).all(|k| at(k) > low && at(k) < high);
                assert!(inside(-1.0, 1001.0) && !inside(401.0, 599.0));
            }
        }
    }
}
