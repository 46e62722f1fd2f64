//! All pairs of the regions of a set, computed once for a matrix and its gradient.

use rayon::prelude::*;

use super::value::Total;

/// Most atoms of a set whose pairs are kept: 80 MB.
const MOST_ATOMS: usize = 2000;

/// What boundaries add to every pair of atoms of one set, where they do: on and above the diagonal,
/// column by column.
#[derive(Debug)]
pub(in crate::covariance) struct PairTable(Vec<Option<Total>>);

impl PairTable {
    /// Whether the pairs of so many atoms are kept.
    pub fn has_room(atoms: usize) -> bool {
        atoms <= MOST_ATOMS
    }

    /// Computes every pair; none of too many atoms.
    ///
    /// # Arguments
    /// * `value` - of two atoms, with the buffers of one thread
    pub fn new<W: Default>(
        atoms: usize,
        value: impl Fn(&mut W, usize, usize) -> Option<Total> + Sync,
    ) -> Option<Self> {
        if !Self::has_room(atoms) {
            return None;
        }
        let column = |work: &mut W, b: usize| -> Vec<Option<Total>> {
            (0..=b).map(|a| value(work, a, b)).collect()
        };
        let columns = (0..atoms).into_par_iter();
        let columns: Vec<_> = columns.map_init(W::default, column).collect();
        Some(Self(columns.concat()))
    }

    /// What the boundaries of two atoms add, in any order.
    pub fn get(&self, a: usize, b: usize) -> Option<Total> {
        let (row, column) = (a.min(b), a.max(b));
        self.0[column * (column + 1) / 2 + row]
    }
}
