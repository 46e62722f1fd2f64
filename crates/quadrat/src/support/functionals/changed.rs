//! Rows in place of others.

use std::collections::HashMap;

use super::Functionals;

/// An atom like another one, with sides and a weight of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Atom {
    /// The atom whose region it has, if that has one.
    pub like: usize,
    /// Lower edge and width along every dimension.
    pub sides: Vec<(f64, f64)>,
    pub weight: f64,
}

impl Functionals {
    /// The same rows, some of them made of other atoms.
    ///
    /// # Arguments
    /// * `changed` - by row; atoms are like those of this set
    pub(crate) fn with_rows(&self, changed: &HashMap<usize, Vec<Atom>>) -> Self {
        let mut out = Self::new(self.dims.clone());
        for row in 0..self.len() {
            if let Some(atoms) = changed.get(&row) {
                for atom in atoms {
                    for (d, (lower, width)) in atom.sides.iter().enumerate() {
                        out.lower[d].push(*lower);
                        out.width[d].push(*width);
                    }
                    out.weight.push(atom.weight);
                    out.region.push(self.region[atom.like]);
                }
            } else {
                let atoms = self.atoms(row);
                for d in 0..self.dims.len() {
                    out.lower[d].extend_from_slice(&self.lower[d][atoms.clone()]);
                    out.width[d].extend_from_slice(&self.width[d][atoms.clone()]);
                }
                out.weight.extend_from_slice(&self.weight[atoms.clone()]);
                out.region.extend_from_slice(&self.region[atoms]);
            }
            out.offsets.push(out.weight.len());
        }
        out.regions.clone_from(&self.regions);
        out
    }

    /// Lower edge and width of an atom along every dimension; of a region those of its bounding
    /// box.
    pub(crate) fn sides_of(&self, atom: usize) -> Vec<(f64, f64)> {
        let dims = 0..self.dims.len();
        dims.map(|d| (self.lower[d][atom], self.width[d][atom]))
            .collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::support::Aggregate;

    #[test]
    fn a_changed_row_has_its_new_atoms_and_the_others_stay() {
        let edges = [(0.0, 1.0), (0.0, 3.0), (4.0, 5.0)];
        let set = Functionals::intervals("x", &edges, Aggregate::Sum).unwrap();
        let piece = |lower, width| Atom {
            like: 1,
            sides: vec![(lower, width)],
            weight: width,
        };
        let changed = HashMap::from([(1, vec![piece(1.0, 0.5), piece(2.0, 1.0)])]);
        let new = set.with_rows(&changed);
        assert_eq!((new.len(), new.atoms(1).len(), new.size(1)), (3, 2, 1.5));
        assert_eq!(new.extent(1, 0), (1.0, 3.0));
        for row in [0, 2] {
            assert_eq!(new.rows(&[row]), set.rows(&[row]));
        }
    }
}
