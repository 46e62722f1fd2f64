//! Which rows are held out together.

use std::collections::HashMap;
use std::hash::Hash;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::error::InputError;

/// A division of rows into folds; each fold is held out once, and predicted from all others.
///
/// Rows of one *unit* are always in the same fold. Units are what comparisons count: rows of one
/// district or of one block are not independent evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    unit: Vec<usize>,
    fold_of_unit: Vec<usize>,
    count: usize,
}

impl Folds {
    /// Rows in random order, dealt out one by one: every row is a unit of its own.
    ///
    /// # Errors
    /// [`InputError::Range`] unless `2 <= count <= rows`.
    pub fn random(rows: usize, count: usize, seed: u64) -> Result<Self, InputError> {
        Self::dealt((0..rows).collect(), vec![1; rows], count, seed)
    }

    /// Rows with the same label together. The largest groups are dealt out first, each to the fold
    /// that has the fewest rows; equal ones in random order.
    ///
    /// # Errors
    /// [`InputError::Range`] unless there are at least as many labels as folds, and two folds.
    pub fn by_label<T: Hash + Eq>(
        labels: &[T],
        count: usize,
        seed: u64,
    ) -> Result<Self, InputError> {
        let mut known = HashMap::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut unit = Vec::with_capacity(labels.len());
        for label in labels {
            let next = known.len();
            let own = *known.entry(label).or_insert(next);
            if own == sizes.len() {
                sizes.push(0);
            }
            sizes[own] += 1;
            unit.push(own);
        }
        Self::dealt(unit, sizes, count, seed)
    }

    /// Blocks of rows that lie together: the rows are halved across their widest input, and each
    /// part again, until there are as many as folds (parts differ by one row at most along each
    /// cut). One input, such as time, is divided into stretches. A block is a fold and a unit.
    ///
    /// Inputs are measured in units of their own extent, so that their units do not matter. Rows
    /// at one place may be cut apart where there are more of them than a block holds.
    ///
    /// # Arguments
    /// * `places` - where each row lies, all of one length
    ///
    /// # Errors
    /// [`InputError::Range`] unless `2 <= count <= rows`.
    pub fn blocks(places: &[Vec<f64>], count: usize) -> Result<Self, InputError> {
        enough(places.len(), count)?;
        let dims = places.first().map_or(0, Vec::len);
        let extent = |rows: &[usize], d: usize| {
            let ends = rows.iter().map(|&row| places[row][d]);
            let first = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = ends.fold(first, |(low, high), x| (low.min(x), high.max(x)));
            high - low
        };
        let all: Vec<usize> = (0..places.len()).collect();
        let whole: Vec<f64> = (0..dims).map(|d| extent(&all, d)).collect();
        let mut unit = vec![0; places.len()];
        let mut open = vec![(all, 0, count)];
        while let Some((mut rows, first, parts)) = open.pop() {
            if parts == 1 {
                rows.iter().for_each(|&row| unit[row] = first);
                continue;
            }
            let share = |d: &usize| match whole[*d] > 0.0 {
                true => extent(&rows, *d) / whole[*d],
                false => 0.0,
            };
            let wide = (0..dims).max_by(|a, b| share(a).total_cmp(&share(b)).then(b.cmp(a)));
            if let Some(d) = wide {
                rows.sort_by(|&a, &b| places[a][d].total_cmp(&places[b][d]));
            }
            let left = parts / 2;
            let after = rows.split_off((rows.len() * left).div_ceil(parts));
            open.push((rows, first, left));
            open.push((after, first + left, parts - left));
        }
        Ok(Self {
            unit,
            fold_of_unit: (0..count).collect(),
            count,
        })
    }

