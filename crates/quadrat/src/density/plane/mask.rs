//! Where a density over a plane can be: inside of polygons.

use crate::support::Polygon;

/// The ends of what polygons cover along both axes.
pub(super) fn extent(polygons: &[Polygon]) -> [(f64, f64); 2] {
    let none = [(f64::INFINITY, f64::NEG_INFINITY); 2];
    polygons.iter().map(Polygon::bounds).fold(none, |all, own| {
        [0, 1].map(|a| (all[a].0.min(own[a].0), all[a].1.max(own[a].1)))
    })
}

/// The share of every cell that lies inside of polygons that do not overlap, shape `[first axis,
/// second axis]`, the second running fastest. Where they overlap, shares add up to at most one.
///
/// # Arguments
/// * `edges` - of the cells along each axis
///
/// # Numerics
/// Exact but for rounding: the area of a polygon within a cell is `int clamp(x - left, 0, width)
/// dy` along the part of its outline that lies in the cell's row, which is a sum over pieces of its
/// sides. `O(pieces + cells)`.
pub(super) fn shares(edges: [&[f64]; 2], polygons: &[Polygon]) -> Vec<f64> {
    let [m, n] = edges.map(|e| e.len() - 1);
    let width = |axis: usize, cell: usize| edges[axis][cell + 1] - edges[axis][cell];
    let mut sweep = Sweep {
        edges,
        within: vec![0.0; m * n],
        left: vec![0.0; (m + 1) * n],
    };
    for (a, b) in polygons.iter().flat_map(Polygon::edges) {
        sweep.side(a, b);
    }
    let Sweep {
        mut within, left, ..
    } = sweep;
    for j in 0..n {
        let mut beyond = left[m * n + j];
        for i in (0..m).rev() {
            let (width, height) = (width(0, i), width(1, j));
            let area = within[i * n + j] + beyond * width;
            within[i * n + j] = (area / (width * height)).clamp(0.0, 1.0);
            beyond += left[i * n + j];
        }
    }
    // What only rounding leaves is nothing.
    let tiny = within.iter_mut().filter(|share| **share < 1e-9);
    tiny.for_each(|share| *share = 0.0);
    within
}

/// The share of the land of a cell that lies in a polygon, of which a share of the whole cell does:
/// of a cell that a border cuts, what is there lies on the land.
pub(super) fn of_land(share: f64, land: f64) -> f64 {
    match land > 0.0 {
        true => (share / land).min(1.0),
        false => 0.0,
    }
}

/// Areas below the sides seen so far.
struct Sweep<'a> {
    edges: [&'a [f64]; 2],
    /// Area between the left edge of a cell and the sides within it.
    within: Vec<f64>,
    /// Height of the sides in each cell, and beyond the last one: all cells left of them are full
    /// that high.
    left: Vec<f64>,
}

