//! Positive values scaled until groups of them have given totals and known sums stay as they are.

use std::collections::HashSet;

use super::given::{GroupTotals, TotalGroup, digits};
use super::known::{Known, SAME};
use crate::error::FitError;
use crate::posterior::lost_digits::MadeOf;

/// Sweeps over groups and known sums, at most: where both can hold factors approach one
/// geometrically.
const SWEEPS: usize = 5000;
/// Sweeps end where no factor is further from one.
const MET: f64 = 1e-13;

/// How draws are scaled: in turn known sums, and what is free in every group.
///
/// Rows of known sums that lie within one group are held when it is scaled. Where known sums reach
/// across groups, scaling in turn approaches the nearest values in the sense of Kullback and
/// Leibler, if any positive ones meet all sums.
///
/// # Source
/// Deming and Stephan 1940; Csiszar 1975.
pub(super) struct Scaling<'a> {
    groups: &'a [TotalGroup],
    known: &'a [Known],
    /// Of every group its rows that are held, and the others.
    held: Vec<[MadeOf; 2]>,
}

impl<'a> Scaling<'a> {
    pub fn new(totals: &'a GroupTotals, known: &'a [Known]) -> Self {
        let part = |group: &TotalGroup| {
            let is_in = |row: usize| group.rows.iter().any(|(own, _)| *own == row);
            let inside = known.iter().filter(|known| {
                let mut parts = known.parts.iter();
                known.is_scaled() && parts.all(|(row, _)| is_in(*row))
            });
            let inside: HashSet<usize> = inside
                .flat_map(|known| known.parts.iter().map(|(row, _)| *row))
                .collect();
            let all = group.rows.iter().copied();
            let (held, free) = all.partition(|(row, _)| inside.contains(row));
            [held, free]
        };
        Self {
            groups: &totals.groups,
            known,
            held: totals.groups.iter().map(part).collect(),
        }
    }

    /// Scales one draw.
    pub fn scale(&self, values: &mut [f64]) -> Result<(), FitError> {
        if self.groups.is_empty() {
            return Ok(());
        }
        for group in self.groups.iter().filter(|group| group.total == 0.0) {
            group.rows.iter().for_each(|(row, _)| values[*row] = 0.0);
        }
        for sweep in 0..SWEEPS {
            let left = self.sweep(values)?;
            // Groups have no row in common: without known sums one sweep is all.
            if self.known.is_empty() || (sweep > 0 && left <= MET) {
                break;
            }
        }
        let holds = |known: &&Known| {
            let each = known.parts.iter().map(|(row, w)| (w * values[*row]).abs());
            let size: f64 = each.sum();
            (known.sum(values) - known.value).abs() <= SAME * size.max(known.value.abs())
        };
        match self.known.iter().find(|known| !holds(known)) {
            None => Ok(()),
            Some(known) => Err(self.touched(known).refused(format!(
                "rows that are known exactly (a sum of {}) leave no positive values with which all totals are met",
                digits(known.value)
            ))),
        }
    }

    /// Scales everything once.
    ///
    /// # Returns
    /// How far factors are from one at most.
    fn sweep(&self, values: &mut [f64]) -> Result<f64, FitError> {
        let mut left: f64 = 0.0;
        for known in self.known.iter().filter(|known| known.is_scaled()) {
            let factor = known.value / known.sum(values);
            if !(factor.is_finite() && factor > 0.0) {
                return Err(self.touched(known).refused(format!(
                    "some of its rows are known exactly, and add up to {}",
                    digits(known.value)
                )));
            }
            for (row, _) in known.parts.iter().filter(|(_, w)| *w > 0.0) {
                values[*row] *= factor;
            }
            left = left.max((factor - 1.0).abs());
        }
        let each = self.groups.iter().zip(&self.held);
        for (group, [held, free]) in each.filter(|(group, _)| group.total > 0.0) {
            let sum = |of: &MadeOf| -> f64 { of.iter().map(|(row, w)| w * values[*row]).sum() };
            let (kept, open) = (sum(held), sum(free));
            // Where all is held it agrees but for rounding.
            let (rows, factor) = match open > 0.0 || held.is_empty() {
                true => (free, (group.total - kept) / open),
                false => (&group.rows, group.total / kept),
            };
            if !(factor.is_finite() && factor > 0.0) {
                return Err(no_share(group, kept, open));
            }
            rows.iter().for_each(|(row, _)| values[*row] *= factor);
            left = left.max((factor - 1.0).abs());
        }
        Ok(left)
    }

