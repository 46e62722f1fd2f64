//! A set of functionals from columns of numbers.

use super::Functionals;
use crate::error::InputError;
use crate::support::placed::NO_REGION;

/// Atoms by column, and which row each belongs to. A row is `z_i = sum_j w_ij a_ij`, where `a_ij`
/// is the average of the function over a box, or its value at a point.
///
/// Row `i` has the atoms `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    /// `lower[d][atom]`, where boxes begin along every input.
    pub lower: Vec<Vec<f64>>,
    /// `width[d][atom]`, not negative; an empty column, or none at all, where all are points.
    pub width: Vec<Vec<f64>>,
    /// `weight[atom]`: for an integral over a box its volume; empty where all are one. Atoms of
    /// weight 0 are left out.
    pub weight: Vec<f64>,
    /// From 0 to the number of atoms, one more than there are rows; empty where every row has one
    /// atom.
    pub offsets: Vec<usize>,
}

impl Functionals {
    /// Rows of weighted points and boxes. Columns are moved, not copied: this is how many points
    /// enter without a vector for each.
    ///
    /// # Errors
    /// [`InputError::Shape`] where columns have different lengths or offsets do not run from 0 to
    /// the number of atoms, [`InputError::NotFinite`], [`InputError::Range`] for a negative width
    /// and for a row without weight.
    ///
    /// # Examples
    /// Two bags, of two points and of three:
    /// ```
    /// use quadrat::support::{Columns, Functionals};
    /// let bags = Functionals::from_columns(
    ///     vec!["x".into()],
    ///     Columns {
    ///         lower: vec![vec![0.0, 1.0, 5.0, 6.0, 7.0]],
    ///         weight: vec![0.5, 0.5, 10.0, 20.0, 30.0],
    ///         offsets: vec![0, 2, 5],
    ///         ..Columns::default()
    ///     },
    /// )?;
    /// assert_eq!((bags.len(), bags.size(0), bags.size(1)), (2, 1.0, 60.0));
    /// # Ok::<(), quadrat::error::InputError>(())
    /// ```
    pub fn from_columns(dims: Vec<String>, columns: Columns) -> Result<Self, InputError> {
        let Columns {
            lower,
            mut width,
            mut weight,
            mut offsets,
        } = columns;
        let shape = |what, expected, got| match expected == got {
            true => Ok(()),
            false => Err(InputError::Shape {
                what,
                expected,
                got,
            }),
        };
        shape("the columns", dims.len(), lower.len())?;
        let atoms = lower.first().map_or(weight.len(), Vec::len);
        if width.is_empty() {
            width = vec![Vec::new(); dims.len()];
        }
        shape("the widths", dims.len(), width.len())?;
        if weight.is_empty() {
            weight = vec![1.0; atoms];
        }
        shape("the weights", atoms, weight.len())?;
        if offsets.is_empty() {
            offsets = (0..=atoms).collect();
        }
        for column in &lower {
            shape("a column", atoms, column.len())?;
        }
        for column in width.iter_mut().filter(|column| !column.is_empty()) {
            shape("a column of widths", atoms, column.len())?;
        }
        check_offsets(&offsets, atoms)?;
        let mut set = Self::new(dims);
        set.offsets = offsets;
        for column in &lower {
            set.check_column("the support", column, f64::is_finite)?;
        }
        for column in &width {
            set.check_column("the width", column, |w| w.is_finite() && w >= 0.0)?;
        }
        set.check_column("the weight", &weight, f64::is_finite)?;
        let points = vec![0.0; atoms].into();
        set.lower = lower.into_iter().map(Into::into).collect();
        set.width = width
            .into_iter()
            .map(|column| match column.is_empty() {
                true => super::AtomColumn::clone(&points),
                false => column.into(),
            })
            .collect();
        set.region = vec![NO_REGION; atoms];
        set.weight = weight;
        set.without_zeros()
    }

    /// What is wrong with a number, and the row that it belongs to.
    fn check_column(
        &self,
        what: &str,
        column: &[f64],
        is_right: impl Fn(f64) -> bool,
    ) -> Result<(), InputError> {
        let Some(atom) = column.iter().position(|&x| !is_right(x)) else {
            return Ok(());
        };
        let row = self.offsets.partition_point(|&offset| offset <= atom) - 1;
        let (what, value) = (what.to_owned(), column[atom]);
        Err(match value.is_finite() {
            true => InputError::Range {
                what,
                row,
                value,
                requirement: "zero or positive",
            },
            false => InputError::NotFinite { what, row, value },
        })
    }

    /// Atoms of weight 0 left out.
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that has no other.
    fn without_zeros(mut self) -> Result<Self, InputError> {
        let is_empty = |row: usize| self.weight[self.atoms(row)].iter().all(|w| *w == 0.0);
        if let Some(row) = (0..self.len()).find(|&row| is_empty(row)) {
            return Err(InputError::Range {
                what: "the sum of absolute weights".into(),
                row,
                value: 0.0,
                requirement: "positive; give at least one node a weight",
            });
        }
        if self.weight.iter().all(|w| *w != 0.0) {
            return Ok(self);
        }
        let mut kept = 0;
        let mut offsets = vec![0];
        for row in 0..self.len() {
            let own = &self.weight[self.atoms(row)];
            kept += own.iter().filter(|w| **w != 0.0).count();
            offsets.push(kept);
        }
        for column in self.lower.iter_mut().chain(&mut self.width) {
            let mut weights = self.weight.iter();
            column.retain(|_| weights.next().is_some_and(|w| *w != 0.0));
        }
        self.weight.retain(|w| *w != 0.0);
        self.region.truncate(kept);
        self.offsets = offsets;
        Ok(self)
    }
}

