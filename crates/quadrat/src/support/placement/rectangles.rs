//! Rectangles that fill a polygon.

use crate::support::Polygon;
use crate::support::ring::RegionError;

/// Finest grid tried, in cells along each input.
const FINEST: usize = 512;

/// Disjoint axis-parallel rectangles inside a polygon, in place of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rectangles {
    /// Edges `(lower, upper)` of every rectangle along both inputs, the largest first.
    pub boxes: Vec<[(f64, f64); 2]>,
    /// Weights of the averages over the rectangles in that over the polygon, `a_i / a`; they sum to
    /// one.
    pub weights: Vec<f64>,
    /// Covered share of the area, `a / A`. For integrals, weights `A / a` on the integrals over the
    /// rectangles correct the shortfall, which is the same as the averages times the area.
    pub covered: f64,
}

/// Up to `n` disjoint rectangles inside a polygon, each the largest that fits beside those before,
/// on a grid over the bounding box.
///
/// # Errors
/// [`RegionError::TooThin`] when no cell of the finest grid fits in; [`RegionError::Empty`] for
/// none.
/// # Numerics
/// Grids of 32 to 512 cells along each input, about `12 n^1/2`. Fewer than `n` rectangles when they
/// fill all cells.
/// # Source
/// Section 4.1 of Smith, Alvarez & Lawrence, *Gaussian process regression for binned data*, which
/// leaves the placement open; largest rectangle under a histogram by a stack.
pub fn rectangles(polygon: &Polygon, n: usize) -> Result<Rectangles, RegionError> {
    if n == 0 {
        return Err(RegionError::Empty { what: "rectangles" });
    }
    let mut cells = ((12.0 * (n as f64).sqrt()) as usize).clamp(32, FINEST);
    loop {
        let grid = Grid::new(polygon, cells);
        let boxes = grid.fill(n);
        if !boxes.is_empty() {
            let areas: Vec<f64> = boxes
                .iter()
                .map(|[x, y]| (x.1 - x.0) * (y.1 - y.0))
                .collect();
            let sum: f64 = areas.iter().sum();
            return Ok(Rectangles {
                boxes,
                weights: areas.iter().map(|a| a / sum).collect(),
                covered: sum / polygon.area(),
            });
        }
        if cells == FINEST {
            return Err(RegionError::TooThin { cells });
        }
        cells = (2 * cells).min(FINEST);
    }
}

struct Grid {
    /// Coordinates of the lines, `cells + 1` each.
    lines: [Vec<f64>; 2],
    /// Whether cell `(i, j)` lies inside: `inside[j * cells + i]`.
    inside: Vec<bool>,
    cells: usize,
}

impl Grid {
    fn new(polygon: &Polygon, cells: usize) -> Self {
        let lines = polygon.bounds().map(|(low, high)| {
            let mut lines: Vec<f64> = (0..=cells)
                .map(|k| low + (high - low) * (k as f64 / cells as f64))
                .collect();
            lines[cells] = high;
            lines
        });
        let mut crossed = vec![false; cells * cells];
        let at = |d: usize, c: f64| {
            let k = lines[d].partition_point(|l| *l <= c);
            k.saturating_sub(1).min(cells - 1)
        };
        for (a, b) in polygon.edges() {
            let range = |d: usize| {
                let (low, high) = (at(d, a[d].min(b[d])), at(d, a[d].max(b[d])));
                // An edge along a grid line may belong to the cell before.
                low.saturating_sub(1)..=high
            };
            for j in range(1) {
                for i in range(0) {
                    let cell = [
                        (lines[0][i], lines[0][i + 1]),
                        (lines[1][j], lines[1][j + 1]),
                    ];
                    crossed[j * cells + i] |= crosses(a, b, cell);
                }
            }
        }
        let inside = (0..cells * cells)
            .map(|k| {
                let (i, j) = (k % cells, k / cells);
                let middle = [
                    0.5 * (lines[0][i] + lines[0][i + 1]),
                    0.5 * (lines[1][j] + lines[1][j + 1]),
                ];
                !crossed[k] && polygon.contains(middle)
            })
            .collect();
        Self {
            lines,
            inside,
            cells,
        }
    }

