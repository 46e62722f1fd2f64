//! Changes of a CSV table: a cell, a row, a column.

use super::Changed;
use crate::draw::Draw;

/// Cells that stand in tables of this world.
const CELLS: &[&str] = &[
    "",
    " ",
    "text",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "-0",
    "0.5",
    "1e308",
    "-1e308",
    "1e999",
    "1e-320",
    "9e15",
    "1e16",
    "123456789012345678901234567890",
    "NA",
    "null",
    "<5",
    ">5",
    "<0",
    "5+",
    "10-19",
    "19-10",
    "1,5",
    "\"1,5\"",
    "\"\"",
    "\"",
    "a\"b",
    "0x10",
    "1_000",
    "1.5.2",
    "2020-01-31",
    "1e",
    "+",
    "-",
    "\u{221e}",
    "\u{0}",
    "=1+1",
    "true",
    "1e150",
    "1e-150",
    "-9999",
    "3.0000000001",
];

pub fn change(content: &[u8], draw: &mut Draw) -> Option<Changed> {
    let text = std::str::from_utf8(content).ok()?;
    let mut rows: Vec<Vec<String>> = text
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    if rows.len() < 2 {
        return None;
    }
    let columns = rows[0].len();
    let (row, column) = (1 + draw.below(rows.len() - 1), draw.below(columns));
    let column = column.min(rows[row].len() - 1);
    let name = rows[0].get(column)?.clone();
    let what = match draw.below(20) {
        0..=7 => {
            let cell = draw.word(CELLS);
            rows[row][column] = cell.into();
            format!("`{}` in {name} of row {row}", cell.escape_debug())
        }
        8 => {
            let cell = draw.word(CELLS);
            rows[1..]
                .iter_mut()
                .filter(|row| row.len() > column)
                .for_each(|row| row[column] = cell.into());
            format!("`{}` all down {name}", cell.escape_debug())
        }
        9 => {
            let long = 1 << (4 * (1 + draw.below(4)));
            rows[row][column] = draw.word(&["9", "x", "\u{e4}"]).repeat(long);
            format!("a cell of {long} letters in {name}")
        }
        10 => {
            rows.iter_mut()
                .filter(|row| row.len() > column)
                .for_each(|row| drop(row.remove(column)));
            format!("no column {name}")
        }
        11 => {
            for row in &mut rows {
                let cell = row.get(column).cloned().unwrap_or_default();
                row.push(cell);
            }
            format!("{name} twice")
        }
        12 => {
            rows[row].push("1".into());
            format!("a cell more in row {row}")
        }
        13 => {
            rows[row].pop();
            format!("a cell less in row {row}")
        }
        14 => {
            let copy = rows[row].clone();
            rows.insert(row, copy);
            format!("row {row} twice")
        }
        15 => {
            let kept = draw.below(3).min(rows.len());
            rows.truncate(kept);
            format!("{kept} lines left")
        }
        16 => {
            rows[0][column] = draw
                .word(&["", "mean", "sd", "a b", "T", "\"", "output", "k", "1"])
                .into();
            format!("{name} is called `{}`", rows[0][column].escape_debug())
        }
        17 => {
            rows.insert(row, vec![String::new(); draw.below(columns + 1)]);
            format!("an empty row {row}")
        }
        18 => {
            let other = draw.below(columns);
            rows.iter_mut()
                .filter(|row| row.len() > column.max(other))
                .for_each(|row| row.swap(column, other));
            rows[0].swap(column, other);
            format!("cells of {name} in another column")
        }
        _ => {
            let separated: Vec<String> = rows
                .iter()
                .map(|row| row.join(draw.word(&[";", "\t", " "])))
                .collect();
            return Some((separated.join("\n").into_bytes(), "other separators".into()));
        }
    };
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    Some((format!("{}\n", lines.join("\n")).into_bytes(), what))
}