    fn dealt(
        unit: Vec<usize>,
        sizes: Vec<usize>,
        count: usize,
        seed: u64,
    ) -> Result<Self, InputError> {
        enough(sizes.len(), count)?;
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        order.sort_by_key(|&unit| std::cmp::Reverse(sizes[unit]));
        let mut filled = vec![0_usize; count];
        let mut fold_of_unit = vec![0; sizes.len()];
        for own in order {
            let emptiest = (0..count).min_by_key(|&fold| filled[fold]).unwrap_or(0);
            fold_of_unit[own] = emptiest;
            filled[emptiest] += sizes[own];
        }
        Ok(Self {
            unit,
            fold_of_unit,
            count,
        })
    }

    /// How many folds there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The unit of every row.
    #[must_use]
    pub fn units(&self) -> &[usize] {
        &self.unit
    }

    /// The fold of a row.
    #[must_use]
    pub fn of(&self, row: usize) -> usize {
        self.fold_of_unit[self.unit[row]]
    }

    /// The rows of a fold, in order.
    #[must_use]
    pub fn rows(&self, fold: usize) -> Vec<usize> {
        let all = 0..self.unit.len();
        all.filter(|&row| self.of(row) == fold).collect()
    }
}

fn enough(units: usize, count: usize) -> Result<(), InputError> {
    let requirement = match count {
        0 | 1 => "at least 2",
        _ if count > units => "at most the number of rows or groups that are held out together",
        _ => return Ok(()),
    };
    Err(InputError::Range {
        what: "the number of folds".into(),
        row: 0,
        value: count as f64,
        requirement,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(folds: &Folds) -> Vec<usize> {
        (0..folds.count()).map(|f| folds.rows(f).len()).collect()
    }

    #[test]
    fn random_folds_are_even_and_a_seed_fixes_them() {
        let folds = Folds::random(23, 5, 7).unwrap();
        let mut own = sizes(&folds);
        own.sort_unstable();
        assert_eq!(own, [4, 4, 5, 5, 5]);
        assert_eq!(folds, Folds::random(23, 5, 7).unwrap());
        assert_ne!(folds, Folds::random(23, 5, 8).unwrap());
        for wrong in [0, 1, 24] {
            assert!(Folds::random(23, wrong, 1).is_err());
        }
    }

    #[test]
    fn rows_of_a_label_stay_together() {
        let labels = ["a", "b", "a", "c", "a", "d", "b", "a"];
        let folds = Folds::by_label(&labels, 2, 3).unwrap();
        // Four rows of `a` fill one fold, all others the other.
        assert_eq!(sizes(&folds), [4, 4]);
        for (row, label) in labels.iter().enumerate() {
            let same = labels.iter().position(|l| l == label).unwrap();
            assert_eq!(folds.of(row), folds.of(same));
            assert_eq!(folds.units()[row], folds.units()[same]);
        }
        assert!(Folds::by_label(&labels, 5, 3).is_err());
    }

    /// 12 places of a lattice, 4 wide in kilometres and 3 high in metres: thirds along the first.
    #[test]
    fn blocks_lie_together_whatever_the_units() {
        let lattice = |unit: f64| -> Vec<Vec<f64>> {
            let place = |i: usize| vec![(i % 4) as f64, (i / 4) as f64 * unit];
            (0..12).map(place).collect()
        };
        let folds = Folds::blocks(&lattice(1.0), 4).unwrap();
        assert_eq!(sizes(&folds), [3, 3, 3, 3]);
        assert_eq!(folds, Folds::blocks(&lattice(1000.0), 4).unwrap());
        let times: Vec<Vec<f64>> = [5.0, 1.0, 3.0, 2.0, 4.0].map(|t| vec![t]).to_vec();
        let folds = Folds::blocks(&times, 2).unwrap();
        let stretch = |fold| -> Vec<f64> {
            let mut own: Vec<f64> = folds.rows(fold).iter().map(|&r| times[r][0]).collect();
            own.sort_by(f64::total_cmp);
            own
        };
        assert_eq!([stretch(0), stretch(1)].concat(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}
