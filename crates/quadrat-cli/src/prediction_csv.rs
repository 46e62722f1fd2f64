//! Prediction tables: the support's own columns, then mean, sd, lower, median, upper.

use std::io::Write;

use anyhow::Result;

use crate::engine::Answer;
use crate::places::Places;

/// The columns every prediction table ends with.
pub const COLUMNS: [&str; 5] = ["mean", "sd", "lower", "median", "upper"];

/// The header: columns of the places, then [`COLUMNS`].
pub fn header(places: &Places) -> Vec<String> {
    let own = places
        .dims
        .iter()
        .flat_map(|dim| dim.headers.iter().cloned());
    own.chain(COLUMNS.map(str::to_owned)).collect()
}

/// A name that would head two columns.
pub fn clash(places: &Places) -> Option<String> {
    let mut names = header(places);
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(twice[0].clone())
}

/// How many columns are the places' own.
pub fn own_columns(places: &Places) -> usize {
    places.dims.iter().map(|dim| dim.headers.len()).sum()
}

/// One row, in the order of the header.
pub fn row(places: &Places, answer: &Answer, row: usize) -> Vec<f64> {
    let mut cells = Vec::with_capacity(2 * places.dims.len() + COLUMNS.len());
    for dim in &places.dims {
        cells.push(dim.first[row]);
        cells.extend(dim.second.as_ref().map(|second| second[row]));
    }
    cells.extend([
        answer.mean[row],
        answer.sd[row],
        answer.lower[row],
        answer.median[row],
        answer.upper[row],
    ]);
    cells
}

/// Writes the table; every number reads back as the same number.
pub fn write(out: &mut dyn Write, places: &Places, answer: &Answer) -> Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(header(places))?;
    let mut buffer = Vec::new();
    for i in 0..places.len() {
        let mut record = csv::ByteRecord::new();
        for cell in row(places, answer, i) {
            buffer.clear();
            write_number(&mut buffer, cell)?;
            record.push_field(&buffer);
        }
        table.write_byte_record(&record)?;
    }
    Ok(table.flush()?)
}

/// The shortest text that reads back as the same number; exponents where zeros would pile up.
fn write_number(out: &mut Vec<u8>, value: f64) -> std::io::Result<()> {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back_exactly(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO) {
            let mut text = Vec::new();
            write_number(&mut text, value).unwrap();
            let back: f64 = std::str::from_utf8(&text).unwrap().parse().unwrap();
            prop_assert_eq!(back.to_bits(), value.to_bits());
            prop_assert!(text.len() < 26);
        }
    }
}
