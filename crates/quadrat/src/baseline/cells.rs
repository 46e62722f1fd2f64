//! Equal cells along one input.

use crate::error::InputError;
use crate::support::Functionals;

/// The most cells along one input.
const MOST_CELLS: usize = 1_000;

/// Adjoining cells of one length.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cells {
    from: f64,
    step: f64,
    count: usize,
}

impl Cells {
    /// Cells over a range, of the length closest to `step` that divides it.
    ///
    /// # Errors
    /// [`InputError::Range`] for a step that is not positive or makes too many cells,
    /// [`InputError::Unavailable`] for a range without length.
    pub fn over((from, to): (f64, f64), step: f64) -> Result<Self, InputError> {
        let wanted = ((to - from) / step).round().max(1.0);
        if !(step > 0.0 && step.is_finite() && wanted <= MOST_CELLS as f64) {
            return Err(InputError::Range {
                what: "the length of a cell".into(),
                row: 0,
                value: step,
                requirement: "positive, and long enough for 1000 cells to cover all rows",
            });
        }
        if to <= from {
            return Err(InputError::Unavailable {
                what: "a division into cells",
                remedy: "all rows are at one place; give rows at several",
            });
        }
        Ok(Self {
            from,
            step: (to - from) / wanted,
            count: wanted as usize,
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The middle of a cell.
    pub fn middle(&self, cell: usize) -> f64 {
        self.from + (cell as f64 + 0.5) * self.step
    }

    /// The cell of a place; the first or last one for those beyond.
    fn at(&self, x: f64) -> usize {
        // A cast of a negative number is zero.
        (((x - self.from) / self.step) as usize).min(self.count - 1)
    }

    /// The cells under an interval or a place, with the share of it that lies in each. What lies
    /// beyond the ends counts to the first or last cell.
    pub fn shares(&self, from: f64, width: f64) -> Vec<(usize, f64)> {
        let (first, last) = (self.at(from), self.at(from + width));
        if first == last {
            return vec![(first, 1.0)];
        }
        let edge = |cell: usize| self.from + cell as f64 * self.step;
        (first..=last)
            .map(|cell| {
                let low = if cell == first { from } else { edge(cell) };
                let high = if cell == last {
                    from + width
                } else {
                    edge(cell + 1)
                };
                (cell, ((high - low) / width).max(0.0))
            })
            .filter(|(_, share)| *share > 0.0)
            .collect()
    }

    /// A row of functionals of this input alone as a sum over cells.
    pub fn row(&self, set: &Functionals, row: usize) -> Vec<(usize, f64)> {
        let atoms = set.atoms(row);
        atoms
            .flat_map(|atom| {
                let shares = self.shares(set.lower(0)[atom], set.width(0)[atom]);
                let weight = set.weight()[atom];
                shares.into_iter().map(move |(cell, s)| (cell, weight * s))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_shared_out_over_the_cells_below() -> Result<(), InputError> {
        // 2.4 does not divide 10; 2.5 is the closest length that does.
        let cells = Cells::over((0.0, 10.0), 2.4)?;
        assert_eq!((cells.count(), cells.step), (4, 2.5));
        assert_eq!(cells.middle(1), 3.75);
        assert_eq!(cells.shares(2.5, 2.5), [(1, 1.0)]);
        assert_eq!(cells.shares(0.0, 10.0), [0, 1, 2, 3].map(|c| (c, 0.25)));
        assert_eq!(cells.shares(2.0, 4.0), [(0, 0.125), (1, 0.625), (2, 0.25)]);
        assert_eq!(
            cells.shares(-10.0, 15.0),
            [(0, 12.5 / 15.0), (1, 2.5 / 15.0)]
        );
        assert_eq!(cells.shares(30.0, 0.0), [(3, 1.0)]);
        assert_eq!(cells.shares(5.0, 0.0), [(2, 1.0)]);
        Ok(())
    }

    #[test]
    fn what_makes_no_cells_is_refused() {
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
            assert!(Cells::over((0.0, 1.0), step).is_err(), "{step}");
        }
        assert!(Cells::over((1.0, 1.0), 1.0).is_err());
    }
}
