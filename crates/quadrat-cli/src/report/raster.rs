//! Bags whose points lie on a lattice in two dimensions, such as pixels, as maps.

use quadrat_plot::{Area, Pixel};
use quadrat_study::answer::Answer;
use quadrat_study::numbers::human;
use quadrat_study::places::Places;
use quadrat_study::resolve::Observed;
use quadrat_study::shapes::Kind;
use quadrat_study::study::map_kernel::is_plane;

/// Coordinates are on a lattice when they are off it by less than this share of a step.
const OFF: f64 = 1e-3;
/// Gaps below this share of the range are rounding.
const SAME: f64 = 1e-7;
/// A lattice has at most so many cells for every point on it.
pub const SPARSE: usize = 4;

/// A place in the two dimensions of a map.
type Place = [f64; 2];

/// The cells of a regular grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    origin: Place,
    /// Distances of neighbours.
    pub step: Place,
}

impl Lattice {
    /// The lattice of some places; none where they are scattered, or two fall into one cell.
    pub fn of(places: &[Place]) -> Option<Self> {
        let axis = |d: usize| {
            let mut values: Vec<f64> = places.iter().map(|place| place[d]).collect();
            values.sort_by(f64::total_cmp);
            let (low, high) = (*values.first()?, *values.last()?);
            let gaps = values.windows(2).map(|pair| pair[1] - pair[0]);
            let real = gaps.filter(|gap| *gap > SAME * (high - low));
            let step = real.fold(f64::INFINITY, f64::min);
            let count = ((high - low) / step).round() as usize + 1;
            step.is_finite().then_some((low, step, count))
        };
        let ((x, dx, nx), (y, dy, ny)) = (axis(0)?, axis(1)?);
        if nx.saturating_mul(ny) > SPARSE.saturating_mul(places.len()) {
            return None;
        }
        let lattice = Self {
            origin: [x, y],
            step: [dx, dy],
        };
        let mut taken = vec![false; nx * ny];
        for place in places {
            let (i, j) = lattice.cell(place)?;
            let cell = taken.get_mut(i * ny + j)?;
            if std::mem::replace(cell, true) {
                return None;
            }
        }
        Some(lattice)
    }

    /// The cell of a place on the lattice.
    fn cell(&self, place: &Place) -> Option<(usize, usize)> {
        let index = |d: usize| {
            let at = (place[d] - self.origin[d]) / self.step[d];
            let whole = at.round();
            ((at - whole).abs() < OFF && whole >= 0.0).then_some(whole as usize)
        };
        Some((index(0)?, index(1)?))
    }

    /// The cells of some places as few rectangles `[x0, x1, y0, y1]`: one where they fill it, else
    /// runs along x.
    fn rectangles(&self, places: &[Place]) -> Vec<[f64; 4]> {
        let mut cells: Vec<(usize, usize)> = places.iter().filter_map(|p| self.cell(p)).collect();
        cells.sort_unstable_by_key(|&(i, j)| (j, i));
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for (i, j) in cells {
            match runs.last_mut() {
                Some((_, end, row)) if *row == j && *end + 1 == i => *end = i,
                _ => runs.push((i, i, j)),
            }
        }
        let edge =
            |d: usize, at: usize, side: f64| self.origin[d] + (at as f64 + side) * self.step[d];
        let rectangle = |from: usize, to: usize, low: usize, high: usize| {
            [
                edge(0, from, -0.5),
                edge(0, to, 0.5),
                edge(1, low, -0.5),
                edge(1, high, 0.5),
            ]
        };
        let (first, last) = match (runs.first(), runs.last()) {
            (Some(&first), Some(&last)) => (first, last),
            _ => return Vec::new(),
        };
        let is_full = runs
            .iter()
            .enumerate()
            .all(|(k, run)| (run.0, run.1) == (first.0, first.1) && run.2 == first.2 + k);
        if is_full {
            return vec![rectangle(first.0, first.1, first.2, last.2)];
        }
        let one = |&(from, to, row): &(usize, usize, usize)| rectangle(from, to, row, row);
        runs.iter().map(one).collect()
    }
}

/// Rows that are bags of cells of one lattice.
pub struct Raster {
    /// The names of the two dimensions.
    pub dims: [String; 2],
    /// Whether one unit is as long along both.
    pub equal_scale: bool,
    /// The rectangles of every row.
    rectangles: Vec<Vec<[f64; 4]>>,
}

impl Raster {
    /// The raster of rows that are bags, over the first two dimensions in which their points lie on
    /// a lattice, or over those that are wanted. None when rows share points.
    pub fn of(places: &Places, wanted: Option<[&str; 2]>) -> Option<Self> {
        let shapes = places.shapes.as_ref()?;
        let Kind::Bags(bags) = &shapes.kind else {
            return None;
        };
        let count = shapes.dims.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let find = |name: &str| shapes.dims.iter().position(|dim| dim == name);
        let pairs: Vec<(usize, usize)> = match wanted {
            None => pairs.collect(),
            Some([x, y]) => vec![(find(x)?, find(y)?)],
        };
        let try_pair = |(a, b): (usize, usize)| {
            let dims = [shapes.dims[a].clone(), shapes.dims[b].clone()];
            let map = places.geographic.as_ref();
            let map = map.filter(|map| map.dims == dims);
            let coordinates = &bags.points.coordinates;
            let place = |point: usize| {
                let at = [coordinates[a][point], coordinates[b][point]];
                match map {
                    Some(map) => map.degrees(at).ok(),
                    None => Some(at),
                }
            };
            let of_row = |row: usize| {
                let points = bags.points.of(shapes.of_row[row]);
                points.map(place).collect::<Option<Vec<Place>>>()
            };
            let rows: Vec<Vec<Place>> = (0..places.len()).map(of_row).collect::<Option<_>>()?;
            let lattice = Lattice::of(&rows.concat())?;
            Some(Self {
                dims,
                equal_scale: map.is_some()
                    || is_plane(&shapes.dims[a], &shapes.dims[b])
                    || (lattice.step[0] / lattice.step[1] - 1.0).abs() < OFF,
                rectangles: rows.iter().map(|row| lattice.rectangles(row)).collect(),
            })
        };
        pairs.into_iter().find_map(try_pair)
    }

