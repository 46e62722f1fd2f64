//! What is asked of a set of functionals.

use std::ops::Range;

use super::{AtomSpread, Functionals};
use crate::support::UniqueIntervals;
use crate::support::placed::{NO_REGION, Placed};

impl Functionals {
    /// Number of functionals.
    #[must_use]
    pub fn len(&self) -> usize {
        // A file may hold none at all, which is refused later.
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the inputs.
    #[must_use]
    pub fn dims(&self) -> &[String] {
        &self.dims
    }

    /// The functional of the constant function one: the volume of a sum, one for a mean, the
    /// total weight of nodes.
    #[must_use]
    pub fn size(&self, row: usize) -> f64 {
        self.weight[self.atoms(row)].iter().sum()
    }

    /// Smallest and largest coordinate of the row along dimension `d`.
    #[must_use]
    pub fn extent(&self, row: usize, d: usize) -> (f64, f64) {
        self.atoms(row)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), a| {
                let low = self.lower[d][a];
                (lo.min(low), hi.max(low + self.width[d][a]))
            })
    }

    /// The average of dimension `d` over what the row looks at, regions as their bounding boxes;
    /// not finite where the weights add up to zero.
    pub(crate) fn average(&self, row: usize, d: usize) -> f64 {
        let atoms = self.atoms(row);
        let middle = |a: usize| self.lower[d][a] + 0.5 * self.width[d][a];
        if atoms.len() == 1 {
            return middle(atoms.start);
        }
        let sum: f64 = atoms.map(|a| self.weight[a] * middle(a)).sum();
        sum / self.size(row)
    }

    /// The functional of `x_d - origin`: an integral for a sum, an average for a mean, the weighted
    /// sum of nodes.
    ///
    /// # Numerics
    /// The origin is taken off before anything is added up: next to it no digits are lost, however
    /// far from zero both are.
    pub(crate) fn first_moment(&self, row: usize, d: usize, origin: f64) -> f64 {
        let from_origin = |a: usize| {
            let region = self.region(a).map(|r| &self.regions[r]);
            let along = region.and_then(|placed| {
                let axis = placed
                    .columns
                    .iter()
                    .position(|column| *column == Some(d))?;
                Some(placed.region.centroid()[axis])
            });
            match along {
                Some(centre) => centre - origin,
                None => (self.lower[d][a] - origin) + 0.5 * self.width[d][a],
            }
        };
        let parts = self.atoms(row).map(|a| self.weight[a] * from_origin(a));
        parts.sum()
    }

    /// Smallest and largest coordinate of all rows along dimension `d`.
    #[must_use]
    pub fn range(&self, d: usize) -> (f64, f64) {
        (0..self.len()).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), row| {
            let (a, b) = self.extent(row, d);
            (lo.min(a), hi.max(b))
        })
    }

    /// Whether every row is a single box or point.
    #[must_use]
    pub fn all_single(&self) -> bool {
        // Rows may be empty, so counting atoms is not enough.
        self.offsets
            .iter()
            .enumerate()
            .all(|(row, &offset)| offset == row)
    }

    /// Whether the parts fit together; deserialised sets are not trusted.
    pub(crate) fn is_consistent(&self) -> bool {
        let atoms = self.weight.len();
        let columns = [&self.lower, &self.width];
        columns
            .iter()
            .all(|c| c.len() == self.dims.len() && c.iter().all(|v| v.len() == atoms))
            && !self.offsets.is_empty()
            && self.offsets.first() == Some(&0)
            && self.offsets.last() == Some(&atoms)
            && self.offsets.is_sorted()
            && self
                .lower
                .iter()
                .chain(&self.width)
                .flat_map(|column| column.iter())
                .all(|v| v.is_finite())
            && self.width.iter().all(|c| c.iter().all(|w| *w >= 0.0))
            && self.weight.iter().all(|w| w.is_finite())
            && self.region.len() == atoms
            && self
                .region
                .iter()
                .all(|&r| r == NO_REGION || (r as usize) < self.regions.len())
            && self
                .regions
                .iter()
                .all(|r| r.is_consistent(self.dims.len()))
    }

    /// Whether any atom is a region.
    #[must_use]
    pub fn has_regions(&self) -> bool {
        !self.regions.is_empty()
    }

    /// Whether a row is the value at one place.
    #[must_use]
    pub fn is_point(&self, row: usize) -> bool {
        let mut extents = (0..self.dims().len()).map(|d| self.extent(row, d));
        self.atoms(row).len() == 1 && extents.all(|(low, high)| low == high)
    }

    /// The regions that atoms refer to; a few may be in no row.
    pub(crate) fn regions(&self) -> &[Placed] {
        &self.regions
    }

    /// The position in [`Self::regions`] of an atom's region.
    pub(crate) fn region(&self, atom: usize) -> Option<usize> {
        let region = self.region[atom];
        (region != NO_REGION).then_some(region as usize)
    }

    pub(crate) fn atoms(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    pub(crate) fn atom_count(&self) -> usize {
        self.weight.len()
    }

    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    pub(crate) fn lower(&self, d: usize) -> &[f64] {
        &self.lower[d]
    }

    pub(crate) fn width(&self, d: usize) -> &[f64] {
        &self.width[d]
    }

    pub(crate) fn weight(&self) -> &[f64] {
        &self.weight
    }

    pub(crate) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weight
    }

    pub(crate) fn scale_weights(&mut self, factor: f64) {
        self.weight.iter_mut().for_each(|w| *w *= factor);
    }

    /// Distinct intervals along dimension `d`, computed once.
    pub(crate) fn unique(&self, d: usize) -> &UniqueIntervals {
        &self.unique.get_or_init(|| {
            (0..self.dims.len())
                .map(|d| UniqueIntervals::new(&self.lower[d], &self.width[d]))
                .collect()
        })[d]
    }

    /// The same rows with every atom kept, dropped or spread over nodes.
    pub(crate) fn spread<'n>(&self, mut how: impl FnMut(usize) -> AtomSpread<'n>) -> Self {
        let mut out = Self::new(self.dims.clone());
        let mut keeps_regions = false;
        for row in 0..self.len() {
            for atom in self.atoms(row) {
                match how(atom) {
                    AtomSpread::Drop => {}
                    AtomSpread::Keep => {
                        for d in 0..self.dims.len() {
                            out.lower[d].push(self.lower[d][atom]);
                            out.width[d].push(self.width[d][atom]);
                        }
                        out.weight.push(self.weight[atom]);
                        out.region.push(self.region[atom]);
                        keeps_regions |= self.region[atom] != NO_REGION;
                    }
                    AtomSpread::Nodes { along, weights } => {
                        let count = weights.len();
                        for d in 0..self.dims.len() {
                            if let Some((_, x)) = along.iter().find(|(column, _)| *column == d) {
                                out.lower[d].extend_from_slice(x);
                                out.width[d].extend(std::iter::repeat_n(0.0, count));
                            } else {
                                let (lower, width) = (self.lower[d][atom], self.width[d][atom]);
                                out.lower[d].extend(std::iter::repeat_n(lower, count));
                                out.width[d].extend(std::iter::repeat_n(width, count));
                            }
                        }
                        let own = self.weight[atom];
                        out.weight.extend(weights.iter().map(|w| own * w));
                        out.region.resize(out.weight.len(), NO_REGION);
                    }
                }
            }
            out.offsets.push(out.weight.len());
        }
        if keeps_regions {
            out.regions.clone_from(&self.regions);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::support::{Aggregate, Polygon, Side, Simplices};

    /// Closed forms: a point, the integral over a box, a difference of points, and an L of three
    /// squares with its time, `(0.5 + 1.5 + 0.5) / 3` from its corner.
    #[test]
    fn first_moments_are_integrals_and_averages_of_the_coordinate() {
        let far = 1e9;
        let mut set = Functionals::new(["x", "y", "t"].map(str::to_owned).to_vec());
        set.push_point(&[far + 2.0, 0.0, 0.0]).unwrap();
        let sides = [(far + 1.0, far + 4.0), (0.0, 2.0), (4.5, 5.5)];
        set.push_box(&sides, Aggregate::Sum).unwrap();
        set.push_nodes(
            &[vec![far + 7.0, 0.0, 0.0], vec![far + 3.0, 0.0, 0.0]],
            &[0.5, -0.5],
        )
        .unwrap();
        let ring = [
            [0.0, 0.0],
            [2.0, 0.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [0.0, 2.0],
        ];
        let ring = ring.map(|[x, y]| [far + x, y]);
        let shape = Polygon::new(vec![vec![ring.to_vec()]]).unwrap();
        let sides = [None, None, Some(Side::Interval(1.0, 3.0))];
        for aggregate in [Aggregate::Mean, Aggregate::Sum] {
            set.push_product(Arc::new(shape.clone().into()), &sides, aggregate)
                .unwrap();
        }
        let corner = vec![vec![far, 0.0], vec![far + 3.0, 0.0], vec![far, 3.0]];
        let triangle = Simplices::new(&[corner]).unwrap();
        set.push_product(
            Arc::new(triangle.into()),
            &[None, None, Some(Side::Point(4.0))],
            Aggregate::Mean,
        )
        .unwrap();
        let along_x = [2.0, 6.0 * 2.5, 2.0, 2.5 / 3.0, 6.0 * 2.5 / 3.0, 1.0];
        let along_t = [0.0, 6.0 * 5.0, 0.0, 2.0, 6.0 * 2.0, 4.0];
        for row in 0..set.len() {
            // Coordinates of that size are known to 1e-7.
            let (x, t) = (set.first_moment(row, 0, far), set.first_moment(row, 2, 0.0));
            assert!((x - along_x[row]).abs() < 1e-5, "{row}: {x}");
            assert!((t - along_t[row]).abs() < 1e-12, "{row}: {t}");
        }
    }
}