    /// The group that a known sum is refused with: one that has a row in common with it.
    fn touched(&self, known: &Known) -> &TotalGroup {
        let has = |group: &&TotalGroup| {
            let mut rows = group.rows.iter();
            rows.any(|(row, _)| known.parts.iter().any(|(part, _)| part == row))
        };
        self.groups.iter().find(has).unwrap_or(&self.groups[0])
    }
}

/// Why a draw of a group cannot be scaled.
///
/// # Arguments
/// * `kept`, `open` - the sums of its rows that are known exactly, and of the others
fn no_share(group: &TotalGroup, kept: f64, open: f64) -> FitError {
    let reason = if kept >= group.total {
        format!(
            "some of its rows are known exactly, and add up to {}",
            digits(kept)
        )
    } else if open == 0.0 {
        "a draw of its rows adds up to 0, and nothing can be shared out in proportion to it: the fit says that next to nothing lies there".to_owned()
    } else {
        format!(
            "a draw of its rows adds up to {open}: values are too large or too small to calculate with; change the units, or bound the variance"
        )
    };
    group.refused(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(all: &[(&str, &[usize], f64)]) -> GroupTotals {
        let add = |totals: GroupTotals, (name, rows, total): &(&str, &[usize], f64)| {
            let rows = rows.iter().map(|row| (*row, 1.0)).collect();
            totals.add(*name, rows, (*total, 0.0)).unwrap()
        };
        all.iter().fold(GroupTotals::new(), add)
    }

    fn scale(values: &mut [f64], totals: &GroupTotals, known: &[Known]) -> Result<(), FitError> {
        Scaling::new(totals, known).scale(values)
    }

    fn told(result: Result<(), FitError>) -> String {
        result.unwrap_err().to_string()
    }

    /// Shares of a group stay as they are, rows of no group too, and nothing is a share of nothing.
    #[test]
    fn groups_have_their_totals_and_keep_their_shares() {
        let mut values = [1.0, 3.0, 2.0, 5.0, 7.0];
        let given = totals(&[("a", &[0, 1], 8.0), ("b", &[2], 0.0), ("c", &[3], 1.0)]);
        scale(&mut values, &given, &[]).unwrap();
        // Products and quotients of small whole numbers.
        assert_eq!(values, [2.0, 6.0, 0.0, 1.0, 7.0]);
        let said = told(scale(&mut [0.0, 0.0], &totals(&[("a", &[0, 1], 8.0)]), &[]));
        assert!(
            said.contains("`a`") && said.contains("adds up to 0"),
            "{said}"
        );
        let mut large = [f64::MAX, f64::MAX];
        let said = told(scale(&mut large, &totals(&[("a", &[0, 1], 8.0)]), &[]));
        assert!(said.contains("too large"), "{said}");
    }

    /// A row that is known keeps its value, and so does a sum across two groups.
    #[test]
    fn what_is_known_stays() {
        let of = |rows: &[usize], value| Known {
            parts: rows.iter().map(|row| (*row, 1.0)).collect(),
            value,
        };
        let mut values = [1.0, 3.0, 2.0, 5.0];
        let given = totals(&[("a", &[0, 1], 8.0), ("b", &[2, 3], 9.0)]);
        scale(&mut values, &given, &[of(&[0], 1.0), of(&[1, 2], 10.0)]).unwrap();
        // Sweeps end within 1e-13 of every factor.
        let right = [1.0, 7.0, 3.0, 6.0];
        let off = values.iter().zip(right).map(|(v, r)| (v - r).abs());
        assert!(off.fold(0.0, f64::max) < 1e-11, "{values:?}");
        // Group `a` would have to hold less than the row that is known.
        let given = totals(&[("a", &[0, 1], 8.0)]);
        let said = told(scale(&mut [9.0, 3.0], &given, &[of(&[0], 9.0)]));
        assert!(said.contains("known exactly, and add up to 9"), "{said}");
        // Nearly all is known: what is free takes the rest at once.
        let mut values = [999.0, 3.0];
        let given = totals(&[("a", &[0, 1], 1000.0)]);
        scale(&mut values, &given, &[of(&[0], 999.0)]).unwrap();
        assert_eq!(values, [999.0, 1.0]);
        // Two known sums across groups of which one leaves less than nothing.
        let given = totals(&[("a", &[0, 1], 8.0), ("b", &[2, 3], 9.0)]);
        let known = [of(&[0, 2], 5.0), of(&[0, 3], 2.0), of(&[1], 1.0)];
        let said = told(scale(&mut [1.0, 3.0, 2.0, 5.0], &given, &known));
        assert!(said.contains("no positive values"), "{said}");
        let given = totals(&[("a", &[0, 1], 0.0)]);
        let said = told(scale(&mut [9.0, 3.0], &given, &[of(&[0], 9.0)]));
        assert!(said.contains("known exactly"), "{said}");
    }
}
