//! Inner products of functionals that see which of them are combinations of others, whatever the
//! kernel.
//!
//! A functional is a weighted sum of atoms, each the average over a point, a box or a region.
//! Averages over sets with a volume are densities, and the inner product of two is the volume of
//! what they have in common over both volumes. Along a column in which one has a width and the
//! other has none they have nothing in common: no density is a value at a point. Functionals are
//! linearly dependent exactly where their matrix of these products is singular, and then they are
//! under every kernel on these columns.
//!
//! # Source
//! The Gram determinant.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::planar::{Point, bounds, clipped_area, facing, meet};
use super::{Functionals, Placed};

/// Pairs of atoms, or of triangles, looked at before it is given up.
const MOST_PAIRS: usize = 20_000_000;

/// A weighted sum of pairs of rows, each `(row, other, product)` with `other <= row`; several may
/// be of one pair.
pub(crate) type OverlapProducts = Vec<(usize, usize, f64)>;

/// Inner products of the rows along some columns; pairs that have nothing in common are left out.
/// `None` where looking would take too long, or a region lies only partly along these columns.
///
/// # Arguments
/// * `columns` - positions of the columns that count
///
/// # Numerics
/// Products are without unit: lengths are shares of the range of all rows along their column. Areas
/// that polygons have in common are right to about 1e-12 of the larger one.
pub(crate) fn products(supports: &Functionals, columns: &[usize]) -> Option<OverlapProducts> {
    let overlap = Overlap::new(supports, columns)?;
    let row_of = rows_of_atoms(supports);
    let mut found = Vec::new();
    let mut at_place: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    let mut wide = Vec::new();
    for atom in 0..supports.atom_count() {
        match overlap.place(atom) {
            Some(place) => at_place.entry(place).or_default().push(atom),
            None => wide.push(atom),
        }
    }
    let mut left = MOST_PAIRS;
    let mut add = |a: usize, b: usize, product: f64| {
        let weight = supports.weight()[a] * supports.weight()[b];
        let (i, j) = (row_of[a].max(row_of[b]), row_of[a].min(row_of[b]));
        // Two different atoms of one row stand for both orders.
        let twice = if i == j && a != b { 2.0 } else { 1.0 };
        found.push((i, j, twice * weight * product));
    };
    for atoms in at_place.values() {
        left = left.checked_sub(atoms.len() * atoms.len())?;
        for (k, &a) in atoms.iter().enumerate() {
            atoms[..=k].iter().for_each(|&b| add(a, b, 1.0));
        }
    }
    if wide.is_empty() {
        return Some(found);
    }
    let along = overlap.most_distinct(&wide);
    let (lower, width) = (supports.lower(along), supports.width(along));
    wide.sort_by(|a, b| lower[*a].total_cmp(&lower[*b]));
    for (k, &a) in wide.iter().enumerate() {
        let end = lower[a] + width[a];
        for &b in wide[k..].iter().take_while(|b| lower[**b] <= end) {
            left = left.checked_sub(1)?;
            let product = overlap.product(a, b, &mut left)?;
            if product != 0.0 {
                add(a, b, product);
            }
        }
    }
    Some(found)
}

/// The row of every atom.
fn rows_of_atoms(supports: &Functionals) -> Vec<usize> {
    let mut rows = Vec::with_capacity(supports.atom_count());
    for row in 0..supports.len() {
        rows.resize(supports.atoms(row).end, row);
    }
    rows
}

struct Overlap<'a> {
    supports: &'a Functionals,
    columns: &'a [usize],
    /// The range of all rows along every column, one where it is nothing.
    range: Vec<f64>,
    /// The triangles of every region, and its volume.
    shapes: Vec<(Vec<Vec<Point>>, f64)>,
}

