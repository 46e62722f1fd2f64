//! Which rows are kept: for every row whether it is, and columns without the others.

/// For each of so many rows whether it is among `rows`.
pub fn among(rows: &[usize], count: usize) -> Vec<bool> {
    let mut keep = vec![false; count];
    rows.iter().for_each(|&row| keep[row] = true);
    keep
}

/// Keeps the entries that `keep` says.
pub fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut row = 0;
    values.retain(|_| {
        row += 1;
        keep.get(row - 1).copied().unwrap_or(true)
    });
}