/// Whether offsets run from 0 to the number of atoms without falling.
fn check_offsets(offsets: &[usize], atoms: usize) -> Result<(), InputError> {
    let shape = |what, expected, got| {
        Err(InputError::Shape {
            what,
            expected,
            got,
        })
    };
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    if first != 0 {
        return shape("the atoms before the first offset", 0, first);
    }
    if last != atoms {
        return shape("the atoms up to the last offset", atoms, last);
    }
    match offsets.windows(2).find(|pair| pair[1] < pair[0]) {
        Some(pair) => shape("an offset below the one before", pair[0], pair[1]),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::support::Aggregate;

    fn names() -> Vec<String> {
        vec!["x".into(), "y".into()]
    }

    #[test]
    fn columns_are_the_rows_that_would_be_pushed_one_by_one() {
        let mut pushed = Functionals::new(names());
        let points = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]].map(Vec::from);
        pushed.push_nodes(&points[..1], &[2.0]).unwrap();
        pushed.push_nodes(&points[1..], &[0.5, 0.0, -1.0]).unwrap();
        let columns = Columns {
            lower: vec![vec![0.0, 2.0, 4.0, 6.0], vec![1.0, 3.0, 5.0, 7.0]],
            weight: vec![2.0, 0.5, 0.0, -1.0],
            offsets: vec![0, 1, 4],
            ..Columns::default()
        };
        assert_eq!(Functionals::from_columns(names(), columns).unwrap(), pushed);

        let mut boxes = Functionals::new(names());
        boxes
            .push_box(&[(1.0, 3.0), (5.0, 5.5)], Aggregate::Sum)
            .unwrap();
        boxes
            .push_box(&[(2.0, 4.0), (0.0, 0.25)], Aggregate::Sum)
            .unwrap();
        let columns = Columns {
            lower: vec![vec![1.0, 2.0], vec![5.0, 0.0]],
            width: vec![vec![2.0, 2.0], vec![0.5, 0.25]],
            weight: vec![1.0, 0.5],
            ..Columns::default()
        };
        assert_eq!(Functionals::from_columns(names(), columns).unwrap(), boxes);
        // Points along one input alone.
        let columns = Columns {
            lower: vec![vec![1.0], vec![5.0]],
            width: vec![vec![], vec![2.0]],
            ..Columns::default()
        };
        let mut mixed = Functionals::new(names());
        mixed
            .push_box(&[(1.0, 1.0), (5.0, 7.0)], Aggregate::Mean)
            .unwrap();
        assert_eq!(Functionals::from_columns(names(), columns).unwrap(), mixed);
        let none = Functionals::from_columns(
            names(),
            Columns {
                lower: vec![vec![], vec![]],
                ..Columns::default()
            },
        );
        assert!(none.unwrap().is_empty());
    }

    #[test]
    fn columns_that_do_not_fit_are_refused_with_the_row() {
        let right = Columns {
            lower: vec![vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 2.0]],
            width: vec![vec![0.0, 1.0, 1.0], vec![]],
            weight: vec![1.0, 2.0, 3.0],
            offsets: vec![0, 1, 3],
        };
        assert!(Functionals::from_columns(names(), right.clone()).is_ok());
        let refused = |change: &dyn Fn(&mut Columns), part: &str| {
            let mut columns = right.clone();
            change(&mut columns);
            let error = Functionals::from_columns(names(), columns).unwrap_err();
            assert!(error.to_string().contains(part), "{error} for {part}");
        };
        refused(&|c| c.lower.truncate(1), "the columns has length 1");
        refused(&|c| c.lower[1].truncate(2), "a column has length 2");
        refused(&|c| c.width.truncate(1), "the widths has length 1");
        refused(&|c| c.width[1].push(0.0), "a column of widths has length 1");
        refused(&|c| c.weight.truncate(2), "the weights has length 2");
        refused(&|c| c.offsets[0] = 1, "before the first offset");
        refused(&|c| c.offsets[2] = 2, "up to the last offset");
        refused(&|c| c.offsets = vec![0, 2, 1, 3], "below the one before");
        refused(&|c| c.lower[1][2] = f64::NAN, "the support of row 1 is NaN");
        refused(&|c| c.width[0][2] = -1.0, "the width of row 1 is -1");
        refused(
            &|c| c.weight[0] = f64::INFINITY,
            "the weight of row 0 is inf",
        );
        refused(&|c| c.weight[0] = 0.0, "absolute weights of row 0 is 0");
        refused(
            &|c| c.offsets = vec![0, 1, 1, 3],
            "absolute weights of row 1 is 0",
        );
    }
}
