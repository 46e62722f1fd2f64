//! Rows as rectangles of a map over two dimensions.

use std::collections::BTreeMap;

use quadrat_study::places::{Along, Places};

use super::raster::Lattice;

/// How many marks of a point fit side by side along a map: of many points, and of few, which would
/// hardly be seen.
const DOTS: (f64, f64) = (80.0, 30.0);
/// The same for every row along a square of them.
const APART: f64 = 5.0;
/// A grid without regular steps has at most so many crossings for every point on it.
const SPARSE: usize = 2;
/// Edges that differ by less than this share of a cell are the same edge.
const SAME: f64 = 1e-6;

/// Left, right, lower and upper edge.
pub type Cell = [f64; 4];

/// The cells of some rows, where none lies over another: boxes themselves, and points of a lattice
/// or another grid, with or without holes. Points get the half of the way to their neighbours.
pub fn of(places: &Places, rows: &[usize], (x, y): (usize, usize)) -> Option<Vec<Cell>> {
    let (across, up) = (&places.dims[x], &places.dims[y]);
    if across.second.is_none() && up.second.is_none() {
        return points(places, rows, (x, y));
    }
    let cells = extents(places, rows, (x, y));
    (!overlap(&cells)).then_some(cells)
}

/// The boxes of some rows, whether or not they lie over each other; points as in [`of`].
pub fn extents(places: &Places, rows: &[usize], (x, y): (usize, usize)) -> Vec<Cell> {
    let columns = sides(&places.dims[x], rows).into_iter();
    let both = columns.zip(sides(&places.dims[y], rows));
    both.map(|((x0, x1), (y0, y1))| [x0, x1, y0, y1]).collect()
}

/// Marks of one size at points that lie on no grid, squares where one unit is as long along both
/// dimensions; none for boxes.
pub fn dots(
    places: &Places,
    rows: &[usize],
    (x, y): (usize, usize),
    equal_scale: bool,
) -> Option<Vec<Cell>> {
    let (across, up) = (&places.dims[x], &places.dims[y]);
    if across.second.is_some() || up.second.is_some() {
        return None;
    }
    let along = (APART * (rows.len() as f64).sqrt()).clamp(DOTS.1, DOTS.0);
    let half = |dim: &Along| {
        let ends = rows.iter().map(|&row| dim.first[row]);
        let low = ends.clone().fold(f64::INFINITY, f64::min);
        let high = ends.fold(f64::NEG_INFINITY, f64::max);
        (high - low) / (2.0 * along)
    };
    let (wide, high) = match (half(across), half(up)) {
        (wide, high) if equal_scale => (wide.max(high), wide.max(high)),
        each => each,
    };
    // A mark has a size where all points lie in a row.
    let positive = |half: f64, other: f64| match half {
        half if half > 0.0 => half,
        _ if other > 0.0 => other,
        _ => 0.5,
    };
    let (wide, high) = (positive(wide, high), positive(high, wide));
    let dot = |&row: &usize| {
        let (x, y) = (across.first[row], up.first[row]);
        [x - wide, x + wide, y - high, y + high]
    };
    Some(rows.iter().map(dot).collect())
}