    /// Predictions, totals per unit of their weight.
    pub fn pixels(&self, places: &Places, answer: &Answer) -> Vec<Pixel> {
        let pixel = |(row, at): (usize, &[f64; 4])| pixel(places, answer, row, *at);
        self.each().map(pixel).collect()
    }

    /// Values of the rows that have one, with words for each.
    pub fn areas(&self, value: impl Fn(usize) -> Option<(f64, String)>) -> Vec<Area> {
        let one = |(row, &at): (usize, &[f64; 4])| {
            let (value, label) = value(row)?;
            Some(area(at, value, label))
        };
        self.each().filter_map(one).collect()
    }

    fn each(&self) -> impl Iterator<Item = (usize, &[f64; 4])> {
        let rows = self.rectangles.iter().enumerate();
        rows.flat_map(|(row, own)| own.iter().map(move |rectangle| (row, rectangle)))
    }
}

/// A value in the rectangle `[x0, x1, y0, y1]`.
pub fn area([x0, x1, y0, y1]: [f64; 4], value: f64, label: String) -> Area {
    Area {
        x0,
        x1,
        y0,
        y1,
        value,
        label,
    }
}

/// The prediction of a row, its total per unit of its weight, in the rectangle `[x0, x1, y0, y1]`.
pub fn pixel(places: &Places, answer: &Answer, row: usize, [x0, x1, y0, y1]: [f64; 4]) -> Pixel {
    let scale = places.volume(row);
    Pixel {
        x0,
        x1,
        y0,
        y1,
        mean: answer.mean[row] / scale,
        sd: answer.sd[row] / scale,
        lower: answer.lower[row] / scale,
        upper: answer.upper[row] / scale,
        chances: answer
            .chances
            .iter()
            .map(|(_, column)| column[row])
            .collect(),
    }
}

/// What a table of bags reports, as areas of a map over two dimensions.
pub fn observed(table: &Observed, dims: [&str; 2]) -> Vec<Area> {
    let Some((raster, shapes)) =
        Raster::of(&table.places, Some(dims)).zip(table.places.shapes.as_ref())
    else {
        return Vec::new();
    };
    let name = table.says.value_name();
    raster.areas(|row| {
        let value = table.height(row)?;
        let total = human(value * table.places.volume(row));
        let key = &shapes.keys[row];
        Some((value, format!("{name} {total}, {} {key}", shapes.header)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(nx: usize, ny: usize) -> Vec<Place> {
        let cell = |i: usize| [10.0 * (i % nx) as f64 + 5.0, 0.1 * (i / nx) as f64 + 0.05];
        (0..nx * ny).map(cell).collect()
    }

    #[test]
    fn pixels_are_a_lattice_and_scattered_points_are_none() {
        let places = grid(7, 4);
        let lattice = Lattice::of(&places).unwrap();
        // Rounding of places up to 70.
        assert!((lattice.step[0] - 10.0).abs() < 1e-9 && (lattice.step[1] - 0.1).abs() < 1e-9);
        // Half of them gone: still one. Two of one cell: none.
        assert!(Lattice::of(&places[..14]).is_some());
        let twice = [places.clone(), vec![places[3]]].concat();
        assert_eq!(Lattice::of(&twice), None);
        let moved: Vec<Place> = places.iter().map(|[x, y]| [x + 3.0 * y, *y]).collect();
        assert_eq!(Lattice::of(&moved), None);
        assert_eq!(Lattice::of(&[]), None);
        assert_eq!(Lattice::of(&[[1.0, 2.0]]), None);
    }

    #[test]
    fn a_full_block_is_one_rectangle_and_others_are_runs() {
        let places = grid(4, 3);
        let lattice = Lattice::of(&places).unwrap();
        // Rounding of places up to 40.
        let near = |got: &[f64; 4], want: [f64; 4]| {
            got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-9)
        };
        let all = lattice.rectangles(&places);
        assert!(
            all.len() == 1 && near(&all[0], [0.0, 40.0, 0.0, 0.3]),
            "{all:?}"
        );
        // A corner is missing, and the middle row has a hole.
        let holes: Vec<Place> = [0, 1, 2, 4, 6, 7].map(|i: usize| places[i]).to_vec();
        let runs = lattice.rectangles(&holes);
        assert_eq!(runs.len(), 3);
        assert!(near(&runs[0], [0.0, 30.0, 0.0, 0.1]), "{runs:?}");
        assert!(near(&runs[2], [20.0, 40.0, 0.1, 0.2]), "{runs:?}");
        let area: f64 = runs.iter().map(|r| (r[1] - r[0]) * (r[3] - r[2])).sum();
        assert!((area - 6.0).abs() < 1e-9);
    }
}