    fn fill(mut self, n: usize) -> Vec<[(f64, f64); 2]> {
        let mut boxes = Vec::new();
        while boxes.len() < n {
            let Some([columns, rows]) = self.largest() else {
                break;
            };
            for j in rows.0..rows.1 {
                self.inside[j * self.cells + columns.0..j * self.cells + columns.1].fill(false);
            }
            boxes.push([
                (self.lines[0][columns.0], self.lines[0][columns.1]),
                (self.lines[1][rows.0], self.lines[1][rows.1]),
            ]);
        }
        boxes
    }

    /// The largest rectangle of cells inside, as half-open ranges of columns and rows. All cells
    /// have the same area.
    fn largest(&self) -> Option<[(usize, usize); 2]> {
        let mut heights = vec![0; self.cells];
        let (mut most, mut found) = (0, None);
        for j in 0..self.cells {
            for i in 0..self.cells {
                heights[i] = if self.inside[j * self.cells + i] {
                    heights[i] + 1
                } else {
                    0
                };
            }
            // Bars of rising height, with the column they reach back to.
            let mut rising: Vec<(usize, usize)> = Vec::new();
            for i in 0..=self.cells {
                let height = heights.get(i).copied().unwrap_or(0);
                let mut start = i;
                while let Some(&(from, tall)) = rising.last() {
                    if tall < height {
                        break;
                    }
                    rising.pop();
                    start = from;
                    if tall * (i - from) > most {
                        most = tall * (i - from);
                        found = Some([(from, i), (j + 1 - tall, j + 1)]);
                    }
                }
                rising.push((start, height));
            }
        }
        found
    }
}

/// Whether a segment passes through the open cell.
fn crosses(a: [f64; 2], b: [f64; 2], cell: [(f64, f64); 2]) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for d in 0..2 {
        let (low, high) = cell[d];
        let step = b[d] - a[d];
        if step == 0.0 {
            if a[d] <= low || a[d] >= high {
                return false;
            }
            continue;
        }
        let (s, t) = ((low - a[d]) / step, (high - a[d]) / step);
        from = from.max(s.min(t));
        to = to.min(s.max(t));
    }
    from < to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{Region, placement::tests::frame};

    #[test]
    fn a_rectangle_is_its_own_filling() {
        let polygon = Polygon::rectangle((1.0, 4.0), (-1e6, -1e6 + 0.5)).unwrap();
        let one = rectangles(&polygon, 5).unwrap();
        assert_eq!(one.boxes, [[(1.0, 4.0), (-1e6, -1e6 + 0.5)]]);
        assert_eq!((one.weights[0], one.covered), (1.0, 1.0));
    }

    #[test]
    fn rectangles_lie_inside_and_apart_and_fill_more_and_more() {
        let Region::Polygon(polygon) = frame() else {
            unreachable!()
        };
        let mut before = 0.0;
        for n in [1, 4, 16, 64] {
            let filling = rectangles(&polygon, n).unwrap();
            assert!(filling.boxes.len() <= n);
            assert!(filling.covered > before && filling.covered < 1.0);
            before = filling.covered;
            // Rounding of a sum of up to 64 terms: n eps / 2 = 7e-15.
            assert!((filling.weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let boxes = &filling.boxes;
            for (k, [x, y]) in boxes.iter().enumerate() {
                assert!(polygon.contains([x.0, y.0]) && polygon.contains([x.1, y.1]));
                assert!(polygon.edges().all(|(a, b)| !crosses(a, b, [*x, *y])));
                for [u, v] in &boxes[..k] {
                    let apart = u.1 <= x.0 || x.1 <= u.0 || v.1 <= y.0 || y.1 <= v.0;
                    assert!(apart);
                }
            }
        }
        println!("covered by 64: {before}");
        // Cells of the grid, 96 by 96, that edges cut are 3.6 % of the area; steps along the two
        // slanting edges may leave as much.
        assert!(before > 0.93, "{before}");
    }

    #[test]
    fn slivers_are_refused() {
        let sliver = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 1.0 + 1e-9]];
        let polygon = Polygon::new(vec![vec![sliver]]).unwrap();
        assert_eq!(
            rectangles(&polygon, 4),
            Err(RegionError::TooThin { cells: FINEST })
        );
    }
}