fn points(places: &Places, rows: &[usize], (x, y): (usize, usize)) -> Option<Vec<Cell>> {
    let (across, up) = (&places.dims[x], &places.dims[y]);
    let place = |&row: &usize| [across.first[row], up.first[row]];
    let all: Vec<[f64; 2]> = rows.iter().map(place).collect();
    let mut distinct: Vec<[u64; 2]> = all.iter().map(|p| p.map(|v| (v + 0.0).to_bits())).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < rows.len() {
        return None;
    }
    let count = |d: usize| {
        let mut values: Vec<u64> = distinct.iter().map(|p| p[d]).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let crossings = count(0).saturating_mul(count(1));
    // A grid without holes fills itself, whatever its steps.
    let has_holes = crossings > rows.len();
    let lattice = has_holes.then(|| Lattice::of(&all)).flatten();
    if let Some(lattice) = lattice {
        let [dx, dy] = lattice.step.map(|step| step / 2.0);
        let cell = |[x, y]: [f64; 2]| [x - dx, x + dx, y - dy, y + dy];
        return Some(all.into_iter().map(cell).collect());
    }
    (crossings <= SPARSE * rows.len()).then(|| extents(places, rows, (x, y)))
}

/// Both sides of every row's cell along a dimension; a point gets the halves of the gaps to its
/// neighbours.
fn sides(dim: &Along, rows: &[usize]) -> Vec<(f64, f64)> {
    if dim.second.is_some() {
        return rows.iter().map(|&row| dim.ends(row)).collect();
    }
    let mut places: Vec<f64> = rows.iter().map(|&row| dim.first[row]).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let side = |&row: &usize| {
        let x = dim.first[row];
        let at = places.partition_point(|place| *place < x);
        let below = at.checked_sub(1).map(|i| x - places[i]);
        let above = places.get(at + 1).map(|next| next - x);
        let (Some(low), Some(high)) = (below.or(above), above.or(below)) else {
            return (x - 0.5, x + 0.5);
        };
        (x - low / 2.0, x + high / 2.0)
    };
    rows.iter().map(side).collect()
}

/// Whether any two cells share more than an edge.
///
/// A line sweeps from left to right; the cells on it, in the order of their lower edges, touch
/// their neighbours at most as long as nothing overlaps.
fn overlap(cells: &[Cell]) -> bool {
    let slack = |low: f64, high: f64| SAME * (high - low);
    let mut events: Vec<(f64, bool, usize)> = Vec::with_capacity(2 * cells.len());
    // What has no width lies over nothing.
    let wide = |(_, [x0, x1, _, _]): &(usize, &Cell)| x0 < x1;
    for (i, [x0, x1, _, _]) in cells.iter().enumerate().filter(wide) {
        events.push((x0 + slack(*x0, *x1), true, i));
        events.push((x1 - slack(*x0, *x1), false, i));
    }
    // Cells that end do so before others begin.
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // Doubles in the order of their bits, the sign turned.
    let order = |x: f64| {
        let bits = (x + 0.0).to_bits() as i64;
        bits ^ (((bits >> 63) as u64) >> 1) as i64
    };
    let mut open: BTreeMap<(i64, usize), usize> = BTreeMap::new();
    for (_, begins, i) in events {
        let [_, _, low, high] = cells[i];
        let key = (order(low), i);
        if !begins {
            open.remove(&key);
            continue;
        }
        let free = |upper: f64, lower: f64| lower - upper >= -slack(low, high);
        let below = open.range(..key).next_back().map(|(_, &j)| cells[j][3]);
        let above = open.range(key..).next().map(|(_, &j)| cells[j][2]);
        if below.is_some_and(|end| !free(end, low)) || above.is_some_and(|start| !free(high, start))
        {
            return true;
        }
        open.insert(key, i);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(places: &Places) -> Vec<usize> {
        (0..places.len()).collect()
    }

    /// Points of a lattice of 10 by 20 inside a circle, and one row and one column of it missing.
    fn masked() -> Places {
        let inside =
            |&(i, j): &(i32, i32)| (i - 4).pow(2) + (j - 5).pow(2) < 25 && i != 3 && j != 6;
        let kept = (0..10).flat_map(|i| (0..11).map(move |j| (i, j)));
        let (x, y): (Vec<f64>, Vec<f64>) = kept
            .filter(inside)
            .map(|(i, j)| (10.0 * f64::from(i), 20.0 * f64::from(j)))
            .unzip();
        Places::points(&[("x", &x), ("y", &y)])
    }

    #[test]
    fn points_of_a_lattice_with_holes_have_cells_of_its_steps() {
        let places = masked();
        let cells = of(&places, &all(&places), (0, 1)).unwrap();
        assert_eq!(cells.len(), places.len());
        for [x0, x1, y0, y1] in &cells {
            // Roundings of places up to 200 and of the steps that are found between them.
            assert!((x1 - x0 - 10.0).abs() < 1e-9 && (y1 - y0 - 20.0).abs() < 1e-9);
        }
        assert!(!overlap(&cells));
    }

    #[test]
    fn a_grid_with_uneven_steps_fills_itself() {
        let x = [0.0, 0.0, 1.0, 1.0, 5.0, 5.0];
        let y = [0.0, 3.0, 0.0, 3.0, 0.0, 3.0];
        let places = Places::points(&[("x", &x), ("y", &y)]);
        let cells = of(&places, &all(&places), (0, 1)).unwrap();
        assert_eq!(cells[2], [0.5, 3.0, -1.5, 1.5]);
        // One point twice is no map.
        assert!(of(&places, &[0, 1, 2, 3, 4, 5, 5], (0, 1)).is_none());
    }

    #[test]
    fn scattered_points_are_dots() {
        let x: Vec<f64> = (0..40).map(|i| (f64::from(i) * 0.754_9).fract()).collect();
        let y: Vec<f64> = (0..40).map(|i| (f64::from(i) * 0.569_8).fract()).collect();
        let places = Places::points(&[("x", &x), ("y", &y)]);
        assert!(of(&places, &all(&places), (0, 1)).is_none());
        let dots = dots(&places, &all(&places), (0, 1), false).unwrap();
        // 40 points: five times the side of a square of them fit along the map.
        let wide = |d: &Cell| (0.02..0.04).contains(&(d[1] - d[0]));
        assert!(dots.iter().all(wide), "{dots:?}");
        // In a row, and at one place, they have a size too.
        let flat = Places::points(&[("x", &[1.0, 2.0]), ("y", &[0.0, 0.0])]);
        let dots = super::dots(&flat, &[0, 1], (0, 1), true).unwrap();
        assert!(dots.iter().all(|d| d[3] > d[2]));
        let dots = super::dots(&flat, &[0], (0, 1), true).unwrap();
        assert_eq!(dots, [[0.5, 1.5, -0.5, 0.5]]);
    }

    #[test]
    fn cells_that_touch_do_not_overlap_and_others_do() {
        let mut cells: Vec<Cell> = Vec::new();
        for i in 0..20 {
            for j in 0..20 {
                // Edges that are not quite alike.
                let at = |k: i32| f64::from(k) * 0.1 - 0.7;
                cells.push([
                    at(i),
                    at(i + 1),
                    0.3 * f64::from(j),
                    0.1 * f64::from(3 * (j + 1)),
                ]);
            }
        }
        assert!(!overlap(&cells));
        for extra in [
            [0.0, 0.05, 1.0, 1.1],
            [-9.0, 9.0, -9.0, 9.0],
            [-0.7, -0.6, 0.0, 0.3],
        ] {
            let with = [cells.clone(), vec![extra]].concat();
            assert!(overlap(&with), "{extra:?}");
        }
        assert!(!overlap(&[[0.0, 1.0, 0.0, 1.0], [2.0, 3.0, 0.5, 1.5]]));
        assert!(!overlap(&[]));
    }
}