impl<'a> Overlap<'a> {
    fn new(supports: &'a Functionals, columns: &'a [usize]) -> Option<Self> {
        let range = (0..supports.dims().len()).map(|d| {
            let (low, high) = supports.range(d);
            if high > low { high - low } else { 1.0 }
        });
        let whole = |placed: &Placed| {
            let mut own = placed.columns.iter();
            own.all(|c| c.is_some_and(|c| columns.contains(&c)))
        };
        let atoms = 0..supports.atom_count();
        let used: HashSet<usize> = atoms.filter_map(|a| supports.region(a)).collect();
        let mut shapes = Vec::with_capacity(supports.regions().len());
        for (at, placed) in supports.regions().iter().enumerate() {
            if !used.contains(&at) {
                shapes.push((Vec::new(), 1.0));
                continue;
            }
            if !whole(placed) {
                return None;
            }
            let triangles = match placed.columns.len() {
                2 => placed.region.simplices(),
                _ => Vec::new(),
            };
            let triangles = triangles
                .iter()
                .map(|t| facing(t.chunks_exact(2).map(|p| [p[0], p[1]])));
            shapes.push((triangles.collect(), placed.region.volume()));
        }
        Some(Self {
            range: range.collect(),
            supports,
            columns,
            shapes,
        })
    }

    /// The coordinates of an atom that is a point along all columns that count.
    fn place(&self, atom: usize) -> Option<Vec<u64>> {
        let is_point = |d: &usize| self.supports.width(*d)[atom] == 0.0;
        let is_place = self.supports.region(atom).is_none() && self.columns.iter().all(is_point);
        let bits = |d: &usize| (self.supports.lower(*d)[atom] + 0.0).to_bits();
        is_place.then(|| self.columns.iter().map(bits).collect())
    }