impl Sweep<'_> {
    fn side(&mut self, a: [f64; 2], b: [f64; 2]) {
        let [xs, ys] = self.edges;
        let (m, n) = (xs.len() - 1, ys.len() - 1);
        let (low, high, sign) = if a[1] <= b[1] {
            (a, b, 1.0)
        } else {
            (b, a, -1.0)
        };
        let at_y = |y: f64| {
            let share = (y - low[1]) / (high[1] - low[1]);
            low[0] + share.clamp(0.0, 1.0) * (high[0] - low[0])
        };
        let row = |y: f64| ys.partition_point(|e| *e <= y).clamp(1, n) - 1;
        let (from, to) = (low[1].max(ys[0]), high[1].min(ys[n]));
        if from >= to {
            return;
        }
        for j in row(from)..=row(to) {
            let (y0, y1) = (from.max(ys[j]), to.min(ys[j + 1]));
            if y0 >= y1 {
                continue;
            }
            let (x0, x1) = (at_y(y0), at_y(y1));
            let (least, most) = (x0.min(x1), x0.max(x1));
            // The height of the part of the side between two places along the first axis.
            let height = |from: f64, to: f64| match most > least {
                true => (y1 - y0) * (to.min(most) - from.max(least)).max(0.0) / (most - least),
                false => y1 - y0,
            };
            let first = xs.partition_point(|e| *e <= least).min(m + 1);
            for column in first..=m + 1 {
                // Column 0 lies before all cells, column m + 1 behind them.
                let (l, r) = (
                    if column == 0 {
                        f64::NEG_INFINITY
                    } else {
                        xs[column - 1]
                    },
                    if column > m {
                        f64::INFINITY
                    } else {
                        xs[column]
                    },
                );
                if l > most {
                    break;
                }
                let part = sign * height(l, r);
                if column > m {
                    self.left[m * n + j] += part;
                } else if column > 0 {
                    let middle = 0.5 * (least.max(l) + most.min(r));
                    self.within[(column - 1) * n + j] += part * (middle - l);
                    self.left[(column - 1) * n + j] += part;
                }
                if most <= r {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cells::Cells;
    use super::super::super::rows::Clean;
    use super::super::super::scale::scale;
    use super::*;

    fn axes(m: usize, n: usize, size: f64) -> [Cells; 2] {
        let rows = Clean {
            values: (0..9).map(|i| f64::from(i) * size / 9.0).collect(),
            used: 9,
            ..Clean::default()
        };
        let scale = scale(&rows).unwrap();
        [m, n].map(|count| Cells::lay(count, &scale, (0.0, size), None, false).unwrap())
    }

    fn edges(axes: &[Cells; 2]) -> [&[f64]; 2] {
        axes.each_ref().map(|axis| axis.edges.as_slice())
    }

    fn polygon(rings: Vec<Vec<[f64; 2]>>) -> Polygon {
        Polygon::new(vec![rings]).unwrap()
    }

    fn square(x: f64, y: f64, side: f64) -> Vec<[f64; 2]> {
        vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    }

    #[test]
    fn squares_cover_what_they_cover_in_any_direction() {
        let axes = axes(4, 5, 10.0);
        // Cells are 2.5 by 2.
        let mut turned = square(1.0, 1.0, 4.0);
        turned.reverse();
        for ring in [square(1.0, 1.0, 4.0), turned] {
            let got = shares(edges(&axes), &[polygon(vec![ring])]);
            let cover = |from: f64, to: f64| ((to.min(5.0) - from.max(1.0)).max(0.0)) / (to - from);
            for i in 0..4 {
                for j in 0..5 {
                    let (x, y) = (2.5 * i as f64, 2.0 * j as f64);
                    let want = cover(x, x + 2.5) * cover(y, y + 2.0);
                    // Sums of a few products of numbers of order one.
                    assert!(
                        (got[i * 5 + j] - want).abs() < 1e-14,
                        "{i} {j}: {}",
                        got[i * 5 + j]
                    );
                }
            }
        }
    }

    #[test]
    fn holes_parts_beyond_and_slanted_sides_are_areas() {
        let axes = axes(30, 40, 10.0);
        let total = |polygons: &[Polygon]| {
            shares(edges(&axes), polygons).iter().sum::<f64>() * (10.0 / 30.0) * (10.0 / 40.0)
        };
        // Sums of up to 1,200 clipped areas, each to some roundings of coordinates up to ten.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-11;
        let with_hole = polygon(vec![square(1.0, 1.0, 6.0), square(2.0, 2.0, 3.0)]);
        assert!(near(total(std::slice::from_ref(&with_hole)), 27.0));
        let triangle = polygon(vec![vec![[8.0, 0.5], [9.7, 3.1], [7.2, 2.4]]]);
        let doubled: f64 = 1.7 * 1.9 - (-0.8) * 2.6;
        assert!(near(
            total(&[with_hole, triangle.clone()]),
            27.0 + 0.5 * doubled.abs()
        ));
        // A diamond around the whole sheet, and one half of which lies beyond it.
        let diamond = |x: f64, y: f64, r: f64| {
            polygon(vec![vec![[x - r, y], [x, y - r], [x + r, y], [x, y + r]]])
        };
        assert!(near(total(&[diamond(5.0, 5.0, 30.0)]), 100.0));
        assert!(near(total(&[diamond(0.0, 5.0, 2.0)]), 4.0));
        assert!(near(total(&[diamond(5.0, 10.0, 2.0)]), 4.0));
        assert!(near(total(&[diamond(20.0, 5.0, 2.0)]), 0.0));
        // Against counting of many points.
        let got = shares(edges(&axes), &[triangle]);
        let inside = |x: f64, y: f64| {
            let corners = [[8.0, 0.5], [9.7, 3.1], [7.2, 2.4]];
            let side = |k: usize| {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
            };
            (0..3).all(|k| side(k) > 0.0)
        };
        for (cell, share) in got.iter().enumerate() {
            let (x, y) = (cell as f64 / 40.0, cell as f64 % 40.0);
            let points = (0..400).filter(|k| {
                let (s, t) = (f64::from(k % 20) + 0.5, f64::from(k / 20) + 0.5);
                inside((x.floor() + s / 20.0) / 3.0, (y + t / 20.0) / 4.0)
            });
            // A side crosses about twenty of four hundred points.
            assert!(
                (points.count() as f64 / 400.0 - share).abs() < 0.06,
                "{cell}"
            );
        }
    }
}
