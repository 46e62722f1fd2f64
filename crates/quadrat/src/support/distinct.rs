//! Rows of points seen as shares of distinct points.

use std::collections::HashMap;

use super::Functionals;

impl Functionals {
    /// The distinct places of atoms that are all points, and which one every atom has.
    pub(crate) fn distinct_points(&self) -> (Self, Vec<usize>) {
        let dims = self.dims().len();
        let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut points = Self::new(self.dims().to_vec());
        let mut index = Vec::with_capacity(self.atom_count());
        for atom in 0..self.atom_count() {
            let x: Vec<f64> = (0..dims).map(|d| self.lower(d)[atom]).collect();
            // + 0.0 makes the two zeros one.
            let key = x.iter().map(|x| (x + 0.0).to_bits()).collect();
            let next = points.len();
            let at = *seen.entry(key).or_insert(next);
            if at == next {
                // Coordinates of existing atoms are finite.
                let _ = points.push_point(&x);
            }
            index.push(at);
        }
        (points, index)
    }

    /// Every atom as a row of its own, of weight one; all must be points.
    pub(crate) fn atoms_as_points(&self) -> Self {
        let mut points = Self::new(self.dims().to_vec());
        for atom in 0..self.atom_count() {
            let x: Vec<f64> = (0..self.dims().len())
                .map(|d| self.lower(d)[atom])
                .collect();
            // Coordinates of existing atoms are finite.
            let _ = points.push_point(&x);
        }
        points
    }

    /// The rows without repetitions, the first of equal ones; all must be points of weight one.
    pub(crate) fn distinct_rows(&self) -> Self {
        self.distinct_points().0
    }

    /// The same rows as averages: weights of every row divided by their sum, which is its size.
    pub(crate) fn averaged(&self) -> Self {
        let mut out = self.clone();
        for row in 0..self.len() {
            let size = self.size(row);
            let atoms = self.atoms(row);
            out.weights_mut()[atoms].iter_mut().for_each(|w| *w /= size);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Aggregate;

    #[test]
    fn places_are_counted_once_and_averages_weigh_one() {
        let mut set = Functionals::new(vec!["x".into()]);
        set.push_nodes(&[vec![1.0], vec![2.0]], &[3.0, 1.0])
            .unwrap();
        set.push_point(&[2.0]).unwrap();
        set.push_point(&[-0.0]).unwrap();
        set.push_point(&[0.0]).unwrap();
        let (points, index) = set.distinct_points();
        assert_eq!((points.len(), index), (3, vec![0, 1, 1, 2, 2]));
        let averaged = set.averaged();
        assert_eq!(averaged.weight()[..2], [0.75, 0.25]);
        let mut bands = Functionals::new(vec!["x".into()]);
        bands.push_box(&[(0.0, 4.0)], Aggregate::Sum).unwrap();
        assert_eq!(bands.averaged().size(0), 1.0);
    }
}
