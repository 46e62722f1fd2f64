//! Positive values scaled until groups of them have given totals and known sums stay as they are.

use super::given::{Group, GroupTotals, digits};
use super::known::{Known, SAME};
use crate::error::FitError;

/// Sweeps over groups and known sums, at most: where both can hold factors approach one
/// geometrically.
const SWEEPS: usize = 2000;
/// Sweeps end where no factor is further from one.
const MET: f64 = 1e-13;

/// Scales one draw.
///
/// Scaling in turn ends at the values that are nearest in the sense of Kullback and Leibler, if
/// any positive ones meet all sums.
///
/// # Source
/// Deming and Stephan 1940; Csiszar 1975.
pub(super) fn scale(
    values: &mut [f64],
    totals: &GroupTotals,
    known: &[Known],
) -> Result<(), FitError> {
    let groups = &totals.groups;
    if groups.is_empty() {
        return Ok(());
    }
    for group in groups.iter().filter(|group| group.total == 0.0) {
        group.rows.iter().for_each(|(row, _)| values[*row] = 0.0);
    }
    let scaled: Vec<&Known> = known.iter().filter(|known| known.is_scaled()).collect();
    // Groups have no row in common: without known sums between them one sweep is all.
    for sweep in 0..SWEEPS {
        let mut left: f64 = 0.0;
        for known in &scaled {
            let factor = known.value / known.sum(values);
            if !(factor.is_finite() && factor > 0.0) {
                return Err(emptied(groups, known));
            }
            known.parts.iter().for_each(|(row, w)| {
                if *w > 0.0 {
                    values[*row] *= factor;
                }
            });
            left = left.max((factor - 1.0).abs());
        }
        for group in groups.iter().filter(|group| group.total > 0.0) {
            let sum = group.sum(values);
            let factor = group.total / sum;
            if !(factor.is_finite() && factor > 0.0) {
                return Err(no_share(group, sum));
            }
            group
                .rows
                .iter()
                .for_each(|(row, _)| values[*row] *= factor);
            if sweep > 0 {
                left = left.max((factor - 1.0).abs());
            }
        }
        if scaled.is_empty() || (sweep > 0 && left <= MET) {
            break;
        }
    }
    let holds = |known: &&Known| {
        let size: f64 = known
            .parts
            .iter()
            .map(|(row, w)| (w * values[*row]).abs())
            .sum();
        (known.sum(values) - known.value).abs() <= SAME * size.max(known.value.abs())
    };
    match known.iter().find(|known| !holds(known)) {
        None => Ok(()),
        Some(known) => Err(broken(groups, known)),
    }
}

/// The group that a known sum is refused with: one that has a row in common with it.
fn touched<'a>(groups: &'a [Group], known: &Known) -> &'a Group {
    let has = |group: &&Group| {
        let mut rows = group.rows.iter();
        rows.any(|(row, _)| known.parts.iter().any(|(part, _)| part == row))
    };
    groups.iter().find(has).unwrap_or(&groups[0])
}

/// Why a draw of a group cannot be scaled.
fn no_share(group: &Group, sum: f64) -> FitError {
    let reason = match sum == 0.0 {
        true => "a draw of its rows adds up to 0, and nothing can be shared out in proportion to it: the fit says that next to nothing lies there".to_owned(),
        false => format!("a draw of its rows adds up to {sum}: values are too large or too small to calculate with; change the units, or bound the variance"),
    };
    group.refused(reason)
}

/// A known sum is above zero, and a total leaves nothing for it.
fn emptied(groups: &[Group], known: &Known) -> FitError {
    touched(groups, known).refused(format!(
        "some of its rows are known exactly, and add up to {}",
        digits(known.value)
    ))
}

fn broken(groups: &[Group], known: &Known) -> FitError {
    touched(groups, known).refused(format!(
        "rows that are known exactly (a sum of {}) leave no positive values with which all totals are met",
        digits(known.value)
    ))
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
        assert!(said.contains("no positive values"), "{said}");
        let given = totals(&[("a", &[0, 1], 0.0)]);
        let said = told(scale(&mut [9.0, 3.0], &given, &[of(&[0], 9.0)]));
        assert!(said.contains("known exactly"), "{said}");
    }
}
