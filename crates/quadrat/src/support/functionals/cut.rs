//! Boxes cut into pieces.

use super::Functionals;
use crate::support::placed::NO_REGION;

impl Functionals {
    /// The same rows, with the boxes of every row cut where an edge lies inside them.
    ///
    /// A sum over a box is the sum over its pieces, an average that of theirs by their widths, so
    /// that nothing changes but how nodes will be placed.
    ///
    /// # Arguments
    /// * `edges` - along each dimension, ascending
    /// * `limit` - pieces at most
    ///
    /// # Returns
    /// None where there would be more pieces.
    #[must_use]
    pub(crate) fn cut(&self, edges: &[Vec<f64>], limit: usize) -> Option<Self> {
        if self.count_pieces(edges) > limit as f64 {
            return None;
        }
        let mut out = Self::new(self.dims.clone());
        for row in 0..self.len() {
            for atom in self.atoms(row) {
                if self.region[atom] == NO_REGION {
                    self.push_pieces(atom, edges, &mut out);
                } else {
                    self.push_piece(atom, &self.sides_of(atom), 1.0, &mut out);
                }
            }
            out.offsets.push(out.weight.len());
        }
        out.regions.clone_from(&self.regions);
        Some(out)
    }

    /// Where the boxes of some rows begin and end along each dimension, ascending.
    pub(crate) fn ends(&self, rows: impl IntoIterator<Item = usize>) -> Vec<Vec<f64>> {
        let atoms = rows.into_iter().flat_map(|row| self.atoms(row));
        let boxes: Vec<usize> = atoms.filter(|&a| self.region[a] == NO_REGION).collect();
        let along = |d: usize| {
            let sides = boxes.iter().map(|&a| (self.lower[d][a], self.width[d][a]));
            let wide = sides.filter(|side| side.1 > 0.0);
            let mut ends: Vec<f64> = wide.flat_map(|(low, width)| [low, low + width]).collect();
            ends.sort_unstable_by(f64::total_cmp);
            ends.dedup();
            ends
        };
        (0..self.dims.len()).map(along).collect()
    }

    /// An atom as a row of weight one.
    pub(crate) fn atom_alone(&self, atom: usize) -> Self {
        let mut out = Self::new(self.dims.clone());
        self.push_piece(atom, &self.sides_of(atom), 1.0, &mut out);
        out.weight[0] = 1.0;
        out.offsets.push(1);
        out.regions.clone_from(&self.regions);
        out
    }

    /// All atoms as one row, with these weights.
    pub(crate) fn into_one_row(mut self, weights: &[f64]) -> Self {
        debug_assert_eq!(weights.len(), self.weight.len());
        self.offsets = vec![0, self.weight.len()];
        self.weight.copy_from_slice(weights);
        self
    }

    /// How many pieces all boxes have, and regions as one each.
    fn count_pieces(&self, edges: &[Vec<f64>]) -> f64 {
        let along = |atom: usize| -> f64 {
            let sides = self.sides_of(atom).into_iter().zip(edges);
            sides
                .map(|((low, width), edges)| (1 + inside(low, width, edges).len()) as f64)
                .product()
        };
        let atoms = 0..self.weight.len();
        let one = |atom| {
            if self.region[atom] == NO_REGION {
                along(atom)
            } else {
                1.0
            }
        };
        atoms.map(one).sum()
    }

    fn push_pieces(&self, atom: usize, edges: &[Vec<f64>], out: &mut Self) {
        let lines: Vec<Vec<(f64, f64)>> = self
            .sides_of(atom)
            .into_iter()
            .zip(edges)
            .map(|((low, width), edges)| pieces(low, width, edges))
            .collect();
        let count: usize = lines.iter().map(Vec::len).product();
        for piece in 0..count {
            let mut rest = piece;
            let mut share = 1.0;
            let mut own = Vec::with_capacity(lines.len());
            for (line, whole) in lines.iter().zip(self.sides_of(atom)) {
                let side = line[rest % line.len()];
                rest /= line.len();
                if whole.1 > 0.0 {
                    share *= side.1 / whole.1;
                }
                own.push(side);
            }
            self.push_piece(atom, &own, share, out);
        }
    }

    fn push_piece(&self, atom: usize, sides: &[(f64, f64)], share: f64, out: &mut Self) {
        for (d, (low, width)) in sides.iter().enumerate() {
            out.lower[d].push(*low);
            out.width[d].push(*width);
        }
        out.weight.push(self.weight[atom] * share);
        out.region.push(self.region[atom]);
    }
}

/// The edges inside an interval; those within its rounding are at its ends.
fn inside(low: f64, width: f64, edges: &[f64]) -> &[f64] {
    let slack = 1e-9 * width;
    let from = edges.partition_point(|e| *e <= low + slack);
    let to = edges.partition_point(|e| *e < low + width - slack);
    &edges[from..to.max(from)]
}

/// An interval cut at the edges inside it.
fn pieces(low: f64, width: f64, edges: &[f64]) -> Vec<(f64, f64)> {
    let edges = inside(low, width, edges);
    let mut out = Vec::with_capacity(edges.len() + 1);
    let mut last = low;
    for &edge in edges {
        out.push((last, edge - last));
        last = edge;
    }
    out.push((last, low + width - last));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Aggregate;

    #[test]
    fn pieces_have_the_sizes_of_the_rows_they_were() {
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        set.push_box(&[(0.0, 10.0), (0.0, 2.0)], Aggregate::Sum)
            .unwrap();
        set.push_box(&[(0.0, 10.0), (3.0, 3.0)], Aggregate::Mean)
            .unwrap();
        set.push_point(&[5.0, 1.0]).unwrap();
        let edges = [vec![0.0, 3.0, 7.0, 10.0, 12.0], vec![1.0, 3.0]];
        assert!(set.cut(&edges, 9).is_none());
        let cut = set.cut(&edges, 10).unwrap();
        assert_eq!(
            (
                cut.len(),
                cut.atoms(0).len(),
                cut.atoms(1).len(),
                cut.atoms(2).len()
            ),
            (3, 6, 3, 1)
        );
        for row in 0..3 {
            // Six pieces of 20, whose last place is 3.6e-15.
            assert!((cut.size(row) - set.size(row)).abs() < 1e-14, "{row}");
            for d in 0..2 {
                assert_eq!(cut.extent(row, d), set.extent(row, d), "{row} {d}");
            }
        }
        assert_eq!((cut.lower(0)[1], cut.width(0)[1]), (3.0, 4.0));
    }
}