    /// The column along which the atoms lie apart best.
    fn most_distinct(&self, atoms: &[usize]) -> usize {
        let count = |d: &usize| {
            let lower = self.supports.lower(*d);
            let mut all: Vec<u64> = atoms.iter().map(|a| lower[*a].to_bits()).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        self.columns.iter().copied().max_by_key(count).unwrap_or(0)
    }

    /// The inner product of two atoms; `left` counts down what may still be looked at.
    fn product(&self, a: usize, b: usize, left: &mut usize) -> Option<f64> {
        let regions = [a, b].map(|atom| self.supports.region(atom));
        let placed = regions.map(|r| r.map(|r| &self.supports.regions()[r]));
        let of_region = |d: &usize| {
            let mut both = placed.iter().flatten();
            both.any(|p| p.columns.contains(&Some(*d)))
        };
        let mut product = 1.0;
        for &d in self.columns.iter().filter(|d| !of_region(d)) {
            product *= self.along(d, a, b);
            if product == 0.0 {
                return Some(0.0);
            }
        }
        let both = match (placed[0], placed[1]) {
            (None, None) => return Some(product),
            (Some(p), Some(q)) if p.columns != q.columns => return Some(0.0),
            (Some(p), Some(q)) if p.region == q.region => 1.0 / p.region.volume(),
            (Some(p), _) | (None, Some(p)) => self.in_common(p, [a, b], left)?,
        };
        let ranges = placed.iter().flatten().next().map_or(1.0, |p| {
            let columns = p.columns.iter().flatten();
            columns.map(|c| self.range[*c]).product()
        });
        Some(product * both * ranges)
    }

    /// Along one column.
    fn along(&self, d: usize, a: usize, b: usize) -> f64 {
        let (lower, width) = (self.supports.lower(d), self.supports.width(d));
        match (width[a] > 0.0, width[b] > 0.0) {
            (false, false) => f64::from(u8::from(lower[a] == lower[b])),
            (true, true) => {
                let end = (lower[a] + width[a]).min(lower[b] + width[b]);
                let length = (end - lower[a].max(lower[b])).max(0.0);
                // One after the other: the product of two tiny widths may be no number.
                length / width[a] * (self.range[d] / width[b])
            }
            _ => 0.0,
        }
    }

    /// The area that two atoms have in common in the plane of a region, over both areas; one may be
    /// a box.
    fn in_common(&self, placed: &Placed, atoms: [usize; 2], left: &mut usize) -> Option<f64> {
        let [Some(x), Some(y)] = placed.columns[..] else {
            return Some(0.0);
        };
        let span = |atom: usize, d: usize| {
            let low = self.supports.lower(d)[atom];
            (low, low + self.supports.width(d)[atom])
        };
        let pieces = atoms.map(|atom| match self.supports.region(atom) {
            Some(region) => {
                let (triangles, area) = &self.shapes[region];
                (Cow::Borrowed(triangles), *area)
            }
            None => {
                let ((x0, x1), (y0, y1)) = (span(atom, x), span(atom, y));
                let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
                let own = Cow::Owned(vec![corners.to_vec()]);
                (own, (x1 - x0) * (y1 - y0))
            }
        });
        if pieces.iter().any(|(_, area)| *area == 0.0) {
            return Some(0.0);
        }
        // Only what lies where both bounding boxes do can be in common.
        let frame = [x, y].map(|d| {
            let ((a, b), (c, e)) = (span(atoms[0], d), span(atoms[1], d));
            (a.max(c), b.min(e))
        });
        let within = pieces.each_ref().map(|(pieces, _)| -> Vec<&Vec<Point>> {
            let meets = |piece: &&Vec<Point>| meet(bounds(piece), frame);
            pieces.iter().filter(meets).collect()
        });
        *left = left.checked_sub(within[0].len() * within[1].len())?;
        let mut area = 0.0;
        for piece in &within[0] {
            let own = bounds(piece);
            let others = within[1].iter().filter(|other| meet(bounds(other), own));
            area += others.map(|other| clipped_area(piece, other)).sum::<f64>();
        }
        Some(area / pieces[0].1 / pieces[1].1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::support::{Aggregate, Polygon, Region};

    fn gram(supports: &Functionals, columns: &[usize]) -> Vec<Vec<f64>> {
        let n = supports.len();
        let mut gram = vec![vec![0.0; n]; n];
        for (i, j, v) in products(supports, columns).unwrap() {
            gram[i][j] += v;
            if i != j {
                gram[j][i] += v;
            }
        }
        gram
    }

    #[test]
    fn sums_over_boxes_have_the_length_that_they_share() {
        let set =
            Functionals::intervals("x", &[(0.0, 2.0), (1.0, 4.0), (3.0, 4.0)], Aggregate::Sum);
        // Lengths in units of the range, 4, times that of the sums: 4 times the shared length.
        let want = [[8.0, 4.0, 0.0], [4.0, 12.0, 4.0], [0.0, 4.0, 4.0]];
        for (row, want) in gram(&set.unwrap(), &[0]).iter().zip(want) {
            assert_eq!(row[..], want);
        }
    }

    #[test]
    fn a_polygon_and_its_parts_share_the_areas_of_the_parts() {
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        let ell = vec![vec![vec![
            [0.0, 0.0],
            [2.0, 0.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [0.0, 2.0],
        ]]];
        set.push_region(Region::from(Polygon::new(ell).unwrap()), Aggregate::Sum)
            .unwrap();
        set.push_box(&[(0.0, 1.0), (0.0, 2.0)], Aggregate::Sum)
            .unwrap();
        let right = Polygon::rectangle((1.0, 2.0), (0.0, 1.0)).unwrap();
        set.push_region(Region::from(right), Aggregate::Sum)
            .unwrap();
        set.push_point(&[0.5, 0.5]).unwrap();
        let want = [
            [3.0, 2.0, 1.0, 0.0],
            [2.0, 2.0, 0.0, 0.0],
            [1.0, 0.0, 1.0, 0.0],
        ];
        for (row, want) in gram(&set, &[0, 1]).iter().zip(want) {
            for (found, want) in row.iter().zip(want) {
                // Both ranges are 2; four roundings of areas of a few.
                assert!((found - 4.0 * want).abs() < 1e-14, "{found} {want}");
            }
        }
    }
}
