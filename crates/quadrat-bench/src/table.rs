//! Plain tables of numbers: comma-separated, one header line.

use std::path::Path;

use anyhow::{Context, Result};

/// Every row of a table with `N` columns.
pub fn read<const N: usize>(path: &Path) -> Result<Vec<[f64; N]>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let row = |line: &str| -> Result<[f64; N]> {
        let cells: Vec<f64> = line
            .split(',')
            .map(|cell| cell.trim().parse())
            .collect::<Result<_, _>>()?;
        let got = cells.len();
        <[f64; N]>::try_from(cells)
            .ok()
            .with_context(|| format!("{got} columns, expected {N}"))
    };
    text.lines()
        .enumerate()
        .skip(1)
        .map(|(i, line)| row(line).with_context(|| format!("line {}", i + 1)))
        .collect()
}
